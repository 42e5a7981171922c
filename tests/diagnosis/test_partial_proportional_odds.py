"""Ordinal models some of whose columns have an effect at each threshold."""

import numpy as np
import pandas as pd
import pytest

import linsep
from regression_judge import assert_diagnosis_is_right, assert_factorisations_agree


def random_levels(seed):
    """A small design with its levels, weights, and which columns are nominal."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 10)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 3 == 0:
        X[:, 0] = rng.random(n) < 0.3
    if seed % 4 == 0 and d > 1:
        X[:, 1] = rng.choice([2.0, -0.5, 0.0]) * X[:, 0]
    if seed % 5 == 0:
        X = X[rng.integers(0, n, n)]
    X = X * rng.choice([1.0, 1e-3, 0.1, 1e8]) + rng.choice([0.0, 1.0, 1e6])
    y = rng.integers(0, 3 + seed % 2, n)
    y[:2] = 0, 1
    weights = None
    if seed % 6 == 0:
        weights = rng.choice([0.0, 1.0, 2.5], n)
        weights[:2] = 1.0
    nominal = np.flatnonzero(rng.random(d) < 0.6).tolist()
    return X, y, weights, nominal


def assert_own_effects_are_right(seed):
    X, y, weights, nominal = random_levels(seed)
    answer = linsep.diagnose(
        X,
        y,
        family="ordinal",
        sample_weight=weights,
        nominal=[f"x{j}" for j in nominal],
    )
    assert_diagnosis_is_right(
        answer, X, y.tolist(), "ordinal", False, weights, nominal=nominal
    )
    if seed % 8 == 0:
        assert answer.summary()
        answer.rows()
    return answer.status.value


def test_own_effects_agree_with_the_judge():
    seeds = [*range(60), 88, 168]  # and what `rows` shows
    found = [assert_own_effects_are_right(seed) for seed in seeds]
    assert {"complete", "quasi-complete", "overlap"} <= set(found)


@pytest.mark.slow
def test_five_thousand_designs_with_own_effects_agree_with_the_judge():
    for seed in range(60, 5_060):
        assert_own_effects_are_right(seed)


def log_likelihood(theta, X, y, nominal):
    """The log-likelihood of a cumulative logit, -inf where it is none."""
    n_thresholds = int(y.max())
    shared = [j for j in range(X.shape[1]) if j not in nominal]
    common = theta[n_thresholds : n_thresholds + len(shared)]
    own = theta[n_thresholds + len(shared) :].reshape(n_thresholds, len(nominal))
    eta = theta[:n_thresholds] - (X[:, shared] @ common)[:, np.newaxis]
    eta = eta - X[:, nominal] @ own.T
    ends = np.full((len(y), 1), np.inf)
    below = np.hstack([-ends, eta, ends])
    low, high = below[np.arange(len(y)), y], below[np.arange(len(y)), y + 1]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # F(high) - F(low) without loss of digits in the upper tail.
        is_up = low > 0
        a, b = np.where(is_up, -high, low), np.where(is_up, -low, high)
        share = 1 / (1 + np.exp(-b)) - 1 / (1 + np.exp(-a))
        return float(np.where(share > 0, np.log(share), -np.inf).sum())


def test_the_likelihood_itself_grows_along_what_separates_and_falls_elsewhere():
    rng = np.random.default_rng(0)
    found = set()
    for seed in range(60):
        X, y = rng.integers(-2, 3, (9, 2)).astype(float), rng.integers(0, 3, 9)
        y[:3] = 0, 1, 2
        nominal = [[0], [1], [0, 1]][seed % 3]
        names = [f"x{j}" for j in nominal]
        answer = linsep.diagnose(X, y, family="ordinal", nominal=names)
        width = len(answer.estimates)
        start = np.zeros(width)
        start[:2] = -0.5, 0.5
        found.add(answer.status.value)
        if answer.status != "overlap":
            w = answer.direction / np.abs(answer.direction).max()
            values = [
                log_likelihood(start + t * w, X, y, nominal) for t in (0, 0.5, 1, 2)
            ]
            assert np.diff(values).min() > 0
            continue
        if answer.rank < width:
            continue
        here = log_likelihood(start, X, y, nominal)
        for w in rng.standard_normal((300, width)):
            assert log_likelihood(start + 1e4 * w, X, y, nominal) < here
    assert {"quasi-complete", "overlap"} <= found


def test_effects_of_each_category_are_regressions_of_neighbouring_levels():
    # P(y <= k) = F(t_k - x . w_k): what docs/families.rst says of such models.
    for seed in range(15):
        rng = np.random.default_rng(seed)
        x = rng.integers(-1, 2, (8, 2)).astype(float)
        y = np.r_[0, 1, 2, rng.integers(0, 3, 5)]
        answer = linsep.diagnose(x, y, family="ordinal", nominal=["x0", "x1"])
        of_two = [
            linsep.diagnose(x[near], y[near]).status == "overlap"
            for near in ((y < 2), (y > 0))
        ]
        assert (answer.status == "overlap") == all(of_two)


def test_a_group_without_the_middle_level_is_told_as_it_is():
    # Both thresholds run off for the group, apart: its rows of the first and of the
    # last level are told from the middle, and not from each other.
    x = np.repeat([0.0, 1.0], [9, 4])[:, np.newaxis]
    y = np.array([0, 1, 2] * 3 + [0, 0, 2, 2])
    answer = linsep.diagnose(x, y, family="ordinal", nominal=["x0"])
    assert answer.separated_rows.tolist() == [9, 10, 11, 12]
    assert list(map(str, answer.estimates.values())) == [
        "finite", "finite", "-inf", "+inf",
    ]  # fmt: skip
    text = " ".join(answer.summary().split())
    assert "4 of 13 rows are predicted perfectly against the levels next to theirs" in (
        text
    )
    assert "estimate under which every outcome can occur exists" in text
    assert "from the levels next to theirs" in " ".join(answer.page().meaning)
    plain = linsep.diagnose(x, y, family="ordinal")
    assert plain.status == "overlap"
    # As the middle level's share in the group goes to zero, so do both thresholds
    # apart; where they meet, as order has it, the likelihood is not at its largest.
    theta = np.array([-0.7, 0.7, -0.7, 0.7])  # x . w is taken off
    meeting = log_likelihood(theta, x, y, [0])
    beyond = log_likelihood(theta + np.array([0, 0, -1, 1]), x, y, [0])
    assert beyond > meeting


def test_how_own_effects_are_given_and_told():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({
        "dose": rng.integers(0, 9, 90),
        "site": rng.choice(["a", "b", "c"], 90),
        "level": pd.Categorical(
            rng.choice(["low", "mid", "high"], 90), ["low", "mid", "high"], ordered=True
        ),
    })  # fmt: skip
    data.loc[(data.site == "c") & (data.level == "low"), "level"] = "mid"
    given = {"family": "ordinal", "nominal": ["site"]}
    answer = linsep.diagnose("level ~ dose + site", data, **given)
    assert {name: v.value for name, v in answer.estimates.items()} == {
        "low|mid": "finite",
        "mid|high": "finite",
        "dose": "finite",
        "site[T.b] [low|mid]": "finite",
        "site[T.c] [low|mid]": "+inf",
        "site[T.b] [mid|high]": "finite",
        "site[T.c] [mid|high]": "finite",
    }
    text = " ".join(answer.summary().split())
    assert "site[T.b], site[T.c] have an effect at each threshold" in text
    assert "uses 1 column: site[T.c] [low|mid]" in text
    one = linsep.diagnose(
        data[["dose"]], ["mid"] * 90, family="ordinal", nominal=["dose"]
    )
    assert list(one.estimates) == ["intercept", "dose"]
    assert "next to theirs" not in one.summary()
    plain = linsep.diagnose("level ~ dose + site", data, family="ordinal")
    assert plain.status == "overlap"
    refused = linsep.InputError
    with pytest.raises(refused, match="nominal must name columns of the design"):
        linsep.diagnose("level ~ dose", data, **given)
    with pytest.raises(refused, match="nominal is for family='ordinal'"):
        linsep.diagnose([[0.0], [1]], [0, 1], nominal=["x0"])
    with pytest.raises(refused, match="without a penalty matrix"):
        linsep.diagnose(
            data[["dose"]],
            data.level,
            family="ordinal",
            nominal=["dose"],
            penalized=np.eye(1),
        )


def test_own_effects_by_factorisations(monkeypatch):
    for seed in range(20):
        X, y, weights, nominal = random_levels(seed)
        assert_factorisations_agree(
            monkeypatch,
            X,
            y,
            family="ordinal",
            sample_weight=weights,
            nominal=[f"x{j}" for j in nominal],
        )
