"""pyfixest: one Poisson fit with fixed effects, and its checks for separation."""

import pyfixest
from benchmark_utils.peer import Runner


class Solver(Runner):
    name = "pyfixest"
    questions = ("regression",)
    takes_formula = True
    requirements = ["pip::pyfixest"]
    test_config = {
        "dataset": {"name": "fixed effects"},
        "objective": {"question": "regression"},
    }

    def skip(self, problem):
        if problem.formula is None:
            return True, "is for fixed effects"
        if problem.family != "poisson":
            return True, "checks Poisson regressions only"
        return super().skip(problem)

    def prepare(self):
        from benchmark_utils.fixed_effects import Design

        design = Design(500, (20, 5))
        frame = design.frame("poisson")
        pyfixest.fepois(design.formula, frame, separation_check=["fe", "ir"])

    def solve(self, problem):
        return pyfixest.fepois(
            problem.formula,
            problem.frame,
            separation_check=["fe", "ir"],
            fixef_rm="none",
        )

    def read(self, found, problem):
        left = set(found._data["row"])
        return {"separated": [i for i in problem.frame.row if i not in left]}
