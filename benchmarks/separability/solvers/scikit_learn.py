"""scikit-learn's linear classifiers, set to separate where they can."""

import numpy as np
from benchmark_utils.judge import is_separator
from benchmark_utils.peer import Runner
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.svm import SVC, LinearSVC


class Solver(Runner):
    name = "scikit-learn"
    parameters = {
        "which": [
            "Perceptron",
            "LinearSVC",
            "SVC",
            "SVC, tol 1e-6",
            "LogisticRegression",
        ]
    }
    parameter_template = "{which}"
    requirements = ["pip::scikit-learn"]

    def skip(self, problem):
        is_svc = self.which.startswith("SVC")
        if problem.question == "margin" and is_svc:
            return False, None
        if not problem.intercept and is_svc:
            return True, "always has an intercept"
        if problem.question == "separable" and "tol" in self.which:
            return True, "the tolerance is for the largest margin"
        return super().skip(problem)

    def prepare(self):
        self._model(True).fit([[0.0], [1.0]], [0, 1])

    def _model(self, intercept):
        if self.which == "Perceptron":
            return Perceptron(tol=None, max_iter=1000, fit_intercept=intercept)
        if self.which == "LinearSVC":
            return LinearSVC(C=1e10, max_iter=10_000, fit_intercept=intercept)
        if self.which == "LogisticRegression":
            return LogisticRegression(
                C=np.inf,
                solver="newton-cholesky",
                max_iter=1000,
                fit_intercept=intercept,
            )
        return SVC(kernel="linear", C=1e10, tol=1e-6 if "tol" in self.which else 1e-3)

    def solve(self, problem):
        return self._model(problem.intercept).fit(problem.X, problem.y)

    def read(self, found, problem):
        coef = found.coef_
        coef = np.ravel(coef.toarray() if hasattr(coef, "toarray") else coef)
        intercept = float(np.ravel(found.intercept_)[0])
        if not is_separator(problem, coef, intercept):
            # That says nothing: it may be too few steps.
            return {"reason": "its hyperplane does not separate"}
        return {"verdict": True, "coef": coef, "intercept": intercept}
