"""NumPy's .npy and .npz files; pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError, refusing_damage
from linsep.input.exact_numbers import exact_floats, require_finite
from linsep.input.files.table import (
    Request,
    Selection,
    Table,
    select_columns,
    whole_labels,
)
from linsep.input.files.texts import require_bounded
from linsep.input.labels import labels_from
from linsep.rows.mapped import mapped_rows

_WHOLE = (
    "a whole NumPy file of plain arrays",
    "save it again with numpy.save or numpy.savez",
)


def read_npy(path: Path, request: Request) -> Table:
    """Read one matrix; see `linsep.input.files.read_table`, which calls this.

    The matrix stays in the file, memory-mapped, and is read in place where the
    features are one slice of its columns: the labels in the first or last one, and
    nothing dropped in between.
    """
    with refusing_damage(path, *_WHOLE):
        matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    return _from_matrix(path, matrix, request)


def read_npz(path: Path, request: Request) -> Table:
    """Read arrays X and y, or one matrix; see `linsep.input.files.read_table`."""
    with refusing_damage(path, *_WHOLE):
        _require_arrays_only(path)
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive.items())
    label = "y" if request.target is None else request.target
    if label in arrays:
        return _from_arrays(path, arrays, replace(request, target=str(label)))
    matrices = [name for name, array in arrays.items() if array.ndim == 2]
    is_one = len(arrays) == len(matrices) == 1
    if is_one and not (request.labelled and request.target is None):
        return _from_matrix(path, arrays[matrices[0]], request)
    raise InputError(
        f"{path} must hold an array of labels named {str(label)!r} and a matrix X, or "
        f"one matrix with the labels in a column, got {_shapes(arrays)}; name the "
        "array of labels, or the column, as target (--target)"
    )


def _require_arrays_only(path: Path) -> None:
    """Raise if the archive holds anything but arrays, as spreadsheets do."""
    with zipfile.ZipFile(path) as archive:
        others = [n for n in archive.namelist() if not n.endswith(".npy")]
        # No more is read of an entry than is said here.
        require_bounded(path, sum(entry.file_size for entry in archive.infolist()))
    if others:
        raise InputError(
            f"{path} must hold NumPy arrays only, got {others[0]!r} in it; save a "
            "spreadsheet as CSV, and unpack an archive first"
        )


def _from_arrays(
    path: Path, arrays: Mapping[str, NDArray[Any]], request: Request
) -> Table:
    """Take the matrix X, or the only other one, and the labels."""
    label = str(request.target)
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
    return _table(X, y, select_columns(path, names, request), request)


def _from_matrix(path: Path, matrix: NDArray[Any], request: Request) -> Table:
    """Take the labels from a column of the matrix."""
    if matrix.ndim != 2:
        raise InputError(
            f"{path} must hold a matrix (rows, columns), got shape {matrix.shape}"
            f"{' of records' if matrix.dtype.names else ''}; save a plain matrix, or "
            "numpy.savez(path, X=X, y=y)"
        )
    names = [f"x{j}" for j in range(matrix.shape[1])]
    selection = select_columns(path, names, request)
    y = None
    if selection.target is not None:
        column = mapped_rows(matrix)[:, selection.target]
        y = whole_labels(labels_from(column))
    note = "the columns are named x0, x1, ... in their order"
    return _table(matrix, y, selection, request, note)


def _table(
    matrix: NDArray[Any],
    y: NDArray[Any] | None,
    selection: Selection,
    request: Request,
    *notes: str,
) -> Table:
    """Make the table of some columns of a matrix, without a copy if they adjoin."""
    features = list(selection.features)
    if features and features == list(range(features[0], features[-1] + 1)):
        X = matrix[:, features[0] : features[-1] + 1]
    else:
        X = matrix[:, features]
    X = exact_floats(X, "X")
    names = tuple(selection.names[j] for j in features)
    notes = (*notes, *selection.notes)
    table = Table(X, y, names, selection.target_name, columns=names, notes=notes)
    if request.missing == "drop":
        table = table.without_rows(np.asarray(np.isnan(X).any(axis=1)))
    require_finite(mapped_rows(np.asarray(table.X)), names)
    return table


def _shapes(arrays: Mapping[str, NDArray[Any]]) -> str:
    """List the arrays with their shapes."""
    found = ", ".join(f"{name} {a.shape}" for name, a in list(arrays.items())[:10])
    return found or "no arrays"
