"""Conditional logit: cases against the controls of their group, judged by all pairs."""

import re
from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import linsep
from linsep.cli import main
from regression_judge import (
    assert_comparisons_are_right,
    assert_factorisations_agree,
)


def pairs_of(X, y, groups):
    """Each case minus each control of its group, in fractions, and the two rows."""
    rows, ends = [], []
    for i in range(len(y)):
        for j in range(len(y)):
            if groups[i] == groups[j] and y[i] == 1 and y[j] == 0:
                difference = zip(map(Fraction, X[i]), map(Fraction, X[j]), strict=True)
                rows.append([a - b for a, b in difference])
                ends.append((i, j))
    return rows, ends


def assert_conditional_is_right(answer, X, y, groups):
    """Compare a diagnosis with z3 on the pairs."""
    rows, ends = pairs_of(X, y, groups)
    assert_comparisons_are_right(answer, rows, ends, len(X[0]))


@given(data=st.data())
def test_everything_exact_agrees_with_all_pairs(data):
    n, d = data.draw(st.integers(2, 9)), data.draw(st.integers(1, 3))
    cell = st.integers(-2, 2)
    X = np.array([[data.draw(cell) for _ in range(d)] for _ in range(n)], dtype=float)
    X *= data.draw(st.sampled_from([1.0, 0.1, 1e-3]))  # tenths: differences round
    X += data.draw(st.sampled_from([0.0, 0.3, 1e6]))
    y = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    groups = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    if not pairs_of(X, y, groups)[0]:
        with pytest.raises(linsep.InputError, match="hold both outcomes"):
            linsep.diagnose(X, y, family="conditional", groups=groups)
        return
    answer = linsep.diagnose(X, y, family="conditional", groups=groups)
    assert_conditional_is_right(answer, X.tolist(), y, groups)


def assert_random_groups_are_right(seed):
    """Judge cases and controls of the same kinds, drawn by a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([1.0, 0.1, 1e-3])
    if seed % 4 == 0 and d > 1:
        X[:, 1] = rng.choice([2.0, -0.5, 0.0]) * X[:, 0]
    if seed % 5 == 0:
        X = X[rng.integers(0, n, n)]
    X += rng.choice([0.0, 0.3, 1e6])
    y, groups = rng.integers(0, 2, n).tolist(), rng.integers(0, 3, n).tolist()
    if pairs_of(X, y, groups)[0]:
        answer = linsep.diagnose(X, y, family="conditional", groups=groups)
        assert_conditional_is_right(answer, X.tolist(), y, groups)


@pytest.mark.slow
def test_five_thousand_groupings_agree_with_all_pairs():
    for seed in range(5_000):
        assert_random_groups_are_right(seed)


def test_pairs_bound_the_likelihood_of_every_subset():
    # The cases win against all subsets of their number iff they win one by one.
    rng = np.random.default_rng(3)
    for _ in range(200):
        values = rng.integers(-3, 4, 6).tolist()
        cases = rng.permutation(6)[: rng.integers(1, 6)].tolist()
        controls = [i for i in range(6) if i not in cases]
        total = sum(values[i] for i in cases)
        of_subsets = all(
            total >= sum(values[i] for i in some)
            for some in combinations(range(6), len(cases))
        )
        assert of_subsets == all(
            values[i] >= values[j] for i in cases for j in controls
        )


def matched(n_sets=120, seed=0):
    """Sets of one case and two controls; an exposure that only cases have."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(
        {
            "set": np.repeat([f"s{k}" for k in range(n_sets)], 3),
            "ill": np.tile([1, 0, 0], n_sets),
            "age": rng.normal(50, 9, 3 * n_sets).round(1),
            "exposed": 0,
            "site": np.repeat(rng.integers(0, 4, n_sets), 3),
        }
    )
    chosen = rng.permutation(n_sets)[:9] * 3
    data.loc[chosen, "exposed"] = 1
    return data, np.sort(np.concatenate([chosen, chosen + 1, chosen + 2]))


def test_planted_exposure_is_found_in_matched_sets(tmp_path):
    data, rows = matched()
    path = tmp_path / "matched.csv"
    data.to_csv(path, index=False)
    design = data[["age", "exposed", "site", "set"]]
    shared = {"family": "conditional", "groups": "set"}
    for answer in (
        linsep.diagnose("ill ~ age + exposed + site", data, **shared),
        linsep.diagnose("ill ~ 0 + age + exposed + site", data, **shared),
        linsep.diagnose(design, data.ill, **shared),
        linsep.diagnose(pl.from_pandas(design), pl.Series("ill", data.ill), **shared),
        linsep.diagnose(
            design.drop(columns="set").to_numpy(),
            data.ill,
            family="clogit",
            groups=data.set,
            feature_names=["age", "exposed", "site"],
        ),
        linsep.diagnose(path, "ill", **shared),
    ):
        assert answer.status.value == "quasi-complete"
        assert answer.separated_rows.tolist() == rows.tolist()
        assert {name: verdict.value for name, verdict in answer.estimates.items()} == {
            "age": "finite", "exposed": "+inf", "site": "aliased",
        }  # fmt: skip
        assert answer.collinear == {"site": "a constant in each group"}
        assert answer.rank == 2
        text = "\n".join(answer.sentences())
        assert (
            "uses 1 column: exposed is never lower where ill = 1 than where ill = 0 "
            "in the same group, and predicts 27 rows within their groups." in text
        )
        assert "in 120 groups; there is no intercept" in text.splitlines()[1]
        assert "exact (conditional)" not in text
        assert "intercept" not in answer.estimates
    for how in (["--target=ill"], ["--formula=ill ~ age + exposed + site"]):
        done = CliRunner().invoke(
            main,
            ["diagnose", str(path), *how, "--family=conditional", "--groups=set"],
        )
        assert done.exit_code == 0, done.output
        head = " ".join(done.output.split("\nCases")[0].split())
        assert head == answer.sentences()[0]


def test_fits_of_statsmodels_are_diagnosed():
    import statsmodels.api as sm
    from statsmodels.tools.sm_exceptions import ConvergenceWarning

    data, rows = matched(30, seed=4)
    model = sm.ConditionalLogit(data.ill, data[["age", "exposed"]], groups=data.set)
    with pytest.warns(ConvergenceWarning):
        fit = model.fit(maxiter=3)
    for given_model in (model, fit):
        answer = linsep.check_separation(given_model, on_separation="ignore")
        assert answer.separated_rows.tolist() == rows.tolist()
        assert answer.estimates["exposed"] == "+inf"
    penalised = model.fit_regularized(alpha=0.1)
    assert "The fit is penalised" in linsep.diagnose(penalised).summary()
    # The estimate that the diagnosis calls finite is the one that a fit finds.
    healthy = sm.ConditionalLogit(data.ill, data[["age"]], groups=data.set)
    assert linsep.diagnose(healthy).status.value == "overlap"
    assert np.isfinite(healthy.fit().bse).all()


def test_groups_of_one_outcome_say_nothing_and_are_counted():
    X = [[1.0], [2], [9], [7], [3], [3]]
    y, groups = [0, 1, 1, 1, 0, 0], list("aabbcc")
    answer = linsep.diagnose(X, y, family="conditional", groups=groups)
    assert answer.status.value == "complete"
    assert answer.separated_rows.tolist() == [0, 1]
    assert answer.overlapped_rows.size == 0
    assert "4 rows in groups with one outcome only left out" in (answer.sentences()[1])
    # Without its control the first group says nothing either.
    with pytest.raises(linsep.InputError, match="hold both outcomes"):
        linsep.diagnose(
            X, y, family="conditional", groups=groups, sample_weight=[0, 1, 1, 1, 1, 1]
        )


def test_a_missing_group_is_a_missing_value_of_a_formula():
    data, _ = matched(20)
    data.loc[4, "set"] = None
    answer = linsep.diagnose("ill ~ age", data, family="conditional", groups="set")
    assert "1 row with missing values left out." in answer.findings
    with pytest.raises(linsep.InputError, match="group of every row"):
        linsep.diagnose(data[["age"]], data.ill, family="clogit", groups=data.set)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"family": "conditional"}, "needs them"),
        ({"groups": [1, 1, 2, 2]}, "groups go with family='conditional'"),
        ({"family": "clogit", "groups": "sett"}, "did you mean 'set'"),
        ({"family": "clogit", "groups": [1, 1, 2]}, "each of the 4 rows"),
        ({"family": "clogit", "groups": "set", "fit_intercept": True}, "no intercept"),
    ],
)
def test_what_is_no_conditional_model_is_refused(options, message):
    frame = pd.DataFrame({"x": [1.0, 2, 3, 4], "set": list("aabb")})
    with pytest.raises(linsep.InputError, match=message):
        linsep.diagnose(frame[["x", "set"]], [0, 1, 1, 0], **options)
    with pytest.raises(linsep.InputError, match="models without groups"):
        linsep.diagnose_outcomes([[1], [2]], {"y": [0, 1]}, family="clogit")
    with pytest.raises(linsep.InputError, match="two classes"):
        linsep.diagnose(frame, [0, 1, 2, 0], family="clogit", groups="set")


EFFECT = re.compile(
    r"uses (?:at most )?\d columns?: ([^:.]*) is never lower where y = 1 than where "
    r"y = 0 in the same group, and predicts (\d+) rows? within their groups\."
)


def test_what_is_said_of_a_direction_is_so():
    n_said = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 16))
        X = rng.integers(-2, 3, (n, 3)).tolist()
        y, groups = rng.integers(0, 2, n).tolist(), rng.integers(0, 3, n).tolist()
        ends = pairs_of(X, y, groups)[1]
        if not ends:
            continue
        answer = linsep.diagnose(
            X, y, family="conditional", groups=groups, feature_names=list("abc")
        )
        for text, n_rows in EFFECT.findall(" ".join(answer.summary().split())):
            n_said += 1
            exact = re.sub(r"(\d+)", r"Fraction(\1)", text)
            value = [
                eval(exact, {"Fraction": Fraction}, dict(zip("abc", row, strict=True)))
                for row in X
            ]
            rises = [value[i] - value[j] for i, j in ends]
            assert min(rises) >= 0 < max(rises)
            flat = {
                k
                for two, rise in zip(ends, rises, strict=True)
                for k in two
                if not rise
            }
            assert len({k for two in ends for k in two} - flat) == int(n_rows)
    assert n_said > 20


def test_factorisations_and_elimination_agree(monkeypatch):
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, n_groups = int(rng.integers(8, 60)), int(rng.integers(2, 12))
        X = rng.integers(-2, 3, (n, 3)).astype(float)
        X[:, 2] = X[:, 0] if seed % 5 == 0 else rng.random(n) < 0.15
        groups, y = rng.integers(0, n_groups, n), rng.integers(0, 2, n)
        y[X[:, 2] == 1] = 1
        assert_factorisations_agree(
            monkeypatch, X, y, family="conditional", groups=groups
        )


def test_many_groups_are_settled_by_factorisations():
    rng = np.random.default_rng(1)
    n = 3_000
    X = rng.standard_normal((n, 3))
    groups, y = np.repeat(np.arange(n // 2), 2), np.tile([1, 0], n // 2)
    X[:, 2] = 0
    X[[10, 20, 31], 2] = [1, 2, -1]  # two cases, and a control: rows 30 and 31
    answer = linsep.diagnose(X, y, family="conditional", groups=groups)
    assert answer.separated_rows.tolist() == [10, 11, 20, 21, 30, 31]
    assert answer.rank == 3
    assert [v.value for v in answer.estimates.values()] == ["finite", "finite", "+inf"]


def assert_conditional_counts_are_right(seed):
    """Judge counts within groups by all pairs; tell whether any row is separated."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    X = rng.integers(-2, 3, (n, 2)) * (0.1 if seed % 3 == 0 else 1.0)
    y, groups = rng.poisson(0.5, n), rng.integers(0, 3, n)
    rows, ends = [], []
    for i in np.flatnonzero(y > 0):
        for j in np.flatnonzero(groups == groups[i]):
            if i != j:  # of two with counts each is to be no lower than the other
                both = zip(map(Fraction, X[i]), map(Fraction, X[j]), strict=True)
                rows.append([a - b for a, b in both])
                ends.append((int(i), int(j)))
    given = {"family": "conditional poisson", "groups": groups}
    if not rows:
        with pytest.raises(linsep.InputError, match="several rows"):
            linsep.diagnose(X, y, **given)
        return False
    answer = linsep.diagnose(X, y, **given)
    assert_comparisons_are_right(answer, rows, ends, 2, seed % 4 == 0)
    return answer.status.value != "overlap"


def test_conditional_counts_agree_with_all_pairs():
    found = [assert_conditional_counts_are_right(seed) for seed in range(60)]
    assert sum(found) > 10


@pytest.mark.slow
def test_five_thousand_conditional_counts_agree_with_all_pairs():
    for seed in range(60, 5_060):
        assert_conditional_counts_are_right(seed)


@pytest.mark.filterwarnings("ignore:Dropped")
def test_conditional_counts_of_statsmodels_are_read():
    import statsmodels.api as sm

    rng = np.random.default_rng(59)
    X, y, groups = rng.integers(-2, 3, (30, 2)), rng.poisson(0.5, 30), np.arange(30) % 3
    answer = linsep.diagnose(X, y, family="conditional poisson", groups=groups)
    model = sm.ConditionalPoisson(y, X, groups=groups)
    found = linsep.diagnose(model).estimates
    assert list(found.values()) == list(answer.estimates.values())
