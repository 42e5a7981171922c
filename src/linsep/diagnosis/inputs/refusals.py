"""What a call may not say, refused in the same words wherever it is said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from linsep.input import InputError
from linsep.input.errors import did_you_mean


def refuse_said(options: Mapping[str, Any], message: str) -> None:
    """Raise if an option is not None; the message has blanks for its name."""
    for name, value in options.items():
        if value is not None:
            raise InputError(message.format(name))


def require_column(name: str, columns: Iterable[Any], role: str = "groups") -> None:
    """Raise if `groups`, or another argument, names no column of the data."""
    known = list(map(str, columns))
    if name not in known:
        hint = did_you_mean(name, known) or f"it has {', '.join(known[:10])}"
        raise InputError(
            f"{role} must name a column of the data, got {name!r}, which is none; "
            f"{hint}"
        )


def the_data_have(name: str, columns: Iterable[Any]) -> str:
    """Name the columns there are, and those most like a name that is none of them."""
    known = list(map(str, columns))
    hint = did_you_mean(name, known)
    more = ", ..." * (len(known) > 10)
    return f"the data have {', '.join(known[:10])}{more}{hint and '; '}{hint}"


def no_such_column(name: str, columns: Iterable[Any], where: str = "") -> str:
    """Word the error for a name in a formula that is no column."""
    return (
        f"a formula{where} must name columns of the data, got {name[:200]!r}; "
        f"{the_data_have(name, columns)}"
    )
