"""The first reading of a stream: labels, levels of texts, rows without a value.

Only columns that must be looked at are read: the labels and the texts, and all where
rows without a value are to be left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Mask, Signs
from linsep.input.errors import InputError, drop_option
from linsep.input.files.table import Request, whole_labels
from linsep.input.labels import are_positive, signs_from, signs_of_counts
from linsep.input.levels import Levels, Truths, coding_of_texts, most_levels
from linsep.input.streams.coding import absent, codes_of, is_text
from linsep.input.streams.sources import Source
from linsep.input.text_column import MOST_NAMES, Texts, in_order

# Different values of a text that are looked at, whatever the number of rows.
MOST_TEXTS = 1_000_000
# Different labels that are told apart before they are refused.
MOST_LABELS = 1_000


class CountedTexts(Texts):
    """How often each text of a column occurs, also among the rows that are left out.

    `absent` is the error where some row has none.
    """

    def __init__(self) -> None:
        self.sizes = Counter[str]()
        self.dropped = Counter[str]()
        self.n_present = 0
        self.absent: InputError | None = None

    def levels(self) -> list[str]:
        """Return the levels in the order first seen."""
        return list(self.sizes)

    def add(self, values: Sequence[str], codes: Index, kept: Mask | None) -> None:
        """Count the texts of a batch, given by their numbers; -1 is none."""
        self.n_present += _count(self.sizes, values, codes)
        if kept is not None:
            _count(self.dropped, values, codes[~kept])

    def merge(self, other: CountedTexts) -> None:
        """Count those of another part of the data."""
        self.sizes.update(other.sizes)
        self.n_present += other.n_present
        self.aside = self.aside or other.aside
        self.absent = self.absent or other.absent

    def coded(self, is_whole: bool) -> Levels | Truths:
        """Say what it becomes, by the rows that are not left out."""
        every = self.levels()
        levels = [every[k] for k in in_order(every)]
        sizes = [self.sizes[level] - self.dropped[level] for level in levels]
        return coding_of_texts(levels, sizes, is_whole)


def _count(sizes: Counter[str], values: Sequence[str], codes: Index) -> int:
    """Count texts, and return how many there are."""
    found = np.bincount(codes[codes >= 0], minlength=len(values))
    for value, size in zip(values, found.tolist(), strict=True):
        if size:
            sizes[value] += size
    return int(found.sum())


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
    texts : dict of str to CountedTexts
        The columns of text.
    missing : Counter
        How many rows lack a value, by column.
    is_count : bool
        Whether the labels tell counts that are zero, 0, from others, 1.
    """

    labels: list[Any]
    codes: NDArray[np.signedinteger[Any]]
    n_given: int
    present: Index | None
    texts: dict[str, CountedTexts]
    missing: Counter[str]
    is_count: bool = False

    @cached_property
    def left_out(self) -> dict[str, str]:
        """The columns of text that are no features, dates and names of rows, and why.

        As for files and frames. What lacks a value in another column is refused.
        """
        found = {}
        for name, texts in self.texts.items():
            texts.settle()
            if texts.aside is not None:
                found[name] = texts.aside
            elif texts.absent is not None:
                raise texts.absent
        return found

    def coded(self, source: str, request: Request) -> dict[str, Levels | Truths]:
        """Say what the other columns of text become, as in files and frames."""
        found: dict[str, Levels | Truths] = {}
        has_constant = request.fit_intercept
        for name, texts in self.texts.items():
            if name in self.left_out:
                continue
            texts.require_category(
                f"{source}: column {name!r}",
                most_levels(self.n_given),
                request.decimal,
                f"leave the column out {drop_option(name)}",
            )
            found[name] = texts.coded(not has_constant)
            has_constant |= isinstance(found[name], Levels)
        return found

    @classmethod
    def merged(cls, parts: Sequence[Survey]) -> Survey:
        """Put the surveys of parts together, none of which left rows out."""
        labels: dict[Any, int] = {}
        codes, texts = [], {name: CountedTexts() for name in parts[0].texts}
        for part in parts:
            for label in part.labels:
                labels.setdefault(label, len(labels))
            numbers = np.array([labels[x] for x in part.labels], dtype=np.int16)
            codes.append(numbers[part.codes])
            for name, own in part.texts.items():
                texts[name].merge(own)
        every, n_given = np.concatenate(codes), sum(part.n_given for part in parts)
        is_count = parts[0].is_count
        return cls(list(labels), every, n_given, None, texts, Counter(), is_count)


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
    found = {name: CountedTexts() for name in texts}
    columns = [*(features if drops else found), target]
    labels: dict[Any, int] = {}
    codes, present, missing = [], [], Counter(dict.fromkeys(columns, 0))
    n_given = 0
    with closing(source.batches(columns, max_memory)) as batches:
        for batch in batches:
            first = n_given
            n_given += len(batch)
            mask = rows_with_values(batch, missing) if drops else None
            labelled, kept = batch.column(target), None
            if mask is not None:
                labelled, kept = labelled.filter(mask), mask.to_numpy(False)
            if drops:
                rows = np.arange(len(batch)) if kept is None else np.flatnonzero(kept)
                present.append(first + rows)
            codes.append(label_codes(labelled, labels, target, first, is_count))
            for name, seen in found.items():
                if seen.aside is not None:
                    continue
                numbers, values = codes_of(batch.column(name))
                if not drops and seen.absent is None and (numbers < 0).any():
                    seen.absent = absent(name, first, numbers < 0)
                seen.add(values, numbers, kept)
                if len(seen.sizes) > MOST_NAMES:
                    seen.settle()
                    if seen.aside is not None:
                        seen.sizes.clear()
                    elif len(seen.sizes) > MOST_TEXTS:
                        column = f"{source.name}: column {name!r}"
                        remedy = f"leave it out {drop_option(name)}"
                        seen.require_category(column, MOST_TEXTS, None, remedy)
    every = np.concatenate(codes) if codes else np.empty(0, dtype=np.int16)
    is_all = every.size == n_given
    return Survey(
        list(labels),
        every,
        n_given,
        None if is_all else np.concatenate(present),
        found,
        +missing,
        is_count,
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
