"""Fingerprints: the same for the same rows however they are cut, others for others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from linsep.rows.columns import ColumnsApart
from linsep.rows.fingerprint import LANES, Fingerprint

N = 3 * LANES + 7
RNG = np.random.default_rng(0)
X = RNG.standard_normal((N, 4)) * (RNG.random((N, 4)) < 0.5)
SIGNS = np.where(RNG.random(N) < 0.5, 1, -1).astype(np.int8)


def apart(part):
    return ColumnsApart(list(part.T), len(part), part.dtype)


FORMS = {
    "rows": np.asarray,
    "columns after each other": np.asfortranarray,
    "columns apart": apart,
    "sparse": sparse.csr_array,
    "single": lambda part: part.astype(np.float32),
    "single, apart": lambda part: apart(part.astype(np.float32)),
}


def fingerprint(form, rows=X, signs=SIGNS, cuts=()):
    whole, number = Fingerprint(), None
    for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
        number = whole.add(form(rows[start:stop]), signs[start:stop])
    return number


@pytest.mark.parametrize("form", FORMS)
@given(cuts=st.lists(st.integers(0, N), max_size=5).map(sorted))
def test_where_matrices_end_does_not_matter(form, cuts):
    form = FORMS[form]
    assert fingerprint(form, cuts=cuts) == fingerprint(form)


@pytest.mark.parametrize("form", FORMS)
@given(data=st.data())
def test_rows_that_change_have_another(form, data):
    form, known = FORMS[form], fingerprint(FORMS[form])
    i = data.draw(st.integers(0, N - 1))
    j = data.draw(st.integers(0, 3))
    changed = X.copy()
    changed[i, j] += 1.0
    assert fingerprint(form, changed) != known
    k = data.draw(st.integers(0, N - 1).filter(lambda k: (k - i) % LANES))
    order = np.arange(N)
    order[[i, k]] = k, i
    if (X[i] != X[k]).any():
        assert fingerprint(form, X[order]) != known
    if SIGNS[i] != SIGNS[k]:
        assert fingerprint(form, X, SIGNS[order]) != known
    values = X.copy()
    values[:, j] = 1.0  # what every row has changes in every lane
    assert fingerprint(form, values) != known


@pytest.mark.parametrize("form", FORMS)
def test_a_column_that_is_constant_before_and_after(form):
    zeros, ones = np.zeros((4 * LANES, 1)), np.ones((4 * LANES, 1))
    signs = np.ones(4 * LANES, dtype=np.int8)
    form = FORMS[form]
    assert fingerprint(form, zeros, signs) != fingerprint(form, ones, signs)
