r"""Figure 1 of the paper: what separating data set (2) costs, against its size n.

Costs are in the paper's unit, inner products and additions of vectors:

- Perceptron: one a row shown, one an update.
- Algorithm 1: ``2 n + 2`` a round (n inner products, n additions for the pseudoexample,
  two for the play).
- The adaptive loop: ``3 n + 6`` a round, rounds played again counted (n inner products
  more for the second stopping test; two inner products and four additions beside it).
- The metric: the same a round, in the new coordinates, after a change of coordinates
  that we charge ``6 n d + 10 d^2``: a QR factorisation, its product with the rows,
  their second moment, its eigenvectors and the new rows, multiplications over d.

The bounds drawn are on Algorithm 1: ``2 n + 2`` operations for each round up to the
first T that exceeds the stated count, which is when the average separates at last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from linsep.arrays import Floats
from linsep.input import checked_count
from linsep.lab.datasets import paper_rows
from linsep.lab.game.bounds import (
    rounds_bound,
    rounds_to_separation,
    sharper_rounds_bound,
)
from linsep.lab.perceptrons import Optimistic, Perceptron
from linsep.lab.perceptrons.method import History
from linsep.solvers.metric import whiten
from linsep.solvers.optimistic import OptimisticLoop, Round
from linsep.solvers.oracle import Oracle

# Called with the operations done so far on one data set.
Report = Callable[[int], object]


@dataclass(frozen=True)
class Measurement:
    """Figure 1 at one n: rounds, or updates, and operations of each method.

    `margin` is the largest one, ``sqrt(3 / (4^n - 1))``, and `radius` the largest row
    norm, ``sqrt(n)``. The paper says that Perceptron makes about 2 mistakes a pass.
    Rounds played again are counted, and so is the change to the metric's coordinates.
    The bounds are ``radius sqrt(2 ln n) / margin`` rounds and the paper's
    ``(1 + 2 radius^2 ln n) / (2 margin)``; their operations are what Algorithm 1 costs
    at most.
    """

    n: int
    margin: float
    radius: float
    perceptron_updates: int
    perceptron_passes: int
    perceptron_operations: int
    perceptron_mistakes_per_pass: float
    optimistic_rounds: int
    optimistic_operations: int
    adaptive_rounds: int
    adaptive_operations: int
    metric_rounds: int
    metric_operations: int
    sharper_bound_rounds: float
    sharper_bound_operations: int
    paper_bound_rounds: float
    paper_bound_operations: int


def perceptron_operations(n: int) -> int:
    """Return what Perceptron will cost on data set (2), for a progress bar.

    ``(4^n - 1) / 3`` updates; about two a pass of n rows.

    Examples
    --------
    >>> perceptron_operations(12)
    39146829
    """
    updates: int = (4**n - 1) // 3
    return updates + n * (updates // 2)


def measure(n: int, report: Report | None = None) -> Measurement:
    """Separate data set (2) of size n >= 1 by each method.

    The cost grows like ``n 4^n``: a minute at 15. `report` is called with Perceptron's
    operations so far, now and then.
    """
    data = paper_rows(n)
    A = data.y[:, None] * data.X
    margin, radius = math.sqrt(3 / (4**n - 1)), math.sqrt(n)

    def tell(history: History) -> None:
        if report is not None:
            report(history.n_operations)

    sharper = sharper_rounds_bound(margin, radius, math.log(n))
    stated = rounds_bound(margin, radius, math.log(n))
    cap = 10 + 2 * math.ceil(sharper)  # more rounds than this bound allows
    perceptron = Perceptron(fit_intercept=False, max_passes=None)
    classical = perceptron.run(data.X, data.y, callback=tell)
    optimistic = Optimistic(fit_intercept=False, max_rounds=cap)
    paper = optimistic.run(data.X, data.y)
    adaptive = _adaptive_rounds(A, cap)
    coordinates = whiten(A)
    metric = _adaptive_rounds(coordinates.rows, cap)
    change = 6 * n * n + 10 * n * n
    return Measurement(
        n=n,
        margin=margin,
        radius=radius,
        perceptron_updates=classical.n_updates,
        perceptron_passes=classical.n_passes,
        perceptron_operations=classical.n_operations,
        perceptron_mistakes_per_pass=classical.mistakes_per_pass,
        optimistic_rounds=paper.n_updates,
        optimistic_operations=paper.n_operations,
        adaptive_rounds=adaptive.n_rounds,
        adaptive_operations=adaptive.n_rounds * (3 * n + 6),
        metric_rounds=metric.n_rounds,
        metric_operations=change
        + metric.n_rounds * (3 * n + 6) * coordinates.rank // n,
        sharper_bound_rounds=sharper,
        sharper_bound_operations=rounds_to_separation(sharper) * (2 * n + 2),
        paper_bound_rounds=stated,
        paper_bound_operations=rounds_to_separation(stated) * (2 * n + 2),
    )


def measure_all(
    n_max: int, report: Callable[[int, int], object] | None = None
) -> Iterator[Measurement]:
    """Yield the measurement of each n up to ``n_max``; `report` is told n as well."""
    for n in range(1, checked_count("n_max", n_max) + 1):
        yield measure(n, None if report is None else partial(report, n))


def _adaptive_rounds(A: Floats, cap: int) -> Round:
    """Return the first round of the adaptive loop with a separator."""
    played = OptimisticLoop(Oracle(A)).play(cap + 1)
    if not played.found:
        raise RuntimeError(
            f"the adaptive loop must separate data set (2) within {cap:,} rounds, "
            "by its own bound; it did not. Please report this."
        )
    return played
