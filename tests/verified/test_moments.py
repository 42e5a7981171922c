"""The moment matrix, its factor and the bound on its eigenvalues, against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import (
    exact_moments,
    hostile_matrix,
    is_semidefinite,
    part_of,
    scaled_fractions,
)
from judges import fractions_of
from linsep.rows.rounding import gamma
from linsep.solvers import _factors
from linsep.verified import moments as module
from linsep.verified._moments import sum_blocks
from linsep.verified.moments import Layout, Moments, NotPositive, TooLarge

SEEDS = st.integers(0, 2**32 - 1)
LEAST = Fraction(2) ** -660  # what underflow may add up to


def levels_and_more(rng):
    """Levels of two factors and a column more, in CSR form: some are exclusive."""
    n = int(rng.integers(4, 14))
    blocks = [np.eye(size)[rng.integers(0, size, n)] for size in (4, 2)]
    A = np.hstack([*blocks, rng.standard_normal((n, 1))])
    A = A[:, A.any(axis=0)] * np.where(rng.random(n) < 0.5, 1.0, -1.0)[:, np.newaxis]
    return A[:, rng.permutation(A.shape[1])] if rng.random() < 0.3 else A


def random_moments(seed):
    """Moments of hostile rows with weights of all sizes; the rows too, exact."""
    rng = np.random.default_rng(seed)
    if rng.random() < 0.3:
        A = levels_and_more(rng)
        part = part_of(sparse.csr_matrix(A))
    else:
        A = hostile_matrix(rng)
        part = part_of(A, rng)
    v = np.ldexp(rng.random(len(A)) + 0.5, rng.integers(-99, 20, len(A)))
    if rng.random() < 0.5:
        v = np.ones(len(A))
    moments = Moments.of(part, v, Layout.of(part))
    rows = scaled_fractions(A, part.exponents + moments.exponents)
    return moments, rows, fractions_of([v])[0]


@given(SEEDS)
def test_every_entry_is_within_its_bound(seed):
    moments, rows, v = random_moments(seed)
    exact = exact_moments(rows, v)
    sizes = exact_moments([[abs(x) for x in row] for row in rows], v)
    first, rest = moments.layout.first.tolist(), moments.layout.rest.tolist()
    bound = Fraction(gamma(moments.n_terms + 4))
    computed = {(j, j): moments.D[at] for at, j in enumerate(first)}
    B = moments.B.toarray()
    computed |= {
        (j, k): B[a, b] for a, j in enumerate(first) for b, k in enumerate(rest)
    }
    computed |= {
        (j, k): moments.C[a, b]
        for a, j in enumerate(rest)
        for b, k in enumerate(rest)
        if b <= a
    }
    for (j, k), value in computed.items():
        assert abs(Fraction(float(value)) - exact[j][k]) <= bound * sizes[j][k] + LEAST
    for a in first:
        assert all(not exact[a][b] for b in first if b != a)
    for j in range(len(exact)):
        assert Fraction(1, 2) * (1 - Fraction(1, 10**9)) <= exact[j][j]
        assert exact[j][j] <= Fraction(module.LARGEST)


@given(SEEDS, st.sampled_from([1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.4]))
def test_a_factor_is_that_of_a_matrix_near_by(seed, c):
    moments, rows, v = random_moments(seed)
    try:
        factor = moments.factored(c)
    except NotPositive:
        return
    first, rest = moments.layout.first.tolist(), moments.layout.rest.tolist()
    order = first + rest
    k1, k = len(first), len(order)
    lower = np.zeros((k, k))
    lower[:k1, :k1] = np.diag(factor.root)
    lower[k1:, :k1] = factor.shares.toarray().T
    lower[k1:, k1:] = factor.lower
    assert not np.triu(lower, 1).any()
    L, M = fractions_of(lower), exact_moments(rows, v)
    squared = Fraction(0)
    for a in range(k):
        for b in range(k):
            product = sum((x * y for x, y in zip(L[a], L[b], strict=True)), Fraction(0))
            wanted = M[order[a]][order[b]] - (Fraction(c) if a == b else 0)
            squared += (product - wanted) ** 2
    # The norm is no more than the root of the sum of all squares.
    assert squared <= Fraction(moments.error) ** 2


@given(SEEDS, st.sampled_from([1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.4]))
def test_no_eigenvalue_is_below_the_bound(seed, c):
    moments, rows, v = random_moments(seed)
    try:
        mu = Fraction(moments.factored(c).least_eigenvalue)
    except NotPositive:
        return
    M = exact_moments(rows, v)
    for j in range(len(M)):
        M[j][j] -= mu
    assert is_semidefinite(M)


@settings(max_examples=200)
@given(SEEDS)
def test_the_largest_shift_that_goes_is_no_more_than_the_eigenvalue(seed):
    # Nearly equal columns, and shifts right at where the factorisation begins to fail.
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 10)), int(rng.integers(2, 5))
    A = rng.standard_normal((n, k))
    A[:, 1] = A[:, 0] + np.ldexp(rng.standard_normal(n), -int(rng.integers(1, 30)))
    part = part_of(A, rng)
    moments = Moments.of(part, np.ones(n), Layout.of(part))
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        try:
            moments.factored(middle)
            low = middle
        except NotPositive:
            high = middle
    rows = scaled_fractions(A, part.exponents + moments.exponents)
    M = exact_moments(rows, [Fraction(1)] * n)
    for j in range(k):
        M[j][j] -= Fraction(low) - Fraction(moments.error)
    assert is_semidefinite(M)


@given(SEEDS)
def test_what_is_eliminated_first_stands_alone_in_every_row(seed):
    rng = np.random.default_rng(seed)
    A = levels_and_more(rng)
    layout = Layout.of(part_of(sparse.csr_matrix(A)))
    assert ((A[:, layout.first] != 0).sum(axis=1) <= 1).all()
    both = np.concatenate([layout.first, layout.rest])
    assert np.sort(both).tolist() == list(range(A.shape[1]))
    # No run of columns of which no row holds two is longer.
    k = A.shape[1]
    runs = [
        stop - start
        for start in range(k)
        for stop in range(start + 1, k + 1)
        if ((A[:, start:stop] != 0).sum(axis=1) <= 1).all()
    ]
    assert layout.first.size == max(runs)


@pytest.mark.parametrize("n", [80, 400, 4_000])
def test_blocks_of_two_factors_are_in_order_however_full(n):
    # From a few to all 30 levels of the second factor share a row with one of the 40.
    rng = np.random.default_rng(n)
    first, second = rng.integers(0, 40, n), rng.integers(0, 30, n)
    A = np.hstack([np.eye(40)[first], np.eye(30)[second], rng.random((n, 1)) + 0.5])
    A = A[:, A.any(axis=0)]
    part = part_of(sparse.csr_matrix(A))
    layout = Layout.of(part)
    v = rng.random(n) + 0.5
    moments = Moments.of(part, v, layout)
    rows = np.ldexp(A, -part.exponents - moments.exponents)
    whole = (rows * v[:, np.newaxis]).T @ rows
    for indices in np.split(moments.B.indices, moments.B.indptr[1:-1]):
        assert (np.diff(indices) > 0).all()
    block = whole[np.ix_(layout.first, layout.rest)]
    np.testing.assert_allclose(moments.B.toarray(), block, rtol=1e-12)
    lower = np.tril(whole[np.ix_(layout.rest, layout.rest)])
    np.testing.assert_allclose(np.tril(moments.C), lower, rtol=1e-12)


def test_a_block_of_very_many_columns_is_in_order():
    # Bits of 5,000 columns take more than one word of words.
    k, rng = 5_000, np.random.default_rng(0)
    columns = 1 + np.sort(rng.choice(k, 300, replace=False))
    where = rng.permutation(np.repeat(columns, 2))
    indices = np.column_stack([np.zeros(where.size, np.int64), where]).ravel()
    indptr = 2 * np.arange(where.size + 1)
    data, v = np.ones(indices.size), rng.random(where.size)
    first, rest = np.full(k + 1, -1), np.arange(-1, k)
    first[0] = 0
    C, D = np.zeros((k, k)), np.zeros(1)  # of which little is touched
    starts, found = np.zeros(2, np.int64), np.empty_like(indices)
    entries = np.empty(indices.size)
    sum_blocks(indptr, indices, data, v, first, rest, C, D, starts, found, entries)
    assert found[: starts[1]].tolist() == (columns - 1).tolist()
    want = np.bincount(where - 1, v, minlength=k)[columns - 1]
    np.testing.assert_allclose(entries[: starts[1]], want, rtol=1e-14)
    assert D[0] == pytest.approx(v.sum())


@pytest.mark.parametrize("as_csr", [False, True])
def test_entries_in_another_order_and_factors_in_either(as_csr):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 4))
    part = part_of(sparse.csr_matrix(A) if as_csr else A)
    order = rng.permutation(30)
    if as_csr:
        starts, columns, entries = part.entries(order)
        taken = sparse.csr_matrix((entries, columns, starts), shape=A.shape)
        scaled = np.ldexp(A, -part.exponents)[order]
        np.testing.assert_array_equal(taken.toarray(), scaled)
    moments = Moments.of(part, np.ones(30), Layout.of(part))
    factor = moments.factored(1e-9)
    r = rng.standard_normal((4, 2))
    M = A.T @ A / np.multiply.outer(*[np.ldexp(1.0, part.exponents)] * 2)
    np.testing.assert_allclose(M @ factor.solve(r), r, atol=1e-6)
    lower = np.linalg.cholesky(A.T @ A)
    for triangle in (lower, np.asfortranarray(lower)):
        np.testing.assert_allclose(
            A.T @ A @ _factors.solve_factored(triangle, r), r, atol=1e-12
        )


def test_dense_rows_have_nothing_to_eliminate_first():
    layout = Layout.of(part_of(np.eye(3)))
    assert layout.first.size == 0
    assert layout.rest.tolist() == [0, 1, 2]


def test_one_sparse_column_is_eliminated():
    layout = Layout.of(part_of(sparse.csr_matrix(np.ones((2, 1)))))
    assert layout.first.tolist() == [0]


@given(SEEDS)
def test_some_of_the_columns_are_proved_with_the_sums_of_all(seed):
    rng = np.random.default_rng(seed)
    A = levels_and_more(rng)
    part = part_of(sparse.csr_matrix(A) if rng.random() < 0.5 else A)
    moments = Moments.of(part, np.ones(len(A)), Layout.of(part))
    chosen = np.flatnonzero(rng.random(moments.layout.rest.size) < 0.6)
    some = moments.restricted(chosen)
    assert some.layout.rest.tolist() == moments.layout.rest[chosen].tolist()
    try:
        mu = Fraction(some.factored(1e-9).least_eigenvalue)
    except NotPositive:
        return
    rows = scaled_fractions(A, part.exponents + moments.exponents)
    kept = np.concatenate([some.layout.first, some.layout.rest]).tolist()
    M = exact_moments([[row[j] for j in kept] for row in rows], [Fraction(1)] * len(A))
    for j in range(len(M)):
        M[j][j] -= mu
    assert is_semidefinite(M)


@given(SEEDS)
def test_solutions_solve(seed):
    rng = np.random.default_rng(seed)
    A = levels_and_more(rng)
    A = np.vstack([A, 3.0 * np.eye(A.shape[1])])  # of full rank
    for X in (A, sparse.csr_matrix(A)):
        part = part_of(X)
        moments = Moments.of(part, np.ones(len(A)), Layout.of(part))
        r = rng.standard_normal(A.shape[1])
        q = moments.factored(1e-12).solve(r)
        scaled = np.ldexp(A, -part.exponents)
        assert np.allclose(scaled.T @ (scaled @ q), r, rtol=1e-8, atol=1e-8)


def test_many_columns_are_factored_in_panels(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((60, 23))
    part = part_of(A)
    moments = Moments.of(part, np.ones(60), Layout.of(part))
    whole = moments.factored(1e-6).lower
    monkeypatch.setattr(module, "PANEL", 5)
    pieces = moments.factored(1e-6).lower
    assert np.allclose(pieces, whole, rtol=1e-12, atol=1e-13)
    assert not np.triu(pieces, 1).any()
    with pytest.raises(NotPositive):
        moments.factored(1.5)


def test_what_is_not_finite_is_not_positive():
    with pytest.raises(NotPositive):
        module._cholesky(np.array([[np.nan]]), lambda: None)
    with pytest.raises(NotPositive):
        module._cholesky(np.array([[np.inf]]), lambda: None)


def test_dependent_columns_of_levels_are_not_positive():
    A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0]])
    part = part_of(sparse.csr_matrix(A))
    layout = Layout.of(part)
    assert layout.first.tolist() == [0, 1]
    moments = Moments.of(part, np.ones(3), layout)
    with pytest.raises(NotPositive):
        moments.factored(1e-6)
    with pytest.raises(NotPositive):
        moments.factored(0.9)


def test_a_column_without_weight_is_not_positive():
    part = part_of(np.eye(2))
    with pytest.raises(NotPositive):
        Moments.of(part, np.array([1.0, 0.0]), Layout.of(part))


def test_too_many_columns_are_refused_before_they_are_summed(monkeypatch):
    monkeypatch.setattr(module, "MOST_DENSE", 2)
    part = part_of(np.eye(3))
    with pytest.raises(TooLarge):
        Moments.of(part, np.ones(3), Layout.of(part))


def test_weights_of_the_same_sum_in_blocks(monkeypatch):
    monkeypatch.setattr("linsep.rows.protocol.CHUNK_ENTRIES", 64)
    rng = np.random.default_rng(3)
    A = rng.integers(-3, 4, (100, 4)).astype(float)
    part = part_of(A)
    v = np.ldexp(1.0, rng.integers(-3, 3, 100) * 2)
    moments = Moments.of(part, v, Layout.of(part))
    exact = exact_moments(
        scaled_fractions(A, part.exponents + moments.exponents), fractions_of([v])[0]
    )
    assert len(part._chunks()) > 1
    assert fractions_of(moments.C) == exact
