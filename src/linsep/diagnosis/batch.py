"""Many diagnoses at once: many outcomes, or a screen of single columns.

A screen asks, for each of many columns, about the model of that column and the shared
covariates. Most columns are seen to overlap at once
(`linsep.diagnosis.exact.screening`); only the others are diagnosed one by one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.diagnosing import diagnose
from linsep.diagnosis.exact.coefficients import Estimate
from linsep.diagnosis.exact.screening import Screen
from linsep.diagnosis.inputs.outcomes import checked_family
from linsep.diagnosis.status import Kind
from linsep.input import InputError, checked_seed, checked_time_limit
from linsep.input.features import features_from
from linsep.rows import as_dense, is_sparse

# Columns looked at together.
COLUMNS_AT_A_TIME = 2048


@dataclass(frozen=True)
class Item:
    """One diagnosis of a batch, in brief.

    Attributes
    ----------
    name : str
        Of the outcome, or of the column screened.
    status : str
        As `Diagnosis.status`, or ``"error"``.
    proved : bool
    n_separated : int
        Rows separated.
    estimate : str or None
        The verdict on the column screened; None for outcomes and errors.
    message : str
        The verdict in a sentence, or the error's text.
    """

    name: str
    status: str
    proved: bool
    n_separated: int
    estimate: str | None
    message: str


@dataclass(frozen=True)
class Batch(Sequence[Item]):
    """The items of `diagnose_many`, in the order asked.

    Attributes
    ----------
    items : tuple of Item
    """

    items: tuple[Item, ...]

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        """Return an item, or several by a slice."""
        return self.items[index]

    @property
    def status(self) -> NDArray[Any]:
        """The statuses, as an array of text."""
        return np.array([item.status for item in self.items], dtype=object)

    def to_frame(self) -> Any:
        """Return one line an item, as a pandas frame indexed by name."""
        import pandas as pd

        fields = ("status", "proved", "n_separated", "estimate", "message")
        columns = {f: [getattr(item, f) for item in self.items] for f in fields}
        names = [item.name for item in self.items]
        return pd.DataFrame(columns, index=pd.Index(names, name="name"))

    def summary(self) -> str:
        """Count the statuses, and name a few items that are not overlap."""
        counts = {
            status: int((self.status == status).sum())
            for status in (*(kind.value for kind in Kind), "error")
        }
        text = ", ".join(f"{n:,} {status}" for status, n in counts.items() if n)
        found = [i.name for i in self.items if i.status not in ("overlap", "error")]
        if not found:
            return f"{len(self):,} models: {text}."
        more = f" and {len(found) - 8:,} more" if len(found) > 8 else ""
        return f"{len(self):,} models: {text}. Separated: {', '.join(found[:8])}{more}."

    def __repr__(self) -> str:
        """Show the counts."""
        return f"Batch({self.summary()})"


def diagnose_many(
    X: Any,
    y: Any,
    *,
    screen: Any = None,
    family: str = "binomial",
    fit_intercept: bool = True,
    sample_weight: Any = None,
    names: Sequence[str] | None = None,
    progress: bool | Callable[[int, int], object] = False,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Batch:
    """Diagnose many regressions; none of them stops the others.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features), or None
        The design shared by all; None for no columns but the intercept.
    y : array-like
        Without `screen`, many outcomes: an array or frame of shape (n_samples,
        n_outcomes), or a mapping of names to outcomes. With `screen`, one outcome.
    screen : array-like, sparse matrix or frame of shape (n_samples, m), optional
        Columns to be added to `X` one at a time, such as genetic variants.
    family, fit_intercept, sample_weight
        As in `linsep.diagnose`.
    names : sequence of str, optional
        Of the outcomes or of the columns screened.
    progress : bool or callable, default=False
        True shows a bar on the terminal; a callable is told ``(done, total)``.
    time_limit : float, optional
        Seconds for each item.
    random_state : int, optional
        Seed; None is 0.

    Returns
    -------
    Batch
        A sequence of `Item`. Missing values (NaN) in an outcome or a column screened
        leave out those rows for that item only; whatever goes wrong with an item is
        its status "error" and its message.

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
    >>> import linsep
    >>> outcomes = {"ill": [0, 0, 1, 1], "old": [0, 1, 0, 1]}
    >>> [item.status for item in linsep.diagnose_many([[1], [2], [3], [4]], outcomes)]
    ['complete', 'overlap']
    """
    checked_seed(random_state)
    checked_time_limit(time_limit)
    checked_family(family)
    options = {
        "family": family,
        "sample_weight": sample_weight,
        "fit_intercept": fit_intercept,
        "time_limit": time_limit,
        "random_state": random_state,
    }
    if screen is None:
        return _outcomes(X, y, names, progress, options)
    return _screen(X, y, screen, names, progress, options)


def _outcomes(
    X: Any, y: Any, names: Sequence[str] | None, progress: Any, options: dict[str, Any]
) -> Batch:
    """Diagnose one design against many outcomes."""
    features, feature_names = features_from(X)
    columns = _columns_of_outcomes(y)
    if names is not None and len(names) != len(columns):
        raise InputError(
            f"names must name each of the {len(columns)} outcomes, got {len(names)}"
        )
    items = []
    with _progress(progress, len(columns)) as tell:
        for k, (name, outcome) in enumerate(columns):
            label = name if names is None else str(names[k])
            items.append(
                _item(
                    label,
                    features,
                    outcome,
                    {**options, "feature_names": feature_names},
                )
            )
            tell(k + 1)
    return Batch(tuple(items))


def _columns_of_outcomes(y: Any) -> list[tuple[str, Any]]:
    """Return the names and columns of many outcomes."""
    if hasattr(y, "items"):  # a mapping, or a pandas frame
        return [(str(name), column) for name, column in y.items()]
    if hasattr(y, "get_columns"):  # polars
        return [(column.name, column) for column in y.get_columns()]
    table = np.asarray(y)
    if table.ndim != 2:
        raise InputError(
            "y must hold one outcome a column, of shape (n_samples, n_outcomes), got "
            f"shape {table.shape}; for one outcome use diagnose, or pass screen"
        )
    return [(f"y{k}", table[:, k]) for k in range(table.shape[1])]


def _item(
    name: str, X: Any, y: Any, options: dict[str, Any], column: str | None = None
) -> Item:
    """Diagnose one item, whatever happens."""
    try:
        X, y, options = _without_missing(X, y, options)
        answer = diagnose(X, y, **options)
    except KeyboardInterrupt:
        raise
    except Exception as error:
        return Item(name, "error", False, 0, None, f"{type(error).__name__}: {error}")
    estimate = None if column is None else answer.estimates[column].value
    return Item(
        name,
        answer.status.value,
        answer.proved,
        int(answer.separated_rows.size),
        estimate,
        answer.message,
    )


def _without_missing(
    X: Any, y: Any, options: dict[str, Any]
) -> tuple[Any, Any, dict[str, Any]]:
    """Leave out rows whose outcome is missing."""
    values = np.asarray(y)
    if values.dtype.kind == "f":
        gone = np.isnan(values)
    elif values.dtype.kind == "O":
        gone = np.array([value is None or value != value for value in values.ravel()])
        gone = gone.reshape(values.shape)
    else:
        return X, y, options
    if gone.ndim == 2:
        gone = gone.any(axis=1)
    if not gone.any():
        return X, y, options
    kept = np.flatnonzero(~gone)
    weights = options.get("sample_weight")
    if weights is not None:
        options = {**options, "sample_weight": np.asarray(weights)[kept]}
    return X[kept], values[kept].tolist(), options


def _screen(
    X: Any,
    y: Any,
    screen: Any,
    names: Sequence[str] | None,
    progress: Any,
    options: dict[str, Any],
) -> Batch:
    """Diagnose the shared design with one column more, many times."""
    columns, own_names = _screened(screen)
    n, m = columns.shape
    base = np.empty((n, 0)) if X is None else X
    features, feature_names = features_from(base) if X is not None else (base, None)
    if features.shape[0] != n:
        raise InputError(
            f"screen must have as many rows as X, got {n} and {features.shape[0]}"
        )
    labels = [str(name) for name in (names or own_names or (f"g{k}" for k in range(m)))]
    if len(labels) != m:
        raise InputError(f"names must name each of the {m} columns, got {len(labels)}")
    shared = feature_names or tuple(f"x{j}" for j in range(features.shape[1]))
    fast = Screen.prepare(features, y, options) if _can_be_fast(options) else None
    items: list[Item] = []
    with _progress(progress, m) as tell:
        for start in range(0, m, COLUMNS_AT_A_TIME):
            block = _dense(columns[:, start : start + COLUMNS_AT_A_TIME])
            settled = (
                np.zeros(block.shape[1], bool) if fast is None else fast.overlaps(block)
            )
            for k in range(block.shape[1]):
                name = labels[start + k]
                if settled[k]:
                    items.append(_overlap_item(name))
                else:
                    items.append(
                        _one_column(name, block[:, k], features, y, shared, options)
                    )
                if (start + k + 1) % 256 == 0:
                    tell(start + k + 1)
            tell(start + block.shape[1])
    return Batch(tuple(items))


def _overlap_item(name: str) -> Item:
    return Item(
        name,
        Kind.OVERLAP.value,
        True,
        0,
        Estimate.FINITE.value,
        "Overlap: no direction predicts any row perfectly.",
    )


def _one_column(
    name: str,
    column: NDArray[np.float64],
    features: Any,
    y: Any,
    shared: tuple[str, ...],
    options: dict[str, Any],
) -> Item:
    """Diagnose the design with one column added; its missing rows are left out."""
    own = name
    while own in shared or own == "intercept":
        own += "'"
    options = {**options, "feature_names": (*shared, own)}
    kept = np.flatnonzero(np.isfinite(column))
    outcome: Any = y
    if kept.size < column.size:
        if np.isinf(column).any():
            return Item(name, "error", False, 0, None, "the column holds an infinity")
        features, column = features[kept], column[kept]
        outcome = np.asarray(y)[kept]
        if options["sample_weight"] is not None:
            options["sample_weight"] = np.asarray(options["sample_weight"])[kept]
    if is_sparse(features):
        from scipy import sparse

        design = sparse.hstack([features, sparse.csr_array(column[:, None])], "csr")
    else:
        design = np.column_stack([features, column])
    return _item(name, design, outcome, options, own)


def _screened(screen: Any) -> tuple[Any, tuple[str, ...] | None]:
    """Return the columns to screen, missing values allowed, and their names."""
    if hasattr(screen, "tocsc"):
        return screen.tocsc(), None
    names = getattr(screen, "columns", None)
    if names is not None:
        names = tuple(str(name) for name in names)
    if hasattr(screen, "to_numpy"):
        screen = screen.to_numpy()
    table = np.asarray(screen)
    if table.ndim != 2 or table.dtype.kind not in "biuf":
        raise InputError(
            "screen must hold numbers, one column for each model, got shape "
            f"{table.shape} of dtype {table.dtype}"
        )
    return table, names


def _dense(block: Any) -> NDArray[np.float64]:
    dense = as_dense(block)
    return np.asarray(dense, dtype=np.float64)


def _can_be_fast(options: dict[str, Any]) -> bool:
    return options["family"] == "binomial" and options["sample_weight"] is None


@contextmanager
def _progress(wanted: Any, total: int) -> Iterator[Callable[[int], None]]:
    """Tell how far the batch is."""
    if callable(wanted):
        yield lambda done: (wanted(done, total), None)[1]
        return
    if not wanted or not sys.stderr.isatty():
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True)) as bar:
        task = bar.add_task("diagnosing", total=total)
        yield lambda done: bar.update(task, completed=done)
