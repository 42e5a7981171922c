"""Dual coordinate descent over unit rows, for as long as it gets somewhere.

It needs no metric and no factor: a visit costs a row twice. Where few rows are near any
hyperplane between the classes, as in pictures, texts and representations, some dozen
visits to these find one. Its rounds grow with the square of one over the margin, so it
is given up soon where they do not show (`linsep.solvers.engines` has what is left).
"""

from __future__ import annotations

from linsep.solvers._descent import begun, constant_beside, gone_on

__all__ = ["begun", "constant_beside", "gone_on", "is_worth_it"]

# What is asked of the products of a part of the rows: what separates it by little meets
# many more on the wrong side.
GOAL = 0.25
# Rows of fewer columns have their metric formed as soon as a hundred visits are made.
MANY_COLUMNS = 128


def is_worth_it(n_columns: int) -> bool:
    """Tell whether the descent of dense rows is over before their metric is formed."""
    return n_columns >= MANY_COLUMNS
