"""Ordered partitions: what holds is accepted, and what does not is not."""

import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import hostile_matrix
from judges import dot, fractions_of
from linsep.diagnosis.exact import large_columns
from linsep.proof import checker, ordered_checker
from linsep.proof.certificate import Certificate
from linsep.proof.checker import CertificateError, check
from linsep.proof.ordered_checker import NotProved, check_overlap
from ordered_tampering import holds, ordered_case, overlaps, tampered

SEEDS = st.integers(0, 2**32 - 1)
ROUTES = {"fractions": 12, "doubles": -1}


@pytest.fixture(params=ROUTES)
def route(request, monkeypatch):
    """Both ways in which the second page checks the point."""
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", ROUTES[request.param])
    return request.param


# --- a small certificate by hand ---

# Rows 0 and 1 overlap in column 0, which column 1 doubles; row 2 is separated by
# column 2, and row 3 by column 3 once row 2 is gone.
X = [
    [1.0, 2.0, 0.0, 0.0],
    [3.0, 6.0, 0.0, 0.0],
    [-5.0, 0.0, 1.0, -1.0],
    [4.0, 0.0, 0.0, -1.0],
]
LABELS = ["y", "n", "y", "n"]
DOCUMENT = {
    "format": "linsep certificate",
    "version": 1,
    "kind": "ordered",
    "n_samples": 4,
    "n_features": 4,
    "fit_intercept": False,
    "classes": ["n", "y"],
    "data_sha256": "",
    "directions": ["0 2 1", "1 3 3"],
    "dependent": ["0 0 2", "0 1 -1"],
    "free": [1],
    "eliminated": [0],
    "point": [],
}


def text(X=X, labels=LABELS, **entries):
    document = {**DOCUMENT, **entries}
    signs = [1 if label == document["classes"][-1] else -1 for label in labels]
    header = {"n_features": len(X[0]), "n_samples": len(X)}
    document["data_sha256"] = checker._data_digest(X, signs, header)
    document |= header
    document["content_sha256"] = checker.content_digest(document)
    return json.dumps(document)


def test_a_partition_in_order_holds(route):
    assert check(text(), X, LABELS) == [0, 0, 1, 3]


def test_rows_that_are_mappings_hold_as_well(route):
    rows = [{j: x for j, x in enumerate(row) if x} for row in X]
    assert check(text(), rows, LABELS, n_columns=4) == [0, 0, 1, 3]
    with pytest.raises(CertificateError, match="need n_columns"):
        check(text(), rows, LABELS)


def test_no_row_need_overlap(route):
    rows, labels = [[1.0], [2.0]], ["y", "y"]
    entries = {"directions": ["0 0 1"], "dependent": [], "free": [], "classes": ["y"]}
    assert check(text(rows, labels, **entries), rows, labels) == [1, 2]


def test_rows_of_zeros_overlap(route):
    rows, labels = [[0.0]], ["y"]
    entries = {"directions": [], "dependent": [], "free": [], "classes": ["y"]}
    entries["eliminated"] = []
    assert check(text(rows, labels, **entries), rows, labels) == [0]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"directions": ["0 2 -1", "1 3 3"]}, "row 2 is negative"),
        ({"directions": ["1 2 1", "0 3 3"]}, "row 2 is negative"),
        ({"directions": ["0 2 1"]}, "dependent vector is not zero on row 3"),
        ({"directions": ["0 3 3", "1 2 1"]}, "row 2"),
        ({"dependent": ["0 0 2", "0 1 -2"]}, "dependent vector is not zero on row 0"),
        ({"dependent": [], "free": []}, "depend|definite"),
        ({"dependent": [], "free": [1]}, "own vector alone"),
        ({"free": [0, 1]}, "own vector alone"),
        ({"free": []}, "depend|definite"),
        ({"free": [3]}, "own vector alone"),
        (
            {"dependent": ["0 0 2", "0 1 -1", "1 0 2", "1 1 -1"], "free": [1, 0]},
            "own vector alone",
        ),
        ({"dependent": ["0 1 0"]}, "texts of numbers"),
        ({"dependent": ["0 0 0", "1 1 0"], "free": [0, 1]}, "texts of numbers"),
        ({"directions": ["0 2 1", "0 2 1"]}, "directions must not name an entry twice"),
        ({"free": [1, 1]}, "free must not name a column twice"),
        ({"eliminated": [0, 0]}, "eliminated must not name a column twice"),
        ({"point": ["0 0x1.0p+0", "0 0x1.0p+0"]}, "point must not name a column twice"),
        ({"point": ["0 0x1.0p+1024"]}, "finite"),
        ({"point": ["0 0x1.0p+9999"]}, "finite"),
        ({"point": ["0 1.0"]}, "texts of numbers"),
        ({"point": ["0 nan"]}, "texts of numbers"),
        ({"point": ["0 inf"]}, "texts of numbers"),
        ({"point": [0]}, "texts of numbers"),
        ({"point": "0 0x1.0p+0"}, "point must be a list"),
        ({"directions": {"0": 1}}, "directions must be a list"),
        ({"free": [-1]}, "free must be a list of columns"),
        ({"free": [4]}, "free must be a list of columns"),
        ({"free": [True]}, "free must be a list of columns"),
        ({"eliminated": ["0"]}, "eliminated must be a list of columns"),
        ({"directions": ["0 4 1"]}, "columns must be below 4"),
        ({"dependent": ["0 4294967296 1"]}, "columns must be below 4"),
        ({"point": ["4 0x1.0p+0"]}, "columns must be below 4"),
        ({"directions": ["0 2 1\n", "1 3 3"]}, "texts of numbers"),
        ({"directions": ["0 2 01"]}, "texts of numbers"),
        ({"directions": ["0 2 1_0"]}, "texts of numbers"),
        ({"directions": ["0 2 ٣"]}, "texts of numbers"),
        ({"directions": ["0 2 " + "9" * 700]}, "texts of numbers"),
        ({"directions": ["-1 2 1"]}, "texts of numbers"),
        ({"w": ["1"] * 4}, "unknown entries"),
    ],
)
def test_what_does_not_hold_is_refused(entries, message, route):
    with pytest.raises(CertificateError, match=message):
        check(text(**entries), X, LABELS)


def test_a_zero_in_a_dependent_vector_frees_no_column(route):
    # Otherwise any columns could be left out, and separable rows would overlap.
    rows, labels = [[1.0], [2.0]], ["y", "y"]
    for zero in ("0 0 0", "0 0 -0", "0 0 0x0"):
        entries = {"directions": [], "dependent": [zero], "free": [0]}
        entries |= {"classes": ["y"], "eliminated": []}
        with pytest.raises(CertificateError):
            check(text(rows, labels, **entries), rows, labels)


def test_a_missing_entry_is_refused():
    document = json.loads(text())
    del document["free"]
    with pytest.raises(CertificateError, match="free"):
        check(json.dumps(document), X, LABELS)


def test_entries_may_be_hexadecimal_and_huge(route):
    big = hex(3 << 4000)
    assert check(text(directions=["0 2 1", f"1 3 {big}"]), X, LABELS)[3] == 3 << 4000
    assert check(text(directions=["0 2 1", "7000000000 3 1"]), X, LABELS)[3] == 1


@pytest.mark.parametrize("size", [2**31, 2**32 - 1])
def test_huge_sizes_are_refused_at_once(size):
    document = {**json.loads(text()), "n_features": size}
    document["content_sha256"] = checker.content_digest(document)
    with pytest.raises(CertificateError):
        check(json.dumps(document), X, LABELS)


def test_columns_eliminated_first_share_no_row(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    rows = [[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]
    labels = ["y"] * 3
    entries = {"directions": [], "dependent": [], "free": [], "classes": ["y"]}
    good = text(rows, labels, **entries, eliminated=[0])
    assert check(good, rows, labels) == [0, 0, 0]
    with pytest.raises(CertificateError, match="a row holds two"):
        check(text(rows, labels, **entries, eliminated=[0, 1]), rows, labels)


def test_all_columns_may_be_eliminated_first(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    rows = sparse.csr_array(np.vstack([np.eye(20), -np.eye(20)]))
    check_overlap(rows, np.zeros(20), np.ones(20, dtype=bool))


def test_more_columns_than_can_be_factored_are_refused(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    monkeypatch.setattr(ordered_checker, "MOST_COLUMNS", 1)
    rows = sparse.csr_array(np.vstack([np.eye(2), -np.eye(2)]))
    with pytest.raises(NotProved, match="more than 1 columns"):
        check_overlap(rows, np.zeros(2), np.zeros(2, dtype=bool))
    check_overlap(rows, np.zeros(2), np.array([True, False]))  # one is left


def test_points_and_rows_that_are_not_finite_are_refused():
    rows, none = sparse.csr_array([[1.0], [-1.0]]), np.zeros(1, dtype=bool)
    for bad in (np.nan, np.inf):
        with pytest.raises(NotProved, match="finite"):
            check_overlap(rows, np.array([bad]), none)
        with pytest.raises(NotProved, match="finite"):
            check_overlap(rows * bad, np.zeros(1), none)
    huge = sparse.csr_array([[1e300, -1e300], [-1e300, 1e300]])
    with pytest.raises(NotProved, match="not numbers"):
        check_overlap(huge, np.array([1e300, 1e300]), np.zeros(2, dtype=bool))


def test_columns_too_wide_for_doubles_are_refused(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    rows = sparse.csr_array([[1.0], [-1.0], [2.0**-600]])
    with pytest.raises(NotProved, match="differ too much"):
        check_overlap(rows, np.zeros(1), np.zeros(1, dtype=bool))
    empty = sparse.csr_array([[1.0, 0.0], [-1.0, 0.0]])
    with pytest.raises(NotProved, match="zero on all rows"):
        check_overlap(empty, np.zeros(2), np.zeros(2, dtype=bool))


def test_columns_all_eliminated_that_depend_are_refused(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    monkeypatch.setattr(ordered_checker, "_factored", lambda *_: None)
    rows = sparse.csr_array([[1.0], [-1.0]])
    with pytest.raises(NotProved, match="positive definite"):
        check_overlap(rows, np.zeros(1), np.zeros(1, dtype=bool))


def test_a_shift_beyond_the_diagonal_factors_nothing():
    M = sparse.csr_array(np.eye(2))
    for first in ([True, False], [False, False]):
        assert ordered_checker._factored(M, np.array(first), 1.5) is None
    nan = sparse.csr_array([[np.nan]])
    assert ordered_checker._factored(nan, np.array([False]), 0.0) is None


# --- the point, against fractions ---


@pytest.mark.parametrize("few", ROUTES.values(), ids=ROUTES)
@given(SEEDS)
def test_points_are_judged_as_in_fractions(few, seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng, n=int(rng.integers(2, 12)), k=int(rng.integers(1, 5)))
    k = A.shape[1]
    with np.errstate(all="ignore"):
        size = rng.choice([0.0, 1.0, 30.0])
        point = rng.standard_normal(k) * size / np.abs(A).max(axis=0)
    first = np.zeros(k, dtype=bool)
    first[rng.integers(0, k)] = True
    before = ordered_checker.FEW_COLUMNS
    try:
        ordered_checker.FEW_COLUMNS = few
        check_overlap(sparse.csr_array(A), point, first)
        is_accepted = True
    except NotProved:
        is_accepted = False
    finally:
        ordered_checker.FEW_COLUMNS = before
    if is_accepted or few > 0:
        assert is_accepted == overlaps(A, point)


def test_both_routes_accept_ordinary_data():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((20, 3)) * 10.0 ** rng.integers(-9, 9)
        A = sparse.csr_array(np.vstack([A, -A]))
        ordered_checker._in_fractions(A, [0.5] * 40, [0.25] * 40)
        half, quarter = np.full(40, 0.5), np.full(40, 0.25)
        ordered_checker._in_doubles(A, half, quarter, np.zeros(3, dtype=bool))


@given(SEEDS)
def test_weighted_sums_are_within_their_bound(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng)
    A /= np.exp2(np.frexp(np.abs(A).max(axis=0))[1])
    u, off = rng.standard_normal(len(A)), np.abs(rng.standard_normal(len(A))) * 1e-9
    true = u + off * rng.uniform(-1, 1, len(A)) * 0.999
    total, bound = ordered_checker._weighted(sparse.csr_array(A), u, off)
    (exact_true,) = fractions_of([true])
    for j, column in enumerate(zip(*fractions_of(A), strict=True)):
        error = abs(Fraction(float(total[j])) - dot(column, exact_true))
        assert error <= Fraction(float(bound[j]))


def test_sums_of_whole_numbers_are_the_same_in_blocks():
    A = np.random.default_rng(0).integers(-3, 4, (50, 3)).astype(float)
    u = np.arange(50.0)
    total, bound = ordered_checker._weighted(sparse.csr_array(A), u, np.zeros(50))
    assert total.tolist() == (u @ A).tolist()
    assert (bound > 0).all()


@given(SEEDS)
def test_scaled_rows_are_the_same_rows(seed):
    A = hostile_matrix(np.random.default_rng(seed))
    scaled = ordered_checker._scaled(sparse.csr_array(A)).toarray()
    largest = np.abs(scaled).max(axis=0)
    assert ((largest >= 0.5) & (largest < 1.0)).all()
    units = np.frexp(np.abs(A).max(axis=0))[1]
    assert np.array_equal(np.ldexp(scaled, units), A)


# --- alone ---


def run_alone(folder, pages, code):
    """Run code in a folder that holds these pages of the checker and a proof."""
    for page in pages:
        source = Path(page.__file__)
        (folder / source.name).write_bytes(source.read_bytes())
    (folder / "proof.json").write_text(text())
    code = "import sys; sys.path.insert(0, sys.argv[1])\nimport checker\n" + code
    command = [sys.executable, "-I", "-c", code, str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_two_pages_work_alone_in_an_empty_folder(tmp_path):
    code = (
        "text = open(sys.argv[1] + '/proof.json').read()\n"
        f"print(checker.check(text, {X}, {LABELS}))\n"
        "import ordered_checker\n"
        "assert ordered_checker.__file__.startswith(sys.argv[1])\n"
        "assert not [name for name in sys.modules if name.startswith('linsep')]\n"
    )
    done = run_alone(tmp_path, (checker, ordered_checker), code)
    assert done.returncode == 0, done.stderr
    assert "Fraction(3, 1)" in done.stdout


def test_without_the_second_page_its_kind_alone_is_refused(tmp_path):
    code = (
        "try:\n"
        f"    checker.check(open(sys.argv[1] + '/proof.json').read(), {X}, {LABELS})\n"
        "except checker.CertificateError as error:\n"
        "    print(error)\n"
    )
    done = run_alone(tmp_path, (checker,), code)
    assert "is checked with NumPy and SciPy" in done.stdout, done.stderr


def test_where_the_second_page_cannot_be_imported_its_kind_alone_is_refused(
    monkeypatch,
):
    made = text()
    monkeypatch.setitem(sys.modules, ordered_checker.__name__, None)
    with pytest.raises(CertificateError, match="is checked with NumPy and SciPy"):
        check(made, X, LABELS)
    entries = {"kind": "separator", "n_samples": 1, "n_features": 1, "w": ["1"]}
    names = ("directions", "dependent", "free", "eliminated", "point", "content_sha256")
    document = {k: v for k, v in json.loads(made).items() if k not in names} | entries
    document["data_sha256"] = checker._data_digest([[2.0]], [1], document)
    document["content_sha256"] = checker.content_digest(document)
    assert check(json.dumps(document), [[2.0]], ["y"]) == [2]


# --- tampering ---


def count_tampered(seeds, times):
    """Tamper with certificates; all that is accepted must hold."""
    counts = Counter()
    for seed in seeds:
        case = ordered_case(seed)
        if case is None:
            continue
        assert holds(*case)
        rng = np.random.default_rng(seed)
        for _ in range(times):
            document, rows, labels = tampered(*case, rng)
            try:
                check(json.dumps(document), rows, labels)
            except CertificateError:
                counts["refused"] += 1
                try:
                    counts["false"] += not holds(document, rows, labels)
                except ZeroDivisionError:
                    counts["false"] += 1
            else:
                assert holds(document, rows, labels), (seed, document)
                counts["true"] += 1
    return counts


@pytest.fixture
def everything_in_order(monkeypatch):
    """Diagnoses of any size by factorisations."""
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)


def test_no_false_certificate_is_accepted(route, everything_in_order):
    counts = count_tampered(range(10), 10)
    assert counts["false"] >= 30
    assert counts["true"] > 0


@pytest.mark.slow
def test_none_of_ten_thousand_false_certificates_is_accepted(
    route, everything_in_order
):
    counts = count_tampered(range(1000, 1700), 40)
    assert counts["false"] >= 10_000


# --- the file ---


def test_certificates_in_order_are_saved_and_read_again(tmp_path, everything_in_order):
    n_read = 0
    for seed in range(12):
        case = ordered_case(seed)
        if case is None:
            continue
        document, rows, labels = case
        certificate = Certificate.from_json(json.dumps(document))
        certificate.save(tmp_path / "proof.json")
        again = Certificate.load(tmp_path / "proof.json")
        assert again == certificate
        assert str(again).startswith("some rows are separated, the others overlap")
        again.verify(rows, labels)
        n_read += 1
    assert n_read > 3
