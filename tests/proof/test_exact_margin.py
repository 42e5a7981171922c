"""The largest margin in fractions, from good and from bad guesses of its support."""

import math
import sys
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from judges import dot, fractions_of, z3_separable
from linsep.proof.exact import exact_values
from linsep.proof.largest_margin import (
    _admit,
    _begins,
    _Support,
    exact_lower,
    exact_margin,
    exact_upper,
    root_above,
    root_below,
    square_root,
)
from linsep.rows import DenseRows


def signed(X, signs, free):
    rows = DenseRows(np.array(X, dtype=float), np.array(signs, dtype=np.int8), free)
    return rows.take(np.arange(rows.shape[0]))


def solved(A, free, support, should_stop=lambda: False):
    """Settle the margin of signed rows, every row looked at in fractions."""

    def most_violated(weights, denominator):
        values = exact_values(A, weights, Fraction(1, denominator))
        worst = min(range(len(values)), key=values.__getitem__)
        return None if values[worst] >= 1 else (worst, values[worst])

    guess = np.array(support, dtype=np.intp)
    return exact_margin(lambda index: A[index], guess, free, most_violated, should_stop)


def assert_optimal(A, free, answer):
    """Karush, Kuhn and Tucker: w is the sum of its rows, and every row is at 1."""
    rows = fractions_of(A)
    w = [Fraction(v, answer.denominator) for v in answer.weights]
    assert all(m > 0 for m in answer.multipliers)
    assert list(answer.support) == sorted(set(answer.support))
    pairs = list(zip(answer.multipliers, answer.support, strict=True))
    made = [sum(m * rows[i][j] for m, i in pairs) for j in range(len(w))]
    if free:  # the signs balance, and the offset is free
        assert made.pop() == 0
        assert made == w[:-1]
    else:
        assert made == w
    assert min(dot(row, w) for row in rows) >= 1
    assert all(dot(rows[i], w) == 1 for i in answer.support)
    assert answer.squared == 1 / sum(answer.multipliers)
    assert sum(v * v for v in made) * answer.squared == 1


points = st.integers(1, 3).flatmap(
    lambda d: st.lists(
        st.tuples(
            st.lists(st.integers(-4, 4), min_size=d, max_size=d),
            st.sampled_from([-1, 1]),
        ),
        min_size=2,
        max_size=9,
    )
)


@given(points, st.booleans(), st.data())
def test_any_guess_of_the_support_leads_to_the_optimum(points, free, data):
    X, signs = zip(*points, strict=True)
    A = signed(X, signs, free)
    size = data.draw(st.integers(1, len(A)))
    guess = data.draw(st.permutations(range(len(A))))[:size]
    if free:  # one row of each class is asked of the caller
        for sign in (-1, 1):
            of_sign = [i for i, s in enumerate(signs) if s == sign]
            if not of_sign:
                return
            guess += [i for i in of_sign[:1] if i not in guess]
    answer = solved(A, free, guess)
    if answer is not None:
        assert_optimal(A, free, answer)
    else:
        assert not z3_separable(A.tolist())


def test_a_row_of_the_guess_that_carries_nothing_is_dropped():
    A = signed([[0.0], [9.0], [2.0]], [-1, 1, 1], True)
    answer = solved(A, True, [0, 1, 2])
    assert answer.support == (0, 2)
    assert answer.squared == 1
    assert_optimal(A, True, answer)


def test_steps_pass_through_rows_that_block():
    # From the two far points the near ones enter, and the far ones must leave.
    X = [[4.0, 8.0], [-4.0, -8.0], [1.0, 0.5], [1.0, -0.5], [-1.0, 1.0], [-1.0, -1.0]]
    A = signed(X, [1, -1, 1, 1, -1, -1], True)
    answer = solved(A, True, [0, 1])
    assert_optimal(A, True, answer)
    assert answer.squared == 1
    assert not {0, 1} & set(answer.support)


def test_a_guess_that_leads_nowhere_is_begun_again():
    # With all three active, the multipliers of the second class turn negative.
    A = signed([[0.0], [-1.0], [1.0]], [-1, 1, -1], True)
    answer = solved(A, True, [2, 1, 0])
    assert_optimal(A, True, answer)
    assert answer.squared == Fraction(1, 4)


def test_a_row_of_the_guess_that_pulls_back_a_little_is_dropped():
    # With all three active, the third has a multiplier of -1/3.
    A = signed([[8.0, 0.0, 1.0], [0.0, 8.0, 1.0], [16.0, 16.0, 1.0]], [1] * 3, False)
    answer = solved(A, False, [0, 1, 2])
    assert_optimal(A, False, answer)
    assert answer.support == (0, 1)


def test_a_guess_that_loses_a_class_is_begun_again_with_a_row_of_each():
    X = [[3.0, -2.0], [-2.0, 1.0], [0.0, 1.0], [2.0, -1.0]]
    A = signed(X, [-1, -1, 1, -1], True)
    answer = solved(A, True, [1, 0, 3, 2])
    assert_optimal(A, True, answer)
    assert answer.squared == Fraction(1, 5)


def test_rows_that_carry_nothing_are_no_beginning_and_do_not_enter():
    A = signed([[0.0], [0.0], [2.0], [-1.0]], [1, 1, 1, 1], False)
    state = _Support(lambda index: A[index], False)
    assert state.row(0).features == [0]
    assert _begins(state, [0, 1]) is False
    assert _begins(state, [2]) is True
    assert _admit(state, 3, lambda: False) is False
    assert _admit(state, 3, lambda: True) is False
    A = signed([[1.0], [4.0]], [1, 1], True)
    assert _begins(_Support(lambda index: A[index], True), [0, 1]) is False


def test_rows_that_cannot_be_separated_have_no_margin():
    overlap = signed([[0.0], [2.0], [1.0], [3.0]], [-1, -1, 1, 1], True)
    assert solved(overlap, True, [0, 3]) is None
    assert solved(signed([[1.0], [-1.0]], [1, 1], False), False, [0]) is None
    assert solved(signed([[1.0], [2.0]], [1, 1], True), True, [0, 1]) is None
    assert solved(signed([[0.0]], [1], False), False, [0]) is None


def test_a_stop_gives_no_answer_at_any_time():
    A = signed([[0.0, 8.0], [0.0, -8.0], [1.0, 0.0], [-1.0, 0.0]], [1, -1, 1, -1], True)
    for patience in range(4):
        left = iter([False] * patience)
        answer = solved(A, True, [0, 1], lambda left=left: next(left, True))
        assert answer is None or assert_optimal(A, True, answer) is None
        assert patience > 0 or answer is None


def test_upper_bound_needs_both_classes():
    rows = signed([[1.0], [2.0], [0.0]], [1, 1, -1], True)
    assert exact_upper(rows, np.array([1.0, 1.0, 0.0]), True) == math.inf
    assert exact_upper(rows, np.array([1.0, 0.0, 1.0]), True) == 0.5
    assert exact_upper(rows[:2, :1], np.array([1.0, 0.0]), False) == 1.0
    # The class is that of the last column, whatever stands in the others.
    rows = signed([[-1.0, -1.0], [2.0, 1.0], [0.0, 1.0]], [1, 1, -1], True)
    upper = exact_upper(rows, np.array([1.0, 0.0, 1.0]), True)
    assert Fraction(5, 4) <= Fraction(upper) ** 2 <= Fraction(5 + 2**-49) / 4


def test_upper_bound_of_weights_that_do_not_balance():
    rows = signed([[1.0], [4.0], [0.0]], [1, 1, -1], True)
    # Both classes are given a half: (3/4 * 1 + 1/4 * 4) / 2.
    assert exact_upper(rows, np.array([3.0, 1.0, 9.0]), True) == 0.875
    assert exact_upper(rows[:, :1], np.array([3.0, 1.0, 4.0]), False) == 0.875
    assert exact_upper(rows[:, :1], np.array([3.0, 1.0, 0.0]), False) == 1.75


fractions = st.one_of(
    st.fractions(min_value=0, max_denominator=10**6),
    st.tuples(st.integers(1, 10**30), st.integers(-2200, 2200)).map(
        lambda pair: Fraction(pair[0]) * Fraction(2) ** pair[1]
    ),
    st.floats(0, allow_infinity=False, allow_nan=False).map(lambda v: Fraction(v) ** 2),
)


@given(fractions)
def test_roots_are_the_nearest_doubles_on_either_side(value):
    above, below = root_above(value), root_below(value)
    assert above == math.inf or Fraction(above) ** 2 >= value
    assert Fraction(below) ** 2 <= value
    if above == 0:
        assert value == 0
    else:
        assert Fraction(math.nextafter(above, 0.0)) ** 2 < value
    beyond = math.nextafter(below, math.inf)
    assert beyond == math.inf or Fraction(beyond) ** 2 > value
    if 1e-280 < below < 1e308:
        assert abs(square_root(value) / below - 1) < 1e-15


def test_roots_at_the_ends_of_the_doubles():
    largest = Fraction(sys.float_info.max)
    assert root_above(largest**2) == root_below(largest**2) == largest
    assert root_above(largest**2 + 1) == math.inf
    assert root_below(Fraction(4) ** 2000) == largest
    assert root_above(Fraction(5e-324) ** 2) == root_below(Fraction(5e-324) ** 2)
    assert root_above(Fraction(0)) == root_below(Fraction(0)) == 0.0


@given(st.floats(5e-324, sys.float_info.max, exclude_max=True), st.data())
def test_roots_just_beside_a_square_of_a_double(root, data):
    # Exact squares, and what differs from them by less than doubles of them can tell.
    square = Fraction(root) ** 2
    by = square / (1 << data.draw(st.integers(54, 200)))
    assert root_above(square) == root_below(square) == root
    assert root_below(square + by) == root == root_above(square - by)
    assert root_above(square + by) == math.nextafter(root, math.inf)
    assert root_below(square - by) == math.nextafter(root, 0.0)


def test_lower_bound_is_rounded_down():
    coef = np.array([3.0, 4.0])
    assert exact_lower(Fraction(10), coef) == 2.0
    assert Fraction(exact_lower(Fraction(1), coef)) <= Fraction(1, 5)
