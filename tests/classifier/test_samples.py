"""Distinct rows: equal ones merged, whatever their order; hashes that collide."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from linsep.classifier.samples import Samples
from linsep.rows.equal_rows import _dense_words, _factors, _folded

small = st.sampled_from([-0.0, 0.0, 1.0, -1.0, 0.5, 1e300, 5e-324])


@given(
    X=arrays(np.float64, st.tuples(st.integers(1, 12), st.just(2)), elements=small),
    data=st.data(),
    kind=st.sampled_from(["dense", "sparse"]),
)
def test_equal_rows_are_merged_and_others_kept(X, data, kind):
    n = len(X)
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    weights = np.arange(1.0, n + 1)
    given = sparse.csr_array(X) if kind == "sparse" else X
    samples = Samples.of(given, labels, weights)
    expected: dict[tuple, float] = {}
    for row, label, weight in zip(X + 0.0, labels, weights, strict=True):
        key = (*row.tolist(), int(label))
        expected[key] = expected.get(key, 0.0) + weight
    rows = samples.X.toarray() if kind == "sparse" else samples.X
    found = {
        (*(row + 0.0).tolist(), int(label)): weight
        for row, label, weight in zip(
            rows, samples.labels, samples.weights, strict=True
        )
    }
    assert found == expected
    np.testing.assert_array_equal(labels[samples.index], samples.labels)


def test_rows_that_share_a_hash_are_not_merged():
    """A second row of the same hash, by solving for its last entry."""
    factors = [int(f) for f in _factors(np.arange(2))]
    wanted = int(_dense_words(np.array([[1.0, 2.0]]))[0])
    for other in np.arange(3.0, 500.0):
        first = int(_folded(np.array([other]))[0]) * factors[0]
        second = (wanted - first) * pow(factors[1], -1, 1 << 64) % (1 << 64)
        bits = np.array([second ^ (second >> 32)], dtype=np.uint64)
        value = float(bits.view(np.float64)[0])
        if np.isfinite(value) and value != 0.0:
            break
    X = np.array([[1.0, 2.0], [other, value], [1.0, 2.0]])
    hashes = _dense_words(X)
    assert hashes[0] == hashes[1]
    samples = Samples.of(X, np.zeros(3, dtype=np.intp), np.ones(3))
    assert sorted(samples.weights.tolist()) == [1.0, 2.0]
    assert sorted(samples.index.tolist()) == [0, 1]


@pytest.mark.parametrize("kind", ["dense", "sparse"])
def test_order_given_does_not_matter(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(60, 3)).astype(float)
    labels = rng.integers(0, 2, size=60)
    order = rng.permutation(60)
    given = sparse.csr_array(X) if kind == "sparse" else X
    one = Samples.of(given, labels, np.ones(60))
    other = Samples.of(given[order], labels[order], np.ones(60))
    dense = [a.X.toarray() if kind == "sparse" else a.X for a in (one, other)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(one.labels, other.labels)
    np.testing.assert_array_equal(one.weights, other.weights)
