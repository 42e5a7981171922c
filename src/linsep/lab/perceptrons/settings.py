"""Checks of the settings the methods share: caps, numbers and seeds."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np


def check_cap(name: str, cap: object, *, none_allowed: bool = False) -> None:
    """Raise InputError unless ``cap`` is an integer of at least 1.

    ``None`` stands for no cap where the method documents it (``none_allowed``).
    """
    from linsep.input import InputError, checked_count

    if none_allowed and cap is None:
        return
    try:
        checked_count(f"`{name}`", cap)
    except InputError as error:
        advice = "; None takes the cap away" if none_allowed else ""
        raise InputError(f"{error}{advice}") from None


def check_number(
    name: str, value: Any, *, above: float | None = None, least: float = -math.inf
) -> float:
    """Return a finite number greater than ``above``, of at least ``least``.

    Raises
    ------
    linsep.input.InputError
        If it is anything else: too small, infinite, nan, not a number.
    """
    from linsep.input import InputError

    numbers = (int, float, np.integer, np.floating)
    if isinstance(value, numbers) and not isinstance(value, bool):
        number: Any = value
        inside = number > above if above is not None else number >= least
        # Python's integers have no largest one.
        if inside and abs(number) <= sys.float_info.max:
            return float(number)
    if above is not None:
        wanted = "a positive number" if above == 0 else f"greater than {above:g}"
    else:
        wanted = "zero or positive" if least == 0 else f"at least {least:g}"
    raise InputError(f"`{name}` must be {wanted}, and finite; got {value!r}")


def generator(random_state: object) -> np.random.Generator:
    """Return the generator of a seed, a non-negative integer; None takes a fresh one.

    Raises
    ------
    linsep.input.InputError
        If it is anything else.
    """
    from linsep.input import checked_seed

    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(checked_seed(random_state))


def novikoff(radius: float, margin: float) -> float:
    """Return ``(radius / margin)^2`` of a positive radius and margin."""
    radius = check_number("radius", radius, above=0)
    margin = check_number("margin", margin, above=0)
    return (radius / margin) ** 2


def optimistic_count(n: int, radius: float, margin: float) -> float:
    """Return ``radius sqrt(2 ln n) / margin`` of n rows."""
    check_cap("n", n)
    radius = check_number("radius", radius, above=0)
    margin = check_number("margin", margin, above=0)
    return radius * math.sqrt(2.0 * math.log(n)) / margin
