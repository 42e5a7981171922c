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


class LazyIfMade(Lazy[Value]):
    """A value too dear to be made for a pickle: kept if it was made, else lost."""

    @property
    def is_made(self) -> bool:
        """Whether the value is there already."""
        return "value" in self.__dict__

    @property
    def is_lost(self) -> bool:
        """Whether the value was not made before pickling, and cannot be made now."""
        return not self.is_made and "_make" not in self.__dict__

    def __getstate__(self) -> dict[str, Value]:
        """Keep the value, if there is one."""
        return {"value": self.value} if self.is_made else {}

    def __setstate__(self, state: dict[str, Value]) -> None:
        """Restore; an empty state is one too."""
        self.__dict__.update(state)
