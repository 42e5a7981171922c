"""svmlight / libsvm text: ``label index:value index:value ...``, one row a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np

from linsep.input.errors import InputError
from linsep.input.files.table import Request, Table, whole_labels
from linsep.input.files.texts import bounded_lines, open_bytes

# One line with a huge index would ask for vectors of that length. The widest sets of
# text in public use that are read this way have about three million columns.
_MOST_COLUMNS = 2**22


def read_svmlight(path: Path, request: Request) -> Table:
    """Read svmlight text; see `linsep.input.files.read_table`, which calls this.

    Columns are named by their index in the file. They are counted from 1 unless some
    row has the index 0, as scikit-learn does.
    """
    from scipy.sparse import csr_array
    from sklearn.datasets import load_svmlight_file

    if request.target not in (None, "label"):
        raise InputError(
            f"target must be left out for svmlight text, whose labels come first on "
            f"each line, got {request.target!r}; leave it out, or give the file the "
            "extension .csv if it is delimited text"
        )
    if request.drop:
        raise InputError(
            f"drop must be empty for svmlight text, which has no named columns, got "
            f"{list(request.drop)}"
        )
    with open_bytes(path) as binary:
        stream = _CountedLines(binary, path)
        try:
            X, y = load_svmlight_file(stream, zero_based=True)
        except (ValueError, OverflowError) as error:
            raise InputError(
                f"{path}: every line must read 'label index:value index:value ...', "
                f"numbers only, indices rising, got trouble on line {stream.line}: "
                f"{error}; correct the line"
            ) from None
    if X.shape[0] == 0:
        raise InputError(f"{path} must have at least one row, got none")
    if X.shape[1] > _MOST_COLUMNS:
        raise InputError(
            f"{path}: indices must be below {_MOST_COLUMNS}, got {X.shape[1] - 1}; "
            "renumber the columns, or build a scipy.sparse matrix and pass that"
        )
    for values, what in ((X.data, "value"), (y, "label")):
        if not np.isfinite(values).all():
            raise InputError(
                f"{path}: every {what} must be finite, got "
                f"{values[~np.isfinite(values)][0]}; correct it or remove its row"
            )
    first = 0 if X.nnz == 0 or X.indices.min() == 0 else 1
    numbers = list(range(first, X.shape[1]))
    if request.columns is not None:
        numbers = _indices(path, request.columns)
        # What a row does not mention is zero in it, and so is a column in all of them.
        X.resize(X.shape[0], max(X.shape[1], *numbers, 0) + 1)
    return Table(
        X=csr_array(X[:, numbers]),
        y=whole_labels(y),
        feature_names=tuple(map(str, numbers)),
        target="label",
        notes=(f"columns are numbered from {first}, as in the file",),
    )


def _indices(path: Path, columns: Sequence[str | int]) -> list[int]:
    """Return the indices that columns are called by in the file."""
    try:
        numbers = [int(column) for column in columns]
    except ValueError:
        numbers = [-1]
    if not all(0 <= number < _MOST_COLUMNS for number in numbers):
        raise InputError(
            f"columns must be indices for svmlight text, as {path} is, got "
            f"{list(columns)[:8]}"
        )
    return numbers


class _CountedLines:
    """A stream as scikit-learn's parser reads it, that knows the line it is at."""

    def __init__(self, binary: BinaryIO, path: Path) -> None:
        self.read = binary.read  # the parser looks for it, and iterates
        self.line = 0
        self._lines = bounded_lines(binary, path)

    def __iter__(self) -> Iterator[bytes]:
        for text in self._lines:
            self.line += 1
            yield text
