"""The last rung: exact, and it always ends."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judges import assert_minimal_conflict, assert_separates, z3_separable
from linsep.proof import linear, simplex
from linsep.proof.answers import Conflict, Separator
from linsep.proof.exact import IntegerRows


def decide(A, **options):
    return simplex.decide(
        IntegerRows.from_floats(np.asarray(A, dtype=float)), **options
    )


def assert_proved(A, answer):
    if isinstance(answer, Separator):
        assert_separates(A, answer.w)
    else:
        assert_minimal_conflict(A, answer.rows, answer.weights)


small = st.tuples(st.integers(1, 40), st.integers(1, 8)).flatmap(
    lambda shape: st.lists(
        st.lists(st.integers(-3, 3), min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(lambda rows: np.array(rows, dtype=float))
)
magnitudes = st.one_of(
    st.floats(1e-300, 1e300),
    st.floats(5e-324, 1e-307),
    st.just(0.0),
    st.integers(1, 3).map(float),
)
signed = st.tuples(st.sampled_from([-1.0, 1.0]), magnitudes).map(lambda t: t[0] * t[1])
wild = st.tuples(st.integers(1, 8), st.integers(1, 3)).flatmap(
    lambda shape: st.lists(
        st.lists(signed, min_size=shape[1], max_size=shape[1]),
        min_size=shape[0],
        max_size=shape[0],
    ).map(np.array)
)


@given(small)
def test_small_integers_against_z3(A):
    answer = decide(A)
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@given(small)
def test_exact_pivots_need_no_good_start(A):
    # Without the floating-point guess every pivot is the exact method's own.
    search = simplex.Search.start(IntegerRows.from_floats(A), (), attempt=0)
    answer = search.pivot()
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@given(wild)
def test_magnitudes_from_the_least_subnormal_up_against_z3(A):
    answer = decide(A)
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@given(wild, st.integers(0, 7), st.integers(0, 2), st.booleans())
def test_one_unit_in_the_last_place_against_z3(A, row, column, up):
    # A row opposite to another one, but for the last bit of one entry.
    row, column = row % len(A), column % A.shape[1]
    opposite = -A[row]
    opposite[column] = np.nextafter(opposite[column], np.inf if up else -np.inf)
    A = np.vstack([A, opposite])
    answer = decide(A)
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@given(st.integers(1, 4), st.data())
def test_ties_of_the_ratio_test_do_not_cycle(r, data):
    # Rows that are small multiples of the costs the method begins with: every ratio
    # ties with others, so that costs of zero and the first of the violated rows decide.
    cost = np.random.default_rng(1).integers(1 << 20, 1 << 21, r)
    multiple = st.lists(st.integers(-2, 2), min_size=r, max_size=r)
    multiples = np.array(data.draw(st.lists(multiple, max_size=8)), dtype=int)
    A = np.vstack([np.eye(r), multiples.reshape(-1, r) * cost])
    search = simplex.Search.start(IntegerRows.from_floats(A), range(r), attempt=0)
    answer = search.pivot()
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@pytest.mark.parametrize(
    "multiples",
    [
        [[2, -1, 2, -1], [-2, 1, 0, -2], [2, -2, 2, -1], [-1, -1, 0, 1]],
        [[-2, -2, 2, 2], [0, 2, -2, 0], [2, 2, 0, 2], [2, 0, 2, -2], [1, 0, 0, 2],
         [2, 1, 1, -2], [-1, 2, -1, 0]],
    ],
)  # fmt: skip
def test_after_a_tie_the_first_violated_row_enters(multiples, monkeypatch):
    # As above, where a pivot that costs nothing is followed by another one.
    cost = np.random.default_rng(1).integers(1 << 20, 1 << 21, 4)
    A = np.vstack([np.eye(4), np.array(multiples) * cost])
    search = simplex.Search.start(IntegerRows.from_floats(A), range(4), attempt=0)
    ties, choose = [], search._choose
    search._choose = lambda products, denominator, tie: (
        ties.append(tie) or choose(products, denominator, tie)
    )
    expected, updated = [False], simplex._updated
    monkeypatch.setattr(
        simplex,
        "_updated",
        lambda cost, u, leaving, scale: (
            expected.append(cost[leaving] == 0) or updated(cost, u, leaving, scale)
        ),
    )
    answer = search.pivot()
    assert True in ties
    assert ties == expected[: len(ties)]
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


@given(small)
def test_primes_that_hide_part_of_the_rank_cost_time_only(A):
    # Modulo 2 and 3 many independent rows look dependent; the checks must notice.
    original = linear._PRIMES
    linear._PRIMES = (2, 3, *original)
    try:
        answer = decide(A)
    finally:
        linear._PRIMES = original
    assert isinstance(answer, Separator) == z3_separable(A.tolist())
    assert_proved(A, answer)


def test_a_basis_that_is_singular_in_doubles_is_decided_without_a_guess():
    A = np.array([[2.0**60, 2.0**60], [1.0, 1.0 + 2.0**-52], [-1.0, -1.0]])
    integers = IntegerRows(
        np.array([[1 << 70, 1 << 70], [1 << 70, (1 << 70) + 1]], dtype=object),
        np.zeros(2, dtype=np.int64),
    )
    search = simplex.Search.start(integers, (), attempt=0)
    assert search.guess() is False
    answer = search.pivot()
    assert isinstance(answer, Separator)
    assert (integers.products(answer.w) > 0).all()
    assert_proved(A, decide(A))


def test_a_basis_of_few_digits_is_decided_without_a_guess():
    A = np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-50], [-1.0, -1.0 + 2.0**-51]])
    search = simplex.Search.start(IntegerRows.from_floats(A), (), attempt=0)
    assert search.guess() is False
    assert isinstance(decide(A), Separator) == z3_separable(A.tolist())
    assert_proved(A, decide(A))


def test_a_prime_that_hides_a_column_is_replaced_by_another(monkeypatch):
    # Modulo 2 the rows are all (1, 1), and rows 0 and 2 cancel in either column alone.
    A = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 3.0]])
    monkeypatch.setattr(linear, "_PRIMES", (2, *linear._PRIMES))
    search = simplex.Search.start(IntegerRows.from_floats(A), (), attempt=0)
    assert len(search.columns) == 1
    assert not simplex.holds(search.rows, search.pivot())
    assert_separates(A, decide(A).w)


def test_primes_are_tried_until_one_shows_the_rank(monkeypatch):
    # Modulo 2 and modulo 3 all rows are multiples of (1, 1).
    monkeypatch.setattr(linear, "_PRIMES", (2, 3))
    A = np.array([[1.0, 1.0], [1.0, -5.0], [-1.0, 11.0]])
    assert_separates(A, decide(A).w)
    A[2] = [-2.0, 4.0]
    assert_minimal_conflict(A, *vars(decide(A)).values())


def test_a_guess_cut_short_costs_time_only(monkeypatch):
    monkeypatch.setattr(simplex, "_PIVOTS_A_ROW", 0)
    A = np.random.default_rng(5).integers(-9, 10, (40, 6)).astype(float)
    assert_proved(A, decide(A))
    planted = A[A[:, 0] > 0]
    assert_separates(planted, decide(planted).w)


def test_the_guess_gives_up_where_all_digits_are_lost():
    # Row 2 enters with a pivot of 1e-13, and the tableau grows past all digits.
    tableau = np.array([[1.0, 0.0], [0.0, 1.0], [1e-13, -1e-14], [1.0, 1.0]])
    basis, row = simplex.guess_basis(tableau, [0, 1], simplex.never)
    assert row is None
    assert sorted(basis) != [0, 1]


def test_every_boolean_function_of_three_inputs():
    points = np.array(list(itertools.product([0.0, 1.0], repeat=3)))
    X = np.column_stack([points, np.ones(8)])
    separable = 0
    for labels in itertools.product([-1.0, 1.0], repeat=8):
        A = X * np.array(labels)[:, np.newaxis]
        answer = decide(A)
        assert_proved(A, answer)
        separable += isinstance(answer, Separator)
    assert separable == 104


def threshold_count(tables):
    """How many of the functions of four inputs, given as bit masks, are separable."""
    points = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    X = np.column_stack([points, np.ones(16)])
    found = []
    for table in tables:
        signs = np.where((table >> np.arange(16)) & 1, 1.0, -1.0)
        answer = decide(X * signs[:, np.newaxis])
        found.append(isinstance(answer, Separator))
    return np.array(found)


def npn_classes():
    """Each function's class under permuting and negating inputs, and the output."""
    points = np.array(list(itertools.product([0, 1], repeat=4)))
    tables = np.arange(1 << 16)
    bits = (tables[:, np.newaxis] >> np.arange(16)) & 1
    least = tables.copy()
    for order in itertools.permutations(range(4)):
        for flips in points:
            moved = (points[:, order] ^ flips) @ [8, 4, 2, 1]
            image = bits[:, moved] @ (1 << np.arange(16))
            np.minimum(least, np.minimum(image, image ^ 0xFFFF), out=least)
    return np.unique(least, return_counts=True)


def test_one_boolean_function_of_four_inputs_per_class():
    # 222 classes (Muroga); the separable ones hold 1,882 functions (OEIS A000609).
    representatives, sizes = npn_classes()
    assert len(representatives) == 222
    assert sizes[threshold_count(representatives)].sum() == 1882


@pytest.mark.slow
def test_every_boolean_function_of_four_inputs():
    assert threshold_count(range(1 << 16)).sum() == 1882


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_covers_count_of_points_in_general_position(d):
    # 2 sum_k C(N-1, k) of the labellings separate (Cover 1965), here through 0.
    n = 6
    moments = np.arange(1.0, n + 1)[:, np.newaxis] ** np.arange(d)
    count = 0
    for labels in itertools.product([-1.0, 1.0], repeat=n):
        count += isinstance(
            decide(moments * np.array(labels)[:, np.newaxis]), Separator
        )
    choose = [1, 5, 10, 10, 5, 1]
    assert count == 2 * sum(choose[:d])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("m", "d"), [(40, 8), (300, 20), (200, 60)])
def test_random_labels_are_decided(seed, m, d):
    rng = np.random.default_rng(seed)
    A = rng.integers(-9, 10, size=(m, d)).astype(float)
    answer = decide(A)
    assert isinstance(answer, Conflict)
    assert len(answer.rows) <= d + 1
    total = A[list(answer.rows)].astype(int).astype(object).T @ np.array(
        answer.weights, dtype=object
    )
    assert not total.any()


def test_a_wrong_guess_costs_time_only(monkeypatch):
    rng = np.random.default_rng(3)
    A = rng.integers(-5, 6, size=(60, 6)).astype(float)
    expected = type(decide(A))

    def misled(table, basis, should_stop):
        return basis, 0  # "the first row conflicts"

    monkeypatch.setattr(simplex, "guess_basis", misled)
    answer = decide(A)
    assert type(answer) is expected
    assert_proved(A, answer)
    monkeypatch.setattr(simplex, "guess_basis", lambda *args: ([0] * 6, None))
    assert_proved(A, decide(A))


def test_columns_far_apart_need_no_exact_change_of_basis():
    # The shared powers of two of the columns are taken out before doubles are used.
    rng = np.random.default_rng(4)
    A = rng.integers(-9, 10, size=(60, 8)) * 2.0 ** np.linspace(-1000, 1000, 8).round()
    search = simplex.Search.start(IntegerRows.from_floats(A), (), attempt=0)
    assert search.guess()
    assert_proved(A, search.pivot(limit=2))
    planted = A * np.where(A[:, :1] < 0, -1.0, 1.0)
    planted[A[:, 0] == 0] = np.abs(planted[A[:, 0] == 0])
    answer = decide(planted)
    assert isinstance(answer, Separator)
    assert_separates(planted, answer.w)


def test_rank_deficient_rows():
    rng = np.random.default_rng(0)
    A = rng.integers(-4, 5, size=(30, 3)) @ rng.integers(-4, 5, size=(3, 9))
    assert_proved(A.astype(float), decide(A))
    planted = A[A @ np.arange(9) > 0]
    answer = decide(planted)
    assert isinstance(answer, Separator)
    assert_separates(planted, answer.w)


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        (np.empty((0, 3)), Separator((0, 0, 0))),
        (np.zeros((2, 2)), Conflict((0,), (1,))),
        (np.empty((2, 0)), Conflict((0,), (1,))),
        (np.array([[-3.0]]), Separator((-1,))),
    ],
)
def test_degenerate_shapes(A, expected):
    assert decide(A) == expected


def test_the_order_given_does_not_change_the_verdict():
    rng = np.random.default_rng(8)
    A = rng.integers(-3, 4, size=(25, 5)).astype(float)
    verdicts = {type(decide(A, order=rng.permutation(25)[:k])) for k in (0, 1, 5, 25)}
    assert len(verdicts) == 1


def test_stopping_returns_nothing_rather_than_a_guess():
    A = np.random.default_rng(0).standard_normal((30, 5))
    assert decide(A, should_stop=lambda: True) is None
    assert simplex.never() is False


def test_the_guess_leaves_few_changes_of_basis_to_integers(monkeypatch):
    changes, updated = [], simplex._updated
    monkeypatch.setattr(
        simplex, "_updated", lambda *of: changes.append(of) or updated(*of)
    )
    A = np.random.default_rng(0).integers(-9, 10, (300, 20)).astype(float)
    assert isinstance(decide(A), Conflict)
    A[:, 0] = 100.0
    assert isinstance(decide(A), Separator)
    assert len(changes) <= 2


def test_costs_after_a_change_of_basis_are_of_the_same_objective():
    # 2 b_0 + 3 b_1 with a = (b_0 + 2 b_1) / 5 in place of b_1: b_0 / 2 + 15 a / 2.
    assert simplex._updated([2, 3], [1, 2], 1, 5) == [1, 15]
    # And with a = (-b_0 + b_1) / 4, in place of b_1: 5 b_0 + 12 a.
    assert simplex._updated([2, 3], [-1, 1], 1, 4) == [5, 12]


def test_only_what_is_true_of_all_columns_holds():
    A = np.array([[1.0, 0.0], [-1.0, 2.0**70]])
    rows = IntegerRows.from_floats(A)
    assert simplex.holds(rows, Separator((1, 1)))
    assert not simplex.holds(rows, Separator((0, 1)))
    assert not simplex.holds(rows, Separator((-1, 1)))
    rows = IntegerRows.from_floats(np.array([[1.0, 2.0], [-0.5, -1.0], [-1.0, -3.0]]))
    assert simplex.holds(rows, Conflict((0, 1), (1, 2)))
    assert not simplex.holds(rows, Conflict((0, 1), (1, 1)))
    assert not simplex.holds(rows, Conflict((0, 2), (1, 1)))


def test_the_rows_of_the_basis_are_at_their_targets():
    A = np.array([[3.0, 1.0], [0.0, 5.0], [1.0, 1.0]])
    search = simplex.Search.start(IntegerRows.from_floats(A), (), attempt=0)
    search.levels = [0, 1, 0]
    # 3 x + y = 1 and 5 y = 2
    assert search._primal() == ([1, 2], [5, 10, 3], 5)
    assert search._coordinates(2) == ([5, 2], 15)


def test_rows_at_one_are_separated_and_rank_zero_needs_no_guess():
    search = simplex.Search.start(IntegerRows.from_floats(np.eye(2)), (), attempt=0)
    search.levels = [0, 0]
    assert search.pivot(limit=1) == Separator((1, 1))
    assert search.guess() is True
    zeros = IntegerRows.from_floats(np.zeros((2, 3)))
    search = simplex.Search.start(zeros, (), attempt=0)
    assert search.guess() is True
    assert search.pivot(limit=1) == Conflict((0,), (1,))


def test_the_row_that_enters_is_the_most_violated_for_its_size():
    search = simplex.Search.start(IntegerRows.from_floats(np.eye(2)), (), attempt=0)
    search.levels = [0, 4]
    assert search._choose([-1, -8], 1, False) == 0
    assert search._choose([-1, -32], 1, False) == 1
    # What the guess named comes first, once, if it is violated; in a tie the first.
    search.entering = 1
    assert search._choose([-1, 8], 1, False) == 0
    assert search._choose([-1, 1], 1, False) == 0
    assert search._choose([-1, 0], 1, False) == 1
    assert search._choose([-1, 0], 1, False) == 0
    assert search._choose([5, 79], 5, True) == 1
    assert search._choose([4, 79], 5, True) == 0


def test_a_conflict_that_the_guess_named_takes_one_solve(monkeypatch):
    rows = IntegerRows.from_floats(np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -2.0]]))
    search = simplex.Search.start(rows, (), attempt=0)
    assert search.guess()
    assert search.entering == 2
    monkeypatch.setattr(
        simplex.Search, "_primal", lambda search: pytest.fail("a hyperplane was sought")
    )
    assert search.pivot(lambda: True) is None
    assert search.pivot() == Conflict((0, 1, 2), (1, 2, 1))


def test_the_guess_ends_at_the_optimal_basis_of_an_easy_problem():
    # a_3 = -a_1 - a_2: the guess names row 2 against the basis of rows 0 and 1.
    coordinates = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]])
    stopped = simplex.guess_basis(coordinates.copy(), [0, 1], lambda: True)
    assert stopped == ([0, 1], None)
    basis, row = simplex.guess_basis(coordinates, [0, 1], simplex.never)
    assert (basis, row) == ([0, 1], 2)
