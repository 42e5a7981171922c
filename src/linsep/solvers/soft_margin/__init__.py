"""The game with capped weights: the mean of the worst margins, made largest."""

from linsep.solvers.scipy_functions import scipy_functions

with scipy_functions():
    from linsep.solvers.soft_margin import _passes  # noqa: F401
