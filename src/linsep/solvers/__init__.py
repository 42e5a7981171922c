"""Solvers: the optimistic loop, its metric, the active set and the working set."""

from linsep.solvers.scipy_functions import scipy_functions

with scipy_functions():
    from linsep.solvers import (  # noqa: F401
        _active_set,
        _descent,
        _factors,
        _opening,
        _optimistic,
    )
