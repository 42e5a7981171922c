"""A frame, its CSV and its Parquet file: one coding, the same names and verdicts."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import linsep
from linsep.input import InputError
from linsep.input.problem import tabulated

WORDS = st.sampled_from(["de", "en", "fr", "zz top", "a,b", "true"])
ROWS = st.tuples(
    WORDS,
    st.integers(-3, 3),
    st.booleans(),
    st.sampled_from(["s", "m", "l"]),
    st.sampled_from(["no", "yes"]),
)
NAMES = ["lang", "x", "smoker", "size", "out"]


def every_form(frame, folder):
    """The same table in frames of every library and in files."""
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet")
    (folder / "t.jsonl").write_text(frame.to_json(orient="records", lines=True))
    table = pa.Table.from_pandas(frame, preserve_index=False)
    return {
        "pandas": frame,
        "string dtype": frame.astype({"lang": "string", "smoker": "boolean"}),
        "category": frame.astype({"lang": "category", "size": "category"}),
        "polars": pl.from_arrow(table),
        "Arrow": table,
        "CSV": folder / "t.csv",
        "Parquet": folder / "t.parquet",
        "JSON lines": folder / "t.jsonl",
    }


@given(st.lists(ROWS, min_size=3, max_size=14), st.booleans())
def test_every_form_of_a_table_is_read_as_the_same(
    tmp_path_factory, rows, fit_intercept
):
    frame = pd.DataFrame(rows, columns=NAMES)
    forms = every_form(frame, tmp_path_factory.mktemp("forms"))
    read = {
        name: tabulated(form, "out", fit_intercept, "refuse")
        for name, form in forms.items()
    }
    table, y = read["CSV"]
    for name, (other, labels) in read.items():
        assert other.feature_names == table.feature_names, name
        np.testing.assert_array_equal(other.X, table.X, err_msg=name)
        assert np.asarray(labels).tolist() == y.tolist(), name
        assert other.levels == table.levels, name
    verdicts = {
        linsep.separate(form, "out", fit_intercept=fit_intercept).status
        for form in forms.values()
    }
    assert len(verdicts) == 1


def a_frame(n=40):
    """Text, categories, dates, names, truth, numbers and an outcome."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "key": [f"P{i:03d}" for i in range(n)],
            "lang": rng.choice(["de", "en", "fr"], n, p=[0.2, 0.5, 0.3]),
            "when": pd.date_range("2020", periods=n),
            "took": pd.to_timedelta(rng.integers(0, 9, n)),
            "x": rng.normal(size=n),
            "smoker": rng.choice([True, False], n),
            "size": pd.Categorical(rng.choice(["s", "m"], n), ["s", "m", "unused"]),
            "out": rng.choice(["no", "yes"], n),
        }
    )


CODED = ("lang[T.de]", "lang[T.fr]", "x", "smoker", "size[T.m]")


def test_all_calls_take_a_frame_and_the_name_of_its_outcome(tmp_path):
    frame = a_frame()
    features = frame.drop(columns="out")
    names = linsep.separate(frame, "out").feature_names
    assert set(names) - {"size[T.m]", "size[T.s]"} == set(CODED[:4])
    for answer in (
        linsep.separate(features, frame["out"]),
        linsep.max_margin(frame, "out"),
        linsep.separate(pl.from_pandas(frame), "out"),
    ):
        assert answer.feature_names == names
        assert any("dates or times: 'when', 'took'" in note for note in answer.notes)
        assert any("'key' holds another text" in note for note in answer.notes)
        assert f"Note: {answer.notes[0]}." in " ".join(answer.summary().split())
        assert answer.to_dict()["notes"] == list(answer.notes)
    assert linsep.diagnose(frame, "out").coefficient_names == ("intercept", *names)
    model = linsep.OptimisticPerceptron(nu=0.5).fit(frame, "out")
    assert tuple(model.feature_names_in_) == names
    by_columns = linsep.OptimisticPerceptron(nu=0.5).fit(features, frame["out"])
    np.testing.assert_array_equal(by_columns.coef_, model.coef_)
    # The columns are found by name, whatever else stands beside them.
    backwards = frame[frame.columns[::-1]]
    np.testing.assert_array_equal(model.predict(backwards), model.predict(features))
    assert model.score(features, frame["out"]) > 0.5


def test_an_answer_decides_new_rows_of_a_frame_by_its_own_coding():
    frame = a_frame()
    frame["out"] = np.where((frame.lang == "de") | (frame.x > 0.3), "yes", "no")
    answer = linsep.separate(frame, "out")
    assert answer.separable
    decided = answer.decision_function(frame.drop(columns="out")) > 0
    assert (decided == (frame["out"] == "yes")).all()
    one = frame.loc[frame.lang == "fr", frame.columns[::-1]].head(1)
    assert (answer.decision_function(one) > 0).tolist() == [one["out"].item() == "yes"]
    assert answer.certificate.verify(frame, "out")
    with pytest.raises(InputError, match=r"levels that the model knows.*\['it'\]"):
        answer.decision_function(frame.assign(lang="it"))
    with pytest.raises(InputError, match="must have the column 'lang'"):
        answer.decision_function(frame.drop(columns="lang"))
    with pytest.raises(InputError, match="texts in the column 'lang'"):
        answer.decision_function(frame.assign(lang=1.0))
    with pytest.raises(InputError, match=r"\['x'\] missing"):
        answer.decision_function(frame.assign(x=["a", "b"] * 20))


def test_a_series_in_another_order_is_refused():
    frame = a_frame()
    X, y = frame.drop(columns="out"), frame["out"]
    shuffled = y.sample(frac=1, random_state=0)
    for call in (
        linsep.separate,
        linsep.max_margin,
        linsep.diagnose,
        linsep.OptimisticPerceptron().fit,
    ):
        with pytest.raises(InputError, match=r"another order .* pass y.loc\[X.index\]"):
            call(X, shuffled)
        with pytest.raises(InputError, match=r"other labels .* pass y.to_numpy\(\)"):
            call(X.set_index("key"), y)
    aligned = linsep.separate(X, shuffled.loc[X.index])
    assert aligned.status == linsep.separate(X, y.to_numpy()).status


def test_rows_with_missing_values_keep_their_numbers():
    frame = pd.DataFrame(
        {"x": [0.0, np.nan, 2.0, 1.0, 5.0], "g": ["a", "a", "a", "a", None]}
    )
    y = pd.Series(["no", "yes", "no", "yes", "yes"])
    with pytest.raises(InputError, match=r"2 of 5 rows \(values missing: 'x' 1, 'g' 1"):
        linsep.separate(frame, y)
    for form in (frame, pl.from_pandas(frame)):
        for labels in (y, y.tolist(), y.to_numpy()):
            answer = linsep.separate(form, labels, missing="drop")
            assert answer.conflict.tolist() == [0, 2, 3]
    weighed = linsep.separate(frame, y, missing="drop", sample_weight=[1, 1, 0, 1, 1])
    assert weighed.separable
    y[3] = None
    assert linsep.separate(frame, y, missing="drop").n_samples == 2
    both = frame.assign(out=y)
    assert linsep.separate(both, "out", missing="drop").n_samples == 2
    with pytest.raises(InputError, match=r"'out' 1"):
        linsep.separate(both, "out")
    with pytest.raises(InputError, match='"refuse" or "drop"'):
        linsep.separate(frame, y, missing="skip")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: linsep.separate(f, "oout"), "did you mean 'out'"),
        (lambda f: linsep.diagnose(f, "OUT"), "did you mean 'out'"),
        (lambda f: linsep.diagnose(f, "out ~ x"), "formula comes before its data"),
        (lambda f: linsep.separate(f.assign(x=[[1]] * 40), "out"), "'x' .*numbers"),
        (
            lambda f: linsep.separate(f.assign(x=np.inf), "out"),
            "finite number, got inf",
        ),
        (lambda f: linsep.separate(f[["x"]].to_numpy(), "out"), "a path or a frame"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(call, said):
    with pytest.raises(InputError, match=said):
        call(a_frame())


def test_dates_in_a_column_of_objects_are_dates():
    frame = a_frame().assign(day=[None, *[datetime.date(2020, 1, 2)] * 39])
    for form in (frame, pl.from_pandas(frame)):
        assert any("'day'" in note for note in linsep.separate(form, "out").notes)
    mixed = frame.assign(day=["2020", datetime.date(2020, 1, 2)] * 20)
    with pytest.raises(InputError, match="'day'"):
        linsep.separate(mixed, "out")


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, pd.DataFrame])
def test_rows_of_arrays_that_lack_a_value_are_left_out(form):
    """As those of a frame are, with the same note; rows keep their numbers."""
    X = np.array([[1.0], [np.nan], [-1.0], [2.0], [0.5]])
    y = [1, 0, 0, 0, 1]
    for call in (linsep.separate, linsep.max_margin):
        answer = call(form(X), y, missing="drop")
        assert answer.separable is False
        assert 1 not in answer.conflict
        assert answer.feature_names == (("0",) if form is pd.DataFrame else None)
        assert "1 of 5 rows were left out for missing values" in answer.summary()
        weighed = call(form(X), y, missing="drop", sample_weight=[1, 1, 1, 0, 1])
        assert weighed.separable
    found = linsep.diagnose(form(X), y, missing="drop")
    assert found.status == "overlap"
    assert "1 of 5 rows were left out for missing values" in found.summary()
    assert "Rows that conflict (counted from 0): 2, 3, 4" in found.summary()
    absent = [1, 0, 0, None, 1]
    assert linsep.separate(form(X), absent, missing="drop").n_samples == 3
    with pytest.raises(InputError, match=r"NaN|must hold a value"):
        linsep.separate(form(X), y)


def test_what_cannot_be_dropped_of_arrays_is_refused_in_words():
    whole = np.array([[1.0], [2.0]])
    assert linsep.separate(whole, [0, 1], missing="drop").notes == ()
    with pytest.raises(InputError, match="a row without missing values, got none in 2"):
        linsep.separate(np.nan * whole, [0, 1], missing="drop")
    with pytest.raises(InputError, match="sparse X"):
        linsep.separate(sparse.csr_array(whole), [0, 1], missing="drop")


def test_the_outcome_may_be_named_by_its_number():
    frame = a_frame()
    for form in (frame, pl.from_pandas(frame), frame[["x", "out"]]):
        answer = linsep.separate(form, -1)
        assert answer.feature_names == linsep.separate(form, "out").feature_names
    assert (
        linsep.diagnose(frame, -1).estimates == linsep.diagnose(frame, "out").estimates
    )
    numbered = pd.DataFrame({3: [0, 0, 1, 1], 0: [1.0, 2.0, 3.0, 4.0]})
    assert linsep.separate(numbered, 3).feature_names == ("0",)  # pandas' own name
    with pytest.raises(InputError, match="column of X, got 9"):
        linsep.separate(frame, 9)


def test_weights_and_groups_have_the_index_of_the_frame():
    frame = pd.DataFrame(
        {"x": np.arange(6.0), "g": list("aabbcc")}, index=list("uvwxyz")
    )
    frame["y"] = [0, 1] * 3
    turned = pd.Series(np.arange(6.0), index=frame.index[::-1])
    calls = [
        lambda: linsep.separate(frame[["x"]], frame.y, sample_weight=turned),
        lambda: linsep.max_margin(frame[["x"]], frame.y, sample_weight=turned),
        lambda: linsep.diagnose(frame[["x"]], frame.y, sample_weight=turned),
        lambda: linsep.diagnose("y ~ x", frame, sample_weight=turned),
        lambda: linsep.OptimisticPerceptron().fit(frame[["x"]], frame.y, turned),
    ]
    for call in calls:
        with pytest.raises(InputError, match=r"pass sample_weight.loc\[X.index\]"):
            call()
    for data in ((frame[["x"]], frame.y), ("y ~ x", frame)):
        with pytest.raises(InputError, match=r"pass groups.loc\[X.index\]"):
            linsep.diagnose(*data, groups=turned // 2, family="conditional")
    given = turned.loc[frame.index]
    answer = linsep.separate(frame[["x"]], frame.y, sample_weight=given)
    assert answer.n_samples == 5


def test_rows_are_named_by_an_index_that_tells_them_apart():
    frame = a_frame().drop(columns="out").assign(out=["s", "m"] * 20)
    twice = frame.set_axis([7] * 40)
    plain = linsep.separate(frame, "out").summary()
    assert "row 0" in plain
    assert (
        linsep.separate(twice, "out").summary().split("Work")[0]
        == plain.split("Work")[0]
    )
    both = frame.set_axis(pd.MultiIndex.from_product([["p", "q"], range(20)]))
    rows = linsep.diagnose(both, "out").rows()
    assert "np." not in linsep.diagnose(both, "out").summary() + str(rows)
    assert "('p', " in linsep.separate(both, "out").summary()


def test_outcomes_of_another_length_and_frames_without_rows_are_refused():
    frame = a_frame()
    for call in (linsep.separate, linsep.diagnose):
        with pytest.raises(InputError, match="same number of rows, got 40"):
            call(frame.drop(columns="out"), frame.out.tolist()[:-1], missing="drop")
        for missing in ("refuse", "drop"):
            with pytest.raises(InputError, match="at least one row"):
                call(frame.iloc[:0], "out", missing=missing)


def test_periods_are_dates():
    frame = a_frame().assign(month=pd.period_range("2020", periods=40, freq="M"))
    assert any("'month'" in note for note in linsep.separate(frame, "out").notes)
