"""Remedies for rows that are read in batches: code that reads them again, and no more.

A penalised fit, and one without the rows separated, are sums over the rows: their
logarithmic likelihood, its gradient and its curvature. So `scipy.optimize` fits them in
some dozen readings. Counts are not fitted: the verdict needs only which of them are
zero, and no more of them is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.report.remedies import MOST_COLUMNS, Remedy, rows_left_out
from linsep.rows import as_dense, split
from linsep.rows.blocks import BlockRows, at_rest

# {rows}: what to read; {scaled}: the columns, the constant before them if there is one;
# {free}: how many coefficients are not penalised; {penalty}: of half the squares.
_FIT = """\
import numpy
from scipy.optimize import minimize
from scipy.special import expit

columns = {columns}

def batches():  # of rows, as many times as asked
    for X, y in answer.batches({rows}):
        yield X[:, columns], y

n, first = 0, next(batches())[0].mean(axis=0)
sums, squares = numpy.zeros((2, len(columns)))
for X, y in batches():
    n, sums = n + len(y), sums + (X - first).sum(axis=0)
    squares += ((X - first) ** 2).sum(axis=0)
center = {center}
scale = numpy.sqrt(numpy.maximum(squares / n - (sums / n) ** 2, 0))
scale[scale == 0] = 1
penalty = {penalty} * (numpy.arange(len(columns) + {free}) >= {free})

def loss(w):  # and its gradient
    value, gradient = penalty @ w**2 / 2, penalty * w
    for X, y in batches():
        X = {scaled}
        value += numpy.logaddexp(0, X @ w).sum() - y @ (X @ w)
        gradient = gradient + X.T @ (expit(X @ w) - y)
    return value, gradient

def information(w):
    found = numpy.diag(penalty)
    for X, y in batches():
        X = {scaled}
        p = expit(X @ w)
        found = found + (X.T * (p * (1 - p))) @ X
    return found

fit = minimize(loss, numpy.zeros(len(penalty)), jac=True, hess=information,
               method="trust-exact", options={{"gtol": 1e-7 * n}})
names = numpy.array(answer.coefficient_names)[{free}:][columns].tolist()
params = dict(zip(names, (fit.x[{free}:] / scale).tolist()))
{last}"""
_WITH_CONSTANT = """\
params["intercept"] = fit.x[0] - fit.x[1:] @ (center / scale)
"""
_ERRORS = """\
bse = numpy.sqrt(numpy.diag(numpy.linalg.inv(information(fit.x))))[{free}:] / scale
bse = dict(zip(names, bse.tolist()))
"""


class RowsAnew:
    """Rows that can be read again. A pickle leaves them behind, and None is left."""

    def __init__(self, rows: BlockRows, overlapped: Mask) -> None:
        self._rows, self._overlapped = rows, overlapped

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Return what makes None."""
        return type(None), ()

    def batches(self, separated: bool) -> Iterator[tuple[Floats, Floats]]:
        """Yield columns and outcomes, without the rows separated unless asked."""
        with at_rest(self._rows), closing(self._rows.blocks()) as blocks:
            for first, block in blocks:
                for start, stop in split(*block.shape):
                    X = as_dense(block.features(slice(start, stop))[:])
                    y = (block.signs[start:stop] > 0).astype(np.float64)
                    if not separated:
                        kept = self._overlapped[first + start : first + stop]
                        X, y = X[kept], y[kept]
                    if len(y):
                        yield X.astype(np.float64, copy=False), y


def remedies_in_batches(
    names: Sequence[str],
    has_constant: bool,
    n_separated: int,
    n_left: int,
    free: Index | None,
) -> list[Remedy]:
    """Return what can be done about separated rows of a logistic regression.

    Parameters
    ----------
    names : sequence of str
        Of the columns.
    has_constant : bool
    n_separated, n_left : int
        Rows separated, and the others.
    free : ndarray of int, or None
        The columns to leave out so that those left are independent on the rows left.
    """
    d = len(names)
    fits = d <= MOST_COLUMNS
    found = [
        Remedy(
            "a penalty (ridge)",
            "it makes every estimate finite, as large as its strength allows; of "
            "columns in units of their standard deviations, by SciPy, in some dozen "
            "readings",
            _code(d, np.arange(d), has_constant, penalty=1.0) if fits else "",
            "the model; estimates depend on the strength chosen",
        )
    ]
    if n_left == 0:
        return found
    kept = np.arange(d) if free is None else np.setdiff1d(np.arange(d), free)
    if free is not None and fits and (kept.size or has_constant):
        rows = "row" if n_separated == 1 else "rows"
        gone = [names[j] for j in free]
        code = _code(d, kept, has_constant, separated=False)
        found.append(rows_left_out(f"{n_separated:,} {rows}", gone, code))
    return found


def _code(
    d: int,
    columns: Index,
    has_constant: bool,
    *,
    penalty: float = 0.0,
    separated: bool = True,
) -> str:
    """Write the code of a fit to some columns."""
    gone = np.setdiff1d(np.arange(d), columns)
    chosen = f"numpy.arange({d})"
    if gone.size > columns.size:
        chosen = f"numpy.array({columns.tolist()}, dtype=int)"
    elif gone.size:
        chosen = f"numpy.delete({chosen}, {gone.tolist()})"
    scaled = "(X - center) / scale"
    if has_constant:
        scaled = f"numpy.column_stack([numpy.ones(len(X)), {scaled}])"
    free = int(has_constant)
    last = _WITH_CONSTANT * has_constant + (_ERRORS if penalty == 0 else "")
    return _FIT.format(
        rows="" if separated else "separated=False",
        columns=chosen,
        center="first + sums / n" if has_constant else "numpy.zeros(len(columns))",
        scaled=scaled,
        penalty=penalty,
        free=free,
        last=last.format(free=free),
    ).rstrip()
