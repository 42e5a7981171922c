r"""`linsep.diagnose` on fixed effects against pyfixest, in one process.

    env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE \
        python benchmarks/fixed_effects.py [--quick] [--pairs 3] [--save FILE]

Each line: the design, the family, medians of seconds of runs taken in turns, the median
of their ratios, the memory beyond the data, the seconds of a verdict on every
coefficient (made when first asked for), and what was found. pyfixest's time is that of
one fit of `fepois` with its checks for separation; its separated rows are those that
have gone once nothing more goes when it is run on what is left. It has no checks for
logit, and proves nothing. On the workers and firms it is left out: its fit was not done
after six minutes.
"""

from __future__ import annotations

import argparse
import os
import platform
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from separability.benchmark_utils.fixed_effects import Design

import linsep

try:
    import pyfixest
except ImportError:
    pyfixest = None

# The limit of ours; verdicts that are not made by then are undecided.
SECONDS = 100.0


QUICK = [Design(20_000, (1_000, 100))]
ALL = [
    *QUICK,
    Design(100_000, (2_000, 500)),
    Design(200_000, (5_000, 1_000)),
    Design(200_000, (5_000, 1_000, 100)),
    Design(1_000_000, (100_000, 1_000), workers_and_firms=True),
]


def peer_fit(design: Design, frame: Any) -> set[int]:
    """Fit, and return the rows that went."""
    fit = pyfixest.fepois(
        design.formula, frame, separation_check=["fe", "ir"], fixef_rm="none"
    )
    return set(frame.row) - set(fit._data["row"])


def peer_rows(design: Design, frame: Any, gone: set[int]) -> set[int]:
    """Return the rows that go until nothing more goes."""
    found, new = set(gone), gone
    while new:
        frame = frame[~frame.row.isin(new)].reset_index(drop=True)
        new = peer_fit(design, frame)
        found |= new
    return found


def measured(run: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return seconds, the most memory beyond what there was in MB, and the result."""
    most, done = [0], threading.Event()
    before = _resident()

    def watch() -> None:
        while not done.wait(0.02):
            most[0] = max(most[0], _resident() - before)

    thread = threading.Thread(target=watch)
    thread.start()
    started = time.perf_counter()
    try:
        result = run()
    finally:
        seconds = time.perf_counter() - started
        done.set()
        thread.join()
    return seconds, most[0] / 2**20, result


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def compare(design: Design, family: str, pairs: int) -> str:
    """Run both in turns, and return a line of the table."""
    frame = design.frame(family)
    ours, theirs, memory, gone = [], [], [], set()
    has_peer = (
        pyfixest is not None and family == "poisson" and not design.workers_and_firms
    )
    for _ in range(pairs):
        seconds, megabytes, answer = measured(
            lambda: linsep.diagnose(
                design.formula, frame, family=family, time_limit=SECONDS
            )
        )
        ours.append(seconds)
        memory.append(megabytes)
        if has_peer:
            seconds, _, gone = measured(lambda: peer_fit(design, frame))
            theirs.append(seconds)
    verdicts, megabytes, made = measured(lambda: list(answer.estimates.values()))
    memory.append(megabytes)
    n_left = made.count("undecided")
    left = f", {n_left:,} verdicts undecided" if n_left else ""
    peer, ratio, rows = "-", "-", ""
    if has_peer:
        peer = f"{median(theirs):.2f}"
        ratio = f"{median(a / b for a, b in zip(ours, theirs, strict=True)):.2f}"
        same = peer_rows(design, frame, gone) == set(answer.separated_rows.tolist())
        rows = ", the same as pyfixest's" if same else ", NOT pyfixest's"
    return (
        f"{design.name:34} {family:9} {median(ours):8.2f} {peer:>9} {ratio:>7} "
        f"{max(memory):7.0f} {verdicts:8.2f}  "
        f"{answer.status.value}, proved: {answer.proved}, "
        f"{answer.separated_rows.size:,} rows separated{rows}{left}"
    )


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--quick", action="store_true", help="the smallest only")
    options.add_argument("--pairs", type=int, default=3)
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    warnings.simplefilter("ignore")
    smallest = Design(500, (20, 5))
    linsep.diagnose(smallest.formula, smallest.frame("poisson"), family="poisson")
    peer = "pyfixest is not installed: no peer"
    if pyfixest is not None:
        peer = f"pyfixest {pyfixest.__version__}"
        peer_fit(smallest, smallest.frame("poisson"))  # compiled code is loaded
    lines = []

    def say(line: str) -> None:
        print(line, flush=True)
        lines.append(line)

    say(
        f"{time.strftime('%Y-%m')}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, {peer}, median of {given.pairs} pairs"
    )
    say(
        f"{'design, and three numbers':34} {'family':9} {'linsep s':>8} "
        f"{'pyfixest':>9} {'ratio':>7} {'MB':>7} {'verdicts':>8}"
    )
    for design in QUICK if given.quick else ALL:
        for family in ("poisson", "binomial"):
            say(compare(design, family, given.pairs))
    if given.save is not None:
        given.save.parent.mkdir(parents=True, exist_ok=True)
        given.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
