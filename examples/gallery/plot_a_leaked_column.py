"""
A leaked column, found because it separates
===========================================

A code that is written down after the outcome is known gives the outcome away. Ten
honest measurements of 569 tumours overlap; with the ward's treatment code beside them
the data are separated, and the diagnosis names the level that does it. Its correlation
is no warning.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import linsep
from linsep.figure_style import BLUE, ORANGE, style

data = load_breast_cancer(as_frame=True)
malignant = (data.target == 0).to_numpy()
measured = data.data.iloc[:, :10]
# Codes A to D are given to all; code X to malignant tumours only, afterwards.
rng = np.random.default_rng(0)
code = rng.choice(list("ABCD"), len(malignant))
code[malignant & (rng.random(len(code)) < 0.15)] = "X"

honest = linsep.diagnose(measured, malignant)
print(honest.message)
leaked = linsep.diagnose(measured.assign(code=code), malignant)
print("\n".join(leaked.sentences()[:3]))

with style():
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    levels = sorted(set(code))
    below = np.zeros(len(levels))
    for is_ill, colour, label in ((False, BLUE, "benign"), (True, ORANGE, "malignant")):
        counts = np.array([np.sum((code == c) & (malignant == is_ill)) for c in levels])
        ax.bar(levels, counts, bottom=below, color=colour, label=label)
        below += counts
    ax.set(xlabel="treatment code", ylabel="tumours")
    ax.set_title("The level that knows the outcome: X is never benign")
    ax.legend()
