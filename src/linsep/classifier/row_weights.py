"""What every training row weighs: sample weights times class weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.input import InputError

ClassWeight = Mapping[Any, float] | str | None


def class_factors(
    class_weight: ClassWeight, classes: NDArray[Any], labels: Index, weights: Floats
) -> Floats:
    """Return what the weights of each class are multiplied by, shape (n_classes,).

    "balanced" gives all classes the same weight in sum, and changes the total not.

    Examples
    --------
    >>> labels, weights = np.array([0, 0, 0, 1]), np.ones(4)
    >>> class_factors("balanced", np.array(["a", "b"]), labels, weights).tolist()
    [0.6666666666666666, 2.0]
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        mass = np.bincount(labels, weights, minlength=len(classes))
        return np.asarray(mass.sum() / (len(classes) * mass))
    unknown = [name for name in class_weight if name not in classes.tolist()]
    factors = np.array([float(class_weight.get(k, 1.0)) for k in classes.tolist()])
    if unknown or not (np.isfinite(factors) & (factors > 0)).all():
        raise InputError(
            "class_weight must give positive numbers to classes of y, "
            f"{classes.tolist()}, got {dict(class_weight)!r}; leave out other names, "
            "and the rows of a class that is not to count"
        )
    return factors


def units_of(weights: Floats) -> Floats:
    """Return what one row weighs: whole weights count rows, others are of one row."""
    if (weights == np.rint(weights)).all():
        return np.ones(len(weights))
    return weights
