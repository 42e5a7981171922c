"""Status, partition and every verdict against z3 and fractions, on small designs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep
from regression_judge import assert_diagnosis_is_right

FAMILIES = ["binomial", "poisson", "multinomial", "ordinal"]


@st.composite
def designs(draw):
    """Small tables with dummies, collinear and offset columns, and repeated rows."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 3))
    X = np.array(
        draw(
            st.lists(
                st.lists(st.integers(-2, 2), min_size=d, max_size=d),
                min_size=n,
                max_size=n,
            )
        ),
        dtype=float,
    )
    if draw(st.booleans()):
        X[:, 0] = X[:, 0] > 0
    if d > 1 and draw(st.booleans()):
        X[:, 1] = draw(st.sampled_from([2.0, -0.5, 0.0])) * X[:, 0]
    if draw(st.booleans()):
        X = X[np.array(draw(st.lists(st.integers(0, n - 1), min_size=n, max_size=n)))]
    scale = draw(st.sampled_from([1.0, 1e-3, 0.1, 1e8]))
    return X * scale + draw(st.sampled_from([0.0, 1.0, 1e6]))


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_everything_exact_agrees_with_the_judge(family, data):
    X = data.draw(designs())
    n = len(X)
    top = 1 if family in ("binomial", "poisson") else 2
    y = data.draw(st.lists(st.integers(0, top), min_size=n, max_size=n))
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([0.0, 1.0, 2.5]), min_size=n, max_size=n)
    )
    if weights is not None and not any(weights):
        weights[0] = 1.0
    present = {y[i] for i in range(n) if weights is None or weights[i] > 0}
    if top == 2 and len(present) < 2:
        return  # one class alone is tested as a finding
    fit_intercept = data.draw(st.booleans())
    answer = linsep.diagnose(
        X, y, family=family, fit_intercept=fit_intercept, sample_weight=weights
    )
    assert_diagnosis_is_right(answer, X, y, family, fit_intercept, weights)
    assert answer.summary()


def assert_random_design_is_right(family, seed):
    """Judge a design of the same kinds, drawn by a seed."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 10)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 3 == 0:
        X[:, 0] = rng.random(n) < 0.2
    if seed % 4 == 0 and d > 1:
        X[:, 1] = rng.choice([2.0, -0.5, 0.0]) * X[:, 0]
    if seed % 5 == 0:
        X = X[rng.integers(0, n, n)]
    X = X * rng.choice([1.0, 1e-3, 0.1, 1e8]) + rng.choice([0.0, 1.0, 1e6])
    top = 1 if family in ("binomial", "poisson") else 2
    y = rng.integers(0, top + 1, n)
    y[:2] = 0, 1
    weights = None
    if seed % 6 == 0:
        weights = rng.choice([0.0, 1.0, 2.5], n)
        weights[:2] = 1.0
    fit_intercept = family == "ordinal" or seed % 2 == 0
    answer = linsep.diagnose(
        X, y, family=family, fit_intercept=fit_intercept, sample_weight=weights
    )
    assert_diagnosis_is_right(answer, X, y.tolist(), family, fit_intercept, weights)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_five_thousand_designs_agree_with_the_judge(family):
    for seed in range(5_000):
        assert_random_design_is_right(family, seed)


def planted(rng, n, d, n_dummy):
    """Two classes that overlap but for a dummy, which holds one class alone."""
    X = rng.standard_normal((n, d))
    X[:, -1] = 0
    X[:n_dummy, -1] = 1
    y = rng.integers(0, 2, n)
    y[:n_dummy] = 1
    order = rng.permutation(n)
    return X[order], y[order], np.sort(np.flatnonzero(order < n_dummy))


@pytest.mark.parametrize("seed", range(3))
def test_planted_dummy_is_found_through_the_working_set(seed):
    rng = np.random.default_rng(seed)
    X, y, rows = planted(rng, 6000, 5, 7)
    answer = linsep.diagnose(X, y)
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == rows.tolist()
    assert [str(v) for v in answer.estimates.values()] == ["finite"] * 5 + ["+inf"]
    assert answer.direction.tolist() == [0, 0, 0, 0, 0, 1]
    assert answer.summary().splitlines()[1] == "x4 = 1 in 7 rows, all y = 1."


def test_a_rare_level_and_a_nested_one_need_two_steps():
    rng = np.random.default_rng(5)
    n = 5000
    a = np.zeros(n)
    b = np.zeros(n)
    a[:50] = 1
    b[:20] = 1  # only within a
    x = rng.standard_normal(n)
    y = rng.integers(0, 2, n)
    y[20:50] = 1  # a without b: one class
    y[:20] = [0, 1] * 10
    x[:20] = np.repeat(rng.standard_normal(10), 2)  # both classes at the same x
    answer = linsep.diagnose(np.column_stack([a, b, x]), y)
    assert answer.separated_rows.tolist() == list(range(20, 50))
    assert {k: str(v) for k, v in answer.estimates.items()} == {
        "intercept": "finite", "x0": "+inf", "x1": "-inf", "x2": "finite",
    }  # fmt: skip


def test_sparse_and_dense_agree():
    from scipy import sparse

    rng = np.random.default_rng(1)
    levels = rng.integers(0, 6, 4000)
    X = np.column_stack([np.eye(6)[levels], rng.standard_normal(4000)])
    y = rng.integers(0, 2, 4000)
    y[levels == 2] = 0
    dense = linsep.diagnose(X, y)
    for made in (sparse.csr_array(X), sparse.csc_matrix(X), sparse.coo_array(X)):
        answer = linsep.diagnose(made, y)
        assert answer.separated_rows.tolist() == dense.separated_rows.tolist()
        assert answer.estimates == dense.estimates
        assert answer.collinear == dense.collinear
    assert dense.estimates_without_aliased["x2"] == "-inf"
    assert dense.estimates["x2"] == "aliased"
    assert dense.estimates["x6"] == "finite"


def test_more_columns_than_rows():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((12, 700)), [0, 1] * 6
    answer = linsep.diagnose(X, y)
    assert answer.status == "complete"
    assert answer.rank == 12
    assert set(map(str, answer.estimates.values())) == {"aliased"}
    answer.certificate.verify(X, y)


def test_wide_design_with_an_identified_column():
    rng = np.random.default_rng(3)
    X = np.zeros((40, 500))
    X[:20, 1:] = np.repeat(rng.integers(-3, 4, (10, 499)), 2, axis=0)
    X[20:, 0] = rng.integers(-2, 3, 20)  # alone in these rows, so identified
    y = np.tile([0, 1], 20)
    answer = linsep.diagnose(X, y, fit_intercept=False)
    assert answer.estimates["x0"] != "aliased"
    assert answer.estimates["x1"] == "aliased"
    assert answer.rank == np.linalg.matrix_rank(X)


def test_time_limit_is_kept_and_said():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((3000, 60)), rng.integers(0, 2, 3000)
    answer = linsep.diagnose(X, y, time_limit=1e-9)
    assert answer.status == "undecided"
    assert not answer.proved
    assert answer.certificate is None
    assert "time limit" in answer.summary()
    assert set(answer.estimates.values()) == {"undecided"}
