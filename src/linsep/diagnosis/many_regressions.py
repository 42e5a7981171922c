"""Many diagnoses at once: many outcomes, or a screen of single columns.

A screen asks, for each of many columns, about the model of that column and the shared
covariates. Most columns are seen to overlap at once
(`linsep.diagnosis.exact.screening`); only the others are diagnosed one by one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from linsep.arrays import Floats, Mask
from linsep.diagnosis.batch import Batch, Item
from linsep.diagnosis.exact.screening import Screen
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.families import COMPARING, PAIRED, family_named
from linsep.diagnosis.inputs.orders import declared_order, given_order
from linsep.diagnosis.inputs.study import INTERCEPT
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import Watch
from linsep.input import (
    InputError,
    checked_callback,
    checked_seed,
    checked_time_limit,
)
from linsep.input.features import features_from
from linsep.rows import as_dense, is_sparse

Callback = Callable[[int, int], object]

# Columns looked at together.
COLUMNS_AT_A_TIME = 2048


def diagnose_outcomes(
    X: Any,
    outcomes: Any,
    *,
    family: str = "binomial",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Batch:
    """Diagnose the regressions of many outcomes on one design.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The design.
    outcomes : array-like of shape (n_samples, n_outcomes), frame or mapping
        One outcome a column, or names and outcomes.
    family, fit_intercept, sample_weight, order
        As of `linsep.diagnose`, but for conditional models.
    names : sequence of str, optional
        Of the outcomes.
    time_limit : float, optional
        Seconds for each outcome.
    random_state : int, optional
        Seed; None is 0.
    callback : callable, optional
        Told ``(done, total)`` after each outcome; a true return value stops.

    Returns
    -------
    Batch
        A sequence of `Item`. Missing values (NaN) in an outcome leave out those rows
        for that item only. Whatever goes wrong with an item is its status "error" and
        its message; what the callback or Ctrl-C left out is "undecided".

    Raises
    ------
    InputError
        If what is shared cannot be used.

    Examples
    --------
    >>> from linsep.diagnosis import diagnose_outcomes
    >>> outcomes = {"ill": [0, 0, 1, 1], "old": [0, 1, 0, 1]}
    >>> [item.status for item in diagnose_outcomes([[1], [2], [3], [4]], outcomes)]
    ['complete', 'overlap']
    """
    shared = _Shared(
        family, fit_intercept, sample_weight, order, time_limit, random_state
    )
    features, feature_names = features_from(X)
    columns = _columns_of_outcomes(outcomes)
    labels = _labels(names, [name for name, _ in columns], "outcomes")
    return _gathered(
        labels,
        (
            shared.item(label, features, outcome, feature_names)
            for label, (_, outcome) in zip(labels, columns, strict=True)
        ),
        callback,
    )


def screen_columns(
    X: Any,
    y: Any,
    columns: Any,
    *,
    family: str = "binomial",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Batch:
    """Diagnose one design with one column more, for each of many columns.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features), or None
        The columns in every model; None for none but the intercept.
    y : array-like
        The outcome.
    columns : array-like, sparse matrix or frame of shape (n_samples, n_columns)
        Columns to be added one at a time, such as genetic variants. Missing values
        (NaN) leave out those rows for that item only.
    family, fit_intercept, sample_weight, order, time_limit, random_state, callback
        As of `diagnose_outcomes`, for each column.
    names : sequence of str, optional
        Of the columns.

    Returns
    -------
    Batch
        As of `diagnose_outcomes`; `Item.estimate` is the verdict on the column.

    Raises
    ------
    InputError
        If what is shared cannot be used.

    Notes
    -----
    A column whose overlap is seen at once (`linsep.diagnosis.exact.screening`) costs
    a few hundred multiplications; any other the diagnosis of one regression.

    Examples
    --------
    >>> from linsep.diagnosis import screen_columns
    >>> columns = [[0, 0], [0, 1], [1, 0], [1, 1]]
    >>> [item.estimate for item in screen_columns(None, [0, 0, 1, 1], columns)]
    ['+inf', 'finite']
    """
    shared = _Shared(
        family, fit_intercept, sample_weight, order, time_limit, random_state
    )
    table, own_names = _screened(columns)
    n, m = table.shape
    features, feature_names = features_from(np.empty((n, 0)) if X is None else X)
    if features.shape[0] != n:
        raise InputError(
            "the columns to screen must have as many rows as X, got "
            f"{n} and {features.shape[0]}"
        )
    labels = _labels(names, own_names or [f"g{k}" for k in range(m)], "columns")
    if feature_names is None:
        feature_names = tuple(f"x{j}" for j in range(features.shape[1]))
    screen = None
    if shared.family == "binomial" and sample_weight is None:
        screen = Screen.prepare(features, y, fit_intercept, shared.seed)

    def items() -> Iterator[Item]:
        for start in range(0, m, COLUMNS_AT_A_TIME):
            block = table[:, start : start + COLUMNS_AT_A_TIME]
            dense = np.asarray(as_dense(block), dtype=np.float64)
            overlaps = np.zeros(dense.shape[1], dtype=bool)
            if screen is not None:
                overlaps = screen.overlaps(dense)
            for k, label in enumerate(labels[start : start + COLUMNS_AT_A_TIME]):
                if overlaps[k]:
                    yield Item(
                        label,
                        DiagnosisStatus.OVERLAP.value,
                        "Overlap: no direction predicts any row perfectly.",
                        estimate=Estimate.FINITE.value,
                    )
                else:
                    yield shared.item(
                        label, features, y, feature_names, added=dense[:, k]
                    )

    return _gathered(labels, items(), callback)


def diagnose_many(
    X: Any,
    y: Any,
    *,
    screen: Any = None,
    progress: bool | Callback = False,
    **options: Any,
) -> Batch:
    """Call `diagnose_outcomes`, or `screen_columns` where there is a `screen`.

    .. deprecated:: 0.2
        Call one of the two. Their `callback` is what a callable `progress` was; True
        shows no bar any more.
    """
    warnings.warn(
        "diagnose_many has become linsep.diagnose_outcomes(X, outcomes) and "
        "linsep.screen_columns(X, y, columns); call one of them",
        DeprecationWarning,
        stacklevel=2,
    )

    def callback(done: int, total: int) -> None:  # its answer never stopped a batch
        if callable(progress):
            progress(done, total)

    if screen is None:
        return diagnose_outcomes(X, y, callback=callback, **options)
    return screen_columns(X, y, screen, callback=callback, **options)


class _Shared:
    """What the regressions of a batch have in common."""

    def __init__(
        self,
        family: str,
        fit_intercept: bool,
        sample_weight: Any,
        order: Sequence[Any] | None,
        time_limit: float | None,
        random_state: int | None,
    ) -> None:
        self.family = family_named(family)
        self.fit_intercept, self.sample_weight = fit_intercept, sample_weight
        self.order = given_order(order)
        self.time_limit = checked_time_limit(time_limit)
        self.seed = checked_seed(random_state)
        if self.family in (*PAIRED, *COMPARING):
            raise InputError(
                "a batch is of models without groups, times or players, got "
                f"family={self.family!r}; call diagnose for each of them"
            )

    def item(
        self,
        name: str,
        features: Any,
        y: Any,
        feature_names: tuple[str, ...] | None,
        added: Floats | None = None,
    ) -> Item:
        """Diagnose one regression, whatever happens; one column may be added."""
        watch = Watch(self.time_limit)
        try:
            column = name
            if added is not None and feature_names is not None:
                while column in (*feature_names, INTERCEPT):
                    column += "'"
                feature_names = (*feature_names, column)
                features = _with_column(features, added)
            weights, is_missing = self.sample_weight, _is_missing(y, added)
            order = self.order
            if is_missing.any():
                if order is None and self.family in ("ordinal", "multinomial"):
                    order = declared_order(y)
                kept = np.flatnonzero(~is_missing)
                features, y = features[kept], np.asarray(y)[kept].tolist()
                weights = None if weights is None else np.asarray(weights)[kept]
            study = study_from(
                features,
                y,
                family=self.family,
                fit_intercept=self.fit_intercept,
                sample_weight=weights,
                feature_names=feature_names,
                order=order,
            )
            answer = diagnose_study(study, watch, self.seed)
        except Exception as error:
            return Item(name, "error", f"{type(error).__name__}: {error}")
        if watch.is_interrupted:
            raise KeyboardInterrupt
        return Item(
            name,
            answer.status.value,
            answer.message,
            int(answer.separated_rows.size),
            None if added is None else answer.estimates[column].value,
        )


def _gathered(
    names: Sequence[str], items: Iterator[Item], callback: Callback | None
) -> Batch:
    """Gather the items; those the callback or Ctrl-C left out are undecided."""
    checked_callback(callback)
    made: list[Item] = []
    reason = ""
    try:
        for item in items:
            made.append(item)
            if callback is not None and callback(len(made), len(names)):
                reason = "the callback asked to stop."
                break
    except KeyboardInterrupt:
        reason = "interrupted from the keyboard."
    undecided = DiagnosisStatus.UNDECIDED.value
    made += [
        Item(name, undecided, f"Undecided: {reason}") for name in names[len(made) :]
    ]
    return Batch(tuple(made))


def _labels(
    names: Sequence[str] | None, own: Sequence[str], what: str
) -> tuple[str, ...]:
    """Return the names given, or those the data have."""
    labels = tuple(str(name) for name in (own if names is None else names))
    if len(labels) != len(own):
        raise InputError(
            f"names must name each of the {len(own)} {what}, got {len(labels)}"
        )
    return labels


def _columns_of_outcomes(y: Any) -> list[tuple[str, Any]]:
    """Return the names and columns of many outcomes."""
    if hasattr(y, "items"):  # a mapping, or a pandas frame
        return [(str(name), column) for name, column in y.items()]
    if hasattr(y, "get_columns"):  # polars
        return [(column.name, column) for column in y.get_columns()]
    table = np.asarray(y)
    if table.ndim != 2:
        raise InputError(
            "outcomes must hold one outcome a column, of shape (n_samples, "
            f"n_outcomes), got shape {table.shape}; for one outcome use diagnose, for "
            "one outcome and many columns screen_columns"
        )
    return [(f"y{k}", table[:, k]) for k in range(table.shape[1])]


def _screened(columns: Any) -> tuple[Any, Sequence[str] | None]:
    """Return the columns to screen, missing values allowed, and their names."""
    if is_sparse(columns):
        return columns.tocsc(), None
    names = getattr(columns, "columns", None)
    if hasattr(columns, "to_numpy"):
        columns = columns.to_numpy()
    table = np.asarray(columns)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise InputError(
            "the columns to screen must hold numbers, one column for each model, got "
            f"shape {table.shape} of dtype {table.dtype}"
        )
    return table, None if names is None else list(names)


def _with_column(features: Any, column: Floats) -> Any:
    """Return the design with one column more."""
    if is_sparse(features):
        from scipy import sparse

        return sparse.hstack([features, sparse.csr_array(column[:, np.newaxis])], "csr")
    return np.column_stack([features, column])


def _is_missing(y: Any, column: Floats | None) -> Mask:
    """Return in which rows the outcome, or the column added, has no value."""
    values = np.asarray(y)
    if values.dtype.kind == "f":
        gone = np.isnan(values)
    elif values.dtype.kind == "O":
        gone = np.array([value is None or value != value for value in values.ravel()])
        gone = gone.reshape(values.shape)
    else:
        gone = np.zeros(values.shape, dtype=bool)
    if gone.ndim == 2:
        gone = gone.any(axis=1)
    if column is not None and column.size == gone.size:
        gone = gone | np.isnan(column)
    return np.asarray(gone)
