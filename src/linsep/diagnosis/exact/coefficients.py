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

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.facial_reduction import Partition
from linsep.diagnosis.exact.quotient import Conflict
from linsep.diagnosis.exact.sweeps import AnyRows, exact_signs_of, signs_of
from linsep.diagnosis.status import Estimate
from linsep.diagnosis.watch import OutOfTime, require_time
from linsep.proof.exact import doubles_from, integers_from


def verdicts(
    rows: AnyRows,
    partition: Partition,
    should_stop: Callable[[], bool],
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


class _Question:
    """Whether the other sign of a coefficient is possible."""

    def __init__(
        self, rows: AnyRows, partition: Partition, should_stop: Callable[[], bool]
    ) -> None:
        self.rows = rows
        self.w = partition.w
        self.quotient = partition.quotient
        self.should_stop = should_stop
        self.separated = np.flatnonzero(~partition.overlapped)
        working = partition.working
        _, relative = signs_of(rows, self.w, working)
        n_few = 5 * self.quotient.dimension + 200
        nearest = np.argsort(relative, kind="stable")[:n_few]
        self.working = np.sort(working[nearest])

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
        block = self.rows.take(self.working)
        slack, change = np.asarray(block @ w).ravel(), np.asarray(block @ v).ravel()
        falling = change < 0
        with np.errstate(all="ignore"):
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
        return pushed if self._violators(pushed).size == 0 else None

    def other_sign(self, column: int) -> tuple[int, ...] | None:
        """Return a direction with the other sign, or None: there is none."""
        towards = -1 if self.w[column] > 0 else 1
        extra = [towards * value for value in self._coordinates(column)]
        while True:
            answer = self.quotient.decide(self.working, self.should_stop, extra)
            if answer is None:
                raise OutOfTime
            require_time(self.should_stop)
            if isinstance(answer, Conflict):
                return None
            violators = self._violators(answer)
            if violators.size == 0:
                return answer
            n_added = 5 * self.quotient.dimension + 50
            self.working = np.union1d(self.working, violators[:n_added])

    def _coordinates(self, column: int) -> list[int]:
        """Return the unit vector of a column in the coordinates ``u``."""
        if self.quotient.basis is not None:
            return [int(value) for value in self.quotient.basis[column]]
        return [int(j == column) for j in self.quotient.kept]

    def _violators(self, w: tuple[int, ...]) -> NDArray[np.intp]:
        """Return separated rows on which a direction is not positive, worst first."""
        signs, relative = signs_of(self.rows, w, self.separated)
        doubtful = np.flatnonzero(signs == 0)
        if doubtful.size:
            signs[doubtful] = exact_signs_of(self.rows, w, self.separated[doubtful])
        bad = np.flatnonzero(signs <= 0)
        worst = bad[np.argsort(relative[bad], kind="stable")]
        return np.asarray(self.separated[worst])
