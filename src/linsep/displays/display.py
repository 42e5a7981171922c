"""What the displays have in common: where they draw, and what they are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from linsep.figure_style import new_figure, style
from linsep.input import InputError
from linsep.input.types import LabelsLike

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.diagnosis import Diagnosis
    from linsep.report.shown_rows import ShownRows
    from linsep.result import Separation

# What is further out is drawn here: wider axes overflow on the way to their ticks, and
# their transformation has no inverse in doubles.
LARGEST = 1e290


def within_axes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values as axes can hold them."""
    return np.clip(values, -LARGEST, LARGEST)


class Display:
    """What the displays have in common: where they draw."""

    ax_: Axes
    figure_: Figure | SubFigure

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a figure of its own; the class says where `kwargs` go."""
        if ax is None:
            with style():
                _, ax = new_figure((6.4, 4.0))
                assert ax is not None
                self._draw(ax, kwargs)
        else:
            self._draw(ax, kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        raise NotImplementedError


def require_two_classes(estimator: OptimisticPerceptron) -> None:
    """Raise unless a fitted estimator is of two classes."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise InputError(
            "the picture is of two classes, but the estimator was fitted on "
            f"{len(estimator.classes_)}; fit two of them, or one against the rest"
        )


def separation_of(estimator: OptimisticPerceptron) -> Separation:
    """Return what was proved, of several hyperplanes of the first."""
    answer = estimator.separation_
    return answer[0] if isinstance(answer, tuple) else answer


def signs_of(estimator: OptimisticPerceptron, y: LabelsLike) -> NDArray[np.float64]:
    """Return +1.0 for rows of ``classes_[1]`` and -1.0 for the others."""
    return np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)


def rows_of(answer: Separation | Diagnosis) -> ShownRows:
    """Return the rows an answer can show."""
    shown = answer.shown_rows()
    if shown is None:
        raise InputError(
            "the picture needs the rows, which this answer does not hold (it is "
            "undecided, was unpickled, or is about no column); make the answer again"
        )
    return shown
