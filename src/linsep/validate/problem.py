"""User input to a problem: signed rows, classes, names."""

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from linsep.validate.errors import InputError
from linsep.validate.floats import Floats, exact_floats, require_finite
from linsep.validate.frames import reader_for
from linsep.validate.labels import labels_from, signs_from

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from linsep.rows import Rows

__all__ = ["Problem", "check_features", "problem_from"]

Features: TypeAlias = "Floats | csr_array"


@dataclass(frozen=True)
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
        The columns' names, if X was a frame.
    fit_intercept : bool
    """

    rows: "Rows"
    classes: NDArray[Any]
    feature_names: tuple[str, ...] | None
    fit_intercept: bool

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X, the constant not counted."""
        return int(self.rows.shape[1]) - int(self.fit_intercept)


def problem_from(X: object, y: object, *, fit_intercept: bool = True) -> Problem:
    """Turn user input into signed rows, or say what is wrong with it.

    Parameters
    ----------
    X : array-like, sparse matrix or frame, shape (n, d), or a path
        Real, finite numbers. NumPy float32 and float64 arrays of any layout are used
        as they are, never copied or changed. Other types are converted to float64,
        exactly or not at all. SciPy sparse becomes CSR. pandas, polars and Arrow
        tables give the columns their names.
    y : array-like, shape (n,) or (n, 1), or the name of a column if X is a path
        One label for every row, by position; any coding of two classes.
    fit_intercept : bool, default True
        Extend every row by a constant 1.

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If anything is wrong; the text says what must hold, what came, what to do.

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
    if isinstance(X, str | os.PathLike):
        X, y = _read(X, y)
    features, names = _features_from(X)
    labels = labels_from(y)
    n, d = features.shape
    if n != len(labels):
        raise InputError(_length_mismatch(features.shape, len(labels)))
    if n == 0:
        raise InputError(
            f"X must have at least one row, got shape {(n, d)}; pass some data"
        )
    if d == 0 and not fit_intercept:
        raise InputError(
            f"X must have at least one column when fit_intercept=False, got shape "
            f"{(n, d)}; add a feature or fit the intercept"
        )
    classes, signs = signs_from(labels)
    rows = _rows_over(features, signs, bool(fit_intercept))
    return Problem(rows, classes, names, bool(fit_intercept))


def check_features(
    X: object, n_features: int, feature_names: tuple[str, ...] | None = None
) -> Features:
    """Return new rows as a float array or CSR, or say how they differ from the old.

    Parameters
    ----------
    X : array-like, sparse matrix or frame, shape (m, n_features)
        The same kinds as in `problem_from`; m may be 0.
    n_features : int
        Number of columns at fit time.
    feature_names : tuple of str, optional
        Their names. A frame must have the same names in the same order; an array
        has no names and is taken by position.

    Returns
    -------
    ndarray of float32 or float64, or csr_array, shape (m, n_features)

    Raises
    ------
    InputError
        As `problem_from`, and if the columns are not those seen before.

    Examples
    --------
    >>> check_features([[1, 2]], 2)
    array([[1., 2.]])
    """
    features, names = _features_from(X)
    if features.shape[1] != n_features:
        raise InputError(
            f"X must have {n_features} columns, as the data the hyperplane was found "
            f"on, got {features.shape[1]} (shape {features.shape}); pass the same "
            "columns"
        )
    if names is not None and feature_names is not None and names != feature_names:
        raise InputError(_name_mismatch(names, feature_names))
    return features


def _features_from(X: object) -> tuple[Features, tuple[str, ...] | None]:
    """Return X as float array or CSR with finite entries, and its names if any."""
    names: tuple[str, ...] | None = None
    table: Any = X
    reader = reader_for(X)
    if reader is not None:
        table, names = reader(X)
    if _is_sparse(table):
        return _csr_from(table, names), names
    values = exact_floats(_matrix_from(table), "X")
    require_finite(values, names)
    return values, names


def _is_sparse(X: object) -> bool:
    """Tell whether X is a SciPy sparse matrix or array."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))


def _csr_from(X: Any, names: tuple[str, ...] | None) -> "csr_array":
    """Return a CSR array without duplicates, sharing the user's memory if it can."""
    from scipy.sparse import csr_array

    _require_two_dimensions(X.shape)
    rows = csr_array(X)
    values = exact_floats(rows.data, "X")
    matrix = csr_array((values, rows.indices, rows.indptr), shape=rows.shape)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    require_finite(matrix.data, names, matrix)
    return matrix


def _matrix_from(X: Any) -> NDArray[Any]:
    """Return X as a two-dimensional array of whatever type numpy gives it."""
    if np.ma.isMaskedArray(X):
        n_masked = int(np.count_nonzero(np.ma.getmaskarray(X)))
        if n_masked:
            raise InputError(
                f"X must have no missing values, got {n_masked} "
                "masked entries; fill them in (X.filled(value)) or drop their rows"
            )
        X = X.data
    try:
        values = np.asarray(X)
    except Exception as error:
        raise InputError(_not_an_array(X, error)) from error
    _require_two_dimensions(values.shape)
    if isinstance(X, list | tuple) and values.dtype == np.float64 and values.size:
        largest = max(float(values.max()), -float(values.min()))
        if largest > 2**53:  # an integer in the list may have been rounded
            values = np.array(X, dtype=object).reshape(values.shape)
    return values


def _require_two_dimensions(shape: tuple[int, ...]) -> None:
    """Raise unless the shape is (rows, columns)."""
    if len(shape) == 2:
        return
    advice = "pass one row for every sample and one column for every feature"
    if len(shape) == 1:
        advice = (
            "use X.reshape(-1, 1) if it is one feature of many samples, or "
            "X.reshape(1, -1) if it is one sample"
        )
    elif len(shape) > 2:
        advice = "flatten every sample to one row with X.reshape(len(X), -1)"
    raise InputError(
        f"X must be two-dimensional, (samples, features), got shape {shape}; {advice}"
    )


def _rows_over(features: Features, signs: NDArray[np.int8], intercept: bool) -> "Rows":
    """Choose the backend for the features."""
    from linsep.rows import DenseRows, SparseRows

    if isinstance(features, np.ndarray):
        return DenseRows(features, signs, intercept)
    return SparseRows(features, signs, intercept)


def _read(path: str | os.PathLike[str], target: object) -> tuple[object, object]:
    """Read features and labels from a data file."""
    if not isinstance(target, str):
        raise InputError(
            "y must be the name of the label column when X is a path, got "
            f"{type(target).__name__}; pass y='name'"
        )
    from linsep.files import read_table

    table = read_table(path, target)
    return table.X, table.y


def _length_mismatch(shape: tuple[int, ...], n_labels: int) -> str:
    """Word the error for X and y of different lengths."""
    advice = "pass one label for every row of X"
    if n_labels == shape[1]:
        advice = "X has one column for every label: pass its transpose X.T"
    return (
        f"X and y must have the same number of rows, got {shape[0]} rows in X (shape "
        f"{shape}) and {n_labels} labels in y; {advice}"
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


def _not_an_array(X: object, error: Exception) -> str:
    """Word the error for something numpy cannot turn into an array."""
    if "inhomogeneous" in str(error):
        return (
            "X must have the same number of entries in every row, got rows of "
            f"different lengths ({error}); fill in or drop the short rows"
        )
    return (
        f"X must be an array, a sparse matrix or a frame of numbers, got "
        f"{type(X).__name__}, which numpy cannot read ({error}); convert it to a NumPy "
        "array"
    )
