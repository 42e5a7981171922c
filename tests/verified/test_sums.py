"""Overlap proved by sums over blocks: true of every row, or not claimed."""

from fractions import Fraction

import numpy as np
import pytest

from linsep.proof import checker
from linsep.rows.streamed import StreamedRows
from linsep.verified import sums
from linsep.verified.answers import ordered_certificate


def blocks_of(X, y, fit_intercept=True, size=500):
    signs = np.where(np.asarray(y) > 0, 1, -1).astype(np.int8)

    def read():
        for start in range(0, len(X), size):
            yield X[start : start + size]

    return StreamedRows(read, signs, X.shape[1], fit_intercept, X.dtype)


def noisy(n, d, share, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * scale
    y = np.where((X / scale) @ rng.standard_normal(d) > 0, 1, -1)
    return X, np.where(rng.random(n) < share, -y, y)


@pytest.mark.parametrize("sample", [300, 10_000])
@pytest.mark.parametrize("scale", [1.0, 2.0 ** np.arange(-40, 44, 12)])
def test_overlap_is_proved_and_the_checker_agrees(monkeypatch, sample, scale):
    monkeypatch.setattr(sums, "LEAST_SAMPLE", sample)
    monkeypatch.setattr(sums, "SAMPLE_A_COLUMN", 1)
    monkeypatch.setattr(sums, "LONGEST_BLOCK", 128)
    X, y = noisy(4_000, 7, 0.05, scale=scale)
    rows = blocks_of(X, y)
    reduced = sums.overlap_of_all(rows, np.random.default_rng(0))
    assert reduced is not None
    assert reduced.overlapped.all()
    proof = ordered_certificate(rows, np.array([-1, 1]), reduced)
    slacks = checker.check(proof.to_json(), X.tolist(), y.tolist())
    assert set(slacks) == {Fraction(0)}
    # The sample, and two readings a step.
    assert rows.n_readings - 1 <= 1 + 2 * sums.MOST_STEPS


def test_steps_that_run_off_end_in_no_proof(monkeypatch):
    """A sample of a dozen rows leads some searches so far off that sums say nothing."""
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 12)
    monkeypatch.setattr(sums, "SAMPLE_A_COLUMN", 2)
    lost = 0
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(20, 400)), int(rng.integers(1, 9))
        X = rng.integers(-3, 4, (n, d)).astype(float)
        rows = blocks_of(X, rng.integers(0, 2, n), size=37)
        point = sums.overlapping(rows, rng)
        if point is None:
            lost += 1
            continue
        A = rows.take(np.arange(n))
        root = np.hypot(A @ point, 1.0)
        p, v = 0.5 * (1.0 - A @ point / root), 0.5 / root**3
        q = np.linalg.solve((A * v[:, np.newaxis]).T @ A, A.T @ p)
        weights = p - v * (A @ q)
        assert weights.min() > 0
        assert np.abs(A.T @ weights).max() < 1e-9 * n
    assert lost > 0


@pytest.mark.parametrize("n_flips", [0, 1])
def test_rows_that_are_separated_are_not_said_to_overlap(n_flips):
    """With one label flipped far out, all but that direction is ruled out."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3_000, 4))
    X[:, 0] = rng.random(3_000) < 0.5
    y = np.where(rng.random(3_000) < 0.5, 1, -1)
    y[X[:, 0] == 1] = 1  # a level all of whose rows are of one class
    if n_flips:
        y[np.flatnonzero(X[:, 0])[0]] = -1
    found = sums.overlap_of_all(blocks_of(X, y), np.random.default_rng(0))
    assert (found is not None) == bool(n_flips)


def test_one_separated_row_that_the_sample_does_not_hold_cannot_be(monkeypatch):
    """A sample that spans and overlaps leaves no direction to any row."""
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 200)
    monkeypatch.setattr(sums, "SAMPLE_A_COLUMN", 1)
    X, y = noisy(5_000, 3, 0.2)
    X[4_321] = [1e3, -1e3, 1e3]
    assert sums.overlap_of_all(blocks_of(X, y), np.random.default_rng(1)) is not None


def test_columns_that_depend_on_others_are_not_claimed():
    X, y = noisy(2_000, 3, 0.2)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    assert sums.overlap_of_all(blocks_of(X, y), np.random.default_rng(0)) is None


def test_entries_far_beyond_those_of_the_sample_are_not_claimed(monkeypatch):
    monkeypatch.setattr(sums, "LEAST_SAMPLE", 200)
    monkeypatch.setattr(sums, "SAMPLE_A_COLUMN", 1)
    X, y = noisy(2_000, 2, 0.2)
    X[1_999, 0] = 2.0**200
    found = sums.overlap_of_all(blocks_of(X, y), np.random.default_rng(0))
    assert found is None
