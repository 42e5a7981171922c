"""A value made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Lazy(Generic[Value]):
    """A value made at first use, and kept.

    Pickling makes the value, and leaves behind what it was made from.

    Parameters
    ----------
    make : callable
        Called once, without arguments.

    Examples
    --------
    >>> Lazy(lambda: 6 * 7).value
    42
    """

    def __init__(self, make: Callable[[], Value]) -> None:
        self._make = make

    @cached_property
    def value(self) -> Value:
        """The value."""
        return self._make()

    def __getstate__(self) -> dict[str, Value]:
        """Keep the value alone."""
        return {"value": self.value}
