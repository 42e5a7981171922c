"""scikit-learn's linear classifiers, set to separate where they can."""

import warnings

from benchmark_utils.judge import is_separator
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "scikit-learn"
    sampling_strategy = "run_once"
    parameters = {
        "which": ["Perceptron", "LinearSVC", "SVC", "LogisticRegression"],
    }

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def skip(self, X, y):
        n, d = X.shape
        if self.which == "SVC" and n > 20_000:
            return True, "more than a minute"
        if self.which != "Perceptron" and n * d > 2e7:
            return True, "more than a minute"
        return False, None

    def warm_up(self):
        self._made().fit([[0.0], [1.0]], [0, 1])

    def _made(self):
        from sklearn.linear_model import LogisticRegression, Perceptron
        from sklearn.svm import SVC, LinearSVC

        return {
            "Perceptron": lambda: Perceptron(tol=None, max_iter=1000),
            "LinearSVC": lambda: LinearSVC(C=1e10, dual="auto", max_iter=10_000),
            "SVC": lambda: SVC(kernel="linear", C=1e10, max_iter=10_000_000),
            "LogisticRegression": lambda: LogisticRegression(
                C=1e10, solver="newton-cholesky", max_iter=1000
            ),
        }[self.which]()

    def run(self, _):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.model = self._made().fit(self.X, self.y)

    def get_result(self):
        coef = self.model.coef_
        coef = coef.toarray() if hasattr(coef, "toarray") else coef
        coef, intercept = coef.ravel(), float(self.model.intercept_[0])
        # What does not separate says nothing: it may be too few steps.
        verdict = True if is_separator(self.X, self.y, coef, intercept) else None
        return {
            "verdict": verdict,
            "coef": coef if verdict else None,
            "intercept": intercept,
            "rows": None,
            "weights": None,
        }
