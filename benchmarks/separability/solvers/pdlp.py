"""OR-tools' PDLP: a first-order method on the linear program a_i . w >= 1."""

import numpy as np
from benchmark_utils.peer import Runner
from benchmark_utils.problem import hyperplane, signed_rows
from ortools.pdlp import solve_log_pb2, solvers_pb2
from ortools.pdlp.python import pdlp
from scipy import sparse


class Solver(Runner):
    name = "PDLP"
    requirements = ["pip::ortools"]

    def solve(self, problem):
        A = sparse.csc_matrix(signed_rows(problem))
        n, d = A.shape
        program = pdlp.QuadraticProgram()
        program.resize_and_initialize(d, n)
        program.objective_vector = np.zeros(d)
        program.constraint_matrix = A
        program.constraint_lower_bounds = np.ones(n)
        program.constraint_upper_bounds = np.full(n, np.inf)
        program.variable_lower_bounds = np.full(d, -np.inf)
        program.variable_upper_bounds = np.full(d, np.inf)
        options = solvers_pb2.PrimalDualHybridGradientParams()
        options.termination_criteria.time_sec_limit = problem.seconds
        options.num_threads = 2
        return pdlp.primal_dual_hybrid_gradient(program, options)

    def read(self, found, problem):
        reason = found.solve_log.termination_reason
        if reason == solve_log_pb2.TERMINATION_REASON_OPTIMAL:
            return hyperplane(problem, found.primal_solution)
        if reason == solve_log_pb2.TERMINATION_REASON_PRIMAL_INFEASIBLE:
            return {"verdict": False}
        return {"reason": solve_log_pb2.TerminationReason.Name(reason)}
