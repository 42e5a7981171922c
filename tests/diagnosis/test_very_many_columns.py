"""Designs of very many columns: the same answers as by exact elimination."""

import numpy as np
import pytest
from scipy import sparse

import linsep
from linsep.diagnosis.exact import block_verdicts, large_columns
from linsep.diagnosis.status import Estimate
from linsep.proof.checker import CertificateError
from random_designs import random_problem


def same_answer(seed, monkeypatch):
    """Diagnose by factorisations what exact elimination can, and compare all of it."""
    X, y, family = random_problem(seed)
    if family != "poisson" and len(set(y.tolist())) < 2:
        return
    exact = linsep.diagnose(X, y, family=family)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    found = linsep.diagnose(X, y, family=family)
    monkeypatch.undo()
    assert found.status is exact.status, seed
    assert found.separated_rows.tolist() == exact.separated_rows.tolist(), seed
    assert found.rank == exact.rank, seed
    assert dict(found.estimates) == dict(exact.estimates), seed
    without = exact.estimates_without_aliased
    assert dict(found.estimates_without_aliased) == dict(without), seed
    assert dict(found.collinear) == dict(exact.collinear), seed
    proof = found.certificate
    assert linsep.Certificate.from_json(proof.to_json()) == proof
    slacks = proof.verify(*found.certificate_data())
    same = exact.certificate.verify(*exact.certificate_data())
    assert [s > 0 for s in slacks] == [s > 0 for s in same], seed


@pytest.mark.parametrize("seed", [3718, 5973])
def test_designs_that_were_once_answered_otherwise(seed, monkeypatch):
    same_answer(seed, monkeypatch)


@pytest.mark.parametrize("start", range(0, 300, 20))
def test_random_designs_are_answered_as_by_exact_elimination(start, monkeypatch):
    for seed in range(start, start + 20):
        same_answer(seed, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 11_000, 100))
def test_ten_thousand_random_designs(start, monkeypatch):
    for seed in range(start, start + 100):
        same_answer(seed, monkeypatch)


@pytest.mark.parametrize("seed", range(60))
def test_wide_designs_leave_open_what_is_not_proved_and_no_more(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    d = n + int(rng.integers(0, 10))
    X = rng.standard_normal((n, d)) if seed % 3 else rng.integers(-1, 2, (n, d)) * 1.0
    if seed % 4 == 0:
        X[:, 0] = X[:, 1]
    if seed % 5 == 0:
        X[1] = X[0]
    y = np.arange(n) % 2
    exact = linsep.diagnose(X, y)
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    monkeypatch.setattr(large_columns, "MOST_ELIMINATION", -1)
    found = linsep.diagnose(X, y)
    assert found.status is exact.status
    assert found.rank == exact.rank
    assert found.separated_rows.tolist() == exact.separated_rows.tolist()
    for name, verdict in found.estimates.items():
        assert verdict in (exact.estimates[name], Estimate.UNDECIDED)
    # Which columns are left out is proved all the same, if not always how.
    assert list(found.collinear) == list(exact.collinear)
    assert {found.estimates[name] for name in found.collinear} <= {Estimate.ALIASED}
    for name, text in found.collinear.items():
        assert text in (exact.collinear[name], "a combination of earlier columns")
    kept = set(exact.estimates_without_aliased)
    assert set(found.estimates_without_aliased) == kept


def two_factors(n, sizes, seed):
    """Two factors of very many levels, three numbers, and Poisson outcomes."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, n) for size in sizes]
    levels = [sparse.csr_array(np.eye(s)[c]) for s, c in zip(sizes, codes, strict=True)]
    numbers = rng.standard_normal((n, 3))
    y = rng.poisson(np.exp(numbers[:, 0] + 1.0))
    return codes, sparse.csr_array(sparse.hstack([numbers, *levels])), y


def test_levels_without_an_event_are_the_separated_rows():
    codes, X, y = two_factors(6_000, (300, 150), 0)
    y[np.isin(codes[0], [3, 77, 200]) | (codes[1] == 5)] = 0
    answer = linsep.diagnose(X, y, family="poisson", fit_intercept=False)
    silent = np.isin(codes[0], [3, 77, 200]) | (codes[1] == 5)
    assert answer.status.value == "quasi-complete"
    assert answer.separated_rows.tolist() == np.flatnonzero(silent).tolist()
    assert answer.rank == 3 + 300 + 150 - 1
    assert list(answer.collinear) == ["x452"]
    assert {v.value for v in answer.estimates_without_aliased.values()} == {
        "finite", "-inf",
    }  # fmt: skip
    gone = [f"x{3 + k}" for k in (3, 77, 200)] + ["x308"]
    verdicts = answer.estimates_without_aliased
    assert [name for name in verdicts if verdicts[name].value == "-inf"] == gone
    assert answer.certificate.kind == "ordered"
    answer.certificate.verify(*answer.certificate_data())


def test_blocks_of_too_many_products_are_left_undecided(monkeypatch):
    codes, X, y = two_factors(2_000, (80, 60), 0)
    y[codes[0] == 3] = 0
    asked = {"family": "poisson", "fit_intercept": False}
    whole = linsep.diagnose(X, y, **asked)
    monkeypatch.setattr(block_verdicts, "MOST_PRODUCTS", 0)
    answer = linsep.diagnose(X, y, **asked)
    assert answer.separated_rows.tolist() == whole.separated_rows.tolist()
    for name, verdict in answer.estimates_without_aliased.items():
        assert verdict in (whole.estimates_without_aliased[name], Estimate.UNDECIDED)
    assert answer.estimates_without_aliased["x6"] is Estimate.UNDECIDED


def test_parts_of_the_data_without_a_row_in_common_are_found_collinear():
    codes, _, _ = two_factors(4_000, (200, 100), 1)
    # Levels of one factor below 100 meet those of the other below 50 alone.
    second = codes[1] % 50 + 50 * (codes[0] >= 100)
    y = np.arange(4_000) % 2
    X = sparse.csr_array(np.c_[np.eye(200)[codes[0]], np.eye(100)[second]])
    answer = linsep.diagnose(X, y)
    assert answer.status.value == "overlap"
    assert answer.rank == 1 + 200 + 100 - 3


def test_a_handful_of_labels_in_the_way_of_separation_is_proved():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3_000, 120))
    y = (X[:, 0] > 0).astype(int)
    flipped = np.argsort(-np.abs(X[:, 0]))[:3]
    y[flipped] = 1 - y[flipped]
    answer = linsep.diagnose(X, y)
    assert answer.status.value == "overlap"
    assert set(answer.estimates.values()) == {Estimate.FINITE}
    assert answer.rank == 121


def test_the_summary_of_wide_data_says_first_that_any_labels_would_do():
    rng = np.random.default_rng(3)
    answer = linsep.diagnose(rng.standard_normal((60, 140)), np.arange(60) % 2)
    assert answer.status.value == "complete"
    assert answer.summary().splitlines()[1].startswith("Any labels would be separable")


def test_a_certificate_of_other_data_is_refused():
    _, X, y = two_factors(2_000, (100, 40), 4)
    answer = linsep.diagnose(X, y, family="poisson", fit_intercept=False)
    data, labels = answer.certificate_data()
    changed = data.copy()
    changed[0, 0] += 1.0
    with pytest.raises(CertificateError, match="data are not those"):
        answer.certificate.verify(changed, labels)
