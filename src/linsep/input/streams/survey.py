"""The first reading of a stream: labels, levels of texts, rows without a value.

Only columns that must be looked at are read: the labels and the texts, and all where
rows without a value are to be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Signs
from linsep.input.errors import InputError
from linsep.input.files.table import whole_labels
from linsep.input.files.text_column import (
    MOST_NAMES,
    are_truths,
    in_order,
    name_rows,
    why_aside,
    written_with_commas,
)
from linsep.input.labels import are_positive, signs_from, signs_of_counts
from linsep.input.levels import Levels, most_levels
from linsep.input.streams.coding import absent, codes_of, is_text
from linsep.input.streams.sources import Source

# Different values of a text that are looked at, whatever the number of rows.
MOST_TEXTS = 1_000_000
# Different labels that are told apart before they are refused.
MOST_LABELS = 1_000


@dataclass(frozen=True)
class Survey:
    """What the first reading found.

    Attributes
    ----------
    labels : list
        The different labels.
    codes : ndarray of shape (n,), int
        Which of them each row present has.
    n_given : int
        Rows of the source.
    present : ndarray of int, or None
        The numbers of the rows present, where some were left out.
    counts : dict of str to Counter
        How often each text occurs, by column.
    missing : Counter
        How many rows lack a value, by column.
    is_count : bool
        Whether the labels tell counts that are zero, 0, from others, 1.
    aside : dict of str to str
        Columns whose texts were so many that they were not counted to the end, and why
        they are no features.
    absent : dict of str to InputError
        For texts of which some row has none.
    """

    labels: list[Any]
    codes: NDArray[np.signedinteger[Any]]
    n_given: int
    present: Index | None
    counts: dict[str, Counter[str]]
    missing: Counter[str]
    is_count: bool = False
    aside: dict[str, str] = field(default_factory=dict)
    absent: dict[str, InputError] = field(default_factory=dict)

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The columns of text that are no features, dates and names of rows, and why.

        As for files and frames. What lacks a value in another column is refused.
        """
        why = {
            name: why_aside(list(sizes), sizes.total())
            for name, sizes in self.counts.items()
        }
        found = self.aside | {name: text for name, text in why.items() if text}
        for name, error in self.absent.items():
            if name not in found:
                raise error
        return found

    @cached_property
    def truths(self) -> dict[str, tuple[str, ...]]:
        """The columns of text that hold true and false, and how they spell them."""
        return {
            name: tuple(sizes)
            for name, sizes in self.counts.items()
            if name not in self.left_out and are_truths(sizes)
        }

    def levels(self, fit_intercept: bool) -> dict[str, Levels]:
        """Choose the references: the commonest levels, as for files and frames.

        Without an intercept all levels of the first text have columns.
        """
        found: dict[str, Levels] = {}
        for name, sizes in self.counts.items():
            if name in self.left_out or name in self.truths:
                continue
            every = list(sizes)
            is_mistyped = name_rows(len(every), sizes.total())
            if is_mistyped or len(every) > most_levels(self.codes.size):
                raise InputError(_too_many(name, len(every)))
            if written_with_commas(every):
                raise InputError(_commas(name, every[0]))
            levels = tuple(every[k] for k in in_order(every))
            is_whole = not found and not fit_intercept
            commonest = levels[int(np.argmax([sizes[level] for level in levels]))]
            found[name] = Levels(levels, None if is_whole else commonest)
        return found

    @classmethod
    def merged(cls, parts: Sequence[Survey]) -> Survey:
        """Put the surveys of parts together, none of which left rows out."""
        labels: dict[Any, int] = {}
        codes, counts = [], {name: Counter[str]() for name in parts[0].counts}
        aside: dict[str, str] = {}
        absent: dict[str, InputError] = {}
        for part in parts:
            for label in part.labels:
                labels.setdefault(label, len(labels))
            numbers = np.array([labels[x] for x in part.labels], dtype=np.int16)
            codes.append(numbers[part.codes])
            for name, sizes in part.counts.items():
                counts[name].update(sizes)
            aside, absent = part.aside | aside, part.absent | absent
        every, n_given = np.concatenate(codes), sum(part.n_given for part in parts)
        is_count = parts[0].is_count
        given = list(labels), every, n_given, None, counts, Counter[str]()
        return cls(*given, is_count, aside, absent)


def survey(
    source: Source,
    features: Sequence[str],
    target: str,
    *,
    drops: bool = False,
    max_memory: int | None = None,
    is_count: bool = False,
) -> Survey:
    """Read the source for the first time.

    Parameters
    ----------
    source : Source
    features : sequence of str
        The columns of the features.
    target : str
        The column of the labels.
    drops : bool
        Whether rows without a value are left out; else they are refused.
    max_memory : int or None
    is_count : bool
        Whether the labels are counts, of which matters whether they are zero.
    """
    texts = [name for name in features if is_text(source.schema.field(name).type)]
    columns = [*(features if drops else texts), target]
    labels: dict[Any, int] = {}
    counts: dict[str, Counter[str]] = {name: Counter() for name in texts}
    aside: dict[str, str] = {}
    lacking: dict[str, InputError] = {}
    codes, present, missing = [], [], Counter[str]()
    n_given = 0
    for batch in source.batches(columns, max_memory):
        first = n_given
        n_given += len(batch)
        if drops:
            kept = rows_with_values(batch, missing)
            if kept is not None:
                batch = batch.filter(kept)
                present.append(first + np.flatnonzero(kept.to_numpy(False)))
            else:
                present.append(np.arange(first, n_given))
        column = batch.column(target)
        codes.append(label_codes(column, labels, target, first, is_count))
        for name in texts:
            if name in aside:
                continue
            found, values = codes_of(batch.column(name))
            if (found < 0).any():
                lacking.setdefault(name, absent(name, first, found < 0))
            sizes = np.bincount(found[found >= 0], minlength=len(values)).tolist()
            counts[name].update(
                {value: size for value, size in zip(values, sizes, strict=True) if size}
            )
            n_texts = len(counts[name])
            if n_texts > MOST_NAMES:
                why = why_aside(list(counts[name]), counts[name].total())
                if why is not None:
                    aside[name], counts[name] = why, Counter()
                elif n_texts > MOST_TEXTS:
                    raise InputError(_too_many(name, n_texts))
    every = np.concatenate(codes) if codes else np.empty(0, dtype=np.int16)
    is_all = every.size == n_given
    return Survey(
        list(labels),
        every,
        n_given,
        None if is_all else np.concatenate(present),
        counts,
        missing,
        is_count,
        aside,
        lacking,
    )


def rows_with_values(batch: Any, missing: Counter[str] | None = None) -> Any:
    """Return a mask of the rows that lack no value, None if that is all of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    kept = None
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        is_float = pa.types.is_floating(column.type)
        if column.null_count == 0 and not is_float:
            continue
        absent = pc.is_null(column, nan_is_null=is_float)
        n_absent = int(pc.sum(absent).as_py() or 0)
        if n_absent == 0:
            continue
        if missing is not None:
            missing[name] += n_absent
        has = pc.invert(absent)
        kept = has if kept is None else pc.and_(kept, has)
    return kept


def label_codes(
    column: Any,
    labels: dict[Any, int],
    target: str,
    first_row: int,
    is_count: bool = False,
) -> NDArray[np.int16]:
    """Return which label each row has; new labels are given the next number.

    Of counts the labels are 0 and 1, for those that are not zero.
    """
    import pyarrow as pa

    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.dictionary_decode()
    encoded = column.dictionary_encode()
    values = whole_labels(np.array(encoded.dictionary.to_pylist())).tolist()
    codes = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    nans = [k for k, value in enumerate(values) if value != value]
    if (codes < 0).any() or nans:
        is_absent = (codes < 0) | np.isin(codes, nans)
        raise absent(target, first_row, is_absent, "label")
    if is_count and codes.size:
        positive = are_positive(np.array(values)[codes], first_row)
        different, codes = np.unique(positive, return_inverse=True)
        values = different.astype(int).tolist()
    for value in values:
        labels.setdefault(value, len(labels))
    if len(labels) > MOST_LABELS:
        signs_from(np.array(list(labels)))  # which refuses them
    places = np.array([labels[value] for value in values], dtype=np.int16)
    return np.asarray(places[codes])


def _too_many(name: str, n_levels: int) -> str:
    """Word the error for a column of text that is no category."""
    return (
        f"column {name!r} must hold numbers or a few categories, got texts of "
        f"{n_levels:,} different values; leave the column out (--drop {name})"
    )


def _commas(name: str, example: str) -> str:
    """Word the error for numbers with commas in them."""
    return (
        f"column {name!r} must hold numbers with a decimal point and no thousands "
        f"separator, got {example!r}; rewrite the numbers, or leave the column out "
        f"(--drop {name})"
    )


def signs_of(
    found: Survey, target: str, positive: str | None
) -> tuple[NDArray[Any], Signs]:
    """Return the classes and the signs; with `positive` whether it is that label."""
    if not found.labels:
        raise InputError(
            f"the data must have at least one row of values, got {found.n_given:,} rows"
            + (", all of which lack a value" if found.n_given else "")
        )
    if found.is_count:
        return signs_of_counts(np.array(found.labels)[found.codes])
    texts = list(map(str, found.labels))
    if positive is not None:
        if positive not in texts:
            raise InputError(
                f"--positive must be a label of column {target!r}, got {positive!r}; "
                f"its labels are {', '.join(texts[:8])}"
            )
        is_positive = found.codes == texts.index(positive)
        others = [text for text in texts if text != positive]
        other = others[0] if len(others) == 1 else f"not {positive}"
        classes = np.array([other, positive] if others else [positive])
        return classes, np.where(is_positive, 1, -1).astype(np.int8)
    labels = np.array(found.labels)
    if labels.size > 2:  # refused, with the number of rows
        labels = labels[found.codes]
    classes, signs = signs_from(labels)
    return classes, signs[found.codes]
