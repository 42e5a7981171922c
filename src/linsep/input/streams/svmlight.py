"""svmlight text that is larger than reading may take: parsed anew for every sweep."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.errors import InputError
from linsep.input.files.svmlight import SvmlightText, checked_request
from linsep.input.files.table import Request, whole_labels
from linsep.input.labels import are_positive
from linsep.input.levels import Columns
from linsep.input.problem import Problem
from linsep.input.streams.survey import Survey, signs_of
from linsep.rows.streamed import StreamedRows


def svmlight_problem(
    text: SvmlightText, request: Request, positive: str | None = None
) -> Problem:
    """Return the separation problem, after one reading for labels and columns."""
    checked_request(request)
    labels, n_rows, n_entries, d, least = [], 0, 0, 0, 1
    for X, y in text.batches():
        labels.append(y)
        n_rows, n_entries = n_rows + X.shape[0], n_entries + X.nnz
        d = max(d, X.shape[1])
        least = min(least, int(X.indices.min(initial=1)))
    if n_rows == 0:
        raise InputError(f"{text.path} must have at least one row, got none")
    y = whole_labels(np.concatenate(labels))
    values = are_positive(y).astype(int) if request.is_count else y
    different, codes = np.unique(values, return_inverse=True)
    found = Survey(
        different.tolist(), codes, n_rows, None, {}, Counter(), request.is_count
    )
    classes, signs = signs_of(found, "label", positive)
    numbers = tuple(map(str, range(least, d)))
    reading = _Reading(text, y, least, max(d, 1))
    rows = StreamedRows(
        reading,
        signs,
        len(numbers),
        request.fit_intercept,
        np.dtype(np.float64),
        n_entries // n_rows + 2,
        reading.changed,
    )
    note = f"columns are numbered from {least}, as in the file"
    problem = Problem(rows, classes, numbers, request.fit_intercept)
    return replace(problem, columns=Columns(numbers, {}), notes=(note,))


@dataclass(frozen=True)
class _Reading:
    """Reads all features anew, and sees that the labels stayed the same."""

    text: SvmlightText
    labels: NDArray[Any]
    least: int
    d: int

    def __call__(self) -> Generator[Any, None, None]:
        """Yield a matrix after the other."""
        start = 0
        for X, y in self.text.batches(self.d):
            if not len(y):  # comments alone
                continue
            stop = start + len(y)
            if not np.array_equal(y, self.labels[start:stop]):
                raise self.changed(start)
            yield X[:, self.least :]
            start = stop

    def changed(self, row: int) -> InputError:
        """Word the error for a text that holds other rows than before."""
        return InputError(
            f"{self.text.path} must hold the same rows each time it is read, got "
            f"others by row {row}; wait until it is written"
        )
