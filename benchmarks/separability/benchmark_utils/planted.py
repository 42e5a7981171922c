"""Planted data."""

import numpy as np
from scipy import sparse


def planted(n, d, margin, flips, seed=0):
    """Rows, labels, and the truth; flips is a number of labels or a share of them."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    values = X @ w
    y = np.where(values > 0, 1, -1)
    if margin:  # rows nearer than the margin move out to it
        X += np.outer(y * np.maximum(0.0, margin - np.abs(values)), w)
    n_flips = int(flips) if flips >= 1 else round(flips * n)
    # The rows farthest out, whose flips no hyperplane can mend, come first.
    far = np.argsort(-np.abs(values), kind="stable")
    chosen = far[:n_flips] if flips >= 1 else rng.choice(n, n_flips, replace=False)
    y[chosen] *= -1
    return X, y, n_flips == 0


def random_labels(n, d, seed=0):
    """Draw normal rows and labels by coin: n / d below 2 separates, above does not."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.choice([-1, 1], n)


def scaled_and_mixed(n, d, margin, seed=0):
    """Columns in units from 1e-6 to 1e6, then each with its neighbour added to it."""
    X, y, _ = planted(n, d, margin, 0, seed)
    X *= 10.0 ** np.linspace(-6, 6, d)
    mixed = X.copy()
    mixed[:, 1:] += X[:, :-1]  # the small into the large
    return mixed, y


def sparse_rows(n, d, n_entries=20, seed=0):
    """CSR rows of that many entries in random columns, labelled by a planted plane."""
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, d, (n, n_entries))
    entries = rng.standard_normal((n, n_entries))
    rows = np.repeat(np.arange(n), n_entries)
    X = sparse.csr_matrix(
        (entries.ravel(), (rows, columns.ravel())), shape=(n, d)
    )  # entries of one place add up
    return X, np.where(X @ rng.standard_normal(d) > 0, 1, -1)


def one_dummy(n, d, seed=0):
    """Rows, noisy labels, and the rows of one rare dummy, which all have label 1."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = (X[:, 0] + rng.standard_normal(n) > 0).astype(int)
    separated = np.sort(rng.choice(n, n // 200, replace=False))
    X[:, -1] = 0.0
    X[separated, -1] = 1.0
    y[separated] = 1
    return X, y, separated
