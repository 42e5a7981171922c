"""The outcome of a regression: labels, counts or proportions, told apart per family."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.inputs.families import OF_TIMES, PAIRED, family_named
from linsep.diagnosis.inputs.orders import (
    Order,
    declared_order,
    given_order,
    in_order,
    order_taken,
)
from linsep.diagnosis.inputs.risk_sets import times_from
from linsep.input import InputError
from linsep.input.features import features_from
from linsep.input.labels import are_positive, classes_of, labels_from, sorted_objects
from linsep.rows import as_dense

_COUNTS_TOO = (
    ", two columns of counts of successes and failures, or proportions in [0, 1]"
)


@dataclass(frozen=True)
class Outcome:
    """What was observed in each row, as levels.

    Attributes
    ----------
    levels : ndarray of shape (K,)
        The labels, sorted or in the order given or declared; for counts ``("failure",
        "success")``; for Poisson outcomes ``("zero", "positive")``.
    has : ndarray of shape (n, K), bool
        Which levels a row holds: one, or for grouped counts both. A row without any
        counts as absent.
    is_labels : bool
        Whether the user gave one label a row.
    order_taken : str
        Of an ordinal outcome without a declared order: which one was taken.
    unused : tuple
        Levels that were named and that no row has.
    is_event : bool or None
        Whether the last level of an order occurs; None without an order. Where one
        level alone does, it says whether that is the event.
    """

    levels: NDArray[Any]
    has: Mask
    is_labels: bool
    order_taken: str = ""
    unused: tuple[Any, ...] = ()
    is_event: bool | None = None

    def of_rows(self, rows: Index) -> Outcome:
        """Return the outcome of these rows alone; of labels, the levels they have."""
        has = self.has[rows]
        if not self.is_labels:
            return replace(self, has=has)
        used = np.array(has.any(axis=0))
        return replace(
            self,
            levels=self.levels[used],
            has=has[:, used],
            unused=(*self.unused, *self.levels[~used].tolist()),
            is_event=self.is_event and bool(used[-1]),
        )


def outcome_from(y: object, family: str, order: object = None) -> Outcome:
    """Read the outcome `y` of a family; labels in an order, if there is one.

    Raises
    ------
    InputError
        If it is not an outcome of that family.

    Examples
    --------
    >>> outcome_from([[3, 0], [1, 2]], "binomial").has.tolist()
    [[False, True], [True, True]]
    """
    family = family_named(family)
    chosen = given_order(order)
    if family in OF_TIMES:
        _require_no_order(chosen, family)
        return _of_two(["no event", "event"], times_from(y)[:, 2] == 1)
    if family in PAIRED:
        if _n_columns(y) != 2:
            raise InputError(
                "paired comparisons are given as diagnose(pairs, results, "
                f"family={family!r}), two players in each row; formulas and models "
                "have none"
            )
        return replace(_counts(y), levels=np.array(["lost", "won"]))
    if family in ("poisson", "conditional poisson"):  # only zero or not matters
        _require_no_order(chosen, family)
        return _of_two(["zero", "positive"], are_positive(labels_from(y)))
    if family == "binomial" and _n_columns(y) == 2:
        _require_no_order(chosen, family)
        return _counts(y)
    if chosen is None and family in ("ordinal", "multinomial"):
        chosen = declared_order(y)
    if family == "multinomial" and chosen is not None and not chosen.is_declared:
        chosen = None
    labels = labels_from(y)
    if family == "binomial" and not _is_categorical(y) and _are_shares(labels):
        _require_no_order(chosen, family)
        return Outcome(
            np.array(["failure", "success"]),
            np.stack([labels < 1, labels > 0], axis=1).astype(bool),
            False,
        )
    unused: tuple[Any, ...] = ()
    is_event = None
    if chosen is None:
        levels, codes = _coded(labels)
    else:
        found, codes, unused = in_order(labels, chosen)
        levels = classes_of(found)
        is_event = chosen.levels[-1] not in unused
    if family in ("binomial", "conditional") and levels.size > 2:
        shown = ", ".join(repr(level) for level in levels[:5].tolist())
        counts = "" if family == "conditional" else _COUNTS_TOO
        raise InputError(
            f"y must hold two classes{counts} for family={family!r}, got {levels.size} "
            f"different values ({shown}{', ...' if levels.size > 5 else ''}); for more "
            "classes use family='multinomial' or 'ordinal', for counts 'poisson'"
        )
    return Outcome(
        levels,
        codes[:, np.newaxis] == np.arange(levels.size),
        True,
        order_taken(chosen, levels.tolist()) if family == "ordinal" else "",
        unused,
        is_event,
    )


def reads_as_event(label: object) -> bool:
    """Tell whether the only label there is reads as an event.

    Examples
    --------
    >>> reads_as_event("no"), reads_as_event("ill"), reads_as_event(0)
    (False, True, False)
    """
    text = str(label).strip().casefold()
    if text in ("0", "false", "no", "n", "failure", "none", "negative"):
        return False
    try:
        return float(text) > 0
    except ValueError:
        return True


def numbers_of(y: Any, family: str) -> Floats:
    """Return an outcome that is no labels as numbers, counts as two columns.

    Times to an event are three columns.
    """
    if family in OF_TIMES:
        return times_from(y)
    if _n_columns(y) == 2:
        return np.asarray(as_dense(features_from(y)[0]), dtype=np.float64)
    return labels_from(y).astype(np.float64)


def has_trials(y: Any, family: str) -> Mask | None:
    """Return which groups of counts have any trials; None if these are no counts."""
    if family != "binomial" or _n_columns(y) != 2:
        return None
    return np.asarray(_counts(y).has.any(axis=1))


def _require_no_order(order: Order | None, family: str) -> None:
    """Raise if an order was given to what has no labels."""
    if order is not None:
        raise InputError(
            "order is for outcomes that are labels, got one for counts or shares of "
            f"family={family!r}; leave it out"
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


def _of_two(levels: list[str], is_second: Mask) -> Outcome:
    """Return an outcome that is no labels, of one of two levels in each row."""
    return Outcome(np.array(levels), np.stack([~is_second, is_second], axis=1), False)


def _coded(labels: NDArray[Any]) -> tuple[NDArray[Any], Index]:
    """Return the sorted distinct labels, and the number of each row's label."""
    if labels.dtype.kind != "O":
        levels, codes = np.unique(labels, return_inverse=True)
        return levels, codes.reshape(-1)
    distinct = sorted_objects(labels)
    number = {label: k for k, label in enumerate(distinct)}
    codes = np.array([number[label] for label in labels.tolist()], dtype=np.intp)
    return classes_of(distinct), codes
