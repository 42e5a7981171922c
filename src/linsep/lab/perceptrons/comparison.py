"""Methods of the family side by side, on the same rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from numpy.typing import ArrayLike

from linsep.input import InputError
from linsep.lab.perceptrons.accelerated import MirrorProx, SmoothPerceptron
from linsep.lab.perceptrons.method import Method
from linsep.lab.perceptrons.minover import Minover
from linsep.lab.perceptrons.optimistic import Optimistic
from linsep.lab.perceptrons.perceptron import Perceptron
from linsep.lab.perceptrons.result import LinearResult, PerceptronResult
from linsep.lab.perceptrons.second_order import SecondOrderPerceptron
from linsep.lab.perceptrons.von_neumann import VonNeumann

DEFAULT = (
    Perceptron,
    SecondOrderPerceptron,
    Minover,
    Optimistic,
    SmoothPerceptron,
    MirrorProx,
    VonNeumann,
)
# Of a record in `Comparison.rows`; margins are None where there is no hyperplane.
FIELDS = (
    "method", "separated", "stopped", "n_passes", "n_updates", "n_operations",
    "margin_lower", "margin_upper",
)  # fmt: skip
HEADINGS = ("method", "separated", "passes", "updates", "operations", "margin in")


@dataclass(frozen=True, repr=False)
class Comparison:
    """The results of several methods on the same rows.

    Attributes
    ----------
    results : tuple of PerceptronResult
        In the order of the methods. Printed, they are a table; in a notebook too.
    """

    results: tuple[PerceptronResult, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict a method, of plain values: rows of a data frame."""
        return [
            {name: getattr(result, name, None) for name in FIELDS}
            for result in self.results
        ]

    def __repr__(self) -> str:
        table = [HEADINGS, *map(_cells, self.results)]
        widths = [max(map(len, column)) for column in zip(*table, strict=True)]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        )

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        head = "".join(f"<th>{name}</th>" for name in HEADINGS)
        lines = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
            for cells in map(_cells, self.results)
        )
        return f"<table><tr>{head}</tr>{lines}</table>"


def _cells(result: PerceptronResult) -> tuple[str, ...]:
    margin = "-"
    if isinstance(result, LinearResult):
        margin = f"[{result.margin_lower:.3g}, {result.margin_upper:.3g}]"
    return (
        result.method,
        "yes" if result.separated else f"no: {result.stopped}",
        f"{result.n_passes:,}",
        f"{result.n_updates:,}",
        f"{result.n_operations:,}",
        margin,
    )


def compare(
    X: ArrayLike, y: ArrayLike, methods: Iterable[Method[Any]] | None = None
) -> Comparison:
    """Run several methods on the same rows.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The data.
    y : array-like of shape (n_samples,)
        Labels of two classes; any values.
    methods : iterable of methods, default=None
        None takes `Perceptron`, `SecondOrderPerceptron`, `Minover`, `Optimistic`,
        `SmoothPerceptron`, `MirrorProx` and `VonNeumann` with their defaults.

    Returns
    -------
    Comparison
        What each found, and what it cost in the paper's unit.

    Raises
    ------
    InputError
        If the data cannot be used, or what is to be run is not a method.

    Examples
    --------
    >>> from linsep.perceptrons import Optimistic, Perceptron, compare
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> compare(X, y, [Perceptron(), Optimistic()])
    method      separated  passes  updates  operations        margin in
    Perceptron        yes       6        9          33   [0.277, 0.401]
    Optimistic        yes       7        7          70  [0.0108, 0.462]
    """
    chosen = [method() for method in DEFAULT] if methods is None else list(methods)
    for method in chosen:
        if not isinstance(method, Method):
            raise InputError(
                "methods must be methods of the family with their settings, such as "
                f"Perceptron(max_passes=100), got {method!r}"
            )
    return Comparison(tuple(method.run(X, y) for method in chosen))
