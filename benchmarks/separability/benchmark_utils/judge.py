"""The judge of answers: NumPy and fractions alone.

An outcome is what a solver says: "verdict" (True, False or None); "coef" and
"intercept", or "exact" (rational numbers, the intercept last); "rows" with or without
"weights"; "separated" (numbers of rows, or True where only that there are some is
said); or the "reason" why there is no answer. With "or_quasi" the verdict True means
complete or quasi-complete separation.
"""

from fractions import Fraction
from math import lcm

import numpy as np

U = 2.0**-53
# Conflicts of more rows than this are not judged without their weights.
MOST_ROWS = 150


def judge(problem, truth, outcome):
    """Return what was found ("right", ...), whether it is proved, and a remark."""
    answered = {"found": "no answer", "proved": False, "margin": float("nan")}
    answered["remark"] = outcome.get("reason", "")
    ask = {"separable": _separable, "margin": _margin, "regression": _regression}
    return answered | ask[problem.question](problem, truth, outcome)


def _separable(problem, truth, outcome):
    verdict, rows = outcome.get("verdict"), outcome.get("rows")
    if verdict is None:
        return {}
    if verdict != truth:
        if verdict and outcome.get("or_quasi"):
            return {"remark": "separation, complete or quasi-complete"}
        return {"found": "wrong"}
    if verdict and outcome.get("exact") is not None:
        proved = separates_exactly(problem, outcome["exact"])
        return {"found": "right" if proved else "no answer", "proved": proved}
    if verdict and outcome.get("coef") is not None:
        holds = is_separator(problem, outcome["coef"], outcome.get("intercept", 0.0))
        if not holds:
            return {"remark": "its hyperplane does not separate"}
        return {"found": "right", "proved": True}
    if rows is None or len(rows) == 0:
        return {"found": "right"}
    weights = outcome.get("weights")
    if weights is None:
        proved = are_in_conflict(problem, rows)
    else:
        proved = rows_vanish(problem, rows, weights)
    kind = "" if proved else ", not seen to be in conflict"
    return {"found": "right", "proved": proved, "remark": f"{len(rows)} rows{kind}"}


def _margin(problem, truth, outcome):
    coef, intercept = outcome.get("coef"), outcome.get("intercept", 0.0)
    if coef is None:
        return {}
    if not is_separator(problem, coef, intercept):
        return {"remark": "its hyperplane does not separate"}
    values = signs_of(problem.y) * (problem.X @ coef + intercept)
    margin = float(values.min() / np.linalg.norm(coef))
    return {"found": "right", "proved": True, "margin": margin}


def _regression(problem, truth, outcome):
    separated = outcome.get("separated")
    if separated is None:
        return {}
    if isinstance(separated, bool):
        found = "right" if separated == bool(len(truth)) else "wrong"
        return {"found": found, "remark": "yes or no only"}
    given, known = set(map(int, separated)), set(map(int, truth))
    if given == known:
        return {"found": "right", "remark": f"{len(known):,} rows"}
    if given and given < known:
        return {"found": "part", "remark": f"{len(given):,} of {len(known):,} rows"}
    return {"found": "wrong", "remark": f"{len(given):,} rows for {len(known):,}"}


def signs_of(y):
    """-1 for the first of the two sorted labels, +1 for the other."""
    return np.where(np.asarray(y) == np.unique(y)[-1], 1.0, -1.0)


def is_separator(problem, coef, intercept):
    """Tell whether every row is strictly on its side, beyond doubt."""
    X, coef = problem.X, np.asarray(coef, dtype=np.float64).ravel()
    signs, n = signs_of(problem.y), X.shape[0]
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
        row = _dense(X[[i]]).ravel()
        value = sum(
            (Fraction(float(x)) * w for x, w in zip(row, weights) if x), constant
        )
        if not signs[i] * value > 0:
            return False
    return True


def separates_exactly(problem, w):
    """Tell whether rational numbers, the intercept last, have every row on its side."""
    w = [Fraction(c) for c in w]
    constant = w.pop() if problem.intercept else 0
    return all(
        sign * (sum(Fraction(float(x)) * c for x, c in zip(row, w)) + constant) > 0
        for sign, row in zip(
            signs_of(problem.y).astype(int).tolist(), _dense(problem.X)
        )
    )


def rows_vanish(problem, rows, weights):
    """Tell whether positive weights make signed rows sum to zero, the intercept too."""
    weights = [Fraction(w) for w in weights]
    if not weights or min(weights) <= 0 or len(set(map(int, rows))) < len(weights):
        return False
    signs = signs_of(problem.y)
    signed = [w * int(signs[i]) for i, w in zip(rows, weights)]
    if problem.intercept and sum(signed) != 0:
        return False
    return all(
        sum((w * Fraction(float(x)) for w, x in zip(signed, column)), Fraction(0)) == 0
        for column in _dense(problem.X[np.asarray(rows)]).T
    )


def are_in_conflict(problem, rows):
    """Tell whether signed rows have one relation up to scale, and that a positive one.

    So it is with a minimal conflict. Integers, by Bareiss's elimination.
    """
    if len(rows) > MOST_ROWS:
        return False
    some = _dense(problem.X[np.asarray(rows)]).astype(float)
    if problem.intercept:
        some = np.column_stack([some, np.ones(len(some))])
    some = some * signs_of(problem.y)[np.asarray(rows)][:, None]
    matrix = []
    for column in some.T:
        fractions = [Fraction(x) for x in column]
        scale = lcm(*(x.denominator for x in fractions))
        matrix.append([int(x * scale) for x in fractions])
    relation = _relation(matrix, len(rows))
    return relation is not None and (min(relation) > 0 or max(relation) < 0)


def _relation(matrix, k):
    """Return the integers p with ``matrix p = 0`` if they are unique up to scale."""
    last, rank = 1, 0
    for column in range(k - 1):
        pivot = next((r for r in range(rank, len(matrix)) if matrix[r][column]), None)
        if pivot is None:
            return None
        matrix[rank], matrix[pivot] = matrix[pivot], matrix[rank]
        top = matrix[rank]
        for r, row in enumerate(matrix):
            if r != rank:
                factor = row[column]
                matrix[r] = [
                    (top[column] * a - factor * b) // last for a, b in zip(row, top)
                ]
        last, rank = top[column], rank + 1
    if any(row[k - 1] for row in matrix[rank:]):
        return None
    # Every pivot has become `last`: last * p_r + m_r * p_k = 0, with p_k = last.
    return [-matrix[r][k - 1] for r in range(rank)] + [last]


def _dense(rows):
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
