"""Equal rows: found exactly, whatever the words of the rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy import sparse

from linsep.rows import equal_rows, protocol
from linsep.rows.equal_rows import are_equal, distinct, merge_equal_rows, row_words

entries = st.sampled_from([-0.0, 0.0, 1.0, -1.0, 0.1, 1e300, 5e-324])
tables = arrays(
    np.float64,
    array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6),
    elements=entries,
)
KINDS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "sparse": sparse.csr_array,
    "sparse with zeros written out": lambda X: sparse.csr_array(
        (X.ravel(), np.tile(np.arange(X.shape[1]), len(X)), _ends(X)), X.shape
    ),
}


def _ends(X):
    return np.arange(len(X) + 1) * X.shape[1]


def textbook(X):
    """Each row's group, groups numbered as they first occur, by a dictionary."""
    numbers = {}
    return [numbers.setdefault(tuple(row), len(numbers)) for row in (X + 0.0).tolist()]


@pytest.mark.parametrize("kind", KINDS)
@given(X=tables)
def test_groups_are_those_of_a_dictionary(kind, X):
    groups = merge_equal_rows(KINDS[kind](X))
    expected = textbook(X)
    assert groups.group.tolist() == expected
    assert groups.first.tolist() == [
        expected.index(k) for k in range(len(groups.first))
    ]
    held = groups.X.toarray() if kind.startswith("sparse") else groups.X
    np.testing.assert_array_equal(held, X[groups.first])


@given(X=tables, words=st.lists(st.integers(0, 1), min_size=6, max_size=6))
def test_words_that_collide_change_nothing(X, words):
    # At first a row gets one of two words, by its sum; then all get the same.
    def colliding(index, attempt):
        with np.errstate(over="ignore"):
            sums = np.sign(X[index].sum(axis=1)) + 1
        return np.array(words, dtype=np.uint64)[sums.astype(int)] * (attempt == 0)

    first, group = distinct(
        len(X), colliding, lambda some, others: are_equal(X, some, others)
    )
    pairs = {(tuple(X[first[g]] + 0.0), g) for g in group.tolist()}
    assert len({row for row, _ in pairs}) == len(pairs) == len(first)
    for i, g in enumerate(group.tolist()):
        np.testing.assert_array_equal(X[first[g]], X[i])
        assert first[g] <= i


@given(X=tables, attempt=st.integers(0, 3))
def test_a_rows_word_depends_on_its_values_alone(X, attempt):
    words = row_words(np.ascontiguousarray(X), attempt)
    for make in KINDS.values():
        np.testing.assert_array_equal(row_words(make(X), attempt), words)
    np.testing.assert_array_equal(row_words(0.0 - (0.0 - X), attempt), words)


def test_attempts_give_words_of_their_own():
    X = np.random.default_rng(0).integers(0, 2, (1000, 12)).astype(float)
    X = np.unique(X, axis=0)
    together = np.concatenate([row_words(X, attempt) for attempt in range(3)])
    assert len(np.unique(together)) == 3 * len(X) - 2  # a row of zeros has the word 0


@pytest.mark.parametrize("kind", ["C", "sparse"])
def test_rows_in_many_chunks_are_the_same(kind, monkeypatch):
    X = np.random.default_rng(1).integers(0, 3, (500, 4)).astype(float)
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", 30)
    monkeypatch.setattr(equal_rows, "BLOCK_ENTRIES", 30)
    assert merge_equal_rows(KINDS[kind](X)).group.tolist() == textbook(X)
