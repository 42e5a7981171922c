"""Probabilities of classes from the scores of a logistic regression."""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats


def log_probabilities(scores: Floats, *, joint: bool) -> Floats:
    """Return logarithms of probabilities, shape (n_samples, n_classes).

    Parameters
    ----------
    scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
        Logarithms of odds: of the second of two classes; of each class against the
        rest; or, of a joint fit, up to what all classes have in common.
    joint : bool
        Whether the classes were fitted jointly.

    Examples
    --------
    >>> logs = log_probabilities(np.array([0.0, np.log(3)]), joint=True)
    >>> np.exp(logs).round(6).tolist()
    [[0.5, 0.5], [0.25, 0.75]]
    """
    if scores.ndim == 1:
        return -np.logaddexp(0.0, np.column_stack([scores, -scores]))
    if not joint:
        scores = -np.logaddexp(0.0, -scores)
    top = scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(scores - top).sum(axis=1, keepdims=True))
    return np.asarray(scores - top - total)
