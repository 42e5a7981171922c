"""A process for the solvers, so that a run can be stopped when its time is up.

benchopt looks at its timeout between runs only, and a solver in compiled code hears no
signal. So all solvers, linsep too, run one after the other in one process, which is
ended and started again when one of them is late; data are sent to it once, before
anything is timed. The seconds are measured in there, around `solve` alone.
"""

import gc
import multiprocessing
import os
import resource
import sys
import time
import warnings
from pathlib import Path
from statistics import median

HERE = str(Path(__file__).parents[1])
# Of the machine's memory, what the process may hold; it fails alone when it wants more.
SHARE_OF_MEMORY = 0.75
# A run is made again so many times, or until so many seconds are spent.
AGAIN, SHORT = 5, 0.5


def serve(pipe, folder):
    """Do what comes through the pipe: keep a problem, or run a solver on it."""
    from benchopt.benchmark import Benchmark

    Benchmark(folder)  # solvers are unpickled by their files
    warnings.simplefilter("ignore")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = int(SHARE_OF_MEMORY * memory)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    problem, prepared = None, set()
    pipe.send("ready")
    while True:
        kind, value = pipe.recv()
        if kind == "problem":
            problem = value
            pipe.send("held")
            continue
        try:
            if str(value) not in prepared:
                value.prepare()
                prepared.add(str(value))
                gc.freeze()  # what is imported is not looked through before each run
            value.receive(problem)
            pipe.send("begin")
            pipe.send(outcome(value, problem))
        except Exception as error:
            pipe.send({"reason": f"{type(error).__name__}: {error}"[:200]})


def outcome(solver, problem):
    """Return what a solver answers, and its seconds.

    A short run is made again a few times and the first call left out, so that loading
    code is not what is measured; the seconds are then the median.
    """
    gc.collect()
    spent = []
    while len(spent) <= AGAIN and sum(spent) < SHORT:
        started = time.perf_counter()
        found = solver.solve(problem)
        spent.append(time.perf_counter() - started)
    return {**solver.read(found, problem), "seconds": median(spent[1:] or spent)}


class Worker:
    """The process, from the side of benchopt."""

    def __init__(self):
        self.process = self.pipe = self.held = None
        self.late = set()  # names of solvers that were late on the problem held

    def hold(self, problem):
        """Send a problem, if it is not there yet."""
        if self.process is not None and not self.process.is_alive():
            self._stop()
        if self.process is not None and problem is self.held:
            return
        if problem is not self.held:
            self.held, self.late = problem, set()
        if self.process is None:
            self._start()
        self.pipe.send(("problem", problem))
        self.pipe.recv()

    def run(self, solver):
        """Return the outcome of a solver on the problem held, or why there is none."""
        seconds = self.held.seconds
        if str(solver) in self.late:
            return {"reason": f"more than {seconds:g} s"}
        self.hold(self.held)
        self.pipe.send(("run", solver))
        try:
            said = self.pipe.recv()
            if said != "begin":
                return said
            if self.pipe.poll(seconds):
                return self.pipe.recv()
            reason = f"more than {seconds:g} s"
        except EOFError:
            reason = "ended the process"
        self.late.add(str(solver))
        self._stop()
        return {"reason": reason}

    def _start(self):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=serve, args=(theirs, HERE), daemon=True)
        sys.path.insert(0, HERE)  # the process inherits it, and finds this module
        try:
            self.process.start()
        finally:
            sys.path.remove(HERE)
        theirs.close()
        self.pipe.recv()

    def _stop(self):
        self.process.kill()
        self.process.join()
        self.pipe.close()
        self.process = self.pipe = None


WORKER = Worker()
