"""The working set: sampling, growing, letting go, and Clarkson's reweighting."""

import numpy as np
import pytest
from scipy import sparse

from linsep.rows import DenseRows, Scan, SparseRows
from linsep.rows import working_set as module
from linsep.rows.working_set import WorkingSet


def rows_of(n, d=3, positives=None):
    rng = np.random.default_rng(0)
    signs = -np.ones(n, dtype=np.int8)
    signs[: n // 2 if positives is None else positives] = 1
    return DenseRows(rng.standard_normal((n, d)), signs, True)


def scan_of(index, n_violations=0, n_unsettled=0):
    index = np.asarray(index, dtype=np.intp)
    return Scan(0.0, 0.0, 0.0, n_violations, n_unsettled, index, np.zeros(len(index)))


def held_rows_are_the_sources(working):
    return np.array_equal(working.rows, working.source.take(working.index))


def test_small_data_are_all_taken():
    working = WorkingSet(rows_of(700), np.random.default_rng(0))
    assert working.is_complete
    assert held_rows_are_the_sources(working)


def test_sample_has_both_classes_however_rare_one_is():
    working = WorkingSet(rows_of(200_000, positives=5), np.random.default_rng(0))
    assert not working.is_complete
    assert set(working.source.signs[working.index]) == {-1, 1}
    assert (working.index < 5).sum() == 5


def test_growing_adds_each_row_once_and_counts_new_violators():
    working = WorkingSet(rows_of(50_000), np.random.default_rng(0))
    before = working.index.size
    fresh = np.setdiff1d(np.arange(50_000), working.index)[:10]
    held = working.index[:5]
    scan = scan_of(np.concatenate([fresh[:3], held, fresh[3:]]), n_violations=4)
    assert working.grow(scan, held, n_passes=1) == 3
    assert working.index.size == before + 10
    assert len(set(working.index)) == working.index.size
    assert held_rows_are_the_sources(working)
    # The same scan again brings nothing that was not held: no progress.
    assert working.grow(scan, held, n_passes=2) == 0


def test_rows_are_let_go_but_never_the_support(monkeypatch):
    working = WorkingSet(rows_of(50_000), np.random.default_rng(0))
    monkeypatch.setattr(module, "KEPT_A_COLUMN", 1)
    working.size = 10
    support = working.index[[3, 7, 11]]
    fresh = np.setdiff1d(np.arange(50_000), working.index)[:20]
    working.grow(scan_of(fresh, n_violations=20), support, n_passes=1)
    assert set(working.index) == set(support) | set(fresh)
    assert held_rows_are_the_sources(working)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_of_a_sample_the_rows_near_a_hyperplane_are_kept(is_sparse):
    dense = rows_of(50_000, d=40)
    X, signs = np.array(dense.X), dense.signs
    X[::9] *= 2.0**10  # far rows, but no farther for their size
    kind = SparseRows(sparse.csr_matrix(X), signs, True) if is_sparse else None
    working = WorkingSet(kind or DenseRows(X, signs, True), np.random.default_rng(0))
    support, w = working.index[[3, 7, 11]], np.linspace(-1.0, 1.0, 41)
    full = signs[:, None] * np.c_[X, np.ones(50_000)]
    score = ((full @ w) / (np.abs(full) @ np.abs(w)))[working.index]
    most = 41 * module.NEAR_A_COLUMN
    nearest = working.index[np.argsort(score)[:most]]
    working.let_go(w, support)
    assert set(working.index) == set(nearest) | set(support)
    rows = working.rows.toarray() if is_sparse else working.rows
    np.testing.assert_array_equal(rows, full[working.index])
    working.let_go(w, support)
    assert set(nearest) <= set(working.index)


def test_rows_that_are_all_held_are_not_let_go():
    working = WorkingSet(rows_of(700), np.random.default_rng(0))
    working.let_go(np.ones(4), working.index[:1])
    assert working.index.size == 700


def test_positions_find_held_rows_and_skip_others():
    working = WorkingSet(rows_of(50_000), np.random.default_rng(0))
    missing = np.setdiff1d(np.arange(50_000), working.index)[0]
    wanted = np.array([working.index[9], missing, working.index[2]])
    np.testing.assert_array_equal(working.positions(wanted), [9, 2])


def test_reweighting_prefers_rows_violated_again_and_again():
    rows = rows_of(50_000, d=2)
    working = WorkingSet(rows, np.random.default_rng(0))
    violators = np.arange(100, 110)
    for n_passes in range(module.CLARKSON_AFTER + 1, module.CLARKSON_AFTER + 40):
        working.keep(working.index[:1])
        working.grow(scan_of(violators, n_violations=10), violators, n_passes)
        drawn = set(working.index)
    # 9 d^2 rows of 50,000 drawn: by now the violators are all but certain to be there
    # even if the scan had not named them; the rest are a sample.
    assert set(violators) <= drawn
    assert len(drawn) <= 9 * rows.shape[1] ** 2 + 11


def test_reweighting_doubles_only_light_violators():
    rows = rows_of(50_000, d=2)
    working = WorkingSet(rows, np.random.default_rng(0))
    heavy = np.arange(40_000)
    working.grow(scan_of(heavy, n_violations=40_000), heavy[:1], 100)
    assert working._doublings.max() == 0
    light = np.arange(10)
    working.grow(scan_of(light, n_violations=10), light, 101)
    assert working._doublings[:10].tolist() == [1] * 10
    assert working._doublings[10:].max() == 0


@pytest.mark.parametrize("seed", [0, 1])
def test_sample_is_seeded(seed):
    first = WorkingSet(rows_of(50_000), np.random.default_rng(seed))
    again = WorkingSet(rows_of(50_000), np.random.default_rng(seed))
    np.testing.assert_array_equal(first.index, again.index)


def test_a_sample_among_some_rows_takes_no_other():
    rows = rows_of(50_000)
    among = np.arange(10_000, 50_000, 3)
    working = WorkingSet(rows, np.random.default_rng(0), among=among, dimension=2)
    assert set(working.index) <= set(among)
    assert 1000 <= working.index.size < 2000
    few = WorkingSet(rows, np.random.default_rng(0), among=among[:700])
    np.testing.assert_array_equal(few.index, among[:700])


def test_the_loop_ends_when_the_answer_fails_on_no_row():
    # The largest of 50,000 numbers, found by looking at a few of them at a time.
    values = np.random.default_rng(1).permutation(50_000)
    rows = rows_of(50_000)
    working = WorkingSet(rows, np.random.default_rng(0))

    def largest(index):
        return int(values[index].max())

    def larger(found):
        return np.flatnonzero(values > found)[:5]

    assert working.decided(largest, larger) == 49_999
    assert working.index.size < 3000


def test_values_are_gathered_once_when_asked_for():
    rows = rows_of(50_000)
    taken = []
    take = rows.take
    rows.take = lambda index: taken.append(len(index)) or take(index)
    working = WorkingSet(rows, np.random.default_rng(0), start=np.arange(30))
    assert not taken
    assert working.rows.shape == (30, 4)
    working.add(np.arange(20, 35))
    working.keep(np.arange(10, 35))
    assert held_rows_are_the_sources(WorkingSet(rows, None, start=np.arange(5)))
    assert taken == [30, 5, 5, 5]
    assert held_rows_are_the_sources(working)
