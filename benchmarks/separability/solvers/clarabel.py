"""Clarabel: the hard margin as a quadratic program."""

import clarabel
import numpy as np
from benchmark_utils.judge import signs_of
from benchopt import BaseSolver
from scipy import sparse


class Solver(BaseSolver):
    name = "Clarabel"
    sampling_strategy = "run_once"
    requirements = ["pip::clarabel"]

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def skip(self, X, y):
        if X.shape[0] * X.shape[1] > 1.2e7:
            return True, "more than a minute"
        return False, None

    def run(self, _):
        signs = signs_of(self.y)
        X = sparse.csr_matrix(self.X)
        A = sparse.hstack([X, np.ones((len(signs), 1))]).tocsr()
        A = sparse.csc_matrix(A.multiply(-signs[:, None]))
        n, d = A.shape
        P = sparse.diags(np.append(np.ones(d - 1), 0.0)).tocsc()
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, 60.0
        solver = clarabel.DefaultSolver(
            P, np.zeros(d), A, -np.ones(n), [clarabel.NonnegativeConeT(n)], settings
        )
        self.found = solver.solve()

    def get_result(self):
        status = str(self.found.status)
        verdict = None
        if "Solved" in status:
            verdict = True
        elif "PrimalInfeasible" in status:
            verdict = False
        w = np.asarray(self.found.x)
        return {
            "verdict": verdict,
            "coef": w[:-1] if verdict else None,
            "intercept": float(w[-1]) if verdict else 0.0,
            "rows": None,
            "weights": None,
        }
