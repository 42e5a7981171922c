"""The order of an ordinal outcome: from wherever it is declared, given, or said."""

import sys
from fractions import Fraction
from itertools import permutations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import linsep
from judges import z3_direction_exists
from linsep.cli import main
from regression_judge import demands

# Grades whose order is not that of the alphabet; no patient has the last.
GRADES = ["none", "some", "much", "all of it", "more"]
GRADE = ["none", "none", "some", "some", "much", "much", "much", "all of it"] * 2
DOSE = [1.0, 2, 3, 3, 4, 5, 5, 7] * 2
ORDERED = pd.CategoricalDtype(GRADES, ordered=True)
THRESHOLDS = ["none|some", "some|much", "much|all of it"]


def frame(kind=ORDERED):
    return pd.DataFrame({"dose": DOSE, "grade": pd.Series(GRADE).astype(kind)})


def is_right(answer):
    """The dose cuts all grades apart, in their order and in no other."""
    return (
        answer.status.value == "complete"
        and [name for name in answer.estimates if "|" in name] == THRESHOLDS
    )


def in_memory():
    ordered, plain = frame(), frame(str)
    many = pl.DataFrame({"dose": DOSE, "grade": GRADE})
    enum = many.with_columns(pl.col("grade").cast(pl.Enum(GRADES)))
    arrow = pa.Table.from_pandas(ordered)
    return {
        "pandas series": (ordered[["dose"]], ordered.grade),
        "pandas Categorical": (DOSE_2D, pd.Categorical(GRADE, dtype=ORDERED)),
        "pandas column of a frame": (ordered[["dose"]], ordered[["grade"]]),
        "pandas formula": ("grade ~ dose", ordered),
        "pandas factor": ("C(grade) ~ dose", ordered),
        "polars series": (enum.select("dose"), enum["grade"]),
        "polars frame": (enum.select("dose"), enum.select("grade")),
        "polars formula": ("grade ~ dose", enum),
        "mapping of polars": ("grade ~ dose", {"dose": DOSE, "grade": enum["grade"]}),
        "Arrow column": (DOSE_2D, arrow["grade"]),
        "Arrow array": (DOSE_2D, arrow["grade"].chunk(0)),
        "Arrow formula": ("grade ~ dose", arrow),
        "not flagged": (DOSE_2D, frame(pd.CategoricalDtype(GRADES)).grade),
        "text with order": (plain[["dose"]], plain.grade),
        "text formula with order": ("grade ~ dose", plain),
        "list with order": (DOSE_2D, GRADE),
    }


DOSE_2D = np.array(DOSE)[:, np.newaxis]


@pytest.mark.parametrize("name", in_memory())
def test_the_order_declared_is_taken(name):
    order = GRADES if "with order" in name else None
    answer = linsep.diagnose(*in_memory()[name], family="ordinal", order=order)
    assert is_right(answer)
    said = answer.sentences()[1]
    assert said.startswith("No order of ") == (name == "not flagged")


@pytest.mark.parametrize("suffix", ["parquet", "feather", "arrow"])
@pytest.mark.parametrize(
    "writer", ["pandas", "polars", "pandas in pieces", "unflagged"]
)
def test_the_order_a_file_declares_is_taken(tmp_path, writer, suffix):
    path = tmp_path / f"grades.{suffix}"
    if writer == "polars":
        enum = pl.from_pandas(frame(str)).with_columns(
            pl.col("grade").cast(pl.Enum(GRADES))
        )
        enum.write_parquet(path) if suffix == "parquet" else enum.write_ipc(path)
    else:
        kind = pd.CategoricalDtype(GRADES) if writer == "unflagged" else ORDERED
        size = 3 if "pieces" in writer else None
        if suffix == "parquet":
            frame(kind).to_parquet(path, row_group_size=size)
        else:
            frame(kind).to_feather(path, chunksize=size)
    assert is_right(linsep.diagnose(path, "grade", family="ordinal"))
    assert is_right(linsep.diagnose(path, -1, family="ordinal"))
    for how in (["--target", "grade"], ["--formula", "grade ~ dose"]):
        done = CliRunner().invoke(
            main, ["diagnose", str(path), *how, "--family", "ordinal"]
        )
        assert done.output.startswith("Complete separation (ordinal)")
        is_said = "No order of grade is declared, so that of its categories" in (
            done.output
        )
        assert is_said == (writer == "unflagged")


def test_an_order_that_cannot_be_read_is_asked_for(tmp_path, monkeypatch):
    ordered, text, enum = (tmp_path / f"{name}.parquet" for name in "abc")
    frame().to_parquet(ordered)
    frame(str).to_parquet(text)
    kind = pl.Enum(GRADES)
    pl.DataFrame(
        {"grade": GRADE, "dose": DOSE}, schema_overrides={"grade": kind}
    ).write_parquet(enum)
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # not installed
    for path in (ordered, enum):
        with pytest.raises(linsep.InputError, match="only pyarrow reads"):
            linsep.diagnose(path, "grade", family="ordinal")
        given = linsep.diagnose(path, "grade", family="ordinal", order=GRADES)
        assert is_right(given)
    answer = linsep.diagnose(text, "grade", family="ordinal")
    assert "No order of grade" in answer.summary()


def test_text_without_an_order_is_sorted_and_the_second_line_says_so(tmp_path):
    path = tmp_path / "grades.csv"
    frame(str).to_csv(path, index=False)
    many = pl.DataFrame({"dose": DOSE, "grade": GRADE})
    loose = many.with_columns(pl.col("grade").cast(pl.Categorical))
    loose.write_parquet(tmp_path / "loose.parquet")
    for answer in (
        linsep.diagnose(path, "grade", family="ordinal"),
        linsep.diagnose(tmp_path / "loose.parquet", "grade", family="ordinal"),
        linsep.diagnose("grade ~ dose", frame(str), family="ordinal"),
        linsep.diagnose("grade ~ dose", frame("string"), family="ordinal"),
        linsep.diagnose("grade ~ dose", frame("category"), family="ordinal"),
        linsep.diagnose("C(grade) ~ dose", frame(str), family="ordinal"),
        linsep.diagnose(many.select("dose"), many["grade"], family="ordinal"),
        linsep.diagnose(many.select("dose"), loose["grade"], family="ordinal"),
        linsep.diagnose("grade ~ dose", loose, family="ordinal"),
        linsep.diagnose("C(grade) ~ dose", loose, family="ordinal"),
    ):
        head, second, *_ = answer.sentences()
        assert head.startswith("Overlap")
        assert "is declared, so the sorted one is taken: all of it < much < none" in (
            second
        )
        assert "order=[...] (--order A,B,...)" in second


@pytest.mark.parametrize(
    "y", [[1, 2, 10, 10], [0.5, 1.5, 10, 10], [False, True, True, True]], ids=str
)
def test_of_numbers_nothing_need_be_said(y):
    answer = linsep.diagnose([[1], [2], [3], [4]], y, family="ordinal")
    assert answer.status.value == "complete"
    assert "order" not in answer.summary()
    texts = linsep.diagnose([[1], [2], [3], [4]], list(map(str, y)), family="ordinal")
    assert "No order of y is declared" in texts.summary()


def test_levels_that_no_row_has_are_named():
    answer = linsep.diagnose("grade ~ dose", frame(), family="ordinal")
    assert "No row present has grade = more." in answer.findings
    weights = np.array([value != "all of it" for value in GRADE], dtype=float)
    fewer = linsep.diagnose(
        DOSE_2D, GRADE, family="ordinal", order=GRADES, sample_weight=weights
    )
    assert "No row present has y = more, y = all of it." in fewer.findings
    data = pd.DataFrame(
        {"y": [0, 1, 0, 1], "g": pd.Categorical(list("aabb"), list("abc"))}
    )
    unused = linsep.diagnose("y ~ g", data)
    assert unused.sentences()[1] == "No row present has g = c."
    assert unused.collinear == {"g[T.c]": "0"}


# --- the option ---


def test_the_command_line_takes_an_order(tmp_path):
    path = tmp_path / "sizes.csv"
    text = pd.DataFrame(
        {"x": range(6), "k": ["S", "S", "M, so to say", "M, so to say"] + ["L"] * 2}
    )
    text.to_csv(path, index=False)
    diagnosing = ["diagnose", str(path), "--family=ordinal"]
    for how in (["--target", "k"], ["--formula", "k ~ x"]):
        done = CliRunner().invoke(
            main,
            [*diagnosing, *how, '--order=S, "M, so to say",L'],
        )
        assert done.output.startswith("Complete separation (ordinal)"), done.output
    numbers = pd.DataFrame({"x": range(6), "k": [3, 3, 1, 1, 2, 2]})
    numbers.to_csv(path, index=False)
    done = CliRunner().invoke(
        main, f"diagnose {path} --target k --family ordinal --order 3,1,2".split()
    )
    assert done.output.startswith("Complete separation (ordinal)")


@pytest.mark.parametrize("order", ["a,,b", '"a,b', "a,b,a", " ", "a,c"])
def test_the_command_line_refuses_what_is_no_order(tmp_path, order):
    path = tmp_path / "data.csv"
    path.write_text("x,k\n1,a\n2,b\n3,a\n")
    done = CliRunner().invoke(
        main,
        ["diagnose", str(path), "--target=k", "--family=ordinal", f"--order={order}"],
    )
    assert done.exit_code == 2
    assert "order must" in done.stderr or "--order must" in done.stderr


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("low,high", "must be a list"),
        (["low", "high", "low"], "once, got 'low' twice"),
        (["low", "hgih"], "without 'high'; for 'high', did you mean 'hgih'"),
        (["low"], "without 'high'; add it"),
        ([], "empty"),
        (["low", None], "each a value"),
        ([["low"], ["high"]], "each a value"),
        ({"low", "high"}, "must be a list"),
        (7, "must be a list"),
    ],
)
def test_an_order_that_is_none_is_refused(order, message):
    with pytest.raises(linsep.InputError, match=message):
        linsep.diagnose([[1], [2]], ["low", "high"], family="ordinal", order=order)


def test_an_order_is_for_labels():
    X = [[1], [2], [3]]
    for y, family in (
        ([[1, 2], [0, 1], [2, 0]], "binomial"),
        ([0.2, 0.5, 1.0], "binomial"),
        ([0, 1, 2], "poisson"),
    ):
        with pytest.raises(linsep.InputError, match="order is for outcomes"):
            linsep.diagnose(X, y, family=family, order=[0, 1, 2])


def test_the_last_of_an_order_is_the_event_and_the_first_the_reference():
    X, y = [[0], [0], [1], [1]], ["no", "yes", "no", "no"]
    assert linsep.diagnose(X, y).estimates["x0"] == "-inf"
    turned = linsep.diagnose(X, y, order=["yes", "no"])
    assert turned.estimates["x0"] == "+inf"
    assert "y = no against y = yes" in turned.message
    for order in (pd.Index(["yes", "no"]), np.array(["yes", "no"]), ("yes", "no")):
        assert linsep.diagnose(X, y, order=order).estimates == turned.estimates
    only = [
        linsep.diagnose(X[:2], ["b", "b"], order=o) for o in (["a", "b"], ["b", "a"])
    ]
    assert [answer.estimates["intercept"].value for answer in only] == ["+inf", "-inf"]
    absent = linsep.diagnose(
        X, ["a", "b", "a", "a"], order=["a", "b"], sample_weight=[1, 0, 1, 1]
    )
    assert absent.estimates["intercept"] == "-inf"
    for answer in (turned, *only, absent):
        answer.certificate.verify(*answer.certificate_data())
    of_three = linsep.diagnose(X, list("abca"), family="multinomial", order=list("cab"))
    assert of_three.coefficient_names[0] == "intercept [a]"


def test_many_outcomes_keep_their_order():
    table = pl.DataFrame({"grade": [*GRADE, None]}).with_columns(
        pl.col("grade").cast(pl.Enum(GRADES))
    )
    X = [*DOSE_2D.tolist(), [0.0]]
    for outcomes in (table, table.to_pandas()):
        (item,) = linsep.diagnose_outcomes(X, outcomes, family="ordinal")
        assert item.status == "complete"
    text = {"grade": GRADE}
    (item,) = linsep.diagnose_outcomes(DOSE_2D, text, family="ordinal", order=GRADES)
    assert item.status == "complete"
    (item,) = linsep.screen_columns(
        None, GRADE, DOSE_2D, family="cumulative", order=GRADES
    )
    assert item.status == "complete"
    found = linsep.influential_rows(DOSE_2D, GRADE, family="ordinal", order=GRADES)
    assert found.goal == "overlap"


def test_a_fitted_ordered_model_keeps_its_order():
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    noisy = frame().assign(dose=np.roll(DOSE, 3))
    model = OrderedModel(noisy.grade.cat.remove_unused_categories(), noisy[["dose"]])
    answer = linsep.diagnose(model)
    expected = linsep.diagnose("grade ~ dose", noisy, family="ordinal")
    assert list(answer.estimates) == [*THRESHOLDS, "dose"]
    assert answer.status == expected.status
    assert "declared" not in answer.summary()


# --- judged ---

LEVELS = ["ada", "bob", "cyd"]


@given(
    st.lists(
        st.tuples(st.integers(-2, 2), st.integers(-1, 1), st.integers(0, 2)),
        min_size=3,
        max_size=9,
    ),
    st.permutations(LEVELS),
)
def test_an_order_is_the_outcome_in_whole_numbers(rows, order):
    X = np.array([row[:2] for row in rows], dtype=float)
    codes = [row[2] for row in rows]
    expected = linsep.diagnose(X, codes, family="ordinal")
    names = [order[code] for code in codes]
    categories = pd.Categorical(names, order, ordered=True)
    for answer in (
        linsep.diagnose(X, names, family="ordinal", order=order),
        linsep.diagnose(X, categories, family="ordinal"),
        linsep.diagnose(X, pl.Series(names, dtype=pl.Enum(order)), family="ordinal"),
    ):
        assert answer.status == expected.status
        assert answer.separated_rows.tolist() == expected.separated_rows.tolist()
        found = [verdict.value for verdict in answer.estimates.values()]
        if len(set(codes)) > 1:
            assert found == [verdict.value for verdict in expected.estimates.values()]


def test_each_of_the_six_orders_has_the_verdict_of_its_own_cone():
    X = [[0, 1], [1, 0], [1, 2], [2, 2], [3, 1], [3, 0], [4, 2]]
    y = ["bob", "bob", "ada", "ada", "cyd", "cyd", "cyd"]
    verdicts = set()
    for order in permutations(LEVELS):
        answer = linsep.diagnose(X, y, family="ordinal", order=order)
        codes = [order.index(name) for name in y]
        at_least, _ = demands(X, codes, "ordinal", False)
        rows = [[Fraction(v) for v in row] for row, _ in at_least]
        strict = [z3_direction_exists(rows, [], row) for row in rows]
        status = "complete" if all(strict) else "quasi-complete" * any(strict)
        assert answer.status.value == (status or "overlap")
        verdicts.add(answer.status.value)
    assert len(verdicts) > 1  # so the order matters here
