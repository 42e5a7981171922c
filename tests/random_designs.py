"""Random regressions: factors, rare levels, interactions, collinear sums."""

import numpy as np
from scipy import sparse

FAMILIES = ("binomial", "poisson", "multinomial", "ordinal")


def random_design(rng):
    """A small design matrix, and a linear predictor around zero."""
    n, blocks = int(rng.integers(4, 60)), []
    for _ in range(rng.integers(0, 4)):
        n_levels = int(rng.integers(2, 8))
        shares = rng.dirichlet(np.full(n_levels, rng.choice([0.2, 1.0, 50.0])))
        levels = np.eye(n_levels)[rng.choice(n_levels, n, p=shares)]
        blocks.append(levels[:, 1:] if rng.random() < 0.5 else levels)
    for _ in range(rng.integers(0, 4)):
        kinds = (
            rng.standard_normal((n, 1)),
            rng.integers(-3, 4, (n, 1)).astype(float),
            rng.integers(0, 2, (n, 1)).astype(float),
        )
        blocks.append(kinds[rng.integers(0, 3)])
    if not blocks:
        blocks.append(rng.integers(0, 3, (n, 1)).astype(float))
    if len(blocks) > 1 and rng.random() < 0.3:
        blocks.append(blocks[0][:, :1] * blocks[1])
    X = np.hstack(blocks)
    if X.shape[1] > 1 and rng.random() < 0.3:
        X = np.c_[X, X[:, 0] + X[:, 1]]
    if rng.random() < 0.3:
        X = X[rng.integers(0, n, n)]
    eta = X @ (rng.standard_normal(X.shape[1]) * rng.choice([0.3, 1.0, 5.0]))
    return X, eta - np.median(eta)


def random_regression(seed):
    """A design (dense or CSR, now and then float32), its outcome and family.

    None where the outcome has one class alone.
    """
    rng = np.random.default_rng(seed)
    X, eta = random_design(rng)
    family = FAMILIES[seed % 4]
    if family == "binomial":
        y = (rng.random(eta.size) < 1 / (1 + np.exp(-eta))).astype(int)
    elif family == "poisson":
        y = rng.poisson(np.exp(np.clip(eta - 1, -5, 3)))
    else:
        y = np.digitize(eta + rng.logistic(size=eta.size), [-1, 1])
    if family != "poisson" and np.unique(y).size < 2:
        return None
    X = X.astype(rng.choice([np.float64, np.float64, np.float32]))
    return (sparse.csr_array(X) if rng.random() < 0.5 else X), y, family
