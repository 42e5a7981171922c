"""The groups within which rows are compared: of a conditional model, or strata."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.inputs.families import COMPARING, OF_TIMES
from linsep.input import InputError
from linsep.input.exact_numbers import is_missing


def strata_of(groups: Any, family: str, n: int) -> NDArray[np.intp] | None:
    """Give the group of each row a number; None if the model compares all rows.

    Examples
    --------
    >>> strata_of(["b", "a", "b"], "conditional", 3).tolist()
    [0, 1, 0]
    """
    if groups is None and family in OF_TIMES:
        return np.zeros(n, dtype=np.intp)
    if groups is None and family not in ("conditional", "conditional poisson"):
        return None
    if groups is None or family not in COMPARING:
        raise InputError(
            "groups go with family='conditional', the conditional logit, and it needs "
            "them, or are the strata of family='cox', got "
            f"family={family!r} with{'out' * (groups is None)} groups; for "
            "fixed effects with estimates of their own write 'y ~ x | group'"
        )
    values = np.asarray(groups)
    if values.shape != (n,):
        raise InputError(
            f"groups must name the group of each of the {n} rows, got shape "
            f"{values.shape}"
        )
    codes, _ = numbered(
        values.tolist(),
        "groups must name the group of every row, got a missing value; leave those "
        "rows out",
    )
    return codes


def numbered(
    values: Iterable[Any], if_missing: str
) -> tuple[NDArray[np.intp], list[Any]]:
    """Give values numbers in the order in which they come; return these too.

    Raises
    ------
    InputError
        If one is missing, in these words.
    """
    number: dict[Any, int] = {}
    codes = [number.setdefault(value, len(number)) for value in values]
    if any(map(is_missing, number)):
        raise InputError(if_missing)
    return np.array(codes, dtype=np.intp), list(number)


def informative(
    strata: NDArray[np.intp],
    has: NDArray[np.bool_],
    is_present: NDArray[np.bool_],
    family: str = "conditional",
) -> NDArray[np.bool_]:
    """Return which of the rows present are in a group with both outcomes.

    In any other the conditional likelihood is 1, whatever the coefficients are. Of
    counts a group says something where several rows share a positive total.
    """
    if family == "conditional poisson":
        n_strata = int(strata.max()) + 1
        total = np.bincount(strata[has[:, 1] & is_present], minlength=n_strata)
        size = np.bincount(strata[is_present], minlength=n_strata)
        return np.asarray(is_present & ((total > 0) & (size > 1))[strata])
    if has.shape[1] < 2:
        return np.zeros(strata.size, dtype=bool)
    is_mixed = np.ones(strata.max() + 1, dtype=bool)
    for held in has.T:
        is_mixed &= np.bincount(strata[held & is_present], minlength=is_mixed.size) > 0
    return np.asarray(is_present & is_mixed[strata])
