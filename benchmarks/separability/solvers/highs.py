"""SciPy's HiGHS: the linear program a_i . w >= 1, its dual form, and the partition.

The dual form asks for weights p >= 0 of sum 1 under which the signed rows vanish: there
are such iff no hyperplane separates. The partition, for regressions, maximises the sum
of t with a_i . w >= t_i, 0 <= t <= 1: t is 1 where rows are separated.
"""

import numpy as np
from benchmark_utils.peer import Runner
from benchmark_utils.problem import hyperplane, signed_rows
from scipy import sparse
from scipy.optimize import linprog


class Solver(Runner):
    name = "HiGHS"
    questions = ("separable", "regression")
    parameters = {"form": ["primal", "dual"], "method": ["highs-ds", "highs-ipm"]}
    parameter_template = "{form}, {method}"

    def skip(self, problem):
        if problem.question == "regression" and self.form == "dual":
            return True, "the partition is a primal form"
        return super().skip(problem)

    def prepare(self):
        linprog([0.0], A_ub=[[1.0]], b_ub=[-1.0], method=self.method)

    def solve(self, problem):
        A = signed_rows(problem)
        options = {"time_limit": problem.seconds}
        if problem.question == "regression":
            return self._partition(A, options)
        n, d = A.shape
        if self.form == "primal":
            return linprog(
                np.zeros(d), A_ub=-A, b_ub=-np.ones(n), bounds=(None, None),
                method=self.method, options=options,
            )  # fmt: skip
        stack = sparse.vstack if problem.is_sparse else np.vstack
        return linprog(
            np.zeros(n), A_eq=stack([A.T, np.ones((1, n))]),
            b_eq=np.append(np.zeros(d), 1.0), method=self.method, options=options,
        )  # fmt: skip

    def _partition(self, A, options):
        n, d = A.shape
        return linprog(
            np.append(np.zeros(d), -np.ones(n)),
            A_ub=sparse.hstack([-sparse.csr_array(A), sparse.eye_array(n)]).tocsr(),
            b_ub=np.zeros(n), bounds=[(None, None)] * d + [(0, 1)] * n,
            method=self.method, options=options,
        )  # fmt: skip

    def read(self, found, problem):
        if found.status not in (0, 2):  # optimal, infeasible
            return {"reason": found.message[:200]}
        if problem.question == "regression":
            if found.status == 2:
                return {"reason": "infeasible, which it is not"}
            n = problem.X.shape[0]
            return {"separated": np.flatnonzero(found.x[-n:] > 0.5)}
        if self.form == "dual":
            return {"verdict": found.status == 2}
        return hyperplane(problem, found.x) if found.status == 0 else {"verdict": False}
