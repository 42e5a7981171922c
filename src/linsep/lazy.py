"""A value made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Generic, TypeVar

Key = TypeVar("Key")
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


class LazyMapping(Mapping[Key, Value]):
    """A mapping whose contents are made when they are first looked at.

    Examples
    --------
    >>> LazyMapping(lambda: {"one": 1}) == {"one": 1}
    True
    """

    def __init__(self, make: Callable[[], Mapping[Key, Value]]) -> None:
        self._lazy = Lazy(make)

    def __getitem__(self, key: Key) -> Value:
        """Return what is kept under a key."""
        return self._lazy.value[key]

    def __iter__(self) -> Iterator[Key]:
        """Go through the keys."""
        return iter(self._lazy.value)

    def __len__(self) -> int:
        """Return the number of keys."""
        return len(self._lazy.value)

    def __repr__(self) -> str:
        """Show the contents."""
        return repr(self._lazy.value)


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


def late() -> Any:
    """Return the default of a dataclass's field that may be made when first looked at.

    It is None, unless the record's dictionary has a `Lazy` under the name of the field
    with ``_late_`` before it.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Record:
    ...     value: int | None = late()
    >>> record = Record.__new__(Record)
    >>> vars(record)["_late_value"] = Lazy(lambda: 6 * 7)
    >>> record.value, Record(1).value, Record().value
    (42, 1, None)
    """
    return _Late()


class _Late:
    """What `late` returns: asked only where the record's dictionary has no value."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, record: object, owner: type | None = None) -> Any:
        lazy = None if record is None else vars(record).get(f"_late_{self._name}")
        if lazy is None:
            return None
        value = vars(record)[self._name] = lazy.value
        return value
