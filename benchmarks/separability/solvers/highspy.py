"""HiGHS through highspy, on request with its irreducible infeasible subsystem."""

import highspy
import numpy as np
from benchmark_utils.peer import Runner
from benchmark_utils.problem import hyperplane, signed_rows
from scipy import sparse


class Solver(Runner):
    name = "highspy"
    parameters = {"conflict": ["verdict only", "IIS"]}
    parameter_template = "{conflict}"
    requirements = ["pip::highspy"]

    def solve(self, problem):
        A = sparse.csr_array(signed_rows(problem))
        n, d = A.shape
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = d, n
        program.col_cost_ = np.zeros(d)
        program.col_lower_ = np.full(d, -highspy.kHighsInf)
        program.col_upper_ = np.full(d, highspy.kHighsInf)
        program.row_lower_ = np.ones(n)
        program.row_upper_ = np.full(n, highspy.kHighsInf)
        program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        program.a_matrix_.start_ = A.indptr
        program.a_matrix_.index_ = A.indices
        program.a_matrix_.value_ = A.data
        solver = highspy.Highs()
        solver.silent()
        solver.setOptionValue("time_limit", float(problem.seconds))
        steps = highspy.IisStrategy
        strategy = int(steps.kIisStrategyFromRay) | int(steps.kIisStrategyIrreducible)
        solver.setOptionValue("iis_strategy", strategy)
        solver.passModel(program)
        solver.run()
        status, rows = solver.getModelStatus(), None
        if status == highspy.HighsModelStatus.kInfeasible and self.conflict == "IIS":
            rows = list(solver.getIis()[1].row_index_)
        return status, solver.getSolution().col_value, rows

    def read(self, found, problem):
        status, w, rows = found
        if status == highspy.HighsModelStatus.kOptimal:
            return hyperplane(problem, w)
        if status == highspy.HighsModelStatus.kInfeasible:
            return {"verdict": False, "rows": rows}
        return {"reason": str(status)}
