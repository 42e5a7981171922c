"""Checks of the arguments that many functions share: limits and seeds."""

from __future__ import annotations

import numpy as np

from linsep.input.errors import InputError


def checked_count(name: str, value: object) -> int:
    """Return a count, an integer of at least 1, or refuse it by name."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < 1:
        raise InputError(f"{name} must be an integer of at least 1, got {value!r}")
    return int(value)


def checked_time_limit(time_limit: object) -> float:
    """Return a limit in seconds, infinite for None, or refuse it."""
    if time_limit is None:
        return np.inf
    is_number = isinstance(time_limit, int | float | np.integer | np.floating)
    if is_number and not isinstance(time_limit, bool):
        try:
            seconds = float(time_limit)  # type: ignore[arg-type]
        except OverflowError:  # an integer beyond every double is no limit at all
            seconds = np.inf
        if seconds > 0:
            return seconds
    raise InputError(
        f"time_limit must be a positive number of seconds or None, got {time_limit!r}"
    )


def checked_callback(callback: object) -> None:
    """Refuse a callback that cannot be called."""
    if callback is not None and not callable(callback):
        raise InputError(
            "callback must be callable with one argument, or None, got "
            f"{type(callback).__name__}"
        )


def checked_seed(random_state: object) -> int:
    """Return a seed; None is 0, so that runs repeat. Anything else is refused."""
    if random_state is None:
        return 0
    if isinstance(random_state, int | np.integer) and not isinstance(
        random_state, bool
    ):
        seed = int(random_state)
        if seed >= 0:
            return seed
    raise InputError(
        f"random_state must be a non-negative integer or None, got {random_state!r}"
    )
