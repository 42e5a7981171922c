"""Pictures of a fitted classifier, made the way scikit-learn makes its own.

Each class has a ``from_estimator`` and a ``plot``, and keeps what it draws as
attributes. Matplotlib comes with ``pip install "linsep[plot]"``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from linsep.figure_style import BLACK, BLUE, ORANGE, VERMILION, new_figure, style
from linsep.input import InputError, check_features
from linsep.input.types import FeaturesLike, LabelsLike
from linsep.rows import as_dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.result import Progress, Separation

# Rows beyond this many are drawn as a sample; support and conflict rows always are.
MOST_POINTS = 4000


class _Display:
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


def _require_two_classes(estimator: OptimisticPerceptron) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise InputError(
            "the picture is of two classes, but the estimator was fitted on "
            f"{len(estimator.classes_)}; fit two of them, or one against the rest"
        )


def _separation(estimator: OptimisticPerceptron) -> Separation:
    """Return what was proved, of several hyperplanes of the first."""
    answer = estimator.separation_
    return answer[0] if isinstance(answer, tuple) else answer


def _signs(estimator: OptimisticPerceptron, y: LabelsLike) -> NDArray[np.float64]:
    """Return +1.0 for rows of ``classes_[1]`` and -1.0 for the others."""
    return np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)


@dataclass(kw_only=True, eq=False, repr=False)
class MarginDisplay(_Display):
    """Histogram of the signed distances from the hyperplane, support rows marked.

    Parameters
    ----------
    margins : ndarray of shape (n_samples,)
        Signed distances: positive on the right side.
    signs : ndarray of shape (n_samples,)
        +1.0 for rows of the second class.
    support : ndarray of int
        Rows that carry the solution.
    classes : sequence of two labels

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    margins: NDArray[np.float64]
    signs: NDArray[np.float64]
    support: NDArray[np.intp]
    classes: Any

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
        """Draw the margins of the training rows.

        Parameters
        ----------
        estimator : OptimisticPerceptron
            Fitted on two classes.
        X, y : array-like
            The rows it was fitted on.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        **kwargs
            To ``Axes.hist``, here and in `plot`.
        """
        _require_two_classes(estimator)
        signs = _signs(estimator, y)
        decisions = estimator.decision_function(X)
        length = estimator._length(estimator._coef[0]) or 1.0
        return cls(
            margins=signs * decisions / length,
            signs=signs,
            support=estimator.support_,
            classes=estimator.classes_,
        ).plot(ax=ax, **kwargs)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        sides = [self.margins[self.signs < 0], self.margins[self.signs > 0]]
        low, high = float(self.margins.min()), float(self.margins.max())
        # Rows all at one distance need one bin, and matplotlib refuses more.
        bins = 40 if high - low > 1e-9 * max(abs(low), abs(high)) else 1
        look: dict[str, Any] = {"bins": bins, "stacked": True, "color": [BLUE, ORANGE]}
        ax.hist(sides, label=[str(c) for c in self.classes], **look | given)
        ax.axvline(0.0, color=BLACK, linewidth=1.2)
        heights = ax.get_ylim()[1]
        marked = self.margins[self.support]
        ax.plot(
            marked,
            np.full(marked.size, -0.03 * heights),
            "|",
            color=VERMILION,
            markersize=9,
            label=f"{marked.size} support rows",
            clip_on=False,
        )
        ax.set_ylim(-0.06 * heights, heights)
        n_wrong = int(np.count_nonzero(self.margins <= 0))
        wrong = f", {n_wrong} rows on the wrong side" if n_wrong else ""
        ax.set_title(f"smallest margin {self.margins.min():.3g}{wrong}")
        ax.set_xlabel("signed distance from the hyperplane")
        ax.set_ylabel("rows")
        ax.legend()


@dataclass(kw_only=True, eq=False, repr=False)
class ConvergenceDisplay(_Display):
    """The interval that holds the largest margin, pass by pass.

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
        """Draw how the search for a separator converged.

        Parameters
        ----------
        estimator : OptimisticPerceptron
            Fitted.
        X, y
            Taken as by the other displays, and not looked at: the fit has kept all.
        ax
            As of `MarginDisplay.from_estimator`.
        **kwargs
            To ``Axes.plot``, here and in `plot`.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        answer = _separation(estimator)
        return cls(trace=answer.trace, message=answer.message).plot(ax=ax, **kwargs)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        from matplotlib.ticker import MaxNLocator

        if not self.trace:
            self._say(ax)
            return
        passes = np.array([state.n_passes for state in self.trace])
        for name, colour, marker in (
            ("margin_upper", ORANGE, "v"),
            ("margin_lower", BLUE, "^"),
        ):
            values = np.array([getattr(state, name) for state in self.trace])
            drawn = np.isfinite(values)
            look: dict[str, Any] = {"color": colour, "marker": marker, "label": name}
            ax.plot(passes[drawn], values[drawn], **look | given)
        last = self.trace[-1]
        passed = "1 pass" if last.n_passes == 1 else f"{last.n_passes} passes"
        ax.set_title(f"{passed}, {last.n_rounds} rounds")
        ax.legend()
        ax.axhline(0.0, color=BLACK, linewidth=0.8)
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


@dataclass(kw_only=True, eq=False, repr=False)
class ProjectionDisplay(_Display):
    """The rows in two dimensions that show the separation, or the conflict.

    Across: the signed distance from the hyperplane. Up: the first principal direction
    of what is left of the rows when their component along the normal is taken out.

    Parameters
    ----------
    across, up : ndarray of shape (n_samples,)
    signs, support, classes
        As of `MarginDisplay`.
    conflict : ndarray of int
        Rows to mark; empty if the classes are separated.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    across: NDArray[np.float64]
    up: NDArray[np.float64]
    signs: NDArray[np.float64]
    support: NDArray[np.intp]
    conflict: NDArray[np.intp]
    classes: Any

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
        """Draw the training rows of a fit with the linear kernel.

        Parameters
        ----------
        estimator, X, y, ax
            As of `MarginDisplay.from_estimator`.
        **kwargs
            To ``Axes.scatter``, here and in `plot`.
        """
        _require_two_classes(estimator)
        if estimator.kernel != "linear":
            raise InputError(
                f"the projection is of a linear fit, got kernel={estimator.kernel!r}; "
                "MarginDisplay shows the margins of any kernel"
            )
        rows = as_dense(check_features(X, estimator.n_features_in_))
        normal = estimator.coef_[0]
        length = float(np.linalg.norm(normal)) or 1.0
        rest = rows - np.outer(rows @ normal, normal) / length**2
        rest = rest - rest.mean(axis=0)
        _, _, directions = np.linalg.svd(rest, full_matrices=False)
        conflict = _separation(estimator).conflict
        return cls(
            across=(rows @ normal + estimator.intercept_[0]) / length,
            up=rest @ directions[0],
            signs=_signs(estimator, y),
            support=estimator.support_,
            conflict=np.empty(0, dtype=np.intp) if conflict is None else conflict,
            classes=estimator.classes_,
        ).plot(ax=ax, **kwargs)

    def _draw(self, ax: Axes, given: dict[str, Any]) -> None:
        shown = np.arange(self.across.size)
        if shown.size > MOST_POINTS:
            even = np.linspace(0, shown.size - 1, MOST_POINTS).astype(np.intp)
            shown = np.unique(np.concatenate([even, self.support, self.conflict]))
        for sign, colour, marker, label in (
            (-1.0, BLUE, "o", self.classes[0]),
            (1.0, ORANGE, "^", self.classes[1]),
        ):
            at = shown[self.signs[shown] == sign]
            look: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "s": 18,
                "alpha": 0.6,
            }
            ax.scatter(self.across[at], self.up[at], label=str(label), **look | given)
        if self.conflict.size:
            self._ring(ax, self.conflict, VERMILION, "the conflict")
        elif self.support.size:
            self._ring(ax, self.support, BLACK, "support rows")
        ax.axvline(0.0, color=BLACK, linewidth=1.2)
        ax.set_xlabel("signed distance from the hyperplane")
        ax.set_ylabel("first principal direction of the rest")
        ax.legend()

    def _ring(self, ax: Axes, at: NDArray[np.intp], colour: str, name: str) -> None:
        """Ring some rows, and count them in the legend."""
        ax.scatter(
            self.across[at],
            self.up[at],
            s=70,
            facecolors="none",
            edgecolors=colour,
            linewidths=1.2,
            label=f"{name} ({at.size})",
        )
