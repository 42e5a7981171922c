"""Columns of numbers and of text, piece by piece, to one matrix and its labels."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from linsep.arrays import Index, Reals
from linsep.input.coded_matrix import CodedColumn, coded_matrix
from linsep.input.errors import InputError, drop_option
from linsep.input.files.table import (
    FOR_MISSING_VALUES,
    Request,
    Selection,
    Table,
    missing_counts,
    whole_labels,
)
from linsep.input.growing_matrix import GrowingMatrix
from linsep.input.levels import (
    FEW_ROWS,
    Levels,
    Truths,
    aside_note,
    coding_of_texts,
    most_levels,
    unknown_levels,
)
from linsep.input.text_column import MISSING, TextColumn
from linsep.rows import split
from linsep.rows.mapped import mapped_rows

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class TableBuilder:
    """Gathers pieces of a file or a frame, some rows at a time, and makes the table.

    Memory is that of the table and of one piece: numbers are kept as they will be
    used, many of them in a file, text as one small integer a cell.

    Parameters
    ----------
    source : path or str
        What the data are called in messages.
    selection : Selection
    text : set of int
        The positions of the columns of text.
    n_rows : int
        How many rows will come.
    place : callable, int -> str
        Says where in the source a row (counted from 0) is.
    request : Request
    dtype : dtype
        Of the matrix.
    is_frame : bool
        Whether the source is a frame, in which texts such as NA are values.
    """

    def __init__(
        self,
        source: PathLike[str] | str,
        selection: Selection,
        *,
        text: frozenset[int],
        n_rows: int,
        place: Callable[[int], str],
        request: Request,
        dtype: DTypeLike = np.float64,
        is_frame: bool = False,
    ) -> None:
        self._source = source
        self._selection = selection
        self._place = place
        self._request = request
        self._dtype = np.dtype(dtype)
        self._is_frame = is_frame
        self._numeric = [j for j in selection.features if j not in text]
        for name in (selection.names[j] for j in self._numeric):
            if name in request.levels:
                raise InputError(
                    f"{source} must hold texts in the column {name!r}, as when the "
                    "model was fitted, got other values; correct them"
                )
        missing = frozenset[str]() if is_frame else MISSING
        self._texts = {j: TextColumn(missing) for j in selection.positions if j in text}
        # Numbers alone are put where they will be used. Beside 0/1 columns they wait in
        # a file, or in blocks, each let go of as it is copied.
        self._in_memory = is_frame or request.in_memory
        self._numbers: GrowingMatrix | None = GrowingMatrix(
            n_rows, len(self._numeric), self._dtype, in_memory=self._in_memory
        )
        self._is_coded = len(self._numeric) < len(selection.features)
        if self._is_coded and not self._numbers.is_in_file:
            self._numbers = None
        self._blocks: deque[Reals] = deque()
        self._labels = np.empty(n_rows)
        self._n_rows = n_rows
        self._most_levels = most_levels(n_rows)
        self._n_added = 0
        self._missing: dict[int, list[Index]] = {}
        # Levels of a column that all have columns of their own stand for it.
        self._has_constant = request.fit_intercept

    def add(
        self, numbers: NDArray[Any], texts: Mapping[int, Sequence[str | None]]
    ) -> None:
        """Append some rows; refuse an infinite value, or a text of too many levels.

        The columns of numbers come in the order of the selection, shape (m, n_numbers),
        missing ones NaN; those of text as their cells, for each position.
        """
        rows = slice(self._n_added, self._n_added + len(numbers))
        if rows.stop > self._n_rows:
            raise InputError(self._changed())
        if not np.isfinite(numbers).all():
            self._note_missing(numbers)
        features = numbers[:, : len(self._numeric)]
        if self._numbers is not None:
            self._numbers.append(features)
        else:
            self._blocks.append(features.astype(self._dtype))
        target = self._selection.target
        if target is not None and target not in self._texts:
            self._labels[rows] = numbers[:, -1]
        for j, column in self._texts.items():
            if column.aside is not None:
                continue
            self.note_absent(j, self._n_added + column.add(texts[j]))
            if j != target and column.holds_too_much(self._most_levels):
                self._require_category(j)
        self._n_added += len(numbers)

    def finish(self, notes: Sequence[str] = ()) -> Table:
        """Return the table of the rows added."""
        if self._n_rows == 0:
            raise InputError(
                f"{self._source} must have at least one row of values, got none"
            )
        if self._n_added < self._n_rows and self._selection.positions:
            raise InputError(self._changed())
        left_out = self._set_aside()
        kept, missing_note = self._rows_kept(left_out)
        encoded = {
            j: self._encode(j, kept)
            for j in self._selection.features
            if j not in left_out
        }
        levels = {j: of for j, (_, of, _) in encoded.items() if isinstance(of, Levels)}
        names = self._selection.names
        X = self._matrix([column for column, _, _ in encoded.values()], kept)
        feature_names = tuple(
            n for column, _, _ in encoded.values() for n in column.names
        )
        return Table(
            X=X,
            y=self._finish_labels(kept),
            feature_names=feature_names,
            target=self._selection.target_name,
            levels={names[j]: of for j, of in levels.items()},
            codes={names[j]: encoded[j][2] for j in levels},
            columns=tuple(names[j] for j in encoded),
            rows=kept,
            n_rows=self._n_rows,
            notes=(
                *notes,
                *missing_note,
                *self._selection.notes,
                *(
                    aside_note(names[j], column.aside or "")
                    for j, column in self._texts.items()
                    if j in left_out
                ),
                *(
                    of.told(names[j])
                    for j, (_, of, _) in encoded.items()
                    if isinstance(of, Truths)
                ),
                *_doubtful_numbers(X, feature_names),
            ),
        )

    def note_absent(self, position: int, rows: Index) -> None:
        """Keep that rows have no value in a column that is not among those added."""
        if rows.size:
            self._missing.setdefault(position, []).append(rows)

    def _note_missing(self, numbers: NDArray[Any]) -> None:
        """Keep which numbers are missing; refuse an infinite one."""
        position = [j for j in self._selection.positions if j not in self._texts]
        if np.isinf(numbers).any():
            row, k = np.argwhere(np.isinf(numbers))[0]
            raise InputError(
                f"{self._cell(self._n_added + int(row), position[k])} must be a finite "
                f"number, got {numbers[row, k]} (the largest double is about 1.8e308); "
                f"correct it, or {self._leave_out(position[k])}"
            )
        for k, j in enumerate(position):
            absent = np.flatnonzero(np.isnan(numbers[:, k]))
            self.note_absent(j, self._n_added + absent)

    def _set_aside(self) -> set[int]:
        """Return the columns of dates and of names; refuse those asked for."""
        left_out = set()
        for j, column in self._texts.items():
            name = self._selection.names[j]
            if j == self._selection.target or name in self._request.levels:
                continue
            column.settle()
            if column.aside is None:
                continue
            if self._request.columns is not None:
                raise InputError(
                    f"{self._source}: column {name!r} must hold numbers or a few "
                    f"categories, but it {column.aside}; {self._leave_out(j)}"
                )
            left_out.add(j)
        return left_out

    def _rows_kept(self, left_out: set[int]) -> tuple[Index | None, tuple[str, ...]]:
        """Return the rows without missing values, None for all, and what to say."""
        missing = {
            j: np.concatenate(pieces)
            for j, pieces in self._missing.items()
            if j not in left_out
        }
        if not missing:
            return None, ()
        is_gone = np.zeros(self._n_rows, dtype=bool)
        for rows in missing.values():
            is_gone[rows] = True
        n_gone = int(np.count_nonzero(is_gone))
        names = self._selection.names
        counts = missing_counts({names[j]: missing[j].size for j in sorted(missing)})
        what = f"{n_gone:,} of {self._n_rows:,} rows"
        if self._request.missing == "drop":
            if n_gone == self._n_rows:
                raise InputError(
                    f"{self._source} must have a row without missing values, got none "
                    f"in {n_gone:,} rows (values missing: {counts}); leave columns out"
                )
            note = f"{what} {FOR_MISSING_VALUES} ({counts})"
            return np.flatnonzero(~is_gone), (note,)
        j = min(missing, key=lambda j: (missing[j][0], j))
        most = min(missing, key=lambda j: (-missing[j].size, j))
        text = self._texts[j].absent_text if j in self._texts else None
        got = f"{text!r}, which stands for none" if text else "none"
        drop = f'missing="drop"{"" if self._is_frame else " (--missing drop)"}'
        drop = "" if self._request.needs_all else f"leave the rows out with {drop}, "
        raise InputError(
            f"{self._cell(int(missing[j][0]), j)} must hold a value, got {got}, as in "
            f"{what} (values missing: {counts}); fill them in, {drop}or "
            f"{self._leave_out(most)}"
        )

    def _encode(
        self, j: int, kept: Index | None
    ) -> tuple[CodedColumn, Levels | Truths | None, Any]:
        """Say which columns of the matrix a column becomes, by which levels, codes."""
        name = self._selection.names[j]
        if j not in self._texts:
            return CodedColumn((name,)), None, None
        levels, codes = self._texts[j].coded()
        codes = codes[_chosen(kept)]
        known = self._request.levels.get(name) or self._coding(j, levels, codes, kept)
        odd = sorted(set(levels) - set(known.levels))
        if self._request.levels and odd:
            raise unknown_levels(name, known.levels, odd)
        column = CodedColumn(known.names(name), _places(levels, known.places)[codes])
        number_of = {level: k for k, level in enumerate(known.levels)}
        return column, known, _places(levels, number_of)[codes]

    def _coding(
        self, j: int, levels: Sequence[str], codes: Index, kept: Index | None
    ) -> Levels | Truths:
        """Say what a column of text becomes, by the rows present."""
        self._require_category(j)
        present = self._request.present
        if present is not None:
            if present.size != self._n_rows:
                raise InputError(
                    f"sample_weight must have one number for each of the "
                    f"{self._n_rows} rows, got {present.size}"
                )
            codes = codes[present[_chosen(kept)]]
        sizes = np.bincount(codes, minlength=len(levels))
        found = coding_of_texts(levels, sizes, not self._has_constant)
        self._has_constant |= isinstance(found, Levels)
        return found

    def _matrix(
        self, columns: Sequence[CodedColumn], kept: Index | None
    ) -> Reals | csr_array:
        """Fill the matrix."""
        numbers = None if self._numbers is None else self._numbers.matrix(kept)
        if numbers is not None and not self._is_coded:
            return numbers
        n_rows = self._n_rows if kept is None else kept.size
        return coded_matrix(
            columns,
            self._pieces(numbers, kept),
            n_rows,
            self._dtype,
            in_memory=self._in_memory,
        )

    def _pieces(self, numbers: Reals | None, kept: Index | None) -> Iterator[Reals]:
        """Yield the numbers some rows at a time, letting go of each piece."""
        if numbers is not None:
            X = mapped_rows(numbers)
            yield from (X[start:stop] for start, stop in split(*X.shape))
            return
        if kept is not None:
            self._blocks = deque([np.concatenate(self._blocks)[kept]])
        while self._blocks:
            yield self._blocks.popleft()

    def _finish_labels(self, kept: Index | None) -> NDArray[Any] | None:
        """Return the labels: texts, integers if all are whole, or floats."""
        target = self._selection.target
        if target is None:
            return None
        if target in self._texts:
            levels, codes = self._texts[target].coded()
            return np.asarray(np.array(levels)[codes[_chosen(kept)]])
        return whole_labels(self._labels[_chosen(kept)])

    def _changed(self) -> str:
        """Word the error for a file that is being written to."""
        return (
            f"{self._source} must stay as it is while it is read, got another number "
            "of rows the second time; wait until it is written"
        )

    def _cell(self, row: int, j: int) -> str:
        """Name a cell; `row` counts from the start."""
        name = self._selection.names[j]
        return f"{self._source}: column {name!r}, {self._place(row)},"

    def _leave_out(self, j: int) -> str:
        """Say how to leave a column out."""
        name = self._selection.names[j]
        if j == self._selection.target or self._request.needs_all:
            return "remove the rows"
        if self._is_frame:
            return f"leave the column {name!r} out"
        return f"leave the column out with drop=[{name!r}] {drop_option(name)}"

    def _require_category(self, j: int) -> None:
        """Refuse a column of text that is no category."""
        texts = self._texts[j]
        texts.require_category(
            f"{self._source}: column {self._selection.names[j]!r}",
            self._most_levels,
            self._request.decimal,
            self._leave_out(j),
            lambda level: f" ({self._place(texts.row_of(level))})",
        )


def _chosen(kept: Index | None) -> Any:
    """Return what takes the rows kept out of an array: all of them for None."""
    return slice(None) if kept is None else kept


def _places(levels: Sequence[str], place_of: Mapping[str, int]) -> Index:
    """Return the place of each level, -1 if it has none."""
    return np.array([place_of.get(level, -1) for level in levels], dtype=np.intp)


def _doubtful_numbers(X: Reals | csr_array, names: Sequence[str]) -> Iterator[str]:
    """Yield a sentence for each column that looks like an identifier."""
    if not isinstance(X, np.ndarray) or len(X) < FEW_ROWS:
        return
    X = mapped_rows(X)
    counts = X[1] == X[0] + 1
    counts &= X[-1] == X[0] + len(X) - 1
    for j in map(int, np.flatnonzero(counts)):
        if np.array_equal(X[:, j], X[0, j] + np.arange(len(X))):
            yield (
                f"column {names[j]!r} counts the rows ({X[0, j]:g}, {X[1, j]:g}, ...): "
                "if it is no measurement, leave it out"
            )
    for j in map(int, np.flatnonzero((X[0] > 2.0**53) | (X[-1] > 2.0**53))):
        yield (
            f"column {names[j]!r} holds numbers beyond 2^53, where doubles skip "
            "integers: each was read as the nearest double"
        )
