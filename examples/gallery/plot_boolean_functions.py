"""
Boolean functions: how many are threshold functions?
====================================================

All 256 functions of three inputs, each diagnosed: 104 are separable (threshold
functions), 48 quasi-completely separated, 104 overlap. Exclusive or is the smallest
that overlaps.
"""

import itertools
from collections import Counter

import matplotlib.pyplot as plt

import linsep
from linsep.figure_style import BLUE, GREEN, VERMILION, style

counts = {}
for n in (1, 2, 3):
    inputs = list(itertools.product([0, 1], repeat=n))
    counts[n] = Counter(
        linsep.diagnose(inputs, values).status.value
        for values in itertools.product([0, 1], repeat=2**n)
    )
print(counts)

with style():
    figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
    left = dict.fromkeys(counts, 0.0)
    for status, colour in (
        ("complete", BLUE),
        ("quasi-complete", GREEN),
        ("overlap", VERMILION),
    ):
        shares = {n: counts[n][status] / counts[n].total() for n in counts}
        bars = ax.barh(
            [f"{n} input{'s' * (n > 1)}" for n in counts],
            shares.values(),
            left=list(left.values()),
            color=colour,
            label=status,
        )
        ax.bar_label(
            bars,
            [counts[n][status] or "" for n in counts],
            label_type="center",
            color="white",
        )
        left = {n: left[n] + shares[n] for n in counts}
    ax.set_xlabel("share of all functions")
    figure.legend(loc="outside upper center", ncols=3)
