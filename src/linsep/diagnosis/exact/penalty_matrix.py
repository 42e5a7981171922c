"""What is proved of a penalty matrix: that it is semidefinite, and what it leaves free.

Both are told a block at a time: columns that share no row of the matrix are apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from flint import fmpz_mat

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError
from linsep.proof import linear
from linsep.proof.exact import IntegerRows, integers_from
from linsep.verified.moments import Moments, NotPositive, factored
from linsep.verified.parts import no_check

# Columns of a block of which the characteristic polynomial, or the rank, is exact.
MOST_BY_POLYNOMIAL = 100
MOST_BY_RANK = 500
# Singular values below this share of the largest read as zeros that were rounded.
NEARLY_ZERO = 1e-12
# Eigenvalues of a semidefinite matrix that was computed in doubles are above this.
LEAST = -1e-8


def with_what_is_proved(study: Study) -> Study:
    """Say of a penalty matrix what is proved of it; without one nothing is said.

    A penalty ``w' S w`` of a positive semidefinite ``S``, or ``|M w|^2``, grows without
    end along a direction unless ``S w = 0``, or ``M w = 0``. Where ``S`` is not
    semidefinite, but for rounding is, it is taken as an ``M``.

    Raises
    ------
    InputError
        If a symmetric matrix is far from positive semidefinite.
    """
    if study.held is None:
        return study
    held, words = study.held, ""
    if held.shape[0] == held.shape[1] and (held == held.T).all():
        largest = float(np.abs(held).max(initial=0.0)) or 1.0
        least = float(np.linalg.eigvalsh(held / largest)[0]) if held.size else 0.0
        is_semidefinite = least >= LEAST and _is_semidefinite(held)
        if least < LEAST:
            raise InputError(
                "a square penalty matrix must be positive semidefinite, got one with "
                f"the eigenvalue {least * largest:g}; give S of the penalty w' S w, or "
                "M of |M w|^2"
            )
        words = {
            True: ", positive semidefinite, which was proved",
            None: ", positive semidefinite as far as doubles show",
            False: ", positive semidefinite but for rounding and taken as M of |M w|^2",
        }[is_semidefinite]
    n_free, n_nearly = _free(held)
    size = "" if n_free is None else f", a space of dimension {n_free:,}"
    notes = [
        f"A penalty matrix of {held.shape[0]:,} rows holds the coefficients{words}: "
        f"what is said here is of directions that it sends to zero, exactly{size}."
    ]
    if n_nearly:
        notes.append(
            f"It sends a space larger by {n_nearly:,} nearly to zero, which counts as "
            "held: if rounding alone is in the way, give it in whole numbers."
        )
    return replace(study, notes=(*study.notes, *notes))


def _blocks(held: Floats) -> Iterator[Index]:
    """Yield the columns of each block that is not zero."""
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    filled = sparse.csr_array(held != 0).astype(np.int64)
    _, labels = connected_components(filled.T @ filled, directed=False)
    used = held.any(axis=0)
    order = np.argsort(labels[used], kind="stable")
    columns, of_block = np.flatnonzero(used)[order], labels[used][order]
    starts = np.flatnonzero(np.diff(of_block, prepend=-1))
    yield from np.split(columns, starts[1:]) if columns.size else ()


def _is_semidefinite(S: Floats) -> bool | None:
    """Tell whether a symmetric matrix is positive semidefinite; None: not proved."""
    known: bool | None = True
    for columns in _blocks(S):
        if not S.diagonal()[columns].all():
            return False  # zero on the diagonal and not beside it
        found = _block_is_semidefinite(S[np.ix_(columns, columns)])
        if found is False:
            return False
        known = known and found
    return known


def _block_is_semidefinite(S: Floats) -> bool | None:
    r"""Tell it of one block.

    The eigenvalues are real, so that none is negative iff the coefficients of the
    characteristic polynomial alternate in sign (Descartes). Of larger blocks: some r
    columns are a basis of all; then ``S`` is :math:`S_P S_{PP}^{-1} S_P'`, and
    semidefinite iff :math:`S_{PP}` is definite, which Cholesky's factor proves.
    """
    k = len(S)
    if k <= MOST_BY_POLYNOMIAL:
        coefficients = fmpz_mat(k, k, integers_from(S)).charpoly().coeffs()
        signs = (-1) ** (k - np.arange(k + 1))
        return all(c * int(s) >= 0 for c, s in zip(coefficients, signs, strict=True))
    if k > MOST_BY_RANK:
        return None
    values = IntegerRows.from_floats(S).values
    chosen = linear.independent_columns(values)
    if len(chosen) + linear.null_basis(values).shape[1] > k:
        return None  # an unlucky prime
    try:
        basis = S[np.ix_(chosen, chosen)]
        moments = Moments.of_sum(basis, 0, k, no_check)
        return True if factored(moments).least_eigenvalue > 0 else None
    except NotPositive:
        return None


def _free(held: Floats) -> tuple[int | None, int]:
    """Return the dimension of the null space, and how much more doubles take for it."""
    free = nearly = int((~held.any(axis=0)).sum())
    is_known = True
    for columns in _blocks(held):
        rows = held[:, columns].any(axis=1)
        block = held[np.ix_(rows, columns)]
        if columns.size > MOST_BY_RANK:
            is_known = False
            continue
        values = np.linalg.svd(block / np.abs(block).max(), compute_uv=False)
        nearly += columns.size - int((values > NEARLY_ZERO * values[0]).sum())
        free += linear.null_basis(IntegerRows.from_floats(block).values).shape[1]
    return (free if is_known else None), max(0, nearly - free)
