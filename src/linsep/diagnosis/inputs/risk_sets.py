"""What is compared with what: the groups of rows, and at each time who is at risk.

At each time of an event the rows that have it, the *cases*, are compared with all rows
at risk then: those that entered before it and have not left. Only the order of times
matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.inputs.families import COMPARING, OF_GROUPS, OF_TIMES
from linsep.input import InputError
from linsep.input.exact_numbers import is_missing
from linsep.input.features import features_from
from linsep.rows import as_dense


def times_from(y: Any) -> Floats:
    """Read times to an event as columns: entry (-inf if there is none), time, event.

    Parameters
    ----------
    y : array-like or frame of shape (n, 2) or (n, 3), or structured array
        Time and event (0 or 1); entry, time and event; or the array of scikit-survival,
        whose fields are an indicator and a time.

    Examples
    --------
    >>> times_from([[5.0, 1], [6.0, 0]]).tolist()
    [[-inf, 5.0, 1.0], [-inf, 6.0, 0.0]]
    """
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None and len(names) == 2:
        first, second = (np.asarray(y[name]) for name in names)
        event, time = (first, second) if first.dtype == bool else (second, first)
        values = np.column_stack([time, event]).astype(np.float64)
    else:
        try:
            values = as_dense(features_from(y)[0]).astype(np.float64)
        except InputError as error:
            raise InputError(
                "y must hold times and events for family='cox', two columns (time, "
                f"event) or three (entry, time, event): {error}"
            ) from error
    if values.shape[1] not in (2, 3):
        raise InputError(
            "y must have two columns (time, event) or three (entry, time, event) for "
            f"family='cox', got {values.shape[1]}"
        )
    if values.shape[1] == 2:
        values = np.column_stack([np.full(len(values), -np.inf), values])
    entry, time, event = values.T
    wrong = ~np.isin(event, (0.0, 1.0)) | ~(entry < time)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            "an event must be 0 or 1, and an entry come before its time, got "
            f"(entry, time, event) = {tuple(values[row].tolist())} in row {row}"
        )
    return values


@dataclass(frozen=True)
class RiskSets:
    """The times of events, stratum by stratum, and when each row is at risk.

    Sets in which there is no one to compare a case with are left out.

    Attributes
    ----------
    n_sets : int
    enters, leaves : ndarray of shape (n,), int
        A row is at risk in the sets from `enters` to `leaves`, the latter left out.
    case_of : ndarray of shape (n,), int
        The set in which a row is a case; -1 for none.
    n_at_risk, n_cases : ndarray of shape (n_sets,), int
    """

    n_sets: int
    enters: Index
    leaves: Index
    case_of: Index
    n_at_risk: Index
    n_cases: Index

    @classmethod
    def of(
        cls, times: Floats, strata: Index, family: str, present: Mask | None = None
    ) -> RiskSets:
        """Find the risk sets of times as `times_from` returns them.

        Where ties are exact, cases of one time are not compared with one another.
        """
        entry, time, event = times.T
        n = time.size
        here = np.ones(n, dtype=bool) if present is None else present
        is_case = (event == 1) & here
        # Sets in order of their stratum and time.
        ends = np.unique(np.column_stack([strata[is_case], time[is_case]]), axis=0)
        enters = _place(ends, strata, entry)
        leaves = _place(ends, strata, time)
        case_of = np.where(is_case, leaves - 1, -1)
        n_sets = len(ends)
        steps = np.bincount(enters[here], minlength=n_sets + 1)
        steps = steps - np.bincount(leaves[here], minlength=n_sets + 1)
        n_at_risk = np.cumsum(steps)[:n_sets]
        n_cases = np.bincount(case_of[is_case], minlength=n_sets)
        kept = n_at_risk > (n_cases if family == "cox exact" else 1)
        before = np.concatenate([[0], np.cumsum(kept)])
        number = np.append(np.where(kept, before[:-1], -1), -1)
        return cls(
            int(kept.sum()),
            before[enters],
            np.where(here, before[leaves], before[enters]),
            number[case_of],
            n_at_risk[kept],
            n_cases[kept],
        )

    @property
    def is_compared(self) -> Mask:
        """Which rows are at risk at all."""
        return np.asarray(self.leaves > self.enters)

    @property
    def n_pairs(self) -> int:
        """How many rows all sets have together."""
        return int(self.n_at_risk.sum())

    def stacked(self) -> tuple[Index, Index]:
        """Return the rows of all sets, one set after the other, and the set of each."""
        sizes = self.leaves - self.enters
        rows = np.repeat(np.arange(sizes.size), sizes)
        starts = np.cumsum(sizes) - sizes
        sets = np.arange(rows.size) - starts[rows] + self.enters[rows]
        order = np.lexsort((rows, sets))
        return rows[order], sets[order]


def _place(ends: Floats, strata: Index, times: Floats) -> Index:
    """Return how many sets come up to a time of a stratum, those at the time too."""
    n_sets = len(ends)
    strata = np.concatenate([ends[:, 0], strata])
    is_row = np.arange(strata.size) >= n_sets
    order = np.lexsort((is_row, np.concatenate([ends[:, 1], times]), strata))
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.cumsum(~is_row[order])
    return place[n_sets:]


def strata_of(groups: Any, family: str, n: int) -> Index | None:
    """Give the group of each row a number; None if the model compares all rows.

    Examples
    --------
    >>> strata_of(["b", "a", "b"], "conditional", 3).tolist()
    [0, 1, 0]
    """
    if groups is None and family in OF_TIMES:
        return np.zeros(n, dtype=np.intp)
    if groups is None and family not in OF_GROUPS:
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


def numbered(values: Iterable[Any], if_missing: str) -> tuple[Index, list[Any]]:
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
    strata: Index, has: Mask, is_present: Mask, family: str = "conditional"
) -> Mask:
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
