"""
Digits that stand in each other's way
=====================================

No hyperplane tells the eights among 1,797 handwritten digits from all others. The proof
is a few images with weights under which the eights and the others have *the same*
weighted mean: a hyperplane would have to put that one image on both sides.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

import linsep

X, y = load_digits(return_X_y=True)
answer = linsep.separate(X, y == 8)
print(answer.message)
rows = answer.conflict
weights = np.array([float(w) for w in answer.conflict_weights])

figure, panels = plt.subplots(3, 8, figsize=(9, 4), layout="constrained")
for line, is_eight in zip(panels, (True, False), strict=False):
    of_class = np.flatnonzero(answer.conflict_labels == is_eight)
    heaviest = of_class[np.argsort(-weights[of_class])][: line.size]
    for ax, at in zip(line, heaviest, strict=False):
        ax.imshow(X[rows[at]].reshape(8, 8), cmap="gray_r")
        ax.set_title(f"{y[rows[at]]}, weight {weights[at]:.2f}", fontsize=7)
for ax, is_eight in zip(panels[2], (True, False), strict=False):
    chosen = answer.conflict_labels == is_eight
    mean = weights[chosen] @ X[rows[chosen]] / weights[chosen].sum()
    ax.imshow(mean.reshape(8, 8), cmap="gray_r")
    ax.set_title("mean of the eights" if is_eight else "of the others", fontsize=7)
for ax in panels.ravel():
    ax.set_axis_off()
figure.suptitle("Heaviest eights, heaviest others, and their means, which are equal")
