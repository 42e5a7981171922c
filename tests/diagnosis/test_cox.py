"""Cox regressions: events against those at risk, judged by all pairs."""

import warnings
from collections import Counter
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from random_designs import random_cohort
from regression_judge import (
    assert_comparisons_are_right,
    assert_factorisations_agree,
)


def pairs_at_risk(X, times, strata, exact):
    """Each event minus each other row at risk then, in fractions, and the two rows."""
    rows, ends = [], []
    for i, (_, t, event) in enumerate(times):
        if not event:
            continue
        for j, (entry, left, also) in enumerate(times):
            tied = also and left == t
            if j == i or strata[i] != strata[j] or not entry < t <= left:
                continue
            if exact and tied:
                continue
            difference = zip(map(Fraction, X[i]), map(Fraction, X[j]), strict=True)
            rows.append([a - b for a, b in difference])
            ends.append((i, j))
    return rows, ends


def assert_cox_is_right(seed):
    X, times, strata = random_cohort(seed)
    family = ("cox", "cox exact")[seed // 2 % 2]
    rows, ends = pairs_at_risk(X, times, strata, family == "cox exact")
    given = {"family": family, "groups": strata}
    y = times if np.isfinite(times[:, 0]).all() else times[:, 1:]
    if not rows:
        with pytest.raises(linsep.InputError, match="at least one event"):
            linsep.diagnose(X, y, **given)
        return False
    answer = linsep.diagnose(X, y, **given)
    assert_comparisons_are_right(answer, rows, ends, X.shape[1], seed % 8 == 0)
    return answer.status.value != "overlap"


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_everything_exact_agrees_with_all_pairs(first):
    found = [assert_cox_is_right(seed) for seed in range(first, first + 50)]
    assert 5 < sum(found) < 45


@pytest.mark.slow
def test_everything_exact_agrees_with_all_pairs_of_five_thousand_cohorts():
    for seed in range(200, 5_200):
        assert_cox_is_right(seed)


def test_factorisations_and_elimination_agree(monkeypatch):
    for seed in range(40):
        X, times, strata = random_cohort(seed)
        assert_factorisations_agree(
            monkeypatch, X, times[:, 1:], family="cox", groups=strata
        )


# --- published cases: the values, and where they are from ---

# T, N, G and CD of the breast cancer data of Heinze & Schemper (2001), as in R's coxphf
# (https://cran.r-project.org/package=coxphf, data set `breast`): rows that left before
# the end of the study, in order of time; 51 more are censored at 72 months.
BREAST = """
1.546053 1 1010;3.519737 1 0011;8.059211 1 1111;8.651316 1 1011;12.138158 1 1110
12.368421 1 1111;13.059211 1 1010;14.769737 1 1111;18.848684 1 1010;20.032895 1 1111
20.723684 1 1111;21.644737 1 0110;23.355263 0 0110;23.684211 1 1011;26.611842 1 1111
27.960526 0 0000;28.355263 0 0110;30.427632 0 1010;30.526316 0 1011;30.921053 0 0000
33.092105 0 1010;36.907895 0 1010;37.269737 0 1010;39.901316 0 0011;40.164474 1 1010
41.250000 1 1011;41.611842 0 0000;44.934211 1 0010;47.467105 0 0110;47.467105 1 0110
47.960526 0 0110;49.046053 1 1111;50.000000 0 1010;55.263158 1 1111;56.776316 0 1000
58.026316 0 1000;58.355263 1 1111;58.717105 0 0010;59.671053 1 0110;60.230263 0 1010
60.592105 1 1111;62.368421 0 0010;62.565789 1 1110;63.486842 0 0010;64.177632 0 1010
64.901316 0 0000;67.302632 0 0001;70.098684 0 0010;70.328947 1 0110
"""
AT_THE_END = """
1000 0010 0100 1110 0011 0010 1111 0011 0000 0000 0011 0010 0000 0010 0010 0000 0010
0010 0100 0110 0110 0110 0001 0010 1000 1010 0001 0000 1010 1010 0110 1011 0000 0000
1010 0011 0010 0000 0110 0011 1010 1011 1111 1000 0000 0100 1010 0011 0001 0010 0100
"""


def breast_cancer():
    cells = [row.split() for row in BREAST.strip().replace("\n", ";").split(";")]
    cells += [["72", "0", digits] for digits in AT_THE_END.split()]
    data = pd.DataFrame(
        [list(map(int, digits)) for _, _, digits in cells], columns=list("TNGC")
    ).rename(columns={"C": "CD"})
    return data.assign(
        TIME=[float(t) for t, _, _ in cells], CENS=[int(e) for _, e, _ in cells]
    )


def verdicts(answer):
    return {name: str(verdict) for name, verdict in answer.estimates.items()}


def test_breast_cancer_of_heinze_and_schemper():
    data = breast_cancer()
    assert len(data) == 100
    assert data.CENS.sum() == 25
    answer = linsep.diagnose("Surv(TIME, CENS) ~ T + N + G + CD", data, family="cox")
    assert answer.status == "quasi-complete"
    expected = {"T": "finite", "N": "finite", "G": "+inf", "CD": "finite"}
    assert verdicts(answer) == expected
    assert answer.separated_rows.tolist() == np.flatnonzero(data.G == 0).tolist()
    text = " ".join(answer.summary().split())
    assert "G is never lower for a row with an event than for any other at risk" in text


def test_three_rows_of_coxphf():  # its manual page coxphf: "monotone likelihood"
    answer = linsep.diagnose(
        [[1.0], [1.0], [0.0]], [[1, 1], [2, 1], [3, 1]], family="coxph"
    )
    assert answer.status == "quasi-complete"
    assert verdicts(answer) == {"x0": "+inf"}


# R's survival, manual page coxph; the second stands in coxphf's as well.
STRATIFIED = ([0, 2, 1, 1, 1, 0, 0], [4, 3, 1, 1, 2, 2, 3], [1, 1, 1, 0, 1, 1, 0])
START = [1, 2, 5, 2, 1, 7, 3, 4, 8, 8]
STOP = [2, 3, 6, 7, 8, 9, 9, 9, 14, 17]
X_OF_TIME = [1, 0, 0, 1, 0, 1, 1, 1, 0, 0]


def test_examples_of_survival_have_estimates():
    x, time, status = map(np.array, STRATIFIED)
    answer = linsep.diagnose(
        x[:, np.newaxis].astype(float),
        np.column_stack([time, status]),
        family="cox",
        groups=[0, 0, 0, 0, 1, 1, 1],
    )
    assert answer.status == "overlap"  # coxph: 0.802, standard error 0.822
    events = [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]
    times = np.column_stack([START, STOP, events])
    answer = linsep.diagnose(np.array([X_OF_TIME]).T * 1.0, times, family="cox")
    assert answer.status == "overlap"  # coxph: -0.0211


def test_effect_that_depends_on_time_of_coxphf():
    # Its manual page, "time-dependent effect with monotone likelihood": x + x:log(stop)
    # changes at every event, so each row is cut there.
    events = np.array([1, 0, 0, 1, 0, 1, 1, 0, 0, 0])
    ends = np.unique(np.array(STOP)[events == 1])
    rows, times = [], []
    for start, stop, event, x in zip(START, STOP, events, X_OF_TIME, strict=True):
        cuts = [t for t in ends if start < t <= stop]
        for left, t in zip([start, *cuts], cuts, strict=False):
            rows.append([x, x * np.log(t)])
            times.append([left, t, event if t == stop else 0])
    answer = linsep.diagnose(np.array(rows, dtype=float), times, family="cox")
    assert answer.status == "quasi-complete"
    assert "finite" not in verdicts(answer).values()


def test_arms_that_fail_one_after_the_other():
    # https://github.com/choxos/mlumr/pull/41: three events an arm, coxph says 21.9.
    arm = np.repeat([1.0, 0.0], 3)[:, np.newaxis]
    times = np.column_stack([np.arange(1, 7), np.ones(6)])
    answer = linsep.diagnose(arm, times, family="cox")
    assert answer.status == "quasi-complete"
    assert verdicts(answer) == {"x0": "+inf"}


def test_a_variable_that_is_one_for_all_without_an_event():
    # https://github.com/CamDavidsonPilon/lifelines/issues/342
    rng = np.random.default_rng(0)
    event = rng.integers(0, 2, 40)
    X = np.column_stack([1 - event, rng.normal(size=40)]).astype(float)
    times = np.column_stack([rng.integers(1, 9, 40), event])
    answer = linsep.diagnose(X, times, family="cox")
    assert verdicts(answer) == {"x0": "-inf", "x1": "finite"}


def test_rows_of_lifelines_issue_975():
    # https://github.com/CamDavidsonPilon/lifelines/issues/975, and a column that its
    # documentation gives these rows.
    time = [5, 3, 9, 8, 7, 4, 4, 3, 2, 5, 6, 7]
    event = [1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 0]
    var = [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    times = np.column_stack([time, event])
    answer = linsep.diagnose(np.column_stack([var]) * 1.0, times, family="cox")
    assert answer.status == "overlap"


def flagged_by_lifelines(X, times):
    """The columns of which lifelines' own check warns; a column at a time, all told."""
    utils = pytest.importorskip("lifelines.utils")
    found = []
    for j in range(X.shape[1]):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            column = pd.DataFrame({"x": X[:, j]})
            utils.check_complete_separation_low_variance(column, times[:, -1], "event")
        if caught:
            found.append(j)
    return found


def test_lifelines_own_check_beside_ours():
    """It looks at the variance of each column within events: no risk sets, no sums."""
    data = breast_cancer()
    X, y = data[["T", "N", "G", "CD"]], data[["TIME", "CENS"]]
    arms = np.repeat([1.0, 0.0], 3)[:, np.newaxis]
    three = np.array([[1.0], [1.0], [0.0]])
    cases = [  # columns without a finite estimate; those that lifelines warns of
        (X.to_numpy(float), y.to_numpy(float), [2], [2]),
        (three, np.array([[1, 1], [2, 1], [3, 1]]), [0], []),
        (arms, np.column_stack([np.arange(1, 7), np.ones(6)]), [0], []),
    ]
    for rows, times, infinite, flagged in cases:
        answer = linsep.diagnose(rows, times, family="cox")
        verdicts = [str(found) for found in answer.estimates.values()]
        assert [j for j, found in enumerate(verdicts) if "inf" in found] == infinite
        assert flagged_by_lifelines(rows, times) == flagged
    counts = Counter()
    for seed in range(300):
        rows, times, _ = random_cohort(seed)
        times[:, 0] = -np.inf
        if not pairs_at_risk(rows, times, np.zeros(len(rows)), exact=False)[0]:
            continue
        answer = linsep.diagnose(rows, times[:, 1:], family="cox")
        is_separated = answer.status != "overlap"
        counts[is_separated, bool(flagged_by_lifelines(rows, times[:, 1:]))] += 1
    # By whether ours says that it is separated, and whether lifelines warns.
    assert counts == {
        (True, True): 25,
        (True, False): 88,
        (False, True): 11,
        (False, False): 154,
    }


# --- how it is given ---


def cohort(n=120):
    """A drug under which nobody has the event, in three sites."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({
        "age": rng.normal(60, 9, n).round(1),
        "drug": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]),
        "time": rng.integers(1, 40, n).astype(float),
        "event": rng.integers(0, 2, n),
        "site": rng.integers(0, 3, n),
    })  # fmt: skip
    data.loc[data.drug == "c", "event"] = 0
    return data


def test_every_way_to_give_a_cox_regression_is_the_same(tmp_path):
    import statsmodels.formula.api as smf
    from click.testing import CliRunner

    from linsep.cli import main

    data = cohort()
    data.to_csv(tmp_path / "cohort.csv", index=False)
    formula = "Surv(time, event) ~ age + drug"
    by_formula = linsep.diagnose(formula, data, family="cox", groups="site")
    model = smf.phreg(
        "time ~ age + drug", data, status=data.event.values, strata=data.site.values
    )
    wanted = ["-inf", "finite", "finite"]
    rows = by_formula.separated_rows.tolist()
    assert (data.drug[rows] == "c").all()
    for answer in (
        by_formula,
        linsep.diagnose(data, ["time", "event"], family="cox", groups="site"),
        linsep.diagnose(model),
    ):
        assert answer.status == "quasi-complete"
        assert answer.separated_rows.tolist() == rows
        assert sorted(verdicts(answer).values()) == wanted
        answer.certificate.verify(*answer.certificate_data())
    done = CliRunner().invoke(
        main,
        ["diagnose", str(tmp_path / "cohort.csv"), f"--formula={formula}",
         "--family=cox", "--groups=site"],
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    head = " ".join(done.output.split("\nEach")[0].split())
    assert head.startswith(by_formula.sentences()[0])
    refused = linsep.InputError
    with pytest.raises(refused, match="Surv"):
        linsep.diagnose(formula, data)
    with pytest.raises(refused, match="two columns"):
        linsep.diagnose(data[["age"]], data.time, family="cox")
    with pytest.raises(refused, match="no intercept"):
        linsep.diagnose(
            data[["age"]], data[["time", "event"]], family="cox", fit_intercept=True
        )
    with pytest.raises(refused, match="0 or 1"):
        linsep.diagnose(data[["age"]], data[["event", "time"]], family="cox")


def test_estimators_of_scikit_survival_are_read():
    linear_model = pytest.importorskip("sksurv.linear_model")
    data = cohort()
    X = pd.get_dummies(data[["age", "drug"]], drop_first=True, dtype=float)
    y = np.array(
        list(zip(data.event == 1, data.time, strict=True)),
        dtype=[("event", bool), ("time", float)],
    )
    answer = linsep.diagnose(linear_model.CoxPHSurvivalAnalysis(), X, y)
    assert verdicts(answer) == {"age": "finite", "drug_b": "finite", "drug_c": "-inf"}
    ridge = linear_model.CoxPHSurvivalAnalysis(alpha=0.1)
    assert "The fit is penalised" in linsep.diagnose(ridge, X, y).summary()


@pytest.mark.filterwarnings("ignore")
def test_fits_of_lifelines_are_read():
    lifelines = pytest.importorskip("lifelines")
    data = pd.get_dummies(cohort(), columns=["drug"], drop_first=True, dtype=int)
    fit = lifelines.CoxPHFitter(penalizer=0.1).fit(
        data, "time", "event", strata=["site"]
    )
    answer = linsep.check_separation(fit, data, on_separation="ignore")
    assert verdicts(answer) == {"age": "finite", "drug_b": "finite", "drug_c": "-inf"}
    assert "penalizer = 0.1" in answer.summary()
    by_formula = lifelines.CoxPHFitter(penalizer=0.1).fit(
        cohort(), "time", "event", strata=["site"], formula="age + C(drug)"
    )
    same = linsep.check_separation(by_formula, cohort(), on_separation="ignore")
    assert same.separated_rows.tolist() == answer.separated_rows.tolist()
    with pytest.raises(linsep.InputError, match="fitted CoxPHFitter"):
        linsep.diagnose(lifelines.CoxPHFitter(), data)
