"""The second page of the checker: what it accepts is true, however it was made."""

import json
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import linsep
from linsep.diagnosis.exact import large_columns
from linsep.proof import checker, ordered_checker
from linsep.proof.checker import CertificateError


def problem(seed, n=14):
    """Labels of a factor and a number, of which some levels hold one outcome only."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, n)
    X = np.c_[np.eye(4)[codes], rng.integers(-2, 3, n)]
    y = rng.integers(0, 2, n)
    y[codes == 0] = 1
    return X, y


def certificate(X, y, monkeypatch):
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    answer = linsep.diagnose(X, y)
    monkeypatch.undo()
    return answer, answer.certificate


def rewritten(document):
    """A certificate changed by someone who can compute digests."""
    document["content_sha256"] = checker.content_digest(document)
    return json.dumps(document)


def separated(slacks):
    return [i for i, slack in enumerate(slacks) if slack > 0]


@pytest.fixture
def by_doubles(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("route", ["fractions", "doubles"])
def test_both_routes_accept_what_is_true(seed, route, monkeypatch):
    X, y = problem(seed)
    answer, proof = certificate(X, y, monkeypatch)
    if route == "doubles":
        monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)
    if proof.kind == "ordered":
        assert separated(proof.verify(X, y)) == answer.separated_rows.tolist()


def true_document(monkeypatch):
    for seed in range(50):
        X, y = problem(seed)
        _, proof = certificate(X, y, monkeypatch)
        if proof.kind == "ordered" and proof.directions and proof.dependent:
            return X, y, json.loads(proof.to_json())
    raise AssertionError


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("directions", ["0 0 01"], "texts of numbers"),
        ("directions", ["0 0 1", "0 0 2"], "entry twice"),
        ("directions", [1], "texts of numbers"),
        ("directions", {}, "must be a list"),
        ("directions", ["0 99 1"], "columns must be below"),
        ("free", [0, 0], "column twice"),
        ("free", ["0"], "list of columns"),
        ("free", [5], "free column must stand in its own vector"),
        ("eliminated", [99], "list of columns"),
        ("point", ["0 1.5"], "texts of numbers"),
        ("point", ["0 0x1.0000000000000p+9999"], "finite doubles"),
        ("point", ["0 0x1.0p+0", "0 0x1.0p+0"], "column twice"),
        ("point", ["99 0x1.0p+0"], "columns must be below"),
    ],
)
def test_what_is_malformed_is_refused(entry, value, words, monkeypatch):
    X, y, document = true_document(monkeypatch)
    document[entry] = value
    with pytest.raises(CertificateError, match=words):
        checker.check(rewritten(document), X.tolist(), y.tolist())


def ordered(directions, rows, signs, dependent=(), free=()):
    """The slacks of an ordered partition of rows that are given by their entries."""
    made = {
        "directions": directions, "dependent": dependent, "free": free,
        "eliminated": [], "point": [],
    }  # fmt: skip
    rows = [(list(row), list(row.values())) for row in rows]
    return ordered_checker.check_ordered(made, rows, signs)


def test_the_numbers_of_vectors_and_of_the_point_are_read_as_written():
    body = {
        "directions": ["0 1 10", "10 0 -27", "0 0 0x1b"], "dependent": ["12 1 -0x10"],
        "free": [], "eliminated": [], "point": ["1 -0x1.8p+1", "0 0x1.8p-1"],
    }  # fmt: skip
    found = ordered_checker.read_body(body, 2)
    assert found["directions"] == [(0, 1, 10), (10, 0, -27), (0, 0, 27)]
    assert found["dependent"] == [(12, 1, -16)]
    assert found["point"] == [(1, -3.0), (0, 0.75)]


def test_weights_are_kept_from_zero(monkeypatch):
    # What underflows is of no account because no weight is smaller than 2^-100.
    seen = []
    monkeypatch.setattr(
        ordered_checker,
        "_weights_stay_positive",
        lambda rows, p, v, first: seen.append((p, v)),
    )
    rows = sparse.csr_array([[1.0], [1e100], [-1e100], [-1.0]])
    ordered_checker.check_overlap(rows, np.array([1e100]), np.array([False]))
    ((p, v),) = seen
    assert p.tolist() == [2.0**-100, 2.0**-100, 1.0, 1.0]
    assert v.tolist() == [2.0**-100] * 4


def test_directions_are_summed_in_the_units_of_the_entries():
    first, second = [(0, 0, 1), (0, 1, -1)], [(1, 0, 1)]
    slacks = ordered(first, [{0: 1.0, 1: 0.25}, {0: 0.25, 1: 1.0}], [1, -1])
    assert slacks == [Fraction(3, 4), Fraction(3, 4)]
    with pytest.raises(ordered_checker.NotProved, match="not zero on row 1 is neg"):
        ordered(first + second, [{0: 0.5}, {0: 0.25, 1: 1.0}], [1, 1])
    # Where the first is zero the second counts, and it alone.
    rows = [{0: 0.5, 1: 0.5}, {1: -3.0}]
    assert ordered(first + second, rows, [1, 1]) == [Fraction(1, 2), 3]
    with pytest.raises(ordered_checker.NotProved, match="not zero on row 0 is neg"):
        ordered(first + second, rows, [-1, 1])


def test_what_depends_must_do_so_on_every_overlapped_row():
    # Column 1 is half of column 0 there.
    rows, vector = [{0: 1.0, 1: 0.5}, {0: -2.0, 1: -1.0}], [(0, 0, 1), (0, 1, -2)]
    assert ordered([], rows, [1, 1], vector, [1]) == [0, 0]
    with pytest.raises(ordered_checker.NotProved, match="is not zero on row 1"):
        ordered([], [rows[0], {0: -1.0, 1: -2.0}], [1, 1], vector, [1])


def test_eliminated_columns_that_share_a_row_are_refused(monkeypatch, by_doubles):
    X = np.c_[np.arange(8.0) % 3, np.arange(8.0) % 2 + 1]
    y = np.array([0, 1, 1, 0, 0, 1, 1, 0])
    answer, proof = certificate(X, y, monkeypatch)
    monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)
    assert answer.status.value == "overlap"
    document = json.loads(proof.to_json())
    document["eliminated"] = [0, 1]
    with pytest.raises(CertificateError, match="two of the columns"):
        checker.check(rewritten(document), X.tolist(), y.tolist())


def test_separable_rows_are_not_seen_to_overlap_from_any_point(by_doubles):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    for scale in (0.0, 1.0, 30.0, 1e3):
        with pytest.raises(ordered_checker.NotProved):
            ordered_checker.check_overlap(
                sparse.csr_array(X * signs[:, np.newaxis]),
                np.array([scale, 0.0, 0.0]),
                np.zeros(3, dtype=bool),
            )


def test_a_dependent_column_that_is_kept_is_refused(by_doubles):
    A = np.array([[1.0, 1, 1], [-1, -1, 1], [0.5, 0.5, -2]])
    with pytest.raises(ordered_checker.NotProved, match="not positive definite"):
        ordered_checker.check_overlap(
            sparse.csr_array(A), np.zeros(3), np.zeros(3, dtype=bool)
        )


def overlaps(rows, point=None, first=None):
    """Whether rows are accepted as overlapping, by the weights of a point."""
    k = np.shape(rows)[1]
    try:
        ordered_checker.check_overlap(
            sparse.csr_array(rows),
            np.zeros(k) if point is None else point,
            np.zeros(k, dtype=bool) if first is None else first,
        )
    except ordered_checker.NotProved:
        return False
    return True


@pytest.fixture(params=["fractions", "doubles"])
def either_route(request, monkeypatch):
    if request.param == "doubles":
        monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0]],
        [[-2.0, 0.0], [0.0, 3.0]],
        [[1.0, 1.0], [1.0, -1.0]],
        [[1.0], [1.0], [0.0]],
        [[1.0, -1.0, 0.0], [0.0, 1.0, -1.0], [0.0, 0.0, 1e-3]],
    ],
)
def test_rows_that_can_be_separated_do_not_overlap(rows, either_route):
    rows = np.array(rows)
    rng = np.random.default_rng(0)
    for scale in (0.0, 1.0, 100.0):
        assert not overlaps(rows, scale * rng.standard_normal(rows.shape[1]))


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0], [-1.0]],
        [[3.0], [-1.0], [-1.0]],
        [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]],
        [[1e200, 0.0], [0.0, 1e-200], [-1e200, -1e-200]],
    ],
)
def test_rows_that_balance_overlap(rows, either_route):
    assert overlaps(np.array(rows))


def test_no_rows_and_rows_of_zeros_need_no_weights():
    assert overlaps(np.zeros((0, 3)))
    assert overlaps(np.zeros((3, 0)))


def test_every_column_is_divided_by_a_power_of_two_to_about_one():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((20, 6)) * 2.0 ** np.array([-90, -3, 0, 1, 40, 300])
    rows[rng.random(rows.shape) < 0.3] = 0.0
    scaled = ordered_checker._scaled(sparse.csr_array(rows)).toarray()
    largest = np.abs(scaled).max(axis=0)
    assert ((largest >= 0.5) & (largest < 1.0)).all()
    factors = np.abs(rows).max(axis=0) / largest
    assert (np.frexp(factors)[0] == 0.5).all()
    assert np.array_equal(scaled * factors, rows)


def test_a_column_of_zeros_cannot_be_scaled():
    rows = sparse.csr_array(([1.0, 0.0], ([0, 1], [0, 1])), shape=(2, 2))
    with pytest.raises(ordered_checker.NotProved, match="column is zero"):
        ordered_checker._scaled(rows)


@pytest.mark.parametrize(
    ("widest", "is_refused"), [(2.0**-501, True), (2.0**-500, False)]
)
def test_a_column_may_not_hold_entries_too_different(widest, is_refused, by_doubles):
    rows = sparse.csr_array([[1.0], [-widest]])
    if is_refused:
        with pytest.raises(ordered_checker.NotProved, match="differ too much"):
            ordered_checker._scaled(rows)
    else:
        ordered_checker._scaled(rows)


@pytest.mark.parametrize("n_first", [0, 3, 8])
def test_a_factor_solves_with_the_shifted_moments(n_first):
    rng = np.random.default_rng(n_first)
    A = rng.standard_normal((60, 8))
    first = np.arange(8) < n_first
    rng.shuffle(first)
    columns = np.flatnonzero(first)
    if columns.size:  # no row holds two of them
        held = columns[rng.integers(0, columns.size, 60)]
        A[:, columns] = 0.0
        A[np.arange(60), held] = rng.standard_normal(60)
    M = A.T @ A
    solve = ordered_checker._factored(sparse.csr_array(M), first, 0.25)
    x = rng.standard_normal(8)
    np.testing.assert_allclose(solve((M - 0.25 * np.eye(8)) @ x), x, rtol=1e-9)


@pytest.mark.parametrize("first", [[False, False], [True, False], [True, True]])
@pytest.mark.parametrize("diagonal", [[1.0, 0.2], [0.2, 1.0], [0.2, 0.2], [0.25, 1.0]])
def test_what_is_not_positive_definite_has_no_factor(first, diagonal):
    M = sparse.csr_array(np.diag(diagonal))
    assert ordered_checker._factored(M, np.array(first), 0.25) is None
    assert ordered_checker._factored(M, np.array(first), 0.1) is not None
