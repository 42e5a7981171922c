"""Small problems that are hard on arithmetic: ties, the ends of the doubles, copies."""

import numpy as np

ENDS = [5e-324, 1e-323, 2.2e-308, 1e-300, 1e300, 1e308, np.finfo(float).max]


def hostile_entries(rng, shape):
    """Entries of one of several kinds, or of all of them."""
    kinds = [
        lambda: rng.integers(-2, 3, shape).astype(float),
        lambda: rng.standard_normal(shape),
        lambda: rng.choice([*ENDS, 0.0, 1.0], shape) * rng.choice([-1.0, 1.0], shape),
        lambda: np.ldexp(rng.integers(-3, 4, shape), rng.integers(-1060, 1000, shape)),
        # A unit in the last place about a small number.
        lambda: np.nextafter(
            rng.integers(-2, 3, shape).astype(float), rng.choice([-9.0, 9.0], shape)
        ),
        lambda: rng.integers(-3, 4, shape) / 10.0,
    ]
    chosen = rng.integers(len(kinds) + 1)
    if chosen < len(kinds):
        return kinds[chosen]()
    drawn = np.stack([kind() for kind in kinds])
    return np.take_along_axis(drawn, rng.integers(len(kinds), size=(1, *shape)), 0)[0]


def hostile_problem(rng, most_rows=9, most_columns=5):
    """Return (X, y): one class or two, with copies, opposites, dependent columns."""
    n, d = int(rng.integers(1, most_rows)), int(rng.integers(1, most_columns))
    X = hostile_entries(rng, (n, d))
    y = rng.integers(0, 2, n)
    if rng.random() < 0.3 and n > 1:  # the same point, perhaps with both labels
        X[rng.integers(n)] = X[rng.integers(n)]
    if rng.random() < 0.2 and n > 1:
        with np.errstate(over="ignore"):
            X[rng.integers(n)] = -X[rng.integers(n)]
    if rng.random() < 0.2 and d > 1:
        X[:, rng.integers(d)] = X[:, rng.integers(d)]
    if rng.random() < 0.1:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, 1e-310, 1e305])
    if rng.random() < 0.2:  # labels by a hyperplane, so that separation is not rare
        with np.errstate(over="ignore", invalid="ignore"):
            scores = np.nan_to_num(X @ rng.integers(-2, 3, d))
        y = (scores > rng.integers(-1, 2)).astype(int)
    if rng.random() < 0.15:
        with np.errstate(over="ignore"):
            small = X.astype(np.float32)
        if np.isfinite(small).all():
            X = small
    return X, y


def signed_rows(X, y, fit_intercept):
    """Signed rows, the constant last; the larger label is the positive class."""
    ones = np.ones((len(X), 1)) if fit_intercept else np.ones((len(X), 0))
    rows = np.hstack([np.asarray(X, dtype=float), ones])
    return np.where(np.asarray(y) == max(y), 1.0, -1.0)[:, None] * rows
