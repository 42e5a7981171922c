"""Rows in the plane that shows best how they are separated, or why not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linsep.arrays import Floats, Index
from linsep.displays.display import (
    Display,
    on_processor,
    rows_of,
    separation_of,
    signs_of,
    within_axes,
)
from linsep.figure_style import (
    BLACK,
    CLASS_COLOURS,
    CLASS_MARKERS,
    VERMILION,
    class_look,
    plain,
)
from linsep.input import InputError, check_features
from linsep.rows import as_dense
from linsep.rows.device import to_numpy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linsep.report.shown_rows import ShownRows

# Rows beyond this many are drawn as a sample; those marked always are.
MOST_POINTS = 4000
# Rings are smaller where there are more.
FEW_MARKED = 50


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(Display):
    """The rows in two dimensions that show the separation, or the conflict.

    Across: the signed distance from the hyperplane. Up: the first principal direction
    of what is left of the rows when their component along the normal is taken out.
    Fits with a linear kernel have such a picture. Other keywords go to
    ``Axes.scatter``.

    Parameters
    ----------
    across, up : ndarray of shape (n_samples,)
    codes : ndarray of shape (n_samples,), int
        The number of each row's class.
    classes : sequence of labels
    marked : ndarray of int
        Rows to ring.
    marked_as : str
        What they are, in the plural.
    axis : str, default="signed distance from the hyperplane"
        What is measured across.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    across: Floats
    up: Floats
    codes: Index
    classes: Any
    marked: Index
    marked_as: str
    axis: str = "signed distance from the hyperplane"

    def __post_init__(self) -> None:
        """Draw what is further out than axes can hold at their ends."""
        self.across, self.up = within_axes(self.across), within_axes(self.up)

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        estimator = on_processor(estimator)
        if estimator.kernel != "linear":
            raise InputError(
                f"the projection is of a linear fit, got kernel={estimator.kernel!r}; "
                "MarginDisplay shows the margins of any kernel"
            )
        rows = as_dense(check_features(to_numpy(X), estimator.n_features_in_))
        normal = estimator.coef_[0]
        length = float(np.linalg.norm(normal)) or 1.0
        rest = rows - np.outer(rows @ normal, normal) / length**2
        rest = rest - rest.mean(axis=0)
        _, _, directions = np.linalg.svd(rest, full_matrices=False)
        conflict = separation_of(estimator).conflict
        return cls(
            across=(rows @ normal + estimator.intercept_[0]) / length,
            up=rest @ directions[0],
            codes=(signs_of(estimator, y) > 0).astype(np.intp),
            classes=estimator.classes_,
            marked=estimator.support_ if conflict is None else conflict,
            marked_as="support rows" if conflict is None else "the conflict",
        )

    @classmethod
    def _of_answer(cls, answer: Any) -> Self:
        return cls.of(rows_of(answer))

    @classmethod
    def of(cls, shown: ShownRows) -> Self:
        """Return the display of rows, not drawn yet."""
        return cls(
            across=shown.across,
            up=shown.up,
            codes=shown.codes,
            classes=shown.classes,
            marked=shown.marked,
            marked_as=shown.marked_as,
            axis=shown.axis,
        )

    @property
    def drawn(self) -> Index:
        """The rows drawn: of very many an even sample, and all that are marked."""
        n = self.across.size
        even = np.linspace(0, n - 1, min(n, MOST_POINTS)).astype(np.intp)
        return np.union1d(even, self.marked)

    @property
    def ring(self) -> tuple[float, float]:
        """The area and the width of a ring, in points."""
        return (70.0, 1.2) if self.marked.size <= FEW_MARKED else (45.0, 0.6)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        shown = self.drawn
        for code, label in enumerate(self.classes):
            at = shown[self.codes[shown] == code]
            colour, marker = class_look(code)
            look: dict[str, Any] = {
                "color": CLASS_COLOURS[colour],
                "marker": CLASS_MARKERS[marker],
                "s": 18,
                "alpha": 0.6,
            }
            name = plain(label)
            ax.scatter(self.across[at], self.up[at], label=name, **look | given)
        if self.marked.size:
            size, width = self.ring
            ax.scatter(
                self.across[self.marked],
                self.up[self.marked],
                s=size,
                facecolors="none",
                edgecolors=BLACK if self.marked_as == "support rows" else VERMILION,
                linewidths=width,
                label=f"{self.marked_as} ({self.marked.size})",
            )
        if len(self.classes) == 2:
            ax.axvline(0.0, color=BLACK, linewidth=1.2)
        ax.set_xlabel(self.axis)
        ax.set_ylabel("first principal direction of the rest")
        ax.legend()
