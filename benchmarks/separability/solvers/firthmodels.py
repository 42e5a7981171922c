"""firthmodels' detect_separation: linear programs as R's detectseparation has them."""

import numpy as np
from benchmark_utils.peer import Runner
from firthmodels import detect_separation


class Solver(Runner):
    name = "firthmodels"
    questions = ("separable", "regression")
    takes_sparse = False
    requirements = ["pip::firthmodels"]

    def prepare(self):
        detect_separation([[0.0], [1.0], [0.5]], [0, 1, 0])

    def solve(self, problem):
        labels = np.asarray(problem.y == np.unique(problem.y)[-1], dtype=int)
        return detect_separation(problem.X, labels, fit_intercept=problem.intercept)

    def read(self, found, problem):
        if problem.question == "regression":
            return {"separated": bool(found.separation)}
        return {"verdict": bool(found.separation), "or_quasi": True}
