"""Columns of text and categories as columns of 0 and 1: the one coding of all inputs.

Each level but the commonest has a column, ``lang[T.en]``, as formulas write it; the
commonest is the reference. Where there is no constant, the levels of the first such
column all have one, ``lang[en]``, and stand for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from linsep.arrays import Index
from linsep.input.errors import InputError

#: The most 0/1 columns one column of text may become, unless each of its values stands
#: in so many rows on average. Real categories (states, firms, diagnoses) keep to one of
#: these; identifiers, dates and free text do not.
MOST_LEVELS = 256
ROWS_A_LEVEL = 10

# A text that is another in every row names the rows: any labels would be separated by
# its 0/1 columns. Below this many rows that may be chance.
FEW_ROWS = 10


@dataclass(frozen=True)
class Levels:
    """The levels of a column of text, and which of them has no column of its own.

    Attributes
    ----------
    levels : tuple of str
        In order.
    reference : str or None
        None where all levels have columns.
    """

    levels: tuple[str, ...]
    reference: str | None

    @property
    def coded(self) -> tuple[str, ...]:
        """The levels that have columns."""
        return tuple(level for level in self.levels if level != self.reference)

    @property
    def places(self) -> dict[str, int]:
        """Which of the columns is 1 for each level, -1 for none."""
        place_of = dict.fromkeys(self.levels, -1)
        return place_of | {level: k for k, level in enumerate(self.coded)}

    def names(self, column: str) -> tuple[str, ...]:
        """Return what the columns of 0 and 1 are called."""
        has_reference = self.reference is not None
        return tuple(level_name(column, level, has_reference) for level in self.coded)

    def told(self, column: str) -> str:
        """Say what became of the column."""
        return level_note(column, len(self.levels), self.reference)


@dataclass(frozen=True)
class Truths:
    """A column of text that stands for two numbers, however it spells them."""

    levels: tuple[str, ...]

    @property
    def places(self) -> dict[str, int]:
        """Whether its one column is 1 for each level, 0, or not, -1."""
        return {level: -is_false(level) for level in self.levels}

    def names(self, column: str) -> tuple[str, ...]:
        """Return what that column is called."""
        return (column,)

    def told(self, column: str) -> str:
        """Say what became of the column."""
        return f"column {column!r} holds true and false, read as 1 and 0"


@dataclass(frozen=True)
class Columns:
    """The columns of a file or a frame that an answer is about.

    Attributes
    ----------
    names : tuple of str
    levels : mapping of str to Levels
        How those of text are coded.
    """

    names: tuple[str, ...]
    levels: Mapping[str, Levels]


def coding_of_texts(
    texts: Sequence[str], sizes: Sequence[int] | Index, is_whole: bool
) -> Levels | Truths:
    """Say what a category becomes: its texts in order, and how many rows have each.

    The reference is the first of the commonest; with `is_whole` there is none.
    """
    if are_truths(texts):
        return Truths(tuple(texts))
    levels = tuple(text for text, size in zip(texts, sizes, strict=True) if size)
    return Levels(levels, None if is_whole else texts[int(np.argmax(sizes))])


def are_truths(levels: Iterable[str]) -> bool:
    """Tell whether levels are true and false, which is 1 and 0."""
    return {level.casefold() for level in levels} <= {"true", "false"}


def is_false(level: str) -> bool:
    """Tell which of the two a level is."""
    return level.casefold() == "false"


def most_levels(n_rows: int) -> int:
    """Return how many levels a column of text may have."""
    return max(MOST_LEVELS, n_rows // ROWS_A_LEVEL)


def commonest(codes: Index, n_levels: int) -> int:
    """Return the level of the most rows, the first of them in order; -1 is no level."""
    counts = np.bincount(codes[codes >= 0], minlength=n_levels)
    return int(np.argmax(counts))


def level_name(column: str, level: str, has_reference: bool) -> str:
    """Name a level's column.

    Examples
    --------
    >>> level_name("lang", "en", True), level_name("lang", "en", False)
    ('lang[T.en]', 'lang[en]')
    """
    return f"{column}[{'T.' if has_reference else ''}{level}]"


def level_note(column: str, n_levels: int, reference: str | None) -> str:
    """Say how many levels a column has, and which is the reference."""
    text = f"{column}, {n_levels:,} level{'s' * (n_levels != 1)}"
    if reference is None:
        return f"{text} in place of the intercept"
    return f"{text}, the reference is {reference}"


def coding_note(told: Sequence[str], title: str = "Text and categories") -> str:
    """Say of all columns that became columns of 0 and 1 what became of them."""
    return f"{title} as columns: {'; '.join(told)}"


def unknown_levels(column: str, known: Sequence[str], odd: Sequence[str]) -> InputError:
    """Return the error for levels that a model was not fitted on."""
    return InputError(
        f"column {column!r} must hold levels that the model knows, {list(known)}, got "
        f"{list(odd[:5])}; drop those rows"
    )


def aside_note(column: str, why: str) -> str:
    """Say that a column of text is no feature."""
    return f"column {column!r} {why}: it was left out"
