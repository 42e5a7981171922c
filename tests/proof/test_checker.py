"""The independent checker: alone, strict, and quick to refuse."""

import ast
import json
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linsep.proof import checker, ordered_checker
from linsep.proof.checker import CertificateError, check

X = [[0.0], [1.0], [3.0]]
LABELS = ["n", "n", "y"]
DOCUMENT = {
    "format": "linsep certificate",
    "version": 1,
    "kind": "separator",
    "n_samples": 3,
    "n_features": 1,
    "fit_intercept": True,
    "classes": ["n", "y"],
    "data_sha256": "",
    "w": ["1", "-2"],
}


def text(X=X, labels=LABELS, **entries):
    """A well-formed certificate but for the entries given (None removes one)."""
    document = {**DOCUMENT, **entries}
    document = {name: value for name, value in document.items() if value is not None}
    signs = [1 if label == "y" else -1 for label in labels]
    if not document["data_sha256"]:
        document["data_sha256"] = checker._data_digest(
            X, signs, {"n_features": len(X[0]), "n_samples": len(X)}
        )
    if "content_sha256" not in document:
        document["content_sha256"] = checker.content_digest(document)
    return json.dumps(document)


def conflict(rows, weights, **entries):
    return text(kind="conflict", w=None, rows=rows, weights=weights, **entries)


def imported(path):
    """Every module a file names, imports inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(Path(path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names.add(node.module)
    return names


def test_the_checker_imports_the_standard_library_and_its_second_page_alone():
    names = imported(checker.__file__)
    page = {"linsep.proof", "ordered_checker"}  # next to it, wherever it stands
    assert {name.split(".")[0] for name in names - page} <= set(sys.stdlib_module_names)


def test_the_second_page_imports_numpy_and_scipy_at_most():
    names = {name.split(".")[0] for name in imported(ordered_checker.__file__)}
    assert names <= set(sys.stdlib_module_names) | {"numpy", "scipy"}


def test_a_separator_holds():
    assert check(text(), X, LABELS) == [2, 1, 1]


def test_the_smallest_double_is_not_zero_in_a_conflict():
    row = [[5e-324]]
    made = conflict([0], ["1"], X=row, labels=["y"], n_samples=1, fit_intercept=False)
    with pytest.raises(CertificateError, match="do not sum to zero"):
        check(made, row, ["y"])


def test_integers_may_be_hexadecimal():
    assert check(text(w=["0xff", "-0x1fe"]), X, LABELS) == [510, 255, 255]


def test_rows_may_come_from_an_iterator():
    assert check(text(), iter(X), LABELS) == [2, 1, 1]


def test_rows_may_be_mappings_of_what_is_not_zero():
    thin = [{}, {0: 1.0}, {0: 3.0}]
    assert check(text(), thin, LABELS, n_columns=1) == [2, 1, 1]
    assert check(text(), [{0: 0.0}, [1.0], {0: 3}], LABELS, n_columns=1) == [2, 1, 1]
    made = conflict([0, 1, 2], ["1", "3", "4"], X=OVERLAP)
    thin = [{}, {0: 4.0}, {0: 3.0}]
    assert check(made, iter(thin), LABELS, n_columns=1) == [0, 0]


@pytest.mark.parametrize(
    ("data", "n_columns", "message"),
    [
        ([{}, {0: 1.0}, {0: 3.0}], None, "need n_columns"),
        ([{}, {0: 1.0}, {0: 3.0}], 2, "is for 1 columns, got 2"),
        ([[0.0], [1.0], [3.0]], 2, "is for 1 columns, got 2"),
        ([{}, {0: 1.0}, {1: 3.0}], 1, "row 2 must have columns from 0 to 0"),
        ([{}, {0: 1.0}, {-1: 3.0}], 1, "row 2 must have columns from 0 to 0"),
        ([{}, {0: 1.0}, {"0": 3.0}], 1, "row 2 must have columns from 0 to 0"),
        ([{}, {True: 1.0}, {0: 3.0}], 1, "row 1 must have columns from 0 to 0"),
        ([{}, {0: 1.0}, {0: 4.0}], 1, "data are not those"),
        ([{}, {0: 1.0}, {}], 1, "data are not those"),
        ([{}, {0: 1.0}, {0: "3"}], 1, "finite doubles, got str"),
    ],
)
def test_mappings_of_other_data_are_refused(data, n_columns, message):
    with pytest.raises(CertificateError, match=message):
        check(text(), data, LABELS, n_columns=n_columns)


def test_integers_as_data_are_the_same_data():
    assert check(text(), [[0], [1], [3]], LABELS) == [2, 1, 1]


@pytest.mark.parametrize(
    ("w", "message"),
    [
        (["1", "-1"], r"must not be zero on row 1"),
        (["1", "0"], r"must not be zero on row 0"),
        (["0", "1"], r"must not be negative on row 0"),  # by one
        (["-1", "2"], r"must not be negative on row 0"),
        (["1"], r"w must have 2 entries"),
        (["1", "2", "3"], r"w must have 2 entries"),
    ],
)
def test_a_separator_that_does_not_separate_is_refused(w, message):
    with pytest.raises(CertificateError, match=message):
        check(text(w=w), X, LABELS)


OVERLAP = [[0.0], [4.0], [3.0]]


def test_a_conflict_holds():
    # 3 = (3 * 4 + 1 * 0) / 4 is a mean of rows 0 and 1.
    made = conflict([0, 1, 2], ["1", "3", "4"], X=OVERLAP)
    assert check(made, OVERLAP, LABELS) == [0, 0]


@pytest.mark.parametrize(
    ("rows", "weights", "message"),
    [
        ([0, 1, 2], ["1", "3", "5"], "do not sum to zero"),
        ([0, 1, 2], ["2", "3", "4"], "do not sum to zero"),
        ([0, 1], ["1", "3"], "do not sum to zero"),
        ([], [], "from 1 to 3 rows"),
        ([0, 1, 2], ["0", "3", "4"], "positive weight"),
        ([0, 1, 2], ["-1", "3", "4"], "positive weight"),
        ([0, 1, 2], ["1", "3"], "positive weight"),
        ([0, 2, 1], ["1", "4", "3"], "must increase"),
        ([0, 1, 1], ["1", "3", "4"], "must increase"),
        ([-1, 1, 2], ["1", "3", "4"], "must increase"),
        ([0, 1, 3], ["1", "3", "4"], "must increase"),
        ([0, 1, 2.0], ["1", "3", "4"], "must be integers"),
        ([0, 1, "2"], ["1", "3", "4"], "list of row numbers"),
        ([0, 1, True], ["1", "3", "4"], "list of row numbers"),
        ("012", ["1", "3", "4"], "list of row numbers"),
        ([0, 1, 2], [1, 3, 4], "integers written as text"),
        ([0, 1, 2], ["1", "3", "4.0"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "1e3"], "integers written as text"),
        ([0, 1, 2], ["1", "3", " 4"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "4\n"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "0x"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "04"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "4_0"], "integers written as text"),
        ([0, 1, 2], ["1", "3", "\u0664"], "integers written as text"),
        ([0, 1, 2], ["1", "3", None], "integers written as text"),
        ([0, 1, 2], ["1", "3", "9" * 601], "integers written as text"),
        ([0, 1, 2], ["1", "3", "0x" + "f" * 300_000], "integers written as text"),
        ([0, 1, 2], {"0": "1"}, "integers written as text"),
    ],
)
def test_a_false_or_malformed_conflict_is_refused(rows, weights, message):
    with pytest.raises(CertificateError, match=message):
        check(conflict(rows, weights, X=OVERLAP), OVERLAP, LABELS)


def test_a_conflict_larger_than_needed_is_refused():
    data, labels = [[0.0], [0.0], [0.0], [0.0]], ["n", "y", "n", "y"]
    made = conflict([0, 1, 2, 3], ["1"] * 4, X=data, labels=labels, n_samples=4)
    with pytest.raises(CertificateError, match="from 1 to 3 rows"):
        check(made, data, labels)


TIED = [[0.0], [1.0], [1.0]]


@pytest.mark.parametrize(
    ("w", "rows", "weights", "message"),
    [
        (["1", "-1"], [1, 2], ["1", "1"], None),
        (["1", "-1"], [1, 2], ["1", "2"], "do not sum to zero"),
        (["2", "-1"], [1, 2], ["1", "1"], "must not be negative on row 1"),
        (["0", "0"], [1, 2], ["1", "1"], "must not be zero on row 0"),
        (["1", "-1"], [1], ["1"], "must not be zero on row 2"),
        (["1", "-1"], [0, 1, 2], ["1", "1", "1"], "must not be positive on row 0"),
    ],
)
def test_a_partition_must_hold_on_both_sides(w, rows, weights, message):
    made = text(kind="partition", X=TIED, w=w, rows=rows, weights=weights)
    if message is None:
        assert check(made, TIED, LABELS) == [1, 0, 0]
    else:
        with pytest.raises(CertificateError, match=message):
            check(made, TIED, LABELS)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"format": "other"}, "not a linsep certificate"),
        ({"version": 2}, "of version 1"),
        ({"version": None}, "of version 1"),
        ({"kind": "proof"}, "kind must be one of"),
        ({"kind": ["separator"]}, "kind must be one of"),
        ({"kind": "conflict"}, "missing or unknown entries: rows, w, weights"),
        ({"comment": "hello"}, "missing or unknown entries: comment"),
        ({"comment": 1, "reading": {}}, "missing or unknown entries: comment"),
        ({"w": None}, "missing or unknown entries: w"),
        ({"n_samples": 4}, "is for 4 rows; got 3 rows and 3 labels"),
        ({"n_samples": (1 << 32) - 1}, "is for 4294967295 rows; got 3 rows"),
        ({"n_samples": 1 << 32}, "n_samples must be a count"),
        ({"n_samples": True}, "n_samples must be a count"),
        ({"n_samples": -1}, "n_samples must be a count"),
        ({"n_samples": "3"}, "n_samples must be a count"),
        ({"n_features": 1 << 32}, "n_features must be a count"),
        ({"n_features": 2, "w": ["1", "2", "3"]}, "row 0 must have 2 entries, got 1"),
        ({"fit_intercept": 1}, "must be true or false"),
        ({"fit_intercept": False}, "w must have 1 entries"),
        ({"classes": []}, "classes must be"),
        ({"classes": ["y", "y"]}, "classes must be"),
        ({"classes": ["n", 1]}, "classes must be"),
        ({"classes": ["a", "b", "c"]}, "classes must be"),
        ({"classes": "ny"}, "classes must be"),
        ({"classes": ["n", "z"]}, "labels must be among"),
        ({"data_sha256": "0" * 64}, "data are not those"),
        ({"data_sha256": "0" * 63}, "64 hexadecimal digits"),
        ({"data_sha256": 5}, "64 hexadecimal digits"),
        ({"content_sha256": "0" * 64}, "content was changed"),
        ({"content_sha256": 7}, "64 hexadecimal digits"),
    ],
)
def test_a_wrong_header_is_refused(entries, message):
    with pytest.raises(CertificateError, match=message):
        check(text(**entries), X, LABELS)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        ("", "not a JSON object"),
        ("[]", "not a JSON object"),
        ("{", "not a JSON object"),
        ("nonsense", "not a JSON object"),
        ("[" * 200_000, "not a JSON object"),
        ('{"a":' * 9_000, "not a JSON object"),
        ('{"a":' * 200_000, "few keys"),
        ('{"w": [' + "[]," * 200_000, "few lists"),
        ('{"w": [' + "{}," * 200_000, "few objects"),
        ('{"w": [' + "0," * ((1 << 24) + 1), "few entries"),
        ('{"version": 1, "version": 1}', "occurs twice"),
        ('{"version": 1.0}', "numbers must be integers"),
        ('{"version": NaN}', "numbers must be integers"),
        ('{"version": -Infinity}', "numbers must be integers"),
        ('{"version": 1e999}', "numbers must be integers"),
        ('{"version": ' + "9" * 1_000_000 + "}", "too long"),
        ('{"version": ' + "9" * 21 + "}", "too long"),
        ('{"version": ' + "9" * 20 + "}", "of version 1"),
        ("x" * (checker.MAX_TEXT + 1), "at most"),
        (b"{}", "is text"),
        (None, "is text"),
    ],
)
def test_hostile_text_is_refused(made, message):
    with pytest.raises(CertificateError, match=message):
        check(made, X, LABELS)


def test_deep_nesting_inside_an_entry_is_refused():
    nested = "[" * 900 + "]" * 900
    made = text().replace('["1", "-2"]', nested)
    with pytest.raises(CertificateError):
        check(made, X, LABELS)


@pytest.mark.parametrize(
    "data",
    [
        [[0.0], [1.0]],
        [[0.0], [1.0], [3.0], [4.0]],
        [[0.0], [1.0], [3.0, 1.0]],
        [[0.0], [1.0], [float("nan")]],
        [[0.0], [1.0], [float("inf")]],
        [[0.0], [1.0], ["3"]],
        [[0.0], [1.0], [None]],
        [[0.0], [1.0], [3 + 0j]],
        [[0.0], [1.0], [2**53 + 1]],
        [[0.0], [1.0], [10**5000]],
    ],
)
def test_other_data_are_refused(data):
    with pytest.raises(CertificateError):
        check(text(), data, LABELS)


@pytest.mark.parametrize("labels", [["n", "n"], ["n", "n", "y", "y"], ["n", "n", "x"]])
def test_other_labels_are_refused(labels):
    with pytest.raises(CertificateError):
        check(text(), X, labels)


def test_the_smallest_and_largest_doubles_are_exact():
    data = [[5e-324], [1.7976931348623157e308]]
    made = text(X=data, labels=["n", "y"], n_samples=2, w=["1", f"{-(2**53)}"])
    slacks = check(made, data, ["n", "y"])
    assert slacks == [2**53 - Fraction(5e-324), Fraction(data[1][0]) - 2**53]


@pytest.mark.parametrize(
    ("label", "expected"),
    [(1, "1"), (1.0, "1"), (True, "True"), ("1.0", "1.0"), (0.5, "0.5"), (-3, "-3")],
)
def test_labels_as_text(label, expected):
    assert checker.label_text(label) == expected


def test_version_is_a_number_and_not_a_truth_value():
    with pytest.raises(CertificateError, match="version 1"):
        check(text(version=True), X, LABELS)


def test_a_text_of_many_keys_is_refused_before_it_is_read():
    crowd = "{" + ",".join(f'"{i}":[]' for i in range(20_000)) + "}"
    with pytest.raises(CertificateError, match="few keys"):
        checker.parse(crowd)


@pytest.mark.parametrize(
    ("mark", "name", "most"),
    [
        (":", "keys", 10_000),
        ("[", "lists", 10_000),
        ("{", "objects", 10_000),
        (",", "entries", 1 << 24),
    ],
)
def test_as_many_marks_as_stated_are_read_and_one_more_is_not(mark, name, most):
    with pytest.raises(CertificateError, match="not a JSON object: "):
        checker.parse(mark * most)
    with pytest.raises(CertificateError, match=f"few {name}"):
        checker.parse(mark * (most + 1))


def test_a_text_as_long_as_stated_is_read():
    with pytest.raises(CertificateError, match="not a JSON object: "):
        checker.parse(" " * (1 << 26))


def test_a_row_of_zeros_without_a_constant_overlaps():
    data, labels = [[0.0], [0.5]], ["y", "y"]
    made = text(
        X=data, labels=labels, n_samples=2, kind="partition", fit_intercept=False,
        classes=["y"], w=["3"], rows=[0], weights=["1"],
    )  # fmt: skip
    assert check(made, data, labels) == [0, Fraction(3, 2)]


def test_without_numpy_an_ordered_partition_is_refused(monkeypatch):
    def missing(name):
        raise ImportError("no numpy here")

    monkeypatch.setattr(checker, "import_module", missing)
    made = text(
        kind="ordered", w=None, directions=[], dependent=[], free=[], eliminated=[],
        point=[],
    )  # fmt: skip
    with pytest.raises(CertificateError, match="NumPy and SciPy: no numpy here"):
        check(made, X, LABELS)


def test_nothing_to_separate_is_separated():
    digest = checker._data_digest([], [], {"n_features": 1, "n_samples": 0})
    assert check(text(n_samples=0, data_sha256=digest), [], []) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner)
    ),
    max_leaves=6,
)


@given(name=st.sampled_from([*DOCUMENT, "rows", "content_sha256"]), value=values)
def test_any_other_value_in_any_entry_is_refused_by_name(name, value):
    document = json.loads(text(kind="partition", rows=[1], weights=["1"], X=TIED))
    before = document[name]
    document[name] = value
    if name != "content_sha256":
        document["content_sha256"] = checker.content_digest(document)
    made = json.dumps(document)
    if value == before and type(value) is type(before):
        checker.parse(made)
    else:
        with pytest.raises(CertificateError):
            check(made, TIED, LABELS)


@given(values)
def test_any_other_json_is_refused(value):
    with pytest.raises(CertificateError):
        checker.parse(json.dumps(value))


def test_weights_without_rows_are_refused_before_they_are_read():
    weights = ["1"] * 100 + ["not a number"]
    crowd = text(kind="conflict", w=None, rows=[0], weights=weights)
    with pytest.raises(CertificateError, match="positive weight"):
        checker.parse(crowd)
