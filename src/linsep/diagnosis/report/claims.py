"""What is found of rows that meet a condition: records that sentences word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from linsep.arrays import Index, Mask
from linsep.diagnosis.inputs.outcomes import Outcome


@dataclass(frozen=True)
class Claim:
    """A condition, the rows that meet it, and the outcomes found among them.

    Attributes
    ----------
    where : str
        The condition: "NV = 1", "age >= 40".
    rows : ndarray of int
        All rows that meet it, in order.
    held : ndarray of shape (n_levels,), bool
        The outcomes these rows have; all others are ruled out there.
    """

    where: str
    rows: Index
    held: Mask

    @property
    def is_prediction(self) -> bool:
        """Whether one outcome alone is left: the rows are predicted perfectly."""
        return int(self.held.sum()) == 1


def claim_of(where: str, rows: Index, outcome: Outcome) -> Claim:
    """Look up the outcomes of the rows that meet a condition."""
    return Claim(where, rows, np.asarray(outcome.has[rows].any(axis=0)))


@dataclass(frozen=True)
class Reason:
    """What one column, one level or one cell says of the outcome.

    Attributes
    ----------
    claims : tuple of Claim
        At least one.
    column : int or None
        The feature's number; None for a level without a column, and for a cell.
    factor : str or None
        The factor that is spoken of.
    is_level : bool
        Whether the claims name a level of it.
    """

    claims: tuple[Claim, ...]
    column: int | None = None
    factor: str | None = None
    is_level: bool = False

    @property
    def predicted(self) -> Index:
        """The rows of which one outcome alone is left, sorted."""
        found = [claim.rows for claim in self.claims if claim.is_prediction]
        return found[0] if len(found) == 1 else np.flatnonzero(_are_among(found))

    @property
    def n_told(self) -> int:
        """How many rows something is said of."""
        return int(_are_among([claim.rows for claim in self.claims]).sum())


def outcome_counts(codes: Index, n_codes: int, has: Mask) -> Index:
    """Count the rows with each outcome among those of each code, by code."""
    by_outcome = [np.bincount(codes[held], minlength=n_codes) for held in has.T]
    return np.stack(by_outcome, axis=1)


def _are_among(found: Sequence[Index]) -> Mask:
    """Tell of every row, up to the last one, whether it is among some in order."""
    end = max((rows[-1] + 1 for rows in found if rows.size), default=0)
    are_among = np.zeros(end, dtype=bool)
    for rows in found:
        are_among[rows] = True
    return are_among


def left_open(reasons: Iterable[Reason], n: int, n_levels: int) -> Mask:
    """Return which of n rows have more than one outcome left after all the reasons.

    Each reason is a direction, and the sum of directions rules out what any of them
    does: a row is told if the reasons together leave it one outcome.
    """
    is_open = np.ones(n, dtype=bool)
    partial = []
    for reason in reasons:
        for claim in reason.claims:
            if claim.is_prediction:
                is_open[claim.rows] = False
            else:
                partial.append(claim)
    if partial:
        left = np.ones((n, n_levels), dtype=bool)
        for claim in partial:
            left[claim.rows] &= claim.held
        is_open &= left.sum(axis=1) > 1
    return is_open
