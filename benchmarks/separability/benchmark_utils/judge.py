"""The judge of separators and conflicts: NumPy and fractions alone."""

from fractions import Fraction

import numpy as np

U = 2.0**-53


def signs_of(y):
    """-1 for the first of the two sorted labels, +1 for the other."""
    return np.where(np.asarray(y) == np.unique(y)[-1], 1.0, -1.0)


def is_separator(X, y, coef, intercept):
    """Tell whether every row is strictly on its side, beyond doubt."""
    coef = np.asarray(coef, dtype=np.float64).ravel()
    signs, n = signs_of(y), X.shape[0]
    if not (np.isfinite(coef).all() and np.isfinite(intercept)):
        return False
    doubtful = []
    step = max(1, 2**22 // X.shape[1])
    for start in range(0, n, step):
        block = X[start : start + step]
        if hasattr(block, "toarray"):
            values = block @ coef
            sizes = abs(block) @ np.abs(coef)
        else:
            block = block.astype(np.float64, copy=False)
            values, sizes = block @ coef, np.abs(block) @ np.abs(coef)
        margin = signs[start : start + step] * (values + intercept)
        bound = (X.shape[1] + 3) * 2 * U * (sizes + abs(intercept)) + 1e-300
        if (margin < -bound).any():
            return False
        doubtful.extend((start + np.flatnonzero(margin <= bound)).tolist())
        if len(doubtful) > 20_000:
            return False
    weights, constant = [Fraction(float(c)) for c in coef], Fraction(float(intercept))
    for i in doubtful:
        row = X[[i]]
        row = row.toarray() if hasattr(row, "toarray") else row
        value = sum(
            (Fraction(float(x)) * w for x, w in zip(row.ravel(), weights) if x),
            constant,
        )
        if not signs[i] * value > 0:
            return False
    return True


def rows_vanish(X, y, rows, weights):
    """Tell whether positive weights make signed rows, extended by 1, sum to zero."""
    signs = signs_of(y)
    weights = [Fraction(w) for w in weights]
    if not weights or min(weights) <= 0 or len(set(map(int, rows))) < len(weights):
        return False
    some = X[np.asarray(rows)]
    some = some.toarray() if hasattr(some, "toarray") else some
    signed = [w * int(signs[i]) for i, w in zip(rows, weights)]
    if sum(signed) != 0:
        return False
    return all(
        sum((w * Fraction(float(x)) for w, x in zip(signed, column)), Fraction(0)) == 0
        for column in np.asarray(some, dtype=np.float64).T
    )
