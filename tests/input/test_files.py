"""Data files to arrays: the same table from every format; bad files refused."""

import bz2
import csv
import gzip
import io
import lzma
import math
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet
from scipy.sparse import csr_array, issparse
from sklearn.datasets import dump_svmlight_file, load_breast_cancer, load_svmlight_file

from helpers import PEAK, ROOT, shared_file
from linsep.input import InputError, coded_matrix, text_column
from linsep.input.files import (
    read_labelled,
    read_table,
    svmlight,
    tabular,
)


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read_csv(folder: Path, text: str, target="label", **options):
    """Read a text as CSV."""
    return read_table(write(folder, "data.csv", text), target, **options)


def refused(path: Path, target=None, **options) -> str:
    """Read a file that must be refused, and return the message."""
    with pytest.raises(InputError) as caught:
        read_labelled(path, target, **options)
    return str(caught.value)


# --- the same table from every format ---

NAMES = ["width", "height", "label"]
ROWS = [(1.5, 0.1, 0), (-2.0, 1e-300, 1), (3.25, 12345.678, 1), (0.0, 1e22, 0)]
X = np.array([row[:2] for row in ROWS])
Y = np.array([row[2] for row in ROWS])


def as_csv(
    delimiter=",", header=True, newline="\n", quoting=csv.QUOTE_MINIMAL
) -> bytes:
    stream = io.StringIO()
    writer = csv.writer(
        stream, delimiter=delimiter, lineterminator=newline, quoting=quoting
    )
    writer.writerows([NAMES, *ROWS] if header else ROWS)
    return stream.getvalue().encode()


def as_parquet(table: pyarrow.Table, **options) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(table, stream, **options)
    return stream.getvalue()


def as_svmlight() -> bytes:
    stream = io.BytesIO()
    dump_svmlight_file(X, Y, stream, zero_based=False)
    return stream.getvalue()


def as_numpy(save, *arrays, **named) -> bytes:
    stream = io.BytesIO()
    save(stream, *arrays, **named)
    return stream.getvalue()


MATRIX = np.column_stack([X, Y])
FORMATS = {
    "comma.csv": (as_csv(), "label"),
    "semicolon.csv": (as_csv(";"), "label"),
    "tab.tsv": (as_csv("\t"), "label"),
    "windows.csv": (b"\xef\xbb\xbf" + as_csv(newline="\r\n"), "label"),
    "quoted.csv": (as_csv(quoting=csv.QUOTE_ALL), "label"),
    "number.csv": (as_csv(), -1),
    "headerless.csv": (as_csv(header=False), "-1"),
    "packed.csv.gz": (gzip.compress(as_csv()), "label"),
    "packed.csv.bz2": (bz2.compress(as_csv()), "label"),
    "noextension": (as_csv(), "label"),
    "table.parquet": (
        as_parquet(pyarrow.table(dict(zip(NAMES, [*X.T, Y], strict=True)))),
        "label",
    ),
    "groups.parquet": (
        as_parquet(
            pyarrow.table(dict(zip(NAMES, [*X.T, Y], strict=True))), row_group_size=1
        ),
        "label",
    ),
    "text.svm": (as_svmlight(), None),
    "text.txt": (as_svmlight(), None),
    "packed.libsvm.gz": (gzip.compress(as_svmlight()), None),
    "matrix.npy": (as_numpy(np.save, MATRIX), "-1"),
    "columns.npy": (as_numpy(np.save, np.asfortranarray(MATRIX)), 2),
    "matrix.npz": (as_numpy(np.savez_compressed, MATRIX), "2"),
    "arrays.npz": (as_numpy(np.savez, X=X, y=Y), None),
    "named.npz": (as_numpy(np.savez, features=X, label=Y), "label"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_read_table_gives_same_arrays_from_every_format(tmp_path, name):
    content, target = FORMATS[name]
    table = read_table(write(tmp_path, name, content), target)
    found = table.X.toarray() if issparse(table.X) else table.X
    np.testing.assert_array_equal(found, X)
    np.testing.assert_array_equal(table.y, Y)
    assert len(table.feature_names) == 2
    if "header" not in name and content.startswith((b"width", b"PAR1")):
        assert table.feature_names == ("width", "height")


def test_read_table_takes_bundled_data_to_the_last_bit():
    table = read_table(ROOT / "examples" / "data" / "breast_cancer.csv", "diagnosis")
    expected = load_breast_cancer()
    np.testing.assert_array_equal(table.X, expected.data)
    assert table.feature_names == tuple(expected.feature_names)
    np.testing.assert_array_equal(table.y, expected.target_names[expected.target])
    assert dict(table.dummies) == {}


def test_read_table_agrees_with_scikit_learn_on_svmlight(tmp_path):
    rng = np.random.default_rng(0)
    sparse = rng.random((50, 30)) * (rng.random((50, 30)) < 0.1)
    path = tmp_path / "data.svm"
    for zero_based in (False, True):
        sparse[0, 0] = 1.0  # so that the index 0 occurs where it may
        dump_svmlight_file(
            sparse, rng.integers(0, 2, 50), str(path), zero_based=zero_based
        )
        expected, labels = load_svmlight_file(str(path))
        table = read_table(path)
        np.testing.assert_array_equal(table.X.toarray(), expected.toarray())
        np.testing.assert_array_equal(table.y, labels)
        assert table.feature_names[0] == str(int(not zero_based))


def test_npy_is_read_in_place(tmp_path):
    path = write(tmp_path, "matrix.npy", as_numpy(np.save, MATRIX))
    table = read_table(path, "-1")
    base = table.X
    while base.base is not None and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)
    np.testing.assert_array_equal(read_table(path, "0").X, MATRIX[:, 1:])
    np.testing.assert_array_equal(read_table(path, "1").X, MATRIX[:, [0, 2]])


def test_float32_stays_float32(tmp_path):
    single = X.astype(np.float32)
    table = pyarrow.table({"a": single[:, 0], "b": single[:, 1], "label": Y})
    read = read_table(write(tmp_path, "t.parquet", as_parquet(table)), "label")
    assert read.X.dtype == np.float32
    np.testing.assert_array_equal(read.X, single)
    path = write(tmp_path, "t.npz", as_numpy(np.savez, X=single, y=Y))
    assert read_table(path).X.dtype == np.float32


# --- numbers ---

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(finite, finite, st.booleans()), min_size=1, max_size=20))
def test_csv_numbers_come_back_bit_for_bit(tmp_path_factory, rows):
    text = "a,b,label\n" + "".join(f"{a!r},{b!r},{int(c)}\n" for a, b, c in rows)
    table = read_csv(tmp_path_factory.mktemp("csv"), text)
    np.testing.assert_array_equal(table.X, [row[:2] for row in rows])
    np.testing.assert_array_equal(
        np.signbit(table.X), np.signbit([row[:2] for row in rows])
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.1", 0.1),
        (" 7 ", 7.0),
        ("+.5", 0.5),
        ("1.", 1.0),
        ("-1E-5", -1e-5),
        ("9007199254740993", 2.0**53),  # a tie, to even
        ("0.1000000000000000055511151231257827021181583404541015625", 0.1),
        ("2.4703282292062328e-324", 5e-324),  # just above half of the least subnormal
    ],
)
def test_decimal_text_is_read_to_the_nearest_double(tmp_path, text, value):
    table = read_csv(tmp_path, f"a,label\n{text},x\n2,y\n")
    assert table.X[0, 0] == value


cells = st.one_of(
    st.integers(-99, 99).map(str),
    finite.map(repr),
    st.sampled_from(["red", "blue", 'a "b"', "c,d", "e;f", "über", "g\nh", "True"]),
)


@given(
    rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=10),
    delimiter=st.sampled_from(",;\t"),
)
def test_engine_splits_a_text_as_the_csv_module_does(tmp_path_factory, rows, delimiter):
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerows([("a", "b", "label"), *rows])
    path = write(tmp_path_factory.mktemp("csv"), "data.csv", stream.getvalue())
    table = read_table(path, "label", header=True)
    names, features, labels = textbook(stream.getvalue(), delimiter)
    assert table.feature_names == names
    np.testing.assert_array_equal(table.X, features)
    np.testing.assert_array_equal(table.y, labels)


def textbook(text, delimiter):
    """Names, features and labels, by Python's csv module and float."""
    (_, *cells) = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names, features = [], []
    for name, column in zip("ab", zip(*cells, strict=True), strict=False):
        kept = [cell.strip() for cell in column]
        if all(is_number(cell) for cell in kept):
            names.append(name)
            features.append([float(cell) for cell in kept])
        elif all(cell == "True" for cell in kept):
            names.append(name)
            features.append([1.0] * len(kept))
        else:
            commonest = max(sorted(set(kept)), key=kept.count)
            for level in sorted(set(kept) - {commonest}):
                names.append(f"{name}[T.{level}]")
                features.append([float(cell == level) for cell in kept])
    labels = [row[2].strip() for row in cells]
    if all(map(is_number, labels)):
        labels = [float(label) for label in labels]
    return tuple(names), np.array(features).reshape(len(names), -1).T, labels


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


@given(st.lists(st.text("0123456789+-.eE_ naif()xt\t\u00a0", max_size=8), min_size=1))
def test_engine_takes_for_a_number_what_python_does(tmp_path_factory, texts):
    cells = [text for text in texts if text.strip() not in text_column.MISSING]
    cells = [c for c in cells if not is_number(c) or math.isfinite(float(c))]
    # A column for each text, so that one file asks about them all.
    names = [f"c{k}" for k in range(len(cells))]
    quoted = "".join(f'"{cell}",' for cell in cells)
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    header = ",".join([*names, "label"])
    path.write_text(f"{header}\n{quoted}x\n{quoted}y\n", encoding="utf-8")
    if cells:
        table = read_table(path, "label")
    for name, cell in zip(names, cells, strict=True):
        assert (name in table.feature_names) == is_number(cell), cell
        if is_number(cell):
            column = table.X[:, table.feature_names.index(name)]
            np.testing.assert_array_equal(column, [float(cell)] * 2)


def test_hard_decimals_are_read_to_the_nearest_double(tmp_path):
    texts = list(hard_decimals(np.random.default_rng(0), 300))
    body = "".join(f"{text},{i % 2}\n" for i, text in enumerate(texts))
    table = read_csv(tmp_path, "a,label\n" + body)
    expected = np.array([float(text) for text in texts])
    assert table.X[:, 0].tobytes() == expected.tobytes()


def hard_decimals(rng, count):
    """Midpoints of neighbouring doubles, written out, and what lies beside them."""
    for bits in rng.integers(0, 0x7FE << 52, count):
        low = float(np.int64(bits).view(np.float64))
        middle = (Fraction(low) + Fraction(math.nextafter(low, math.inf))) / 2
        with localcontext(prec=1200, Emin=-(10**6)):
            exact = Decimal(middle.numerator) / Decimal(middle.denominator)
            step = Decimal(10) ** (exact.adjusted() - 800)
            yield from (f"{exact}", f"{exact + step}", f"-{exact - step}")
        for digits in (17, 18, 20, 25):
            with localcontext(prec=digits, Emin=-(10**6)):
                yield f"{+exact}"


# --- one engine, and nothing else ---

BLOCKED = (
    "import sys\n"
    "for name in ('pandas', 'pyarrow', 'polars', 'formulaic'):\n"
    "    sys.modules[name] = None\n"
)


@pytest.mark.parametrize("name", ["comma.csv", "packed.csv.gz", "table.parquet"])
def test_files_need_neither_pyarrow_nor_pandas(tmp_path, name):
    content, target = FORMATS[name]
    path = write(tmp_path, name, content)
    code = (
        f"{BLOCKED}from linsep.input.files import read_table\n"
        f"print(read_table({str(path)!r}, {target!r}).X.shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "(4, 2)\n"


def test_arrays_of_numpy_are_read_without_the_engine(tmp_path):
    path = write(tmp_path, "arrays.npz", as_numpy(np.savez, X=X, y=Y))
    code = (
        "import sys\nsys.modules['duckdb'] = None\n"
        "from linsep.input.files import read_table\n"
        f"print(read_table({str(path)!r}).X.shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == "(4, 2)\n"


@pytest.mark.parametrize("name", ["we[1]rd.csv", "quo'te.csv", "star*.csv", "ü ö.csv"])
def test_a_path_is_taken_literally(tmp_path, name):
    write(tmp_path, "we1rd.csv", "a,label\n9,x\n")
    write(tmp_path, "star.csv", "a,label\n9,x\n")
    table = read_table(write(tmp_path, name, "a,label\n1,x\n"), "label")
    assert table.X.tolist() == [[1.0]]


@pytest.mark.parametrize(
    "text",
    [
        "a,label\r\n1,x\n2,y\r\n",
        "a,label\n1,x\r\n2,y\n",
        "a,label\r1,x\r2,y\r",
        "\n\na,label\n\n1,x\n   \n2,y\n\n",
        '"a",label\n"1",x\n 2 ,"y"',
    ],
)
def test_lines_may_end_and_be_blank_in_any_way(tmp_path, text):
    table = read_csv(tmp_path, text)
    assert table.X.tolist() == [[1.0], [2.0]]
    assert table.y.tolist() == ["x", "y"]


def test_blanks_may_separate(tmp_path):
    table = read_csv(tmp_path, "a b label\n1 2 x\n3 4 y\n")
    assert table.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_json_lines(tmp_path):
    text = (
        '{"a": 0.1, "colour": "red", "truth": true, "label": "x"}\n'
        '{"a": 9007199254740993, "colour": "blue", "truth": false, "label": "y"}\n'
    )
    for name, content in (
        ("t.jsonl", text.encode()),
        ("t.ndjson.gz", gzip.compress(text.encode())),
    ):
        table = read_table(write(tmp_path, name, content), "label")
        assert table.feature_names == ("a", "colour[T.red]", "truth")
        assert table.X.tolist() == [[0.1, 1, 1], [2.0**53, 0, 0]]
        assert table.y.tolist() == ["x", "y"]
    gap = write(tmp_path, "gap.jsonl", '{"a": 1, "label": 0}\n{"label": 1}\n')
    assert "column 'a', row 1 (counted from 0), must hold" in refused(gap, "label")
    nested = write(tmp_path, "nested.jsonl", '{"a": [1], "label": 0}\n')
    assert "got the type" in refused(nested, "label")
    broken = write(tmp_path, "broken.jsonl", '{"a": 1, "label": 0}\n{"a":\n')
    assert "one JSON object a line" in refused(broken, "label")


def test_without_a_target_there_are_no_labels(tmp_path):
    table = read_csv(tmp_path, "a,b\n1,2\n3,4\n", None)
    assert table.y is None
    assert table.target is None
    assert table.X.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    path = write(tmp_path, "matrix.npy", as_numpy(np.save, MATRIX))
    np.testing.assert_array_equal(read_table(path).X, MATRIX)
    assert read_table(path).y is None


def test_only_the_columns_asked_for_are_looked_at(tmp_path):
    path = write(tmp_path, "data.csv", "a,when,b,label\n1,,x,0\n2,noon,y,\n")
    table = read_table(path, columns=["b", "a"])
    assert table.feature_names == ("a", "b[T.y]")
    assert table.X.tolist() == [[1, 0], [2, 1]]
    assert "must have the column 'c'" in refused_columns(path, ["c"])
    sparse = write(tmp_path, "data.svm", "1 2:5\n0 1:7\n")
    assert read_table(sparse, columns=["2", "4"]).X.toarray().tolist() == [
        [5, 0],
        [0, 0],
    ]


def refused_columns(path, columns) -> str:
    with pytest.raises(InputError) as caught:
        read_table(path, columns=columns)
    return str(caught.value)


def test_a_bomb_is_refused_by_a_stated_limit(tmp_path, monkeypatch):
    from linsep.input.files import texts

    monkeypatch.setattr(texts, "_MOST_UNPACKED", 10_000)
    bomb = gzip.compress(b"a,label\n" + b"1,x\n" * 100_000)
    archive = io.BytesIO()
    np.savez_compressed(archive, X=np.zeros((50_000, 2)), y=np.arange(2).repeat(25_000))
    bombs = {"bomb.csv.gz": bomb, "bomb.npz": archive.getvalue()}
    for name, content in bombs.items():
        message = refused(write(tmp_path, name, content), "label")
        assert "at most 200 times its size, or 10000 bytes" in message


def as_feather(**columns) -> bytes:
    sink = io.BytesIO()
    feather.write_feather(pyarrow.table(columns), sink)
    return sink.getvalue()


def test_feather_is_read_where_pyarrow_is(tmp_path, monkeypatch):
    content = as_feather(a=[1.5, 2.5, 3.5], g=["u", "v", "v"], label=["x", "y", "y"])
    path = write(tmp_path, "t.feather", content)
    table = read_table(path, "label")
    assert table.feature_names == ("a", "g[T.u]")
    assert table.X.tolist() == [[1.5, 1], [2.5, 0], [3.5, 0]]
    assert table.y.tolist() == ["x", "y", "y"]
    assert read_table(path, "label", drop=["g"]).X.tolist() == [[1.5], [2.5], [3.5]]
    assert "did you mean 'label'" in refused(path, "labell")
    damaged = write(tmp_path, "broken.feather", b"ARROW1" + bytes(100))
    assert "a whole Arrow file" in refused(damaged, "label")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert 'pip install "linsep[arrow]"' in refused(path, "label")


# --- what the file does not say ---


def test_a_text_may_be_compressed_by_xz(tmp_path):
    path = write(tmp_path, "data.csv.xz", lzma.compress(b"a,label\n1,x\n2,y\n"))
    assert read_table(path, "label").X.tolist() == [[1], [2]]
    whole = path.read_bytes()
    assert "damaged" in refused(write(tmp_path, "cut.xz", whole[:-20]), "label")
    spoilt = whole[:30] + bytes(8) + whole[38:]
    assert "damaged" in refused(write(tmp_path, "spoilt.xz", spoilt), "label")


def test_decimal_commas_are_inferred_in_a_text_of_semicolons(tmp_path):
    text = "a;b;name;label\n1,5;3;Li, J.;x\n-2,25;4;;y\n1,5e3;5;Wu, K.;y\n"
    table = read_csv(tmp_path, text.replace(";;", ";Li, J.;"))
    assert table.feature_names == ("a", "b", "name[T.Wu, K.]")
    assert table.X[:, 0].tolist() == [1.5, -2.25, 1500.0]
    assert "decimal commas were read as decimal points" in table.notes
    mixed = write(tmp_path, "mixed.csv", "a;b;label\n1,5;2.5;x\n2,5;3.5;y\n")
    assert "(--decimal ,)" in refused(mixed, "label")
    assert "got '2.5'" in refused(mixed, "label", decimal=",")
    pair = read_csv(tmp_path, 'a,label\n"1,500",x\n"2,5",y\n', decimal=",")
    assert pair.X.tolist() == [[1.5], [2.5]]
    both = write(tmp_path, "both.csv", "a;label\n1.234,5;x\n2,5;y\n")
    assert "no thousands separator, got '1.234,5'" in refused(both, "label")


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le"])
def test_other_encodings(tmp_path, encoding):
    text = "Größe;label\n1,5;für\n2,5;naïv\n"
    path = write(tmp_path, "data.csv", text.encode(encoding))
    if encoding != "utf-16":  # its first bytes say so
        assert refused(path, "label")
    asked = None if encoding == "utf-16" else encoding
    table = read_table(path, "label", encoding=asked)
    assert table.feature_names == ("Größe",)
    assert table.X.tolist() == [[1.5], [2.5]]
    assert table.y.tolist() == ["für", "naïv"]
    latin = write(tmp_path, "latin.csv", text.encode("latin-1"))
    assert "in the encoding utf-8" in refused(latin, "label", encoding="utf-8")
    assert "that Python knows" in refused(path, "label", encoding="klingon")


def test_bars_and_other_separators(tmp_path):
    bars = "Größe (cm)|weight, kg|label\n1|2|x\n3|4|y\n"
    assert read_csv(tmp_path, bars).feature_names == ("Größe (cm)", "weight, kg")
    table = read_csv(tmp_path, "a:b:label\n1,5:2:x\n3,5:4:y\n", sep=":", decimal=",")
    assert table.X.tolist() == [[1.5, 2], [3.5, 4]]
    path = write(tmp_path, "t.parquet", as_parquet(pyarrow.table({"a": [1], "b": [2]})))
    assert "sep goes with delimited text" in refused(path, "b", sep=";")
    assert "one character" in refused(path, "b", sep="::")
    assert "'.' or ','" in refused(path, "b", decimal="'")


def test_blanks_in_a_row_are_one(tmp_path):
    text = (
        '  a   b  "the name"  label \n 1  2.5   "x  y"  u\n10  3   z  v  \n 4 5 z v\n'
    )
    table = read_csv(tmp_path, text)
    assert table.feature_names == ("a", "b", "the name[T.x  y]")
    assert table.X.tolist() == [[1, 2.5, 1], [10, 3, 0], [4, 5, 0]]
    assert table.y.tolist() == ["u", "v", "v"]
    gap = write(tmp_path, "gap.txt", "a  b label\n1  2 x\n\n1  NA  y\n")
    assert "column 'b', line 4, must hold a value" in refused(gap, "label")


@pytest.mark.parametrize("sep", [" ", "\t"])
def test_tables_of_r_have_names_of_rows_without_a_name(tmp_path, sep):
    lines = ['"x" "label"', '"1" 5 "u"', '"2" 7 "v"', '"3" 8 "v"']
    text = "\n".join(line.replace(" ", sep) for line in lines) + "\n"
    table = read_csv(tmp_path, text, drop=["unnamed0"])
    assert table.feature_names == ("x",)
    assert table.X.tolist() == [[5], [7], [8]]


def test_json_lines_are_known_by_their_content(tmp_path):
    text = '{"a": 1, "label": "x"}\n{"a": 2, "label": "y"}\n'
    assert read_table(write(tmp_path, "stdin", text), "label").X.tolist() == [[1], [2]]


def test_rows_with_missing_values_of_arrays_are_left_out(tmp_path):
    path = write(tmp_path, "m.npy", as_numpy(np.save, np.array([[np.nan, 0], [2, 1]])))
    table = read_table(path, "-1", missing="drop")
    assert (table.X.tolist(), table.y.tolist(), table.rows.tolist()) == (
        [[2]],
        [1],
        [1],
    )
    assert "must be finite" in refused(path, "-1")


# --- text, truth, names ---


TWO_TEXTS = "size,colour,label,kind\n1,red,x,b\n2, blue,y,a\n3,red,y,a\n"


def test_text_becomes_one_column_a_level_but_the_commonest(tmp_path):
    table = read_csv(tmp_path, TWO_TEXTS)
    assert table.feature_names == ("size", "colour[T.blue]", "kind[T.b]")
    np.testing.assert_array_equal(table.X, [[1, 0, 1], [2, 1, 0], [3, 0, 0]])
    assert dict(table.dummies) == {"colour": ("blue", "red"), "kind": ("a", "b")}
    assert {name: of.reference for name, of in table.levels.items()} == {
        "colour": "red",
        "kind": "a",
    }
    assert {name: codes.tolist() for name, codes in table.codes.items()} == {
        "colour": [1, 0, 1],
        "kind": [1, 0, 0],
    }
    np.testing.assert_array_equal(table.y, ["x", "y", "y"])


def test_without_a_constant_the_first_text_keeps_all_its_levels(tmp_path):
    table = read_csv(tmp_path, TWO_TEXTS, fit_intercept=False)
    assert table.feature_names == ("size", "colour[blue]", "colour[red]", "kind[T.b]")
    np.testing.assert_array_equal(table.X, [[1, 0, 1, 1], [2, 1, 0, 0], [3, 0, 1, 0]])


def test_column_with_one_word_among_numbers_is_text(tmp_path):
    table = read_csv(tmp_path, "grade,label\n1,x\n2,y\n3+,y\n1,x\n")
    assert table.feature_names == ("grade[T.2]", "grade[T.3+]")


def test_word_after_many_numbers_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(tabular, "_CELLS", 10)  # several pieces
    rows = [f"{i % 3},{i % 2}\n" for i in range(100)]
    table = read_csv(tmp_path, "grade,label\n" + "".join(rows) + "3+,1\n")
    assert table.feature_names == ("grade[T.1]", "grade[T.2]", "grade[T.3+]")
    assert table.X.sum() == 101 - 34


def test_true_and_false_become_one_and_zero(tmp_path):
    table = read_csv(tmp_path, "smoker,label\nTrue,x\nfalse,y\nTRUE,y\n")
    assert table.feature_names == ("smoker",)
    np.testing.assert_array_equal(table.X, [[1], [0], [1]])
    assert any("true and false" in note for note in table.notes)


def test_parquet_types(tmp_path):
    table = pyarrow.table(
        {
            "truth": pyarrow.array([True, False, True]),
            "small": pyarrow.array([1, 2, 3], pyarrow.int8()),
            "money": pyarrow.array([Decimal("0.1"), Decimal(2), Decimal(3)]),
            "colour": pyarrow.array(["red", "blue", "red"]).dictionary_encode(),
            "label": pyarrow.array(["x", "y", "y"], pyarrow.large_string()),
        }
    )
    read = read_table(write(tmp_path, "t.parquet", as_parquet(table)), "label")
    assert read.feature_names == (
        "truth",
        "small",
        "money",
        "colour[T.blue]",
    )
    np.testing.assert_array_equal(read.X, [[1, 1, 0.1, 0], [0, 2, 2, 1], [1, 3, 3, 0]])
    np.testing.assert_array_equal(read.y, ["x", "y", "y"])


def test_parquet_index_of_pandas_is_left_out_and_said(tmp_path):
    import pandas as pd

    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, 2.0], "label": [0, 1]}, index=[7, 9]).to_parquet(path)
    table = read_table(path, "label")
    assert table.feature_names == ("a",)
    assert any("__index_level_0__" in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "target", "names"),
    [
        ("a,b,c\n1,2,x\n3,4,y\n", "c", ("a", "b")),
        ("1,2,x\n3,4,y\n", "-1", ("x0", "x1")),
        ("1,2,x\n3,4,y\n", "x2", ("x0", "x1")),
        ("0,1,2\n3.5,4,1\n1,2,0\n", "2", ("0", "1")),  # pandas' names for columns
        (",0,1\n0,4.5,1\n1,2.5,0\n", "1", ("unnamed0", "0")),  # with its row index
        ("2019,2020,sold\n1,2,yes\n3,4,no\n", "sold", ("2019", "2020")),
        (
            "size,colour\nlarge,red\nsmall,blue\n",
            "colour",
            ("size[T.small]",),
        ),
        ("p,x\ne,x\np,y\n", "0", ("x1[T.y]",)),  # recurs: values, not names
        ("p,q\n1,x\n", "q", ("p",)),
    ],
)
def test_header_is_told_from_values(tmp_path, text, target, names):
    assert read_csv(tmp_path, text, target).feature_names == names


def test_header_can_be_stated(tmp_path):
    text = "1,2,3\n4,5,6\n"
    assert read_csv(tmp_path, text, "3", header=True).feature_names == ("1", "2")
    assert len(read_csv(tmp_path, text, "-1", header=False).X) == 2


def test_columns_can_be_dropped_with_what_they_hold(tmp_path):
    text = "id,a,when,label\nk1,1,,x\nk2,2,noon,y\n"
    table = read_csv(tmp_path, text, drop=["id", 2])
    assert table.feature_names == ("a",)
    assert "left out, as asked: 'id', 'when'" in table.notes


def test_row_numbers_and_rounded_integers_are_noted(tmp_path):
    rows = [f"{i},{2**53 + 2 * i + 1},{i * i},{i % 2}\n" for i in range(20)]
    notes = " ".join(read_csv(tmp_path, "id,big,a,label\n" + "".join(rows)).notes)
    assert "'id' counts the rows (0, 1, ...)" in notes
    assert "'big' holds numbers beyond 2^53" in notes
    assert "'a'" not in notes


def test_many_levels_are_kept_sparse(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    rows = [
        f"{i % 3},{rng.choice(['true', 'false'])},w{rng.integers(40)},{i % 2}\n"
        for i in range(300)
    ]
    text = "a,flag,word,label\n" + "".join(rows)
    dense = read_csv(tmp_path, text)
    monkeypatch.setattr(coded_matrix, "_LARGE_BYTES", 0)
    sparse = read_csv(tmp_path, text)
    assert isinstance(dense.X, np.ndarray)
    assert isinstance(sparse.X, csr_array)
    assert sparse.X.has_canonical_format
    np.testing.assert_array_equal(sparse.X.toarray(), dense.X)
    assert sparse.feature_names == dense.feature_names


def test_thousands_of_levels_need_ten_rows_each_and_are_sparse(tmp_path):
    levels = [f"firm {i:04d}" for i in range(300)]

    def table(n_rows):
        rows = (f"{levels[i % 300]},{i / 8},{i % 2}" for i in range(n_rows))
        return read_csv(tmp_path, "\n".join(["firm,x,label", *rows, ""]))

    found = table(3000)
    assert issparse(found.X)
    names = (f"firm[T.{level}]" for level in levels[1:])
    assert found.feature_names == (*names, "x")
    expected = np.zeros((3000, 301))
    expected[np.arange(3000), np.arange(3000) % 300] = 1
    expected[:, 300] = np.arange(3000) / 8
    expected = expected[:, 1:]  # the first is the reference
    np.testing.assert_array_equal(found.X.toarray(), expected)
    with pytest.raises(InputError, match="more than 299 different values"):
        table(2999)


# --- what is set aside, and what is missing ---


def test_names_of_rows_and_dates_are_left_out_and_said(tmp_path):
    rows = [f"id{i},2024-01-{i + 1:02d},{i % 7}.5,{i % 2}" for i in range(20)]
    table = read_csv(tmp_path, "\n".join(["key,day,x,label", *rows, ""]))
    assert table.feature_names == ("x",)
    notes = "; ".join(table.notes)
    assert "'key' holds another text in each of 20 rows (id0, id1, ...)" in notes
    assert "'day' holds dates or times (2024-01-01, ...)" in notes
    path = tmp_path / "data.csv"
    assert "'day' must hold numbers or a few" in refused_columns(path, ["day", "x"])


@pytest.mark.parametrize(
    "kind", [pyarrow.timestamp("s"), pyarrow.date32(), pyarrow.time32("s")], ids=str
)
def test_dates_in_parquet_are_left_out_and_said(tmp_path, kind):
    when = pyarrow.array([0, 1], pyarrow.int32()).cast(
        pyarrow.int64() if kind == pyarrow.timestamp("s") else pyarrow.int32()
    )
    table = pyarrow.table({"when": when.cast(kind), "a": [1, 2], "label": [0, 1]})
    path = write(tmp_path, "t.parquet", as_parquet(table))
    read = read_table(path, "label")
    assert read.feature_names == ("a",)
    assert "left out, since they hold dates or times: 'when'" in read.notes
    assert "dates or times in 'when'" in refused_columns(path, ["when"])


def test_many_names_and_many_dates_are_left_out_too(tmp_path):
    rows = [f"id{i},{1800 + i % 400}-05-03,{i % 7},{i % 2}" for i in range(900)]
    table = read_csv(tmp_path, "\n".join(["key,day,x,label", *rows, ""]))
    assert table.feature_names == ("x",)


GAPS = "a,b,c,label\n1,red,5,x\n,blue,,y\n3,?,7,x\n4,red,8,y\n5,blue,9,\n"


def test_missing_values_are_counted_for_all_columns_at_once(tmp_path):
    said = refused(write(tmp_path, "gaps.csv", GAPS), "label")
    assert "column 'a', line 3, must hold a value, got none" in said
    assert "in 3 of 5 rows (values missing: 'a' 1, 'b' 1, 'c' 1, 'label' 1)" in said
    assert 'missing="drop" (--missing drop)' in said


def test_rows_with_missing_values_are_left_out_on_request(tmp_path):
    table = read_csv(tmp_path, GAPS, missing="drop")
    assert table.rows.tolist() == [0, 3]
    assert table.n_rows == 5
    assert table.X.tolist() == [[1, 5], [4, 8]]  # b holds one level in what is left
    assert table.y.tolist() == ["x", "y"]
    assert any("3 of 5 rows were left out for missing" in note for note in table.notes)
    numbers = read_csv(tmp_path, GAPS, drop=["b"], missing="drop")
    assert numbers.rows.tolist() == [0, 2, 3]
    assert numbers.X.tolist() == [[1, 5], [3, 7], [4, 8]]
    empty = write(tmp_path, "none.csv", "a,label\n,0\n,1\n")
    assert "a row without missing values" in refused(empty, "label", missing="drop")
    assert '"refuse" or "drop"' in refused(empty, "label", missing="omit")


# --- every bad file is refused, with a reason ---

BAD_CSV = {
    "blank cell": ("a,label\n1,x\n,y\n", r"column 'a', line 3, must hold a value"),
    "NA": ("a,label\n1,x\nNA,y\n", r"column 'a', line 3, must hold a value"),
    "NaN": ("a,label\n1,x\nnan,y\n", r"column 'a', line 3, must hold a value"),
    "? in text": ("a,label\nred,x\n?,y\n", r"line 3, must hold a value, got '\?'"),
    "no label": ("a,label\n1,x\n2,\n", r"column 'label', line 3, must hold a value"),
    "no number label": ("a,label\n1,0\n2,\n", r"column 'label', line 3"),
    "infinite": (
        "a,label\n1,x\n1e999,y\n",
        r"line 3, must be a finite number",
    ),
    "ragged": ("a,b,label\n1,2,x\n\n3,y\n", r"got 2 on line 4 where the header has 3"),
    "long row": ("a,label\n1,x\n2,3,y\n", r"got 3 on line 3 where the header has 2"),
    "repeated name": ("a,a,label\n1,2,x\n", r"got 'a' for columns 0, 1"),
    "no target": ("a,b,lable\n1,2,x\n", r"got 'label'.*did you mean 'lable'\?"),
    "case": ("a,b,LABEL\n1,2,x\n", r"did you mean 'LABEL'\?"),
    "no rows": ("a,label\n", r"at least one row"),
    "blank lines": ("\n\n  \n", r"blank lines only"),
    "one column": ("label\n1\n", r"at least two columns"),
    "open quote": ('a,label\n1,"x\n2,y\n', r"a quote that is never closed"),
    "decimal comma": ('a,label\n"1,5",x\n"2,5",y\n', r"a decimal point.*got '1,5'"),
    "thousand or not": ("a;label\n1,500;x\n2,500;y\n", r"got '1,500'.*--decimal ,"),
    "thousands": ('a,label\n"1,500",x\n"2,500",y\n', r"no thousands separator"),
    "name made twice": ("a,a[T.v],label\nu,1,x\nv,2,y\n", r"got 'a\[T.v\]' twice"),
    "numbers and an error": (
        "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(20)) + "2O,1\n",
        r"got the text '2O' \(line 22\) among another value in each of the 21 rows",
    ),
    "free text": (
        "a,label\n" + "".join(f"id{i % 300},{i % 2}\n" for i in range(900)),
        r"among more than 256 different values.*--drop a\)",
    ),
    "typing error": (
        "a,label\n" + "".join(f"{i},{i % 2}\n" for i in range(500)) + "12..5,1\n",
        r"got the text '12..5' \(line 502\)",
    ),
}


@pytest.mark.parametrize("case", BAD_CSV)
@pytest.mark.parametrize(
    "pack", [str.encode, lambda text: gzip.compress(text.encode())]
)
def test_bad_csv_is_refused_by_line_and_column(tmp_path, case, pack):
    text, message = BAD_CSV[case]
    path = write(tmp_path, "data.csv", pack(text))
    with pytest.raises(InputError, match=message):
        read_table(path, "label")


def test_target_and_drop_must_be_columns(tmp_path):
    path = write(tmp_path, "data.csv", as_csv())
    assert "has columns 'width', 'height', 'label'" in refused(path)
    assert "none of its 3 columns" in refused(path, "7")
    assert "none of its 3 columns" in refused(path, "label", drop=["depth"])
    assert "must not name the target" in refused(path, "label", drop=["-1"])


def test_text_must_be_utf8(tmp_path):
    latin = write(tmp_path, "latin.csv", "a,label\n1,x\n2,é\n".encode("latin1"))
    assert "got the byte 0xe9 on line 3" in refused(latin, "label")
    assert "--encoding latin-1" in refused(latin, "label")
    unmarked = write(tmp_path, "utf16.csv", "a,lábel\n1,x\n".encode("utf-16-le"))
    assert "utf-16" in refused(unmarked, "label")


def test_path_must_be_a_file_with_something_in_it(tmp_path):
    assert "got a folder" in refused(tmp_path, "label")
    write(tmp_path, "there.csv", as_csv())
    assert "the folder holds there.csv" in refused(tmp_path / "here.csv", "label")
    assert "nothing there" in refused(tmp_path / "no" / "here.csv", "label")
    assert "empty file" in refused(write(tmp_path, "empty.csv", b""), "label")
    if Path("/dev/zero").exists():
        assert "regular file" in refused(Path("/dev/zero"), "label")


def test_name_and_content_must_agree(tmp_path):
    assert "must be a Parquet file" in refused(
        write(tmp_path, "csv.parquet", as_csv()), "label"
    )
    assert "uncompress it first" in refused(
        write(tmp_path, "t.npy.gz", gzip.compress(as_numpy(np.save, X))), "0"
    )
    # A binary format is known by its first bytes, whatever the name.
    path = write(tmp_path, "really_npy.csv", as_numpy(np.save, MATRIX))
    np.testing.assert_array_equal(read_table(path, "-1").X, X)
    sheet = io.BytesIO()
    import zipfile

    with zipfile.ZipFile(sheet, "w") as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
    assert "save a spreadsheet as CSV" in refused(
        write(tmp_path, "book.xlsx", sheet.getvalue()), "0"
    )


def test_line_without_end_is_refused(tmp_path, monkeypatch):
    from linsep.input.files import texts

    monkeypatch.setattr(texts, "LONGEST_LINE", 1000)
    bomb = gzip.compress(b"1," * 10_000)
    message = refused(write(tmp_path, "bomb.csv.gz", bomb), "0")
    assert "longer than 1000 characters" in message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:2\n-1 x:1\n", r"line 2"),
        ("1 1:2\n-1 2:1 2:3\n", r"line 2.*sorted and unique"),
        ("1 1:2\n-1 1:1 5000000:1\n", r"indices must be below 4194304, got 5000000"),
        ("1 1:2\n-1 1:1 3000000000:1\n", r"line 2"),
        ("1 1:2\n-1 1:1 99999999999999999999999:1\n", r"line 2"),
        ("1 1:2\n-1 -1:1\n", r"line 2"),
        ("1 1:nan\n-1 1:1\n", r"every value must be finite, got nan"),
        ("inf 1:1\n-1 1:1\n", r"every label must be finite, got inf"),
        ("# nothing\n", r"at least one row"),
        ("yes 1:1\n", r"line 1"),
    ],
)
def test_bad_svmlight_is_refused(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        read_table(write(tmp_path, "data.svm", text))


def test_svmlight_has_its_own_labels(tmp_path):
    path = write(tmp_path, "data.svm", as_svmlight())
    assert "must be left out" in refused(path, "height")
    assert "drop must be empty" in refused(path, drop=["1"])


def test_svmlight_bound_holds_the_widest_named_sets():
    # The URL set, the widest in wide use, has 3,231,961 columns.
    assert svmlight._MOST_COLUMNS > 3_231_961


@pytest.mark.parametrize(
    ("arrays", "target", "message"),
    [
        ({"X": X}, None, r"array of labels named 'y'"),
        ({"X": X, "y": Y[:-1]}, None, r"same number of rows, got 4 and 3"),
        ({"a": X, "b": X, "y": Y}, None, r"one matrix beside the labels"),
        ({"X": X, "y": Y}, "labels", r"named 'labels'"),
        ({"X": X * np.nan, "y": Y}, None, r"finite"),
        ({"X": X + 0j, "y": Y}, None, r"complex"),
        ({"X": X.astype(str), "y": Y}, None, r"number"),
        (
            {"X": X.astype(object), "y": Y},
            None,
            r"Python objects, which are never load",
        ),
    ],
)
def test_bad_npz_is_refused(tmp_path, arrays, target, message):
    path = write(tmp_path, "data.npz", as_numpy(np.savez, **arrays))
    with pytest.raises(InputError, match=message):
        read_labelled(path, target)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (X[:, 0], r"must hold a matrix"),
        (np.zeros(3, dtype=[("a", float)]), r"of records"),
        (MATRIX.astype(object), r"Python objects, which are never loaded"),
        (np.array([[1.0, np.inf, 0.0]]), r"finite"),
    ],
)
def test_bad_npy_is_refused(tmp_path, array, message):
    path = write(tmp_path, "data.npy", as_numpy(np.save, array))
    with pytest.raises(InputError, match=message):
        read_table(path, "-1")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pyarrow.array([1.0, None]), r"column 'a', row 1 .*must hold a value"),
        (pyarrow.array([1, None]), r"column 'a', row 1 .*must hold a value"),
        (pyarrow.array(["red", None]), r"column 'a', row 1 .*must hold a value"),
        (pyarrow.array([True, None]), r"column 'a', row 1 .*must hold a value"),
        (pyarrow.array([None, None]), r"column 'a', row 0 .*must hold a value"),
        (pyarrow.array([1.0, math.inf]), r"must be a finite number, got inf"),
        (pyarrow.array([0, 2**53 + 1]), r"column 'a'"),
        (pyarrow.array([[0], [1]]), r"got the type BIGINT\[\]"),
    ],
)
def test_bad_parquet_is_refused(tmp_path, column, message):
    table = pyarrow.table({"a": column, "label": ["x", "y"]})
    path = write(tmp_path, "t.parquet", as_parquet(table))
    with pytest.raises(InputError, match=message):
        read_table(path, "label")


@given(data=st.data(), name=st.sampled_from(sorted(FORMATS)))
def test_damaged_file_is_read_or_refused_never_worse(tmp_path_factory, data, name):
    content, target = FORMATS[name]
    if data.draw(st.booleans()):
        content = content[: data.draw(st.integers(0, len(content) - 1))]
    else:
        damaged = bytearray(content)
        damaged[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(
            st.integers(1, 255)
        )
        content = bytes(damaged)
    path = write(tmp_path_factory.mktemp("damaged"), name, content)
    try:
        table = read_table(path, target)
    except InputError:
        return  # any other exception fails the test
    assert table.X.shape == (len(table.y), len(table.feature_names))


@pytest.mark.parametrize(
    ("parts", "target", "shape"),
    [
        (("detectseparation", "endometrial.csv"), "HG", (79, 3)),
        (("statsmodels", "iris.csv"), "-1", (150, 4)),
        (("brglm2", "MultipleFeatures_fou_kar.csv.gz"), "-1", None),
    ],
)
def test_peers_data_are_read(parts, target, shape):
    table = read_table(shared_file("peer-data", *parts), target)
    assert table.X.shape[0] == len(table.y)
    assert shape is None or table.X.shape == shape


def peak_of_reading(path):
    """The largest memory of a process that reads a file, and that of the matrix."""
    code = (
        f"{PEAK}\nimport sys; from linsep.input.files import read_table\n"
        "X = read_table(sys.argv[1], 'y').X\n"
        "print(peak(), X.nbytes)"
    )
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    peak, size = map(int, done.stdout.split())
    return peak, size


@pytest.mark.skipif(sys.platform == "win32", reason="resource is of Unix")
def test_more_text_takes_the_memory_of_the_matrix_and_little_more(tmp_path):
    rows = np.random.default_rng(0).uniform(-1, 1, (2000, 20))
    block = "".join(
        ",".join(f"{v:.6f}" for v in row) + f",{k % 2}\n" for k, row in enumerate(rows)
    )
    path, found = tmp_path / "data.csv", []
    for n_blocks in (20, 120):
        with open(path, "w") as file:
            file.write(",".join(f"x{j}" for j in range(20)) + ",y\n")
            file.writelines([block] * n_blocks)
        found.append(peak_of_reading(path))
    (few, small), (many, large) = found
    assert many - few < 1.4 * (large - small)
