"""User input to a problem: signed rows, classes, names."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.arguments import checked_names, positive_weights
from linsep.input.errors import InputError
from linsep.input.features import Features, features_from, no_rows_message
from linsep.input.labels import labels_from, signs_from
from linsep.input.row_names import RowNames, row_names_of, row_names_of_file
from linsep.rows import rows_from

if TYPE_CHECKING:
    from linsep.rows import Rows

__all__ = ["Problem", "check_features", "problem_from"]


@dataclass(frozen=True, eq=False)
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
        The numbers of these rows in the data given, where some had weight zero.
    row_names : RowNames
        What the rows given are called.
    """

    rows: "Rows"
    classes: NDArray[Any]
    feature_names: tuple[str, ...] | None
    fit_intercept: bool
    present: NDArray[np.intp] | None = None
    row_names: RowNames = field(default_factory=RowNames)

    @property
    def n_samples(self) -> int:
        """Number of rows of X."""
        return int(self.rows.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X, the constant not counted."""
        return int(self.rows.shape[1]) - int(self.fit_intercept)

    def given(self, index: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers that rows have in the data given."""
        return index if self.present is None else self.present[index]


def problem_from(
    X: object,
    y: object,
    *,
    fit_intercept: bool = True,
    sample_weight: object = None,
    feature_names: Sequence[str] | None = None,
) -> Problem:
    """Turn user input into signed rows, or say what is wrong with it.

    Parameters
    ----------
    X : array-like, sparse matrix or frame, shape (n, d), or a path
        Real, finite numbers. NumPy float32 and float64 arrays of any layout are used
        as they are, never copied or changed. Other types are converted to float64,
        exactly or not at all. SciPy sparse becomes CSR. pandas, polars and Arrow
        tables give the columns their names. A path is read by `linsep.read_table`.
    y : array-like, shape (n,) or (n, 1); if X is a path, a column's name or number
        One label for every row, by position; any coding of two classes.
    fit_intercept : bool, default=True
        Extend every row by a constant 1.
    sample_weight : array-like, shape (n,), or None
        Rows of weight zero are left out; no other weight matters.
    feature_names : sequence of str, or None
        Names of the columns, in place of their own.

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
    names_in_file: tuple[str, ...] | None = None
    row_names = row_names_of(X)
    if isinstance(X, str | os.PathLike):
        row_names = row_names_of_file(X, y)
        X, y, names_in_file = _read(X, y)
    features, names = features_from(X)
    labels = labels_from(y)
    n, d = features.shape
    if n != len(labels):
        raise InputError(_length_mismatch(features.shape, len(labels)))
    if n == 0:
        raise InputError(no_rows_message((n, d)))
    if d == 0 and not fit_intercept:
        raise InputError(
            f"X must have at least one column when fit_intercept=False, got shape "
            f"{(n, d)}; add a feature or fit the intercept"
        )
    present = None
    if sample_weight is not None:
        is_present = positive_weights(sample_weight, n)
        if not is_present.all():
            present = np.flatnonzero(is_present)
            features, labels = features[present], labels[present]
    names = names_in_file if names is None else names
    if feature_names is not None:
        names = checked_names(feature_names, d)
    classes, signs = signs_from(labels)
    rows = rows_from(features, signs, bool(fit_intercept))
    return Problem(rows, classes, names, bool(fit_intercept), present, row_names)


def check_features(
    X: object, n_features: int, feature_names: tuple[str, ...] | None = None
) -> Features:
    """Return new rows (m, n_features), or say how they differ from those of the fit.

    They are of any kind that `problem_from` takes; m may be 0. A frame must have the
    same names in the same order; an array has none and is taken by position.

    Examples
    --------
    >>> check_features([[1, 2]], 2)
    array([[1., 2.]])
    """
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


def _read(
    path: str | os.PathLike[str], target: object
) -> tuple[object, object, tuple[str, ...]]:
    """Read features, labels and the features' names from a data file."""
    if not (target is None or isinstance(target, str | int)):
        raise InputError(
            "y must name the column of the labels when X is a path (its name, or its "
            f"number from 0; None where the file says), got {type(target).__name__}; "
            "pass y='name'"
        )
    from linsep.input.files import read_labelled

    table, y = read_labelled(path, target)
    return table.X, y, table.feature_names


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
