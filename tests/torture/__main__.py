"""Attack the package and print what was found: `make torture`.

    python -m torture [--scale N] [--seed N] [--only TEXT] [--output FILE]

Every attack is seeded. The scale multiplies the number of tries: 1 takes a few minutes.
The exit code is 1 if anything was wrong.
"""

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

from torture import processes, strangers, verdicts
from torture.figures import run

# Attack, tries at scale 1, whether it wants a folder.
ATTACKS = [
    (verdicts.separate_hostile, 4000, False),
    (verdicts.diagnose_hostile, 400, False),
    (verdicts.diagnose_by_factorisations, 400, False),
    (verdicts.compare_forms, 150, True),
    (verdicts.mutate_certificates, 3000, False),
    (verdicts.tamper_with_orders, 3000, False),
    (processes.interrupt, 24, True),
    (processes.kill_saves, 48, True),
    (processes.fill_disk, 6, True),
    (processes.full_device, 1, True),
    (processes.read_only_home, 3, True),
    (processes.save_in_a_crowd, 800, True),
    (processes.solve_in_a_crowd, 32, False),
    (processes.keep_time, 5, False),
    (processes.keep_memory, 3, True),
    (strangers.hostile_files, 60, True),
    (strangers.hostile_batches, 30, True),
    (strangers.special_files, 1, True),
    (strangers.hostile_models, 40, True),
    (strangers.hostile_names, 6, True),
]


def main() -> int:
    """Run the attacks named, print a line each, and what was wrong."""
    parser = argparse.ArgumentParser(prog="torture", description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--only", default="", help="attacks whose name, as printed too, has this text"
    )
    parser.add_argument("--output", type=Path, help="a file for the figures")
    options = parser.parse_args()
    lines, wrong = [], []
    for attack, n_tries, wants_folder in ATTACKS:
        if options.only.lower() not in f"{attack.__name__} {attack.__doc__}".lower():
            continue
        rng = np.random.default_rng(options.seed)
        scaled = max(1, round(n_tries * options.scale))
        with tempfile.TemporaryDirectory() as folder:
            place = {"folder": Path(folder)} if wants_folder else {}
            figures = run(attack, rng, scaled, **place)
        lines.append(figures.line())
        print(lines[-1], flush=True)
        for text in figures.wrong[:5]:
            print("   ", text[:600], flush=True)
        wrong += figures.wrong
    print(f"{len(wrong)} wrong in all")
    if options.output is not None:
        options.output.write_text("\n".join(lines) + "\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
