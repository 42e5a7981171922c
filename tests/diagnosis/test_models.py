"""Formulas, statsmodels and scikit-learn: the same answers as the plain design."""

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.diagnosis.inputs.safe_formula import safe_formula


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, 60),
            "x": rng.standard_normal(60),
            "level": rng.choice(list("abc"), 60),
        }
    )
    frame.loc[frame.level == "b", "y"] = 1
    return frame


def plain(data):
    dummies = pd.get_dummies(data[["x", "level"]], drop_first=True).astype(float)
    return linsep.diagnose(dummies, data.y)


def verdicts(answer):
    return [str(verdict) for verdict in answer.estimates.values()]


def same(one, other):
    return (
        one.status == other.status
        and one.separated_rows.tolist() == other.separated_rows.tolist()
        and sorted(verdicts(one)) == sorted(verdicts(other))
    )


def test_formula_is_the_design_it_stands_for(data):
    answer = linsep.diagnose("y ~ x + C(level)", data)
    assert same(answer, plain(data))
    assert answer.estimates["C(level)[T.b]"] == "+inf"
    n = int((data.level == "b").sum())
    assert f"level = b in {n} rows, all y = 1." in answer.summary()


def test_formula_without_intercept_and_with_interaction(data):
    assert "intercept" not in linsep.diagnose("y ~ 0 + x", data).estimates
    names = linsep.diagnose("y ~ x * level", data).coefficient_names
    assert "x:level[T.b]" in names


def test_rows_with_missing_values_are_left_out_and_counted(data):
    data["x"] = data.x.where(data.index % 7 != 0)
    answer = linsep.diagnose("y ~ x + level", data)
    kept = data[data.x.notna()]
    assert answer.overlapped_rows.size + answer.separated_rows.size == len(kept)
    assert answer.separated_rows.tolist() == kept.index[kept.level == "b"].tolist()
    assert f"{60 - len(kept)} rows with missing values left out." in answer.findings


def test_text_outcomes_and_weights_in_formulas(data):
    data["state"] = np.where(data.y == 1, "ill", "well")
    turned = linsep.diagnose("state ~ level", data)  # "well" is the event
    assert turned.estimates["level[T.b]"] == "-inf"
    weighted = linsep.diagnose(
        "y ~ level", data, sample_weight=(data.level != "b").astype(float)
    )
    assert weighted.status == "overlap"


@pytest.mark.parametrize("formula", ["y", "~ x", "y ~", "y ~ nothing", "y ~ x ~ z"])
def test_formula_errors(data, formula):
    with pytest.raises(linsep.InputError):
        linsep.diagnose(formula, data)


@pytest.mark.parametrize(
    "formula",
    [
        "y ~ __import__('os')",
        "y ~ x.__class__",
        "y ~ {x}",
        "y ~ I(x)",
        "y ~ C(x, contr.sum)",
        "y ~ log(log(x))",
        "y ~ unknown",
        "y ~ `un known`",
        'y ~ Q("x")',
        "y ~ [x]",
        "y ~ x @ x",
        "y ~ C((x))",
        "y ~ eval(x)",
    ],
)
def test_strangers_formulas_may_name_columns_only(formula):
    with pytest.raises(linsep.InputError, match="formula on the command line"):
        safe_formula(formula, {"x", "y"})


@pytest.mark.parametrize(
    "formula",
    ["y ~ x", "y ~ 0 + x*C(g) - x:g", "cbind(y, x) ~ log(g)", "y ~ (x + `a b`)**2"],
)
def test_strangers_formulas_that_are_fine(formula):
    assert safe_formula(formula, {"x", "y", "g", "a b"}) == formula


# --- statsmodels ---


def statsmodels_models(data):
    import statsmodels.api as sm
    import statsmodels.formula.api as smf

    binomial = sm.families.Binomial()
    dummies = pd.get_dummies(data[["x", "level"]], drop_first=True).astype(float)
    exog = sm.add_constant(dummies)
    return {
        "Logit": sm.Logit(data.y, exog),
        "Probit": sm.Probit(data.y, exog),
        "GLM": sm.GLM(data.y, exog, family=binomial),
        "arrays": sm.GLM(data.y.to_numpy(), exog.to_numpy(), family=binomial),
        "formula GLM": smf.glm("y ~ x + C(level)", data, family=binomial),
        "formula Logit": smf.logit("y ~ x + level", data),
    }


@pytest.mark.parametrize(
    "name", ["Logit", "Probit", "GLM", "arrays", "formula GLM", "formula Logit"]
)
def test_statsmodels_binary_models(data, name):
    model = statsmodels_models(data)[name]
    answer = linsep.diagnose(model)
    assert same(answer, plain(data))
    assert list(answer.estimates) == list(model.exog_names)


def test_a_fit_that_converged_in_silence_is_caught(data):
    result = statsmodels_models(data)["GLM"].fit()  # warnings are errors here
    assert result.converged
    with pytest.warns(linsep.SeparationWarning, match="level_b = 1 in"):
        answer = linsep.check_separation(result)
    assert answer.estimates["level_b"] == "+inf"
    assert (
        linsep.check_separation(result, on_separation="ignore").status
        == "quasi-complete"
    )
    with pytest.raises(linsep.SeparationError, match="Quasi-complete") as caught:
        linsep.check_separation(result, on_separation="raise")
    assert caught.value.diagnosis.separated_rows.size == (data.level == "b").sum()


def test_overlap_neither_warns_nor_raises(data):
    for choice in ("warn", "raise", "ignore"):
        answer = linsep.check_separation(data[["x"]], data.y, on_separation=choice)
        assert answer.status == "overlap"
    with pytest.raises(linsep.InputError, match="on_separation"):
        linsep.check_separation(data[["x"]], data.y, on_separation="stop")


def test_statsmodels_counts_weights_and_trials(data):
    import statsmodels.api as sm

    exog = np.column_stack([np.ones(4), [0, 1, 2, 3]])
    counts = np.array([[3, 0], [2, 1], [0, 4], [1, 0]])
    grouped = sm.GLM(counts, exog, family=sm.families.Binomial())
    assert same(linsep.diagnose(grouped), linsep.diagnose(exog[:, 1:], counts))
    weights = np.array([1, 1, 1, 0])
    weighted = sm.GLM(
        counts[:, 0] > 0, exog, family=sm.families.Binomial(), freq_weights=weights
    )
    expected = linsep.diagnose(exog[:3, 1:], [1, 1, 0])
    assert same(linsep.diagnose(weighted), expected)
    trade = sm.GLM([0, 0, 2, 1], exog, family=sm.families.Poisson())
    poisson = linsep.diagnose(exog[:, 1:], [0, 0, 2, 1], family="poisson")
    assert same(linsep.diagnose(trade), poisson)
    assert same(linsep.diagnose(sm.Poisson([0, 0, 2, 1], exog)), poisson)


def test_statsmodels_multinomial_and_ordinal(data):
    import statsmodels.api as sm
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    data["far"] = data.x + 10.0 * (data.level == "c")
    exog = sm.add_constant(data[["far"]])
    expected = linsep.diagnose(data[["far"]], data.level, family="multinomial")
    answer = linsep.diagnose(sm.MNLogit(data.level, exog))
    assert same(answer, expected)
    assert "far [c]" in answer.estimates
    level = pd.Series(pd.Categorical(data.level, ["c", "a", "b"], ordered=True))
    ordinal = linsep.diagnose(OrderedModel(level, data[["far"]], distr="logit"))
    assert same(ordinal, linsep.diagnose(data[["far"]], level, family="ordinal"))
    assert list(ordinal.estimates) == ["c|a", "a|b", "far"]


def test_statsmodels_models_without_an_answer_say_so(data):
    import statsmodels.api as sm

    with pytest.raises(linsep.InputError, match="got OLS"):
        linsep.diagnose(sm.OLS(data.x, np.ones(60)))
    with pytest.raises(linsep.InputError, match="Gaussian"):
        linsep.diagnose(sm.GLM(data.x, np.ones(60)))
    with pytest.raises(linsep.InputError, match="leave family out"):
        linsep.diagnose(sm.Logit(data.y, np.ones(60)), family="poisson")


# --- scikit-learn ---


def test_sklearn_pipeline_keeps_the_names_of_its_columns(data):
    from sklearn.compose import ColumnTransformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    steps = ColumnTransformer(
        [("n", StandardScaler(), ["x"]), ("c", OneHotEncoder(drop="first"), ["level"])]
    )
    pipeline = make_pipeline(steps, LogisticRegression())
    X = data[["x", "level"]]
    unfitted = linsep.diagnose(pipeline, X, data.y)
    assert same(unfitted, plain(data))
    assert unfitted.estimates["c__level_b"] == "+inf"
    pipeline.fit(X, data.y)
    assert linsep.diagnose(pipeline, X=X, y=data.y).estimates == unfitted.estimates
    alone = linsep.diagnose(
        LogisticRegression(fit_intercept=False), data[["x"]], data.y
    )
    assert list(alone.estimates) == ["x"]


def test_sklearn_many_classes_are_multinomial(data):
    from sklearn.linear_model import LinearRegression, LogisticRegression

    answer = linsep.diagnose(LogisticRegression(), data[["x"]], data.level)
    assert answer.family == "multinomial"
    with pytest.raises(linsep.InputError, match="LogisticRegression"):
        linsep.diagnose(LinearRegression(), data[["x"]], data.y)


def test_a_path_stands_for_the_data(tmp_path, data):
    path = tmp_path / "data.csv"
    data.to_csv(path, index=False)
    answer = linsep.diagnose(path, "y")
    assert answer.separated_rows.tolist() == plain(data).separated_rows.tolist()
    assert "level = b in" in answer.summary()
