"""Clarabel: the hard margin as a quadratic program."""

import clarabel
import numpy as np
from benchmark_utils.peer import Runner
from benchmark_utils.problem import hyperplane, signed_rows
from scipy import sparse


class Solver(Runner):
    name = "Clarabel"
    questions = ("separable", "margin")
    requirements = ["pip::clarabel"]

    def solve(self, problem):
        A = sparse.csc_matrix(-signed_rows(problem))
        n, d = A.shape
        squares = np.ones(d)
        if problem.intercept:
            squares[-1] = 0.0
        settings = clarabel.DefaultSettings()
        settings.verbose, settings.time_limit = False, float(problem.seconds)
        solver = clarabel.DefaultSolver(
            sparse.diags(squares).tocsc(), np.zeros(d), A, -np.ones(n),
            [clarabel.NonnegativeConeT(n)], settings,
        )  # fmt: skip
        return solver.solve()

    def read(self, found, problem):
        status = str(found.status)
        if status in ("Solved", "AlmostSolved"):
            return hyperplane(problem, found.x)
        if status in ("PrimalInfeasible", "AlmostPrimalInfeasible"):
            return {"verdict": False}
        return {"reason": status}
