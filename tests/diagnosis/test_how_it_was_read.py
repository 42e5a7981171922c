"""What comes first: how outcomes are coded, which rows count, what a fit penalises."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import (
    LogisticRegression,
    LogisticRegressionCV,
    PoissonRegressor,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from statsmodels.gam.api import BSplines

import linsep


def binomial():
    """A family of its own for each model, which keeps the trials of its data."""
    return sm.families.Binomial()


def mice():
    """Forty mice; each of the seven given the drug survived, the others vary."""
    rng = np.random.default_rng(8)
    died = rng.integers(0, 2, 40)
    drug = np.zeros(40, dtype=int)
    drug[:7], died[:7] = 1, 0
    return pd.DataFrame({"died": died, "drug": drug, "weight": rng.normal(20, 2, 40)})


# --- what statsmodels models ---


@pytest.mark.parametrize(
    "kind", ["bool", "text", "string", "object", "C()", "category"]
)
@pytest.mark.parametrize("fit", [smf.glm, smf.gee])
def test_statsmodels_models_the_first_level_of_a_text_or_boolean(kind, fit):
    data = mice()
    is_dead = data.died == 1
    data["state"] = {
        "bool": is_dead,
        "text": np.where(is_dead, "dead", "alive"),
        "string": pd.array(np.where(is_dead, "dead", "alive"), dtype="string"),
        "object": is_dead.astype(object),
        "C()": np.where(is_dead, "dead", "alive"),
        "category": pd.Categorical(
            np.where(is_dead, "dead", "alive"), ["dead", "alive"]
        ),
    }[kind]
    left = "C(state)" if kind == "C()" else "state"
    more = {"groups": np.arange(40)} if fit is smf.gee else {}
    model = fit(f"{left} ~ drug + weight", data=data, family=binomial(), **more)
    answer = linsep.diagnose(model)
    # Signs and names are those of what is modelled, as endog says it is.
    modelled = np.asarray(model.endog)[0] == 1  # the first mouse, which survived
    assert answer.estimates["drug"] == ("+inf" if modelled else "-inf")
    assert answer.separated_rows.tolist() == list(range(7))
    first, second = sorted({str(value) for value in data.state}, reverse=True)
    if kind == "category":
        first, second = second, first
    assert f"state = {second} against state = {first}" in answer.message
    dead = {"bool": "False", "object": "False"}.get(kind, "alive")
    assert f"drug = 1 in 7 rows, all state = {dead}." in answer.summary()


@given(st.integers(0, 10_000))
def test_signs_are_those_that_a_fit_climbs_in(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"x": rng.integers(0, 2, 30), "z": rng.normal(size=30)})
    data["y"] = rng.choice(["no", "yes"], 30)
    only = rng.choice(["no", "yes"])
    data.loc[data.x == 1, "y"] = only
    if data.x.nunique() < 2 or data[data.x == 0].y.nunique() < 2:
        return
    model = smf.glm("y ~ x + z", data, family=binomial())
    answer = linsep.diagnose(model)
    if answer.estimates["x"] not in ("+inf", "-inf"):
        return
    towards = {"+inf": 1.0, "-inf": -1.0}[answer.estimates["x"].value]
    w = np.asarray(answer.direction)
    climbs = [model.loglike(size * w) for size in (1, 5, 9)]
    assert climbs == sorted(climbs)
    assert np.sign(w[1]) == towards


def test_two_columns_of_counts_keep_their_names():
    data = pd.DataFrame(
        {"dead": [3, 0, 1, 0], "alive": [1, 2, 1, 4], "x": [0.0, 1, 0, 1]}
    )
    formula = smf.glm("dead + alive ~ x", data, family=binomial())
    arrays = sm.GLM(data[["dead", "alive"]], sm.add_constant(data.x), family=binomial())
    for model in (formula, arrays):
        answer = linsep.diagnose(model)
        assert answer.estimates["x"] == "-inf"
        assert "(binomial, dead against alive)" in answer.message
        assert "x = 1: 6 observations in 2 rows, all alive." in answer.summary()
    nameless = sm.GLM(
        data[["dead", "alive"]].to_numpy(), sm.add_constant(data.x), family=binomial()
    )
    assert "(binomial):" in linsep.diagnose(nameless).message


def test_an_outcome_beyond_one_is_no_outcome_of_a_binomial_model():
    data = mice().assign(state=lambda frame: frame.died + 1)
    with pytest.raises(linsep.InputError, match="code the outcome 0 and 1"):
        linsep.diagnose(smf.glm("state ~ drug", data, family=binomial()))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2], "died = 2 against died = 1"),
        ([-1, 1], "died = 1 against died = -1"),
        (["no", "yes"], "died = yes against died = no"),
        ([0, 1], None),
        ([False, True], None),
    ],
    ids=str,
)
def test_the_verdict_says_how_an_outcome_is_coded(values, said):
    data = mice()
    data["died"] = np.array(values)[data.died]
    for answer in (
        linsep.diagnose("died ~ drug + weight", data),
        linsep.diagnose(data[["drug", "weight"]], data.died),
    ):
        coded = "binomial" if said is None else f"binomial, {said}"
        assert answer.message.startswith(f"Quasi-complete separation ({coded}): 7 of")
        assert answer.estimates["drug"] == "-inf"
        assert f"all died = {values[0]}." in answer.summary()


# --- rows that do not count ---


def counts():
    """Four groups; that of site c had no trials."""
    return pd.DataFrame(
        {
            "site": list("aabbc"),
            "dead": [1, 2, 0, 1, 0],
            "alive": [1, 1, 3, 2, 0],
            "x": [1.0, 2, 3, 4, 5],
        }
    )


def inputs_of_counts():
    data = counts()
    both = data[["dead", "alive"]]
    design = sm.add_constant(data[["x"]].to_numpy())
    with np.errstate(invalid="ignore"):  # statsmodels divides by the number of trials
        of_formula = smf.glm("dead + alive ~ C(site) + x", data, family=binomial())
        of_arrays = sm.GLM(both.to_numpy(), design, family=binomial())
    return {
        "design": (data[["x"]], both),
        "frame": (data[["site", "x"]], both),
        "formula": ("cbind(dead, alive) ~ C(site) + x", data),
        "fixed effects": ("cbind(dead, alive) ~ x | site", data),
        "statsmodels": (of_formula,),
        "arrays": (of_arrays,),
    }


@pytest.mark.parametrize("name", inputs_of_counts())
def test_groups_without_trials_are_absent_and_counted(name):
    answer = linsep.diagnose(*inputs_of_counts()[name])
    text = answer.summary()
    assert answer.sentences()[1] == "1 row without trials counted as absent."
    assert "weight" not in text
    assert sorted([*answer.separated_rows, *answer.overlapped_rows]) == [0, 1, 2, 3]
    levels = [
        key for key in answer.estimates if "[" in key and "c" in key.split("[")[1]
    ]
    if name in ("formula", "statsmodels"):
        assert [answer.estimates[key].value for key in levels] == ["aliased"]
        assert answer.collinear == {"C(site)[T.c]": "0"}
    else:
        assert levels == []
    if name == "formula":
        assert "No row present has site = c." in answer.findings
    if name not in ("design", "arrays"):
        without = counts().iloc[:4]
        expected = linsep.diagnose("cbind(dead, alive) ~ C(site) + x", without)
        assert answer.status == expected.status
        assert answer.estimates["x"] == expected.estimates["x"]


def test_missing_values_and_one_class_come_first():
    data = mice()
    data.loc[3:, "weight"] = np.nan
    answer = linsep.diagnose("died ~ drug + weight", data)
    assert answer.sentences()[1:4] == [
        "One class only: every row has died = 0, which a constant predicts.",
        "37 rows with missing values left out.",
        "What is said here is of the 3 rows left.",
    ]
    # Nothing is said twice.
    lines = answer.sentences()
    assert len(set(lines)) == len(lines)
    some = linsep.diagnose("died ~ drug + weight", mice().iloc[5:].fillna(1))
    assert "is of the" not in some.summary()


# --- penalties ---


def fits():
    data = mice()
    X, y = data[["drug", "weight"]], data.died
    exog = sm.add_constant(X)
    loose = {"disp": False, "maxiter": 200}
    smooth = BSplines(data[["weight"]], df=[4], degree=[3])
    return {
        "C = 1": (LogisticRegression(), X, y),
        "C = 0.01": (make_pipeline(StandardScaler(), LogisticRegression(C=0.01)), X, y),
        "cross-validation": (LogisticRegressionCV(), X, y),
        "alpha = 1": (PoissonRegressor(), X, y),
        "L1, alpha = 0.5": (sm.Logit(y, exog).fit_regularized(alpha=0.5, **loose),),
        "L1, alpha 0 to 1": (
            sm.Logit(y, exog).fit_regularized(alpha=[0, 1, 1], **loose),
        ),
        "GLMGam": (sm.GLMGam(y, exog, smoother=smooth, family=binomial()),),
        "fit_regularized": (
            sm.GLM(y, exog, family=binomial()).fit_regularized(alpha=0.1, L1_wt=0),
        ),
    }


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("name", fits())
def test_a_penalised_fit_is_said_to_be_one_and_not_advised_a_penalty(name):
    answer = linsep.check_separation(*fits()[name], on_separation="ignore")
    assert answer.status.value == "quasi-complete"
    second = answer.sentences()[1]
    assert second.startswith("The fit is penalised (")
    assert name in second
    assert "without the penalty" in second
    for advised in ("Firth", "ridge", "prior", "another penalty"):
        assert advised not in answer.summary()


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_a_fit_without_penalty_is_no_penalised_one():
    data = mice()
    X, y = data[["drug", "weight"]], data.died
    for inputs in (
        (LogisticRegression(C=np.inf), X, y),
        (LogisticRegression(penalty=None), X, y),
        (PoissonRegressor(alpha=0), X, y),
        (sm.Logit(y, sm.add_constant(X)).fit_regularized(alpha=0, disp=False),),
        (sm.GLM(y, sm.add_constant(X), family=binomial()).fit(),),
    ):
        answer = linsep.diagnose(*inputs)
        assert "The fit is penalised" not in answer.summary()
        assert "Firth" in answer.summary()


def test_a_penalised_estimate_is_finite_and_of_the_penaltys_size():
    # What the sentence claims, of a fit: C times ten makes it larger, without end.
    data = mice()
    X, y = StandardScaler().fit_transform(data[["drug", "weight"]]), data.died
    sizes = []
    for C in (1, 1e3, 1e6):
        fit = LogisticRegression(C=C, tol=1e-10, solver="newton-cholesky").fit(X, y)
        sizes.append(abs(fit.coef_[0]))
    drug, weight = np.transpose(sizes)
    assert drug[0] + 1 < drug[1] < drug[2] - 1
    assert abs(weight[2] - weight[1]) < 0.1


# --- families by other names ---


@pytest.mark.parametrize(
    ("family", "name"),
    [
        ("logit", "binomial"),
        ("Probit", "binomial"),
        (sm.families.Binomial(), "binomial"),
        (sm.families.Binomial(link=sm.families.links.CLogLog()), "binomial"),
        (sm.families.Poisson(), "poisson"),
        (sm.families.Poisson, "poisson"),
        (sm.families.NegativeBinomial(alpha=1.0), "poisson"),
        ("negative-binomial", "poisson"),
        ("mnlogit", "multinomial"),
        ("proportional_odds", "ordinal"),
    ],
    ids=lambda value: value if isinstance(value, str) else "statsmodels",
)
def test_other_names_of_a_family(family, name):
    answer = linsep.diagnose([[1], [2], [3]], [0, 1, 1], family=family)
    assert answer.family == name
    data = pd.DataFrame({"x": [1, 2, 3], "y": [0, 1, 1]})
    assert linsep.diagnose_formula("y ~ x", data, family=family).family == name
    (item,) = linsep.diagnose_outcomes(data[["x"]], data[["y"]], family=family)
    assert item.status == linsep.diagnose(data[["x"]], data.y, family=name).status


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("poison", "did you mean 'poisson'"),
        ("gaussian", "family must be one of"),
        (sm.families.Gaussian(), "Gaussian with link Identity"),
        (sm.families.Poisson(link=sm.families.links.Sqrt()), "Poisson with link Sqrt"),
        (int, "family must be one of"),
        (3, "family must be one of"),
    ],
    ids=lambda value: value if isinstance(value, str) else "no text",
)
def test_what_is_no_family_is_refused_with_a_hint(family, message):
    with pytest.raises(linsep.InputError, match=message):
        linsep.diagnose([[1], [2]], [0, 1], family=family)


# --- wrong calls ---


def test_a_formula_behind_its_frame_is_asked_about():
    for call in (linsep.diagnose, linsep.check_separation, linsep.influential_rows):
        with pytest.raises(linsep.InputError, match="did you swap the two"):
            call(mice(), "died ~ drug")


@pytest.mark.parametrize(
    "formula",
    [
        "died ~ weigth",
        "died ~ log(weigth)",
        "died ~ I(weigth > 20)",
        "died ~ drug | weigth",
    ],
)
def test_a_name_written_wrongly_is_asked_about(formula):
    with pytest.raises(linsep.InputError, match="did you mean 'weight'") as caught:
        linsep.diagnose(formula, mice())
    assert "the data have died, drug, weight" in str(caught.value)


@pytest.mark.parametrize("left", ["dead", "log(dead)", "C(dead)", "cbind(dead, drug)"])
def test_a_wrong_outcome_is_quoted_as_it_was_written(left):
    with pytest.raises(linsep.InputError, match="got 'dead'") as caught:
        linsep.diagnose(f"{left} ~ drug", mice())
    assert "0 +" not in str(caught.value)


def test_the_models_that_can_be_diagnosed_are_all_named():
    with pytest.raises(linsep.InputError, match=r"GEE.*OrderedModel.*ConditionalLogit"):
        linsep.diagnose(sm.OLS([1.0, 2], np.ones(2)))


def test_rows_left_out_of_a_file_are_counted_once_with_their_columns(tmp_path):
    data = mice()
    data.loc[3:5, "weight"] = np.nan
    path = tmp_path / "mice.csv"
    data.to_csv(path, index=False)
    answer = linsep.diagnose(path, "died", missing="drop")
    n = len(data)
    said = [line for line in answer.sentences() if "left out" in line]
    assert said == [f"3 of {n} rows were left out for missing values ('weight' 3)."]
