"""Pictures of a fitted classifier, made the way scikit-learn makes its own.

Each class has a ``from_estimator`` and a ``plot``, and keeps what it draws as
attributes. Matplotlib comes with ``pip install "linsep[plot]"``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.rows import as_dense

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.result import Progress

__all__ = ["ConvergenceDisplay", "MarginDisplay", "ProjectionDisplay"]

# Okabe & Ito, "Color universal design" (2008): colour-blind readers tell them apart.
NEGATIVE, POSITIVE, WRONG, LINE = "#0072B2", "#E69F00", "#D55E00", "#000000"
# Rows beyond this many are drawn as a sample; support and conflict rows always are.
MOST_POINTS = 4000


def _axes(ax: Axes | None) -> Axes:
    """Return the axes to draw on."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            'pictures need matplotlib; install it with: pip install "linsep[plot]"'
        ) from error
    _, made = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    return made


def _two_classes(estimator: OptimisticPerceptron) -> None:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    if len(estimator.classes_) != 2:
        raise ValueError(
            "the picture is of two classes, but the estimator was fitted on "
            f"{len(estimator.classes_)}; fit two of them, or one against the rest"
        )


def _signed(estimator: OptimisticPerceptron, y: Any) -> NDArray[np.float64]:
    """Return +1.0 for rows of ``classes_[1]`` and -1.0 for the others."""
    return np.where(np.asarray(y) == estimator.classes_[1], 1.0, -1.0)


class MarginDisplay:
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

    def __init__(
        self,
        *,
        margins: NDArray[np.float64],
        signs: NDArray[np.float64],
        support: NDArray[np.intp],
        classes: Any,
    ) -> None:
        self.margins = margins
        self.signs = signs
        self.support = support
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: OptimisticPerceptron,
        X: Any,
        y: Any,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> MarginDisplay:
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
            To ``Axes.hist``.
        """
        _two_classes(estimator)
        signs = _signed(estimator, y)
        decisions = estimator.decision_function(X)
        length = estimator._length(estimator._coef[0]) or 1.0
        display = cls(
            margins=signs * decisions / length,
            signs=signs,
            support=estimator.support_,
            classes=estimator.classes_,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> MarginDisplay:
        """Draw on `ax`; keyword arguments go to ``Axes.hist``."""
        ax = _axes(ax)
        sides = [self.margins[self.signs < 0], self.margins[self.signs > 0]]
        low, high = float(self.margins.min()), float(self.margins.max())
        # Rows all at one distance need one bin, and matplotlib refuses more.
        bins = 40 if high - low > 1e-9 * max(abs(low), abs(high)) else 1
        given: dict[str, Any] = {
            "bins": bins,
            "stacked": True,
            "color": [NEGATIVE, POSITIVE],
        } | kwargs
        ax.hist(sides, label=[str(c) for c in self.classes], **given)
        ax.axvline(0.0, color=LINE, linewidth=1.2)
        heights = ax.get_ylim()[1]
        marked = self.margins[self.support]
        ax.plot(
            marked,
            np.full(marked.size, -0.03 * heights),
            "|",
            color=WRONG,
            markersize=9,
            label=f"{marked.size} support rows",
            clip_on=False,
        )
        ax.set_ylim(-0.06 * heights, heights)
        n_wrong = int(np.count_nonzero(self.margins <= 0))
        ax.set_title(
            f"smallest margin {self.margins.min():.3g}"
            + (f", {n_wrong} rows on the wrong side" if n_wrong else "")
        )
        ax.set_xlabel("signed distance from the hyperplane")
        ax.set_ylabel("rows")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ConvergenceDisplay:
    """The interval that holds the largest margin, pass by pass.

    Parameters
    ----------
    trace : tuple of Progress
        Of a `Separation`.

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    def __init__(self, *, trace: tuple[Progress, ...]) -> None:
        self.trace = trace

    @classmethod
    def from_estimator(
        cls, estimator: OptimisticPerceptron, *, ax: Axes | None = None, **kwargs: Any
    ) -> ConvergenceDisplay:
        """Draw how the fit converged.

        Parameters
        ----------
        estimator : OptimisticPerceptron
            Fitted.
        ax : matplotlib Axes or None, default=None
        **kwargs
            To ``Axes.plot``.
        """
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(estimator)
        answer = estimator.separation_
        answer = answer[0] if isinstance(answer, tuple) else answer
        return cls(trace=answer.trace).plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> ConvergenceDisplay:
        """Draw on `ax`; keyword arguments go to ``Axes.plot``."""
        from matplotlib.ticker import MaxNLocator

        ax = _axes(ax)
        passes = np.array([state.n_passes for state in self.trace])
        for name, colour, marker in (
            ("margin_upper", POSITIVE, "v"),
            ("margin_lower", NEGATIVE, "^"),
        ):
            values = np.array([getattr(state, name) for state in self.trace])
            drawn = np.isfinite(values)
            given: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "label": name,
            } | kwargs
            ax.plot(passes[drawn], values[drawn], **given)
        if not self.trace:
            ax.text(
                0.5,
                0.5,
                "decided without a pass over the data",
                ha="center",
                transform=ax.transAxes,
            )
        ax.axhline(0.0, color=LINE, linewidth=0.8)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("passes over the data")
        ax.set_ylabel("margin")
        if self.trace:
            last = self.trace[-1]
            ax.set_title(f"{last.n_passes} passes, {last.n_rounds} rounds")
            ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self


class ProjectionDisplay:
    """The rows in two dimensions that show the separation, or the conflict.

    Across: the signed distance from the hyperplane. Up: the first principal direction
    of what is left of the rows when their component along the normal is taken out.

    Parameters
    ----------
    across, up : ndarray of shape (n_samples,)
    signs : ndarray of shape (n_samples,)
        +1.0 for rows of the second class.
    support, conflict : ndarray of int
        Rows to mark; the conflict is empty if the classes are separated.
    classes : sequence of two labels

    Attributes
    ----------
    ax_, figure_
        Matplotlib's, after `plot`.
    """

    def __init__(
        self,
        *,
        across: NDArray[np.float64],
        up: NDArray[np.float64],
        signs: NDArray[np.float64],
        support: NDArray[np.intp],
        conflict: NDArray[np.intp],
        classes: Any,
    ) -> None:
        self.across = across
        self.up = up
        self.signs = signs
        self.support = support
        self.conflict = conflict
        self.classes = classes

    @classmethod
    def from_estimator(
        cls,
        estimator: OptimisticPerceptron,
        X: Any,
        y: Any,
        *,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> ProjectionDisplay:
        """Draw the training rows.

        Parameters
        ----------
        estimator : OptimisticPerceptron
            Fitted on two classes, with the linear kernel.
        X, y : array-like
            The rows it was fitted on.
        ax : matplotlib Axes or None, default=None
        **kwargs
            To ``Axes.scatter``.
        """
        from linsep.input import check_features

        _two_classes(estimator)
        if estimator.kernel != "linear":
            raise ValueError(
                f"the projection is of a linear fit, got kernel={estimator.kernel!r}; "
                "MarginDisplay shows the margins of any kernel"
            )
        features = check_features(X, estimator.n_features_in_)
        rows = as_dense(features)
        normal = estimator.coef_[0]
        length = float(np.linalg.norm(normal)) or 1.0
        across = (rows @ normal + estimator.intercept_[0]) / length
        rest = rows - np.outer(rows @ normal, normal) / length**2
        rest = rest - rest.mean(axis=0)
        _, _, directions = np.linalg.svd(rest, full_matrices=False)
        conflict = estimator.separation_.conflict
        display = cls(
            across=across,
            up=rest @ directions[0],
            signs=_signed(estimator, y),
            support=estimator.support_,
            conflict=np.empty(0, dtype=np.intp) if conflict is None else conflict,
            classes=estimator.classes_,
        )
        return display.plot(ax=ax, **kwargs)

    def plot(self, *, ax: Axes | None = None, **kwargs: Any) -> ProjectionDisplay:
        """Draw on `ax`; keyword arguments go to ``Axes.scatter``."""
        ax = _axes(ax)
        shown = self._shown()
        for sign, colour, marker, label in (
            (-1.0, NEGATIVE, "o", self.classes[0]),
            (1.0, POSITIVE, "^", self.classes[1]),
        ):
            at = shown[self.signs[shown] == sign]
            given: dict[str, Any] = {
                "color": colour,
                "marker": marker,
                "s": 18,
                "alpha": 0.6,
            } | kwargs
            ax.scatter(self.across[at], self.up[at], label=str(label), **given)
        if self.conflict.size:
            self._ring(ax, self.conflict, WRONG, "the conflict")
        elif self.support.size:
            self._ring(ax, self.support, LINE, "support rows")
        ax.axvline(0.0, color=LINE, linewidth=1.2)
        ax.set_xlabel("signed distance from the hyperplane")
        ax.set_ylabel("first principal direction of the rest")
        ax.legend()
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _shown(self) -> NDArray[np.intp]:
        n = self.across.size
        if n <= MOST_POINTS:
            return np.arange(n)
        even = np.linspace(0, n - 1, MOST_POINTS).astype(np.intp)
        return np.unique(np.concatenate([even, self.support, self.conflict]))

    def _ring(self, ax: Axes, at: NDArray[np.intp], colour: str, name: str) -> None:
        ax.scatter(
            self.across[at],
            self.up[at],
            s=70,
            facecolors="none",
            edgecolors=colour,
            linewidths=1.2,
            label=f"{name} ({at.size})",
        )
