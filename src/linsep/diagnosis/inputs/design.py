"""Designs and outcomes as users give them, read into a `Study`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.codings import Coding, coding_of
from linsep.diagnosis.inputs.outcomes import numbers_of, outcome_from
from linsep.diagnosis.inputs.study import INTERCEPT, Given, Study
from linsep.input import InputError
from linsep.input.arguments import checked_names, positive_weights
from linsep.input.features import features_from
from linsep.input.labels import labels_from
from linsep.input.row_names import RowNames, row_names_of


def study_from(
    X: Any,
    y: Any,
    *,
    family: str,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    codings: Sequence[Coding] | None = None,
    outcome_name: str | None = None,
    present: NDArray[np.intp] | None = None,
    n_given: int | None = None,
    frequencies: NDArray[np.float64] | None = None,
    row_names: RowNames | None = None,
) -> Study:
    """Read a design and an outcome, or say what is wrong with them.

    Parameters
    ----------
    X, y, family, fit_intercept, sample_weight, feature_names
        As in `linsep.diagnose`.
    codings : sequence of Coding, optional
        What the features stand for, where that is known; else read from their names.
    outcome_name : str, optional
        What the outcome is called in sentences; the name of `y`, or "y".
    present : ndarray of int, optional
        The numbers of these rows in the data given, where some were left out.
    n_given : int, optional
        How many rows were given then.
    frequencies : ndarray of shape (n,), optional
        How many observations each row stands for; of counts their sums.
    row_names : RowNames, optional
        What the rows given are called; by the index of `X`, if it is a frame.
    """
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InputError(f"fit_intercept must be True or False, got {fit_intercept!r}")
    features, own_names = features_from(X)
    if 0 in features.shape and not (features.shape[0] and fit_intercept):
        raise InputError(
            "X must have at least one row, and a column or an intercept, got shape "
            f"{features.shape} with fit_intercept={bool(fit_intercept)}"
        )
    outcome = outcome_from(y, family)
    n, d = features.shape
    if n != outcome.has.shape[0]:
        raise InputError(
            f"X and y must have the same number of rows, got {n} rows in X and "
            f"{outcome.has.shape[0]} in y; pass one outcome for every row of X"
        )
    names = _names(feature_names, own_names, d, bool(fit_intercept))
    is_present = outcome.has.any(axis=1)
    if sample_weight is not None:
        is_present &= positive_weights(sample_weight, n)
    kept = np.flatnonzero(is_present)
    if kept.size == 0:
        raise InputError(
            "at least one row must be present, got none with a positive weight; check "
            "sample_weight"
        )
    labels = labels_from(y) if outcome.is_labels else None
    observed = None if outcome.is_labels else numbers_of(y)
    if observed is not None and observed.ndim == 2 and frequencies is None:
        frequencies = observed.sum(axis=1)
        frequencies = frequencies if _are_whole(observed) else None
    if kept.size < n:
        features = features[kept]
        used = outcome.has[kept].any(axis=0)
        outcome = type(outcome)(
            outcome.levels[used] if outcome.is_labels else outcome.levels,
            outcome.has[kept][:, used] if outcome.is_labels else outcome.has[kept],
            outcome.is_labels,
        )
        labels = None if labels is None else labels[kept]
        observed = None if observed is None else observed[kept]
        frequencies = None if frequencies is None else frequencies[kept]
    name = outcome_name or getattr(y, "name", None) or "y"
    return Study(
        features,
        outcome,
        kept if present is None else present[kept],
        n if n_given is None else n_given,
        names,
        tuple(map(coding_of, names) if codings is None else codings),
        str(name),
        family,
        bool(fit_intercept),
        labels,
        n_missing=0 if n_given is None else n_given - n,
        frequencies=frequencies,
        weights=None
        if sample_weight is None
        else np.asarray(sample_weight, dtype=np.float64)[kept],
        observed=observed,
        row_names=row_names_of(X) if row_names is None else row_names,
        given=Given(frame=X if is_pandas(X) else None),
    )


def is_pandas(data: Any) -> bool:
    """Tell whether this is a pandas frame, without loading pandas."""
    return hasattr(data, "iloc") and hasattr(data, "columns")


def _are_whole(counts: NDArray[np.float64]) -> bool:
    """Tell whether numbers are counts, and not shares."""
    return bool((counts == np.rint(counts)).all() and counts.sum(axis=1).max() > 1)


def _names(
    given: Sequence[str] | None, own: tuple[str, ...] | None, d: int, intercept: bool
) -> tuple[str, ...]:
    """Return the features' names: those given, the frame's, or x0, x1, ..."""
    if given is None:
        names = own if own is not None else tuple(f"x{j}" for j in range(d))
    else:
        names = checked_names(given, d)
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated or (intercept and INTERCEPT in names):
        first = f"{repeated[0]!r} twice" if repeated else f"{INTERCEPT!r}"
        raise InputError(
            "feature_names must differ from each other, and from 'intercept' where one "
            f"is fitted, got {first}; rename the column"
        )
    return names
