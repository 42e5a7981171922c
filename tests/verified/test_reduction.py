"""The partition by presolve, null space and Newton's method, against z3."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from hostile_parts import hostile_matrix
from judges import dot, fractions_of, z3_direction_exists
from linsep.proof import ordered_checker
from linsep.proof.ordered_checker import NotProved, check_overlap
from linsep.rows import rows_from
from linsep.verified import reduction as module
from linsep.verified.moments import Layout, NotPositive, TooLarge
from linsep.verified.overlap import Counts, Step
from linsep.verified.parts import Part, no_check
from linsep.verified.reduction import Reduction
from linsep.verified.vectors import SparseVector, written_out

SEEDS = st.integers(0, 2**32 - 1)


def rows_of(A, as_csr=False):
    X = sparse.csr_matrix(A) if as_csr else A
    return rows_from(X, np.ones(len(A), dtype=np.int8), False)


def plain_counts(n, equal=None):
    equal = np.zeros(n, dtype=bool) if equal is None else equal
    return Counts(np.ones(n), equal.astype(float))


def assert_is_partition(found, A, equal, *, judged=True):
    """The directions hold in order, and z3 knows of no row that they miss."""
    exact = fractions_of(A)
    stage = np.full(len(A), len(found.directions))
    for k in range(len(found.directions) - 1, -1, -1):
        w = written_out(found.directions[k], A.shape[1])
        for i, row in enumerate(exact):
            if found.stage[i] >= k:
                product = dot(row, w)
                assert (product > 0) if found.stage[i] == k else (product == 0)
                stage[i] = min(stage[i], k) if product > 0 else stage[i]
                assert not (equal[i] and product)
    assert stage.tolist() == found.stage.tolist()
    if judged and found.is_proved:
        loose = [row for row, e in zip(A.tolist(), equal, strict=True) if not e]
        tied = [row for row, e in zip(A.tolist(), equal, strict=True) if e]
        for i in np.flatnonzero(found.overlapped & ~equal):
            assert not z3_direction_exists(loose, tied, A[i].tolist())


@settings(max_examples=150)
@given(SEEDS)
def test_small_partitions_are_right(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 5))
    A = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < rng.choice([0.5, 1.0]))
    scale = rng.choice([1.0, 0.1])  # tenths are rounded: rows are nearly parallel
    A = A.astype(float) * scale
    equal = rng.random(n) < rng.choice([0.0, 0.3])
    found = Reduction(rows_of(A, rng.random() < 0.5), plain_counts(n, equal)).run()
    assert_is_partition(found, A, equal)
    assert found.is_proved or scale == 0.1


@given(SEEDS)
def test_hostile_rows_are_never_parted_wrong(seed):
    rng = np.random.default_rng(seed)
    A = hostile_matrix(rng, n=int(rng.integers(2, 10)), k=int(rng.integers(1, 4)))
    equal = rng.random(len(A)) < 0.1
    found = Reduction(rows_of(A, rng.random() < 0.5), plain_counts(len(A), equal)).run()
    assert_is_partition(found, A, equal)


@given(SEEDS)
def test_any_start_ends_in_the_same_partition(seed):
    rng = np.random.default_rng(seed)
    n, d = 25, 3
    A = rng.integers(-3, 4, (n, d)).astype(float)
    A = np.c_[A, A[:, 0] + A[:, 1]]
    want = Reduction(rows_of(A), plain_counts(n)).run()
    assert want.is_proved
    for size in (1.0, 1e3, 1e300, np.inf):
        start = rng.standard_normal(d + 1) * size
        before = start.copy()
        found = Reduction(rows_of(A), plain_counts(n), start).run()
        assert found.is_proved
        assert found.overlapped.tolist() == want.overlapped.tolist()
        assert np.array_equal(start, before)


@settings(max_examples=15)
@given(SEEDS)
def test_any_hint_ends_in_the_same_partition(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (12, 3)).astype(float)
    A[:6] = np.abs(A[:6])  # often separated by the sum of the columns
    A[rng.integers(0, 6) :, 0] = 0
    equal = rng.random(12) < 0.1
    want = Reduction(rows_of(A), plain_counts(12, equal)).run()
    for values in ({0: 1, 1: 1, 2: 1}, {0: 1}, {1: -3, 2: 2}):
        hint = SparseVector.from_items(values)
        found = Reduction(rows_of(A), plain_counts(12, equal), hint=hint).run()
        assert_is_partition(found, A, equal)
        assert found.is_proved == want.is_proved
        assert found.overlapped.tolist() == want.overlapped.tolist()


def test_a_direction_may_need_large_whole_numbers():
    # All rows but two lie on a plane whose normal has five digits.
    rng = np.random.default_rng(0)
    normal = np.array([30011.0, -7919.0, 12347.0])
    basis = np.array([[7919.0, 30011.0, 0.0], [0.0, 12347.0, 7919.0]])
    A = rng.integers(-9, 10, (40, 2)).astype(float) @ basis
    A = np.vstack([A, [1e8, 0.0, 0.0], [0.0, -1e8, 0.0]])
    assert not (A[:40] @ normal).any()
    found = Reduction(rows_of(A), plain_counts(42)).run()
    assert_is_partition(found, A, np.zeros(42, bool), judged=False)
    assert found.is_proved
    assert np.flatnonzero(~found.overlapped).tolist() == [40, 41]


def rare_columns(rng, speeds, n=600, k=8, k_rare=6):
    """Rows that overlap, and some of few columns that a direction separates.

    Returns the rows, the planted direction's columns, and how far it moves each row.
    """
    common = rng.integers(-9, 10, (n, k))
    w = rng.integers(1, 9, k_rare)
    rare = rng.integers(-9, 10, (50, k_rare))
    rare[:, 0] = -(rare[:, 1:] @ w[1:])  # on the plane of w, in units of w[0]
    rare[:, 1:] *= w[0]
    both = np.c_[rng.integers(-9, 10, (50, k)), rare]
    off = np.c_[rng.integers(-9, 10, (len(speeds), k)), rare[: len(speeds)]]
    off[:, k] += np.array(speeds)
    A = np.vstack([np.c_[common, np.zeros((n, k_rare))], both])
    A = np.vstack([A, -A, off]).astype(float)
    direction = np.r_[np.zeros(k, int), w]
    return A, direction, A @ direction


@pytest.mark.parametrize("as_csr", [False, True])
def test_rows_run_off_at_speeds_a_million_times_apart(as_csr):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        speeds = [1, 30, 1_000, 30_000, 1_000_000]
        A, direction, moves = rare_columns(rng, speeds)
        found = Reduction(rows_of(A, as_csr), plain_counts(len(A))).run()
        assert found.is_proved
        assert np.array_equal(found.overlapped, moves == 0)
        assert_is_partition(found, A, np.zeros(len(A), bool), judged=False)
        (only,) = found.directions
        assert written_out(only, len(direction)) == tuple(
            direction // np.gcd.reduce(direction)
        )


def test_rows_far_out_are_proved_by_weights_that_fall_more_slowly(monkeypatch):
    # Two rows settle 500 times as far out as the others, in the one direction that
    # tells two columns apart: with their curvatures the matrix is all but singular.
    x = np.random.default_rng(0).integers(-4, 5, 400).astype(float)
    A = np.vstack([np.c_[x, x], [[1.0, 0.0], [-(2.0**-19), 0.0]]])
    proofs = []

    def proves(step):
        proofs.append(original(step))
        return proofs[-1]

    original = Step._proves
    monkeypatch.setattr(Step, "_proves", proves)
    found = Reduction(rows_of(A), plain_counts(len(A))).run()
    assert found.is_proved
    assert found.overlapped.all()
    assert proofs == [False, True]
    few = np.zeros(2, dtype=bool)
    monkeypatch.setattr(ordered_checker, "FEW_COLUMNS", -1)
    check_overlap(sparse.csr_array(A), found.point, few)
    with pytest.raises(NotProved, match="positive"):
        check_overlap(sparse.csr_array(A[:-1]), found.point, few)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("power", [0, 10, 40, 90])
def test_a_step_far_too_long_is_cut_until_the_loss_falls(seed, power):
    rng = np.random.default_rng(seed)
    rows = rows_of(rng.standard_normal((30, 4)))
    counts = plain_counts(30, rng.random(30) < 0.2)
    part = Part.of(rows, np.arange(30), np.arange(4), no_check)
    products = part.products(rng.standard_normal(4))
    step = Step.at(part, products, counts, Layout.of(part))
    longer = replace(step, q=np.ldexp(step.q, power))
    length = module._length(products, longer)
    assert length > 0
    before, _ = counts.loss_and_slope(products, longer.products, 0.0)
    assert counts.loss_and_slope(products, longer.products, length)[0] < before
    assert module._length(products, replace(step, q=-step.q)) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_two_steps_prove_counts_with_two_factors(seed, monkeypatch):
    # A step from zero is a fifth too short: left so, some of these take three.
    rng = np.random.default_rng(seed)
    n, sizes = 8_000, (160, 40)
    codes = [rng.integers(0, k, n) for k in sizes]
    x = rng.standard_normal((n, 3))
    A = np.hstack([x, *(np.eye(k)[z] for k, z in zip(sizes, codes, strict=True))])
    effects = [
        s * rng.standard_normal(k) for s, k in zip((1.0, 0.5), sizes, strict=True)
    ]
    rate = x @ [0.3, -0.2, 0.1] - 0.5 + effects[0][codes[0]] + effects[1][codes[1]]
    some = rng.poisson(np.exp(np.minimum(rate, 3.0))) > 0
    A = np.where(some, 1.0, -1.0)[:, np.newaxis] * A[:, :-1]
    steps, at = [], Step.at
    monkeypatch.setattr(
        Step, "at", staticmethod(lambda *given: steps.append(1) or at(*given))
    )
    found = Reduction(rows_of(A, True), plain_counts(n, some)).run()
    assert found.is_proved
    assert len(steps) == 2


def test_a_step_on_which_the_loss_rises_is_none(monkeypatch):
    points, at = [], Step.at

    def upwards(part, products, *given):
        points.append(products)
        step = at(part, products, *given)
        return replace(step, q=-100.0 * step.q)

    monkeypatch.setattr(Step, "at", staticmethod(upwards))
    rng = np.random.default_rng(0)
    found = Reduction(rows_of(rng.standard_normal((40, 3))), plain_counts(40)).run()
    assert len(points) == 1
    assert not found.is_proved


def test_no_steps_are_made_in_vain(monkeypatch):
    monkeypatch.setattr(Step, "is_proof", lambda step: False)
    n_steps, at = [], Step.at
    monkeypatch.setattr(
        Step, "at", staticmethod(lambda *given: n_steps.append(1) or at(*given))
    )
    A = np.array([[1.0], [-1.0]])
    assert not Reduction(rows_of(A), plain_counts(2)).run().is_proved
    assert len(n_steps) == 1


def test_a_direction_of_rare_columns_is_found_on_the_rows_that_hold_them(monkeypatch):
    A, _, moves = rare_columns(np.random.default_rng(0), [1, 100], n=2000)
    sizes = []
    whole = Step.at.__func__

    def counted(cls, part, *arguments):
        sizes.append(part.shape)
        return whole(cls, part, *arguments)

    monkeypatch.setattr(Step, "at", classmethod(counted))
    found = Reduction(rows_of(A), plain_counts(len(A))).run()
    assert np.array_equal(found.overlapped, moves == 0)
    # All rows are looked at for the proof that the others overlap alone.
    assert sum(n > 102 for n, _ in sizes) <= 4
    assert sizes[0] == (102, 6)


def test_steps_along_rare_columns_alone_save_steps_along_all(monkeypatch):
    # Ten columns that 130 of 3,000 rows hold, balanced by weights 10^5 apart.
    rng = np.random.default_rng(1)
    A = np.zeros((3000, 24))
    A[:, :14] = rng.standard_normal((3000, 14))
    A[:120, 14:] = np.exp(rng.normal(0, 2, (120, 10))) * (rng.random((120, 10)) < 0.3)
    weights = 10.0 ** rng.uniform(-5, 0, 120)
    balance = -(weights @ A[:120, 14:]) * 10.0 ** rng.uniform(0, 3, 10)
    A[120:130, 14:] = np.diag(balance)
    counts = []
    for n_steps in (0, module.RARE_STEPS):
        widths, at = [], Step.at

        def step_at(part, *given, widths=widths, at=at):
            widths.append(part.shape[1])
            return at(part, *given)

        monkeypatch.setattr(module, "RARE_STEPS", n_steps)
        monkeypatch.setattr(Step, "at", staticmethod(step_at))
        found = Reduction(rows_of(A), plain_counts(len(A))).run()
        monkeypatch.undo()
        assert found.is_proved
        assert found.overlapped.all()
        counts.append(widths.count(24))
    assert counts[1] < counts[0]


def test_rows_that_all_are_on_their_side_need_no_step_more(monkeypatch):
    rng = np.random.default_rng(1)
    w = np.array([1.0, -2.0, 3.0])
    A = rng.standard_normal((60, 3))
    A *= np.sign(A @ w)[:, np.newaxis]
    monkeypatch.setattr(module, "STILL", ())
    found = Reduction(rows_of(A), plain_counts(60)).run()
    assert found.is_proved
    assert not found.overlapped.any()


def test_presolve_alone_may_end_it():
    found = Reduction(rows_of(np.array([[1.0], [2.0]])), plain_counts(2)).run()
    assert found.is_proved
    assert found.point is None
    assert found.columns.size == found.eliminated.size == 0


@pytest.mark.parametrize("ending", ["TooLarge", "TooWide"])
def test_what_is_too_large_or_too_wide_is_left(ending, monkeypatch):
    A = np.array([[1.0, 0.0], [-1.0, 1.0], [2.0**-600, 1.0], [0.0, -1.0]])
    if ending == "TooLarge":
        A[2, 0] = 0.5
        monkeypatch.setattr("linsep.verified.moments.MOST_DENSE", 0)
    found = Reduction(rows_of(A), plain_counts(4)).run()
    assert not found.is_proved
    assert found.point is None
    assert found.overlapped.all()


def test_too_few_steps_prove_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    A = rng.standard_normal((30, 3)) + 0.6
    assert Reduction(rows_of(A), plain_counts(30)).run().is_proved
    monkeypatch.setattr(module, "MOST_STEPS", 1)
    found = Reduction(rows_of(A), plain_counts(30)).run()
    assert not found.is_proved
    assert found.overlapped.all()
    assert found.point is not None


def test_points_beyond_the_doubles_prove_nothing():
    # The point would be about 2^1073: no certificate could hold it.
    A = np.append(np.ones(20), [-1.0, 8.0])[:, np.newaxis]
    assert Reduction(rows_of(A), plain_counts(22)).run().point[0] > 1 / 16
    found = Reduction(rows_of(A * 2.0**-1074), plain_counts(22)).run()
    assert not found.is_proved
    assert found.overlapped.all()


def test_a_moment_matrix_that_is_not_positive_ends_newton(monkeypatch):
    def refused(*_):
        raise NotPositive

    monkeypatch.setattr(module.Step, "at", refused)
    A = np.array([[1.0], [-1.0]])
    assert not Reduction(rows_of(A), plain_counts(2)).run().is_proved


@pytest.mark.parametrize("error", [TooLarge, NotPositive])
def test_directions_are_given_up_where_the_still_rows_have_no_null_space(
    error, monkeypatch
):
    # Rows 2 to 4 are separated by a direction of two columns, which presolve misses.
    A = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, -2.0], [-2.0, -4.0], [3.0, -1.0]])
    found = Reduction(rows_of(A), plain_counts(5)).run()
    assert_is_partition(found, A, np.zeros(5, bool))
    assert found.is_proved
    assert np.flatnonzero(~found.overlapped).tolist() == [2, 3, 4]
    real = module.null_space

    def fails_on_some_rows(part, **settings):
        if part.shape[0] < 5:
            raise error
        return real(part, **settings)

    monkeypatch.setattr(module, "null_space", fails_on_some_rows)
    found = Reduction(rows_of(A), plain_counts(5)).run()
    assert not found.is_proved
    assert found.overlapped.all()


@given(SEEDS)
def test_known_null_vectors_serve_the_rows_left(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 20))
    levels = [np.eye(k)[rng.integers(0, k, n)] for k in (2, 3)]
    A = np.hstack([*levels, rng.integers(-2, 3, (n, 1))])
    A = A * rng.choice([-1.0, 1.0], (n, 1))
    sums = {4: SparseVector.from_items({0: 1, 1: 1, 2: -1, 3: -1, 4: -1})}
    for known in (sums, {}):  # all there are, and too few
        for equal in (np.zeros(n, bool), rng.random(n) < 0.3):
            want = Reduction(rows_of(A), plain_counts(n, equal)).run()
            rows = rows_of(A, rng.random() < 0.5)
            found = Reduction(rows, plain_counts(n, equal), known=known).run()
            assert_is_partition(found, A, equal, judged=False)
            assert want.is_proved
            assert found.is_proved
            assert found.overlapped.tolist() == want.overlapped.tolist()


@given(st.integers(-(2**2000), 2**2000), st.integers(1, 2**2000), st.integers(-99, 99))
def test_quotients_of_any_size(above, below, exponent):
    exact = Fraction(above, below) * Fraction(2) ** exponent
    found = module._quotient(above, below, exponent)
    if abs(exact) < Fraction(2) ** 1023:
        assert abs(Fraction(found) - exact) <= abs(exact) / 2**52 + Fraction(2) ** -1074
    elif abs(exact) > Fraction(2) ** 1024:
        assert np.isinf(found)


def test_nothing_is_rounded_to_nothing():
    exponents = np.zeros(2, dtype=np.int64)
    assert module._rounded(np.zeros(2), exponents, 3) == [(0, 0)] * 2
    assert module._rounded(np.array([np.inf, 1.0]), exponents, 3) == [(0, 0)] * 2
    basis = [SparseVector(np.array([0]), (1,)), SparseVector(np.array([1]), (2,))]
    zero = module._times(basis, np.array([0, 1]), [(0, 0), (0, 0)])
    assert written_out(zero, 2) == (0, 0)
    # A null vector's entry in its own column stands for one.
    both = module._times(basis, np.array([0, 1]), [(1, 0), (3, -1)])
    assert written_out(both, 2) == (2, 3)


@given(SEEDS)
def test_rounding_is_to_the_bits_asked_for(seed):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(4)
    exponents = rng.integers(-5, 5, 4)
    for bits in module.BITS:
        found = module._rounded(np.ldexp(values, -exponents), exponents, bits)
        back = np.array(
            [
                np.ldexp(float(m), e + x)
                for (m, e), x in zip(found, exponents, strict=True)
            ]
        )
        assert (np.abs(back - values) <= np.abs(values).max() * 2.0**-bits).all()
