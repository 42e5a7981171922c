"""svmlight / libsvm text: ``label index:value index:value ...``, one row a line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats
from linsep.input.errors import InputError
from linsep.input.files.table import Request, Table, whole_labels
from linsep.input.files.texts import bounded_lines, open_bytes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# One line with a huge index would ask for vectors of that length. The widest sets of
# text in public use that are read this way have about three million columns.
_MOST_COLUMNS = 2**22
# Parts of the memory that the text of one batch may take: it is parsed, and scanned
# while another is read.
PARTS = 20

SUFFIXES = {".svm", ".svmlight", ".libsvm"}


def read_svmlight(path: Path, request: Request) -> Table:
    """Read svmlight text; see `linsep.input.files.read_table`, which calls this.

    Columns are named by their index in the file. They are counted from 1 unless some
    row has the index 0, as scikit-learn does.
    """
    checked_request(request)
    with open_bytes(path) as binary:
        X, y = parsed_lines(bounded_lines(binary, path), path)
    if X.shape[0] == 0:
        raise InputError(f"{path} must have at least one row, got none")
    first = 0 if X.nnz == 0 or X.indices.min() == 0 else 1
    numbers = list(range(first, X.shape[1]))
    if request.columns is not None:
        numbers = _indices(path, request.columns)
    return Table(
        X=_columns(X, numbers),
        y=whole_labels(y),
        feature_names=tuple(map(str, numbers)),
        target="label",
        notes=(f"columns are numbered from {first}, as in the file",),
    )


@dataclass(frozen=True)
class SvmlightText:
    """A large file of svmlight text, read in batches.

    Attributes
    ----------
    path : Path
    memory : int
        Bytes that reading may take.
    """

    path: Path
    memory: int

    @property
    def name(self) -> str:
        """What the data are called in messages."""
        return str(self.path)

    def batches(self, n_features: int | None = None) -> Iterator[tuple[Any, Any]]:
        """Yield matrices that begin with the column of index 0, and their labels."""
        with open_bytes(self.path) as stream:
            lines: list[bytes] = []
            size, first = 0, 0
            for line in bounded_lines(stream, self.path):
                lines.append(line)
                size += len(line)
                if size * PARTS >= self.memory:
                    yield parsed_lines(lines, self.path, first, n_features)
                    first += len(lines)
                    lines, size = [], 0
            if lines:
                yield parsed_lines(lines, self.path, first, n_features)

    def columns(self, columns: Sequence[str]) -> Iterator[csr_array]:
        """Yield matrices of these columns alone, called by their indices."""
        numbers = _indices(self.path, columns)
        for X, _ in self.batches():
            yield _columns(X, numbers)


def checked_request(request: Request) -> None:
    """Refuse what does not go with svmlight text."""
    if request.target not in (None, "label"):
        raise InputError(
            f"target must be left out for svmlight text, whose labels come first on "
            f"each line, got {request.target!r}; leave it out, or give the file the "
            "extension .csv if it is delimited text"
        )
    if request.drop:
        raise InputError(
            f"drop must be empty for svmlight text, which has no named columns, got "
            f"{list(request.drop)}; take their entries out of the file"
        )


def parsed_lines(
    lines: Iterable[bytes], path: Path, first: int = 0, n_features: int | None = None
) -> tuple[Any, Floats]:
    """Parse lines, the first of which comes after so many others.

    Returns a CSR matrix whose first column is that of index 0, and the labels.
    """
    from sklearn.datasets import load_svmlight_file

    counted = _CountedLines(lines, first)
    try:
        X, y = load_svmlight_file(counted, n_features=n_features, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise InputError(
            f"{path}: every line must read 'label index:value index:value ...', "
            f"numbers only, indices rising, got trouble on line {counted.line}: "
            f"{error}; correct the line"
        ) from None
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
    return X, y


def _columns(X: Any, numbers: Sequence[int]) -> csr_array:
    """Return some columns of a matrix whose first is that of index 0."""
    from scipy.sparse import csr_array

    # What a row does not mention is zero in it, and so is a column in all of them.
    X.resize(X.shape[0], max(X.shape[1], *numbers, 0) + 1)
    return csr_array(X[:, list(numbers)])


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
    """Lines as scikit-learn's parser reads them, that know the one they are at."""

    def __init__(self, lines: Iterable[bytes], first: int) -> None:
        self.line, self._lines = first, lines

    def read(self) -> bytes:
        """Be called a file: the parser looks for this, and iterates."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[bytes]:
        for text in self._lines:
            self.line += 1
            yield text
