"""
Positivity: units whose treatment was never in doubt
====================================================

A causal comparison needs that every unit could have been treated or not. ``diagnose``
on the *treatment* finds those for whom the covariates decide it for sure: they have no
counterpart, whatever the propensity model. ``positivity()`` says who they are, by which
combination, and what trimming leaves. Penguins, and whether they lived on the
island of Biscoe: what would body mass have been elsewhere?
"""

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins

import linsep
from linsep.figure_style import BLUE, VERMILION, style

columns = ["species", "sex", "bill_length_mm", "island", "body_mass_g"]
penguins = load_penguins().dropna(subset=columns).reset_index(drop=True)
penguins["on_biscoe"] = (penguins["island"] == "Biscoe").astype(int)
answer = linsep.diagnose("on_biscoe ~ C(species) + C(sex) + bill_length_mm", penguins)
found = answer.positivity()
print(found.summary())

# %%
# Gentoos live on Biscoe only, Chinstraps never do; only Adelies can be compared.
sure = np.ones(len(penguins), dtype=bool)
sure[found.left] = False
place = penguins["species"].astype("category").cat.codes.to_numpy()
jitter = 0.1 * np.random.default_rng(0).normal(size=len(penguins))
with style():
    figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
    for is_sure, colour, what in ((True, VERMILION, "sure"), (False, BLUE, "in doubt")):
        for treated, marker, where in ((1, "^", "Biscoe"), (0, "o", "elsewhere")):
            at = (sure == is_sure) & (penguins["on_biscoe"] == treated).to_numpy()
            label = f"{where}, {what} ({at.sum()})"
            mass = penguins["body_mass_g"][at]
            x = place[at] + jitter[at]
            ax.scatter(x, mass, s=16, color=colour, marker=marker, label=label)
    ax.set_xticks(range(3), sorted(penguins["species"].unique()))
    ax.set(ylabel="body mass (g)", title="Who has a counterpart on another island?")
    ax.legend()
