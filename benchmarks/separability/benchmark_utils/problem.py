"""What a solver is given, and the signed rows that linear programs want."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .judge import signs_of


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows X (n, d), dense or CSR, labels y of two classes, and what is asked.

    The question is "separable" (is there a separating hyperplane), "margin" (which one
    has the largest margin) or "regression" (which rows keep the maximum likelihood
    estimate from existing). Fixed effects come as a frame and a formula, without X.
    """

    question: str
    seconds: float  # the limit of a run
    X: Any = None
    y: Any = None
    intercept: bool = True
    frame: Any = None
    formula: str | None = None
    family: str = "binomial"

    @property
    def is_sparse(self):
        """Whether X is a sparse matrix."""
        return sparse.issparse(self.X)


def signed_rows(problem):
    """Return the rows ``a_i = y_i (x_i, 1)``, CSR where X is: w has ``a_i . w > 0``."""
    signs = signs_of(problem.y)
    if problem.is_sparse:
        parts = [problem.X] + [np.ones((len(signs), 1))] * problem.intercept
        return sparse.csr_matrix(sparse.hstack(parts).multiply(signs[:, None]))
    rows = np.asarray(problem.X, dtype=np.float64)
    if problem.intercept:
        rows = np.column_stack([rows, np.ones(len(rows))])
    return rows * signs[:, None]


def hyperplane(problem, w):
    """Return the answer "separable", with the vector w of signed rows taken apart."""
    w = np.asarray(w, dtype=np.float64)
    if problem.intercept:
        return {"verdict": True, "coef": w[:-1], "intercept": float(w[-1])}
    return {"verdict": True, "coef": w}
