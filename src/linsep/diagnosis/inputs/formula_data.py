"""The data of a formula, as a frame that formulaic reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from linsep.input import InputError


def require_formulaic() -> None:
    """Raise if the libraries that formulas need are not installed."""
    try:
        import formulaic  # noqa: F401
        import pandas as pd  # noqa: F401
    except ImportError as error:
        raise InputError(
            'formulas need formulaic and pandas; pip install "linsep[formula]"'
        ) from error


def pandas_of(data: Any) -> Any:
    """Return the data as a pandas frame."""
    require_formulaic()
    import pandas as pd

    if hasattr(data, "to_pandas") and not isinstance(data, pd.DataFrame):
        data = data.to_pandas()
    if not isinstance(data, pd.DataFrame):
        try:
            if isinstance(data, Mapping):  # of columns of any library
                data = {
                    name: column.to_pandas() if hasattr(column, "to_pandas") else column
                    for name, column in data.items()
                }
            data = pd.DataFrame(data)
        except (TypeError, ValueError) as error:
            raise InputError(
                "data must be a frame or a mapping of names to columns, got "
                f"{type(data).__name__}"
            ) from error
    return data


def plain_frame(frame: Any) -> Any:
    """Return a frame whose rows are numbered and whose texts are Python's.

    formulaic takes nullable texts for numbers.
    """
    texts = [name for name, kind in frame.dtypes.items() if kind.name == "string"]
    frame = frame.reset_index(drop=True)
    return frame.astype(dict.fromkeys(texts, object)) if texts else frame


def require_no_dates(frame: Any, names: Collection[Any]) -> None:
    """Raise if one of these columns holds dates or times, which are no numbers."""
    for name, kind in frame.dtypes.items():
        if name in names and (kind.kind in "mM" or kind.name.startswith("period")):
            raise InputError(
                f"the column {name!r} must hold numbers or categories to be a term of "
                f"a formula, got dates or times ({kind}); turn them into numbers, as "
                f"data[{name!r}].dt has them, or leave the column out"
            )
