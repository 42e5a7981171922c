"""Fits of other libraries: models of two parts, beta regressions, pyfixest, glum."""

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.diagnosis.beta_regression import is_fitted


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


def hurdle(data, **options):
    from statsmodels.discrete.truncated_model import HurdleCountModel

    return HurdleCountModel(
        data.y, data.assign(const=1.0)[["const", "x", "g"]], **options
    )


def hurdle_likelihood(theta, data):
    """The log-likelihood of a Poisson hurdle, also where statsmodels' overflows."""
    X, y = data.assign(const=1.0)[["const", "x", "g"]].to_numpy(), data.y.to_numpy()
    nu, mu = np.exp(X @ theta[:3]), np.exp(X @ theta[3:])
    zeros = np.where(y == 0, -nu, np.log(-np.expm1(-nu)))
    counted = y * np.log(mu) - mu - np.log(-np.expm1(-mu))
    return float((zeros + np.where(y > 0, counted, 0.0)).sum())


@pytest.mark.parametrize(
    ("options", "n_extra"),
    [({}, 0), ({"dist": "negbin"}, 1), ({"zerodist": "negbin"}, 1)],
)
def test_both_parts_of_a_hurdle_model_are_decided(options, n_extra):
    pytest.importorskip("statsmodels")
    data = counts()
    given = hurdle(data, **options)  # g = 1: all zeros, and no counts
    answer = linsep.diagnose(given)
    assert answer.separated_rows.tolist() == np.flatnonzero(data.g == 1).tolist()
    assert verdicts(answer) == {
        "zm_const": "finite", "zm_x": "finite", "zm_g": "-inf",
        "const": "finite", "x": "finite", "g": "aliased",
    }  # fmt: skip
    assert answer.to_frame().direction.tolist() == [0, 0, -1, 0, 0, 0]
    answer.certificate.verify(*answer.certificate_data())
    data.loc[data.g == 1, "y"] = np.arange((data.g == 1).sum()) % 2
    given = hurdle(data, **options)
    answer = linsep.check_separation(given, on_separation="ignore")
    rows = np.flatnonzero((data.g == 1) & (data.y == 1))
    assert answer.separated_rows.tolist() == rows.tolist()
    assert answer.message.startswith("Hurdle: its counts")
    assert "penalty" in answer.page().advice[0].name
    assert verdicts(answer)["g"] == "-inf"
    assert set(list(verdicts(answer).values())[:-1]) == {"finite"}
    text = " ".join(answer.summary().split())
    assert "all y - 1 = 0" in text
    assert "weight zero" not in text
    assert ("taken as known" in text) == bool(n_extra)
    rng = np.random.default_rng(0)
    at = np.r_[answer.exact_direction].astype(float)
    for start in rng.normal(size=(10, 6)):
        path = [hurdle_likelihood(start + t * at, data) for t in (0.0, 0.5, 1.0, 2.0)]
        assert (np.diff(path) > 0).all()
    data.loc[data.g == 1, "y"] = np.arange((data.g == 1).sum()) % 3
    given = hurdle(data, **options)
    answer = linsep.diagnose(given)
    assert answer.status == "overlap"
    assert "The maximum likelihood estimate exists" in answer.summary()
    assert set(verdicts(answer).values()) == {"finite"}
    here = hurdle_likelihood(np.zeros(6), data)
    for w in rng.normal(size=(200, 6)):
        assert hurdle_likelihood(6.0 * w, data) < here
    if n_extra == 0:
        data.loc["P3", "x"] = np.nan
        given = hurdle(data, missing="drop")
        fit = given.fit_regularized(alpha=1.0, disp=0)
        again = linsep.diagnose(fit)  # which renames the columns of its model
        assert verdicts(again) == verdicts(answer)
        assert 3 not in again.overlapped_rows
        assert 79 in again.overlapped_rows or data.y.iloc[79] == 0
        data.loc[data.g == 1, "y"] = 0
        told = linsep.diagnose(hurdle(data, missing="drop")).summary()
        assert "1 row with missing values left out." in told
    if "dist" in options:
        with pytest.raises(linsep.InputError, match="p=2, got another p"):
            linsep.diagnose(hurdle(data, p=1, **options))


def test_truncated_counts_are_those_of_a_poisson_regression_above_the_least():
    pytest.importorskip("statsmodels")
    from statsmodels.discrete import truncated_model

    data = counts().assign(const=1.0)
    data.loc[data.g == 1, "y"] = np.arange((data.g == 1).sum()) % 3
    X = data[["const", "x", "g"]]
    for cut in (0, 1):
        is_left = data.y > cut
        expected = linsep.diagnose(
            X[is_left], data.y[is_left] - cut - 1, family="poisson", fit_intercept=False
        )
        given = truncated_model.TruncatedLFPoisson(data.y, X, truncation=cut)
        answer = linsep.diagnose(given)
        assert answer.status == expected.status
        assert verdicts(answer) == verdicts(expected)
        rows = np.flatnonzero(is_left)
        assert answer.separated_rows.tolist() == rows[expected.separated_rows].tolist()
        left_out = f"{(~is_left).sum()} rows of counts that are cut off left out."
        assert left_out in answer.summary()
        assert f"all y - {cut + 1} = 0" in answer.summary() or cut == 0
    generalized = truncated_model.TruncatedLFGeneralizedPoisson(data.y, X)
    with pytest.raises(linsep.InputError, match="must be one of"):
        linsep.diagnose(generalized)


def test_log_links_of_positive_outcomes_are_bounded_on_both_sides():
    sm = pytest.importorskip("statsmodels.api")
    data = counts().assign(const=1.0)
    for family in (sm.families.Gamma, sm.families.InverseGaussian):
        link = sm.families.links.Log()
        answer = linsep.diagnose(
            sm.GLM(data.y + 0.5, data[["const", "g"]], family(link))
        )
        assert answer.status == "overlap"


# --- beta regressions ---


def dependences(rows):
    """The left null space of rows, by textbook elimination in fractions."""
    n = len(rows)
    left = [
        [*map(Fraction, row), *(Fraction(i == j) for j in range(n))]
        for i, row in enumerate(rows)
    ]
    d = len(rows[0])
    top = 0
    for column in range(d):
        pivot = next((i for i in range(top, n) if left[i][column]), None)
        if pivot is None:
            continue
        left[top], left[pivot] = left[pivot], left[top]
        for i in range(top + 1, n):
            factor = left[i][column] / left[top][column]
            left[i] = [a - factor * b for a, b in zip(left[i], left[top], strict=True)]
        top += 1
    return [row[d:] for row in left[top:]]


def fits_exactly(X, y):
    """Whether the logits meet every dependence of the rows, to 100 digits."""
    with localcontext(prec=150):
        odds = [Fraction(v) / (1 - Fraction(v)) for v in y]
        logs = [(Decimal(o.numerator) / Decimal(o.denominator)).ln() for o in odds]
        return all(
            abs(
                sum(
                    Decimal(c.numerator) / Decimal(c.denominator) * v
                    for c, v in zip(u, logs, strict=True)
                )
            )
            < Decimal(10) ** -100
            for u in dependences(X)
        )


def assert_fit_is_told(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    X = rng.integers(-1, 2, (n, d)).astype(float)
    if seed % 3 == 0:
        X[:, 0] = 1.0
    if seed % 4 == 0:
        X = X * 0.1
    if seed % 5 == 0:  # logits of 0 and of one number and its negative
        y = np.array([0.5, 0.75, 0.25])[X[:, 0].astype(int)]
    else:
        y = rng.choice([0.1, 0.25, 0.5, 0.75, 0.9, 0.3], n)
    found = is_fitted(X, y)
    assert found is fits_exactly(X.tolist(), y.tolist())
    return found


def test_what_is_fitted_exactly_is_told():
    found = [assert_fit_is_told(seed) for seed in range(300)]
    assert min(found.count(True), found.count(False)) > 50


@pytest.mark.slow
def test_what_is_fitted_exactly_is_told_five_thousand_times():
    for seed in range(300, 5_300):
        assert_fit_is_told(seed)


def test_beta_regressions_have_an_estimate_unless_rows_are_fitted_exactly():
    pytest.importorskip("statsmodels")
    from statsmodels.othermod.betareg import BetaModel

    rng = np.random.default_rng(0)
    data = counts().assign(const=1.0, one=np.arange(80) == 7, level=0.3)
    data["share"] = rng.uniform(0.1, 0.9, len(data))
    data = data.astype(float)
    X = data[["const", "x", "g"]]
    given = BetaModel(data.share, X, exog_precision=data[["const", "g"]])
    answer = linsep.diagnose(given)
    assert answer.status == "overlap"
    assert verdicts(answer) == dict.fromkeys(given.exog_names, "finite")
    answer.certificate.verify(*answer.certificate_data())
    start = np.array([0.0, 0, 0, 1, 0])
    here = given.loglike(start)
    for w in rng.normal(size=(50, 5)):
        assert given.loglike(start + 6.0 * w) < here
    twice = linsep.diagnose(BetaModel(data.share, X.assign(h=1 - data.g)))
    assert verdicts(twice)["g"] == "aliased"
    assert "every coefficient that is identified exists" in twice.message
    # One row with a mean and a precision of its own.
    X = data[["const", "x", "one"]]
    given = BetaModel(data.share, X, exog_precision=data[["const", "one"]])
    answer = linsep.diagnose(given)
    assert answer.status == "undecided"
    assert "fit exactly 1 of its 80 rows" in answer.message
    assert "settles one side only" in answer.page().meaning[0]
    assert answer.page().advice == []
    w = np.zeros(5)
    w[2] = np.log(data.share.iloc[7] / (1 - data.share.iloc[7]))
    values = [given.loglike(np.append(w[:4], v)) for v in (0.0, 5, 10, 15, 20)]
    assert (np.diff(values) > 2).all()
    for shares, Z, words in (
        (data.level, None, "fit exactly 80 of its 80 rows"),
        (data.share, data[["const", "x"]], "tie the precisions of rows"),
    ):
        answer = linsep.diagnose(BetaModel(shares, X, exog_precision=Z))
        assert answer.status == "undecided"
        assert words in " ".join(answer.summary().split())
    from statsmodels.genmod.families.links import CLogLog

    with pytest.raises(linsep.InputError, match="must have a logit link"):
        linsep.diagnose(BetaModel(data.share, X, link=CLogLog()))


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


@pytest.mark.parametrize("model", ["Logit", "GLM", "MNLogit", "OrderedModel"])
def test_rows_of_a_model_have_the_index_of_its_frame(model):
    """Also where the model left rows out for missing values."""
    sm = pytest.importorskip("statsmodels.api")
    from statsmodels.miscmodels.ordinal_model import OrderedModel

    n = 40
    frame = pd.DataFrame({"x": np.arange(n) * 7 % 10.0, "d": np.arange(n) % 5 == 1})
    frame = frame.astype(float).set_axis([f"P{k}" for k in range(n)])
    y = pd.Series(np.where(frame.d == 1, 2, np.arange(n) % 3), frame.index)
    y = y if model in ("MNLogit", "OrderedModel") else (y == 2).astype(int)
    frame.loc["P3", "x"] = np.nan
    made = {
        "Logit": lambda X: sm.Logit(y, X, missing="drop"),
        "GLM": lambda X: sm.GLM(y, X, sm.families.Binomial(), missing="drop"),
        "MNLogit": lambda X: sm.MNLogit(y, X, missing="drop"),
        "OrderedModel": lambda X: OrderedModel(y[X.index], X),
    }[model]
    X = frame.dropna() if model == "OrderedModel" else frame
    answer = linsep.diagnose(made(X if model == "OrderedModel" else sm.add_constant(X)))
    expected = frame.index[frame.d == 1].tolist()
    assert answer.rows()["row"] == expected
    assert "(by the frame's index): P1, P6" in answer.summary().replace("\n    ", " ")
