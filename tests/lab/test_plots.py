"""Pictures of a game: what they show, nothing cut off, errors that are clear."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import linsep
from linsep import figure_style
from linsep.game import (
    OFTRL,
    Backtracking,
    Constant,
    FirstViolatedRow,
    MirrorDescent,
    OnlineGradientAscent,
    play,
)
from linsep.plotting import (
    BoundsDisplay,
    GameDisplay,
    WeightsDisplay,
    animate_game,
    plot_convergence,
    plot_game,
    plot_weights,
)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def planar_rows(n=20, *, constant=True, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = np.where(X @ [1.0, 0.5] > 0, 1.0, -1.0)
    X += 0.2 * y[:, None] * [1.0, 0.5]
    columns = [X, np.ones((n, 1))] if constant else [X]
    return y[:, None] * np.hstack(columns), X, y


def play_of(A, rounds=60):
    r = np.linalg.norm(A, axis=1).max()
    return play(A, OFTRL(), MirrorDescent(steps=Constant(1 / r**2)), rounds)


def assert_nothing_is_cut_off(figure):
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    # A picture is saved with its tight box; inside the page is better still.
    assert box.x0 >= -0.1
    assert box.y0 >= -0.1
    assert box.x1 <= width + 0.1
    assert box.y1 <= height + 0.1


def test_convergence_draws_the_interval_and_the_separation():
    transcript = play_of(planar_rows()[0])
    figure = plot_convergence(transcript)
    (axes,) = figure.axes
    assert axes.get_xlabel() == "round"
    assert axes.get_ylabel() == "margin (units of the rows)"
    drawn = {line.get_label(): line for line in axes.get_lines()}
    np.testing.assert_array_equal(
        drawn["margin of the average (below it)"].get_ydata(), transcript.margin_average
    )
    np.testing.assert_array_equal(
        drawn["margin of the last move (below it)"].get_ydata(), transcript.margin_last
    )
    upper = next(line for label, line in drawn.items() if "above it" in label)
    np.testing.assert_array_equal(upper.get_ydata(), transcript.pseudoexample_norm)
    when = next(line for label, line in drawn.items() if "separates" in label)
    assert when.get_xdata()[0] == transcript.separated_at
    low, high = axes.get_ylim()
    assert low < np.nanmin(transcript.margin_last)
    assert high > transcript.pseudoexample_norm.max()
    assert_nothing_is_cut_off(figure)


def test_convergence_of_rows_no_hyperplane_separates_shows_small_numbers():
    A, _, _ = planar_rows()
    A = np.vstack([A, -A[:2]])
    transcript = play(
        A, OFTRL(), MirrorDescent(), 80, weights=Backtracking(1.0, growth=1.3)
    )
    figure = plot_convergence(transcript)
    (axes,) = figure.axes
    assert axes.get_yscale() == "symlog"
    assert 0.0 in axes.get_yticks()
    assert_nothing_is_cut_off(figure)


def test_convergence_of_perceptron_starts_without_a_direction():
    A, _, _ = planar_rows()
    transcript = play(A, OnlineGradientAscent(), FirstViolatedRow(), 8)
    assert np.isnan(transcript.margin_last[0])
    assert_nothing_is_cut_off(plot_convergence(transcript))


@pytest.mark.parametrize("average", [False, True])
def test_weights_are_drawn_heaviest_first(average):
    transcript = play_of(planar_rows(40)[0])
    figure = plot_weights(transcript, average=average)
    axes, bar = figure.axes
    shown = [int(text.get_text()) for text in axes.get_yticklabels()]
    assert len(shown) == 25
    final = transcript.average_p[-1]
    assert (np.diff(final[shown]) <= 0).all()
    assert final[shown].min() >= np.delete(final, shown).max()
    assert "weight" in bar.get_ylabel()
    assert axes.yaxis_inverted()
    (image,) = axes.collections
    weights = transcript.average_p if average else transcript.p
    np.testing.assert_allclose(
        image.get_array().reshape(25, -1), weights[:, shown].T, rtol=1e-12
    )
    assert_nothing_is_cut_off(figure)


def test_weights_of_chosen_rows_and_of_a_long_play():
    transcript = play_of(planar_rows(6)[0], rounds=1500)
    figure = plot_weights(transcript, rows=[4, 0])
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["4", "0"]
    assert axes.get_xscale() == "log"
    with pytest.raises(ValueError, match="rows must be numbers from 0 to 5, got"):
        plot_weights(transcript, rows=[6])


def test_game_draws_points_weights_and_hyperplanes():
    A, X, y = planar_rows()
    transcript = play_of(A)
    figure = plot_game(transcript, rounds=[1, 10, 60])
    assert [axes.get_title() for axes in figure.axes] == [
        "round 1",
        "round 10",
        "round 60",
    ]
    last = figure.axes[-1]
    positive, negative, wrong = last.collections
    np.testing.assert_allclose(positive.get_offsets(), X[y > 0])
    np.testing.assert_allclose(negative.get_offsets(), X[y < 0])
    areas = np.concatenate([positive.get_sizes(), negative.get_sizes()])
    p = np.concatenate([transcript.p[59][y > 0], transcript.p[59][y < 0]])
    assert np.argmax(areas) == np.argmax(p)
    average = transcript.average_w[59]
    assert len(wrong.get_offsets()) == (A @ average <= 0).sum()
    line = last.get_lines()[0]
    (x0, y0), (x1, y1) = line.get_xy1(), line.get_xy2()
    assert [x0, y0, 1.0] @ average == pytest.approx(0, abs=1e-12)
    assert [x1, y1, 1.0] @ average == pytest.approx(0, abs=1e-9)
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 5
    assert_nothing_is_cut_off(figure)


def test_game_chooses_rounds_and_draws_signed_rows():
    A, X, y = planar_rows(constant=False)
    transcript = play(A, OnlineGradientAscent(), FirstViolatedRow(), 9)
    figure = plot_game(transcript)
    titles = [axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert titles[0] == "round 1"
    assert titles[-1] == "round 9"
    np.testing.assert_allclose(figure.axes[0].collections[0].get_offsets(), A)
    assert "signed" in figure.axes[-2].get_xlabel() + figure.axes[-1].get_xlabel()
    with_labels = plot_game(transcript, labels=y)
    np.testing.assert_allclose(
        with_labels.axes[0].collections[0].get_offsets(), X[y > 0]
    )


def test_one_panel_is_a_picture_too():
    figure = plot_game(play_of(planar_rows(5)[0], rounds=1))
    assert len(figure.axes) == 1
    assert_nothing_is_cut_off(figure)


@pytest.mark.parametrize(
    ("columns", "options", "match"),
    [
        (4, {}, "two columns, or three with the signed constant last, got 4"),
        (2, {"rounds": [0]}, r"rounds must be numbers from 1 to 3, got \[0\]"),
        (2, {"rounds": [4]}, "rounds must be numbers from 1 to 3"),
        (2, {"labels": [1, 0, 1]}, r"labels must be 3 numbers \+1 or -1"),
        (2, {"labels": [1, -1]}, r"labels must be 3 numbers"),
    ],
)
def test_game_that_cannot_be_drawn_says_why(columns, options, match):
    A = np.random.default_rng(0).normal(size=(3, columns))
    transcript = play(A, OFTRL(), MirrorDescent(), 3)
    with pytest.raises(ValueError, match=match):
        plot_game(transcript, **options)


PICTURES = [
    (plot_convergence, "png", b"\x89PNG"),
    (plot_weights, "svg", b"<?xml"),
    (plot_game, "pdf", b"%PDF"),
]


@pytest.mark.parametrize(("plot", "suffix", "start"), PICTURES)
def test_pictures_are_saved_in_the_format_of_the_suffix(plot, suffix, start, tmp_path):
    path = tmp_path / f"picture.{suffix}"
    plot(play_of(planar_rows(6)[0], rounds=5), path=path)
    assert path.read_bytes().startswith(start)


def test_style_does_not_leak():
    before = plt.rcParams["axes.spines.top"]
    plot_convergence(play_of(planar_rows(6)[0], rounds=5))
    assert plt.rcParams["axes.spines.top"] == before


def test_missing_matplotlib_says_how_to_install_it(monkeypatch):
    transcript = play_of(planar_rows(6)[0], rounds=5)
    monkeypatch.setattr(figure_style, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r'pip install "linsep\[plot\]"'):
        plot_convergence(transcript)


def dark_pixels(figure):
    """Return how many pixels inside the axes are not white."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3]
    return int((pixels.min(axis=2) < 200).sum())


@pytest.mark.parametrize("rounds", [1, 2, 21])
def test_convergence_of_few_rounds_shows_every_point(rounds):
    transcript = play_of(planar_rows()[0], rounds=rounds)
    (axes,) = plot_convergence(transcript).axes
    measured = axes.get_lines()[:3]
    marks = [line.get_marker() for line in measured]
    assert len(set(marks)) == (3 if rounds <= 20 else 1)
    if rounds == 1:
        drawn = dark_pixels(axes.figure)
        for line in measured:
            line.set_visible(False)
        assert drawn > dark_pixels(axes.figure) + 50
        (band,) = axes.collections
        assert np.ptp(band.get_paths()[0].vertices[:, 0]) == 1.0


@pytest.mark.parametrize("rounds", [1, 5, 30])
def test_rows_of_zeros_are_drawn_without_a_warning(rounds):
    transcript = play(np.zeros((3, 2)), OFTRL(), MirrorDescent(), rounds)
    for draw in (plot_convergence, plot_weights, plot_game):
        draw(transcript).canvas.draw()


@pytest.mark.parametrize("draw", [plot_game, plot_weights])
@pytest.mark.parametrize("chosen", [[1.5], [], [99], [-1], "1", [True], [None]])
def test_rounds_and_rows_to_draw_must_be_whole_and_there(draw, chosen):
    transcript = play_of(planar_rows()[0], rounds=9)
    name = "rounds" if draw is plot_game else "rows"
    with pytest.raises(ValueError, match=f"{name} must be numbers from"):
        draw(transcript, **{name: chosen})


def test_displays_of_a_game_draw_where_they_are_told_and_return_themselves():
    transcript = play_of(planar_rows()[0])
    figure, panels = plt.subplots(1, 3, figsize=(14, 4))
    for display, ax in zip(
        (BoundsDisplay, WeightsDisplay, GameDisplay), panels, strict=True
    ):
        made = display.from_transcript(transcript, ax=ax)
        assert made.ax_ is ax
        assert made.figure_ is figure
        alone = display.from_transcript(transcript)
        assert alone.figure_ is not figure
    assert panels[2].get_title() == "round 60"


def test_a_round_that_was_not_played_is_refused():
    transcript = play_of(planar_rows()[0])
    with pytest.raises(linsep.InputError, match="round"):
        GameDisplay.from_transcript(transcript, round=61)


def test_the_game_is_animated_from_its_first_round_to_its_last(tmp_path):
    transcript = play_of(planar_rows()[0])
    path = tmp_path / "game.gif"
    animate_game(transcript, most_frames=5, seconds=1.0, path=path)
    from PIL import Image

    with Image.open(path) as film:
        assert film.n_frames == 5
        assert film.info["duration"] == 200
    assert [file.name for file in tmp_path.iterdir()] == ["game.gif"]
