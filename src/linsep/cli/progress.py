"""A line on the terminal that says how far the search is."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linsep.result import Pass

__all__ = ["progress_line"]


@contextmanager
def progress_line(start: str) -> Iterator["Callable[[Pass], None]"]:
    """Show a line on the terminal while the block runs; nothing elsewhere.

    Parameters
    ----------
    start : str
        What to say before the first report.

    Yields
    ------
    callable
        To be called with each `Pass`; returns None, so that the search goes on.
    """
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _: None
        return
    with console.status(Text(start)) as status:
        yield lambda state: status.update(Text(_sentence(state)))


def _sentence(state: "Pass") -> str:
    """Say where the search stands."""
    parts = [
        f"pass {state.n_passes}",
        f"round {state.n_rounds}",
        f"{state.n_working} rows in hand",
    ]
    if state.n_violations is not None:
        parts.append(f"{state.n_violations} on the wrong side")
    parts.append(f"margin at most {state.margin_upper:.3g}")
    parts.append(f"{state.seconds:.1f} s (Ctrl-C ends with what is found)")
    return ", ".join(parts)
