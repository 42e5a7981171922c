"""R's detectseparation: its linear program, in a process of R that has the data."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from benchmark_utils.judge import signs_of
from benchmark_utils.peer import Runner

# A line "rows columns FILE" brings a design, rows after rows, the outcome last; any
# other asks for the answer.
IN_R = """
suppressMessages(library(detectseparation))
given <- file("stdin", "r")
while (length(line <- readLines(given, 1))) {
  parts <- strsplit(line, " ")[[1]]
  if (length(parts) == 3) {
    size <- as.integer(parts[1:2])
    d <- matrix(readBin(parts[3], "double", prod(size)), size[1], byrow = TRUE)
    x <- d[, -size[2], drop = FALSE]; y <- d[, size[2]]
    cat("held\\n")
  } else {
    found <- detect_separation(x, y, family = binomial())
    cat(isTRUE(found$outcome), "\\n")
  }
}
"""
LOOK = ["Rscript", "-e", "library(detectseparation)"]
if not shutil.which("Rscript") or subprocess.run(LOOK, capture_output=True).returncode:
    raise ImportError("there is no R with detectseparation")


class Solver(Runner):
    name = "detectseparation"
    questions = ("separable", "regression")
    takes_sparse = False
    process = None

    def skip(self, problem):
        if problem.formula is not None or problem.family != "binomial":
            return True, "is for binary outcomes"
        return super().skip(problem)

    def prepare(self):
        # setpriv: R must not outlive the worker when that is ended.
        command = ["setpriv", "--pdeathsig", "KILL", "Rscript", "-e", IN_R]
        Solver.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def receive(self, problem):
        columns = [np.ones(len(problem.y))] * problem.intercept
        columns += [problem.X, signs_of(problem.y) > 0]
        design = np.column_stack(columns).astype(float)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "design"
            design.tofile(path)
            self.ask(f"{design.shape[0]} {design.shape[1]} {path}")

    def solve(self, problem):
        return self.ask("answer")

    def read(self, found, problem):
        if problem.question == "regression":
            return {"separated": found == "TRUE"}
        return {"verdict": found == "TRUE", "or_quasi": True}

    def ask(self, line):
        """Send a line to R and return what it says."""
        print(line, file=Solver.process.stdin, flush=True)
        said = Solver.process.stdout.readline().strip()
        if not said:
            raise RuntimeError("R ended: is detectseparation installed?")
        return said
