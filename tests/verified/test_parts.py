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


@given(SEEDS)
def test_scaling_loses_nothing(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng)
    part = part_of(A, rng)
    (block,) = part.mapped(lambda _, block: block)
    scaled = block.toarray() if part.is_sparse else block
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
    gamma = parts_gamma(k)
    exact_q, exact_u = fractions_of([q, u])
    products, sizes = part.products(q), part.sizes(q)
    for row, product, size in zip(rows, products, sizes, strict=True):
        exact = sum(abs(a * b) for a, b in zip(row, exact_q, strict=True))
        assert abs(fractions_of([[product]])[0][0] - dot(row, exact_q)) <= gamma * exact
        assert abs(fractions_of([[size]])[0][0] - exact) <= gamma * exact
    gamma = parts_gamma(part.n_terms)
    plain, large = part.combined(u), part.combined(np.abs(u), sizes=True)
    for j, column in enumerate(zip(*rows, strict=True)):
        exact = sum(abs(a * b) for a, b in zip(column, exact_u, strict=True))
        found = fractions_of([[plain[j], large[j]]])[0]
        assert abs(found[0] - dot(column, exact_u)) <= gamma * exact
        assert abs(found[1] - exact) <= gamma * exact


def parts_gamma(n):
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
    assert part.products(np.ones(2)).size == part.sizes(np.ones(2)).size == 0


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
