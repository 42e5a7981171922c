"""Every play keeps what Theorems 1, 2 and 3 promise of it, whatever the rows."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from linsep.game import (
    FTRL,
    OFTRL,
    Backtracking,
    BestResponse,
    BestResponseRow,
    Constant,
    FirstViolatedRow,
    Listed,
    MirrorDescent,
    NegativeEntropy,
    OnlineGradientAscent,
    PNorm,
    Power,
    SquaredEuclidean,
    gap_bound,
    perceptron_bound,
    play,
    regret_bound_data,
    regret_bound_learner,
    rounds_bound,
    rounds_to_separation,
    sharper_rounds_bound,
)

REGULARISERS = [
    NegativeEntropy(),
    SquaredEuclidean(),
    PNorm(1.5),
    PNorm(1.05),
    PNorm(1.001),
]
# Steps in units of the safe one, lambda / r^2.
STEPS = {
    "safe": lambda safe: Constant(safe),
    "too large": lambda safe: Constant(30 * safe),
    "falling": lambda safe: Power(10 * safe, -0.5),
    "listed": lambda safe: Listed((20 * safe, 20 * safe, 3 * safe, 0.1 * safe)),
    "adaptive": lambda safe: Backtracking(1000 * safe),
}
WEIGHTS = {
    "one": None,
    "growing": Power(1.0, 1.0),
    "adaptive": Backtracking(1.0, growth=1.3),
}

cases = pytest.mark.parametrize("regulariser", REGULARISERS, ids=lambda R: R.name)


@st.composite
def rows(draw, max_rows=8, max_columns=4):
    """Signed rows of many scales, separable or not, zeros and duplicates included."""
    n = draw(st.integers(1, max_rows))
    d = draw(st.integers(1, max_columns))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d)) * 10.0 ** draw(st.integers(-3, 3))
    if draw(st.booleans()):
        A = np.round(A)
    if draw(st.booleans()):
        A[:, 0] = np.abs(A[:, 0]) + 0.1
    if draw(st.booleans()):
        A[rng.integers(n)] = A[0]
    assume(np.abs(A).max() > 0)
    return A


def radius_of(A):
    return float(np.linalg.norm(A, axis=1).max())


@cases
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("weights", WEIGHTS)
@settings(max_examples=8)
@given(A=rows())
def test_theorems_hold_for_every_regulariser_and_step(regulariser, steps, weights, A):
    safe = regulariser.strong_convexity(len(A)) / radius_of(A) ** 2
    data = MirrorDescent(regulariser, STEPS[steps](safe))
    transcript = play(A, OFTRL(), data, 25, weights=WEIGHTS[weights])
    checks = transcript.checks()
    assert {"learner", "data", "gap", "potential"} <= set(checks)
    for check in checks.values():
        assert check.holds, check


@pytest.mark.parametrize("regulariser", REGULARISERS[:-1], ids=lambda R: R.name)
def test_checks_leave_no_room_but_rounding(regulariser):
    # Somewhere measured comes near its bound, so a bound off by a factor of two, or an
    # allowance for rounding that swallows it, would show.
    tightest = dict.fromkeys(["learner", "data", "gap", "potential"], 0.0)
    for seed in range(20, 50):
        A = np.random.default_rng(seed).normal(size=(2, 2))
        safe = regulariser.strong_convexity(2) / radius_of(A) ** 2
        transcript = play(A, OFTRL(), MirrorDescent(regulariser, Constant(safe)), 50)
        for claim in tightest:
            check = transcript.check(claim)
            positive = check.bound > 0
            ratio = check.measured[positive] / check.bound[positive]
            tightest[claim] = max(tightest[claim], ratio.max(initial=0.0))
            assert (check.rounding < 1e-9 * (1 + np.abs(check.bound))).all()
    assert all(0.7 < ratio < 1 + 1e-9 for ratio in tightest.values()), tightest


@cases
@settings(max_examples=15)
@given(A=rows())
def test_gap_check_is_the_papers_bound_at_the_papers_step(regulariser, A):
    lam, r = regulariser.strong_convexity(len(A)), radius_of(A)
    data = MirrorDescent(regulariser, Constant(lam / r**2))
    transcript = play(A, OFTRL(), data, 20)
    H = regulariser.vertex_divergences(
        regulariser.point(np.full(len(A), 1 / len(A)))
    ).max()
    paper = gap_bound(transcript.rounds, r, H, strong_convexity=lam)
    bound = transcript.check("gap").bound
    np.testing.assert_allclose(bound, paper, rtol=1e-9)
    assert (transcript.duality_gap <= paper * (1 + 1e-9)).all()


@given(A=rows())
def test_regret_bounds_from_the_moves_alone(A):
    r = radius_of(A)
    transcript = play(A, OFTRL(), MirrorDescent(steps=Constant(1 / r**2)), 20)
    p = transcript.distributions
    learner = regret_bound_learner(p, r)
    data = regret_bound_data(
        p, transcript.steps, strong_convexity=1.0, divergence_bound=math.log(len(A))
    )
    # Theorem 3's proof: at this step the sums over |p_t - p_{t-1}| cancel.
    np.testing.assert_allclose(learner + data, 0.5 + r**2 * math.log(len(A)))
    tolerance = 1e-10 * (1 + r**2)
    for t in range(20):
        G = transcript.p[: t + 1].sum(axis=0) @ A
        V = transcript.w[: t + 1].sum(axis=0)
        earned = sum(transcript.p[s] @ A @ transcript.w[s] for s in range(t + 1))
        assert np.linalg.norm(G) - earned <= learner[t] + tolerance
        assert earned - (A @ V).min() <= data[t] + tolerance


@given(A=rows(), weights=st.sampled_from(list(WEIGHTS)))
def test_optimistic_payoffs_satisfy_the_identity_of_the_theory_page(A, weights):
    t = play(A, OFTRL(), MirrorDescent(), 20, weights=WEIGHTS[weights])
    x = t.pseudoexamples
    squares = t.weights**2 * np.einsum("td,td->t", x[:-1], x[:-1])
    drift = np.diff(x, axis=0)
    moved = t.weights**2 * np.einsum("td,td->t", drift, drift)
    G = t.weighted_pseudoexamples
    identity = 0.5 * (np.einsum("td,td->t", G, G) + np.cumsum(squares - moved))
    size = np.cumsum((1 + t.weights * t.radius) ** 2) * t.rounds
    assert (np.abs(np.cumsum(t.weights * t.payoffs) - identity) <= 1e-13 * size).all()


def separable_rows(n, d, margin, seed):
    """Unit-norm rows with margin at least `margin` along the first axis."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(n, d))
    A[:, 0] = margin
    A[:, 1:] *= math.sqrt(1 - margin**2) / np.linalg.norm(A[:, 1:], axis=1)[:, None]
    return A


@given(
    n=st.integers(1, 60),
    d=st.integers(2, 8),
    exponent=st.floats(0.3, 1.7),
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_rounds_never_exceed_the_sharper_bound(n, d, exponent, seed, scale):
    margin = 10.0**-exponent
    A = scale * separable_rows(n, d, margin, seed)
    r = radius_of(A)
    sharper = sharper_rounds_bound(scale * margin, r, math.log(n))
    paper = rounds_bound(scale * margin, r, math.log(n))
    data = MirrorDescent(steps=Constant(1 / r**2))
    transcript = play(A, OFTRL(), data, rounds_to_separation(sharper))
    assert transcript.separated_at is not None
    assert transcript.separated_at <= rounds_to_separation(sharper)
    assert sharper <= paper * (1 + 1e-12)
    assert transcript.check("sharper rounds", margin=scale * margin).holds
    assert transcript.check("rounds", margin=scale * margin).holds


@cases
@given(n=st.integers(2, 12), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_sharper_bound_for_every_regulariser(regulariser, n, seed):
    A = separable_rows(n, 3, 0.2, seed)
    lam = regulariser.strong_convexity(n)
    H = float(
        regulariser.vertex_divergences(regulariser.point(np.full(n, 1 / n))).max()
    )
    sharper = sharper_rounds_bound(0.2, 1.0, H, strong_convexity=lam)
    rounds = min(rounds_to_separation(sharper), 400)
    data = MirrorDescent(regulariser, Constant(lam))
    transcript = play(A, OFTRL(), data, rounds, stop_when_separated=True)
    assert transcript.check("sharper rounds", margin=0.2).holds


def test_separating_average_comes_no_later_than_the_bounds_allow():
    # Rows e_1 and eps e_2 - e_1 and the like leave no room: measured / bound is not 0.
    A = separable_rows(50, 2, 0.01, 3)
    transcript = play(A, OFTRL(), MirrorDescent(steps=Constant(1.0)), 400)
    sharper = sharper_rounds_bound(0.01, 1.0, math.log(50))
    assert 0.1 * sharper < transcript.separated_at <= rounds_to_separation(sharper)


@given(A=rows())
def test_inseparable_rows_keep_the_pseudoexample_sum_small(A):
    A = np.vstack([A, -A[:1]])
    transcript = play(
        A, OFTRL(), MirrorDescent(), 30, weights=Backtracking(1.0, growth=1.3)
    )
    length = np.linalg.norm(transcript.weighted_pseudoexamples, axis=1)
    assert (length <= math.sqrt(2 * math.log(len(A))) * (1 + 1e-9)).all()
    assert transcript.separated_at is None


def test_divergences_met_can_exceed_the_start_when_steps_fall():
    # Why H = ln n is not enough for non-increasing steps: Theorem 2's own proof leaves
    # D(p*, p_t) (1/step_{t+1} - 1/step_t), and p_t strays far from p*.
    A = np.array([[1.0, 0.0], [-1.0, 0.1], [0.5, -1.0]])
    data = MirrorDescent(steps=Power(50.0, -0.5))
    transcript = play(A, OFTRL(), data, 60)
    assert transcript.reaches.max() > 2 * math.log(3)
    assert transcript.check("data").holds


def test_first_theorem_can_fail_without_optimism():
    # The check is not vacuous: plain FTRL breaks the bound that optimism earns.
    A = np.array([[1.0, 0.0], [0.9, 0.1]])
    data = MirrorDescent(steps=Constant(1e-6))
    for learner, keeps in ((OFTRL(), True), (FTRL(), False)):
        transcript = play(A, learner, data, 10)
        bound = regret_bound_learner(transcript.distributions, transcript.radius)
        assert (transcript.learner_regret <= bound + 1e-9).all() == keeps


@given(A=rows(), seed=st.integers(0, 2**32 - 1))
def test_ftrl_keeps_its_own_bound(A, seed):
    transcript = play(A, FTRL(), MirrorDescent(steps=Power(1.0, -0.5)), 20)
    x = transcript.pseudoexamples[1:]
    bound = 0.5 + 0.5 * np.cumsum(np.einsum("td,td->t", x, x))
    size = 1 + np.cumsum(np.abs(transcript.payoffs)) + bound
    assert (transcript.learner_regret <= bound + 1e-12 * size).all()


@given(A=rows())
def test_best_response_moving_second_has_no_regret(A):
    transcript = play(A, BestResponse(), MirrorDescent(), 15, first="data")
    size = 1 + transcript.rounds * transcript.radius
    assert (transcript.learner_regret <= 1e-12 * size).all()


@given(A=rows())
def test_best_response_row_moving_second_has_no_regret(A):
    transcript = play(A, OFTRL(), BestResponseRow(), 15)
    size = 1 + np.cumsum(np.abs(transcript.payoffs))
    assert (transcript.data_regret <= 1e-12 * size).all()


@pytest.mark.parametrize(
    ("claim", "learner", "data", "first", "match"),
    [
        ("learner", FTRL(), MirrorDescent(), "learner", "OFTRL moving first"),
        ("data", OFTRL(), BestResponseRow(), "learner", "MirrorDescent moving second"),
        ("gap", OFTRL(), MirrorDescent(), "data", "OFTRL moving first"),
        (
            "data",
            OFTRL(),
            MirrorDescent(steps=Power(1.0, 0.5)),
            "learner",
            "non-increasing",
        ),
        (
            "perceptron",
            OnlineGradientAscent(Constant(0.5)),
            FirstViolatedRow(),
            "learner",
            "steps 1",
        ),
        (
            "rounds",
            OFTRL(),
            MirrorDescent(steps=Constant(9.0)),
            "learner",
            "lambda / r",
        ),
        ("nonsense", OFTRL(), MirrorDescent(), "learner", "must be one of"),
    ],
)
def test_check_says_why_a_theorem_is_silent(claim, learner, data, first, match):
    transcript = play([[1.0, 0.0], [-1.0, 1.0]], learner, data, 3, first=first)
    with pytest.raises(ValueError, match=match):
        transcript.check(claim, margin=0.4)


def test_counts_of_rounds_allow_a_larger_radius_than_the_rows_have():
    A = separable_rows(30, 3, 0.1, 1)
    transcript = play(A, OFTRL(), MirrorDescent(steps=Constant(1 / 4.0)), 100)
    check = transcript.check("sharper rounds", margin=0.1)
    assert check.bound[0] == pytest.approx(sharper_rounds_bound(0.1, 2.0, math.log(30)))
    assert check.holds


def test_rounds_check_asks_for_the_margin():
    transcript = play([[1.0]], OFTRL(), MirrorDescent(), 2)
    with pytest.raises(ValueError, match="known positive margin, got margin=None"):
        transcript.check("rounds")


def test_regret_bound_data_refuses_growing_steps():
    p = np.array([[0.5, 0.5]] * 3)
    with pytest.raises(
        ValueError, match="non-increasing, got 1 then 2 at rounds 1 and 2"
    ):
        regret_bound_data(
            p, np.array([1.0, 2.0]), strong_convexity=1.0, divergence_bound=1.0
        )


P = np.array([[0.5, 0.5], [0.25, 0.75]])


@pytest.mark.parametrize("bad", [0, -1.0, math.inf, math.nan, "1", None])
@pytest.mark.parametrize(
    "bound",
    [
        lambda bad: rounds_bound(bad, 1.0, 1.0),
        lambda bad: rounds_bound(1.0, bad, 1.0),
        lambda bad: rounds_bound(1.0, 1.0, 1.0, strong_convexity=bad),
        lambda bad: sharper_rounds_bound(bad, 1.0, 1.0),
        lambda bad: sharper_rounds_bound(1.0, bad, 1.0),
        lambda bad: gap_bound(bad, 1.0, 1.0),
        lambda bad: gap_bound(1, bad, 1.0),
        lambda bad: perceptron_bound(bad, 1.0),
        lambda bad: perceptron_bound(1.0, bad),
        lambda bad: regret_bound_data(
            P, np.ones(1), strong_convexity=bad, divergence_bound=1.0
        ),
    ],
)
def test_bounds_ask_for_positive_finite_numbers(bound, bad):
    with pytest.raises(
        ValueError, match=r"must be a positive number|array of numbers|shape"
    ):
        bound(bad)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: rounds_to_separation(math.inf), "bound must be zero or positive"),
        (lambda: rounds_to_separation(math.nan), "bound must be zero or positive"),
        (lambda: rounds_bound(1.0, 1.0, -1.0), "divergence_bound must be zero"),
        (lambda: regret_bound_learner(P, 1.0, weights=[1.0, 1.0]), "weights must ha"),
        (lambda: regret_bound_learner(P[0], 1.0), "distributions must have shape"),
        (lambda: regret_bound_learner(P[:1], 1.0), "at least two rows"),
        (lambda: regret_bound_learner(P, -1.0), "radius must be zero or positive"),
        (lambda: gap_bound([1, 0], 1.0, 1.0), "least of rounds"),
        (
            lambda: regret_bound_data(
                P, [1.0, 1.0], strong_convexity=1.0, divergence_bound=1.0
            ),
            "steps must have shape",
        ),
        (
            lambda: regret_bound_data(
                P, [0.0], strong_convexity=1.0, divergence_bound=1.0
            ),
            "least of steps must be a positive",
        ),
        (
            lambda: regret_bound_data(
                P, [1.0], strong_convexity=1.0, divergence_bound=[1.0, 2.0]
            ),
            "divergence_bound must have shape",
        ),
    ],
)
def test_bounds_say_what_must_hold(make, match):
    with pytest.raises(ValueError, match=match):
        make()


@pytest.mark.parametrize("margin", [0.0, math.inf, math.nan, "0.1"])
def test_checks_of_counts_ask_for_a_positive_finite_margin(margin):
    transcript = play([[1.0]], OFTRL(), MirrorDescent(), 2)
    with pytest.raises(ValueError, match="known positive margin"):
        transcript.check("rounds", margin=margin)
