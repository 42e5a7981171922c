"""
Words that tell two libraries apart
===================================

The documentation of functions of NumPy and of SciPy, as counts of words: a few hundred
short texts and a thousand words. Are they linearly separable, and on which words does a
classifier rest?
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.stats
from sklearn.feature_extraction.text import CountVectorizer

import linsep
from linsep.figure_style import BLUE, ORANGE, style


def texts_of(*modules):
    """Return the beginnings of the documentation of every function."""
    found = [
        getattr(module, name).__doc__
        for module in modules
        for name in sorted(getattr(module, "__all__", dir(module)))
        if callable(getattr(module, name, None))
    ]
    return [text[:1500] for text in found if text and len(text) > 200]


ours = texts_of(np.linalg, np.fft, np.ma)
theirs = texts_of(scipy.linalg, scipy.optimize, scipy.signal, scipy.stats)
words = CountVectorizer(min_df=4, token_pattern="[a-z]{3,}")
X = words.fit_transform(ours + theirs).astype(float)
y = ["NumPy"] * len(ours) + ["SciPy"] * len(theirs)

names = words.get_feature_names_out()
answer = linsep.separate(X, y, feature_names=list(names))
print(answer.message)
model = linsep.OptimisticPerceptron().fit(X, y)
weight = model.coef_[0]
order = np.argsort(weight)
shown = np.r_[order[:10], order[-10:]]

with style():
    figure, ax = plt.subplots(figsize=(7, 4.6), layout="constrained")
    colours = [BLUE if value < 0 else ORANGE for value in weight[shown]]
    ax.barh(names[shown], weight[shown], color=colours)
    ax.set(title=f"Words for NumPy (left) and SciPy (right): {answer.status.value}")
    ax.set_xlabel("coefficient of the classifier")
