"""User input to signed rows, and every error message about input."""

from linsep.input.arguments import (
    checked_array,
    checked_callback,
    checked_count,
    checked_integers,
    checked_number,
    checked_random_state,
    checked_seed,
    checked_time_limit,
)
from linsep.input.errors import InputError
from linsep.input.problem import (
    Problem,
    check_features,
    plain_problem,
    problem_from,
)

__all__ = [
    "InputError", "Problem", "check_features", "checked_array", "checked_callback",
    "checked_count", "checked_integers", "checked_number", "checked_random_state",
    "checked_seed", "checked_time_limit", "plain_problem", "problem_from",
]  # fmt: skip
