"""LIBLINEAR's own package: the dual of the support vector machine, C = 1e10."""

import numpy as np
from benchmark_utils.judge import is_separator
from benchmark_utils.peer import Runner
from liblinear.liblinearutil import train
from scipy import sparse


class Solver(Runner):
    name = "LIBLINEAR"
    parameters = {"type": [1, 2, 3]}  # its -s: dual and primal of L2 loss, dual of L1
    parameter_template = "-s {type}"
    requirements = ["pip::liblinear-official"]

    def solve(self, problem):
        rows = sparse.csr_matrix(problem.X) if problem.is_sparse else problem.X
        bias = "-B 1" if problem.intercept else ""
        labels = np.asarray(problem.y == np.unique(problem.y)[-1], dtype=np.float64)
        return train(labels, rows, f"-s {self.type} -c 1e10 {bias} -q")

    def read(self, found, problem):
        coef, bias = found.get_decfun()
        coef = np.asarray(coef)
        if found.get_labels()[0] == 0:
            coef, bias = -coef, -bias
        if not is_separator(problem, coef, bias):
            return {"reason": "its hyperplane does not separate"}
        return {"verdict": True, "coef": coef, "intercept": float(bias)}
