"""NumPy's .npy and .npz files; pickled objects are never loaded."""

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError
from linsep.input.exact_numbers import exact_floats, require_finite
from linsep.input.files.damage import refusing_damage
from linsep.input.files.table import Table, select_columns, whole_labels
from linsep.input.labels import labels_from

__all__ = ["read_npy", "read_npz"]

_WHOLE = (
    "a whole NumPy file of plain arrays",
    "save it again with numpy.save or numpy.savez",
)


def read_npy(
    path: Path, target: str | int | None, drop: Sequence[str | int] = ()
) -> Table:
    """Read one matrix; see `linsep.input.files.read_table`, which calls this.

    The matrix stays in the file, memory-mapped, and is read in place where the
    features are one slice of its columns: the labels in the first or last one, and
    nothing dropped in between.
    """
    with refusing_damage(path, *_WHOLE):
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    return _from_matrix(path, matrix, target, drop)


def read_npz(
    path: Path, target: str | int | None, drop: Sequence[str | int] = ()
) -> Table:
    """Read arrays X and y, or one matrix; see `linsep.input.files.read_table`."""
    with refusing_damage(path, *_WHOLE):
        _require_arrays_only(path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive.items())
    label = "y" if target is None else target
    if label in arrays:
        return _from_arrays(path, arrays, str(label), drop)
    matrices = [a for a in arrays.values() if a.ndim == 2]
    if len(arrays) == len(matrices) == 1 and target is not None:
        return _from_matrix(path, matrices[0], target, drop)
    raise InputError(
        f"{path} must hold an array of labels named {str(label)!r} and a matrix X, or "
        f"one matrix with the labels in a column, got {_shapes(arrays)}; name the "
        "array of labels, or the column, as target (--target)"
    )


def _require_arrays_only(path: Path) -> None:
    """Raise if the archive holds anything but arrays, as spreadsheets do."""
    with zipfile.ZipFile(path) as archive:
        others = [n for n in archive.namelist() if not n.endswith(".npy")]
    if others:
        raise InputError(
            f"{path} must hold NumPy arrays only, got {others[0]!r} in it; save a "
            "spreadsheet as CSV, and unpack an archive first"
        )


def _from_arrays(
    path: Path,
    arrays: Mapping[str, NDArray[Any]],
    label: str,
    drop: Sequence[str | int],
) -> Table:
    """Take the matrix X, or the only other one, and the labels."""
    others = [n for n, a in arrays.items() if a.ndim == 2 and n != label]
    name = "X" if "X" in others else others[0] if len(others) == 1 else None
    if name is None:
        raise InputError(
            f"{path} must hold one matrix beside the labels {label!r}, or one named X, "
            f"got {_shapes(arrays)}; save it with numpy.savez(path, X=X, y=y)"
        )
    X, y = arrays[name], labels_from(arrays[label])
    if len(X) != len(y):
        raise InputError(
            f"{path}: {name} and {label} must have the same number of rows, got "
            f"{len(X)} and {len(y)}"
        )
    # The labels count as one more column here, which cannot be dropped.
    names = [*(f"x{j}" for j in range(X.shape[1])), label]
    selection = select_columns(path, names, label, drop)
    return _table(X, y, selection.features, names, label, selection.notes)


def _from_matrix(
    path: Path,
    matrix: NDArray[Any],
    target: str | int | None,
    drop: Sequence[str | int],
) -> Table:
    """Take the labels from a column of the matrix."""
    if matrix.ndim != 2:
        raise InputError(
            f"{path} must hold a matrix (rows, columns), got shape {matrix.shape}"
            f"{' of records' if matrix.dtype.names else ''}; save a plain matrix, or "
            "numpy.savez(path, X=X, y=y)"
        )
    names = [f"x{j}" for j in range(matrix.shape[1])]
    selection = select_columns(path, names, target, drop)
    note = "the columns are named x0, x1, ... in their order"
    return _table(
        matrix,
        whole_labels(labels_from(matrix[:, selection.target])),
        selection.features,
        names,
        names[selection.target],
        (note, *selection.notes),
    )


def _table(
    matrix: NDArray[Any],
    y: NDArray[Any],
    features: Sequence[int],
    names: Sequence[str],
    target: str,
    notes: Sequence[str],
) -> Table:
    """Make the table of some columns of a matrix, without a copy if they adjoin."""
    if list(features) == list(range(matrix.shape[1])):
        X = matrix
    elif features and list(features) == list(range(features[0], features[-1] + 1)):
        X = matrix[:, features[0] : features[-1] + 1]
    else:
        X = matrix[:, list(features)]
    X = exact_floats(X, "X")
    chosen = tuple(names[j] for j in features)
    require_finite(X, chosen)
    return Table(X, y, chosen, target, notes=tuple(notes))


def _shapes(arrays: Mapping[str, NDArray[Any]]) -> str:
    """List the arrays with their shapes."""
    found = ", ".join(f"{name} {a.shape}" for name, a in list(arrays.items())[:10])
    return found or "no arrays"
