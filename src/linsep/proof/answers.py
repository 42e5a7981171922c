"""The two exact answers to "does some w make every a_i . w positive?"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Index
from linsep.proof.exact import unscaled


@dataclass(frozen=True)
class Separator:
    """Yes: these integers separate, ``a_i . w > 0`` for every row.

    Attributes
    ----------
    w : tuple of d int
        Defined up to a positive factor.
    """

    w: tuple[int, ...]


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

    @classmethod
    def of_scaled(
        cls, weights: Mapping[int, int], exponents: NDArray[np.int64]
    ) -> Conflict:
        """Take weights of integer rows, ``a_i = 2**exponents[i] v_i``, by row."""
        chosen = sorted(weights)
        scaled = [weights[row] for row in chosen]
        return cls(tuple(chosen), tuple(unscaled(scaled, exponents[chosen])))

    def renumbered(self, names: Sequence[int] | Index) -> Conflict:
        """Return the same conflict where row ``i`` is called ``names[i]``."""
        pairs = sorted(
            (int(names[row]), weight)
            for row, weight in zip(self.rows, self.weights, strict=True)
        )
        return Conflict(tuple(row for row, _ in pairs), tuple(p for _, p in pairs))


Answer = Separator | Conflict


def never() -> bool:
    """Never stop: the default answer to "should the work stop now?"."""
    return False
