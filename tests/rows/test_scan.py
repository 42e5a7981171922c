"""One sweep over the rows: what it bounds, what it ranks, whatever the backend."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.rows import DenseRows, SparseRows, protocol

BACKENDS = {
    "C": lambda X, signs, b: DenseRows(np.ascontiguousarray(X), signs, b),
    "F": lambda X, signs, b: DenseRows(np.asfortranarray(X), signs, b),
    "strided": lambda X, signs, b: DenseRows(
        np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3], signs, b
    ),
    "sparse": lambda X, signs, b: SparseRows(sparse.csr_array(X), signs, b),
    "sparse64": lambda X, signs, b: SparseRows(_long_indices(X), signs, b),
}


def _long_indices(X):
    matrix = sparse.csr_array(X)
    matrix.indices = matrix.indices.astype(np.int64)
    matrix.indptr = matrix.indptr.astype(np.int64)
    return matrix


def _exact_dots(X, signs, w, fit_intercept):
    """The textbook signed dot products, in fractions."""
    weights = [Fraction(float(value)) for value in w]
    dots = []
    for row, sign in zip(X, signs, strict=True):
        values = [Fraction(float(x)) for x in row] + [Fraction(1)] * fit_intercept
        terms = [a * b for a, b in zip(values, weights, strict=True)]
        dots.append((int(sign) * sum(terms), sum(abs(term) for term in terms)))
    return dots


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.float64, np.float32]))
    X = rng.integers(-3, 4, (n, d)) * 2.0 ** rng.integers(-40, 40, (n, d))
    X = X.astype(dtype)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    fit_intercept = draw(st.booleans())
    w = rng.standard_normal(d + fit_intercept) * 2.0 ** rng.integers(-40, 40)
    if draw(st.booleans()):
        # Aim at ties: a weight vector orthogonal to the first row.
        w[rng.integers(d)] = 0.0
    return X, signs, fit_intercept, w


@pytest.mark.parametrize("backend", BACKENDS)
@given(problem=problems())
def test_scan_bounds_hold_in_exact_arithmetic(backend, problem):
    X, signs, fit_intercept, w = problem
    rows = BACKENDS[backend](X, signs, fit_intercept)
    n = len(X)
    scan = rows.scan(w, n)
    exact = _exact_dots(X, signs, w, fit_intercept)
    dots = [dot for dot, _ in exact]
    assert Fraction(scan.margin) <= min(dots)
    for sign, bound in ((-1, scan.margin_negative), (1, scan.margin_positive)):
        of_sign = [dot for dot, own in zip(dots, signs, strict=True) if own == sign]
        assert bound == np.inf if not of_sign else Fraction(bound) <= min(of_sign)
    n_sure = n - scan.n_violations - scan.n_unsettled
    ranked = scan.index.tolist()
    assert sorted(ranked) == list(range(n))
    # The doubtful rows come first, and all others are exactly positive.
    assert all(dots[i] < 0 for i in ranked[: scan.n_violations] if dots[i] < 0)
    assert sum(dot < 0 for dot in dots) >= scan.n_violations
    assert all(dots[i] > 0 for i in ranked[n - n_sure :])
    if n_sure:
        assert Fraction(scan.margin_settled) <= min(
            dots[i] for i in ranked[n - n_sure :]
        )
    else:
        assert scan.margin_settled == np.inf


@pytest.mark.parametrize("backend", BACKENDS)
def test_scan_ranks_by_relative_margin_and_row_number(backend):
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, (500, 4)).astype(np.float64)
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), 500)
    w = np.array([1.0, -2.0, 0.5, 0.25, 1.0])
    scan = BACKENDS[backend](X, signs, True).scan(w, 40)
    full = np.c_[X, np.ones(500)]
    relative = signs * (full @ w) / (np.abs(full) @ np.abs(w))
    expected = np.lexsort((np.arange(500), relative))[:40]
    assert scan.index.tolist() == expected.tolist()
    sizes = (np.abs(full) @ np.abs(w))[expected]
    np.testing.assert_array_equal(scan.values / sizes, relative[expected])


def test_scan_is_the_same_in_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 3))
    rows = DenseRows(X, np.where(X[:, 0] > 0, 1, -1).astype(np.int8), True)
    w = np.array([1.0, 0.3, 0.0, -0.1])
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 400)
    answers = []
    for count in ("1", "2", "7"):
        monkeypatch.setenv("LINSEP_NUM_THREADS", count)
        scan = rows.scan(w, 100)
        answers.append((scan.margin, scan.n_violations, scan.index.tolist()))
    assert answers[0] == answers[1] == answers[2]
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 1 << 20)
    whole = rows.scan(w, 100)
    assert answers[0] == (whole.margin, whole.n_violations, whole.index.tolist())


@pytest.mark.parametrize("d", [1, 5, 8, 17, 33, 100, 2100])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["C", "strided", "backwards"])
def test_a_row_comes_to_the_same_bits_wherever_it_stands(layout, dtype, d):
    rng = np.random.default_rng(d)
    wide = rng.standard_normal((40, d + 3)).astype(dtype)
    wide[:, [0, 1, -1]] = np.nan  # what lies beside a row
    w = rng.standard_normal(d + 1)

    def margins(order):
        """Margins and sizes of these rows, by their number in all."""
        given = np.ascontiguousarray(wide[order])[:, 2 : d + 2]
        if layout == "C":
            given = np.ascontiguousarray(given)
        elif layout == "backwards":
            given, order = given[::-1], order[::-1]
        signs = np.where(order % 3 == 0, -1, 1).astype(np.int8)
        s, t = DenseRows(given, signs, True).margins(w)
        found = np.full((2, len(wide)), np.nan)
        found[:, order] = s, t
        return found

    whole = margins(np.arange(40))
    full = np.c_[wide[:, 2 : d + 2], np.ones(40)].astype(np.float64)
    sizes = np.abs(full) @ np.abs(w)
    signs = np.where(np.arange(40) % 3 == 0, -1, 1)
    assert np.all(np.abs(whole[0] - signs * (full @ w)) <= 2 * d * 2.0**-52 * sizes)
    for n in (1, 2, 3, 7, 39, 40):
        order = rng.permutation(40)[:n]
        np.testing.assert_array_equal(margins(order)[:, order], whole[:, order])


@pytest.mark.parametrize("d", [1, 40])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_chunk_holds_about_as_many_bytes_of_floats_as_of_doubles(
    monkeypatch, dtype, d
):
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 1000)
    rows = DenseRows(np.ones((2000, d), dtype), np.ones(2000, np.int8), False)
    visited = []
    monkeypatch.setattr(rows, "_fill", lambda *given: visited.append(given[:2]))
    rows.margins(np.ones(d))
    # With the margin of each row, its size and its rank.
    n_bytes = (rows.X.itemsize * d + 24) * min(visited)[1]
    assert n_bytes == pytest.approx(8 * 1000, rel=0.2)


def test_scan_treats_overflow_as_unsettled():
    X = np.array([[1e300, 1e300], [1.0, 1.0]])
    rows = DenseRows(X, np.array([1, 1], dtype=np.int8), False)
    scan = rows.scan(np.array([1e300, -1e300]), 2)
    assert scan.index[0] == 0
    assert scan.n_unsettled >= 1
    assert scan.margin == -np.inf


def test_scan_does_not_trust_an_underflowed_product():
    X = np.array([[5e-324, 1e-300]])
    rows = DenseRows(X, np.array([1], dtype=np.int8), False)
    # The exact value is negative, the computed one is zero.
    scan = rows.scan(np.array([1e-10, -1e-100]), 1)
    assert (scan.n_violations, scan.n_unsettled) == (0, 1)


@pytest.mark.parametrize("row", [-1, 4])
def test_a_row_that_is_not_there_is_not_taken(row):
    rows = DenseRows(np.ones((4, 2)), np.ones(4, np.int8), True)
    with pytest.raises(IndexError, match=f"row {row} is not one of 4"):
        rows.take(np.array([0, row]))


@pytest.mark.parametrize("by_margin", [False, True])
def test_most_of_a_few_rows_are_ranked_as_some_of_them_are(by_margin):
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, (60, 3)).astype(float)  # many tie
    rows = DenseRows(X, rng.choice([-1, 1], 60).astype(np.int8), True)
    w = np.array([1.0, -2.0, 0.5, 0.25])
    some, most, every = (rows.scan(w, k, by_margin=by_margin) for k in (20, 30, 99))
    for scan, k in ((some, 20), (most, 30)):
        for name in ("index", "values", "scores"):
            np.testing.assert_array_equal(getattr(scan, name), getattr(every, name)[:k])
        assert (scan.margin, scan.n_violations) == (every.margin, every.n_violations)
    assert every.index.size == 60


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_take_returns_the_exact_signed_rows(backend, dtype):
    X = (np.arange(12).reshape(4, 3) / 7).astype(dtype)
    signs = np.array([1, -1, -1, 1], dtype=np.int8)
    rows = BACKENDS[backend](X, signs, True)
    taken = rows.take(np.array([3, 1]))
    dense = taken.toarray() if sparse.issparse(taken) else taken
    expected = np.c_[X, np.ones(4)].astype(np.float64) * signs[:, None]
    assert dense.dtype == np.float64
    np.testing.assert_array_equal(dense, expected[[3, 1]])
    assert rows.shape == (4, 4)
    assert rows.dtype == dtype


def test_rows_leave_the_users_array_alone():
    X = np.arange(6.0).reshape(3, 2)
    kept = X.copy()
    rows = DenseRows(X, np.array([1, -1, 1], dtype=np.int8), True)
    rows.scan(np.ones(3), 3)
    rows.take(np.array([1]))[:] = 0
    np.testing.assert_array_equal(X, kept)
    assert X.flags.writeable
    assert np.shares_memory(rows.X, X)
