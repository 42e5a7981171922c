"""`linsep reproduce`: Figure 1 in numbers and pictures, the theorems, the commands."""

import csv
import math
from dataclasses import fields
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from click.testing import CliRunner

from helpers import ROOT
from linsep.lab.reproduce import figure_1, tables, theorems
from linsep.lab.reproduce.command import command as reproduce_group
from linsep.lab.reproduce.drawing import draw, save_all

KEPT = ROOT / "docs" / "figures" / "figure-1.csv"


def read_csv(path):
    """Read back the measurements that the command wrote."""
    whole = {f.name for f in fields(figure_1.Measurement) if f.type == "int"}
    with path.open(newline="", encoding="utf-8") as file:
        return [
            figure_1.Measurement(
                **{
                    name: int(text) if name in whole else float(text)
                    for name, text in line.items()
                }
            )
            for line in csv.DictReader(file)
        ]


@pytest.fixture(scope="module")
def small():
    return list(figure_1.measure_all(7))


def test_measurements_are_the_known_counts(small):
    updates = [row.perceptron_updates for row in small]
    assert updates == [1, 5, 21, 85, 341, 1365, 5461]
    # Algorithm 1, counted by a loop of its own in tests/perceptrons.
    assert small[6].optimistic_operations == small[6].optimistic_rounds * 16
    assert all(row.metric_rounds == 1 for row in small)
    for row in small:
        assert row.margin == pytest.approx(math.sqrt(3 / (4**row.n - 1)))
        assert row.optimistic_rounds <= math.floor(row.sharper_bound_rounds) + 1
        assert row.sharper_bound_rounds <= row.paper_bound_rounds * (1 + 1e-12)
        assert row.adaptive_operations == row.adaptive_rounds * (3 * row.n + 6)


def test_figures_kept_in_the_docs_are_what_is_measured(small):
    kept = read_csv(KEPT)
    assert [row.n for row in kept] == list(range(1, 16))
    for row, measured in zip(kept, small, strict=False):
        for name in figure_1.Measurement.__dataclass_fields__:
            tolerance = 0.05 if name.startswith(("adaptive", "metric")) else 1e-12
            assert getattr(row, name) == pytest.approx(
                getattr(measured, name), rel=tolerance
            ), name
    for row in kept:
        assert row.perceptron_updates == (4**row.n - 1) // 3
        passes = row.perceptron_passes
        assert row.perceptron_operations == row.n * passes + row.perceptron_updates
        # Both bounds are above what Algorithm 1 took, from n = 1 on.
        assert row.optimistic_operations <= row.sharper_bound_operations
        assert row.sharper_bound_operations <= row.paper_bound_operations
        assert row.metric_rounds == 1  # docs/honest.rst says so
    by_n = {row.n: row for row in kept}
    assert by_n[1].sharper_bound_operations == by_n[1].paper_bound_operations == 4
    page = (ROOT / "docs" / "figure-1.rst").read_text()
    for n in (12, 15):
        for name in ("perceptron", "optimistic", "sharper_bound", "paper_bound"):
            assert f" {getattr(by_n[n], name + '_operations'):,}\n" in page
    assert by_n[12].perceptron_operations == 39_146_853
    assert by_n[15].perceptron_operations == 3_042_268_521
    assert by_n[12].optimistic_rounds == 9_642
    assert by_n[15].optimistic_rounds == 86_265
    assert by_n[12].optimistic_operations == 250_692
    assert by_n[15].perceptron_mistakes_per_pass == pytest.approx(2, abs=1e-6)


def test_csv_kept_in_the_docs_is_as_the_command_writes_it(tmp_path):
    path = tmp_path / "figure-1.csv"
    tables.write_csv(read_csv(KEPT), path)
    assert path.read_bytes() == KEPT.read_bytes()


def test_csv_comes_back_as_written(small, tmp_path):
    path = tmp_path / "figure-1.csv"
    tables.write_csv(small, path)
    assert read_csv(path) == small
    header = path.read_text().splitlines()[0].split(",")
    assert header[0] == "n"
    assert "perceptron_mistakes_per_pass" in header


def test_progress_is_of_perceptrons_operations():
    assert figure_1.perceptron_operations(12) == pytest.approx(39_146_853, rel=1e-5)
    seen = []
    list(figure_1.measure_all(2, lambda n, operations: seen.append((n, operations))))
    assert all(operations >= 0 for _, operations in seen)
    with pytest.raises(
        ValueError, match="n_max must be an integer of at least 1, got 0"
    ):
        list(figure_1.measure_all(0))


def test_picture_has_both_panels_labelled_and_nothing_cut_off(small):
    figure = draw(small)
    left, right = figure.axes
    assert left.get_yscale() == "linear"
    assert right.get_yscale() == "log"
    for axes in (left, right):
        assert "n (rows and columns" in axes.get_xlabel()
        assert "total iterations" in axes.get_ylabel()
        assert len(axes.get_lines()) == 6
    # Lines differ by more than colour: in print all six can be told apart.
    looks = {
        (line.get_linestyle(), line.get_marker(), str(line._unscaled_dash_pattern))
        for line in right.get_lines()
    }
    assert len(looks) == 6
    assert len({line.get_color() for line in right.get_lines()}) == 6
    (legend,) = figure.legends
    assert len(legend.get_texts()) == 6
    figure.draw_without_rendering()
    box = figure.get_tightbbox()
    width, height = figure.get_size_inches()
    assert box.x0 >= -0.01
    assert box.y0 >= -0.01
    assert box.x1 <= width + 0.01
    assert box.y1 <= height + 0.01
    perceptron = right.get_lines()[0]
    np.testing.assert_array_equal(
        perceptron.get_ydata(), [row.perceptron_operations for row in small]
    )
    plt.close(figure)


def test_same_measurements_give_the_same_files(small, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        save_all(small[:3], tmp_path / name)
    for suffix in ("png", "svg"):
        one, other = (tmp_path / name / f"figure-1.{suffix}" for name in "ab")
        assert one.read_bytes() == other.read_bytes()


def test_figure_1_command_writes_everything(tmp_path):
    out = tmp_path / "made" / "here"
    result = CliRunner().invoke(
        reproduce_group, ["figure-1", "--n-max", "5", "--out", str(out)]
    )
    assert result.exit_code == 0, result.output
    assert sorted(path.name for path in out.iterdir()) == [
        "figure-1.csv",
        "figure-1.png",
        "figure-1.svg",
    ]
    assert "1,201" in result.output  # Perceptron at n = 5
    assert "1.983" in result.output  # its mistakes a pass
    assert (out / "figure-1.png").read_bytes()[:4] == b"\x89PNG"
    svg = (out / "figure-1.svg").read_text()
    assert "Optimistic Perceptron" in svg


@pytest.mark.parametrize("n_max", ["0", "99", "many"])
def test_figure_1_command_refuses_sizes_it_cannot_do(n_max, tmp_path):
    result = CliRunner().invoke(
        reproduce_group, ["figure-1", "--n-max", n_max, "--out", str(tmp_path)]
    )
    assert result.exit_code == 2
    assert "--n-max" in result.output


def test_figure_1_command_says_what_is_wrong_with_the_folder(tmp_path):
    file = tmp_path / "taken"
    file.write_text("")
    result = CliRunner().invoke(
        reproduce_group, ["figure-1", "--n-max", "1", "--out", str(file / "below")]
    )
    assert result.exit_code == 2
    assert "--out must be a folder" in result.output


def test_planted_rows_have_the_margin_and_the_radius_they_say():
    for n in (1, 2, 50):
        X, y = theorems.planted_rows(n, 3.0, 0.2, seed=1)
        np.testing.assert_allclose((y * X[:, 0]), 0.2)
        assert np.linalg.norm(X, axis=1).max() == pytest.approx(3.0)
        assert set(y.tolist()) == {1.0, -1.0} if n > 1 else {1.0}


@pytest.mark.parametrize("seed", range(4))
def test_every_cell_of_the_grid_holds(seed):
    rows = list(
        theorems.compare_grid((2, 30), (0.1, 1.0, 20.0), (0.5, 0.05), seed=seed)
    )
    assert len(rows) == 12
    for row in rows:
        assert row.holds, row
        assert max(row.theorem_1, row.theorem_2, row.theorem_3) <= 1
        assert row.rounds <= row.sharper_bound <= row.paper_bound
        assert row.perceptron_updates <= row.perceptron_bound


def test_theorems_command_prints_and_writes_the_table(tmp_path, monkeypatch):
    monkeypatch.setattr(theorems.compare_grid, "__defaults__", ((5,), (1.0,), (0.2,)))
    result = CliRunner().invoke(reproduce_group, ["theorems", "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert "Thm 1" in result.output
    assert "yes" in result.output
    with (tmp_path / "theorems.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert line["n"] == "5"
    assert line["holds"] == "True"


def test_a_claim_that_fails_is_exit_code_1(monkeypatch):
    from dataclasses import replace

    cell = theorems.compare(5, 1.0, 0.2)

    def failing(**options):
        yield replace(cell, holds=False)

    monkeypatch.setattr(theorems, "compare_grid", failing)
    result = CliRunner().invoke(reproduce_group, ["theorems"])
    assert result.exit_code == 1
    assert "NO" in result.output


@pytest.mark.parametrize("arguments", [["figure-1", "--n-max", "2"], ["theorems"]])
def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(
    arguments, monkeypatch
):
    if not Path("/sys/kernel").is_dir():
        pytest.skip("needs a folder nobody can write to")

    def too_late(*settings, **more):
        raise AssertionError("the folder must be tried before the work")

    monkeypatch.setattr(figure_1, "measure_all", too_late)
    monkeypatch.setattr(theorems, "compare_grid", too_late)
    result = CliRunner().invoke(reproduce_group, [*arguments, "--out", "/sys/kernel"])
    assert result.exit_code == 2, result.output
    assert "--out must be a folder that can be made and written to" in result.output


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        (["figure-1", "--n-max", "2"], "Algorithm 1"),
        (["theorems"], "Thm 1"),
    ],
)
def test_a_disk_that_fills_up_costs_the_files_and_not_the_table(
    arguments, shown, tmp_path, monkeypatch
):
    def fill_up(rows, path):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(theorems.compare_grid, "__defaults__", ((5,), (1.0,), (0.2,)))
    monkeypatch.setattr(tables, "write_csv", fill_up)
    result = CliRunner().invoke(reproduce_group, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 2, result.output
    assert shown in result.output
    assert "could not be written" in result.output
    assert "No space left on device" in result.output


def test_a_path_is_printed_with_its_control_characters_escaped(tmp_path, monkeypatch):
    monkeypatch.setattr(theorems.compare_grid, "__defaults__", ((5,), (1.0,), (0.2,)))
    out = tmp_path / "red\x1b[31m"
    result = CliRunner().invoke(reproduce_group, ["theorems", "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert f"wrote {tmp_path}/red\\u001b[31m/theorems.csv\n" in result.output
    assert "\x1b" not in result.output
