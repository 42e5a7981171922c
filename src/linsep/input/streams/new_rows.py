"""Rows for a model to judge, read in batches: features coded as when it was fitted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from linsep.input.errors import InputError
from linsep.input.features import no_rows_message
from linsep.input.files.svmlight import SvmlightText
from linsep.input.files.table import Request
from linsep.input.levels import Levels, Truths, are_truths
from linsep.input.streams.coding import FOR_A_MODEL, Coding, codes_of, is_text
from linsep.input.streams.problem import MOST_DENSE, selected_columns
from linsep.input.streams.sources import Source


def new_rows(
    source: Source | SvmlightText,
    columns: Sequence[str],
    levels: Mapping[str, Levels],
    feature_names: Sequence[str],
    max_memory: int | None = None,
) -> Iterator[Any]:
    """Yield matrices of the features named, a batch of rows after the other.

    Parameters
    ----------
    source : Source or SvmlightText
    columns : sequence of str
        The columns that the features are made of; others are not read.
    levels : mapping of str to Levels
        How those of text are coded.
    feature_names : sequence of str
        What the matrices hold, in order.
    max_memory : int or None
        Bytes that reading may take.
    """
    if isinstance(source, SvmlightText):
        matrices = source.columns(columns)
    else:
        matrices = _coded(source, columns, levels, feature_names, max_memory)
    n = 0
    for X in matrices:
        n += X.shape[0]
        yield X
    if n == 0:
        raise InputError(no_rows_message((0, len(feature_names))))


def _coded(
    source: Source,
    columns: Sequence[str],
    levels: Mapping[str, Levels],
    feature_names: Sequence[str],
    max_memory: int | None,
) -> Iterator[Any]:
    """Yield the features of a source of record batches."""
    selected_columns(source, Request(columns=columns))  # which refuses what cannot be
    texts = {c for c in columns if is_text(source.schema.field(c).type)}
    for name in levels:
        if name not in texts:
            raise InputError(
                f"{source.name} must hold texts in the column {name!r}, as when the "
                f"model was fitted, got the type {source.schema.field(name).type}; "
                "write them as texts"
            )
    is_sparse = len(feature_names) > max(MOST_DENSE, 2 * len(columns))
    first, order = 0, None
    with closing(source.batches(columns, max_memory)) as batches:
        for batch in batches:
            coded: dict[str, Levels | Truths] = dict(levels)
            for name in texts - set(levels):
                coded[name] = _truths(source.name, name, batch.column(name))
            coding = Coding(
                tuple(columns), coded, np.dtype(np.float64), is_sparse, FOR_A_MODEL
            )
            if order is None:
                places = {name: j for j, name in enumerate(coding.feature_names)}
                order = np.array([places[name] for name in feature_names], np.intp)
            X: Any = coding.matrix(batch, first, True)
            first += len(batch)
            yield X[:][:, order]


def _truths(source: str, name: str, column: Any) -> Truths:
    """Return the coding of a column of text that stands for numbers, or refuse it."""
    codes, texts = codes_of(column)
    held = tuple({texts[k] for k in np.unique(codes[codes >= 0]).tolist()})
    if not are_truths(held):
        raise InputError(
            f"{source} must hold numbers in the column {name!r}, as when the model "
            "was fitted, got other values; correct them"
        )
    return Truths(held)
