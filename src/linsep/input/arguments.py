"""Checks of the arguments that many functions share: counts, numbers, limits, seeds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeGuard

import numpy as np

from linsep.arrays import Floats, Mask
from linsep.input.errors import InputError

INTEGERS = (int, np.integer)
NUMBERS = (int, float, np.integer, np.floating)


def is_number(value: object) -> TypeGuard[float]:
    """Tell whether an object is one real number, NaN and the infinities included."""
    return isinstance(value, NUMBERS) and not isinstance(value, bool)


def is_integer(value: object) -> TypeGuard[int]:
    """Tell whether an object is an integer, and no boolean."""
    return isinstance(value, INTEGERS) and not isinstance(value, bool)


def _nearest_float(value: float) -> float:
    """Return a number as a float; an integer beyond every double is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def checked_count(
    name: str, value: object, *, least: int = 1, most: int | None = None
) -> int:
    """Return an integer from `least` to `most`, or refuse it by name.

    Examples
    --------
    >>> checked_count("max_rounds", 10)
    10
    >>> checked_count("n_inputs", 9, least=0, most=8)
    Traceback (most recent call last):
    ...
    linsep.input.errors.InputError: n_inputs must be an integer from 0 to 8, got 9
    """
    if is_integer(value) and value >= least and (most is None or value <= most):
        return int(value)
    between = f"of at least {least}" if most is None else f"from {least} to {most}"
    raise InputError(f"{name} must be an integer {between}, got {value!r}")


def checked_number(
    name: str,
    value: object,
    *,
    above: float | None = None,
    least: float | None = None,
    infinite: bool = False,
) -> float:
    """Return a number as a float, or refuse it by name.

    It must be greater than `above`, or at least `least`. Infinity is a number with
    `infinite` only; NaN never is.

    Examples
    --------
    >>> checked_number("radius", 2, above=0)
    2.0
    >>> checked_number("radius", 0, above=0)
    Traceback (most recent call last):
    ...
    linsep.input.errors.InputError: radius must be a positive number, and finite, got 0
    """
    if is_number(value):
        number = _nearest_float(value)
        high_enough = (above is None or number > above) and (
            least is None or number >= least
        )
        if high_enough and (math.isfinite(number) or (infinite and math.isinf(number))):
            return number
    if above is not None:
        wanted = "a positive number" if above == 0 else f"a number above {above:g}"
    elif least is not None:
        wanted = "zero or positive" if least == 0 else f"a number of at least {least:g}"
    else:
        wanted = "a number"
    finite = "" if infinite else ", and finite"
    raise InputError(f"{name} must be {wanted}{finite}, got {value!r}")


def checked_integers(name: str, values: object, *, least: int, most: int) -> list[int]:
    """Return integers from `least` to `most`, at least one, or refuse them by name.

    One integer alone is a list of one.
    """
    listed = list(values) if isinstance(values, Sequence | np.ndarray) else [values]
    whole = [
        int(value) for value in listed if is_integer(value) and least <= value <= most
    ]
    if listed and len(whole) == len(listed):
        return whole
    raise InputError(
        f"{name} must be numbers from {least} to {most}, got {values!r}; they must be "
        "integers, at least one"
    )


def checked_array(name: str, values: object, shape: tuple[int | None, ...]) -> Floats:
    """Return finite numbers of this shape (None: any length of at least 1)."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be an array of numbers: {error}") from None
    fits = array.ndim == len(shape) and all(
        have == want if want is not None else have > 0
        for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        wanted = ", ".join("any" if want is None else str(want) for want in shape)
        raise InputError(f"{name} must have shape ({wanted}), got {array.shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite, got inf or nan in it")
    return array


def checked_names(feature_names: Sequence[str], n_features: int) -> tuple[str, ...]:
    """Return one name a column, or refuse what does not name them all."""
    if isinstance(feature_names, str):
        feature_names = [feature_names]
    names = tuple(str(name) for name in feature_names)
    if len(names) != n_features:
        raise InputError(
            f"feature_names must name each of the {n_features} columns of X, got "
            f"{len(names)}"
        )
    return names


def positive_weights(sample_weight: object, n_samples: int) -> Mask:
    """Return which rows have a positive weight, or refuse weights that are none."""
    try:
        values = np.asarray(sample_weight, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        raise InputError("sample_weight must hold numbers, one for every row") from None
    if values.size != n_samples:
        raise InputError(
            f"sample_weight must have one number for each of the {n_samples} rows, got "
            f"{values.size}"
        )
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            f"sample_weight must be non-negative and finite, got {values[row]} in row "
            f"{row}"
        )
    is_present = values > 0
    if n_samples and not is_present.any():
        raise InputError(
            "at least one row must be present, got none with a positive weight; check "
            "sample_weight"
        )
    return np.asarray(is_present)


def checked_time_limit(time_limit: object) -> float:
    """Return a limit in seconds, infinite for None, or refuse it."""
    if time_limit is None:
        return math.inf
    if is_number(time_limit) and time_limit > 0:
        return _nearest_float(time_limit)
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
    if is_integer(random_state) and random_state >= 0:
        return int(random_state)
    raise InputError(
        f"random_state must be a non-negative integer or None, got {random_state!r}"
    )


def checked_random_state(random_state: object) -> np.random.Generator:
    """Return the generator of a seed (None is the seed 0), or a generator as it is."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(checked_seed(random_state))
