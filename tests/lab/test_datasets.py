"""Data sets: the truth each one states, checked in exact arithmetic and by z3."""

import itertools
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from hypothesis import given
from hypothesis import strategies as st

import judges
from hostile_data import (
    clustered_ties,
    duplicated_rows,
    hard_threshold_rows,
    last_bit,
    wide_range,
)
from linsep import datasets

SEEDS = range(4)


def table():
    """Every generator at a few small sizes."""
    d = datasets
    return {
        "paper": lambda seed: d.paper_rows(1 + 6 * seed),
        "mixed": lambda seed: d.mixed_paper_rows(2 + 9 * seed, random_state=seed),
        "mixed redundant": lambda seed: d.mixed_paper_rows(
            4 + 8 * seed, n_redundant=6, random_state=seed
        ),
        "mixed overlap": lambda seed: d.mixed_paper_rows(
            5 + 8 * seed, n_redundant=3, n_parents=5, overlap=True, random_state=seed
        ),
        "planted": lambda seed: d.planted_margin(50, 1 + 3 * seed, random_state=seed),
        "planted float32": lambda seed: d.planted_margin(
            50, 5, margin=1e-7, dtype=np.float32, random_state=seed
        ),
        "planted offset": lambda seed: d.planted_margin(
            40, 3, offset=5.0, margin=1e-9, random_state=seed
        ),
        "planted homogeneous": lambda seed: d.planted_margin(
            60, 4, fit_intercept=False, margin=0.5, random_state=seed
        ),
        "overlap": lambda seed: d.planted_overlap(40, 1 + seed, random_state=seed),
        "overlap homogeneous": lambda seed: d.planted_overlap(
            40, 2 + seed, fit_intercept=False, random_state=seed
        ),
        "overlap of 2": lambda seed: d.planted_overlap(
            20, 3, n_conflict=2, random_state=seed
        ),
        "flips": lambda seed: d.flipped_labels(
            60, 1 + seed, n_flips=4, fit_intercept=seed % 2 == 0, random_state=seed
        ),
        "last bit up": lambda s: last_bit("separable", 1 + s, random_state=s),
        "last bit tie": lambda s: last_bit("tie", 1 + s, random_state=s),
        "last bit down": lambda s: last_bit("overlap", 1 + s, random_state=s),
        "clusters": lambda seed: clustered_ties(
            3, 2 + seed, n_per_cluster=9, random_state=seed
        ),
        "clusters overlap": lambda seed: clustered_ties(
            3, 2 + seed, n_per_cluster=9, overlap=True,
            fit_intercept=seed % 2 == 0, random_state=seed,
        ),
        "duplicates": lambda seed: duplicated_rows(80, 1 + seed, random_state=seed),
        "duplicates overlap": lambda seed: duplicated_rows(
            80, 1 + seed, overlap=True, fit_intercept=False, random_state=seed
        ),
        "wide range": lambda seed: wide_range(
            20, 1 + 2 * seed, fit_intercept=seed % 2 == 0, random_state=seed
        ),
        "wide range overlap": lambda seed: wide_range(
            20, 1 + 2 * seed, fit_intercept=seed % 2 == 0, overlap=True,
            random_state=seed,
        ),
        "odd-max-bit": lambda seed: d.odd_max_bit(1 + 2 * seed),
        "odd-max-bit signs": lambda seed: d.odd_max_bit(1 + 2 * seed, low=-1),
        "threshold": lambda seed: d.threshold_rows(2 + seed, random_state=seed),
        "threshold sample": lambda seed: d.threshold_rows(
            20, n_samples=30, largest_weight=2**40, random_state=seed
        ),
        "hard threshold": lambda seed: hard_threshold_rows(1 + seed),
        "Boolean": lambda seed: d.boolean_function(0x9D3A >> seed, 4, low=-(seed % 2)),
        "moment curve": lambda seed: d.moment_curve(8, 3, random_state=seed),
    }  # fmt: skip


every_data_set = pytest.mark.parametrize("name", table())


def signed_rows(data):
    """The signed rows as exact fractions."""
    rows = data.X.astype(np.float64)
    if data.fit_intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    return [
        [int(label) * Fraction(float(value)) for value in row]
        for label, row in zip(data.y, rows, strict=True)
    ]


def weights_of(data):
    """The planted coefficients as exact fractions, the intercept last."""
    weights = [Fraction(c) for c in data.coef]
    return [*weights, Fraction(data.intercept)] if data.fit_intercept else weights


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def rank(rows):
    return fmpq_mat(
        [[fmpq(x.numerator, x.denominator) for x in r] for r in rows]
    ).rank()


def z3_separable(data):
    """What an exact judge says: is there a w with a_i @ w > 0 for every row?"""
    return judges.z3_separable(signed_rows(data))


# --- what every data set states -------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
@every_data_set
def test_record_is_well_formed(name, seed):
    data = table()[name](seed)
    assert data.X.ndim == 2
    assert data.X.dtype == (np.float32 if "float32" in name else np.float64)
    assert data.y.dtype == np.int64
    assert data.y.shape == (len(data.X),)
    assert set(data.y.tolist()) <= {-1, 1}
    assert np.isfinite(data.X).all()
    assert (data.conflict is None) == data.separable
    assert (data.conflict_weights is None) == data.separable


@pytest.mark.parametrize("seed", SEEDS)
@every_data_set
def test_stated_truth_holds_exactly(name, seed):
    data = table()[name](seed)
    if not data.separable:
        check_conflict(data)
    elif data.coef is not None:
        check_separator(data)
    else:
        assert name in ("Boolean", "moment curve")  # nothing is planted there


def check_separator(data):
    w = weights_of(data)
    smallest = min(dot(row, w) for row in signed_rows(data))
    assert smallest > 0
    if data.margin_squared is None:
        assert not np.any(data.coef)  # one class: the intercept alone separates
        return
    coef = w[:-1] if data.fit_intercept else w
    assert 0 < data.margin_squared * dot(coef, coef) <= smallest**2


def check_conflict(data):
    assert data.margin_squared == 0
    assert data.margin_is_exact
    assert np.all(np.diff(data.conflict) > 0)
    assert all(isinstance(w, int) and w > 0 for w in data.conflict_weights)
    rows = signed_rows(data)
    weights = [Fraction(w) for w in data.conflict_weights]
    for column in zip(*(rows[i] for i in data.conflict), strict=True):
        assert dot(column, weights) == 0


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "name",
    [
        "mixed overlap",
        "overlap",
        "overlap homogeneous",
        "overlap of 2",
        "flips",
        "last bit tie",
        "last bit down",
        "clusters overlap",
        "duplicates overlap",
    ],
)
def test_planted_conflict_is_minimal(name, seed):
    data = table()[name](seed)
    rows = signed_rows(data)
    chosen = [rows[i] for i in data.conflict]
    # One relation among the rows, so every proper part of them is independent.
    assert rank(chosen) == len(chosen) - 1


SMALL = [
    (name, seed)
    for name, seed in itertools.product(table(), SEEDS)
    if table()[name](seed).X.shape[1] <= 8  # z3 is slow beyond
]


@pytest.mark.parametrize(("name", "seed"), SMALL)
def test_z3_gives_the_same_verdict(name, seed):
    data = table()[name](seed)
    assert z3_separable(data) == data.separable


@every_data_set
def test_the_same_seed_gives_the_same_data(name):
    one, two = table()[name](3), table()[name](3)
    assert np.array_equal(one.X, two.X)
    assert np.array_equal(one.y, two.y)


def test_no_random_state_is_the_fixed_seed():
    unseeded = datasets.planted_margin(9, 3)
    for state in (datasets.SEED, np.random.default_rng(datasets.SEED)):
        assert np.array_equal(
            unseeded.X, datasets.planted_margin(9, 3, random_state=state).X
        )
    assert not np.array_equal(
        unseeded.X, datasets.planted_margin(9, 3, random_state=1).X
    )


@given(
    st.fractions(min_value=Fraction(1, 10**30), max_value=10**30),
    st.integers(-1000, 900),
)
def test_margin_is_the_root_of_its_square_rounded_down(number, exponent):
    square = number * Fraction(2) ** exponent
    data = datasets.Dataset(
        np.ones((1, 1)), np.ones(1, dtype=np.int64), False, True, "", square
    )
    assert Fraction(data.margin) ** 2 <= square
    assert Fraction(data.margin * (1 + 2.0**-51)) ** 2 > square


# --- the paper's rows -----------------------------------------------------------------


def test_paper_rows_are_those_of_equation_2():
    n = 7
    data = datasets.paper_rows(n)
    for i in range(1, n + 1):
        x = [(-1) ** i] * (i - 1) + [(-1) ** (i + 1)] + [0] * (n - i)
        assert data.X[i - 1].tolist() == x
        assert data.y[i - 1] == (-1) ** (i + 1)


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_paper_margin_is_the_largest_by_weak_duality(n):
    data = datasets.paper_rows(n)
    A = fmpq_mat([[fmpq(int(x)) for x in row] for row in signed_rows(data)])
    p = (A * A.transpose()).solve(fmpq_mat(n, 1, [fmpq(1)] * n))
    weights = [Fraction(int(x.p), int(x.q)) for x in p.entries()]
    assert min(weights) >= 0
    point = [
        dot(column, weights) / sum(weights)
        for column in zip(*signed_rows(data), strict=True)
    ]
    assert dot(point, point) == data.margin_squared  # no w does better than |A^T p|


def test_paper_coefficients_stay_exact_beyond_doubles():
    coef = datasets.paper_rows(1100).coef
    assert coef[-1] == 2**1099
    assert datasets.paper_rows(1100).margin == 0.0 or coef.dtype == object


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("n", [30, 200])
def test_mixed_rows_have_small_integer_entries_and_determinant_one(n, overlap):
    data = datasets.mixed_paper_rows(n, n_redundant=10, overlap=overlap)
    assert np.array_equal(data.X, np.rint(data.X))
    assert np.abs(data.X).max() <= 18 * 9
    base = datasets.mixed_paper_rows(n)
    assert np.abs(base.X).max() <= 18
    matrix = fmpq_mat([[fmpq(int(x)) for x in row] for row in base.X])
    assert abs(matrix.det()) == 1


def test_mixing_makes_the_margin_exponentially_small():
    data = datasets.mixed_paper_rows(200)
    assert 0 < data.margin < 2.0**-190
    assert len({tuple(np.abs(row)) for row in data.X}) == 200


# --- planted rows ---------------------------------------------------------------------


def test_planted_rows_crowd_the_margin():
    data = datasets.planted_margin(20_000, 10, margin=0.01)
    slack = data.y * (data.X @ data.coef)
    at_margin = np.count_nonzero(slack < 0.01 * (1 + 1e-6))
    # A standard normal slack is within 0.01 of zero with probability 0.00798.
    assert 100 < at_margin < 230
    assert abs(data.y.sum()) <= 1


def test_planted_rows_are_chunked_and_float32_is_the_rounded_float64():
    tracemalloc.start()
    double = datasets.planted_margin(100_000, 50, random_state=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < double.X.nbytes + 16e6
    single = datasets.planted_margin(100_000, 50, dtype=np.float32, random_state=0)
    assert np.allclose(single.X, double.X, rtol=1e-6, atol=1e-6)
    assert np.array_equal(single.y, double.y)


def test_offset_moves_the_plane_from_the_origin():
    data = datasets.planted_margin(500, 3, offset=-2.0, margin=0.1)
    assert data.intercept == -2.0
    assert set(data.y.tolist()) == {-1, 1}


def test_only_the_planted_row_is_on_the_wrong_side():
    data = datasets.planted_overlap(300, 4)
    slack = data.y * (data.X @ data.coef)
    wrong = np.flatnonzero(slack < 0)
    assert len(wrong) == 1
    assert wrong[0] in data.conflict


def test_flipped_rows_are_the_ones_on_the_wrong_side_by_a_hair():
    data = datasets.flipped_labels(5000, 20, margin=1e-3)
    slack = data.y * (data.X @ data.coef)
    assert np.array_equal(np.flatnonzero(slack < 0), data.flipped)
    assert len(data.flipped) == 10
    assert np.all(slack[data.flipped] > -2.1e-3)


# --- the last bit, scale, ties --------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_outcomes_differ_in_one_entry_by_one_unit(seed):
    up, tie, down = (
        last_bit(kind, 4, random_state=seed) for kind in ("separable", "tie", "overlap")
    )
    changed = np.argwhere(up.X != down.X)
    assert len(changed) == 1
    here = tuple(changed[0])
    assert up.X[here] == np.nextafter(tie.X[here], np.inf)
    assert down.X[here] == np.nextafter(tie.X[here], -np.inf)
    assert np.array_equal(up.y, tie.y)
    assert np.array_equal(up.y, down.y)
    assert up.margin < 2.0**-40


def test_wide_range_reaches_subnormals_and_1e300():
    data = wide_range(200, 9)
    sizes = np.abs(data.X[data.X != 0])
    assert sizes.min() < np.finfo(float).tiny / 2**40
    assert sizes.max() > 1e300


def test_clusters_are_as_tight_as_asked():
    data = clustered_ties(4, 3, n_per_cluster=50, spread=2.0**-30)
    centres = np.unique(np.round(data.X, 6), axis=0)
    assert len(centres) == 4
    for centre in centres:
        distance = np.abs(data.X - centre).max(axis=1)
        assert np.count_nonzero(distance < 1e-5) == 50


def test_every_distinct_row_is_repeated():
    data = duplicated_rows(5000, 6, n_distinct=7)
    _, counts = np.unique(data.X, axis=0, return_counts=True)
    assert len(counts) == 7
    assert counts.min() > 500


# --- Boolean functions ----------------------------------------------------------------


@pytest.mark.parametrize("n_inputs", [0, 1, 2, 3])
@pytest.mark.parametrize("low", [0, -1])
def test_boolean_functions_are_counted_right(n_inputs, low):
    separable = sum(
        datasets.boolean_function(number, n_inputs, low=low).separable
        for number in range(2**2**n_inputs)
    )
    assert separable == datasets.threshold_function_count(n_inputs)


@pytest.mark.slow
def test_boolean_functions_of_four_inputs_are_counted_right():
    separable = sum(
        datasets.boolean_function(number, 4).separable for number in range(2**16)
    )
    assert separable == datasets.threshold_function_count(4) == 1882


def test_truth_table_is_read_lowest_bit_first():
    data = datasets.boolean_function(0b1000, 2)  # and: true on 11 only
    assert dict(zip(map(tuple, data.X.tolist()), data.y.tolist(), strict=True)) == {
        (0, 0): -1, (1, 0): -1, (0, 1): -1, (1, 1): 1
    }  # fmt: skip


@given(st.integers(5, 6), st.data())
def test_boolean_functions_agree_with_z3(n_inputs, data):
    weights = data.draw(
        st.lists(st.integers(-5, 5), min_size=n_inputs, max_size=n_inputs)
    )
    threshold = data.draw(st.integers(-9, 9))
    flips = data.draw(st.sets(st.integers(0, 2**n_inputs - 1), max_size=1))
    bits = itertools.product((0, 1), repeat=n_inputs)
    rows = [row[::-1] for row in bits]
    number = sum(
        2**k
        for k, row in enumerate(rows)
        if (np.dot(row, weights) > threshold) != (k in flips)
    )
    function = datasets.boolean_function(number, n_inputs)
    assert z3_separable(function) == function.separable


def test_a_function_of_nine_inputs_is_beyond_the_theorem():
    with pytest.raises(
        ValueError, match="n_inputs must be an integer from 0 to 8, got 9"
    ):
        datasets.boolean_function(0, 9)


def test_odd_max_bit_labels_follow_the_definition():
    data = datasets.odd_max_bit(6)
    for row, label in zip(data.X, data.y, strict=True):
        set_bits = [i + 1 for i, value in enumerate(row) if value == 1]
        assert label == (1 if set_bits and max(set_bits) % 2 == 1 else -1)
    assert len(data.X) == 64


@pytest.mark.parametrize("n_bits", [1, 2, 3, 4, 5])
def test_hard_rows_force_large_weights(n_bits):
    data = hard_threshold_rows(n_bits)
    n = 2**n_bits
    assert set(np.unique(data.X)) <= {-1.0, 1.0}
    A = fmpq_mat([[fmpq(int(x)) for x in row] for row in data.X])
    inverse = A.inv()
    sums = [sum(abs(inverse[j, i]) for i in range(n)) for j in range(n)]
    row = sums.index(max(sums))
    # Labels have the signs of that row, so w_row >= the sum for all slacks >= 1.
    for i in range(n):
        assert inverse[row, i] * int(data.y[i]) >= 0
    largest = Fraction(int(max(sums).p), int(max(sums).q))
    assert data.margin_squared * largest**2 <= 1
    assert data.margin_squared * largest**2 * n >= 1  # the bounds meet up to sqrt(n)


@pytest.mark.parametrize("n_bits", [2, 3, 4, 5, 6, 7])
def test_hard_rows_force_weights_of_the_size_of_the_theorem(n_bits):
    n = 2**n_bits  # Alon & Vu: the inverse has an entry of n^(n/2) / 2^(2 n)
    margin_squared = hard_threshold_rows(n_bits).margin_squared
    assert margin_squared * Fraction(n) ** n <= 2 ** (4 * n)


# --- general position -----------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(4, 1), (5, 2), (6, 2), (7, 3), (4, 5)])
def test_all_labellings_of_the_moment_curve_give_covers_count(n, d):
    separable = sum(
        datasets.moment_curve(n, d, labels=labels).separable
        for labels in itertools.product((-1, 1), repeat=n)
    )
    assert separable == datasets.cover_count(n, d)


@pytest.mark.parametrize(("n", "d"), [(6, 2), (7, 3)])
def test_moment_curve_is_in_general_position(n, d):
    data = datasets.moment_curve(n, d, labels=[1] * n)
    rows = signed_rows(data)
    for chosen in itertools.combinations(rows, d + 1):
        assert rank(chosen) == d + 1


def test_moment_curve_agrees_with_z3_on_every_labelling():
    for labels in itertools.product((-1, 1), repeat=5):
        data = datasets.moment_curve(5, 2, labels=labels)
        assert z3_separable(data) == data.separable
        if data.separable:
            assert min(dot(row, weights_of(data)) for row in signed_rows(data)) >= 1


def test_cover_count_agrees_with_enumeration_without_intercept():
    points = [(1, 0), (1, 1), (0, 1), (-1, 2)]  # no two on a line through zero
    count = 0
    for labels in itertools.product((-1, 1), repeat=4):
        data = datasets.Dataset(
            np.array(points, dtype=float), np.array(labels), False, True, ""
        )
        count += z3_separable(data)
    assert count == datasets.cover_count(4, 2, fit_intercept=False) == 8


def test_cover_count_of_few_points_is_all_labellings():
    assert datasets.cover_count(4, 3) == 16
    assert datasets.cover_count(1, 0) == 2
    assert datasets.cover_count(100, 49) == 2**99  # half of all at twice the dimension


# --- arguments ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda d: d.paper_rows(0), "n_features must be an integer of at least 1, g"),
        (lambda d: d.paper_rows(2.5), r"an integer of at least 1, got 2\.5"),
        (lambda d: d.mixed_paper_rows(9, overlap=True), "n_redundant must .* least 1"),
        (lambda d: d.mixed_paper_rows(2, n_redundant=1), "n_parents must be from 1 to"),
        (lambda d: d.planted_margin(5, 2, margin=0), "margin must be a positive"),
        (lambda d: d.planted_margin(5, 2, margin=np.inf), "margin must be a positive"),
        (lambda d: d.planted_margin(5, 2, dtype=int), "dtype must be float64 or"),
        (lambda d: d.planted_margin(5, 2, offset=1, fit_intercept=False), "offset"),
        (lambda d: d.planted_overlap(5, 2, n_conflict=5), "n_conflict must be from 2"),
        (lambda d: d.planted_overlap(1, 2), "n_samples must be .* at least 2"),
        (lambda d: d.flipped_labels(5, 2, n_flips=2), "n_samples must be .* least 6"),
        (lambda d: last_bit("none"), "'tie' or 'overlap', got 'none'"),
        (lambda d: last_bit("tie", 5, n_samples=6), "n_samples must be .* least 7"),
        (lambda d: clustered_ties(3, 3, spread=0.3), "spread must be a power of two"),
        (lambda d: clustered_ties(1, 3, overlap=True), "n_clusters must be .* least 2"),
        (lambda d: duplicated_rows(5, 2), "n_samples must be .* of at least 10"),
        (lambda d: wide_range(2, 2, overlap=True), "n_samples must be .* at least 3"),
        (lambda d: d.boolean_function(256, 3), "number must be .* from 0 to 255"),
        (lambda d: d.odd_max_bit(3, low=2), "low must be 0 or -1, got 2"),
        (lambda d: d.threshold_rows(30), "n_inputs must be an integer from 1 to 20"),
        (lambda d: hard_threshold_rows(8), "n_bits must be an integer from 1 to 7"),
        (lambda d: d.moment_curve(100, 9), r"at most 2\*\*53, got 99\*\*9"),
        (lambda d: d.moment_curve(3, 2, labels=[0, 1, 1]), "labels must be n_points"),
        (lambda d: d.cover_count(3, 0, fit_intercept=False), "n_features must be"),
        (lambda d: d.threshold_function_count(10), "n_inputs must be an integer"),
    ],
)  # fmt: skip
def test_arguments_out_of_range_are_explained(call, message):
    with pytest.raises(ValueError, match=message):
        call(datasets)
