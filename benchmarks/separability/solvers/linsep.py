"""linsep: the answer with its proof."""

from benchmark_utils.judge import is_separator
from benchmark_utils.peer import Runner

import linsep


class Solver(Runner):
    name = "linsep"
    questions = ("separable", "margin", "regression")
    takes_formula = True

    def prepare(self):
        linsep.separate([[0.0], [1.0], [2.0]], [0, 1, 0])
        linsep.max_margin([[0.0], [1.0]], [0, 1])
        linsep.diagnose([[0.0], [1.0]], [0, 1])

    def solve(self, problem):
        if problem.question == "regression":
            options = {"family": problem.family, "time_limit": problem.seconds}
            if problem.formula is not None:
                return linsep.diagnose(problem.formula, problem.frame, **options)
            return linsep.diagnose(problem.X, problem.y, **options)
        ask = linsep.max_margin if problem.question == "margin" else linsep.separate
        return ask(
            problem.X,
            problem.y,
            fit_intercept=problem.intercept,
            time_limit=problem.seconds,
        )

    def read(self, found, problem):
        if not found.proved:
            return {"reason": f"{found.status.value}: {found.message}"[:200]}
        if problem.question == "regression":
            return {"separated": found.separated_rows}
        answer = {"verdict": found.separable, "passes": found.n_passes}
        if found.separable:
            if is_separator(problem, found.coef, found.intercept):
                return {**answer, "coef": found.coef, "intercept": found.intercept}
            # Doubles are too coarse: the certificate has the rational numbers.
            return {**answer, "exact": found.certificate.w}
        if found.conflict is None:
            return answer
        return {**answer, "rows": found.conflict, "weights": found.conflict_weights}
