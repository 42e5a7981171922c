"""Null vectors and ranks, against exact elimination."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from judges import fractions_of, rank
from linsep.rows import rows_from
from linsep.verified.moments import Moments
from linsep.verified.null_space import null_space
from linsep.verified.parts import Part
from linsep.verified.row_space import are_outside


def part_of(A, is_sparse):
    X = sparse.csr_array(A) if is_sparse else A
    rows = rows_from(X, np.ones(len(A), np.int8), False)
    return Part.of(rows, np.arange(len(A)), np.arange(A.shape[1]))


def levels(rng, n, k):
    return np.eye(k)[rng.integers(0, k, n)]


@given(st.integers(0, 10_000), st.booleans())
def test_the_rank_and_the_null_vectors_are_exact(seed, is_sparse):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    A = np.c_[
        np.ones(n),
        levels(rng, n, int(rng.integers(2, 6))),
        levels(rng, n, int(rng.integers(2, 6))),
        rng.integers(-3, 4, (n, 2)),
        rng.standard_normal((n, 1)),
    ]
    A = np.c_[A, A[:, 1] - 2 * A[:, 2], A[:, 3] / 4]
    A = A[:, A.any(axis=0)]
    space = null_space(part_of(A, is_sparse))
    assert space.is_proved
    assert space.pivots.size == rank(fractions_of(A))
    assert sorted([*space.pivots, *space.free]) == list(range(A.shape[1]))
    for k, vector in enumerate(space.basis):
        w = [0] * A.shape[1]
        for j, value in vector.items():
            w[j] = value
        assert all(
            sum(a * b for a, b in zip(row, w, strict=True)) == 0
            for row in fractions_of(A)
        )
        assert w[space.free[k]] != 0
        assert all(w[j] == 0 for j in np.delete(space.free, k))


@pytest.mark.parametrize("is_sparse", [False, True])
def test_few_rows_prove_the_rank_of_all_where_they_have_it(is_sparse, monkeypatch):
    looked_at, of = [], Moments.of
    monkeypatch.setattr(
        Moments,
        "of",
        lambda part, *given: looked_at.append(part.shape[0]) or of(part, *given),
    )
    rng = np.random.default_rng(0)
    A = np.c_[levels(rng, 3000, 40), rng.standard_normal((3000, 2))]
    A[:, 40] *= np.arange(3000) % 400 == 399  # few rows hold it
    space = null_space(part_of(A, is_sparse))
    assert space.is_proved
    assert space.pivots.tolist() == list(range(42))
    # Of dense rows a column is not seen that is zero on those looked at.
    assert len(looked_at) == (1 if is_sparse else 2)
    assert looked_at[0] <= 5 * 42
    # A column that differs from another on the last row alone: all are looked at.
    A[:, 40] = A[:, 41]
    A[-1, 40] += 1.0
    space = null_space(part_of(A, is_sparse))
    assert space.is_proved
    assert space.free.size == 0
    assert looked_at[-1] == 3000
    A[-1, 40] -= 1.0
    space = null_space(part_of(A, is_sparse))
    assert [dict(vector.items()) for vector in space.basis] in (
        [{40: 1, 41: -1}],
        [{40: -1, 41: 1}],
    )


def test_a_sum_that_was_rounded_is_independent_by_rounding_alone(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 2))
    A = np.c_[A, A.sum(axis=1)]
    assert rank(fractions_of(A)) == 3
    space = null_space(part_of(A, False))
    assert space.free.size == 0
    assert space.is_proved
    assert not space.is_well_conditioned
    monkeypatch.setattr("linsep.verified.null_space.MOST_ELIMINATED", 2)
    assert not null_space(part_of(A, False)).is_proved


@given(st.integers(0, 10_000))
def test_unit_vectors_told_to_be_outside_the_rows_are(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(1, 5)), int(rng.integers(5, 9))
    A = (
        rng.integers(-2, 3, (m, d)).astype(float)
        if seed % 2
        else rng.standard_normal((m, d))
    )
    A = A[A.any(axis=1)]
    if len(A) == 0 or rank(fractions_of(A)) < len(A):
        return
    A[0, 1:] = 0.0 if seed % 3 == 0 else A[0, 1:]
    if rank(fractions_of(A)) < len(A):
        return
    outside = are_outside(part_of(np.ascontiguousarray(A.T), False))
    for j in range(d):
        unit = np.eye(d)[[j]]
        is_outside = rank(fractions_of(np.r_[A, unit])) > len(A)
        assert not outside[j] or is_outside
        if is_outside and seed % 2:  # small whole numbers are far from doubtful
            assert outside[j]
