"""Columns of text and categories in a frame are those that C() makes of them."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import linsep
from linsep.diagnosis.inputs.tables import study_from_data

FAMILIES = ["binomial", "poisson", "multinomial", "ordinal"]


def a_frame(seed=0, n=90, family="binomial"):
    """Numbers, a text of which one level has one outcome only, and categories."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "colour": rng.choice(["red", "blue", "green"], n, p=[0.2, 0.5, 0.3]),
            "x": rng.integers(-3, 4, n).astype(float),
            "size": pd.Categorical(rng.choice(["s", "m"], n, p=[0.3, 0.7])),
        }
    )
    y = rng.integers(0, 2 if family == "binomial" else 3, n)
    return frame, np.where(frame.colour == "red", 0, y)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("family", FAMILIES)
def test_text_in_a_frame_is_coded_as_by_a_formula(family, library):
    frame, y = a_frame(family=family)
    given = frame
    if library == "polars":
        given = pytest.importorskip("polars").from_pandas(frame)
    ours = linsep.diagnose(given, y, family=family)
    common = {c: frame[c].value_counts().idxmax() for c in ("colour", "size")}
    coded = " + ".join(
        f"C({c}, contr.treatment(base='{level}'))" for c, level in common.items()
    )
    data = frame.assign(y=y)
    theirs = linsep.diagnose(f"y ~ x + {coded}", data, family=family)
    plain = {
        re.sub(r"C\((\w+), contr.treatment\(.*?\)\)", r"\1", name): verdict
        for name, verdict in theirs.estimates.items()
    }
    assert ours.estimates == plain
    assert ours.status == theirs.status
    np.testing.assert_array_equal(ours.separated_rows, theirs.separated_rows)
    n_red = int((frame.colour == "red").sum())
    assert f"colour = red in {n_red} rows, all y = 0." in ours.summary()
    assert (
        "Text and categories as columns: colour, 3 levels, the reference is "
        f"{common['colour']}; size, 2 levels, the reference is {common['size']}."
    ) in ours.findings


def test_a_reference_of_one_outcome_is_named():
    frame, y = a_frame(1)
    y = np.where(frame.colour == "blue", 1, 0 * y)
    answer = linsep.diagnose(frame, y)
    n_blue = int((frame.colour == "blue").sum())
    assert f"colour = blue in {n_blue} rows, all y = 1." in answer.summary()


def test_without_an_intercept_the_first_text_has_all_levels():
    frame, y = a_frame(2)
    answer = linsep.diagnose(frame[["colour", "size"]], y, fit_intercept=False)
    assert answer.coefficient_names == (
        "colour[blue]",
        "colour[green]",
        "colour[red]",
        "size[T.s]",
    )
    assert answer.rank == 4
    assert answer.estimates["colour[red]"] == "-inf"


def test_levels_without_a_weight_have_no_column():
    frame, y = a_frame(3)
    weight = (frame.colour != "green").to_numpy().astype(int)
    ours = linsep.diagnose(frame, y, sample_weight=weight)
    kept = weight == 1
    theirs = linsep.diagnose(frame[kept], y[kept])
    assert ours.estimates == theirs.estimates
    assert not ours.collinear


def test_text_of_hundreds_of_levels_is_sparse():
    rng = np.random.default_rng(0)
    n = 10_000
    frame = pd.DataFrame({"firm": np.arange(n) % 1000, "x": rng.standard_normal(n)})
    frame["firm"] = frame.firm.map("firm {:03d}".format)
    study = study_from_data(
        frame, rng.integers(0, 2, n), family="binomial", fit_intercept=True
    )
    assert sparse.issparse(study.X)
    assert study.X.shape == (n, 1000)  # 999 levels and x
    assert study.X.nnz == n + n - 10
    with pytest.raises(linsep.InputError, match="more than 999 different values"):
        linsep.diagnose(frame[:-1], np.arange(n - 1) % 2)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([f"{i}" for i in range(89)] + ["9O"], "another value in each of the 90 rows"),
        (["a", None, "b"] * 30, "column 'new', row 1 .*30 of 90 rows .*'new' 30"),
        (pd.Categorical(["a", None, "b"] * 30), "30 of 90 rows .*'new' 30"),
        ([[1]] * 90, "numbers only.*'new'"),
    ],
)
def test_other_columns_are_refused(column, said):
    frame, y = a_frame()
    with pytest.raises(linsep.InputError, match=said):
        linsep.diagnose(frame.assign(new=column), y)


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ([f"id {i}" for i in range(90)], "'new' holds another text in each of 90 rows"),
        (pd.date_range("2020", periods=90), "since they hold dates or times: 'new'"),
    ],
)
def test_names_of_rows_and_dates_are_left_out_and_said(column, said):
    frame, y = a_frame()
    answer = linsep.diagnose(frame.assign(new=column), y)
    assert answer.estimates == linsep.diagnose(frame, y).estimates
    assert any(said in finding for finding in answer.findings)


def test_rows_with_missing_values_are_left_out_by_their_numbers():
    frame, y = a_frame()
    holes = frame.copy()
    holes.loc[[3, 50], "x"] = np.nan
    holes.loc[7, "colour"] = None
    kept = np.setdiff1d(np.arange(90), [3, 7, 50])
    weight = np.arange(90) % 7
    ours = linsep.diagnose(holes, y, missing="drop", sample_weight=weight)
    theirs = linsep.diagnose(frame.iloc[kept], y[kept], sample_weight=weight[kept])
    assert ours.estimates == theirs.estimates
    np.testing.assert_array_equal(
        ours.separated_rows, kept[np.asarray(theirs.separated_rows)]
    )


def test_the_command_line_names_the_level_and_finds_nothing_aliased(tmp_path):
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "lang": rng.choice(["de", "en", "fr"], 300),
            "sex": rng.choice(["f", "m"], 300),
            "click": rng.integers(0, 2, 300),
        }
    )
    frame.loc[:4, ["lang", "click"]] = ["zz", 0]
    path = tmp_path / "c.csv"
    frame.to_csv(path, index=False)
    for answer in (linsep.diagnose(path, "click"), linsep.diagnose(frame, "click")):
        infinite = {k: v for k, v in answer.estimates.items() if v != "finite"}
        assert infinite == {"lang[T.zz]": "-inf"}
        assert "lang = zz in 5 rows, all click = 0." in answer.summary()


def test_names_are_the_frames():
    frame, y = a_frame()
    with pytest.raises(linsep.InputError, match="leave feature_names out"):
        linsep.diagnose(frame, y, feature_names=["a", "b", "c"])
