"""SciPy's HiGHS: the linear program a_i . w >= 1, and its dual form."""

import numpy as np
from benchmark_utils.judge import signs_of
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "HiGHS"
    sampling_strategy = "run_once"
    parameters = {"form": ["primal", "dual"], "method": ["highs-ds", "highs-ipm"]}

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def skip(self, X, y):
        if X.shape[0] * X.shape[1] > 2e7:
            return True, "more than a minute"
        return False, None

    def run(self, _):
        from scipy import sparse
        from scipy.optimize import linprog

        signs = signs_of(self.y)
        if sparse.issparse(self.X):
            A = sparse.hstack([self.X, np.ones((len(signs), 1))]).tocsr()
            A = A.multiply(signs[:, None]).tocsr()
        else:
            A = np.column_stack([self.X, np.ones(len(signs))]) * signs[:, None]
        n, d = A.shape
        options = {"time_limit": 60}
        if self.form == "primal":
            self.found = linprog(
                np.zeros(d), A_ub=-A, b_ub=-np.ones(n), bounds=(None, None),
                method=self.method, options=options,
            )  # fmt: skip
        else:
            # Weights p >= 0 with A' p = 0 and sum 1: feasible iff inseparable.
            total = np.ones((1, n))
            both = (
                sparse.vstack([A.T, total])
                if sparse.issparse(A)
                else np.vstack([A.T, total])
            )
            self.found = linprog(
                np.zeros(n), A_eq=both, b_eq=np.append(np.zeros(d), 1.0),
                method=self.method, options=options,
            )  # fmt: skip

    def get_result(self):
        status = self.found.status  # 0 optimal, 2 infeasible
        verdict = {0: True, 2: False}.get(status)
        if self.form == "dual" and verdict is not None:
            verdict = not verdict
        has_w = verdict is True and self.form == "primal"
        return {
            "verdict": verdict,
            "coef": self.found.x[:-1] if has_w else None,
            "intercept": float(self.found.x[-1]) if has_w else 0.0,
            "rows": None,
            "weights": None,
        }
