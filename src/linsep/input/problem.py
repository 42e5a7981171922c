"""User input to a problem: signed rows, classes, names."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Mask
from linsep.input._plain import SIGNED, are_finite
from linsep.input.arguments import checked_names, positive_weights
from linsep.input.errors import InputError
from linsep.input.features import Features, features_from, no_rows_message
from linsep.input.frame_tables import frame_table
from linsep.input.labels import labels_from, require_one_label_a_row, signs_from
from linsep.input.levels import Columns
from linsep.input.row_names import (
    BY_POSITION,
    RowNames,
    require_same_index,
    row_names_of,
    row_names_of_file,
)
from linsep.rows import DenseRows, is_sparse, rows_from
from linsep.rows.device import namespace_of, to_numpy

if TYPE_CHECKING:
    from linsep.input.files import Table
    from linsep.rows import Rows

# Numbers that are taken as they are, if they are plain.
MOST_PLAIN = 1 << 18
DOUBLE = np.dtype(np.float64)

__all__ = ["Problem", "check_features", "plain_problem", "problem_from"]


@dataclass(eq=False, slots=True)
class Problem:
    """A separation problem: find w with ``A w > 0`` for the signed rows A.

    Attributes
    ----------
    rows : Rows
        Signed rows ``signs[i] * (x_i, 1)`` over the user's own numbers; the constant
        is the last column and there only if ``fit_intercept``.
    classes : ndarray, shape (2,) or (1,)
        The labels, sorted. A positive decision means ``classes[-1]``.
    feature_names : tuple of str, or None
        The columns' names, if X was a frame or a file.
    fit_intercept : bool
    present : ndarray of int, or None
        The numbers of these rows in the data given, where some had weight zero or
        missing values.
    columns : Columns, or None
        What the features were made of, if X was a file, or a frame with text.
    notes : tuple of str
        What a reader of the answer should know of how the data were read.
    row_names : RowNames
        What the rows given are called.
    """

    rows: "Rows"
    classes: NDArray[Any]
    feature_names: tuple[str, ...] | None
    fit_intercept: bool
    present: Index | None = None
    columns: Columns | None = None
    notes: tuple[str, ...] = ()
    row_names: RowNames = BY_POSITION

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X, the constant not counted."""
        return int(self.rows.shape[1]) - int(self.fit_intercept)

    def given(self, index: Index) -> Index:
        """Return the numbers that rows have in the data given."""
        return index if self.present is None else self.present[index]


def problem_from(
    X: object,
    y: object,
    *,
    fit_intercept: bool = True,
    sample_weight: object = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "refuse",
    max_memory: int | None = None,
) -> Problem:
    """Turn user input into signed rows, or say what is wrong with it.

    Parameters
    ----------
    X : array-like, sparse matrix or frame, shape (n, d), or a path
        Real, finite numbers. NumPy float32 and float64 arrays of any layout are used
        as they are, never copied or changed. Other types are converted to float64,
        exactly or not at all. SciPy sparse becomes CSR. pandas, polars and Arrow
        tables give the columns their names, and their columns of text become columns
        of 0 and 1. A path is read by `linsep.read_table`.
    y : array-like, shape (n,) or (n, 1); or a column's name, or of a path its number
        One label for every row, by position; any coding of two classes.
    fit_intercept : bool, default=True
        Extend every row by a constant 1.
    sample_weight : array-like, shape (n,), or None
        Rows of weight zero are left out; no other weight matters.
    feature_names : sequence of str, or None
        Names of the columns, in place of their own.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows that lack a value.
    max_memory : int or None, default=None
        Bytes that reading may take, of data that are not held in memory.

    Examples
    --------
    >>> problem = problem_from([[0.0], [2.0]], ["no", "yes"])
    >>> problem.rows.take(np.array([0, 1]))
    array([[-0., -1.],
           [ 2.,  1.]])
    """
    if not isinstance(fit_intercept, bool | np.bool_):
        raise InputError(
            f"fit_intercept must be True or False, got {fit_intercept!r}; it says "
            "whether the hyperplane may miss the origin"
        )
    if sample_weight is None is feature_names:
        plain = plain_problem(X, y, bool(fit_intercept))
        if plain is not None:
            return plain
    if sample_weight is not None and namespace_of(X) is not None:
        X = to_numpy(X)
    streamed = streamed_problem(X, y, bool(fit_intercept), missing, max_memory)
    if streamed is not None:
        if sample_weight is not None:
            raise InputError(
                "sample_weight goes with data held in memory, got a source that is "
                "read in batches; leave the rows out there"
            )
        if feature_names is not None:
            own = checked_names(feature_names, streamed.n_features)
            return replace(streamed, feature_names=own)
        return streamed
    source, target = X, y
    is_weighed = None
    if sample_weight is not None:
        require_same_index(X, "sample_weight", sample_weight)
        is_weighed = positive_weights(sample_weight, np.asarray(sample_weight).size)
    table, y = tabulated(X, y, bool(fit_intercept), missing, is_weighed)
    if table is not None:
        X = table.X
    if isinstance(source, str | os.PathLike):
        row_names = row_names_of_file(source, target)
    else:
        row_names = row_names_of(source)
    features, names = features_from(X)
    labels = labels_from(y)
    n, d = features.shape
    require_one_label_a_row((n, d), len(labels))
    if n == 0:
        raise InputError(no_rows_message((n, d)))
    require_a_column((n, d), fit_intercept)
    present = None if table is None else table.rows
    if sample_weight is not None:
        n_given = n if present is None or table is None else table.n_rows
        is_present = positive_weights(sample_weight, n_given or n)
        is_present = is_present if present is None else is_present[present]
        if not is_present.all():
            kept = np.flatnonzero(is_present)
            features, labels = features[kept], labels[kept]
            present = kept if present is None else present[kept]
    notes: tuple[str, ...] = ()
    columns = None
    if table is not None:
        if not isinstance(source, np.ndarray | list | tuple):  # these have no names
            names = table.feature_names
        notes = (*table.coding_notes, *table.notes)
        columns = Columns(table.columns, table.levels) if table.columns else None
    if feature_names is not None:
        names = checked_names(feature_names, d)
    classes, signs = signs_from(labels)
    rows = rows_from(features, signs, bool(fit_intercept))
    known = columns, notes, row_names
    return Problem(rows, classes, names, bool(fit_intercept), present, *known)


def plain_problem(X: Any, y: Any, fit_intercept: bool) -> Problem | None:
    """Return the problem of a few doubles and of numbers for labels, as most are.

    None leaves it to `problem_from` to find out what they are, and what is wrong: for a
    few rows looking at everything that they might be takes longer than separating them.
    """
    if not (type(X) is np.ndarray is type(y) and X.ndim == 2 and y.ndim == 1):
        return None
    if X.dtype != DOUBLE or y.dtype not in SIGNED:
        return None
    if not 0 < X.size <= MOST_PLAIN or len(X) != len(y):
        return None
    if X.itemsize not in X.strides or not X.flags.aligned:
        return None
    in_pieces = X if X.strides[1] == X.itemsize else X.T
    if not are_finite(in_pieces) or (y.dtype == DOUBLE and not np.isfinite(y).all()):
        return None
    classes, signs = signs_from(y)
    rows = DenseRows(X, signs, fit_intercept)
    return Problem(rows, classes, None, fit_intercept)


def streamed_problem(
    X: Any,
    y: Any,
    fit_intercept: bool,
    missing: str = "refuse",
    max_memory: int | None = None,
    is_count: bool = False,
) -> Problem | None:
    """Return the problem of data that are read in batches; None if X is held whole.

    With `is_count` the labels are counts, of which matters whether they are zero.
    """
    if isinstance(X, Problem):
        return X
    if isinstance(X, np.ndarray | list | tuple) or is_sparse(X):
        return None  # before what reads streams is loaded
    if namespace_of(X) is not None:
        from linsep.input.device_arrays import device_problem

        return device_problem(X, y, fit_intercept)
    if is_on_cluster(X):
        from linsep.input.cluster_data import cluster_problem

        return cluster_problem(X, y, fit_intercept, missing, is_count)
    from linsep.input.files.svmlight import SvmlightText
    from linsep.input.files.table import Request
    from linsep.input.streams import problem_of_stream, stream_of

    named = y if isinstance(y, str | int) else None
    source = stream_of(X, max_memory, Request(target=named))
    if source is None:
        return None
    if not isinstance(y, str | int) and not (
        y is None and isinstance(source, SvmlightText)
    ):
        raise InputError(
            "y must name the column of the labels where X is read in batches, got "
            f"{type(y).__name__}; pass y='name'"
        )
    request = Request(
        target=y, missing=missing, fit_intercept=fit_intercept, is_count=is_count
    )
    return problem_of_stream(source, request, max_memory=max_memory)


def is_on_cluster(X: object) -> bool:
    """Tell whether X is a collection of Dask, Ray or Spark, without loading these."""
    package = type(X).__module__.partition(".")[0]
    return package in ("dask", "dask_expr", "ray", "pyspark")


def tabulated(
    X: Any,
    y: Any,
    fit_intercept: bool,
    missing: str,
    present: Mask | None = None,
    *,
    needs_all: bool = False,
) -> tuple["Table | None", Any]:
    """Read a path, or a frame that needs coding, as a table; return it and the labels.

    None, and the labels as they are, for an array and for a frame of numbers alone. The
    references are chosen among the rows that are `present`. With `needs_all` a caller
    has no way to leave rows out.
    """
    is_path = isinstance(X, str | os.PathLike)
    is_array = isinstance(X, np.ndarray | list | tuple) or is_sparse(X)
    if is_array and missing == "refuse":
        return None, y  # before the readers of files are loaded
    from linsep.input.files import Request, read_request

    request = Request(missing=missing, fit_intercept=fit_intercept, present=present)
    request = replace(request, needs_all=needs_all)
    if not is_path:
        return frame_table(X, y, request) or (None, y)
    if not (y is None or isinstance(y, str | int)):
        raise InputError(
            "y must name the column of the labels when X is a path (its name, or its "
            f"number from 0; None where the file says), got {type(y).__name__}; pass "
            "y='name'"
        )
    table = read_request(X, replace(request, target=y, labelled=True))
    return table, table.y


def check_features(
    X: object,
    n_features: int,
    feature_names: tuple[str, ...] | None = None,
    columns: Columns | None = None,
) -> Features:
    """Return new rows (m, n_features), or say how they differ from those of the fit.

    They are of any kind that `problem_from` takes; m may be 0. A frame must have the
    same names in the same order, or with `columns` the columns of the fit, coded as
    they were then; an array has no names and is taken by position.

    Examples
    --------
    >>> check_features([[1, 2]], 2)
    array([[1., 2.]])
    """
    found = None
    if columns is not None:
        from linsep.input.files import Request

        request = Request(columns=columns.names, levels=columns.levels, needs_all=True)
        found = frame_table(X, None, request)
    if found is not None:
        table, _ = found
        names = feature_names
        features, _ = features_from(table.features(names or table.feature_names))
    else:
        features, names = features_from(X)
    if features.shape[1] != n_features:
        raise InputError(
            f"X must have {n_features} columns, as the data the hyperplane was found "
            f"on, got {features.shape[1]} (shape {features.shape}); pass the same "
            "columns"
        )
    if names is not None and feature_names is not None and names != feature_names:
        raise InputError(_name_mismatch(names, feature_names))
    return features


def require_a_column(shape: tuple[int, int], fit_intercept: bool) -> None:
    """Refuse data with nothing to weigh."""
    if shape[1] == 0 and not fit_intercept:
        raise InputError(
            f"X must have at least one column when fit_intercept=False, got shape "
            f"{shape}; add a feature or fit the intercept"
        )


def _name_mismatch(names: tuple[str, ...], expected: tuple[str, ...]) -> str:
    """Word the error for a frame with other columns than before."""
    missing = [name for name in expected if name not in names]
    unexpected = [name for name in names if name not in expected]
    if missing or unexpected:
        got = f"missing {missing}, unexpected {unexpected}"
    else:
        got = "the same names in another order"
    return (
        f"X must have the columns {_listed(expected)} in this order, got {got}; select "
        "them by name, X[list_of_names]"
    )


def _listed(names: tuple[str, ...]) -> str:
    """List a few names."""
    return str(list(names)) if len(names) <= 8 else f"{list(names[:8])} and so on"
