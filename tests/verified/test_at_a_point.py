"""The proof that all rows overlap, at an estimate."""

import numpy as np
import pytest
from scipy import sparse

from linsep.rows import rows_from
from linsep.solvers.soft_margin.logistic import fit_logistic
from linsep.verified.at_a_point import overlap_at
from linsep.verified.overlap import Counts
from linsep.verified.parts import no_check
from linsep.verified.reduction import Reduction


def fitted(X, y):
    """Signed rows, counts, and a fit of next to no penalty."""
    ones = np.ones(len(X))
    coef, offsets = fit_logistic(X, y, ones, ones, 2).loose
    rows = rows_from(X, np.where(y == 1, 1, -1).astype(np.int8), True)
    return rows, Counts(ones, 0.0 * ones), np.append(coef, offsets)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("flipped", [0.0, 0.02, 0.2])
def test_it_proves_overlap_where_the_reduction_does_and_nothing_else(seed, flipped):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 400)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    y = (X / abs(X).max(axis=0) @ rng.normal(size=d) > 0).astype(np.intp)
    y = np.where(rng.random(n) < flipped, 1 - y, y)
    y[:2] = 0, 1
    rows, counts, start = fitted(X, y)
    whole = Reduction(rows, counts).run()
    found = overlap_at(rows, counts, start, no_check)
    assert whole.is_proved
    if found is not None:
        assert found.is_proved
        assert found.overlapped.all()
        assert whole.overlapped.all()
    elif flipped == 0.2:
        pytest.fail("an estimate among many that overlap should be a proof")


def test_it_proves_nothing_of_columns_that_depend_on_others_or_of_sparse_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = rng.integers(2, size=200)
    rows, counts, start = fitted(X, y)
    assert overlap_at(rows, counts, start, no_check) is not None
    signs = np.where(y == 1, 1, -1).astype(np.int8)
    for other in (X[:, [0, 1, 1]], X * [1.0, 1.0, 0.0], sparse.csr_array(X)):
        rows = rows_from(other, signs, True)
        assert overlap_at(rows, counts, start, no_check) is None
    X[0, 0] = np.nextafter(0, 1)
    X[1, 0] = 1e300  # a column that cannot be scaled
    assert overlap_at(rows_from(X, signs, True), counts, start, no_check) is None
