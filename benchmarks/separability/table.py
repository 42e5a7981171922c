"""The table of runs: what each peer answered, and its seconds as multiples of linsep's.

    python benchmarks/separability/table.py RUN.parquet [RUN.parquet ...] [--save DIR]

A ratio is the median over the repetitions of peer / linsep, the k-th of the one by the
k-th of the other; the least and the largest stand beside. A peer counts where its
answer is right: of the largest margin at least 0.999 times the largest that was found,
of a regression at least some of the separated rows. Where several files have a data
set, the last counts. No peer proves its verdicts, but by
a separator. Saved are separability.csv (a line for each data set), peers.csv (for each
peer too), better.csv (where a peer is faster), growth.csv, separability.txt and plots.
"""

import argparse
import os
import platform
from importlib.metadata import PackageNotFoundError, version
from math import exp, log
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import NullFormatter

import linsep
from linsep.figure_style import BLACK, BLUE, GREEN, ORANGE, new_figure, save, style

PACKAGES = (
    "numpy", "scipy", "scikit-learn", "liblinear-official", "highspy",
    "clarabel", "ortools", "firthmodels", "pyfixest",
)  # fmt: skip
LEAST_MARGIN = 0.999
LARGE = 100_000
QUESTIONS = ("separable", "margin", "regression")
COLOURS = dict(zip(QUESTIONS, (BLUE, GREEN, ORANGE)))
MARKERS = dict(zip(QUESTIONS, "os^"))


def read(paths):
    """Return the runs of all files, with short names of their columns."""
    files = [pd.read_parquet(path).assign(file=k) for k, path in enumerate(paths)]
    runs = pd.concat(files, ignore_index=True)
    runs = runs.rename(columns=lambda name: name.removeprefix("objective_"))
    runs["question"] = runs["name"].str.extract(r"\[(\w+)", expand=False)
    last = runs.groupby(["dataset_name", "question"]).file.transform("max")
    runs = runs[runs.file == last].copy()
    best = runs.groupby(["dataset_name", "question"]).margin.transform("max")
    share = runs.margin / best
    too_small = share < LEAST_MARGIN
    runs.loc[too_small, "found"] = "too small"
    runs.loc[runs.margin.notna(), "remark"] = [
        f"{x:.6f} of the largest margin" for x in share[runs.margin.notna()]
    ]
    return runs


def lines_of(runs):
    """Return a line for each data set and question, and one for each peer on it."""
    lines, peers = [], []
    for (data, question), block in runs.groupby(
        ["dataset_name", "question"], sort=False
    ):
        ours = block[block.solver_name == "linsep"].set_index("idx_rep")
        if ours.empty:
            continue
        first = ours.iloc[0]
        asked = block.solver_name.nunique() > 1
        line = {
            "data": data, "question": question, "rows": first.n_rows,
            "columns": first.n_columns, "linsep_seconds": ours.seconds.median(),
            "linsep_found": " or ".join(sorted(set(ours.found))),
            "proved": "yes" if ours.proved.all() else "not by vectors",
            "passes": first.passes, "linsep_remark": first.remark,
            "bound": first.p_obj_seconds / ours.seconds.median() if asked else None,
        }  # fmt: skip
        right = []
        for peer, theirs in block[block.solver_name != "linsep"].groupby("solver_name"):
            ratio = theirs.set_index("idx_rep").seconds / ours.seconds
            found = set(theirs.found)
            entry = {
                "data": data, "question": question, "peer": peer,
                "found": " or ".join(sorted(found)),
                "remark": theirs.remark.iloc[0],
                "seconds": theirs.seconds.median(), "ratio": ratio.median(),
                "least": ratio.min(), "largest": ratio.max(),
            }  # fmt: skip
            peers.append(entry)
            if found <= {"right", "part"}:
                right.append(entry)
        fastest = min(right, key=lambda entry: entry["ratio"], default={})
        names = ("peer", "ratio", "least", "largest", "remark")
        lines.append(line | {name: fastest.get(name) for name in names})
    return pd.DataFrame(lines), pd.DataFrame(peers)


def means(table):
    """Return sentences with the geometric means of the ratios."""
    said = []
    for name, chosen in (
        ("all data sets", table),
        (f"those of at least {LARGE:,} rows", table[table.rows >= LARGE]),
        *((f"question {q}", table[table.question == q]) for q in QUESTIONS),
    ):
        ratios = chosen.ratio[chosen.linsep_found == "right"].dropna().astype(float)
        if ratios.empty:
            continue
        bounds = chosen.bound[(chosen.linsep_found == "right") & chosen.ratio.isna()]
        every = [*ratios, *bounds.dropna().astype(float)]
        mean, least = geometric_mean(ratios), geometric_mean(every)
        said.append(
            f"fastest right peer / linsep, {name}: geometric mean {mean:.1f} over "
            f"{len(ratios)}, least {ratios.min():.2f}, largest {ratios.max():.4g}; "
            f"linsep slower on {(ratios < 1).sum()}; no peer right on "
            f"{int(chosen.peer.isna().sum())}; at least {least:.1f} over {len(every)} "
            "with the limit of a run in place of peers of which none was right"
        )
    return said


def geometric_mean(ratios):
    """Return exp of the mean logarithm."""
    return exp(sum(map(log, ratios)) / len(ratios))


def exponents(growth):
    """Return the exponents of seconds and passes against what was made larger."""
    rows = []
    for along, of in (("n", "n_rows"), ("d", "n_columns"), ("margin", "p_margin")):
        part = growth[growth.along == along]
        if part[of].nunique() < 2:
            continue
        sizes = np.log(1 / part[of] if along == "margin" else part[of])
        entries = part.n_rows * part.n_columns
        passes = part.passes.clip(lower=1)
        rows.append(
            {
                "against": "1/margin" if along == "margin" else along,
                "smallest": f"{np.exp(min(sizes)):.3g}",
                "largest": f"{np.exp(max(sizes)):.3g}",
                "seconds": f"{slope(sizes, part.seconds):.2f}",
                "passes": f"{slope(sizes, passes):.2f}",
                "seconds a pass and entry": (
                    f"{slope(sizes, part.seconds / passes / entries):.2f}"
                ),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def slope(logarithms, values):
    """Return the exponent of a power law, by least squares of logarithms."""
    return float(np.polyfit(logarithms, np.log(values), 1)[0])


def growth_of(runs):
    """Return the runs of linsep on the data set "growth", medians of repetitions."""
    chosen = runs.dataset_name.str.startswith("growth") & (runs.solver_name == "linsep")
    if not chosen.any():
        return pd.DataFrame()
    part = runs[chosen].rename(
        columns={"p_dataset_along": "along", "p_dataset_margin": "p_margin"}
    )
    keys = ["along", "n_rows", "n_columns", "p_margin"]
    medians = part.groupby(keys, sort=False)[["seconds", "passes"]].median()
    return medians.reset_index()


def machine(runs):
    """Return lines on the machine and the versions."""
    one, cpu = runs.iloc[0], platform.processor()
    if Path("/proc/cpuinfo").exists():
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.split(":")[1].strip() for line in lines if "model name" in line]
        cpu = names[0] if names else cpu
    versions = [f"linsep {linsep.__version__}"]
    for package in PACKAGES:
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    limits = ", ".join(f"{x:g}" for x in sorted(set(runs.p_obj_seconds)))
    counts = ", ".join(str(x + 1) for x in sorted(set(_last(runs))))
    return [
        f"{one['run_date'][:16]}; {cpu}, {os.cpu_count()} cores, "
        f"{one['system-ram (GB)']} GB; {platform.system()} {platform.release()}, "
        f"Python {platform.python_version()}",
        ", ".join(versions),
        f"seconds a run may take: {limits}; repetitions: {counts}; "
        f"load average {runs.load.min():.1f} to {runs.load.max():.1f}",
    ]


def _last(runs):
    return runs.groupby(["dataset_name", "question"]).idx_rep.max()


def text_of(runs, table, peers, growth):
    """Return the whole as text: every peer on every data set."""
    lines = [*machine(runs), "", *means(table)]
    if len(growth):
        lines += ["", exponents(growth).to_string(index=False)]
    for line in table.itertuples():
        passes = f", {line.passes} passes" if line.passes >= 0 else ""
        lines.append(
            f"\n{line.data}, {line.question}, {line.rows:,} x {line.columns:,}: linsep "
            f"{line.linsep_seconds:.4g} s, {line.linsep_found}{passes}, proved: "
            f"{line.proved} {line.linsep_remark}".rstrip()
        )
        on_it = peers[(peers.data == line.data) & (peers.question == line.question)]
        for entry in on_it.sort_values("ratio").itertuples():
            ratio = f"{entry.ratio:10.2f} ({entry.least:.2f} to {entry.largest:.2f})"
            if np.isnan(entry.ratio):
                ratio = f"{'-':>10}"
            lines.append(f"{ratio} {entry.peer}: {entry.found} {entry.remark}".rstrip())
    return "\n".join(lines) + "\n"


def group_of(data):
    """Return the name under which a data set is drawn: many small ones are one."""
    if data.startswith("case["):
        return "small cases"
    if data.startswith("real[digits "):
        return "pairs of digits"
    return data


def draw_ratios(table, path):
    """Draw the ratio of every data set, or the range of a group of them."""
    part = table[table.ratio.notna()].copy()
    part["group"] = part.data.map(group_of)
    part[["ratio", "least", "largest"]] = part[["ratio", "least", "largest"]].astype(
        float
    )
    groups = part.groupby(["group", "question"], sort=False).agg(
        ratio=("ratio", "median"), least=("least", "min"), largest=("largest", "max")
    )
    groups = groups.sort_values("ratio").reset_index()
    with style():
        figure, ax = new_figure((7.5, 0.21 * len(groups) + 1.2))
        for question, block in groups.groupby("question", sort=False):
            ax.hlines(
                block.index, block.least, block.largest, color=COLOURS[question], lw=1.2
            )
            ax.plot(
                block.ratio, block.index, MARKERS[question], color=COLOURS[question],
                markersize=5, label=question,
            )  # fmt: skip
        ax.axvline(1.0, color=BLACK, lw=1)
        ax.set_yticks(groups.index, groups["group"], fontsize=7)
        ax.set(xscale="log", xlabel="seconds, fastest right peer / linsep")
        ax.set_ylim(-1, len(groups))
        ax.legend(loc="lower right")
        save(figure, path)


def draw_growth(growth, path):
    """Draw seconds, in three panels, against rows, columns and 1 / margin."""
    with style():
        figure, panels = new_figure((9, 3), n_columns=3)
        for ax, (along, of, label) in zip(
            panels,
            (
                ("n", "n_rows", "rows"),
                ("d", "n_columns", "columns"),
                ("margin", "p_margin", "1 / margin"),
            ),
        ):
            part = growth[growth.along == along]
            if part.empty:
                continue
            sizes = 1 / part[of] if along == "margin" else part[of]
            ax.plot(sizes, part.seconds, "o-", color=BLUE)
            for size, seconds, passes in zip(sizes, part.seconds, part.passes):
                ax.annotate(
                    f"{passes:g}", (size, seconds), xytext=(0, 5), fontsize=8,
                    textcoords="offset points", ha="center",
                )  # fmt: skip
            ax.set(xscale="log", yscale="log", xlabel=label)
            ax.xaxis.set_minor_formatter(NullFormatter())
        panels[0].set_ylabel("seconds (numbers: passes)")
        save(figure, path)


def rounded(table):
    """Return the table with numbers as they are printed: four digits, or fewer."""
    shown = table.copy()
    for name in ("linsep_seconds", "seconds", "ratio", "least", "largest"):
        if name in shown:
            shown[name] = ["" if pd.isna(x) else f"{float(x):.3g}" for x in shown[name]]
    if "passes" in shown:
        shown["passes"] = [p if p >= 0 else "" for p in shown.passes]
    return shown


def write(folder, runs, table, peers, growth):
    """Save everything."""
    folder.mkdir(parents=True, exist_ok=True)
    text = text_of(runs, table, peers, growth)
    (folder / "separability.txt").write_text(text)
    summary = "\n".join([*machine(runs), "", *means(table)]) + "\n"
    (folder / "summary.txt").write_text(summary)
    short = [
        "data", "question", "rows", "columns", "linsep_seconds", "passes", "proved",
        "peer", "ratio", "least", "largest",
    ]  # fmt: skip
    rounded(table)[short].to_csv(folder / "separability.csv", index=False)
    rounded(peers).to_csv(folder / "peers.csv", index=False)
    is_worse = (table.ratio.astype(float) < 1) | (table.linsep_found != "right")
    worse = table[is_worse]
    names = [*short[:2], "linsep_found", "linsep_seconds", *short[7:]]
    worse = rounded(worse)[names]
    if worse.empty:
        worse = pd.DataFrame([["none"] + [""] * (len(names) - 1)], columns=names)
    worse.to_csv(folder / "better.csv", index=False)
    draw_ratios(table, folder / "separability.svg")
    if len(growth):
        exponents(growth).to_csv(folder / "growth.csv", index=False)
        draw_growth(growth, folder / "growth.svg")


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("runs", type=Path, nargs="+")
    options.add_argument("--save", type=Path, help="folder, such as benchmarks/results")
    given = options.parse_args()
    runs = read(given.runs)
    growth = growth_of(runs)
    table, peers = lines_of(runs[~runs.dataset_name.str.startswith("growth")])
    print(text_of(runs, table, peers, growth), end="")
    if given.save:
        write(given.save, runs, table, peers, growth)


if __name__ == "__main__":
    main()
