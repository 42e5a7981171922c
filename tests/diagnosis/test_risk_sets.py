"""Cox regressions whose pairs are not written down, against those where they are."""

import numpy as np
import pytest

import linsep
from linsep.diagnosis.exact import demands
from linsep.diagnosis.exact.partial_likelihood import Spans, sums_at
from linsep.diagnosis.inputs.risk_sets import RiskSets
from random_designs import random_cohort


def both_ways(seed, monkeypatch):
    """Diagnose a cohort by all pairs and by sums; None where no pair is at risk."""
    X, times, strata = random_cohort(seed)
    family = ("cox", "cox exact")[seed // 2 % 2]
    answers = []
    for most in (10**6, -1):
        monkeypatch.setattr(demands, "MOST_STACKED", most)
        try:
            y = times if np.isfinite(times[:, 0]).all() else times[:, 1:]
            answers.append(linsep.diagnose(X, y, family=family, groups=strata))
        except linsep.InputError:
            return None
    return answers


def test_what_sums_prove_is_so(monkeypatch):
    n_decided = n_separated = n = 0
    for seed in range(80):
        found = both_ways(seed, monkeypatch)
        if found is None:
            continue
        n += 1
        by_pairs, by_sums = found
        if not by_sums.proved:
            continue
        n_decided += 1
        n_separated += by_sums.status != "overlap"
        assert by_sums.status == by_pairs.status, seed
        assert by_sums.rank == by_pairs.rank
        assert by_sums.separated_rows.tolist() == by_pairs.separated_rows.tolist()
        for name, verdict in by_sums.estimates.items():
            assert verdict in ("undecided", by_pairs.estimates[name]), seed
        assert by_sums.summary()
        assert by_sums.certificate is None  # no comparison may be written here
    assert n_decided > 0.9 * n
    assert n_separated > 12


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("exact", [False, True])
def test_sums_are_those_over_pairs(exact, is_late):
    rng = np.random.default_rng(1)
    n, d = 30, 3
    X, strata = rng.standard_normal((n, d)), rng.integers(0, 3, n)
    times = np.column_stack(
        [np.full(n, -np.inf), rng.integers(1, 9, n), rng.integers(0, 2, n)]
    )
    if is_late:
        times[:, 0] = times[:, 1] - rng.integers(1, 6, n)
    family = "cox exact" if exact else "cox"
    sets = RiskSets.of(times, strata, family)
    spans = Spans.of(sets, exact=exact)
    w = rng.standard_normal(d)
    sums = sums_at(X, w, spans)
    u = np.exp(X @ w - (X @ w).max())
    r, M = np.zeros(d), np.zeros((d, d))
    for i in np.flatnonzero(times[:, 2] == 1):
        if sets.case_of[i] < 0:
            continue
        held = [
            j for j in range(n)
            if strata[j] == strata[i] and times[j, 0] < times[i, 1] <= times[j, 1]
            and not (exact and times[j, 1] == times[i, 1] and times[j, 2])
        ]  # fmt: skip
        for j in held:
            p = u[j] / u[held].sum()
            r += p * (X[i] - X[j])
            M += p * np.outer(X[i] - X[j], X[i] - X[j])
    assert (np.abs(r - sums.r) <= sums.r_error + 1e-12).all()
    assert (np.abs(M - sums.M) <= sums.M_error + 1e-12).all()
    assert sums.M_error.max() < 1e-10


def test_a_large_cohort_is_settled_without_its_pairs():
    rng = np.random.default_rng(2)
    n = 4_000
    X = rng.standard_normal((n, 4))
    X[:, 3] = np.rint(X[:, 2] * 4)
    time, event = rng.exponential(1.0, n), rng.random(n) < 0.6
    times = np.column_stack([time, event])
    answer = linsep.diagnose(X, times, family="cox")
    assert answer.status == "overlap"
    assert set(map(str, answer.estimates.values())) == {"finite"}
    X[:, 2] = rng.random(n) < 0.01
    event &= X[:, 2] == 0
    X = np.c_[X, 3 * X[:, 3] - 1]
    times = np.column_stack([time, event])
    answer = linsep.diagnose(X, times, family="cox")
    assert answer.status == "quasi-complete"
    assert [str(v) for v in answer.estimates.values()] == [
        "finite", "finite", "-inf", "aliased", "aliased",
    ]  # fmt: skip
    rare = np.flatnonzero(X[:, 2])
    first = time[event].min()
    assert answer.separated_rows.tolist() == rare[time[rare] >= first].tolist()
    # A combination of columns that orders the events.
    X = rng.standard_normal((n, 3))
    X[:, 0] = np.argsort(np.argsort(-time)) + 7.0 * (X[:, 1] > 0)
    X[:, 1] = X[:, 1] > 0
    answer = linsep.diagnose(X, times, family="cox")
    assert answer.status in ("complete", "quasi-complete")


def test_late_entries_are_settled_without_their_pairs():
    # Rows are cut where they change, as for columns that depend on time.
    rng = np.random.default_rng(3)
    n = 3_000
    time, event = rng.exponential(1.0, n), rng.random(n) < 0.6
    cut = time * rng.random(n)
    rows = np.repeat(np.arange(n), 2)
    is_second = np.tile([False, True], n)
    times = np.column_stack(
        [
            np.where(is_second, cut[rows], -1.0),
            np.where(is_second, time[rows], cut[rows]),
            event[rows] & is_second,
        ]
    )
    X = rng.standard_normal((2 * n, 3))
    answer = linsep.diagnose(X, times, family="cox")
    assert answer.status == "overlap"
    assert set(map(str, answer.estimates.values())) == {"finite"}
    X[:, 2] = rng.random(2 * n) < 0.01
    times[X[:, 2] == 1, 2] = 0
    answer = linsep.diagnose(X, times, family="cox")
    assert answer.status == "quasi-complete"
    assert [str(v) for v in answer.estimates.values()] == ["finite", "finite", "-inf"]
    at = np.sort(times[times[:, 2] == 1, 1])
    rare = np.flatnonzero(X[:, 2])
    is_at_risk = np.searchsorted(at, times[rare, 0], "right") < np.searchsorted(
        at, times[rare, 1], "right"
    )
    assert answer.separated_rows.tolist() == rare[is_at_risk].tolist()


def assert_part_proves_all(answer, X, times, strata):
    """Check a certificate of some comparisons: it holds, and they are some and span."""
    A, labels = answer.certificate_data()
    answer.certificate.verify(A, labels)
    A = A.toarray() if hasattr(A, "toarray") else A
    d = X.shape[1]
    numbers = {tuple(row): i for i, row in enumerate(X.tolist())}
    assert len(numbers) == len(X)  # rows can be told by their columns
    above = A[:, d:].sum(axis=1)  # 1 for a case, -1 for a row at risk with it
    assert (np.abs(A[:, d:]).sum(axis=1) == 1).all()
    A = A * above[:, np.newaxis]
    rows = np.array([numbers[tuple(row)] for row in A[:, :d].tolist()])
    entry, time, event = times.T
    differences = []
    for k in range(A.shape[1] - d):
        own = np.flatnonzero(A[:, d + k])
        cases, others = rows[own[above[own] > 0]], rows[own[above[own] < 0]]
        at = time[cases[0]]
        assert (event[cases] == 1).all()
        assert (time[cases] == at).all()
        assert (entry[others] < at).all()
        assert (time[others] >= at).all()
        assert len(set(strata[rows[own]].tolist())) == 1
        differences += (X[cases[0]] - X[others]).tolist()
    assert np.linalg.matrix_rank(np.array(differences)) == answer.rank


@pytest.mark.parametrize("family", ["cox", "cox exact"])
@pytest.mark.parametrize("is_late", [False, True])
def test_some_comparisons_prove_that_all_overlap(family, is_late):
    rng = np.random.default_rng(3)
    n = 5_000
    X = rng.standard_normal((n, 5))
    X[:, 1] = rng.random(n) < 0.004  # rows at random hold none of these
    X[:, 2] = np.rint(X[:, 0] * 3)
    time = rng.exponential(1.0, n).round(2) + 0.01
    event, strata = rng.random(n) < 0.5, rng.integers(0, 3, n)
    entry = np.full(n, -np.inf)
    if is_late:
        entry = np.where(rng.random(n) < 0.5, time - 3.0 * rng.random(n), -1.0)
    times = np.column_stack([entry, time, event])
    assert RiskSets.of(times, strata, family).n_pairs > demands.MOST_STACKED
    y = times if is_late else times[:, 1:]
    answer = linsep.diagnose(X, y, family=family, groups=strata)
    assert answer.status == "overlap"
    assert_part_proves_all(answer, X, times, strata)
    X[:, 1] *= ~event
    answer = linsep.diagnose(X, y, family=family, groups=strata)
    assert answer.status == "quasi-complete"
    assert answer.certificate is None
    with pytest.raises(linsep.InputError, match="needs a certificate"):
        answer.certificate_data()
