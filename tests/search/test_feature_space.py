"""The search in a feature space: what it proves holds on the Gram matrix as given."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from linsep.result import Status
from linsep.rows import rows_from
from linsep.search.feature_space import search_feature_space
from linsep.solvers.gram_factor import gram_factor


def search(gram, labels, *, free=True, time_limit=None):
    def columns(at):
        return gram[:, at]

    factor = gram_factor(columns, gram.diagonal())
    signs = np.where(labels, 1, -1).astype(np.int8)
    rows = rows_from(factor.columns, signs, free)
    return factor, search_feature_space(factor, rows, columns, time_limit)


def exact_values(columns, w, free):
    """The function's values at the training rows, in exact arithmetic."""
    weights = [Fraction(float(v)) for v in w]
    constant = [Fraction(1)] if free else []
    return [
        sum(
            a * b
            for a, b in zip([*map(Fraction, row), *constant], weights, strict=True)
        )
        for row in columns.tolist()
    ]


@given(
    points=st.lists(
        st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.booleans()),
        min_size=2,
        max_size=9,
    ),
    degree=st.integers(1, 3),
    free=st.booleans(),
)
def test_verdicts_hold_exactly_on_the_gram_matrix(points, degree, free):
    X = np.array([point[:2] for point in points], dtype=float)
    labels = np.array([point[2] for point in points])
    assume(labels.any() and not labels.all())
    gram = (X @ X.T + 1.0) ** degree  # of integers: every entry is exact
    factor, found = search(gram, labels, free=free)
    verdict = found.verdict
    signs = np.where(labels, 1, -1).tolist()
    assert found.interval.lower <= found.interval.upper
    if verdict.status is Status.SEPARABLE:
        values = exact_values(factor.columns, verdict.hyperplane.w, free)
        assert all(s * v > 0 for s, v in zip(signs, values, strict=True))
    elif verdict.status is Status.INSEPARABLE:
        weights = verdict.conflict_weights
        assert min(weights) > 0
        assert (np.diff(verdict.conflict) > 0).all()  # as a certificate has them
        held = [
            signs[i] * weight
            for i, weight in zip(verdict.conflict, weights, strict=True)
        ]
        for column in gram[verdict.conflict].T.tolist():
            total = sum(w * Fraction(v) for w, v in zip(held, column, strict=True))
            assert total == 0
        assert not free or sum(held) == 0
        assert found.interval.upper == 0.0


def test_margin_interval_holds_the_margin_of_the_features():
    """Of a linear kernel the feature space is the space of the rows."""
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [3.0, 3.0]])
    _, found = search(X @ X.T, np.array([False, False, True, True]))
    assert found.verdict.status is Status.SEPARABLE
    # Between the rows (0, 0), (1, 0) and (0, 2): half their distance.
    assert found.interval.lower <= 1.0 <= found.interval.upper
    assert found.interval.upper - found.interval.lower <= 1e-6
    assert sorted(found.verdict.support.tolist())[0] == 0


def test_a_limit_of_time_leaves_it_undecided():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    gram = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2))
    _, found = search(gram, rng.random(200) < 0.5, time_limit=1e-9)
    assert found.verdict.status is Status.UNDECIDED
    assert found.interval.lower == -np.inf


@pytest.mark.parametrize("free", [True, False])
def test_rounding_of_the_kernel_is_no_proof(free):
    """Two equal rows of both labels, but for a unit in the last place of the kernel."""
    gram = np.array([[1.0, 1.0], [1.0, np.nextafter(1.0, 2.0)]])
    _, found = search(gram, np.array([False, True]), free=free)
    assert found.verdict.status is not Status.INSEPARABLE
