"""Arrays that may be on another device to a problem whose rows stay there."""

from __future__ import annotations

from typing import Any

from linsep.input.features import features_from
from linsep.input.labels import labels_from, require_one_label_a_row, signs_from
from linsep.input.problem import Problem
from linsep.rows.device import DeviceRows, namespace_of, to_numpy


def device_problem(X: Any, y: Any, fit_intercept: bool) -> Problem | None:
    """Return the problem of an array of floats; None if X is none.

    Integers and truth values are brought to the processor, as other arrays are.
    """
    xp = namespace_of(X)
    if xp is None or X.ndim != 2 or X.dtype not in (xp.float32, xp.float64):
        return None
    if 0 in X.shape:
        return None
    labels = labels_from(to_numpy(y))
    require_one_label_a_row(X.shape, len(labels))
    if not bool(xp.isfinite(xp.sum(X))):
        features_from(to_numpy(X))  # which says where it is not
    classes, signs = signs_from(labels)
    return Problem(DeviceRows(X, signs, fit_intercept), classes, None, fit_intercept)
