"""The outcome of a regression: labels, counts or proportions, told apart per family."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError
from linsep.input.features import features_from
from linsep.input.labels import labels_from
from linsep.rows import as_dense

FAMILIES = ("binomial", "poisson", "multinomial", "ordinal")


@dataclass(frozen=True)
class Outcome:
    """What was observed in each row, as levels.

    Attributes
    ----------
    levels : ndarray of shape (K,)
        The sorted labels; for counts ``("failure", "success")``; for Poisson outcomes
        ``("zero", "positive")``.
    has : ndarray of shape (n, K), bool
        Which levels a row holds: one, or for grouped counts both. A row without any
        counts as absent.
    is_labels : bool
        Whether the user gave one label a row.
    """

    levels: NDArray[Any]
    has: NDArray[np.bool_]
    is_labels: bool


def outcome_from(y: object, family: str) -> Outcome:
    """Read the outcome `y` of a family.

    Raises
    ------
    InputError
        If it is not an outcome of that family.

    Examples
    --------
    >>> outcome_from([[3, 0], [1, 2]], "binomial").has.tolist()
    [[False, True], [True, True]]
    """
    checked_family(family)
    if family == "poisson":
        return _non_negative(y)
    if family == "binomial" and _n_columns(y) == 2:
        return _counts(y)
    if family in ("ordinal", "multinomial"):
        ordered = _ordered_categories(y)
        if ordered is not None:
            return ordered
    labels = labels_from(y)
    if family == "binomial" and not _is_categorical(y) and _are_shares(labels):
        return Outcome(
            np.array(["failure", "success"]),
            np.stack([labels < 1, labels > 0], axis=1).astype(bool),
            False,
        )
    levels, codes = _coded(labels)
    if family == "binomial" and levels.size > 2:
        shown = ", ".join(repr(level) for level in levels[:5].tolist())
        raise InputError(
            "y must hold two classes, two columns of counts of successes and failures, "
            f"or proportions in [0, 1] for family='binomial', got {levels.size} "
            f"different values ({shown}{', ...' if levels.size > 5 else ''}); for more "
            "classes use family='multinomial' or 'ordinal', for counts 'poisson'"
        )
    return Outcome(levels, codes[:, np.newaxis] == np.arange(levels.size), True)


def numbers_of(y: Any) -> NDArray[np.float64]:
    """Return an outcome that is no labels as numbers, counts as two columns."""
    if _n_columns(y) == 2:
        return np.asarray(as_dense(features_from(y)[0]), dtype=np.float64)
    return labels_from(y).astype(np.float64)


def checked_family(family: object) -> None:
    """Raise if there is no such family."""
    if family not in FAMILIES:
        raise InputError(
            f"family must be one of {', '.join(map(repr, FAMILIES))}, got {family!r}"
        )


def _n_columns(y: Any) -> int:
    """Return the number of columns of an outcome, 1 for a vector."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, list | tuple) and len(y):
        first = y[0]
        return len(first) if isinstance(first, list | tuple | np.ndarray) else 1
    return int(shape[1]) if shape is not None and len(shape) == 2 else 1


def _counts(y: object) -> Outcome:
    """Read two columns: successes, failures."""
    counts, names = features_from(y)
    dense = as_dense(counts)
    if (dense < 0).any():
        row = int(np.argmax((dense < 0).any(axis=1)))
        raise InputError(
            "counts of successes and failures must not be negative, got "
            f"{dense[row].tolist()} in row {row}"
        )
    success, failure = names if names is not None else ("success", "failure")
    return Outcome(np.array([failure, success]), dense[:, ::-1] > 0, False)


def _is_categorical(y: Any) -> bool:
    """Tell whether these are categories, which are labels even if they are numbers."""
    return hasattr(getattr(y, "cat", y), "categories")


def _are_shares(labels: NDArray[Any]) -> bool:
    """Tell whether these are shares of successes: numbers in [0, 1], some inside.

    One value strictly inside decides it, however few values there are.
    """
    if labels.dtype.kind == "O":
        numeric = Real | Decimal | np.bool_
        if not all(isinstance(label, numeric) for label in labels):
            return False
    elif labels.dtype.kind != "f":
        return False
    within = ((labels >= 0) & (labels <= 1)).astype(bool)
    return bool(within.all() and ((labels > 0) & (labels < 1)).any())


def _non_negative(y: object) -> Outcome:
    """Read an outcome with a log link: only zero or not matters."""
    values = labels_from(y)
    try:
        numbers = values.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "y must hold non-negative numbers for family='poisson', got "
            f"{values[:1].tolist()}; for classes use another family"
        ) from None
    bad = ~(np.isfinite(numbers) & (numbers >= 0))
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(
            "y must hold non-negative finite numbers for family='poisson', got "
            f"{numbers[row]} in row {row}"
        )
    positive = numbers > 0
    return Outcome(
        np.array(["zero", "positive"]), np.stack([~positive, positive], axis=1), False
    )


def _ordered_categories(y: Any) -> Outcome | None:
    """Read a pandas categorical with an order of its own."""
    categorical = getattr(y, "cat", y)
    if not getattr(categorical, "ordered", False):
        return None
    codes = np.asarray(categorical.codes)
    if (codes < 0).any():
        raise InputError(
            f"y must have a label for every row, got {int((codes < 0).sum())} missing "
            "labels; drop those rows"
        )
    used = np.unique(codes)
    levels = np.asarray(categorical.categories)[used]
    return Outcome(levels, codes[:, np.newaxis] == used, True)


def _coded(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted distinct labels, and the number of each row's label."""
    if labels.dtype.kind != "O":
        levels, codes = np.unique(labels, return_inverse=True)
        return levels, codes.reshape(-1)
    try:
        distinct = sorted(set(labels.tolist()))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise InputError(
            "y must hold labels of one kind that can be sorted, got "
            f"{' and '.join(kinds)}; make them all strings or all numbers"
        ) from None
    number = {label: k for k, label in enumerate(distinct)}
    codes = np.array([number[label] for label in labels.tolist()], dtype=np.intp)
    levels = np.array(distinct)
    if levels.tolist() != distinct:
        levels = np.array(distinct, dtype=object)
    return levels, codes
