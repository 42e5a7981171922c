"""The interval that holds the largest margin, pass by pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linsep.arrays import Floats, Index
from linsep.displays.display import Display, separation_of, within_axes
from linsep.figure_style import BLACK, BLUE, ORANGE
from linsep.input.types import FeaturesLike, LabelsLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.result import Progress


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay(Display):
    """The interval that holds the largest margin, pass by pass.

    It is of a `Separation`, or of the one beside a fit. Other keywords go to
    ``Axes.plot``.

    Parameters
    ----------
    trace : tuple of Progress
        Of a `Separation`.
    message : str, default=""
        What was decided, told where there is no pass to draw.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    trace: tuple[Progress, ...]
    message: str = ""

    @classmethod
    def from_estimator(
        cls,
        estimator: OptimisticPerceptron,
        X: FeaturesLike | None = None,
        y: LabelsLike | None = None,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw how the search beside a fit converged, which needs no rows."""
        return cls._of_estimator(estimator, X, y).plot(ax=ax, **kwargs)

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        return cls._of_answer(separation_of(estimator))

    @classmethod
    def _of_answer(cls, answer: Any) -> Self:
        return cls(trace=answer.trace, message=answer.message)

    def bound(self, name: str) -> tuple[Index, Floats]:
        """Return a bound of the margin where it is finite: after which passes, and it.

        Parameters
        ----------
        name : {"margin_lower", "margin_upper"}
        """
        values = np.array([getattr(state, name) for state in self.trace])
        passes = np.array([state.n_passes for state in self.trace])
        drawn = np.isfinite(values)
        return passes[drawn], within_axes(values[drawn])

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        from matplotlib.ticker import MaxNLocator

        if not self.trace:
            self._say(ax)
            return
        for name, colour, marker in (
            ("margin_upper", ORANGE, "v"),
            ("margin_lower", BLUE, "^"),
        ):
            look: dict[str, Any] = {"color": colour, "marker": marker, "label": name}
            ax.plot(*self.bound(name), **look | given)
        first, last = self.trace[0], self.trace[-1]
        passed = "1 pass" if last.n_passes == 1 else f"{last.n_passes} passes"
        ax.set_title(f"{passed}, {last.n_rounds} rounds")
        ax.legend()
        ax.axhline(0.0, color=BLACK, linewidth=0.8)
        if first.n_passes == last.n_passes:
            ax.set_xlim(last.n_passes - 1, last.n_passes + 1)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("passes over the data")
        ax.set_ylabel("margin")

    def _say(self, ax: Axes) -> None:
        """Write what was decided where there is no pass to draw."""
        from textwrap import fill

        words = "No pass over all rows was needed, so there is nothing to draw."
        text = fill(words, 50) + "\n\n" + fill(self.message, 50)
        ax.text(0.5, 0.5, text, ha="center", va="center", transform=ax.transAxes)
        ax.set_axis_off()
