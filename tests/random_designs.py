"""Random regressions: factors, rare levels, interactions, collinear sums."""

import numpy as np
from scipy import sparse

FAMILIES = ("binomial", "poisson", "multinomial", "ordinal")


def random_design(rng):
    """Factors, rare levels, numbers, interactions and collinear sums, at random."""
    n = int(rng.integers(4, 60))
    columns = []
    for _ in range(rng.integers(0, 4)):
        n_levels = int(rng.integers(2, 8))
        share = rng.dirichlet(np.full(n_levels, rng.choice([0.3, 1.0, 5.0])))
        levels = np.eye(n_levels)[rng.choice(n_levels, n, p=share)]
        columns.append(levels[:, int(rng.integers(0, 2)) :])
    for _ in range(rng.integers(0, 4)):
        kinds = (
            rng.standard_normal((n, 1)),
            rng.integers(-3, 4, (n, 1)),
            rng.integers(0, 2, (n, 1)),
        )
        columns.append(kinds[rng.integers(0, 3)])
    if len(columns) > 1 and rng.random() < 0.3:
        columns.append(columns[0][:, :1] * columns[-1][:, :1])
    X = np.hstack(columns or [rng.integers(0, 3, (n, 1))]).astype(float)
    if rng.random() < 0.3 and X.shape[1] > 1:
        X = np.c_[X, X[:, 0] + X[:, 1]]
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    eta = X @ (rng.standard_normal(X.shape[1]) * rng.choice([0.3, 1.0, 5.0]))
    return X, eta - np.median(eta)


def random_problem(seed):
    """A design (dense or CSR, now and then float32), its outcome and family."""
    rng = np.random.default_rng(seed)
    X, eta = random_design(rng)
    n, family = eta.size, FAMILIES[seed % 4]
    if family == "binomial":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int)
    elif family == "poisson":
        y = rng.poisson(np.exp(np.clip(eta - 1, -5, 3)))
    else:
        y = np.digitize(eta + rng.logistic(size=n), [-1, 1])
    if rng.random() < 0.2:
        X = X.astype(np.float32)
    return (sparse.csr_array(X) if rng.random() < 0.5 else X), y, family


def random_cohort(seed):
    """Few rows: ties, strata, late entries, repeated and collinear columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(2, 11)), int(rng.integers(1, 4))
    X = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 3 == 0:
        X[:, 0] = rng.random(n) < 0.3
    if seed % 5 == 0 and d > 1:
        X[:, 1] = X[:, 0] * rng.choice([1.0, -2.0, 0.0])
    if seed % 4 == 0:
        X = X * 0.1 + 0.3  # differences round
    if seed % 7 == 0:
        X = X[rng.integers(0, n, n)]
    time = rng.integers(1, 3 + seed % 8, n).astype(float)
    event = rng.random(n) < rng.choice([0.3, 0.7, 1.0])
    entry = np.full(n, -np.inf)
    if seed % 2:
        entry = time - rng.integers(1, 6, n)
    strata = rng.integers(0, 1 + seed % 3, n)
    order = np.argsort(-X[:, 0] + rng.normal(0, 1, n)) if seed % 6 == 0 else slice(None)
    if seed % 6 == 0:  # early events where the first column is high
        time = np.sort(time)[np.argsort(order)]
        entry[:] = -np.inf
    return X, np.column_stack([entry, time, event]), strata
