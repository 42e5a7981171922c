"""Labels of two classes, in any coding, to signs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Mask, Signs
from linsep.input._plain import SIGNED
from linsep.input.errors import InputError
from linsep.input.exact_numbers import is_missing
from linsep.rows import is_masked, is_sparse

_MANY_CLASSES = 20  # more distinct numbers than this look like measurements


def labels_from(y: Any) -> NDArray[Any]:
    """Return the labels (n,) without missing entries, or raise InputError.

    They are booleans, numbers or strings, of shape (n,) or (n, 1): a list, an array, or
    a pandas, polars or Arrow column, categorical and nullable ones included.

    Examples
    --------
    >>> labels_from([["no"], ["yes"]])
    array(['no', 'yes'], dtype=object)
    """
    if isinstance(y, str | bytes):
        raise InputError(
            f"y must hold one label for every row of X, got the string {y!r}; the name "
            "of a column works where X is a path or a frame"
        )
    labels = _one_column(_as_array(y))
    if labels.dtype.kind in "cV":
        raise InputError(
            "y must hold booleans, integers, floats or strings, got dtype "
            f"{labels.dtype}; pass one plain label for every row"
        )
    _require_present(labels)
    return labels


def signs_from(labels: NDArray[Any]) -> tuple[NDArray[Any], Signs]:
    """Return the one or two classes, sorted, and signs: +1 where the label is the last.

    InputError if there are more than two classes, or two that cannot be sorted.

    Examples
    --------
    >>> signs_from(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([ 1, -1,  1], dtype=int8))
    """
    signed, flags = SIGNED.get(labels.dtype), labels.flags
    if signed is not None and flags.c_contiguous and flags.aligned:
        signs = np.empty(len(labels), dtype=np.int8)
        classes = np.empty(2, dtype=labels.dtype)
        if signed(labels, signs, classes):
            return classes, signs
    distinct = _distinct(labels)
    if len(distinct) > 2:
        raise InputError(_too_many_classes(labels, distinct))
    classes = classes_of(distinct, labels.dtype)
    is_last = np.asarray(labels == distinct[-1], dtype=bool)
    return classes, 2 * is_last.view(np.int8) - 1


def are_positive(values: NDArray[Any], first_row: int = 0) -> Mask:
    """Tell which numbers are more than zero, of an outcome that has none below.

    Examples
    --------
    >>> are_positive(np.array([0, 3, 1]))
    array([False,  True,  True])
    """
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
            f"{numbers[row]} in row {first_row + row}"
        )
    return np.asarray(numbers > 0)


def signs_of_counts(positive: NDArray[Any]) -> tuple[NDArray[Any], Signs]:
    """Return the classes 0 and 1, and signs: +1 where a count is more than zero."""
    return np.array([0, 1]), np.where(positive, 1, -1).astype(np.int8)


def _as_array(y: Any) -> NDArray[Any]:
    """Turn any container of labels into an array, without merging labels.

    Lists go through an object array: numpy would turn ``[1, "a"]`` into two
    strings and ``[2**63 + 1, -1]`` into rounded floats.
    """
    if is_masked(y):
        n_masked = int(np.count_nonzero(np.ma.getmaskarray(y)))
        if n_masked:
            raise InputError(_missing(n_masked, "masked"))
        return np.asarray(y.data)
    if is_sparse(y) and hasattr(y, "nnz"):
        return np.asarray(y.toarray())
    y = _column_of_frame(y)
    n_missing = _count_missing(y)
    if n_missing:
        raise InputError(_missing(n_missing, "missing"))
    try:
        if isinstance(y, list | tuple):
            return np.array(y, dtype=object)
        return np.asarray(y)
    except Exception as error:
        raise InputError(
            f"y must be one column of labels, got {type(y).__name__} ({error}); pass a "
            "list or a one-dimensional array"
        ) from error


def _column_of_frame(y: Any) -> Any:
    """Return the column of a one-column frame; anything else as it is."""
    if isinstance(y, np.ndarray | list | tuple):
        return y  # before narwhals is loaded
    import narwhals.stable.v2 as nw

    frame = nw.from_native(y, pass_through=True)
    if not isinstance(frame, nw.DataFrame):
        return y
    if frame.shape[1] != 1:
        raise InputError(_not_one_column(frame.shape))
    return frame[frame.columns[0]].to_native()


def _count_missing(y: Any) -> int:
    """Count the missing entries of a pandas, polars or Arrow column."""
    if hasattr(y, "isna"):
        return int(y.isna().sum())
    count = getattr(y, "null_count", 0)
    return int(count() if callable(count) else count)


def _one_column(labels: NDArray[Any]) -> NDArray[Any]:
    """Flatten shape (n, 1) to (n,), and refuse anything but one column."""
    if labels.ndim == 2 and labels.shape[1] == 1:
        return labels[:, 0]
    if labels.ndim != 1:
        raise InputError(_not_one_column(labels.shape))
    return labels


def _require_present(labels: NDArray[Any]) -> None:
    """Raise if a label is missing."""
    kind = labels.dtype.kind
    if kind in "fT":  # T: strings of variable width, which may hold NaN
        n_missing = int(np.count_nonzero(np.isnan(labels)))
    elif kind in "mM":
        n_missing = int(np.count_nonzero(np.isnat(labels)))
    elif kind == "O":
        n_missing = sum(map(is_missing, labels)) if _has_missing(labels) else 0
    else:
        return
    if n_missing:
        raise InputError(_missing(n_missing, "missing (NaN, None or NA)"))


def _has_missing(labels: NDArray[Any]) -> bool:
    """Tell whether an object array has a missing entry, at one look a distinct one."""
    try:
        return any(map(is_missing, set(labels.tolist())))
    except TypeError:  # entries that cannot be hashed
        return any(map(is_missing, labels))


def _distinct(labels: NDArray[Any]) -> list[Any]:
    """Return the distinct labels, sorted; two of them are found without a sort."""
    if labels.dtype.kind == "O":
        return sorted_objects(labels)
    first = labels[0]
    differs = labels != first
    at = differs.argmax()
    if not differs[at]:
        return [first]
    other = labels[at]
    if (differs == (labels == other)).all():
        return [first, other] if first < other else [other, first]
    return list(np.unique(labels))


def sorted_objects(labels: NDArray[Any]) -> list[Any]:
    """Return the distinct labels of an object array, sorted."""
    try:
        return sorted(set(labels.tolist()))
    except TypeError:
        kinds = sorted({type(label).__name__ for label in labels.tolist()})
        raise InputError(
            "y must hold labels of one kind that can be sorted, got "
            f"{' and '.join(kinds)}; make them all strings or all numbers"
        ) from None


def classes_of(distinct: list[Any], dtype: np.dtype[Any] | None = None) -> NDArray[Any]:
    """Return the classes as an array that holds exactly these labels."""
    if dtype is not None and dtype.kind != "O":
        return np.array(distinct, dtype=dtype)
    classes = np.array(distinct)
    if classes.tolist() != distinct or classes.dtype.kind == "O":
        classes = np.array(distinct, dtype=object)
    return classes


def _missing(count: int, what: str) -> str:
    """Word the error for missing labels."""
    noun = "label" if count == 1 else "labels"
    return (
        f"y must have a label for every row, got {count} {what} {noun}; drop those "
        "rows from X and y, or give them a class"
    )


def _not_one_column(shape: tuple[int, ...]) -> str:
    """Word the error for labels that are not one column."""
    return (
        "y must be one column of labels, of shape (n,) or (n, 1), got shape "
        f"{shape}; pass one label for every row (for one-hot columns, "
        "y.argmax(axis=1))"
    )


def _too_many_classes(labels: NDArray[Any], distinct: list[Any]) -> str:
    """Word the error for three classes or more."""
    shown = [
        value.item() if isinstance(value, np.generic) else value
        for value in distinct[:5]
    ]
    listed = ", ".join(map(repr, shown)) + (", ..." if len(distinct) > 5 else "")
    advice = (
        'for more classes use linsep.diagnose(X, y, family="multinomial"), or choose '
        "one class against the rest (y == label)"
    )
    if _looks_continuous(distinct):
        advice = (
            "these look like measurements rather than classes: cut them in two first "
            f"(y > threshold); {advice}"
        )
    return (
        f"y must contain exactly two classes, got {len(distinct)} ([{listed}]) in "
        f"{len(labels)} rows; {advice}"
    )


def _looks_continuous(distinct: list[Any]) -> bool:
    """Tell whether the labels are fractions, or more numbers than classes would be."""
    try:
        numbers = [float(value) for value in distinct if not isinstance(value, str)]
    except (TypeError, ValueError):
        return False
    if len(numbers) < len(distinct):
        return False
    fractional = any(value != round(value) for value in numbers if np.isfinite(value))
    return fractional or len(distinct) > _MANY_CLASSES


def require_one_label_a_row(shape: tuple[int, ...], n_labels: int) -> None:
    """Refuse X and y of different lengths."""
    if shape[0] == n_labels:
        return
    advice = "pass one label for every row of X"
    if n_labels == shape[1]:
        advice = "X has one column for every label: pass its transpose X.T"
    raise InputError(
        f"X and y must have the same number of rows, got {shape[0]} rows in X (shape "
        f"{shape}) and {n_labels} labels in y; {advice}"
    )
