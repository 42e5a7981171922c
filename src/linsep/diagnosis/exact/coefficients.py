r"""What the data say of each coefficient: finite, infinite with a sign, or neither.

With O the overlapped and S the separated rows, coefficient j of a design with
independent columns is

- *finite* iff ``e_j`` lies in ``rowspace(A_O)``, that is, ``e_j N = 0``;
- *+inf* iff it is not and ``e_j`` lies in ``rowspace(A_O) + cone(A_S)``: no recession
  direction has ``w_j < 0`` (*-inf* likewise);
- *undetermined* otherwise: there are directions of both signs.

One direction ``w`` positive on all of S is at hand, and fixes which sign is possible.
The other is possible iff ``A_S w > 0``, ``A_O w = 0`` and ``-sign w_j > 0`` can hold at
once (a direction with the other sign, plus a little of the one at hand), which is a
question of separation with one row more. It is answered exactly: by a direction, which
may settle other coefficients too, or by a conflict.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linsep.arrays import no_index
from linsep.diagnosis.exact.columns import Columns
from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import OutOfTime, ShouldStop
from linsep.proof.answers import Conflict
from linsep.proof.doubles import doubles_from
from linsep.proof.exact import integers_from
from linsep.proof.signs import all_positive, settled_signs
from linsep.rows import Rows
from linsep.rows.working_set import WorkingSet


def verdicts(
    rows: Rows, partition: Partition, should_stop: ShouldStop
) -> dict[int, Estimate]:
    """Return the verdict on the coefficient of every kept column.

    Parameters
    ----------
    rows : Rows of shape (m, d)
    partition : Partition
        Of these rows.
    should_stop : callable
        A true answer leaves the rest undecided.
    """
    question = _Question(rows, partition, should_stop)
    quotient, w = partition.quotient, partition.w
    found: dict[int, Estimate] = {}
    for column in (int(j) for j in quotient.kept):
        if quotient.vanishes(column):
            found[column] = Estimate.FINITE
        elif w[column] == 0:
            found[column] = Estimate.UNDETERMINED
    open_ = [int(j) for j in quotient.kept if int(j) not in found]
    try:
        for column in open_:
            if column in found:
                continue
            witness = question.shortcut(column) or question.other_sign(column)
            if witness is None:
                found[column] = Estimate.PLUS if w[column] > 0 else Estimate.MINUS
                continue
            for j in open_:
                if witness[j] * w[j] <= 0 and j not in found:
                    found[j] = Estimate.UNDETERMINED
    except OutOfTime:
        for column in open_:
            found.setdefault(column, Estimate.UNDECIDED)
    return found


def named_estimates(
    named_columns: Sequence[tuple[str, int]],
    columns: Columns,
    found: Mapping[int, Estimate],
) -> dict[str, Any]:
    """Name the verdicts on the columns kept, with and without those left out."""
    kept, aliased = set(columns.kept.tolist()), columns.aliased.tolist()
    verdict = {name: found.get(j, Estimate.UNDECIDED) for name, j in named_columns}
    return {
        "estimates": {
            name: Estimate.ALIASED if aliased[j] else verdict[name]
            for name, j in named_columns
        },
        "estimates_without_aliased": {
            name: verdict[name] for name, j in named_columns if j in kept
        },
    }


class _Question:
    """Whether the other sign of a coefficient is possible."""

    def __init__(
        self, rows: Rows, partition: Partition, should_stop: ShouldStop
    ) -> None:
        self.rows = rows
        self.w = partition.w
        self.quotient = partition.quotient
        self.should_stop = should_stop
        self.separated = np.flatnonzero(~partition.overlapped)
        working = partition.working
        _, relative = settled_signs(rows, self.w, working)
        n_few = 5 * self.quotient.dimension + 200
        nearest = np.argsort(relative, kind="stable")[:n_few]
        self.working = WorkingSet(
            rows,
            np.random.default_rng(0),
            dimension=self.quotient.dimension,
            start=np.sort(working[nearest]),
        )
        self.near = no_index()  # the rows of the last conflict

    def shortcut(self, column: int) -> tuple[int, ...] | None:
        """Push the direction at hand against the sign, as far as near rows allow.

        Floating point proposes a direction; a sweep proves it.
        """
        c = self._coordinates(column)
        if self.quotient.dimension == 1:
            return None
        step = self.quotient.to_weights(c)
        towards = -1.0 if self.w[column] > 0 else 1.0
        w, v = doubles_from(self.w), towards * doubles_from(step)
        block = self.working.rows
        with np.errstate(all="ignore"):
            slack = np.asarray(block @ w).ravel()
            change = np.asarray(block @ v).ravel()
            falling = change < 0
            reach = (slack[falling] / -change[falling]).min(initial=np.inf)
            needed = -w[column] / v[column]
        if not needed < reach:
            return None
        length = min(0.5 * (needed + reach), 4.0 * needed)
        if not np.isfinite(length) or length <= 0:
            return None
        multiple = integers_from(np.array([1.0, length]))
        # The doubles stand for integers: undo the powers of two they were divided by.
        up_w = max(abs(x) for x in self.w).bit_length()
        up_v = max(abs(x) for x in step).bit_length()
        one, many = multiple[0] << up_v, multiple[1] << up_w
        pushed = tuple(
            one * a + int(towards) * many * b for a, b in zip(self.w, step, strict=True)
        )
        if pushed[column] * self.w[column] >= 0:
            return None
        return pushed if all_positive(self.rows, pushed, self.separated) else None

    def other_sign(self, column: int) -> tuple[int, ...] | None:
        """Return a direction with the other sign, or None: there is none."""
        towards = -1 if self.w[column] > 0 else 1
        extra = [towards * value for value in self._coordinates(column)]
        answer = self.quotient.decide_among(
            self.separated, self.working, self.should_stop, extra, self.near
        )
        if isinstance(answer, Conflict):
            self.near = np.array(answer.rows)
            return None
        return answer

    def _coordinates(self, column: int) -> list[int]:
        """Return the unit vector of a column in the coordinates ``u``."""
        if self.quotient.basis is not None:
            return [int(value) for value in self.quotient.basis[column]]
        return [int(j == column) for j in self.quotient.kept]
