"""The table of a run: seconds of linsep, and every peer's as multiples of them.

    python benchmarks/separability/table.py RESULTS.parquet [--save FILE]

A ratio is the median over the repetitions of peer / linsep, the k-th of the one by the
k-th of the other; the least and the largest stand beside. What a peer answered comes
first: a ratio counts only where the answer is right. No peer proves its verdicts but by
a separator.
"""

import argparse
import platform
from math import exp, log
from pathlib import Path

import pandas as pd

PACKAGES = ("numpy", "scipy", "scikit-learn", "highspy", "clarabel", "firthmodels")


def ratios(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.Series:
    """Peer / linsep, repetition by repetition."""
    return theirs.set_index("idx_rep").time / ours.set_index("idx_rep").time


def lines_of(results: pd.DataFrame) -> list[str]:
    """Return a block for each data set: linsep, then peers, the fastest right first."""
    lines, best = [], []
    for name, block in results.groupby("dataset_name", sort=False):
        ours = block[block.solver_name == "linsep"]
        if ours.empty:
            continue
        proof = (
            "proved" if ours.objective_proved.all() else "proved by sums, no vectors"
        )
        found = ", ".join(sorted(set(ours.objective_found)))
        lines.append(f"{name}: linsep {ours.time.median():.4g} s, {found}, {proof}")
        peers = []
        for peer, runs in block[block.solver_name != "linsep"].groupby("solver_name"):
            ratio = ratios(ours, runs)
            answers = ", ".join(sorted(set(runs.objective_found)))
            peers.append((answers != "right", ratio.median(), peer, ratio, answers))
        for _, median, peer, ratio, answers in sorted(
            peers, key=lambda entry: entry[:3]
        ):
            spread = f"{ratio.min():.2f} to {ratio.max():.2f}"
            lines.append(f"    {median:9.2f} x  ({spread})  {peer}: {answers}")
        right = [median for is_not_right, median, *_ in peers if not is_not_right]
        if right:
            best.append(min(right))
    if best:
        mean = exp(sum(map(log, best)) / len(best))
        slower = sum(ratio < 1 for ratio in best)
        lines.append(
            f"fastest right peer / linsep over {len(best)} data sets: geometric mean "
            f"{mean:.1f}, least {min(best):.2f}; linsep is slower on {slower}"
        )
    return lines


def versions() -> str:
    """Return the versions of the peers that are installed."""
    from importlib.metadata import PackageNotFoundError, version

    found = []
    for package in PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("results", type=Path)
    options.add_argument("--save", type=Path)
    given = options.parse_args()
    results = pd.read_parquet(given.results)
    one = results.iloc[0]
    lines = [
        f"{one['run_date'][:7]}, {one['system-cpus']} cores, Python "
        f"{platform.python_version()}, {versions()}",
        *lines_of(results),
    ]
    print("\n".join(lines))
    if given.save:
        given.save.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
