"""What all solvers share: they run in the worker, within the limit of a run."""

from benchopt import BaseSolver

from .worker import WORKER


class Runner(BaseSolver):
    """A solver that says in `solve` what is timed, and in `read` what it answered."""

    sampling_strategy = "run_once"
    questions = ("separable",)
    takes_sparse = True
    takes_formula = False
    takes_no_intercept = True

    def skip(self, problem):
        if problem.question not in self.questions:
            return True, f"does not answer the question {problem.question!r}"
        if problem.formula is not None and not self.takes_formula:
            return True, "takes no fixed effects"
        if problem.is_sparse and not self.takes_sparse:
            return True, "takes no sparse rows"
        if not (problem.intercept or self.takes_no_intercept):
            return True, "always has an intercept"
        return False, None

    def set_objective(self, problem):
        WORKER.hold(problem)

    def run(self, _):
        self.outcome = WORKER.run(self)

    def get_result(self):
        return {"outcome": self.outcome}

    def prepare(self):
        """Import what is needed, in the worker, before anything is timed."""

    def receive(self, problem):
        """Take over the data, before anything is timed; for what is no Python."""

    def solve(self, problem):
        """Do what is timed."""
        raise NotImplementedError

    def read(self, found, problem):
        """Return the answer as the objective takes it, from what `solve` returned."""
        raise NotImplementedError
