"""The displays: what is drawn is what the fit says."""

import matplotlib

matplotlib.use("Agg")

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_digits

import linsep
from linsep import OptimisticPerceptron
from linsep.displays import (
    ConvergenceDisplay,
    MarginDisplay,
    ProjectionDisplay,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def fitted():
    X, y = load_digits(return_X_y=True)
    keep = (y == 3) | (y == 8)
    X, y = X[keep], y[keep]
    return OptimisticPerceptron("max_margin").fit(X, y), X, y


def test_margin_display_counts_every_row_and_marks_the_support(fitted):
    model, X, y = fitted
    display = MarginDisplay.from_estimator(model, X, y, bins=20)
    assert display.margins.min() == pytest.approx(model.margin_)
    drawn = sum(patch.get_height() for patch in display.ax_.patches[:20])
    stacked = sum(patch.get_height() for patch in display.ax_.patches[20:40])
    assert drawn + stacked == len(y)
    texts = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert f"{model.support_.size} support rows" in texts


def test_projection_display_keeps_distances_and_separates(fitted):
    model, X, y = fitted
    display = ProjectionDisplay.from_estimator(model, X, y)
    length = np.linalg.norm(model.coef_)
    np.testing.assert_allclose(display.across, model.decision_function(X) / length)
    assert ((display.across > 0) == (y == 8)).all()
    # Up is a unit direction across the normal: a projection lengthens nothing.
    spread = np.linalg.norm(X - X.mean(axis=0), axis=1)
    assert (np.abs(display.up) <= spread * (1 + 1e-9)).all()
    texts = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert f"support rows ({model.support_.size})" in texts


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_projection_display_marks_the_conflict():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0], [9.0, 1.0]])
    y = [0, 1, 0, 1, 1]
    model = OptimisticPerceptron().fit(X, y)
    conflict = model.separation_.conflict
    assert conflict is not None
    display = ProjectionDisplay.from_estimator(model, X, y)
    texts = [t.get_text() for t in display.ax_.get_legend().get_texts()]
    assert f"the conflict ({conflict.size})" in texts


def test_convergence_display_draws_the_trace():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 10))
    model = OptimisticPerceptron("max_margin").fit(X, X @ np.ones(10) > 0)
    display = ConvergenceDisplay.from_estimator(model)
    upper, lower = display.ax_.lines[:2]
    assert upper.get_ydata()[-1] == model.separation_.margin_upper
    assert (np.diff(upper.get_ydata()) <= 0).all()
    assert lower.get_xdata()[-1] == model.separation_.n_passes


def test_displays_draw_on_the_axes_given(fitted):
    model, X, y = fitted
    _, ax = pyplot.subplots()
    assert MarginDisplay.from_estimator(model, X, y, ax=ax).ax_ is ax
    assert ProjectionDisplay.from_estimator(model, X, y, ax=ax).figure_ is ax.figure


def test_displays_of_two_classes_refuse_three():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [20.0], [21.0]])
    model = OptimisticPerceptron().fit(X, [0, 0, 1, 1, 2, 2])
    with pytest.raises(ValueError, match="of two classes"):
        MarginDisplay.from_estimator(model, X, [0, 0, 1, 1, 2, 2])


def test_projection_refuses_a_kernel():
    X, y = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [0, 0, 1, 1]
    model = OptimisticPerceptron(kernel="rbf").fit(X, y)
    with pytest.raises(ValueError, match="linear fit"):
        ProjectionDisplay.from_estimator(model, X, y)
    assert MarginDisplay.from_estimator(model, X, y).margins.min() > 0


def test_displays_are_among_the_pictures_and_share_their_style(fitted):
    assert linsep.plotting.MarginDisplay is linsep.MarginDisplay is MarginDisplay
    assert linsep.plotting.plot_game.__module__ == "linsep.lab.plots"
    model, X, y = fitted
    own = MarginDisplay.from_estimator(model, X, y).ax_
    assert not own.spines["top"].get_visible()
    given = pyplot.subplots()[1]  # one's own axes keep one's own style
    MarginDisplay.from_estimator(model, X, y, ax=given)
    assert given.spines["top"].get_visible()


def test_a_kernel_summary_speaks_of_kernel_functions_of_rows():
    X = np.array([[-1.0], [-1.2], [0.0], [0.1], [1.0], [1.3]])
    model = OptimisticPerceptron(kernel="rbf").fit(X, [1, 1, 0, 0, 1, 1])
    text = " ".join(model.separation_.summary().split())
    assert "(6 rows, 6 kernel functions.)" in text
    assert "features" not in text
    assert "k(x, row " in text


def test_displays_of_an_answer_draw_what_those_of_the_fit_draw(fitted):
    model, X, y = fitted
    answer = linsep.max_margin(X, y)
    drawn = MarginDisplay.from_answer(answer)
    of_fit = MarginDisplay.from_estimator(model, X, y)
    np.testing.assert_allclose(drawn.margins, of_fit.margins, atol=1e-6)
    assert drawn.support.tolist() == answer.support.tolist()
    shown = ProjectionDisplay.from_answer(answer)
    np.testing.assert_allclose((shown.across > 0), (y == 8))
    assert ConvergenceDisplay.from_answer(answer).trace == answer.trace


def test_a_diagnosis_of_three_classes_has_a_projection_and_no_margins():
    X, y = load_digits(return_X_y=True)
    keep = y < 3
    answer = linsep.diagnose(X[keep][:, 20:24], y[keep], family="multinomial")
    shown = ProjectionDisplay.from_answer(answer)
    assert len(shown.classes) == 3
    points = [len(drawn.get_offsets()) for drawn in shown.ax_.collections[:3]]
    assert sum(points) == shown.drawn.size == keep.sum()
    with pytest.raises(linsep.InputError, match="two classes"):
        MarginDisplay.from_answer(answer)


def test_names_with_dollar_signs_are_drawn_as_they_are():
    answer = linsep.separate([[0.0], [1.0]], ["$\\broken{", "b$"])
    display = ProjectionDisplay.from_answer(answer)
    display.figure_.draw_without_rendering()
