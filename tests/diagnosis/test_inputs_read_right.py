"""What is given is read as what it is: shares, formulas, models, files."""

import re
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

import linsep
from linsep.cli import main
from linsep.diagnosis.inputs import formulas
from linsep.diagnosis.inputs.formulas import study_from_formula
from linsep.diagnosis.inputs.safe_formula import safe_formula
from linsep.rows import as_dense

# --- shares of successes ---

X3 = np.array([[1.0], [2.0], [3.0]])


@pytest.mark.parametrize(
    "shares", list(product([0.0, 0.25, 1.0], repeat=3))[1:], ids=str
)
def test_shares_are_the_counts_they_stand_for(shares):
    if all(share in (0.0, 1.0) for share in shares):
        return  # labels
    counts = [[4 * share, 4 - 4 * share] for share in shares]
    expected = linsep.diagnose(X3, counts)
    frame = pd.DataFrame({"x": X3[:, 0], "y": shares})
    for answer in (
        linsep.diagnose(X3, np.array(shares)),
        linsep.diagnose(X3, list(shares)),
        linsep.diagnose(X3, frame.y),
        linsep.diagnose(X3, np.array(shares, dtype=np.float32)),
        linsep.diagnose(X3, [Fraction(share) for share in shares]),
        linsep.diagnose(X3, [Decimal(share) for share in shares]),
        linsep.diagnose("y ~ x", frame),
    ):
        assert answer.status == expected.status
        assert answer.separated_rows.tolist() == expected.separated_rows.tolist()


@pytest.mark.parametrize(
    ("shares", "status"),
    [
        ([0.5, 0.5, 0.5], "overlap"),
        ([0.3, 0.3, 0.6], "overlap"),
        ([0.1, 0.4, 0.5], "overlap"),
        ([0.2, 0.2, 0.8, 0.8], "overlap"),
        ([0, 0, 0.8, 0.8], "quasi-complete"),
    ],
)
def test_few_values_are_shares_all_the_same(shares, status):
    X = (np.arange(len(shares)) // 2)[:, None]
    assert linsep.diagnose(X, shares).status == status
    batch = linsep.diagnose_outcomes(X, {"y": shares})
    assert batch[0].status == status


def test_numbers_that_are_no_shares_stay_labels():
    for labels in ([0.5, 1.5, 1.5], [-0.5, 0.5, 0.5], [0.0, 1.0, 1.0], [1, 2, 2]):
        assert linsep.diagnose(X3, labels).status == "complete"
    categories = pd.Categorical([0.3, 0.6, 0.6])
    assert linsep.diagnose(X3, categories).status == "complete"


# --- formulas ---


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "y": rng.integers(0, 2, 40),
            "x": rng.standard_normal(40),
            "z": rng.standard_normal(40),
        }
    )


@pytest.mark.parametrize("left", ["y", "`y`", "C(y)", "cbind(y, n)", "exp(y)"])
def test_a_dot_is_every_column_but_those_on_the_left(frame, left):
    if "cbind" in left:
        frame["n"] = 1 - frame.y
    answer = linsep.diagnose(f"{left} ~ .", frame)
    assert answer.coefficient_names == ("intercept", "x", "z")
    assert answer.status == linsep.diagnose(f"{left} ~ x + z", frame).status
    less = linsep.diagnose(f"{left} ~ . - z", frame)
    assert less.coefficient_names == ("intercept", "x")


@pytest.mark.parametrize(
    "left", ["y + x", "y - x", "y*x", "y:x", "y | x", "1", "x + C(y)", "y**2"]
)
def test_the_left_side_is_one_term(frame, left):
    with pytest.raises(linsep.InputError, match="left side"):
        linsep.diagnose(f"{left} ~ z", frame)


def test_a_factor_on_the_left_keeps_the_order_of_its_levels(frame):
    frame["code"] = np.where(frame.y == 1, 10, 9)
    answer = linsep.diagnose("C(code) ~ y", frame)
    assert answer.estimates["y"] == "+inf"
    frame["share"] = np.where(frame.y == 1, 0.6, 0.3)
    assert linsep.diagnose("C(share) ~ y", frame).status == "complete"
    assert linsep.diagnose("share ~ y", frame).status == "overlap"


@pytest.mark.parametrize("right", ["x | z | 1", "x | z | x + z"])
def test_the_right_side_is_one_part(frame, right):
    with pytest.raises(linsep.InputError, match="one part"):
        linsep.diagnose(f"y ~ {right}", frame)


@pytest.mark.parametrize("term", ["log(x)", "log(x) + z", "log(x):z", "log10(x)"])
def test_a_transform_without_a_value_is_no_missing_value(frame, term):
    row = int(np.argmax(frame.x < 0))
    name = term[: term.index("(")]
    with pytest.raises(linsep.InputError, match=rf"{name}\(x\) in row {row}, where x"):
        linsep.diagnose(f"y ~ {term}", frame)
    frame["x"] = frame.x.where(frame.x > 0)
    answer = linsep.diagnose(f"y ~ {term}", frame)
    assert f"{int(frame.x.isna().sum())} rows with missing values left out." in (
        answer.findings
    )
    frame.loc[frame.x.first_valid_index(), "x"] = 0.0
    with pytest.raises(linsep.InputError):
        linsep.diagnose(f"y ~ {term}", frame)


def test_a_column_called_like_a_transform(frame):
    frame = frame.rename(columns={"x": "C", "z": "log"})
    assert linsep.diagnose("y ~ C + log", frame).coefficient_names[1:] == ("C", "log")
    frame["g"] = list("abab") * 10
    assert "C(g)[T.b]" in linsep.diagnose("y ~ C(g) + log", frame).coefficient_names
    with pytest.raises(linsep.InputError, match="rename the column"):
        linsep.diagnose("y ~ C(g) + C", frame)


@pytest.mark.parametrize(
    "right",
    [
        "x**100000000",
        "x**11",
        "(x + y)**0",
        "x**(2)",
        "x**10**100",
        "(x + y + x0 + x1)**10",
        "((x + y)**5)**5",
        "-(x + y + x0):(x1 + x2 + (x3 + x4)**10)**2",
        "(" + " + ".join(f"x{k}" for k in range(60)) + ")**8",
        "*".join(f"x{k}" for k in range(60)),
    ],
)
def test_strangers_formulas_stay_small(right):
    columns = {"x", "y", *(f"x{k}" for k in range(60))}
    with pytest.raises(linsep.InputError, match=r"power|terms"):
        safe_formula(f"y ~ {right}", columns)


@pytest.mark.parametrize(
    "right", ["(" * 1000 + "x" + ")" * 1000, "-(" * 200 + "x" + ")" * 200, "+" * 10**6]
)
def test_strangers_formulas_are_neither_deep_nor_endless(right):
    with pytest.raises(linsep.InputError, match=r"deep|characters"):
        safe_formula(f"y ~ {right}", {"x", "y"})


@pytest.mark.parametrize(
    "formula", ["y ~ x**2**2", "y ~ x***2", "y ~ x**-2", "y ~ x**", "y ~ C(x)(x)"]
)
def test_strangers_formulas_that_formulaic_would_not_read(formula):
    # Refused here, or left to formulaic, which refuses it before any term is made.
    try:
        safe_formula(formula, {"x", "y"})
    except linsep.InputError:
        return
    with pytest.raises(linsep.InputError):
        linsep.diagnose(formula, pd.DataFrame({"x": [1.0, 2], "y": [0, 1]}))


def test_strangers_formulas_may_be_long_sums():
    names = [f"x{k}" for k in range(300)]
    for formula in (
        "y ~ " + " + ".join(names),
        "y ~ " + " + ".join(f"{a}*{b}" for a, b in pairwise(names)),
        "y ~ (" + " + ".join(names[:90]) + ")**2",
    ):
        assert safe_formula(formula, {"y", *names}) == formula


# --- models ---


def test_rows_of_statsmodels_models_are_the_users():
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    data = pd.DataFrame(
        {
            "x": [np.nan, 1, 2, np.nan, 3, 4.0, 7],
            "d": [0, 0, 1, 1, 0, 0, 1],
            "y": [0, 1, 1, 0, 0, 1, 1],
        }
    )
    expected = linsep.diagnose("y ~ x + d", data)
    family = sm.families.Binomial()
    design = sm.add_constant(data[["x", "d"]])
    for model in (
        smf.glm("y ~ x + d", data, family=family),
        smf.logit("y ~ x + d", data),
        smf.glm("y ~ x + d", data, family=family).fit(maxiter=5),
        sm.Logit(data.y, design, missing="drop"),
        sm.Logit(data.y.to_numpy(), design.to_numpy(), missing="drop"),
    ):
        answer = linsep.diagnose(model)
        assert answer.separated_rows.tolist() == expected.separated_rows.tolist()
        assert answer.overlapped_rows.tolist() == expected.overlapped_rows.tolist()
        assert answer.n_samples == 7
        assert "2 rows with missing values left out." in answer.summary()
    assert expected.separated_rows.tolist() == [2, 6]


def test_pipelines_in_any_nesting(frame):
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline, make_pipeline
    from sklearn.preprocessing import StandardScaler

    frame["z"] = frame.z + 10 * frame.y
    X, y = frame[["x", "z"]], frame.y
    expected = linsep.diagnose(X, y)
    inner = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(inner, {"logisticregression__C": [0.1, 1]}, cv=2)
    with pytest.raises(linsep.InputError, match="fitted"):
        linsep.diagnose(search, X, y)
    for estimator in (
        Pipeline([("p", "passthrough"), ("l", LogisticRegression())]),
        Pipeline([("p", None), ("l", LogisticRegression())]),
        make_pipeline(StandardScaler(), inner),
        make_pipeline(inner),
        make_pipeline(make_pipeline(StandardScaler()), clone(inner)).fit(X, y),
        search.fit(X, y),
    ):
        answer = linsep.diagnose(estimator, X, y)
        assert answer.status == expected.status == "complete"
        slopes = [(name, answer.estimates[name]) for name in ("x", "z")]
        assert slopes == [(name, expected.estimates[name]) for name in ("x", "z")]
    fitted = inner.fit(X, y)
    for wrong in (X[["x"]], X.rename(columns={"z": "other"})):
        with pytest.raises(linsep.InputError, match="transformers"):
            linsep.diagnose(fitted, wrong, y)
    with pytest.raises(linsep.InputError, match="LogisticRegression"):
        linsep.diagnose(Pipeline([("l", "passthrough")]), X, y)


def test_a_batch_of_no_family_is_refused_once():
    with pytest.raises(linsep.InputError, match="family must be one of"):
        linsep.diagnose_outcomes(np.eye(4), np.eye(4)[0], family="z")
    with pytest.raises(linsep.InputError, match="family must be one of"):
        linsep.screen_columns(np.eye(4), np.eye(4)[0], np.eye(4), family="z")


def test_an_engine_that_overflows_is_silent():
    X = np.random.default_rng(0).standard_normal((10, 3))
    X[:, 0] = 1e6 + np.array([0, 0, 2, 2, 1, 0, 1, 1, 0, 0]) / 1000
    for seed in range(20):
        y = np.random.default_rng(seed).integers(0, 3, 10)
        assert linsep.diagnose(X, y, family="multinomial").proved


# --- the command ---


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text(
        "y,x,g,w,s,k\n0,1,a,1,0.3,0\n1,2,b,0,0.3,1\n1,3.1,a,1,0.6,2\n"
        "0,4,b,1,0.6,2\n1,5,b,1,0.6,0\n1,6,c,1,0.3,1\n"
    )
    return path


CASES = [
    ["--target", "y"],
    ["--target", "y", "--no-intercept"],
    ["--target", "y", "--drop", "g", "--weights", "w"],
    ["--target", "s"],
    ["--target", "g", "--family", "multinomial"],
    ["--target", "k", "--family", "ordinal"],
    ["--target", "k", "--family", "poisson"],
    ["--formula", "y ~ x + g"],
    ["--formula", "cbind(y, k) ~ x"],
    ["--formula", "g ~ x", "--family", "multinomial"],
]


@pytest.mark.parametrize("options", CASES, ids=" ".join)
def test_saved_proofs_verify_on_the_data_saved_with_them(file, tmp_path, options):
    proof, data = str(tmp_path / "o.json"), str(tmp_path / "o.npz")
    run = CliRunner().invoke
    start = ["diagnose", str(file), *options, "--certificate", proof]
    made = run(main, [*start, "--certificate-data", data])
    assert made.exit_code == 0, made.output
    assert made.output.endswith(f"Check it: linsep verify {proof} {data}\n")
    checked = run(main, ["verify", proof, data])
    assert checked.exit_code == 0, checked.output
    # Without the data, the advice printed holds, or says that the file will not do.
    last = run(main, start).output.splitlines()[-1]
    if last.startswith("Check it: linsep "):
        checked = run(main, last.removeprefix("Check it: linsep ").split())
        assert checked.exit_code == 0, checked.output
    else:
        assert re.search(r"stand for this regression.*--certificate-data", last)


@pytest.mark.parametrize(
    "options",
    [
        ["--formula", ""],
        ["--target", " "],
        ["--target", "y", "--drop", ""],
        ["--target", "y", "--weights", ""],
        ["--target", "y", "--certificate-data", "o.npz"],
        ["--target", "y", "--certificate", "o.json", "--certificate-data", "o.txt"],
        ["--formula", "y ~ g**100000000"],
    ],
    ids=" ".join,
)
def test_options_that_say_nothing_are_refused(file, options):
    result = CliRunner().invoke(main, ["diagnose", str(file), *options])
    assert result.exit_code == 2
    assert "Error:" in result.output


@pytest.mark.parametrize(
    "terms", ["a + b", "a:b + k", "0 + k", "0 + z", "(a + k)**2 - 1"]
)
@pytest.mark.parametrize("missing", [False, True])
def test_plain_numbers_become_the_same_matrix_by_either_way(
    terms, missing, monkeypatch
):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, 60),
            "a": rng.standard_normal(60),
            "b": rng.standard_normal(60).astype(np.float32),
            "k": rng.integers(-2, 3, 60),
            "z": np.arange(60) % 20 // 19,  # mostly zeros
        }
    )
    if missing:
        frame.loc[[3, 59], "a"] = np.nan
    frame = frame.set_index(np.arange(60) * 7)
    outputs, of = [], formulas._model_matrix
    monkeypatch.setattr(
        formulas,
        "_model_matrix",
        lambda *given, **more: outputs.append(of(*given, **more)) or outputs[-1],
    )
    dense = study_from_formula(f"y ~ {terms}", frame)
    assert not sparse.issparse(outputs[0][0])
    monkeypatch.setattr(formulas, "_are_numbers", lambda *_: False)
    whole = study_from_formula(f"y ~ {terms}", frame)
    assert dense.names == whole.names
    assert dense.codings == whole.codings
    assert dense.present.tolist() == whole.present.tolist()
    assert sparse.issparse(dense.X) == sparse.issparse(whole.X) == (terms == "0 + z")
    assert dense.X.dtype == whole.X.dtype
    np.testing.assert_array_equal(as_dense(dense.X), as_dense(whole.X))


@pytest.mark.parametrize("terms", ["C(k)", "g", "a + .", "log(a + 9)", "flag", "u"])
def test_other_terms_are_made_sparse(terms):
    frame = pd.DataFrame({"a": [1.0, 2.0], "g": ["p", "q"], "flag": [True, False]})
    frame["k"], frame["u"] = [0, 1], pd.array([1, None], dtype="Int64")
    assert not formulas._are_numbers(terms, frame)
    assert formulas._are_numbers("a + a:k", frame)


@pytest.mark.parametrize("kind", ["string", "string[pyarrow]", "category", object])
def test_texts_of_every_kind_are_factors_of_a_formula(kind):
    frame = pd.DataFrame({"g": list("aabbc"), "y": [0, 1, 0, 1, 1]})
    frame["g"] = frame.g.astype(kind)
    answer = linsep.diagnose("y ~ g", frame)
    assert "g = c in 1 row, all y = 1." in answer.sentences()
    frame.loc[4, "g"] = None
    assert linsep.diagnose("y ~ g", frame).status == "overlap"


@pytest.mark.parametrize("terms", ["day", "x + day", ".", "x + month", "gap"])
def test_dates_in_a_formula_are_refused_by_name(terms):
    frame = pd.DataFrame({"y": [0, 1, 1], "x": [1.0, 2.0, 1.0]})
    frame["day"] = pd.date_range("2024", periods=3)
    frame["month"], frame["gap"] = frame.day.dt.to_period("M"), frame.day - frame.day[0]
    with pytest.raises(linsep.InputError, match=r"column '(day|month|gap)' .* dates"):
        linsep.diagnose(f"y ~ {terms}", frame)


def test_weights_may_be_a_column_by_its_name(tmp_path):
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0, 2.0], "y": [0, 0, 1, 1], "n": [3, 2, 4, 0]}
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    expected = linsep.diagnose(frame[["x"]], frame.y, sample_weight=frame.n)
    assert expected.status == "complete"
    for given in (
        (frame, "y"),
        (frame[["x", "n"]], frame.y),
        ("y ~ x", frame),
        ("y ~ .", frame),
        (tmp_path / "t.csv", "y"),
    ):
        answer = linsep.diagnose(*given, sample_weight="n")
        assert answer.status == "complete"
        assert dict(answer.estimates) == dict(expected.estimates)
        with pytest.raises(linsep.InputError, match="sample_weight must name a column"):
            linsep.diagnose(*given, sample_weight="m")
    sm = pytest.importorskip("statsmodels.api")
    model = sm.GLM(frame.y, frame[["x"]], sm.families.Binomial())
    with pytest.raises(linsep.InputError, match="sample_weight must hold numbers"):
        linsep.diagnose(model, sample_weight="n")
