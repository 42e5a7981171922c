"""Settings no run can obey are refused, and no run claims what it did not reach."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.perceptrons.methods import BY_MISTAKES, IN_ROUNDS
from lab.perceptrons.planted import planted
from linsep import perceptrons
from linsep.input import InputError
from linsep.perceptrons import (
    AveragedPerceptron,
    BalancedWinnow,
    KernelPerceptron,
    Maxover,
    Minover,
    MirrorProx,
    NesterovMomentum,
    Optimistic,
    Perceptron,
    SecondOrderPerceptron,
    SmoothPerceptron,
    VonNeumann,
    VotedPerceptron,
    Winnow,
)

MISTAKE_DRIVEN = [*BY_MISTAKES, Winnow]
CAPS = [
    *(
        (method, cap)
        for method in MISTAKE_DRIVEN
        for cap in ("max_updates", "max_passes")
    ),
    *((method, "max_updates") for method in (Minover, Maxover)),
    *((method, "max_rounds") for method in IN_ROUNDS),
]
X, Y = [[0.0], [0.5], [1.0]], [0, 1, 0]  # not separable
METHODS = {*MISTAKE_DRIVEN, *IN_ROUNDS, Minover, Maxover}


def test_every_method_is_tested_here():
    named = {getattr(perceptrons, name) for name in perceptrons.__all__}
    bases = {perceptrons.DrivenByMistakes, perceptrons.PlayedInRounds}
    assert {method for method in named if hasattr(method, "run")} - bases == METHODS


@pytest.mark.parametrize("method", sorted(METHODS, key=lambda method: method.__name__))
def test_the_old_name_of_run_warns_and_runs(method):
    rows, labels = [[0.0], [1.0]], [0, 1]
    with pytest.warns(DeprecationWarning, match=f"{method.__name__}.fit is now"):
        old = method().fit(rows, labels)
    assert repr(old) == repr(method().run(rows, labels))


def test_the_old_name_of_optimistic_warns_and_is_the_same():
    with pytest.warns(DeprecationWarning, match="is now Optimistic"):
        old = perceptrons.OptimisticPerceptron
    assert old is perceptrons.Optimistic
    with pytest.raises(AttributeError, match="no attribute 'Pessimistic'"):
        perceptrons.Pessimistic  # noqa: B018


@pytest.mark.parametrize(("method", "cap"), CAPS)
@pytest.mark.parametrize("value", [2.5, 2.0, 0, -1, "3", True, math.nan, math.inf, [2]])
def test_caps_must_be_integers(method, cap, value):
    match = f"{cap} must be an integer of at least 1"
    with pytest.raises(InputError, match=match):
        method(**{cap: value}).run(X, Y)


@pytest.mark.parametrize(("method", "cap"), CAPS)
def test_caps_are_kept_and_none_is_taken_only_where_documented(method, cap):
    other = "max_updates" if cap == "max_passes" else "max_passes"
    more = {other: None} if method in MISTAKE_DRIVEN else {}
    counted = {"max_passes": "n_passes"}.get(cap, "n_updates")
    for value in (1, 3, np.int32(3)):
        result = method(**{cap: value}, **more).run(X, Y)
        assert result.stopped == cap
        assert getattr(result, counted) == value
    if method in MISTAKE_DRIVEN:
        assert method(**{cap: None}, **{other: 2}).run(X, Y).stopped == other
        with pytest.raises(InputError, match="None takes the cap away"):
            method(**{cap: 0}).run(X, Y)
    else:
        with pytest.raises(InputError) as refusal:
            method(**{cap: None}).run(X, Y)
        assert "None takes" not in str(refusal.value)


def test_caps_beyond_machine_integers_are_caps():
    assert Perceptron(max_passes=10**30, max_updates=10**30).run([[0.0], [1.0]], [0, 1])


HUGE = 10**400
NUMBERS = [
    (Winnow, "promotion"),
    (Winnow, "threshold"),
    (BalancedWinnow, "learning_rate"),
    (SecondOrderPerceptron, "ridge"),
    (Optimistic, "learning_rate"),
    (Minover, "target"),
    (Maxover, "stability"),
]


@pytest.mark.parametrize(("method", "name"), NUMBERS)
@pytest.mark.parametrize(
    "value",
    [-1.0, math.inf, math.nan, "1", [1.0], True, HUGE],
    ids=lambda v: repr(v)[:9],
)
def test_numbers_must_be_finite_and_in_range(method, name, value):
    with pytest.raises(InputError, match=f"{name} must be"):
        method(**{name: value}).run(X, Y)


@pytest.mark.parametrize(
    ("kernel", "match"),
    [
        (KernelPerceptron("polynomial", degree=1.5), "degree must be an integer"),
        (KernelPerceptron("polynomial", degree=0), "degree must be an integer"),
        (KernelPerceptron("polynomial", degree=None), "degree must be an integer"),
        (KernelPerceptron("rbf", gamma=math.inf), "gamma must be a positive number"),
        (KernelPerceptron("rbf", gamma=0.0), "gamma must be a positive number"),
        (KernelPerceptron("rbf", gamma="1"), "gamma must be a positive number"),
        (KernelPerceptron("polynomial", degree=10**4), "must return finite numbers"),
        (KernelPerceptron(lambda U, V: U @ V.T + math.nan), "return finite numbers"),
        (KernelPerceptron(lambda U, V: U @ V.T * math.inf), "return finite numbers"),
        (
            KernelPerceptron(lambda U, V: np.full((len(U), len(V)), -1e308)),
            "left the range of double precision",
        ),
        (KernelPerceptron(lambda U, V: (U @ V.T)[0]), r"shape \(3, 3\).*got \(3,\)"),
        (KernelPerceptron(lambda U, V: 1.0), r"shape \(3, 3\).*got \(\)"),
        (KernelPerceptron(lambda U, V: None), "must return shape"),
        (KernelPerceptron(lambda U, V: [["a"]]), "return an array of numbers"),
    ],
)
def test_kernels_must_be_kernels(kernel, match):
    with pytest.raises(InputError, match=match):
        kernel.run([[0.5], [1.0], [1.5]], [0, 1, 0])


def test_a_kernel_that_breaks_on_new_rows_says_so():
    result = KernelPerceptron("polynomial", degree=20).run([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="return finite numbers"):
        result.predict([[1e100]])


def test_weights_beyond_double_precision_are_an_error_and_no_separation():
    steep = Winnow(promotion=1e300, threshold=1e308)
    with pytest.raises(InputError, match="left the range of double precision"):
        steep.run([[1.0, 0.0], [1.0, 1.0]], [1, 1])
    with pytest.raises(InputError, match="left the range of double precision"):
        BalancedWinnow(1e308).run([[1e10], [2e10]], [0, 1])
    for rate in (1e300, 1e-300):
        with pytest.raises(InputError, match=r"learning_rate times r\^2 must be"):
            Optimistic(rate).run([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("seed", [-1, 0.5, "a", [1]])
@pytest.mark.parametrize("method", MISTAKE_DRIVEN)
def test_seeds_must_be_non_negative_integers(method, seed):
    with pytest.raises(InputError, match="random_state must be"):
        method(random_state=seed).run([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    "method",
    [
        BalancedWinnow(1e-300),
        BalancedWinnow(1e300),
        SecondOrderPerceptron(1e300),
        SecondOrderPerceptron(1e-300),
        Winnow(promotion=1 + 1e-9, max_passes=5),
        Winnow(promotion=1e150, max_passes=5),
        KernelPerceptron("rbf", gamma=1e300),
        KernelPerceptron("rbf", gamma=1e-300, max_passes=5),
        Optimistic(1e50, max_rounds=50),
        Optimistic(1e-50, max_rounds=50),
        Minover(1e300, max_updates=5),
        Maxover(1e300, max_updates=5),
        VotedPerceptron(max_passes=100),
        AveragedPerceptron(max_passes=100),
    ],
    ids=str,
)
def test_stopped_says_separated_only_if_separated(method):
    for rows, labels in (([[0.0], [0.5]], [0, 1]), ([[0.1], [0.2], [1.0]], [0, 1, 1])):
        result = method.run(rows, labels)
        if result.stopped == "separated":
            assert result.separated
        if result.separated:
            assert result.predict(rows).tolist() == labels
            assert not result.margin_lower <= 0 if hasattr(result, "coef") else True


@pytest.mark.parametrize("method", [VotedPerceptron, AveragedPerceptron])
def test_a_clean_pass_whose_vote_does_not_separate_is_no_mistakes(method):
    ended = set()
    for seed in range(40):
        rows, labels, _ = planted(seed, 8, 3, 0.02)
        result = method(fit_intercept=False, max_passes=None).run(rows, labels)
        ended.add(result.stopped)
        assert (result.stopped == "separated") == result.separated
    assert ended == {"separated", "no_mistakes"}


# -- the second-order Perceptron far from unit scale ------------------------------


def exact_second_order(A, ridge, passes):
    """Return the rows erred on by the source's rule, in exact arithmetic."""
    A = [[Fraction(float(a)) for a in row] for row in A]
    d = len(A[0])
    M = [[Fraction(ridge) * (i == j) for j in range(d)] for i in range(d)]
    v = [Fraction(0)] * d
    w = [Fraction(0)] * d
    erred = []
    for _ in range(passes):
        clean = True
        for i, row in enumerate(A):
            if sum(a * b for a, b in zip(row, w, strict=True)) <= 0:
                v = [s + a for s, a in zip(v, row, strict=True)]
                M = [[M[j][k] + row[j] * row[k] for k in range(d)] for j in range(d)]
                w = exact_solve(M, v)
                erred.append(i)
                clean = False
        if clean:
            break
    return erred, [float(c) for c in w]


def exact_solve(M, v):
    """Solve ``M w = v`` by elimination over the rationals, M positive definite."""
    rows = [[*line, right] for line, right in zip(M, v, strict=True)]
    d = len(rows)
    for j in range(d):
        rows[j] = [a / rows[j][j] for a in rows[j]]
        for i in range(d):
            if i != j:
                rows[i] = [
                    a - rows[i][j] * b for a, b in zip(rows[i], rows[j], strict=True)
                ]
    return [row[-1] for row in rows]


@given(
    seed=st.integers(0, 2**32 - 1),
    exponent=st.sampled_from([-12, -6, 0, 4, 8, 20, 100]),
    ridge=st.sampled_from([1e-6, 1.0, 1e6]),
)
@settings(max_examples=40)
def test_second_order_is_the_exact_method_at_any_scale(seed, exponent, ridge):
    rows, labels, _ = planted(seed, 8, 3, 0.1, scale=10.0**exponent)
    result = SecondOrderPerceptron(ridge, fit_intercept=False, max_passes=30).run(
        rows, labels
    )
    erred, w = exact_second_order(labels[:, None] * rows, ridge, 30)
    assert result.n_updates == len(erred)
    assert result.separated == (result.stopped == "separated")
    size = 1e-6 * np.abs(w).max()
    np.testing.assert_allclose(result.coef, w, rtol=1e-5, atol=size)


@pytest.mark.parametrize("size", [1e-100, 1e-8, 1.0, 1e8, 1e9, 1e20, 1e100])
def test_second_order_separates_rows_of_any_size(size):
    result = SecondOrderPerceptron().run([[size], [2 * size]], [0, 1])
    assert (result.stopped, result.separated) == ("separated", True) or size < 1e-7
    assert result.predict([[size], [2 * size]]).tolist() == [0, 1] or size < 1e-7
    assert result.stopped != "separated" or result.separated


# -- bounds -----------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan, "1"])
@pytest.mark.parametrize(
    "bound",
    [
        Perceptron.mistake_bound,
        VotedPerceptron.mistake_bound,
        AveragedPerceptron.mistake_bound,
        KernelPerceptron.mistake_bound,
        Minover(1.0).mistake_bound,
        Maxover(0.1).mistake_bound,
        VonNeumann.round_bound,
        lambda radius, margin: BalancedWinnow.mistake_bound(3, radius, margin),
        lambda radius, margin: Optimistic.round_bound(3, radius, margin),
        lambda radius, margin: SmoothPerceptron.round_bound(3, radius, margin),
        lambda radius, margin: MirrorProx.round_bound(3, radius, margin),
        lambda radius, margin: NesterovMomentum.round_bound(3, radius, margin),
    ],
)
def test_bounds_ask_for_positive_numbers(bound, bad):
    assert bound(1.0, 0.5) > 0
    for arguments in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(InputError, match="must be"):
            bound(*arguments)


@pytest.mark.parametrize(
    "method", [Optimistic, SmoothPerceptron, MirrorProx, NesterovMomentum]
)
def test_round_bounds_ask_for_a_row(method):
    with pytest.raises(InputError, match="n must be an integer of at least 1"):
        method.round_bound(0, 1.0, 0.5)
