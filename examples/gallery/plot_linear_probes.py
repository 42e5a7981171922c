"""
Linear probes, with the control they need
=========================================

Is a property linearly readable from a representation? With enough dimensions *any*
labels are. Two representations of 300 digits, leading principal components and random
projections of the pixels, are probed for "the digit is even", beside shuffled labels
and Cover's count, the share of all labellings that are separable at this size.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

import linsep
from linsep.figure_style import BLACK, BLUE, ORANGE, style

X, digit = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
chosen = rng.choice(len(X), 300, replace=False)
X, even = X[chosen], digit[chosen] % 2 == 0
noise = 1e-6 * rng.normal(size=X.shape)  # pixels that never change lie in one plane
representations = {
    "principal components": PCA(60).fit_transform(X + noise),
    "random projections": (X + noise) @ rng.normal(size=(64, 60)),
}
sizes = range(10, 61, 5)

with style():
    figure, panels = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for ax, (name, Z) in zip(panels, representations.items(), strict=True):
        true = [linsep.separate(Z[:, :d], even).separable for d in sizes]
        shuffled = [
            np.mean(
                [
                    linsep.separate(Z[:, :d], rng.permutation(even)).separable
                    for _ in "123"
                ]
            )
            for d in sizes
        ]
        ax.plot(sizes, true, "o-", color=BLUE, label="even against odd")
        ax.plot(sizes, shuffled, "s--", color=ORANGE, label="shuffled labels")
        counts = [linsep.capacity(300, d) for d in sizes]
        ax.plot(sizes, counts, ":", color=BLACK, label="all labellings (Cover)")
        ax.set(xlabel="dimensions", ylabel="share separable", title=name)
    panels[0].legend(loc="center left")

# %%
# Where the blue line is at one and the dashed one at zero, the property is really
# there.
