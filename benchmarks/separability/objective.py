"""Whether the answer holds, and how long it took.

The answer is judged from the vectors that a solver returns, by code that shares nothing
with any solver: doubles with their rounding bounded, and fractions where these do not
decide. What was "found" is "right", "wrong", "part" (some of the separated rows), or
"no answer", with the reason; "proved" says that vectors show it: a separator that has
every row on its side, or rows that cannot be separated.
"""

import os

from benchmark_utils.judge import judge
from benchmark_utils.problem import Problem
from benchopt import BaseObjective


class Objective(BaseObjective):
    name = "Answer"
    url = "https://github.com/benchopt"
    min_benchopt_version = "1.6"
    sampling_strategy = "run_once"
    parameters = {"question": ["separable", "margin", "regression"], "seconds": [60]}
    parameter_template = "{question}"
    test_dataset_name = "planted"
    test_config = {"question": "separable", "seconds": 10}

    def skip(self, absent=None, **truth):
        """Skip data that are not there, and questions they have no answer to."""
        if absent:
            return True, absent
        if truth.get(self.question) is None:
            return True, f"not for the question {self.question!r}"
        return False, None

    def set_data(self, X=None, y=None, intercept=True, separable=None, margin=None,
                 regression=None, frame=None, formula=None, family="binomial",
                 absent=None):  # fmt: skip
        """Take the data, and the truth of each question that they are for.

        separable is True or False; margin is True where the largest margin may be asked
        for; regression holds the numbers of the separated rows.
        """
        truths = {"separable": separable, "margin": margin, "regression": regression}
        self.truth = truths[self.question]
        self.problem = Problem(
            self.question, self.seconds, X, y, intercept, frame, formula, family
        )

    def get_objective(self):
        return {"problem": self.problem}

    def evaluate_result(self, outcome):
        """Judge what a solver answered, or take down why it did not."""
        answered = judge(self.problem, self.truth, outcome)
        rows = self.problem.frame if self.problem.X is None else self.problem.X
        return {
            "value": float(answered["found"] != "right"),
            "seconds": outcome.get("seconds", float("nan")),
            "passes": outcome.get("passes", -1),
            "load": os.getloadavg()[0],
            "n_rows": rows.shape[0],
            "n_columns": rows.shape[1],
            **answered,
        }

    def get_one_result(self):
        return {"outcome": {"reason": "none"}}
