"""firthmodels' detect_separation: linear programs as R's detectseparation has them."""

import numpy as np
from benchopt import BaseSolver
from firthmodels import detect_separation


class Solver(BaseSolver):
    name = "firthmodels"
    sampling_strategy = "run_once"
    requirements = ["pip::firthmodels"]

    def set_objective(self, X, y):
        self.X, self.y = X, (np.asarray(y) == np.unique(y)[-1]).astype(int)

    def skip(self, X, y):
        if hasattr(X, "toarray"):
            return True, "dense only"
        if X.shape[0] * X.shape[1] > 2e6:
            return True, "more than a minute"
        return False, None

    def run(self, _):
        try:
            self.verdict = bool(detect_separation(self.X, self.y).separation)
        except np.linalg.LinAlgError:  # columns that depend on each other are refused
            self.verdict = None

    def get_result(self):
        # Complete or quasi-complete separation, which it does not tell apart.
        return {
            "verdict": self.verdict,
            "coef": None,
            "intercept": 0.0,
            "rows": None,
            "weights": None,
        }
