"""The two exact answers to "does some w make every a_i . w positive?"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.proof.exact import doubles_from


@dataclass(frozen=True)
class Separator:
    """Yes: these integers separate, ``a_i . w > 0`` for every row.

    Attributes
    ----------
    w : tuple of d int
        Defined up to a positive factor.
    """

    w: tuple[int, ...]

    def to_floats(self) -> NDArray[np.float64]:
        """Return `w` divided by a power of two and rounded to doubles.

        Rounding may lose what the integers prove: check it before reporting it.
        """
        return doubles_from(self.w)


@dataclass(frozen=True)
class Conflict:
    """No: these rows, with these weights, sum to zero, ``sum_i p_i a_i = 0``.

    A ``w`` that separated would make the sum ``sum_i p_i a_i . w`` positive, so none
    exists (Gordan's theorem, see `linsep.proof.gordan`). The set is minimal: without
    any one of its rows the others are separable. It has at most rank + 1 rows.

    Attributes
    ----------
    rows : tuple of k int
        Row numbers, strictly increasing.
    weights : tuple of k int
        Positive, without a common factor.
    """

    rows: tuple[int, ...]
    weights: tuple[int, ...]


Answer = Separator | Conflict
