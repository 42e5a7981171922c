"""Parts of the rows: scaled without loss, and summed over blocks."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import hostile_matrix, part_of, scaled_fractions
from judges import dot, fractions_of
from linsep.rows import rows_from
from linsep.verified import parts
from linsep.verified.parts import Part, TooWide, no_check

SEEDS = st.integers(0, 2**32 - 1)


def scaled_rows(part):
    """The scaled entries of a part, written out."""
    n, k = part.shape
    if part.is_sparse:
        indptr, indices = part.pattern
        return sparse.csr_array((part.scaled, indices, indptr), (n, k)).toarray()
    return np.concatenate(part.mapped(lambda _, block: block.copy()))


@pytest.mark.parametrize("most_held", [0, parts.MOST_HELD])
@given(seed=SEEDS)
def test_scaling_loses_nothing(most_held, seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "MOST_HELD", most_held)
        part = part_of(A, rng)
        scaled = scaled_rows(part)
    assert fractions_of(scaled) == scaled_fractions(A, part.exponents)
    largest = np.abs(scaled).max(axis=0)
    assert ((largest > 0.5) & (largest <= 1.0)).all()


@given(SEEDS)
def test_sums_are_within_their_bounds(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng)
    part = part_of(A, rng)
    n, k = part.shape
    rows = scaled_fractions(A, part.exponents)
    q, u = rng.standard_normal(k), rng.standard_normal(n)
    if rng.random() < 0.5:  # sums that cancel, of numbers of very different sizes
        u = np.ldexp(u, rng.integers(-60, 60, n))
    gamma = exact_gamma(k)
    exact_q, exact_u, exact_w = fractions_of([q, u, weights := np.abs(q)])
    products, sizes = part.products_and_sizes(q)
    squares = part.squares(weights)
    for row, product, size, square in zip(
        rows, *map(exact_of, (products, sizes, squares)), strict=True
    ):
        exact = sum(abs(a * b) for a, b in zip(row, exact_q, strict=True))
        assert abs(product - dot(row, exact_q)) <= gamma * exact
        assert abs(size - exact) <= gamma * exact
        exact = sum(a * a * w for a, w in zip(row, exact_w, strict=True))
        assert abs(square - exact) <= exact_gamma(k + 1) * exact + TINY
    share = Fraction(part.sum_error)
    plain, large = part.combined(u), part.combined_sizes(np.abs(u))
    for column, total, size in zip(
        zip(*rows, strict=True), *map(exact_of, (plain, large)), strict=True
    ):
        exact = sum(abs(a * b) for a, b in zip(column, exact_u, strict=True))
        assert abs(total - dot(column, exact_u)) <= share * exact + TINY
        assert abs(size - exact) <= exact_gamma(n) * exact + TINY


TINY = Fraction(2) ** -1000  # more than underflow loses


def exact_of(values):
    return fractions_of([values])[0]


@given(SEEDS)
def test_sums_of_sparse_rows_hardly_round(seed):
    # A sum of a thousand that cancels, to what a double can say of it.
    rng = np.random.default_rng(seed)
    n = 1000
    A = np.ldexp(rng.standard_normal((n, 1)), rng.integers(-30, 30, (n, 1)))
    u = rng.choice([-1.0, 1.0], n)
    part = part_of(sparse.csr_matrix(A))
    (total,) = exact_of(part.combined(u))
    rows = scaled_fractions(A, part.exponents)
    exact = [row[0] * Fraction(w) for row, w in zip(rows, u, strict=True)]
    sizes = sum(map(abs, exact))
    assert abs(total - sum(exact)) <= Fraction(part.sum_error) * sizes
    assert part.sum_error < 1e-15


def exact_gamma(n):
    u = Fraction(1, 2**53)
    return n * u / (1 - n * u)


@pytest.mark.parametrize("as_csr", [False, True])
def test_blocks_cover_all_rows_once(as_csr, monkeypatch):
    monkeypatch.setattr(parts, "CHUNK_ENTRIES", 64)
    monkeypatch.setattr(parts, "LONGEST_BLOCK", 4)
    monkeypatch.setattr("linsep.rows.protocol.CHUNK_ENTRIES", 64)
    rng = np.random.default_rng(0)
    A = rng.integers(-3, 4, (45, 5)).astype(float)
    X = sparse.csr_matrix(A) if as_csr else A
    chosen, columns = np.arange(1, 45, 2), np.array([0, 2, 3])
    rows = rows_from(X, np.where(np.arange(45) % 3, 1, -1).astype(np.int8), True)
    part = Part.of(rows, chosen, columns)
    signed = A[chosen][:, columns] * rows.signs[chosen, np.newaxis]
    if not as_csr:  # whose sums are made in one piece
        assert part.n_terms == 4 + 6
    q = np.ldexp(np.array([1.0, 2.0, -1.0]), part.exponents)
    assert part.products(q).tolist() == (signed @ [1.0, 2.0, -1.0]).tolist()
    total = np.ldexp(part.combined(np.ones(chosen.size)), part.exponents)
    assert total.tolist() == signed.sum(axis=0).tolist()
    ranges = [(range_.start, range_.stop) for range_, _ in part.raw_blocks()]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == chosen.size
    assert all(a[1] == b[0] for a, b in pairwise(ranges))
    some = part.restricted(np.array([2]))
    assert some.columns.tolist() == [3]
    assert some.shape == (chosen.size, 1)
    assert (some.raw(np.array([1, 3])) != signed[[1, 3]][:, 2:]).sum() == 0


@pytest.mark.parametrize("as_csr", [False, True])
@pytest.mark.parametrize(("low", "is_wide"), [(-499, False), (-510, True)])
def test_columns_too_wide_for_doubles_are_refused(as_csr, low, is_wide):
    A = np.array([[1.0], [np.ldexp(1.0, low)], [0.0]])
    part = part_of(sparse.csr_matrix(A) if as_csr else A)
    if is_wide:
        with pytest.raises(TooWide):
            _ = part.exponents
    else:
        assert part.exponents.tolist() == [0]


def test_a_part_of_no_rows():
    part = part_of(np.zeros((0, 2)))
    products, sizes = part.products_and_sizes(np.ones(2))
    assert products.size == sizes.size == 0


def test_the_longest_row_of_a_sparse_part_counts_what_it_holds():
    A = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [1.0, 1.0, 0.0]])
    assert part_of(sparse.csr_matrix(A)).longest == 2
    assert part_of(A).longest == 3
    no_check()


def test_the_check_ends_the_work():
    class Ended(Exception):
        pass

    def ended():
        raise Ended

    rows = rows_from(np.ones((2, 1)), np.ones(2, dtype=np.int8), False)
    part = Part.of(rows, np.arange(2), np.arange(1), ended)
    with pytest.raises(Ended):
        part.products(np.ones(1))
