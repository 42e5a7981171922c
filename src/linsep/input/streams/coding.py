"""Record batches to matrices: numbers as they stand, texts by their levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index, Mask
from linsep.input.coded_matrix import CodedColumn, coded_matrix
from linsep.input.errors import InputError
from linsep.input.exact_numbers import exact_floats
from linsep.input.levels import Levels, Truths, unknown_levels
from linsep.rows.columns import ColumnsApart

if TYPE_CHECKING:
    from linsep.input.features import Features

# What to do with rows that lack a value: those of a model's data, and those it judges.
_OF_DATA = 'leave such rows out with missing="drop" (--missing drop)'
FOR_A_MODEL = "remove such rows"
# Types whose values all are float32.
_SINGLE = {"halffloat", "float", "bool", "int8", "int16", "uint8", "uint16"}


def is_text(kind: Any) -> bool:
    """Tell whether a type of Arrow holds texts, by themselves or in a dictionary."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def is_date(kind: Any) -> bool:
    """Tell whether a type holds dates or times, which are no measurement."""
    import pyarrow as pa

    return bool(pa.types.is_temporal(kind))


def is_number(kind: Any) -> bool:
    """Tell whether a type holds numbers, or true and false."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_decimal(kind)
    )


def common_dtype(kinds: Sequence[Any]) -> np.dtype[Any]:
    """Return float32 where that holds every value of all these types, else float64."""
    singles = bool(kinds) and all(str(kind) in _SINGLE for kind in kinds)
    return np.dtype(np.float32 if singles else np.float64)


def numbers_of(
    column: Any, name: str, first_row: int, advice: str = _OF_DATA
) -> NDArray[Any]:
    """Return a column of a batch as floats, or refuse a value that is none."""
    import pyarrow as pa

    kind = column.type
    if not column.null_count and (
        pa.types.is_float32(kind) or pa.types.is_float64(kind)
    ):
        return np.asarray(column.to_numpy())
    if pa.types.is_dictionary(kind):
        column, kind = column.dictionary_decode(), kind.value_type
    if column.null_count:
        raise absent(name, first_row, column.is_null().to_numpy(False), advice=advice)
    if pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    return exact_floats(column.to_numpy(zero_copy_only=False), f"column {name!r}")


def absent(
    name: str,
    first_row: int,
    is_absent: Mask,
    what: str = "value",
    advice: str = _OF_DATA,
) -> InputError:
    """Return the error for a column without a value in some row of a batch."""
    row = first_row + int(np.argmax(is_absent))
    return InputError(
        f"column {name!r} must hold a {what} in every row, got none in row {row}; "
        f"fill it in, or {advice}"
    )


def require_finite(
    values: NDArray[Any], name: str, first_row: int, advice: str = _OF_DATA
) -> None:
    """Refuse a column with a NaN or an infinity in it."""
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):
            return
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise InputError(
            f"column {name!r} must be finite, got {values[bad[0]]} in row "
            f"{first_row + int(bad[0])}; correct it, or {advice}"
        )


@dataclass(frozen=True)
class Coding:
    """How record batches become matrices.

    Attributes
    ----------
    names : tuple of str
        The columns that are read, in order.
    texts : mapping of str to Levels or Truths
        What the columns of text become.
    dtype : dtype
    is_sparse : bool
        Whether matrices are CSR: with texts of many levels most entries are zero.
    advice : str
        What to do with rows that lack a value.
    """

    names: tuple[str, ...]
    texts: dict[str, Levels | Truths]
    dtype: np.dtype[Any]
    is_sparse: bool
    advice: str = _OF_DATA

    @property
    def levels(self) -> dict[str, Levels]:
        """Those of the columns of text that have some."""
        return {name: of for name, of in self.texts.items() if isinstance(of, Levels)}

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the matrix's columns."""
        return tuple(
            feature
            for name in self.names
            for feature in (
                self.texts[name].names(name) if name in self.texts else (name,)
            )
        )

    @property
    def entries_a_row(self) -> int:
        """Entries that a row holds, the constant counted."""
        width = len(self.names) if self.is_sparse else len(self.feature_names)
        return width + 1

    def matrix(self, batch: Any, first_row: int, check: bool) -> Features:
        """Return the features of a batch whose first row has this number.

        Its first columns are those named, in order. With `check`, numbers that are not
        finite are refused.
        """
        numbers, coded = [], []
        for name, column in zip(self.names, batch.columns, strict=False):
            if name in self.texts:
                of = self.texts[name]
                places = self._places(column, name, of.places, first_row)
                coded.append(CodedColumn(of.names(name), places))
                continue
            values = numbers_of(column, name, first_row, self.advice)
            if check:
                require_finite(values, name, first_row, self.advice)
            numbers.append(values)
            coded.append(CodedColumn((name,)))
        n = len(batch)
        if not self.texts:
            return ColumnsApart(numbers, n, self.dtype)  # type: ignore[return-value]
        block = np.empty((n, len(numbers)), dtype=self.dtype)
        for j, values in enumerate(numbers):
            block[:, j] = values
        return coded_matrix(coded, [block], n, self.dtype, is_sparse=self.is_sparse)

    def _places(
        self, column: Any, name: str, place_of: Mapping[str, int], first_row: int
    ) -> Index:
        """Return which of a text's columns is 1 in each row, or -1, by its level."""
        codes, texts = codes_of(column)
        if (codes < 0).any():
            raise absent(name, first_row, codes < 0, advice=self.advice)
        unknown = [k for k, text in enumerate(texts) if text not in place_of]
        odd = sorted({texts[k] for k in np.intersect1d(codes, unknown).tolist()})
        if odd and self.advice == FOR_A_MODEL:
            raise unknown_levels(name, list(place_of), odd)
        if odd:
            raise InputError(
                f"column {name!r} must hold the same values each time it is read, got "
                f"{odd[0]!r}, which was not there before; wait until it is written"
            )
        places = np.array([place_of.get(text, -1) for text in texts], dtype=np.intp)
        return places[codes] if places.size else codes


def codes_of(column: Any) -> tuple[Index, list[str]]:
    """Return the number of each row's text, -1 where there is none, and the texts.

    Without the blanks around them, as in files and frames: some may be the same.
    """
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = column.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    texts = [text and text.strip() for text in column.dictionary.to_pylist()]
    return codes.astype(np.intp), texts
