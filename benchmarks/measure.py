"""Everything beside its peers, from one command: into benchmarks/results.

    python benchmarks/measure.py            (hours)
    python benchmarks/measure.py --quick    (about half an hour)
    python benchmarks/measure.py --small    (that and every small data set: an hour)
    python benchmarks/measure.py --large    (an hour more)

Runs the benchopt benchmark in `separability/`, the growth of linsep's cost, the first
call in a fresh process, many answers at once, and the bandwidth of a sweep.
`separability/table.py` writes the tables and plots that the docs draw. On a quiet
machine, without settings of BLAS: those of tests are left out of the runs.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import linsep

HERE = Path(__file__).parent
BENCHMARK = HERE / "separability"
# Processes start as a user's do: with the kernels of BLAS for this machine, and with
# modules that were compiled once.
SETTINGS = (
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "OPENBLAS_NUM_THREADS",
    "PYTHONDONTWRITEBYTECODE",
)


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="a part of the data")
    options.add_argument("--small", action="store_true", help="every small data set")
    options.add_argument("--large", action="store_true", help="that and the largest")
    options.add_argument("--save", type=Path, default=HERE / "results", help="folder")
    given = options.parse_args()
    environment = {k: v for k, v in os.environ.items() if k not in SETTINGS}
    # Runs must find the linsep that this process has.
    source = str(Path(linsep.__file__).parents[1])
    paths = [source, *filter(None, [environment.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)

    def run(*arguments):
        print("$", *arguments, flush=True)
        subprocess.run(
            [sys.executable, *map(str, arguments)], check=True, env=environment
        )

    folder = BENCHMARK / "outputs" / time.strftime("%Y-%m-%d_%H-%M-%S")
    benchopt = ("-m", "benchopt")
    run(*benchopt, "prepare", BENCHMARK, "-d", "wheels", "--force")
    is_part = given.quick or given.small or given.large
    configurations = ["quick", "quick_large"] if is_part else ["all"]
    configurations = ["small"] * given.small + configurations
    configurations += ["large"] * given.large
    outputs = []
    for name in [*configurations, "growth"]:
        outputs.append(folder / f"{name}.parquet")
        run(
            *benchopt, "run", BENCHMARK, "--config", BENCHMARK / f"{name}.yml",
            "--no-cache", "--no-plot", "--output", outputs[-1],
        )  # fmt: skip
    run(BENCHMARK / "table.py", *outputs, "--save", given.save)
    for name, *more in (
        ("first_call", *([] if is_part else ["--all-cases"])),
        ("many",),
        ("bandwidth",),
    ):
        run(HERE / f"{name}.py", *more, "--save", given.save / f"{name}.txt")


if __name__ == "__main__":
    main()
