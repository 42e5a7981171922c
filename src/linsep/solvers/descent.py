"""Dual coordinate descent over unit rows, for as long as it gets somewhere.

It needs no metric and no factor: a visit costs a row twice. Where few rows are near any
hyperplane between the classes, as in pictures, texts and representations, some dozen
visits to these find one. Its rounds grow with the square of one over the margin, so it
is given up soon where they do not show (`linsep.solvers.engines` has what is left).
"""

from __future__ import annotations

import math
import sys
from typing import Any

from linsep.solvers._descent import Descent
from linsep.solvers.pieces import Check, no_check

# The share of the rows that may be on the wrong side when the descent has met each
# once, and the share of those that may still be there when it has gone on for a while,
# or more of it would be for nothing.
FIRST_WRONG, STILL_WRONG = 0.125, 0.75
# So many visits a row it gets between two looks at all rows, on the average: a share of
# what the active set needs.
LEAST_VISITS, VISITS_A_COLUMN, MOST_VISITS = 8, 0.25, 100
# What is asked of the products of a part of the rows: what separates it by little meets
# many more on the wrong side.
GOAL = 0.25
# The constant is this share of a row's length: what is shorter is learnt slowly.
CONSTANT_SHARE = 1.0 / 3.0
# Rows of fewer columns have their metric formed as soon as a hundred visits are made.
MANY_COLUMNS = 128
# Multiply-adds of the visits between two checks: some ten milliseconds.
BATCH = 1 << 27
SEED = 88_172_645_463_325_252


def is_worth_it(n_columns: int) -> bool:
    """Tell whether the descent of dense rows is over before their metric is formed."""
    return n_columns >= MANY_COLUMNS


def constant_beside(n_columns: int) -> float:
    """Return the constant that goes with columns of unit variance."""
    return max(1.0, CONSTANT_SHARE * math.sqrt(n_columns))


def begun(rows: Any, goal: float = 0.0) -> Descent:
    """Meet each of the unit rows once, one round, and look at where they are then.

    A row counts as one on the wrong side unless it has more than `goal` of the product
    1 that is sought; at most `GOAL`.
    """
    descent = Descent(rows, SEED, goal)
    descent.descend(1, 1)
    descent.look()
    return descent


def gone_on(
    descent: Descent, most_rounds: int = sys.maxsize, check: Check = no_check
) -> int:
    """Go on until no row is on the wrong side, or too many are; return the rounds.

    `check` is called now and then, and raises to end it.
    """
    n, k = len(descent.weights), len(descent.w)
    visits = min(LEAST_VISITS + int(VISITS_A_COLUMN * k), MOST_VISITS)
    n_rounds, most_wrong = 0, max(FIRST_WRONG * n, 1.0)
    while 0 < descent.n_wrong <= most_wrong and n_rounds < most_rounds:
        most_wrong = STILL_WRONG * descent.n_wrong
        a_batch = max(1, min(visits, BATCH // max(1, descent.n_near * k)))
        for _ in range(0, visits, a_batch):
            check()
            n_rounds += descent.descend(a_batch, most_rounds - n_rounds)
            if descent.has_enough:
                break
        descent.look()
    return n_rounds
