"""Weighted Gram matrices and their factors: the systems of both methods here."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index
from linsep.solvers import _factors
from linsep.solvers.soft_margin import _passes

# Rows are weighted and multiplied this many entries at a time, within the cache.
BLOCK_ENTRIES = 1 << 14
NO_GROUPS = np.zeros(0, dtype=np.intp)


def weighted_gram(rows: Floats, weights: Floats, starts: Index = NO_GROUPS) -> Floats:
    """Return ``rows.T @ diag(weights) @ rows``, its lower triangle.

    With groups, which begin at `starts` and end where the next begins, rows are taken
    about the weighted mean of their group. Rows of weight zero are passed over.
    """
    return _passes.weighted_gram(rows, weights, starts, block_rows(rows))


def block_rows(rows: Floats) -> int:
    """Return how many rows are weighted and multiplied at a time."""
    return min(len(rows), max(64, BLOCK_ENTRIES // max(1, int(rows.shape[1]))))


def group_means(rows: Any, weights: Floats, starts: Index) -> list[Floats]:
    """Return each group's weighted mean times the root of its weight, if it has any."""
    means = []
    for a, b in pairwise(starts.tolist()):
        mass = float(weights[a:b].sum())
        if mass > 0.0:
            total = np.asarray(weights[a:b] @ rows[a:b]).ravel()
            means.append(total / np.sqrt(mass))
    return means


def cholesky(matrix: Floats) -> Floats:
    """Return the lower factor, the diagonal lifted where rounding made it too low.

    Raises
    ------
    numpy.linalg.LinAlgError
        If no small lift makes it positive definite.
    """
    triangle = _factors.cholesky(matrix)
    if triangle is not None:
        return triangle
    for lift in (1e-14, 1e-12, 1e-10, 1e-8):
        lifted = matrix.copy(order="F")
        lifted[np.diag_indices_from(lifted)] *= 1.0 + lift
        triangle = _factors.cholesky(lifted)
        if triangle is not None:
            return triangle
    raise np.linalg.LinAlgError("the system of a step is singular")
