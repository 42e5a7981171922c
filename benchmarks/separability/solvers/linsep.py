"""linsep.separate: the verdict with its proof."""

from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "linsep"
    sampling_strategy = "run_once"

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def warm_up(self):
        import linsep

        linsep.separate([[0.0], [1.0], [2.0]], [0, 1, 0])

    def run(self, _):
        import linsep

        self.answer = linsep.separate(self.X, self.y, time_limit=60)

    def get_result(self):
        answer = self.answer
        has_rows = answer.separable is False and answer.conflict is not None
        return {
            "verdict": answer.separable,
            "coef": answer.coef if answer.separable else None,
            "intercept": answer.intercept if answer.separable else 0.0,
            "rows": answer.conflict if has_rows else None,
            "weights": answer.conflict_weights if has_rows else None,
        }
