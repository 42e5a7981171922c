"""A stream to a problem: signed rows that are read anew for every sweep."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input.arguments import checked_count
from linsep.input.errors import InputError, drop_option
from linsep.input.files.svmlight import SvmlightText
from linsep.input.files.table import (
    FOR_MISSING_VALUES,
    Request,
    Selection,
    missing_counts,
    select_columns,
    without_dates,
)
from linsep.input.levels import Columns, aside_note, coding_note
from linsep.input.problem import Problem, require_a_column
from linsep.input.streams.coding import (
    Coding,
    common_dtype,
    is_date,
    is_number,
    is_text,
)
from linsep.input.streams.sources import Source
from linsep.input.streams.survey import (
    Survey,
    label_codes,
    rows_with_values,
    signs_of,
    survey,
)
from linsep.input.streams.svmlight import svmlight_problem
from linsep.rows.blocks import BlockRows
from linsep.rows.matrix_rows import MatrixRows
from linsep.rows.streamed import StreamedRows
from linsep.rows.threads import one_ahead

# Columns beyond which matrices with texts are sparse.
MOST_DENSE = 64


def problem_of_stream(
    source: Source | SvmlightText,
    request: Request,
    *,
    positive: str | None = None,
    max_memory: int | None = None,
) -> Problem:
    """Return the separation problem of a source, read once for its labels.

    Parameters
    ----------
    source : Source or SvmlightText
    request : Request
        Which columns are wanted, and what to do with rows without a value.
    positive : str or None
        The label, as text, to be told from all others.
    max_memory : int or None
        Bytes that reading may take.
    """
    if max_memory is not None:
        checked_count("max_memory", max_memory)
    if isinstance(source, SvmlightText):
        return svmlight_problem(source, request, positive)
    names, target, notes = selected(source, request)
    drops = request.missing == "drop"
    asked = partial(
        survey,
        source,
        target=target,
        drops=drops,
        max_memory=max_memory,
        is_count=request.is_count,
    )
    found = asked(names)
    aside = found.left_out
    if drops and aside.keys() & found.missing.keys():
        # Rows that lack what is no feature are rows like others.
        again = asked([name for name in names if name not in aside])
        texts = {name: again.texts.get(name, of) for name, of in found.texts.items()}
        found = replace(again, texts=texts)
    classes, signs = signs_of(found, target, positive)
    coding = coding_of(source, names, found, request)
    reading = _Reading(source, coding, target, found, drops, max_memory)
    rows = StreamedRows(
        reading,
        signs,
        len(coding.feature_names),
        request.fit_intercept,
        coding.dtype,
        coding.entries_a_row,
        reading.changed,
        is_kept=source.is_kept,
    )
    return coded_problem(rows, classes, coding, found, notes)


def coded_problem(
    rows: BlockRows,
    classes: NDArray[Any],
    coding: Coding,
    found: Survey,
    notes: Sequence[str],
) -> Problem:
    """Return the problem of rows that are coded as they are read."""
    levels = coding.levels
    told = [of.told(name) for name, of in levels.items()]
    shape = rows.shape[0], len(coding.feature_names)
    require_a_column(shape, rows.fit_intercept)
    if classes.size == 1:  # nothing else would look at the features
        rows.fold(_n_rows, add)
    return Problem(
        rows,
        classes,
        coding.feature_names,
        rows.fit_intercept,
        found.present,
        Columns(coding.names, levels),
        (
            *((coding_note(told),) if told else ()),
            *notes,
            *_left_out(found),
            *(aside_note(name, why) for name, why in found.left_out.items()),
            *(of.told(name) for name, of in coding.texts.items() if name not in levels),
        ),
    )


def _n_rows(start: int, block: MatrixRows) -> int:
    """Count the rows of a block, which were checked as they were read."""
    return int(block.shape[0])


def coding_of(
    source: Source, names: Sequence[str], found: Survey, request: Request
) -> Coding:
    """Say how the features become a matrix."""
    names = [name for name in names if name not in found.left_out]
    texts = found.coded(source.name, request)
    numbers = [source.schema.field(name).type for name in names if name not in texts]
    width = sum(len(of.names(name)) for name, of in texts.items()) + len(numbers)
    is_sparse = width > max(MOST_DENSE, 2 * len(names))
    return Coding(tuple(names), texts, common_dtype(numbers), is_sparse)


def selected(
    source: Source, request: Request
) -> tuple[list[str], str, tuple[str, ...]]:
    """Return the features' names, that of the labels, and what was left out."""
    selection = selected_columns(source, replace(request, labelled=True))
    names = [selection.names[j] for j in selection.features]
    notes = (*source.notes, *selection.notes)
    return names, selection.names[selection.target or 0], notes


def selected_columns(source: Source, request: Request) -> Selection:
    """Find the columns asked for; dates are left out, with a note, or refused.

    So are columns that can be no features.
    """
    selection = select_columns(source.name, source.schema.names, request)
    kinds = [source.schema.field(name).type for name in selection.names]
    dates = [j for j in selection.features if is_date(kinds[j])]
    selection = without_dates(source.name, selection, dates, request)
    for j in selection.features:
        if not (is_number(kinds[j]) or is_text(kinds[j])):
            name = selection.names[j]
            raise InputError(
                f"{source.name}: column {name!r} must hold numbers, true and false, or "
                f"texts, got the type {kinds[j]}; leave it out {drop_option(name)}"
            )
    return selection


def _left_out(found: Survey) -> Sequence[str]:
    """Say how many rows were left out for missing values."""
    if found.present is None:
        return ()
    n_gone = found.n_given - found.present.size
    what = f"{n_gone:,} of {found.n_given:,} rows {FOR_MISSING_VALUES}"
    return (f"{what} ({missing_counts(found.missing)})",)


class _Reading:
    """Reads all features of a source anew, and sees that the labels stayed the same."""

    def __init__(
        self,
        source: Source,
        coding: Coding,
        target: str,
        found: Survey,
        drops: bool,
        max_memory: int | None,
    ) -> None:
        self.source, self.coding, self.target = source, coding, target
        self.found, self.drops, self.max_memory = found, drops, max_memory
        self.is_checked = False

    def __call__(self) -> Generator[Any, None, None]:
        """Yield the features of a batch after the other."""
        codes = self.found.codes
        labels = {label: k for k, label in enumerate(self.found.labels)}
        start = 0
        columns = [*self.coding.names, self.target]
        # Decoded while the one before is coded, and compared with earlier readings.
        batches = self.source.batches(columns, self.max_memory)
        with closing(one_ahead(batches)) as ahead:
            for batch in ahead:
                kept = rows_with_values(batch) if self.drops else None
                if kept is not None:
                    batch = batch.filter(kept)
                stop = start + len(batch)
                column = batch.column(self.target)
                is_count = self.found.is_count
                here = label_codes(column, labels, self.target, start, is_count)
                if not np.array_equal(here, codes[start:stop]):
                    raise self.changed(start)
                if len(batch):
                    yield self.coding.matrix(batch, start, not self.is_checked)
                start = stop
        self.is_checked = start == codes.size

    def changed(self, row: int) -> InputError:
        """Word the error for a source that yields other rows than before."""
        return InputError(
            f"{self.source.name} must yield the same rows in the same order each time "
            f"it is read, got others by row {row}; order the rows (ORDER BY), "
            "or wait until the data are written"
        )
