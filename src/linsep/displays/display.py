"""What the displays have in common: where they draw, and what they are told."""

from __future__ import annotations

from contextlib import nullcontext
from copy import copy
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from linsep.arrays import Floats
from linsep.figure_style import new_figure, style
from linsep.input import InputError
from linsep.input.types import FeaturesLike, LabelsLike
from linsep.rows.device import to_numpy

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


def within_axes(values: Floats) -> Floats:
    """Return values as axes can hold them."""
    return np.clip(values, -LARGEST, LARGEST)


class Display:
    """What the displays have in common: of what they are, and where they draw."""

    ax_: Axes
    figure_: Figure | SubFigure

    @classmethod
    def from_estimator(
        cls,
        estimator: OptimisticPerceptron,
        X: FeaturesLike,
        y: LabelsLike,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fit.

        Parameters
        ----------
        estimator : OptimisticPerceptron
            Fitted on two classes.
        X, y : array-like
            The rows it was fitted on.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs
            As in `plot`.
        """
        return cls._of_estimator(estimator, X, y).plot(ax=ax, **kwargs)

    @classmethod
    def from_answer(cls, answer: Any, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw an answer: the rows it is about, of very many an even sample.

        Parameters
        ----------
        answer : Separation or Diagnosis
            As the call returned it: an unpickled answer has lost the rows.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs
            As in `plot`.

        Raises
        ------
        InputError
            If the answer has no rows to draw, or none that this picture can show.
        """
        return cls._of_answer(answer).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> Self:
        """Draw on `ax`, or on a figure of its own; the class says where `kwargs` go."""
        with style() if ax is None else nullcontext():
            if ax is None:
                _, ax = new_figure((6.4, 4.0))
            self._draw(ax, kwargs)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    @classmethod
    def _of_estimator(cls, estimator: Any, X: Any, y: Any) -> Self:
        raise NotImplementedError

    @classmethod
    def _of_answer(cls, answer: Any) -> Self:
        raise NotImplementedError

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        raise NotImplementedError


def on_processor(estimator: OptimisticPerceptron) -> OptimisticPerceptron:
    """Return a fitted estimator of two classes, its arrays on the processor."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    n_classes = estimator.classes_.shape[0]
    if n_classes != 2:
        raise InputError(
            "the picture is of two classes, but the estimator was fitted on "
            f"{n_classes}; fit two of them, or one against the rest"
        )
    there = copy(estimator)
    for name, value in vars(estimator).items():
        setattr(there, name, to_numpy(value))
    return there


def separation_of(estimator: OptimisticPerceptron) -> Separation:
    """Return what was proved, of several hyperplanes of the first."""
    answer = estimator.separation_
    return answer[0] if isinstance(answer, tuple) else answer


def signs_of(estimator: OptimisticPerceptron, y: LabelsLike) -> Floats:
    """Return +1.0 for rows of ``classes_[1]`` and -1.0 for the others."""
    return np.where(np.asarray(to_numpy(y)) == estimator.classes_[1], 1.0, -1.0)


def rows_of(answer: Separation | Diagnosis) -> ShownRows:
    """Return the rows an answer can show."""
    shown = answer.shown_rows()
    if shown is None:
        raise InputError(
            "the picture needs the rows, which this answer does not hold (it is "
            "undecided, was unpickled, or is about no column); make the answer again"
        )
    return shown
