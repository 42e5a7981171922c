"""The margin of the plain average tends to the largest, as the theory page proves."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import linsep
from linsep.lab.reproduce.theorems import planted_rows
from linsep.perceptrons import Optimistic


@settings(max_examples=15, deadline=None)
@given(
    n=st.integers(2, 60),
    margin=st.floats(0.02, 0.9),
    radius=st.sampled_from([1e-3, 1.0, 50.0]),
    seed=st.integers(0, 10_000),
)
def test_the_gap_and_the_sums_obey_the_bounds(n, margin, radius, seed):
    X, y = planted_rows(n, radius, margin * radius, seed)
    A = y[:, None] * X
    largest = linsep.max_margin(X, y, fit_intercept=False, tol=1e-9).margin_lower
    r = np.linalg.norm(A, axis=1).max()
    c = r * np.sqrt(2 * np.log(n))
    G = np.zeros(A.shape[1])
    for t, state in zip(range(1, 400), Optimistic().rounds(A), strict=False):
        # Of the round's weights, which are those of the data player after the play.
        G += state.p @ A
        assert np.linalg.norm(G) <= (largest * t + c) * (1 + 1e-6)
        tau = largest * t / c
        if tau > 1:
            found = (A @ state.w).min() / np.linalg.norm(state.w)
            bound = (2 * tau + 1) / (tau**2 - 1)
            assert 1 - found / largest <= bound + 1e-6
