"""Every bound of the factorisation, held against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import exact_moments, scaled_fractions, solved
from judges import dot, fractions_of
from linsep.rows import rows_from
from linsep.verified.moments import Layout, Moments, NotPositive
from linsep.verified.overlap import Counts, Step, Weights, _Residual
from linsep.verified.parts import Part, TooWide

ENTRIES = st.one_of(
    st.just(0.0),
    st.sampled_from([1.0, -1.0, 1.0 + 2**-52, 1e-8, 3e7, 2.0**-40]),
    st.floats(-1e3, 1e3, allow_subnormal=False),
)


@st.composite
def parts(draw):
    """A part of few rows and columns, dense or sparse, without empty columns."""
    n, k = draw(st.integers(1, 9)), draw(st.integers(1, 5))
    A = np.array(
        draw(
            st.lists(st.lists(ENTRIES, min_size=k, max_size=k), min_size=n, max_size=n)
        )
    )
    scales = draw(st.lists(st.integers(-60, 60), min_size=k, max_size=k))
    A = np.ldexp(A, np.array(scales))
    A[0, ~A.any(axis=0)] = 1.0
    X = sparse.csr_array(A) if draw(st.booleans()) else A
    rows = rows_from(X, np.ones(n, dtype=np.int8), False)
    try:
        part = Part.of(rows, np.arange(n), np.arange(k))
        part.exponents  # noqa: B018
    except TooWide:
        return draw(parts())
    return part


def weights(draw, n):
    exponents = draw(st.lists(st.floats(-40, 0), min_size=n, max_size=n))
    return np.exp2(np.array(exponents))


def random_counts(draw, n, most):
    """How often each row stands along and against, `most` times at most."""
    times = st.lists(st.integers(0, most), min_size=n, max_size=n)
    return Counts(np.array(draw(times), float), np.array(draw(times), float))


def scaled_entries(part):
    """The part's entries, its columns divided by their powers of two, in fractions."""
    return scaled_fractions(part.raw(np.arange(part.shape[0])), part.exponents)


def is_positive_definite(matrix):
    """Elimination without exchange has positive pivots."""
    rows = [list(row) for row in matrix]
    for j in range(len(rows)):
        if rows[j][j] <= 0:
            return False
        for i in range(j + 1, len(rows)):
            ratio = rows[i][j] / rows[j][j]
            rows[i] = [a - ratio * b for a, b in zip(rows[i], rows[j], strict=True)]
    return True


@given(st.data())
def test_scaled_entries_have_lost_no_bit(data):
    part = data.draw(parts())
    exact = scaled_entries(part)
    if part.is_sparse:
        held = sparse.csr_array(
            (part.scaled, part._held.indices, part._held.indptr), part.shape
        )
        found = held.toarray()
    else:
        found = np.concatenate(part.mapped(lambda _, block: np.array(block)))
    assert fractions_of(found) == exact
    largest = [max(abs(row[j]) for row in exact) for j in range(part.shape[1])]
    assert all(Fraction(1, 2) < size <= 1 for size in largest)


@given(st.data())
def test_no_eigenvalue_is_below_the_one_told(data):
    part = data.draw(parts())
    v = weights(data.draw, part.shape[0])
    layout = Layout.of(part)
    moments = Moments.of(part, v, layout)
    T = [Fraction(2) ** int(e) for e in moments.exponents]
    exact = exact_moments(scaled_entries(part), [Fraction(w) for w in v])
    scaled = [
        [x / T[i] / T[j] for j, x in enumerate(row)] for i, row in enumerate(exact)
    ]
    assert all(
        Fraction(49, 100) < scaled[j][j] < Fraction(201, 100) for j in range(len(T))
    )
    for c in (1e-3, 1e-9, 2.0 * moments.error):
        try:
            mu = moments.factored(max(c, 2.0 * moments.error)).least_eigenvalue
        except NotPositive:
            continue
        assert mu > 0
        shifted = [
            [x - (Fraction(mu) if i == j else 0) for j, x in enumerate(row)]
            for i, row in enumerate(scaled)
        ]
        assert is_positive_definite(shifted)


@given(st.data())
def test_sums_and_products_are_off_by_no_more_than_told(data):
    part = data.draw(parts())
    n, k = part.shape
    exact = scaled_entries(part)
    q = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=k, max_size=k)))
    u = np.array(data.draw(st.lists(st.floats(-1e6, 1e6), min_size=n, max_size=n)))
    sums, sizes = part.combined(u), part.combined_sizes(np.abs(u))
    for j in range(k):
        true = sum(
            (Fraction(w) * row[j] for w, row in zip(u, exact, strict=True)), Fraction(0)
        )
        assert abs(Fraction(sums[j]) - true) <= Fraction(
            part.sum_error * sizes[j] + 1e-300
        )
    counts = Counts(np.ones(n), np.zeros(n))
    at = Weights.at(np.zeros(n), counts)
    residual = _Residual.of(part, at, q)
    for i in range(n):
        true = dot(exact[i], [Fraction(x) for x in q])
        assert abs(Fraction(residual.products[i]) - true) <= Fraction(
            residual.errors[i]
        )


@given(st.data())
def test_what_is_left_of_a_solution_is_bounded(data):
    part = data.draw(parts())
    n, k = part.shape
    counts = random_counts(data.draw, n, 3)
    products = np.array(data.draw(st.lists(st.floats(-50, 50), min_size=n, max_size=n)))
    at = Weights.at(products, counts)
    assert min(at.along.min(), at.against.min(), at.v.min()) > 0
    q = np.array(data.draw(st.lists(st.floats(-1e3, 1e3), min_size=k, max_size=k)))
    residual = _Residual.of(part, at, q)
    exact, exact_q = scaled_entries(part), [Fraction(x) for x in q]
    total = [Fraction(0)] * k
    for i, row in enumerate(exact):
        along, against, v = (Fraction(x[i]) for x in (at.along, at.against, at.v))
        n_along, n_against = int(counts.along[i]), int(counts.against[i])
        net = n_along * along - n_against * against
        u = net - (n_along + n_against) * v * dot(row, exact_q)
        total = [a + u * b for a, b in zip(total, row, strict=True)]
    for j in range(k):
        assert abs(Fraction(residual.e[j]) - total[j]) <= Fraction(residual.doubt[j])


@given(st.data())
def test_a_step_that_is_a_proof_has_positive_weights_in_fractions(data):
    part = data.draw(parts())
    n, k = part.shape
    counts = random_counts(data.draw, n, 2)
    products = np.array(data.draw(st.lists(st.floats(-8, 8), min_size=n, max_size=n)))
    try:
        step = Step.at(part, products, counts, Layout.of(part))
    except NotPositive:
        return
    if not step.is_proof():
        return
    exact, at = scaled_entries(part), step.weights
    M = exact_moments(
        exact,
        [
            Fraction(v) * int(m)
            for v, m in zip(at.v, counts.along + counts.against, strict=True)
        ],
    )
    net = [
        int(counts.along[i]) * Fraction(at.along[i])
        - int(counts.against[i]) * Fraction(at.against[i])
        for i in range(n)
    ]
    r = [
        sum((p * row[j] for p, row in zip(net, exact, strict=True)), Fraction(0))
        for j in range(k)
    ]
    q = solved(M, r)
    assert q is not None
    for i, row in enumerate(exact):
        move = Fraction(at.v[i]) * dot(row, q)
        assert counts.along[i] == 0 or move < Fraction(at.along[i])
        assert counts.against[i] == 0 or -move < Fraction(at.against[i])


def test_columns_eliminated_first_share_no_row():
    rng = np.random.default_rng(0)
    codes, other = rng.integers(0, 30, 400), rng.integers(0, 7, 400)
    X = np.c_[rng.standard_normal((400, 2)), np.eye(30)[codes], np.eye(7)[other]]
    part = Part.of(
        rows_from(sparse.csr_array(X), np.ones(400, np.int8), True),
        np.arange(400),
        np.arange(40),
    )
    layout = Layout.of(part)
    assert layout.first.tolist() == list(range(2, 32))
    assert np.sort(np.concatenate([layout.first, layout.rest])).tolist() == list(
        range(40)
    )


def test_blocks_are_those_of_the_whole_matrix():
    rng = np.random.default_rng(1)
    X = np.c_[rng.standard_normal((200, 2)), np.eye(9)[rng.integers(0, 9, 200)]]
    v = rng.random(200)
    part = Part.of(
        rows_from(sparse.csr_array(X), np.ones(200, np.int8), False),
        np.arange(200),
        np.arange(11),
    )
    layout = Layout.of(part)
    moments = Moments.of(part, v, layout)
    scale = np.ldexp(1.0, -(part.exponents + moments.exponents))
    whole = (X * scale).T @ ((X * scale) * v[:, None])
    first, rest = layout.first, layout.rest
    np.testing.assert_allclose(moments.D, whole[np.ix_(first, first)].diagonal())
    np.testing.assert_allclose(
        moments.B.toarray(), whole[np.ix_(first, rest)], atol=1e-14
    )
    np.testing.assert_allclose(np.tril(moments.C), np.tril(whole[np.ix_(rest, rest)]))


def test_entries_of_very_different_sizes_in_a_column_are_refused():
    X = np.array([[1e-200], [1.0]])
    part = Part.of(rows_from(X, np.ones(2, np.int8), False), np.arange(2), np.arange(1))
    with pytest.raises(TooWide):
        part.exponents  # noqa: B018
