r"""The theorems beside what was measured, on planted rows over a grid.

Each cell plants n rows of norm at most r with a unit vector of margin gamma, plays
Algorithm 1 for as many rounds as the sharper bound allows, and compares: the regrets of
Theorems 1 and 2 and the gap of Theorem 3 with their bounds (the largest ratio over all
rounds; below one is what the theorem says), the first round whose average separates
with the sharper count and the paper's, and Perceptron's updates with Novikoff's bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from linsep.arrays import Floats
from linsep.lab.game import (
    OFTRL,
    Check,
    Constant,
    MirrorDescent,
    NegativeEntropy,
    play,
    rounds_to_separation,
    sharper_rounds_bound,
)
from linsep.lab.perceptrons.perceptron import Perceptron

N_ROWS = (10, 100, 1000)
RADII = (1.0, 10.0)
# Margins in units of the radius.
MARGINS = (0.3, 0.1, 0.03)


@dataclass(frozen=True)
class Comparison:
    """One cell of the table: n rows of norm at most `radius`, with a planted margin.

    `theorem_1`, 2 and 3 are the largest ratios of measured to bound over all rounds
    with a positive bound; `rounds` is the first whose average separates, and the bounds
    say by when it must; Perceptron's updates stand beside the most there can be.
    `holds` says whether every one of the claims does, within rounding.
    """

    n: int
    radius: float
    margin: float
    theorem_1: float
    theorem_2: float
    theorem_3: float
    rounds: int
    sharper_bound: int
    paper_bound: int
    perceptron_updates: int
    perceptron_bound: int
    holds: bool


def planted_rows(
    n: int, radius: float, margin: float, seed: int, *, n_features: int = 10
) -> tuple[Floats, Floats]:
    """Return points X (n, d) and labels y with a margin along the first axis.

    Row norms are uniform between ``margin`` and ``radius``, the first row's is
    ``radius``; every row is exactly ``margin`` from the hyperplane.
    """
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.5, -1.0, 1.0)
    y[:2] = (1.0, -1.0)[: min(n, 2)]
    X = rng.normal(size=(n, n_features - 1))
    length = rng.uniform(margin, radius, n)
    length[0] = radius
    across = np.sqrt(length**2 - margin**2)
    X *= (across / np.linalg.norm(X, axis=1))[:, None]
    return np.column_stack([y * margin, X]), y


def compare(n: int, radius: float, margin: float, *, seed: int = 0) -> Comparison:
    """Play one cell and compare; see the module."""
    X, y = planted_rows(n, radius, margin, seed)
    A = y[:, None] * X
    r = float(np.linalg.norm(A, axis=1).max())
    data = MirrorDescent(NegativeEntropy(), Constant(1.0 / r**2))
    allowed = rounds_to_separation(sharper_rounds_bound(margin, r, math.log(n)))
    transcript = play(A, OFTRL(), data, allowed)
    checks = transcript.checks(margin=margin * (1.0 - 1e-12))
    updates = Perceptron(fit_intercept=False, max_passes=None).run(X, y).n_updates
    novikoff = Perceptron.mistake_bound(r, margin)
    separated = transcript.separated_at
    return Comparison(
        n=n,
        radius=radius,
        margin=margin,
        theorem_1=_largest_ratio(checks["learner"]),
        theorem_2=_largest_ratio(checks["data"]),
        theorem_3=_largest_ratio(checks["gap"]),
        rounds=separated if separated is not None else allowed + 1,
        sharper_bound=rounds_to_separation(float(checks["sharper rounds"].bound[0])),
        paper_bound=rounds_to_separation(float(checks["rounds"].bound[0])),
        perceptron_updates=updates,
        perceptron_bound=math.floor(novikoff * (1.0 + 1e-12)),
        holds=all(check.holds for check in checks.values())
        and updates <= novikoff * (1.0 + 1e-12),
    )


def _largest_ratio(check: Check) -> float:
    """Return the largest measured / bound where the bound is positive."""
    positive = check.bound > 0
    return float((check.measured[positive] / check.bound[positive]).max())


def compare_grid(
    n_rows: Sequence[int] = N_ROWS,
    radii: Sequence[float] = RADII,
    margins: Sequence[float] = MARGINS,
    *,
    seed: int = 0,
) -> Iterator[Comparison]:
    """Yield the comparison of every cell; margins are in units of the radius."""
    for n, radius, margin in product(n_rows, radii, margins):
        yield compare(n, radius, margin * radius, seed=seed)
