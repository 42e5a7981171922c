"""User input to signed rows, and every error message about input."""

from linsep.validate.arguments import (
    checked_callback,
    checked_count,
    checked_seed,
    checked_time_limit,
)
from linsep.validate.errors import InputError
from linsep.validate.problem import Problem, check_features, problem_from

__all__ = [
    "InputError",
    "Problem",
    "check_features",
    "checked_callback",
    "checked_count",
    "checked_seed",
    "checked_time_limit",
    "problem_from",
]
