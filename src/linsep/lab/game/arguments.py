"""Checks of what the game is given: numbers, whole numbers, players."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from linsep.lab.game.protocols import FloatArray


def is_number(value: object) -> bool:
    """Whether it is one real number, nan and the infinities included."""
    numbers = (int, float, np.integer, np.floating)
    return isinstance(value, numbers) and not isinstance(value, bool)


def require_positive(name: str, value: Any, *, infinite: bool = False) -> None:
    """Raise InputError unless ``value`` is a positive, finite number."""
    _require(name, value, "a positive number", value_above=0.0, infinite=infinite)


def require_nonnegative(name: str, value: Any, *, infinite: bool = False) -> None:
    """Raise InputError unless ``value`` is a finite number of at least 0."""
    _require(name, value, "zero or positive", value_above=None, infinite=infinite)


def _require(
    name: str, value: Any, wanted: str, *, value_above: float | None, infinite: bool
) -> None:
    """Raise InputError unless ``value`` is a number in the range."""
    from linsep.input import InputError

    if is_number(value):
        inside = value > value_above if value_above is not None else value >= 0
        if inside and (value <= sys.float_info.max or infinite):
            return
    finite = "" if infinite else ", and finite"
    raise InputError(f"`{name}` must be {wanted}{finite}; got {value!r}.")


def require_count(name: str, value: object) -> int:
    """Return an integer of at least 1, or raise InputError."""
    from linsep.input import checked_count

    return checked_count(f"`{name}`", value)


def require_whole(name: str, values: Any, low: int, high: int) -> list[int]:
    """Return whole numbers from ``low`` to ``high``, at least one, or raise InputError.

    Parameters
    ----------
    name : str
        Of the argument.
    values : sequence of int
        What was given.
    low, high : int
        The range, ends included.
    """
    from linsep.input import InputError

    listed = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    whole = [
        int(value)
        for value in listed
        if isinstance(value, int | np.integer)
        and not isinstance(value, bool)
        and low <= value <= high
    ]
    if not listed or len(whole) < len(listed) or isinstance(values, str):
        raise InputError(
            f"`{name}` must be numbers from {low} to {high}, got {values!r}; they must "
            "be integers, at least one."
        )
    return whole


def require_parts(
    name: str, value: object, parts: tuple[str, ...], wanted: str
) -> None:
    """Raise InputError unless ``value`` is an object with these parts.

    A class is refused too: ``OFTRL`` where ``OFTRL()`` is meant.
    """
    from linsep.input import InputError

    if isinstance(value, type):
        raise InputError(
            f"`{name}` must be {wanted}, got the class {value.__name__} itself; call "
            f"it: {value.__name__}(...)."
        )
    missing = [part for part in parts if not hasattr(value, part)]
    if missing:
        raise InputError(
            f"`{name}` must be {wanted}, got {value!r}, which has no "
            f"{', '.join(missing)}."
        )


def require_schedule(name: str, value: object) -> None:
    """Raise InputError unless ``value`` is a schedule."""
    parts = ("propose", "shrink", "non_increasing")
    require_parts(name, value, parts, "a schedule such as Constant(0.5)")


def require_array(name: str, values: Any, shape: tuple[int | None, ...]) -> FloatArray:
    """Return finite float64 numbers of this shape (None: any length of at least 1).

    Raises
    ------
    linsep.input.InputError
        If they are not.
    """
    from linsep.input import InputError

    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"`{name}` must be an array of numbers: {error}.") from None
    fits = array.ndim == len(shape) and all(
        have == want if want is not None else have > 0
        for have, want in zip(array.shape, shape, strict=False)
    )
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise InputError(
            f"`{name}` must have shape ({wanted}), got {tuple(array.shape)}."
        )
    if not np.isfinite(array).all():
        raise InputError(f"`{name}` must be finite, got inf or nan in it.")
    return array
