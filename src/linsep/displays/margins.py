"""A histogram of margins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linsep.arrays import Floats, Index
from linsep.displays.display import (
    Display,
    on_processor,
    rows_of,
    signs_of,
    within_axes,
)
from linsep.figure_style import BLACK, BLUE, ORANGE, VERMILION, plain
from linsep.input import InputError
from linsep.rows.device import to_numpy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linsep.report.shown_rows import ShownRows

# The smallest distances of which a histogram can be drawn.
SMALLEST = 1e-290


@dataclass(kw_only=True, eq=False, repr=False)
class MarginDisplay(Display):
    """Histogram of the signed distances from the hyperplane, support rows marked.

    Of an answer that no hyperplane separates, the distances are from the plane that
    fits the classes best by least squares. Other keywords go to ``Axes.hist``.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,)
        Signed distances: positive on the right side.
    signs : ndarray of shape (n_samples,)
        +1.0 for rows of the second class.
    support : ndarray of int
        Rows that carry the solution, or others to mark.
    classes : sequence of two labels
    marked_as : str, default="support rows"
        What the rows marked are, in the plural.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    margins: Floats
    signs: Floats
    support: Index
    classes: Any
    marked_as: str = "support rows"

    def __post_init__(self) -> None:
        """Draw what is further out than axes can hold at their ends."""
        self.margins = within_axes(self.margins)

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        estimator = on_processor(estimator)
        signs = signs_of(estimator, y)
        decisions = estimator.decision_function(to_numpy(X))
        length = estimator._length(estimator._coef[0]) or 1.0
        return cls(
            margins=signs * decisions / length,
            signs=signs,
            support=estimator.support_,
            classes=estimator.classes_,
        )

    @classmethod
    def _of_answer(cls, answer: Any) -> Self:
        shown = rows_of(answer)
        if not shown.is_distance:
            raise InputError(
                f"margins are of two classes, but the answer is about "
                f"{len(shown.classes)}; ProjectionDisplay draws them"
            )
        return cls.of(shown)

    @classmethod
    def of(cls, shown: ShownRows) -> Self:
        """Return the display of rows of two classes, not drawn yet."""
        return cls(
            margins=shown.margins,
            signs=np.where(shown.codes > 0, 1.0, -1.0),
            support=shown.marked,
            classes=shown.classes,
            marked_as=shown.marked_as,
        )

    @property
    def sides(self) -> tuple[Floats, Floats]:
        """The margins of the rows of either class."""
        return self.margins[self.signs < 0], self.margins[self.signs > 0]

    @property
    def bins(self) -> dict[str, Any]:
        """How rows are counted, as arguments of `numpy.histogram`."""
        low, high = float(self.margins.min()), float(self.margins.max())
        # Rows all at about one distance need one bin, and NumPy refuses more.
        size = max(abs(low), abs(high), SMALLEST)
        if high - low <= 1e-9 * size:
            return {"bins": 1, "range": (low - size, high + size)}
        return {"bins": 40, "range": (low, high)}

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        look: dict[str, Any] = {"stacked": True, "color": [BLUE, ORANGE]}
        look["label"] = [plain(c) for c in self.classes]
        ax.hist(self.sides, **self.bins | look | given)
        ax.axvline(0.0, color=BLACK, linewidth=1.2)
        heights = ax.get_ylim()[1]
        marked = self.margins[self.support]
        ax.plot(
            marked,
            np.full(marked.size, -0.03 * heights),
            "|",
            color=VERMILION,
            markersize=9,
            label=f"{marked.size} {self.marked_as}",
            clip_on=False,
        )
        ax.set_ylim(-0.06 * heights, heights)
        n_wrong = int(np.count_nonzero(self.margins <= 0))
        wrong = f", {n_wrong} rows on the wrong side" if n_wrong else ""
        ax.set_title(f"smallest margin {self.margins.min():.3g}{wrong}")
        ax.set_xlabel("signed distance from the hyperplane")
        ax.set_ylabel("rows")
        ax.legend()
