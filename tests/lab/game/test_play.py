"""The players, the loop and the transcript, against loops written from the paper."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
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
    Move,
    NegativeEntropy,
    OnlineGradientAscent,
    PNorm,
    Power,
    SquaredEuclidean,
    perceptron_bound,
    play,
    project_simplex,
    signed_rows,
)
from linsep.input import InputError
from linsep.lab.game.learners import _maximise
from textbook import compiled_rounds

REGULARISERS = [
    NegativeEntropy(),
    SquaredEuclidean(),
    PNorm(1.5),
    PNorm(1.1),
    PNorm(1.001),
    PNorm(2),
]


def random_rows(seed, n=6, d=3, scale=1.0):
    return scale * np.random.default_rng(seed).normal(size=(n, d))


def algorithm_1(X, y, rounds):
    """The paper's pseudocode, line for line."""
    n = len(y)
    r = max(np.linalg.norm(x) for x in X)
    p = [np.full(n, 1 / n)]
    x_tilde = {-1: (p[0] * y) @ X, 0: (p[0] * y) @ X}
    w = [np.zeros(X.shape[1])]
    for t in range(1, rounds + 1):
        w.append(w[t - 1] + 2 * x_tilde[t - 1] - x_tilde[t - 2])
        scores = p[t - 1] * np.exp([-y[i] * (w[t] @ X[i]) / r**2 for i in range(n)])
        p.append(scores / scores.sum())
        x_tilde[t] = (p[t] * y) @ X
    return np.array(w[1:]), np.array(p[1:]), np.mean(w[1:], axis=0)


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-2, 1.0, 1e2]))
def test_play_of_the_papers_players_is_algorithm_1(seed, scale):
    X = random_rows(seed, scale=scale)
    y = np.where(np.random.default_rng(seed + 1).random(6) < 0.5, -1.0, 1.0)
    r = np.linalg.norm(X, axis=1).max()
    data = MirrorDescent(NegativeEntropy(), Constant(1 / r**2))
    transcript = play(y[:, None] * X, OFTRL(), data, 30)
    w, p, average = algorithm_1(X, y, 30)
    np.testing.assert_allclose(transcript.w, w, rtol=1e-9, atol=1e-11 * scale)
    np.testing.assert_allclose(transcript.p, p, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(transcript.average_w[-1], average, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("n", range(1, 9))
def test_play_on_the_papers_rows_takes_as_many_rounds_as_the_perceptron(n):
    from linsep import datasets
    from linsep.perceptrons import Optimistic

    rows = datasets.paper_rows(n)
    A = rows.y[:, None] * rows.X
    data = MirrorDescent(steps=Constant(1 / n))
    transcript = play(A, OFTRL("closed"), data, 600)
    textbook = Optimistic(fit_intercept=False).run(rows.X, rows.y)
    assert transcript.separated_at == textbook.n_updates
    for check in transcript.checks(margin=math.sqrt(3 / (4**n - 1))).values():
        assert check.holds


@given(seed=st.integers(0, 2**32 - 1), scale=st.sampled_from([1e-2, 1.0, 1e2]))
def test_three_forms_of_oftrl_agree(seed, scale):
    A = random_rows(seed, scale=scale)
    safe = 0.1 / np.linalg.norm(A, axis=1).max() ** 2
    plays = {
        form: play(
            A,
            OFTRL(form),
            MirrorDescent(steps=Power(safe, -0.5)),
            40,
            weights=Power(1.0, 0.5),
        )
        for form in ("argmax", "closed", "incremental")
    }
    for form in ("argmax", "incremental"):
        np.testing.assert_allclose(
            plays[form].w, plays["closed"].w, rtol=1e-9, atol=1e-10 * scale
        )
        np.testing.assert_allclose(plays[form].p, plays["closed"].p, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_oftrl_move_maximises_the_objective_of_theorem_1(seed):
    A = random_rows(seed)
    transcript = play(A, OFTRL(), MirrorDescent(), 8)
    rng = np.random.default_rng(seed)
    p = transcript.distributions
    for t in range(1, 9):
        q = p[t - 1] + p[1:t].sum(axis=0)

        def objective(w, q=q):
            return q @ A @ w - 0.5 * w @ w

        best = objective(transcript.w[t - 1])
        for _ in range(5):
            other = transcript.w[t - 1] + rng.normal(size=3) * 10.0 ** rng.uniform(
                -3, 1
            )
            assert objective(other) < best


def adaptive_loop(A, first_step, rounds):
    """Section 2 of the design, written out on n-vectors."""
    n, d = A.shape
    G, v, eta = np.zeros(d), np.zeros(d), first_step
    p = np.full(n, 1 / n)
    record = []
    for _ in range(rounds):
        while True:
            w = G + eta * (p @ A)
            v_next = v + eta * w
            scores = np.exp(-(A @ v_next) + (A @ v_next).min())
            q = scores / scores.sum()
            kl = float(np.sum(q * np.log(q / p)))
            drift = (q - p) @ A
            if 0.5 * eta**2 * drift @ drift <= kl + 1e-13:
                break
            eta /= 2
        v, p, G = v_next, q, G + eta * (q @ A)
        record.append((eta, w, p))
        eta *= 1.3
    return [np.array(part) for part in zip(*record, strict=True)]


@given(seed=st.integers(0, 2**32 - 1), first_step=st.sampled_from([0.01, 0.3, 5.0]))
def test_weighted_rounds_play_the_adaptive_loop(seed, first_step):
    A = random_rows(seed)
    transcript = play(
        A,
        OFTRL(),
        MirrorDescent(NegativeEntropy(), Constant(1.0)),
        10,
        weights=Backtracking(first_step, growth=1.3),
    )
    eta, w, p = adaptive_loop(A, first_step, 10)
    np.testing.assert_allclose(transcript.weights, eta, rtol=1e-12)
    np.testing.assert_allclose(transcript.w, w, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(transcript.p, p, rtol=1e-6, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1))
def test_weighted_rounds_agree_with_the_solver(seed):
    A = random_rows(seed)
    start = 1 / np.linalg.norm(A, axis=1).max()
    transcript = play(
        A, OFTRL(), MirrorDescent(), 8, weights=Backtracking(start, growth=1.3)
    )
    loop = compiled_rounds(A)
    for t in range(8):
        state = next(loop)
        if state.margin > 0:  # the solver stops here, and no longer judges its steps
            break
        assert state.step_size == pytest.approx(transcript.weights[t], rel=1e-12)
        np.testing.assert_allclose(state.play, transcript.w[t], rtol=1e-7, atol=1e-9)


@given(seed=st.integers(0, 2**32 - 1), margin=st.floats(0.05, 0.5))
def test_first_violated_row_and_gradient_ascent_are_perceptron(seed, margin):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(12, 3))
    A[:, 0] = margin
    expected, w, shown = [], np.zeros(3), 0
    while True:
        clean = True
        for i in range(12):
            if A[i] @ w <= 0:
                expected.append(i)
                w = w + A[i]
                clean = False
        shown += 1
        if clean:
            break
    transcript = play(A, OnlineGradientAscent(), FirstViolatedRow(), len(expected) + 1)
    rows = transcript.p.argmax(axis=1)
    assert rows[:-1].tolist() == expected
    np.testing.assert_allclose(transcript.w[-1], w, atol=1e-12)
    assert transcript.last_separated_at == len(expected) + 1
    r = np.linalg.norm(A, axis=1).max()
    check = transcript.check("perceptron", margin=margin)
    assert check.holds
    assert check.measured[0] == len(expected) <= perceptron_bound(margin, r)


def test_first_violated_row_searches_from_the_top_when_not_cyclic():
    A = np.array([[1.0, -0.5], [-0.6, 1.0], [-0.5, 2.0]])
    players = {
        cyclic: play(A, OnlineGradientAscent(), FirstViolatedRow(cyclic=cyclic), 4)
        for cyclic in (True, False)
    }
    for cyclic, transcript in players.items():
        w, begin = np.zeros(2), 0
        for t in range(4):
            order = [(begin + k) % 3 for k in range(3)]
            violated = [i for i in order if A[i] @ w <= 0]
            i = violated[0] if violated else int(np.argmin(A @ w))
            assert transcript.p[t, i] == 1.0
            w = w + A[i]
            begin = (i + 1) % 3 if cyclic else 0


def test_ftrl_is_gradient_ascent_with_unit_steps():
    A = random_rows(1)
    one = play(A, FTRL(), MirrorDescent(steps=Constant(0.3)), 20)
    other = play(A, OnlineGradientAscent(), MirrorDescent(steps=Constant(0.3)), 20)
    np.testing.assert_allclose(one.w, other.w, atol=1e-12)
    assert (one.w[0] == 0).all()


def test_gradient_ascent_stays_in_its_ball_and_follows_its_steps():
    A = random_rows(2)
    learner = OnlineGradientAscent(steps=Power(2.0, -0.5), radius=0.7)
    transcript = play(A, learner, MirrorDescent(), 20)
    w = np.zeros(3)
    for t in range(20):
        np.testing.assert_allclose(transcript.w[t], w, atol=1e-12)
        w = w + 2.0 / math.sqrt(t + 1) * transcript.p[t] @ A
        w = w * min(1.0, 0.7 / np.linalg.norm(w))


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=lambda R: R.name)
@settings(max_examples=25)
@given(
    n=st.integers(1, 7),
    seed=st.integers(0, 2**32 - 1),
    size=st.sampled_from([1e-3, 1.0, 50.0]),
)
def test_mirror_step_is_the_minimum_over_the_simplex(regulariser, n, seed, size):
    rng = np.random.default_rng(seed)
    q = rng.dirichlet(np.ones(n)).clip(1e-6)
    q = regulariser.point(q / q.sum())
    loss = size * rng.normal(size=n)
    best = regulariser.step(q, loss)
    p = regulariser.distribution(best)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    value = loss @ p + regulariser.divergence(best, q)
    for other in [*rng.dirichlet(np.ones(n), size=10), *np.eye(n)]:
        for share in (1.0, 0.1, 1e-3):
            mixed = (1 - share) * p + share * other
            if isinstance(regulariser, NegativeEntropy) and mixed.min() <= 0:
                continue
            rival = loss @ mixed + regulariser.divergence(regulariser.point(mixed), q)
            assert value <= rival + 1e-12 * (1 + size)


@pytest.mark.parametrize("regulariser", REGULARISERS, ids=lambda R: R.name)
@given(n=st.integers(2, 8), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_regulariser_is_as_convex_and_as_bounded_as_it_says(regulariser, n, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.full(n, rng.uniform(0.1, 3)), size=2).clip(1e-9)
    p, q = p / p.sum(), q / q.sum()
    divergence = regulariser.divergence(regulariser.point(p), regulariser.point(q))
    strength = regulariser.strong_convexity(n)
    assert divergence >= 0.5 * strength * np.abs(p - q).sum() ** 2 - 1e-12
    at_vertices = regulariser.vertex_divergences(regulariser.point(q))
    assert divergence <= at_vertices.max() + 1e-12
    most = math.inf if isinstance(regulariser, NegativeEntropy) else 1.0
    assert at_vertices.max() <= most + 1e-12
    # D(e_i, q) is the limit of D at distributions that approach the vertex.
    near = np.full(n, 1e-13)
    near[0] = 1 - (n - 1) * 1e-13
    limit = regulariser.divergence(regulariser.point(near), regulariser.point(q))
    assert limit == pytest.approx(at_vertices[0], rel=1e-5, abs=1e-6)


@given(
    p=st.lists(st.floats(0.01, 1.0), min_size=2, max_size=5),
    shift=st.floats(1e-9, 1e-2),
)
def test_entropy_divergence_is_accurate_for_close_distributions(p, shift):
    from fractions import Fraction

    p = np.array(p) / np.sum(p)
    target, source = np.log(p), np.log(p)
    target[0] += shift
    target -= math.log(np.exp(target).sum())
    d = target - source
    # sum_i q_i (e^d (d - 1) + 1), the series summed in exact arithmetic.
    exact = Fraction(0)
    for q, step in zip(np.exp(source), d, strict=True):
        s, term, total = Fraction(float(step)), Fraction(1), Fraction(0)
        for k in range(1, 12):
            term *= s / k
            total += (k - 1) * term
        exact += Fraction(float(q)) * total
    value = NegativeEntropy().divergence(target, source)
    assert value == pytest.approx(float(exact), rel=1e-9)


@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=8))
def test_project_simplex_meets_the_optimality_conditions(v):
    v = np.array(v)
    p = project_simplex(v)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(1.0, abs=1e-12)
    gap = v - p
    support = p > 0
    # v - p is one number on the support and no larger elsewhere.
    assert np.ptp(gap[support]) <= 1e-10
    assert (gap[~support] <= gap[support].min() + 1e-10).all()


def test_p_norm_2_is_the_euclidean_regulariser():
    A = random_rows(5)
    one = play(A, OFTRL(), MirrorDescent(PNorm(2), Constant(0.2)), 20)
    other = play(A, OFTRL(), MirrorDescent(SquaredEuclidean(), Constant(0.2)), 20)
    np.testing.assert_allclose(one.p, other.p, atol=1e-10)
    np.testing.assert_allclose(one.divergences, other.divergences, atol=1e-10)


def test_transcript_reports_what_was_played():
    A = random_rows(7)
    t = play(
        A, OFTRL(), MirrorDescent(steps=Constant(0.5)), 12, weights=Power(1.0, 1.0)
    )
    k = 7
    weights = np.arange(1.0, 13.0)
    np.testing.assert_allclose(t.weights, weights)
    G = sum(weights[s] * t.p[s] @ A for s in range(k))
    v = sum(weights[s] * t.w[s] for s in range(k))
    S = weights[:k].sum()
    earned = sum(weights[s] * t.p[s] @ A @ t.w[s] for s in range(k))
    assert t.payoffs[k - 1] == pytest.approx(t.p[k - 1] @ A @ t.w[k - 1])
    assert t.learner_regret[k - 1] == pytest.approx(np.linalg.norm(G) - earned)
    assert t.data_regret[k - 1] == pytest.approx(earned - (A @ v).min())
    assert t.pseudoexample_norm[k - 1] == pytest.approx(np.linalg.norm(G) / S)
    gap = np.linalg.norm(G) / S - (A @ v).min() / S
    assert t.duality_gap[k - 1] == pytest.approx(gap)
    norm = np.linalg.norm(v)
    assert t.margin_average[k - 1] == pytest.approx((A @ v).min() / norm)
    norm = np.linalg.norm(t.w[k - 1])
    assert t.margin_last[k - 1] == pytest.approx((A @ t.w[k - 1]).min() / norm)
    np.testing.assert_allclose(t.average_p[k - 1], weights[:k] @ t.p[:k] / S)
    np.testing.assert_allclose(t.average_w[k - 1], v / S)


@given(seed=st.integers(0, 2**32 - 1), first=st.sampled_from(["learner", "data"]))
def test_margin_interval_never_crosses(seed, first):
    A = random_rows(seed)
    t = play(A, OFTRL(), MirrorDescent(), 15, first=first)
    assert (t.margin_lower <= t.margin_upper + 1e-12).all()
    assert (np.diff(t.margin_lower) >= 0).all()
    assert (np.diff(t.margin_upper) <= 0).all()


def test_data_moving_first_does_not_see_the_learner():
    A = random_rows(3)
    t = play(A, BestResponse(), MirrorDescent(steps=Constant(0.4)), 6, first="data")
    log_p = np.zeros(6)
    for k in range(6):
        p = np.exp(log_p) / np.exp(log_p).sum()
        np.testing.assert_allclose(t.p[k], p, atol=1e-12)
        x = p @ A
        np.testing.assert_allclose(t.w[k], x / np.linalg.norm(x), atol=1e-12)
        log_p -= 0.4 * (A @ t.w[k])


def test_stop_when_separated_ends_at_the_first_separating_round():
    A = np.array([[1.0, 0.0], [-1.0, 0.3]])
    data = MirrorDescent(steps=Constant(0.9))
    full = play(A, OFTRL(), data, 200)
    short = play(A, OFTRL(), data, 200, stop_when_separated=True)
    assert short.n_rounds == min(full.separated_at, full.last_separated_at)
    np.testing.assert_array_equal(short.w, full.w[: short.n_rounds])


def test_rows_may_be_any_array_the_package_takes():
    from scipy.sparse import csr_array

    A = random_rows(8)
    expected = play(A, OFTRL(), MirrorDescent(), 4)
    for rows in (A.tolist(), csr_array(A), np.asfortranarray(A)):
        np.testing.assert_array_equal(
            play(rows, OFTRL(), MirrorDescent(), 4).w, expected.w
        )


def test_per_round_is_a_frame_of_what_was_measured():
    import pandas as pd

    t = play(random_rows(9), OFTRL(), MirrorDescent(), 6)
    frame = pd.DataFrame(t.per_round())
    assert frame.shape == (6, 12)
    np.testing.assert_array_equal(frame["duality_gap"], t.duality_gap)
    assert frame["rounds"].tolist() == [1, 2, 3, 4, 5, 6]


class ScaledEntropy(NegativeEntropy):
    """A regulariser of one's own: 3 sum p ln p, with lambda = 3."""

    name = "three times the entropy"

    def strong_convexity(self, n):
        return 3.0

    def step(self, point, loss):
        return super().step(point, loss / 3)

    def divergence(self, target, source):
        return 3 * super().divergence(target, source)

    def vertex_divergences(self, point):
        return 3 * super().vertex_divergences(point)


def test_a_regulariser_of_ones_own_is_checked_by_its_own_constants():
    A = random_rows(10)
    r2 = (A**2).sum(axis=1).max()
    own = play(A, OFTRL(), MirrorDescent(ScaledEntropy(), Constant(3 / r2)), 25)
    plain = play(A, OFTRL(), MirrorDescent(steps=Constant(1 / r2)), 25)
    np.testing.assert_allclose(own.p, plain.p, atol=1e-12)
    for claim in ("learner", "data", "gap", "potential"):
        assert own.check(claim).holds
    np.testing.assert_allclose(own.check("gap").bound, plain.check("gap").bound)


def test_start_from_sets_the_first_distribution():
    start = np.array([0.2, 0.3, 0.5])
    A = random_rows(4, n=3)
    t = play(A, OFTRL(), MirrorDescent(start_from=start), 3)
    np.testing.assert_allclose(t.w[0], start @ A)
    assert all(check.holds for check in t.checks().values())


def test_backtracking_steps_never_grow_nor_fall_below_half_the_safe_step():
    for seed in range(20):
        A = random_rows(seed)
        safe = 1 / np.linalg.norm(A, axis=1).max() ** 2
        data = MirrorDescent(steps=Backtracking(1000 * safe))
        t = play(A, OFTRL(), data, 40)
        assert (np.diff(t.steps) <= 0).all()
        assert t.steps.min() >= 0.5 * safe
        assert t.n_trials > 40


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: Constant(0.0),
            "value must be a positive number, and finite, got 0.0",
        ),
        (lambda: Power(math.inf), "start must be a positive number"),
        (lambda: Listed(()), "at least one number"),
        (
            lambda: Listed((1.0, -1.0)),
            "values must be a positive number, and finite, got -1.0",
        ),
        (
            lambda: Backtracking(1.0, growth=0.5),
            "growth must be a number of at least 1",
        ),
        (
            lambda: PNorm(1.0),
            "exponent must be at least 1.001 and at most 2, got 1.0",
        ),
        (lambda: OFTRL("magic"), "form must be"),
        (
            lambda: OnlineGradientAscent(radius=0.0),
            "radius must be a pos",
        ),
        (lambda: OnlineGradientAscent(Backtracking()), "must not be adaptive"),
        (lambda: BestResponse(radius=math.inf), "radius must be a pos"),
        (lambda: play([[1.0]], OFTRL(), MirrorDescent(), 0), "at least 1, got 0"),
        (lambda: play([[1.0]], OFTRL(), MirrorDescent(), 2.5), "an integer .* got 2.5"),
        (lambda: play([[1.0]], OFTRL(), MirrorDescent(), "3"), "an integer .* got '3'"),
        (lambda: play([[1.0]], OFTRL(), MirrorDescent(), True), "integer .* got True"),
        (lambda: play([[1.0]], MirrorDescent(), OFTRL(), 1), "learner must be a le"),
        (lambda: play([[1.0]], OFTRL(), OFTRL(), 1), "data must be a data player"),
        (
            lambda: play([[1.0]], OFTRL(), OnlineGradientAscent(), 1),
            "got the learner OnlineGradientAscent.* the learner comes first",
        ),
        (lambda: play([[1.0]], OFTRL, MirrorDescent(), 1), r"call it: OFTRL\(...\)"),
        (lambda: play([[1.0]], OFTRL(), MirrorDescent, 1), "got the class MirrorDesc"),
        (
            lambda: play([[1.0]], OFTRL(), MirrorDescent(), 1, weights=2.0),
            "weights must be a schedule .* got 2.0",
        ),
        (
            lambda: play([[1.0]], OFTRL(), MirrorDescent(steps=Power(1, -400)), 9),
            "step of round 7 must be a positive number, and finite, got 0.0",
        ),
        (
            lambda: play(
                [[1.0], [2.0]], OFTRL(), MirrorDescent(), 9, weights=Power(1, 400)
            ),
            "moves must be finite, but those of round . left the range",
        ),
        (lambda: MirrorDescent(steps=0.5), "steps must be a schedule .* got 0.5"),
        (lambda: MirrorDescent(regulariser=0.5), "regulariser must be a regulariser"),
        (lambda: MirrorDescent(NegativeEntropy), "got the class NegativeEntropy"),
        (lambda: OnlineGradientAscent(steps=0.5), "steps must be a schedule"),
        (lambda: OnlineGradientAscent(radius="1"), "radius must be a positive"),
        (
            lambda: Power(1.0, math.nan),
            "exponent must be a number, and finite, got nan",
        ),
        (lambda: Constant("1"), "value must be a positive number"),
        (lambda: Listed(1.0), "at least one number, got 1.0"),
        (lambda: PNorm("1.5"), "exponent must be at least"),
        (lambda: PNorm(math.nan), "exponent must be at least"),
        (lambda: project_simplex([math.nan, 1.0]), "v must be finite"),
        (lambda: project_simplex([]), "v must have shape"),
        (lambda: project_simplex(["a"]), "v must be an array of numbers"),
        (lambda: play(np.zeros((0, 2)), OFTRL(), MirrorDescent(), 1), "at least one"),
        (
            lambda: play([[1e150]], OFTRL(), MirrorDescent(), 1),
            "at most 1e\\+100 in size",
        ),
        (lambda: play([1.0], OFTRL(), MirrorDescent(), 1), "two"),
        (lambda: play([[math.nan]], OFTRL(), MirrorDescent(), 1), "finite"),
        (
            lambda: play([[1.0]], OFTRL(), MirrorDescent(), 1, first="me"),
            "first must",
        ),
        (
            lambda: play(
                [[1.0]], OFTRL(), BestResponseRow(), 1, weights=Backtracking()
            ),
            "data player with a regulariser",
        ),
        (
            lambda: play(
                [[1.0], [2.0]],
                OFTRL(),
                MirrorDescent(start_from=np.array([1.0, 0.0])),
                1,
            ),
            "2 positive numbers with sum 1",
        ),
    ],
)
def test_wrong_settings_say_what_must_hold(make, match):
    with pytest.raises(ValueError, match=match):
        make()


def test_project_simplex_takes_lists():
    np.testing.assert_array_equal(project_simplex([1, 2]), [0.0, 1.0])


def test_listed_numbers_may_come_in_a_list_or_an_array():
    assert Listed([2.0, 1.0]) == Listed((2.0, 1.0)) == Listed(np.array([2.0, 1.0]))


@given(
    seed=st.integers(0, 2**32 - 1),
    scale=st.sampled_from([1e-8, 1.0, 1e8]),
    away=st.sampled_from([0.0, 1e-12, 1.0, 1e8]),
)
def test_argmax_form_climbs_to_the_maximum_from_anywhere(seed, scale, away):
    rng = np.random.default_rng(seed)
    A = scale * rng.normal(size=(6, 3))
    q = 5 * rng.dirichlet(np.ones(6))
    best = q @ A
    start = best + away * scale * rng.normal(size=3)
    found = _maximise(A, q, start)
    np.testing.assert_allclose(found, best, rtol=1e-12, atol=1e-13 * scale)


def test_argmax_form_of_rows_of_zeros_comes_down_to_zero():
    zeros = np.zeros((2, 2))
    np.testing.assert_allclose(
        _maximise(zeros, np.ones(2), np.array([1.0, -2.0])), 0, atol=1e-15
    )


def test_p_norm_keeps_the_gradient_of_weights_too_small_for_a_float():
    regulariser = PNorm(1.001)
    point = regulariser.point(np.array([0.5, 0.5]))
    away = regulariser.step(point, np.array([0.0, 0.9]))
    assert regulariser.distribution(away)[1] == 0.0
    back = regulariser.step(away, np.array([0.9, 0.0]))
    # The two losses cancel: mirror descent comes back to where it was.
    np.testing.assert_allclose(regulariser.distribution(back), 0.5, rtol=1e-9)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_rows_and_labels_play_the_papers_game(kind):
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(12, 2)), kind(["yes", "no", "no"] * 4)
    A = np.column_stack([X, np.ones(12)])
    A *= np.where(np.array(labels) == "yes", 1.0, -1.0)[:, None]
    r = np.linalg.norm(A, axis=1).max()
    theirs = play(A, OFTRL(), MirrorDescent(NegativeEntropy(), Constant(1 / r**2)), 30)
    for ours in (
        play(X, labels, rounds=30),
        play(signed_rows(X, labels).A, rounds=30),
        play(signed_rows(X, labels).A, OFTRL(), rounds=30),
    ):
        assert np.array_equal(ours.w, theirs.w)
        assert np.array_equal(ours.p, theirs.p)


def test_labels_of_another_length_are_refused():
    with pytest.raises(InputError, match="3"):
        play([[1.0], [2.0], [3.0]], [0, 1])


class Narrow(OFTRL):
    def act(self, state, weight, p):
        return super().act(state, weight, p)[:-1]


class Short(BestResponseRow):
    def act(self, last, weight, margins, step):
        move = super().act(last, weight, margins, step)
        return Move(move.p[:-1], move.divergence, move.reach, move.memory)


@pytest.mark.parametrize("first", ["learner", "data"])
def test_moves_of_the_wrong_shape_are_named(first):
    A = random_rows(0)
    with pytest.raises(InputError, match=r"learner's move w must .* \(3,\), .* \(2,\)"):
        play(A, Narrow(), BestResponseRow(), 3, first=first)
    with pytest.raises(InputError, match=r"data player's move must .* \(6,\)"):
        play(A, OFTRL(), Short(), 3, first=first)
