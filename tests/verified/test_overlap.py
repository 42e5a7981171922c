"""Newton's step and its proof, every bound against fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hostile_parts import (
    exact_moments,
    hostile_matrix,
    overlap_by_weights,
    part_of,
    scaled_fractions,
    solved,
)
from judges import dot, fractions_of
from linsep.rows.rounding import UNIT_ROUNDOFF, gamma
from linsep.verified import overlap
from linsep.verified.moments import Layout, NotPositive
from linsep.verified.overlap import SMALLEST_WEIGHT, Counts, Step, Weights

SEEDS = st.integers(0, 2**32 - 1)


def random_counts(rng, n):
    """How often rows stand along and against; neither is zero on all."""
    along = rng.integers(0, 3, n).astype(float)
    against = rng.integers(0, 3, n) * (rng.random(n) < 0.4)
    along[(along == 0) & (against == 0)] = 1.0
    return Counts(along, against.astype(float))


def random_step(seed):
    """A step from a point that may be far out; and the exact rows."""
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng, n=int(rng.integers(3, 20)), k=int(rng.integers(1, 5)))
    part = part_of(A, rng)
    n, k = part.shape
    z = rng.standard_normal(k) * rng.choice([0.0, 1.0, 10.0, 300.0])
    counts = random_counts(rng, n)
    try:
        step = Step.at(part, part.products(z), counts, Layout.of(part))
    except NotPositive:
        return None
    return step, scaled_fractions(A, part.exponents), rng


def exact_sums(step, rows):
    """The exact net weights and moments of rows: ``r = sum net a``, M of `moment`."""
    weights = step.weights
    counts = weights.counts
    names = fractions_of(
        [weights.along, weights.against, weights.v, counts.along, counts.against]
    )
    along, against, v, n_along, n_against = names
    net = [
        n * a - m * b
        for a, b, n, m in zip(along, against, n_along, n_against, strict=True)
    ]
    moment = [(n + m) * x for x, n, m in zip(v, n_along, n_against, strict=True)]
    return net, moment


def with_either_v(step):
    """The step, and that with the v that is tried next."""
    yield step
    try:
        layout = step.factor.moments.layout
        yield Step._with(step.part, step.weights.flatter(), layout)
    except NotPositive:
        return


def assert_is_true(step, rows):
    """What a step proves with either v holds in fractions; and no more is said."""
    each = [(one._proves(), is_overlap(one, rows)) for one in with_either_v(step)]
    assert all(holds for proves, holds in each if proves)
    assert step.is_proof() == any(proves for proves, _ in each)
    return any(holds for _, holds in each)


def is_overlap(step, rows):
    """Whether the exact weights of a step's point are positive, copy by copy."""
    weights = step.weights
    net, moment = exact_sums(step, rows)
    r = [dot(column, net) for column in zip(*rows, strict=True)]
    q = solved(exact_moments(rows, moment), r)
    if q is None:
        return False
    v, along, against = fractions_of([weights.v, weights.along, weights.against])
    for i, row in enumerate(rows):
        move = v[i] * dot(row, q)
        if weights.counts.along[i] and not along[i] - move > 0:
            return False
        if weights.counts.against[i] and not against[i] + move > 0:
            return False
    return True


@given(SEEDS)
def test_products_residual_and_lengths_are_within_their_bounds(seed):
    made = random_step(seed)
    if made is None:
        return
    step, rows, rng = made
    q = step.q * (1 + np.ldexp(rng.standard_normal(step.q.size), -rng.integers(0, 60)))
    residual = overlap._Residual.of(step.part, step.weights, q)
    (exact_q,) = fractions_of([q])
    moves = [dot(row, exact_q) for row in rows]
    for computed, error, exact in zip(
        residual.products, residual.errors, moves, strict=True
    ):
        assert abs(Fraction(float(computed)) - exact) <= Fraction(float(error))
    net, moment = exact_sums(step, rows)
    u = [a - b * t for a, b, t in zip(net, moment, moves, strict=True)]
    e = [dot(column, u) for column in zip(*rows, strict=True)]
    for computed, doubt, exact in zip(residual.e, residual.doubt, e, strict=True):
        assert abs(Fraction(float(computed)) - exact) <= Fraction(float(doubt))
    units = [Fraction(2) ** -int(t) for t in step.factor.moments.exponents]
    norm = Fraction(residual.norm(step.factor.moments))
    assert sum((x * t) ** 2 for x, t in zip(e, units, strict=True)) <= norm**2
    for row, length in zip(rows, step._lengths, strict=True):
        exact = sum((x * t) ** 2 for x, t in zip(row, units, strict=True))
        assert exact <= Fraction(float(length)) ** 2


@settings(max_examples=150)
@given(SEEDS)
def test_what_is_proved_is_true_in_fractions(seed):
    made = random_step(seed)
    if made is not None:
        assert_is_true(*made[:2])


@settings(max_examples=150)
@given(SEEDS)
def test_points_near_the_edge_prove_what_is_true_alone(seed):
    # The weights of rows that one number moves from overlap to separation.
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(3, 9)), int(rng.integers(1, 4))
    A = rng.standard_normal((n, k))
    u = rng.standard_normal(k)
    A -= np.outer(A @ u, u) / (u @ u)  # all rows on a plane, about
    A += np.outer(rng.standard_normal(n) * np.ldexp(1.0, -int(rng.integers(0, 50))), u)
    part = part_of(A, rng)
    rows = scaled_fractions(A, part.exponents)
    z = np.zeros(k)
    counts = Counts(np.ones(n), np.zeros(n))
    for _ in range(6):
        try:
            step = Step.at(part, part.products(z), counts, Layout.of(part))
        except NotPositive:
            return
        assert_is_true(step, rows)
        z = z + step.q


@given(SEEDS)
def test_a_small_newton_decrement_is_a_proof(seed):
    # That it is below p^2 / v on every row is enough: docs/theory.rst.
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(4, 30)), int(rng.integers(1, 4))
    part = part_of(rng.standard_normal((n, k)), rng)
    counts = Counts(np.ones(n), np.zeros(n))
    products = np.zeros(n)
    for _ in range(12):
        try:
            step = Step.at(part, products, counts, Layout.of(part))
        except NotPositive:
            return
        decrement = step.weights.net @ step.products  # squared
        if decrement < 0.999 * (step.weights.along**2 / step.weights.v).min():
            assert step.shares.max() < 1
            assert step.is_proof()
        products = products + step.products


def test_most_random_overlapping_rows_are_proved():
    n_proved = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((30, 3))
        part = part_of(A, rng)
        counts = Counts(np.ones(30), np.zeros(30))
        step = Step.at(part, np.zeros(30), counts, Layout.of(part))
        rows = scaled_fractions(A, part.exponents)
        assert step.is_proof() == assert_is_true(step, rows)
        n_proved += step.is_proof()
    assert n_proved > 20


@given(SEEDS)
def test_weights_are_positive_and_those_of_the_loss(seed):
    rng = np.random.default_rng(seed)
    products = np.append(
        rng.standard_normal(5) * 30, [0.0, 800.0, -800.0, np.inf, -np.inf]
    )
    weights = Weights.at(products, random_counts(rng, products.size))
    for values in (weights.along, weights.against, weights.v):
        assert (values >= SMALLEST_WEIGHT).all()
        assert (values <= 1.0).all()
    t = products[np.abs(products) < 1e3]
    weights_near = Weights.at(t, weights.counts.of(np.arange(t.size)))
    along, against = weights_near.along, weights_near.against
    assert np.allclose(against - along, t / np.sqrt(1 + t**2), rtol=1e-12)
    # In the tail too: their product is a quarter of 1 / (1 + t^2).
    assert np.allclose(along * against, 0.25 / (1 + t**2), rtol=1e-12, atol=0)
    assert np.allclose(weights_near.v, 4 * (along * against) ** 1.5, rtol=1e-12, atol=0)
    assert np.allclose(
        weights.size,
        weights.counts.along * weights.along + weights.counts.against * weights.against,
    )


def test_the_loss_counts_every_copy():
    counts = Counts(np.array([2.0, 0.0]), np.array([0.0, 3.0])).of(np.array([0, 1]))
    t = np.array([0.5, -2.0])
    want = 2 * (np.sqrt(1.25) - 0.5) / 2 + 3 * (np.sqrt(5.0) - 2.0) / 2
    still = np.zeros(2)
    assert counts.loss_and_slope(t, still, 1.0) == (pytest.approx(want), 0.0)
    # What it falls by is the weights' sum over the rows, where they have gone.
    move = np.array([-0.25, 1.0])
    loss, slope = counts.loss_and_slope(t - 3.0 * move, move, 3.0)
    assert loss == pytest.approx(want)
    assert slope == pytest.approx(Weights.at(t, counts).net @ move)


def weights_of(along, against, counts):
    n = len(along)
    return Weights(
        np.array(along),
        np.array(against),
        np.full(n, 0.25),
        Counts(*map(np.array, counts)),
    )


@pytest.mark.parametrize(
    ("counts", "least", "most", "is_allowed"),
    [
        ((1.0, 0.0), -100.0, 1.999, True),
        ((1.0, 0.0), -100.0, 2.0, False),
        ((0.0, 1.0), -1.999, 100.0, True),
        ((0.0, 1.0), -2.0, 100.0, False),
        ((1.0, 1.0), -1.999, 1.999, True),
        ((1.0, 1.0), -2.1, 1.999, False),
        ((1.0, 1.0), -1.999, 2.1, False),
        ((1.0, 0.0), -1.0, np.nan, False),
        ((1.0, 0.0), -1.0, np.inf, False),
        ((0.0, 1.0), np.nan, 1.0, False),
    ],
)
def test_weights_allow_steps_up_to_what_they_are(counts, least, most, is_allowed):
    weights = weights_of([0.5], [0.5], ([counts[0]], [counts[1]]))
    allowed = weights.allow(np.array([least]), np.array([most]))
    assert allowed.tolist() == [is_allowed]


def test_the_shares_look_at_the_sides_that_stand():
    weights = weights_of([0.5] * 3, [0.5] * 3, ([1.0, 0, 1], [0.0, 1, 1]))
    assert weights.shares(np.array([1.0, 1.0, 0.0])).tolist() == [0.5, -0.5, 0.0]
    assert weights.shares(np.array([-1.0, -1.0, -1.5])).tolist() == [-0.5, 0.5, 0.75]
    assert weights.shares(np.array([-1.0, 1.0, 0.0])).tolist() == [-0.5, -0.5, 0.0]


def test_no_proof_without_an_eigenvalue(monkeypatch):
    part = part_of(np.array([[1.0], [-1.0]]))
    counts = Counts(np.ones(2), np.zeros(2))
    step = Step.at(part, np.zeros(2), counts, Layout.of(part))
    assert step.is_proof()
    monkeypatch.setattr(overlap, "MOST_REFINEMENTS", 0)
    assert not step.is_proof()
    monkeypatch.undo()
    with monkeypatch.context() as patch:
        patch.setattr(type(step.factor), "least_eigenvalue", 0.0)
        assert not step.is_proof()

    def refused(*_):
        raise NotPositive

    monkeypatch.setattr(overlap, "factored", refused)
    assert step.is_proof()  # by the factor of the step itself
    monkeypatch.setattr(type(step.factor), "least_eigenvalue", 0.0)
    assert not step.is_proof()


def test_a_poor_solution_is_improved(monkeypatch):
    rng = np.random.default_rng(5)
    A = rng.standard_normal((40, 3))
    part = part_of(A)
    counts = Counts(np.ones(40), np.zeros(40))
    step = Step.at(part, np.zeros(40), counts, Layout.of(part))
    poor = Step(step.part, step.weights, step.factor, step.q + 1e3)
    assert step.is_proof()
    assert poor.is_proof()
    separable = part_of(np.abs(A) + 1.0)
    step = Step.at(separable, np.zeros(40), counts, Layout.of(separable))
    assert not step.is_proof()


def test_dependent_columns_have_no_step():
    A = np.array([[1.0, 1.0], [-1.0, -1.0]])
    part, counts = part_of(A), Counts(np.ones(2), np.zeros(2))
    layout = Layout.of(part)
    with pytest.raises(NotPositive):
        Step.at(part, np.zeros(2), counts, layout)


@given(st.integers(0, 10**8))
def test_gamma_is_what_it_says(n):
    u = Fraction(1, 2**53)
    exact = n * u / (1 - n * u)
    assert abs(Fraction(gamma(n)) - exact) <= 4 * Fraction(UNIT_ROUNDOFF) * exact
    # So one rounding more covers what gamma loses in doubles.
    assert Fraction(gamma(n + 1)) >= exact


def test_the_judge_of_weights_tells_overlap_from_separation():
    one = [Fraction(1, 2)] * 2
    rows = [[Fraction(1)], [Fraction(-1)]]
    assert overlap_by_weights(rows, one, [Fraction(1, 4)] * 2)
    assert not overlap_by_weights([[Fraction(1)]] * 2, one, [Fraction(1, 4)] * 2)


def test_weights_and_loss_do_not_overflow_where_squares_do():
    products = np.array([-1e200, -1e160, -3.0, 0.0, 4.0, 1e160])
    weights = Weights.at(products, Counts(np.ones(6), np.zeros(6)))
    assert weights.along[:2].tolist() == [1.0, 1.0]
    assert weights.along[3] == 0.5
    assert weights.along[5] == SMALLEST_WEIGHT
    counts = Counts(np.ones(3), np.zeros(3))
    assert counts.loss_and_slope(products[1:4], np.zeros(3), 1.0)[0] == 1e160
    want = sum((np.hypot(1.0, t) - t) / 2 for t in (-3.0, 0.0, 4.0))
    loss, _ = counts.loss_and_slope(products[2:5], np.zeros(3), 1.0)
    assert loss == pytest.approx(want, rel=1e-14)
