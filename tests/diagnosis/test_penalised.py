"""Penalised columns: separation in the null space of the penalty, judged by z3."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from judges import rank, z3_direction_exists
from linsep.diagnosis.exact import penalty_matrix
from regression_judge import assert_diagnosis_is_right

FAMILIES = ("binomial", "poisson", "multinomial", "ordinal")


@pytest.mark.parametrize("seed", range(40))
def test_directions_leave_penalised_columns_alone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 10))
    X = rng.integers(-1, 2, (n, 3)).astype(float)
    y = rng.integers(0, 2, n)
    answer = linsep.diagnose(X, y, penalized=["x1"])
    assert list(answer.estimates) == ["intercept", "x0", "x2"]
    if len(set(y.tolist())) < 2:
        return
    signs = np.where(y == 1, 1.0, -1.0)
    rows = (np.c_[np.ones(n), X] * signs[:, np.newaxis]).tolist()
    held = [[0.0, 0.0, 1.0, 0.0]]  # the coefficient of x1 stays
    strict = [z3_direction_exists(rows, held, row) for row in rows]
    assert answer.separated_rows.tolist() == np.flatnonzero(strict).tolist()
    assert "x1 is penalised" in " ".join(answer.summary().split())


def test_a_factor_of_random_intercepts_is_left_out_whole():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "site": np.repeat(list("abc"), 20)})
    y = np.where(data.site == "a", 1, rng.integers(0, 2, 60))
    assert linsep.diagnose(data, y).status == "quasi-complete"
    answer = linsep.diagnose(data, y, penalized=["site"])
    assert answer.status == "overlap"
    assert list(answer.estimates) == ["intercept", "x"]
    with pytest.raises(linsep.InputError, match="must name columns"):
        linsep.diagnose(data, y, penalized=["xx"])
    with pytest.raises(linsep.InputError, match="leave a column"):
        linsep.diagnose(data[["x"]], y, penalized=["x"], fit_intercept=False)


def assert_penalty_matrix_is_right(seed):
    """Compare a random penalty with z3, which knows of its rows; return the status."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % 4]
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([1.0, 0.1])
    y = rng.integers(0, 2 if family in ("binomial", "poisson") else 3, n)
    y[:2] = 0, 1
    M = rng.integers(-2, 3, (int(rng.integers(1, d + 2)), d)).astype(float)
    if seed % 3 == 0:  # of differences, as of a random walk
        M = np.diff(np.eye(d), axis=0)
    penalty = np.vstack([M, np.zeros((d, d))])  # with more rows than columns
    if seed % 2:
        penalty = M.T @ M
    fit_intercept = family != "ordinal" and seed % 8 < 6
    answer = linsep.diagnose(
        X,
        y,
        family=family,
        penalized=penalty,
        **({} if family == "ordinal" else {"fit_intercept": fit_intercept}),
    )
    n_blocks = len(set(y.tolist())) - 1 if family == "multinomial" else 1
    n_before = n_blocks if family == "ordinal" else int(fit_intercept)
    if family == "ordinal":
        n_before = len(set(y.tolist())) - 1
    block = np.c_[np.zeros((len(M), n_before)), M]
    held = np.kron(np.eye(n_blocks), block)
    assert_diagnosis_is_right(
        answer, X, y.tolist(), family, fit_intercept, held=held.tolist()
    )
    told = " ".join(answer.summary().split())
    assert "A penalty matrix of" in told
    for line in answer.sentences():
        assert " rows, all " not in line  # a column need not be free
    return answer.status.value


def test_penalty_matrices_agree_with_the_judge():
    found = [assert_penalty_matrix_is_right(seed) for seed in range(40)]
    assert {"complete", "quasi-complete", "overlap"} <= set(found)


@pytest.mark.slow
def test_five_thousand_penalty_matrices_agree_with_the_judge():
    for seed in range(40, 5_040):
        assert_penalty_matrix_is_right(seed)


@pytest.mark.parametrize("seed", range(12))
def test_penalty_matrices_hold_within_groups_too(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (9, 3)).astype(float)
    y, groups = np.tile([0, 0, 1], 3), np.repeat([0, 1, 2], 3)
    M = np.array([[1.0, -1.0, 0.0]])
    answer = linsep.diagnose(X, y, family="conditional", groups=groups, penalized=M)
    pairs = [
        (i, j)
        for i in range(9)
        for j in range(9)
        if groups[i] == groups[j] and y[i] > y[j]
    ]
    # Both signs of a row held make it an equality.
    rows = [(X[i] - X[j]).astype(int).tolist() for i, j in pairs]
    strict = [z3_direction_exists(rows, M.tolist(), row) for row in rows]
    separated = {k for k in range(9)} - {
        k for two, s in zip(pairs, strict, strict=True) for k in two if not s
    }
    assert answer.separated_rows.tolist() == sorted(separated)
    answer.certificate.verify(*answer.certificate_data())


def test_a_smooth_is_free_along_its_null_space():
    # Second differences leave level and slope of the ten coefficients free, so that a
    # trend separates, and nothing rougher does.
    rng = np.random.default_rng(0)
    at = np.repeat(np.arange(10), 6)
    X = np.eye(10)[at]
    D = np.diff(np.eye(10), n=2, axis=0)
    rough = np.isin(at, [1, 4, 7]).astype(int)
    assert linsep.diagnose(X, rough, fit_intercept=False).status == "complete"
    given = {"fit_intercept": False, "penalized": D}
    assert linsep.diagnose(X, rough, **given).status == "overlap"
    trend = (at > 4).astype(int)
    answer = linsep.diagnose(X, trend, **given)
    assert answer.status == "complete"
    assert set(map(str, answer.estimates.values())) <= {"+inf", "-inf", "undetermined"}
    steps = np.diff([int(v) for v in answer.exact_direction], n=2)
    assert not steps.any()
    noisy = np.where(rng.random(60) < 0.2, 1 - trend, trend)
    assert linsep.diagnose(X, noisy, **given).status == "overlap"
    for wrong, message in (
        (np.ones((2, 3)), "10 columns"),
        (-np.eye(10), "positive semidefinite"),
    ):
        with pytest.raises(linsep.InputError, match=message):
            linsep.diagnose(X, trend, fit_intercept=False, penalized=wrong)
    with pytest.raises(linsep.InputError, match="leave penalized out"):
        answer.positivity()


def test_many_columns_under_a_penalty_are_settled_by_factorisations():
    rng = np.random.default_rng(1)
    n, d = 1_000, 150
    X = rng.standard_normal((n, d))
    X[:, 0] = np.arange(n) < 30
    y = rng.integers(0, 2, n)
    y[:30] = 1
    assert linsep.diagnose(X, y).separated_rows.tolist() == list(range(30))
    M = np.zeros((1, d))
    M[0, 0] = 1.0
    answer = linsep.diagnose(X, y, penalized=M)
    assert answer.status == "overlap"
    answer.certificate.verify(*answer.certificate_data())
    M = np.zeros((d - 1, d))
    M[np.arange(d - 1), np.arange(1, d)] = 1.0
    answer = linsep.diagnose(X, y, penalized=M)
    assert answer.separated_rows.tolist() == list(range(30))
    assert answer.estimates["x0"] == "+inf"
    answer.certificate.verify(*answer.certificate_data())


def has_negative_pivot(S):
    """Whether textbook elimination with symmetric pivots meets a negative one."""
    left = [[Fraction(value) for value in row] for row in S.tolist()]
    while left:
        k = next((i for i, row in enumerate(left) if row[i]), None)
        if k is None:  # zero on the diagonal: indefinite unless all is zero
            return any(map(any, left))
        if left[k][k] < 0:
            return True
        others = [i for i in range(len(left)) if i != k]
        left = [
            [left[i][j] - left[i][k] * left[k][j] / left[k][k] for j in others]
            for i in others
        ]
    return False


def random_symmetric(seed):
    """Of whole numbers or of rounded sums, definite, singular or just not."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 7))
    B = rng.integers(-2, 3, (k, int(rng.integers(1, k + 1)))).astype(float)
    if seed % 3 == 0:
        B = B * 0.1
    S = B @ B.T
    if seed % 4 == 0:
        i = int(rng.integers(k))
        S[i, i] += rng.choice([1e-15, -1e-15, -0.01])
    if seed % 5 == 0:  # two blocks of columns, and one that is zero
        nothing = np.zeros((k, k + 1))
        S = np.block([[S, nothing], [nothing.T, np.zeros((k + 1, k + 1))]])
        S[k:-1, k:-1] = S[:k, :k] * 2.0**40
    return S


def test_semidefinite_is_what_exact_elimination_finds(monkeypatch):
    found = set()
    for seed in range(400):
        S = random_symmetric(seed)
        expected = not has_negative_pivot(S)
        monkeypatch.setattr(penalty_matrix, "MOST_BY_POLYNOMIAL", 100)
        assert penalty_matrix._is_semidefinite(S) is expected
        monkeypatch.setattr(penalty_matrix, "MOST_BY_POLYNOMIAL", 0)
        told = penalty_matrix._is_semidefinite(S)
        assert told is None or told is expected
        found.add((expected, told))
    assert {(True, True), (False, None)} <= found


def test_what_is_proved_of_a_penalty_is_said(monkeypatch):
    rng = np.random.default_rng(2)
    X, y = rng.integers(-2, 3, (40, 6)).astype(float), np.arange(40) % 2
    D = np.diff(np.eye(6), n=2, axis=0)
    given = {"fit_intercept": False}

    def words(penalty):
        text = linsep.diagnose(X, y, penalized=penalty, **given).summary()
        return " ".join(text.split())

    proved = words(D.T @ D)
    assert "positive semidefinite, which was proved" in proved
    assert "to zero, exactly, a space of dimension 2." in proved
    assert "nearly" not in proved
    assert "semidefinite" not in words(D)
    B = 0.1 * np.array([[1.0, 2, 3, 4, 5, 6], [6, 5, 4, 3, 2, 7]])
    S = B.T @ B
    exact = rank([[Fraction(v) for v in row] for row in S.tolist()])
    assert exact > 2
    assert has_negative_pivot(S)
    told = words(S)
    assert f"sends a space larger by {exact - 2} nearly to zero" in told
    assert "but for rounding and taken as M" in told
    monkeypatch.setattr(penalty_matrix, "MOST_BY_POLYNOMIAL", 0)
    monkeypatch.setattr(penalty_matrix, "MOST_BY_RANK", 0)
    told = words(D.T @ D)
    assert "positive semidefinite as far as doubles show" in told
    assert "dimension" not in told
