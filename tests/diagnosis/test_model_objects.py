"""Fits of other libraries: zero-inflated and two-part models, pyfixest, glum."""

import numpy as np
import pandas as pd
import pytest

import linsep


def verdicts(answer):
    return {name: str(found) for name, found in answer.estimates.items()}


def counts(seed=0, n=80):
    """Counts with more zeros than their own, a group of zeros alone, two factors."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(2),
            "g": (rng.random(n) < 0.2).astype(float),
            "firm": rng.integers(0, 6, n),
        },
        index=[f"P{k}" for k in range(n)],
    )
    data["y"] = rng.poisson(1.5, n) * (rng.random(n) < 0.7)
    data.loc[data.g == 1, "y"] = 0
    return data


# --- statsmodels ---


def zero_inflated(data, columns, infl, model="ZeroInflatedPoisson", **options):
    from statsmodels.discrete import count_model

    X = data.assign(const=1.0)
    return getattr(count_model, model)(data.y, X[columns], exog_infl=X[infl], **options)


def assert_likelihood_rises(model, answer, first):
    """Follow the direction from random places; it is of the part from `first` on."""
    rng = np.random.default_rng(0)
    w = np.zeros(len(model.exog_names))
    w[first : first + len(answer.direction)] = answer.direction
    for _ in range(20):
        start = rng.normal(size=w.size)
        if model.exog_names[-1] == "alpha":
            start[-1] = abs(start[-1]) + 0.1
        path = [model.loglike(start + t * w) for t in (0.0, 0.5, 1.0, 2.0, 4.0)]
        assert (np.diff(path) > 0).all()


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("ZeroInflatedPoisson", {}),
        ("ZeroInflatedPoisson", {"inflation": "probit"}),
        ("ZeroInflatedNegativeBinomialP", {"p": 2}),
        ("ZeroInflatedNegativeBinomialP", {"p": 1}),
    ],
)
def test_zero_inflated_models_have_no_estimate_if_a_part_has_none(model, options):
    pytest.importorskip("statsmodels")
    data = counts()
    given = zero_inflated(data, ["const", "x", "g"], ["const", "x"], model, **options)
    answer = linsep.diagnose(given)
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == np.flatnonzero(data.g == 1).tolist()
    assert set(verdicts(answer).values()) == {"undecided"}  # of the whole model
    assert "g = 1 in" in answer.summary()
    assert "Finite estimates" not in answer.summary()
    assert_likelihood_rises(given, answer, 2)
    answer.certificate.verify(*answer.certificate_data())
    given = zero_inflated(data, ["const", "x"], ["const", "x", "g"], model, **options)
    with pytest.warns(linsep.SeparationWarning, match="inflate_g = 1 in"):
        answer = linsep.check_separation(given)
    assert answer.message.startswith("Zero-inflated: its zeros")
    assert_likelihood_rises(given, answer, 0)


def test_zero_inflated_models_are_undecided_otherwise():
    pytest.importorskip("statsmodels")
    given = zero_inflated(counts(), ["const", "x"], ["const"])
    answer = linsep.diagnose_model(given)
    assert answer.status == "undecided"
    assert "no question of separation" in answer.summary()
    with pytest.raises(linsep.InputError, match="leave it out"):
        linsep.diagnose(given, family="poisson")
    with pytest.raises(linsep.InputError, match="p=1 or p=2"):
        linsep.diagnose(
            zero_inflated(
                counts(), ["const"], ["const"], "ZeroInflatedNegativeBinomialP", p=1.5
            )
        )


def test_models_of_other_parts_say_what_to_do():
    pytest.importorskip("statsmodels")
    from statsmodels.discrete.truncated_model import HurdleCountModel
    from statsmodels.othermod.betareg import BetaModel

    data = counts()
    X = np.column_stack([np.ones(len(data)), data.x])
    with pytest.raises(linsep.InputError, match="iff both of its parts have"):
        linsep.diagnose(HurdleCountModel(data.y.to_numpy(), X))
    shares = np.random.default_rng(0).uniform(0.1, 0.9, len(data))
    with pytest.raises(linsep.InputError, match="bounds its mean on both sides"):
        linsep.diagnose(BetaModel(shares, X))


# --- pyfixest: huge, so that it is tested where it is installed ---


@pytest.mark.filterwarnings("ignore")
def test_fits_of_pyfixest_are_read():
    pf = pytest.importorskip("pyfixest")
    data = counts(n=300)
    data.loc[data.firm == 3, "y"] = 0
    data["some"] = (data.y > 0).astype(int)
    expected = linsep.diagnose("y ~ x + g | firm", data, family="poisson")
    fit = pf.fepois("y ~ x + g | firm", data)
    answer = linsep.check_separation(fit, data, on_separation="ignore")
    assert verdicts(answer) == verdicts(expected)
    assert answer.separated_rows.tolist() == expected.separated_rows.tolist()
    assert "by the frame's index" in answer.summary()
    # Alone it is about the rows that pyfixest kept: those of g its check by levels
    # does not find, but its other one does.
    alone = linsep.diagnose(fit)
    assert alone.separated_rows.size == (data.g[data.firm != 3] == 1).sum()
    assert alone.estimates["g"] == "-inf"
    assert f"pyfixest left {fit.n_separation_na} rows out" in alone.summary()
    fit = pf.fepois("y ~ x + g | firm", data, separation_check=["fe", "ir"])
    assert linsep.diagnose(fit).status == "overlap"
    fit = pf.feglm("some ~ x | firm", data, family="logit")
    answer = linsep.diagnose(fit, data)
    assert answer.separated_rows.tolist() == np.flatnonzero(data.firm == 3).tolist()
    for other, message in (
        (pf.feols("y ~ x | firm", data), "got Feols"),
        (pf.fepois("y ~ x | sw(firm, g)", data), "fetch_model"),
        (pf.fepois("y ~ x | firm", data, store_data=False), "store_data=False"),
    ):
        with pytest.raises(linsep.InputError, match=message):
            linsep.diagnose(other)


# --- glum ---


def test_regressions_of_glum_are_read():
    glum = pytest.importorskip("glum")
    data = counts()
    X = data[["x", "g"]]
    expected = linsep.diagnose(X, data.y, family="poisson")
    regression = glum.GeneralizedLinearRegressor
    for family in (
        "poisson",
        "negative.binomial",
        "tweedie (1.5)",
        glum.TweedieDistribution(1.5),
    ):
        answer = linsep.diagnose(regression(family=family), X, data.y)
        assert verdicts(answer) == verdicts(expected)
    fitted = regression(family="poisson", alpha=0.1).fit(X, data.y)
    answer = linsep.check_separation(fitted, X, data.y, on_separation="ignore")
    assert "The fit is penalised (alpha = 0.1)" in answer.summary()
    answer = linsep.diagnose(regression(family="binomial"), X, (data.y > 0).astype(int))
    assert verdicts(answer)["g"] == "-inf"
    assert "penalised" not in answer.summary()
    for settings, message in (
        ({"family": "gamma", "link": "log"}, "mass at zero"),
        ({"family": "binomial", "link": "identity"}, "logit or cloglog"),
        ({"family": "poisson", "lower_bounds": [0, 0]}, "without lower_bounds"),
        ({"family": glum.TweedieDistribution(2.5)}, "mass at zero"),
    ):
        with pytest.raises(linsep.InputError, match=message):
            linsep.diagnose(regression(**settings), X, data.y)
