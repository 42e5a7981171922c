"""The order of an outcome's levels: given, declared with the data, or as sorted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index
from linsep.input import InputError
from linsep.input.errors import did_you_mean
from linsep.input.exact_numbers import is_missing


@dataclass(frozen=True)
class Order:
    """Levels in their order.

    Attributes
    ----------
    levels : tuple
        The first to the last; some may be in no row.
    is_declared : bool
        Whether somebody says that this is an order: the call, or the data by ordered
        categories. Else they are categories in some order.
    """

    levels: tuple[Any, ...]
    is_declared: bool = True


def given_order(order: object) -> Order | None:
    """Read the argument `order`: a sequence of distinct levels, or None.

    Examples
    --------
    >>> given_order(["low", "high"]).levels
    ('low', 'high')
    """
    if order is None or isinstance(order, Order):
        return order
    if hasattr(order, "tolist"):
        order = order.tolist()
    if isinstance(order, str | bytes) or not isinstance(order, Sequence):
        raise InputError(
            "order must be a list of the outcome's levels, such as ['low', 'mid', "
            f"'high'], got {order!r}"
        )
    levels = list(order)
    named: set[Any] = set()
    for level in levels:
        if isinstance(level, list) or is_missing(level):
            raise InputError(
                f"order must be a list of levels, each a value of the outcome, got "
                f"{level!r} among {levels!r}"
            )
        if level in named:
            raise InputError(
                f"order must name each level once, got {level!r} twice in {levels!r}"
            )
        named.add(level)
    if not levels:
        raise InputError("order must name the outcome's levels, got an empty list")
    return Order(tuple(levels))


def declared_order(y: Any) -> Order | None:
    """Return the order of the categories that a column is of; None if it has none.

    They are those of pandas, the Enum of polars, and the dictionaries of Arrow.
    """
    categorical = getattr(y, "cat", y)
    if hasattr(categorical, "categories") and hasattr(categorical, "ordered"):
        levels = np.asarray(categorical.categories).tolist()
        return Order(tuple(levels), bool(categorical.ordered))
    if isinstance(y, np.ndarray | list | tuple):
        return None  # before narwhals is loaded
    import narwhals.stable.v2 as nw

    column = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(column, nw.DataFrame) and column.shape[1] == 1:
        return declared_order(column[column.columns[0]].to_native())
    if isinstance(column, nw.Series) and isinstance(column.dtype, nw.Enum):
        return Order(tuple(column.dtype.categories))
    kind: Any = getattr(y, "type", None)
    if hasattr(kind, "ordered"):  # Arrow's dictionaries
        pieces = y.unify_dictionaries().chunks if hasattr(y, "chunks") else [y]
        levels = pieces[0].dictionary.to_pylist() if pieces else []
        return Order(tuple(levels), bool(kind.ordered))
    return None  # the Categorical of polars has no order


def in_order(
    labels: NDArray[Any], order: Order
) -> tuple[list[Any], Index, tuple[Any, ...]]:
    """Return the levels that occur, in order, each row's number, and those in no row.

    A level of the order stands for a label that is equal to it, or is written alike:
    on the command line all levels are texts.
    """
    values = labels.tolist()
    place: dict[Any, int] = {str(level): k for k, level in enumerate(order.levels)}
    place.update({level: k for k, level in enumerate(order.levels)})
    number = {value: place.get(value, place.get(str(value))) for value in set(values)}
    unknown = [value for value, k in number.items() if k is None]
    if unknown:
        unknown.sort(key=str)
        shown = ", ".join(map(repr, unknown[:5])) + ", ..." * (len(unknown) > 5)
        hint = did_you_mean(unknown[0], [n for n in order.levels if n not in number])
        raise InputError(
            "order must name every level of the outcome, got "
            f"{list(order.levels)!r} without {shown}; "
            + (f"for {unknown[0]!r}, {hint}" if hint else "add it where it belongs")
        )
    found = sorted(number, key=lambda value: number[value] or 0)
    used = {number[value] for value in found}
    if len(used) < len(found):
        raise InputError(
            "y must hold labels of one kind, got some that are written alike and are "
            f"not the same ({', '.join(map(repr, found[:5]))}); make them all texts "
            "or all numbers"
        )
    codes = {value: k for k, value in enumerate(found)}
    return (
        found,
        np.array([codes[value] for value in values], dtype=np.intp),
        tuple(level for k, level in enumerate(order.levels) if k not in used),
    )


def order_taken(order: Order | None, levels: Sequence[Any]) -> str:
    """Say which order was taken for want of a declared one; "" if one is.

    Numbers have one of their own.
    """
    if len(levels) < 2 or (order is not None and order.is_declared):
        return ""
    if order is None or _is_sorted(levels):
        is_numeric = all(isinstance(level, Real | Decimal) for level in levels)
        return "" if is_numeric else "the sorted one"
    return "that of its categories"


def _is_sorted(levels: Sequence[Any]) -> bool:
    """Tell whether levels stand as sorting would put them, if it can."""
    try:
        return list(levels) == sorted(levels)
    except TypeError:
        return False
