"""Whether the answer holds, and how long it took.

The answer is judged from the vectors that a solver returns, by code that shares nothing
with any solver: doubles with their rounding bounded, and fractions where these do not
decide. "right" says that the verdict is that of the data, "proved" that the vectors
show it: a separator that has every row on its side, or weights under which rows sum to
zero.
"""

from benchmark_utils.judge import is_separator, rows_vanish
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Linear separability"
    url = ""
    min_benchopt_version = "1.6"
    sampling_strategy = "run_once"

    def set_data(self, X, y, separable):
        """Take X (n, d), dense or CSR, y of two classes, and the truth."""
        self.X, self.y, self.separable = X, y, separable

    def get_objective(self):
        return {"X": self.X, "y": self.y}

    def evaluate_result(self, verdict, coef, intercept, rows, weights):
        """Judge a verdict (True, False or None) and the vectors that come with it."""
        proved = False
        if verdict is True and coef is not None:
            proved = is_separator(self.X, self.y, coef, intercept)
            verdict = True if proved else None
        if verdict is False and rows is not None:
            proved = rows_vanish(self.X, self.y, rows, weights)
        if verdict is None:
            found = "no answer"
        else:
            found = "right" if verdict == self.separable else "wrong"
        return {"value": float(found != "right"), "found": found, "proved": proved}

    def get_one_result(self):
        return {
            "verdict": None,
            "coef": None,
            "intercept": 0.0,
            "rows": None,
            "weights": None,
        }
