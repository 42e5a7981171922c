"""Rows that come a block at a time answer as the same rows held whole."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.rows import blocks, rows_from
from linsep.rows.columns import ColumnsApart
from linsep.rows.streamed import StreamedRows
from linsep.rows.threads import one_ahead

KINDS = {
    "dense": lambda X: X,
    "sparse": sparse.csr_array,
    "apart": lambda X: ColumnsApart(list(X.T), len(X), X.dtype),
}


def streamed(X, signs, fit_intercept, kind="dense", size=7):
    """The rows of a matrix in blocks of a few rows, and how often they were read."""
    readings = []

    def read():
        readings.append(1)
        for start in range(0, len(X), size):
            yield KINDS[kind](X[start : start + size])

    rows = StreamedRows(read, signs, X.shape[1], fit_intercept, X.dtype)
    return rows, readings


@st.composite
def problems(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 6))
    X = rng.integers(-3, 4, (n, d)) * 2.0 ** rng.integers(-9, 9, (n, d))
    X = X.astype(draw(st.sampled_from([np.float64, np.float32])))
    signs = rng.choice(np.array([-1, 1], dtype=np.int8), n)
    fit_intercept = draw(st.booleans())
    w = rng.integers(-4, 5, d + fit_intercept).astype(float)
    return X, signs, fit_intercept, w


@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems(), k=st.integers(0, 45), by_margin=st.booleans())
def test_a_scan_of_blocks_is_that_of_the_whole(kind, problem, k, by_margin):
    X, signs, fit_intercept, w = problem
    rows, _ = streamed(X, signs, fit_intercept, kind)
    found = rows.scan(w, k, by_margin=by_margin)
    whole = rows_from(KINDS["dense"](X), signs, fit_intercept)
    expected = whole.scan(w, k, by_margin=by_margin)
    # Whole numbers times powers of two: sums are exact, in any order.
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_array_equal(found.values, expected.values)
    assert found.n_violations == expected.n_violations
    assert found.n_unsettled == expected.n_unsettled
    if kind != "sparse":  # whose rows have fewer terms, and so smaller errors
        assert found.margin_negative == expected.margin_negative
        assert found.margin_positive == expected.margin_positive
        assert found.margin_settled == expected.margin_settled
        assert found.error == expected.error


@pytest.mark.parametrize("kind", KINDS)
@given(problem=problems(), data=st.data())
def test_rows_are_those_of_the_matrix(kind, problem, data):
    X, signs, fit_intercept, w = problem
    rows, readings = streamed(X, signs, fit_intercept, kind)
    whole = rows_from(X, signs, fit_intercept)
    indices = st.lists(st.integers(0, len(X) - 1), unique=True)
    for _ in range(3):
        index = np.array(data.draw(indices), dtype=np.intp)
        taken = rows.take(index)
        taken = taken.toarray() if sparse.issparse(taken) else taken
        np.testing.assert_array_equal(taken, whole.take(index))
        for found, expected in zip(
            rows.margins(w, index), whole.margins(w, index), strict=True
        ):
            np.testing.assert_array_equal(found, expected)
    for found, expected in zip(rows.margins(w), whole.margins(w), strict=True):
        np.testing.assert_array_equal(found, expected)
    assert len(readings) == rows.n_readings


def test_rows_that_a_scan_named_are_not_read_again():
    rng = np.random.default_rng(0)
    X, signs = rng.standard_normal((500, 4)), np.ones(500, dtype=np.int8)
    rows, readings = streamed(X, signs, True, size=64)
    scan = rows.scan(rng.standard_normal(5), 20)
    more = rows.scan(rng.standard_normal(5), 20)
    rows.take(more.index)
    both = np.union1d(scan.index, more.index)
    np.testing.assert_array_equal(rows.take(both)[:, :4], X[both])
    assert len(readings) == 2


def test_only_so_many_rows_are_kept(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_KEPT", 50)
    rng = np.random.default_rng(0)
    X, signs = rng.standard_normal((300, 4)), np.ones(300, dtype=np.int8)
    rows, readings = streamed(X, signs, True, size=64)
    whole = rows_from(X, signs, True)
    w = rng.standard_normal(5)
    scan = rows.scan(w, 300)
    np.testing.assert_array_equal(scan.index, whole.scan(w, 300).index)
    assert rows._kept.index.size == 10
    np.testing.assert_array_equal(rows.take(scan.index), whole.take(scan.index))
    assert len(readings) == 2


def test_ranges_that_follow_each_other_are_one_reading():
    X = np.arange(60.0).reshape(30, 2)
    rows, readings = streamed(X, np.ones(30, dtype=np.int8), True, size=7)
    found = [rows.features(slice(start, start + 4)) for start in range(0, 30, 4)]
    np.testing.assert_array_equal(np.concatenate(found), X)
    assert len(readings) == 1
    np.testing.assert_array_equal(rows.features(slice(3, 26)), X[3:26])
    np.testing.assert_array_equal(rows.features(slice(20, 5)), X[:0])
    np.testing.assert_array_equal(rows.features(slice(1, 9, 2)), X[1:9:2])


def test_whoever_is_told_of_the_rows_read_may_end_the_reading():
    X = np.zeros((30, 1))
    rows, _ = streamed(X, np.ones(30, dtype=np.int8), True, size=10)
    told = []
    rows.told = told.append
    rows.scan(np.ones(2), 1)
    assert told == [10, 20, 30]

    def stop(n_read):
        raise InterruptedError

    rows.told = stop
    with pytest.raises(InterruptedError):
        rows.scan(np.ones(2), 1)


def test_the_next_item_is_made_while_one_is_used():
    made = []

    def items():
        for number in range(3):
            made.append(threading.get_ident())
            yield number

    found = []
    for number in one_ahead(items()):
        found.append(number)
        while len(made) < min(number + 2, 3):  # made by another thread, or for ever
            pass
    assert found == [0, 1, 2]
    assert threading.get_ident() not in made


def test_what_fails_while_reading_ahead_is_raised():
    def items():
        yield 1
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(one_ahead(items()))


def test_a_reading_that_is_given_up_is_closed_at_once():
    closed, later = threading.Event(), threading.Event()

    def items():
        try:
            yield 1
            later.wait(5)  # the second is being made as the reading is given up
            yield 2
            yield 3
        finally:
            closed.set()

    ahead = one_ahead(items())
    assert next(ahead) == 1
    threading.Timer(0.05, later.set).start()
    ahead.close()
    assert closed.is_set()


@pytest.mark.parametrize("index", [np.arange(50), np.array([3, 49]), slice(0, 50)])
def test_a_reading_that_comes_to_the_last_row_is_closed(index):
    closed, X = [], np.arange(100.0).reshape(50, 2)

    def read():
        try:
            for start in range(0, 50, 10):
                yield X[start : start + 10]
        finally:
            closed.append(True)

    rows = StreamedRows(read, np.ones(50, dtype=np.int8), 2, False, X.dtype)
    np.testing.assert_array_equal(rows.features(index), X[index])
    assert closed == [True]


@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_over_most_rows_keeps_none_of_them(kind, monkeypatch):
    monkeypatch.setattr(blocks, "LARGE_PIECE", 20)
    rng = np.random.default_rng(0)
    X, signs = rng.standard_normal((400, 3)), np.ones(400, dtype=np.int8)
    rows, readings = streamed(X, signs, False, kind)
    index = np.flatnonzero(np.arange(400) % 10)
    pieces = [rows.take(part) for part in np.array_split(index, 30)]
    taken = np.vstack([part.toarray() if kind == "sparse" else part for part in pieces])
    np.testing.assert_array_equal(taken, X[index])
    assert len(readings) == 1
    assert rows._kept.index.size == pieces[0].shape[0]
    rows.take(index[:3])  # known from the first piece
    assert len(readings) == 1
