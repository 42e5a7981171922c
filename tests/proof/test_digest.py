"""The fast digest is the checker's digest, whatever holds the data."""

import hashlib
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from linsep.proof import digest as module
from linsep.rows import protocol, rows_from

entries = st.one_of(st.just(0.0), st.just(-0.0), st.floats(-1e3, 1e3, width=32))
arrays = hnp.arrays(
    np.float64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=6),
    elements=entries,
)  # fmt: skip


def digest(X, signs):
    return module.digest(rows_from(X, signs, False))


def signs_for(n):
    return np.where(np.arange(n) % 3 == 0, -1, 1).astype(np.int8)


def by_hand(X, signs):
    """The definition on the checker's page, written out once more."""
    n, d = X.shape
    counts = columns = values = b""
    for row in X.tolist():
        filled = [(j, v) for j, v in enumerate(row) if v]
        counts += struct.pack("<I", len(filled))
        if len(filled) < d:
            columns += b"".join(struct.pack("<I", j) for j, _ in filled)
        values += b"".join(struct.pack("<d", v) for _, v in filled)
    parts = [bytes(int(s) % 256 for s in signs), counts, columns, values]
    text = b"linsep data 1\n" + struct.pack("<QQ", n, d)
    for part in parts:
        text += hashlib.sha256(part).digest()
    return hashlib.sha256(text).hexdigest()


@given(arrays)
def test_every_container_gives_the_digest_of_the_definition(X):
    signs = signs_for(len(X))
    expected = by_hand(X, signs)
    assert digest(X, signs) == expected
    assert digest(np.asfortranarray(X), signs) == expected
    assert digest(X.astype(np.float32), signs) == expected
    assert digest(sparse.csr_matrix(X), signs) == expected
    assert digest(sparse.csr_array(X), signs) == expected
    assert module.digest(rows_from(X, signs, True)) == expected  # no part of the data


def test_unsorted_and_explicit_zero_entries_do_not_count():
    X = np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
    stored = sparse.csr_matrix(
        ([2.0, 1.0, 0.0, 3.0], [2, 0, 1, 2], [0, 2, 4]), shape=(2, 3)
    )
    assert digest(stored, signs_for(2)) == by_hand(X, signs_for(2))


@pytest.mark.parametrize("chunk", [1, 5, 64])
def test_the_size_of_a_chunk_does_not_matter(monkeypatch, chunk):
    rng = np.random.default_rng(chunk)
    X = rng.standard_normal((40, 5)) * rng.integers(0, 2, (40, 5))
    X[10:20] = 1.0
    X[25] = 0.0
    expected = by_hand(X, signs_for(40))
    monkeypatch.setattr(protocol, "CHUNK_ENTRIES", chunk)
    assert digest(X, signs_for(40)) == expected
    assert digest(sparse.csr_matrix(X), signs_for(40)) == expected


def test_anything_else_changes_the_digest():
    X = np.array([[1.0, 2.0], [0.0, 4.0]])
    signs = signs_for(2)
    moved = X.copy()
    moved[0, 1] = np.nextafter(2.0, 3.0)
    others = [
        (moved, signs),
        (X[::-1], signs),
        (X[:, ::-1], signs),
        (X, -signs),
        (X[:1], signs[:1]),
        (np.column_stack([X, np.zeros(2)]), signs),
    ]
    seen = {digest(X, signs)} | {digest(*other) for other in others}
    assert len(seen) == 1 + len(others)
