"""How rows reach a method: signed, in what order, and with what caps.

Every method that learns from mistakes reads ::

    for i in presentation.mistakes(A, w, rng, tally):
        w += ...

The generator shows the rows in order, yields those with ``a_i . w <= 0`` under the
``w`` of that moment, and ends after a pass without one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.lab.perceptrons._mistakes import next_violation
from linsep.lab.perceptrons.result import FloatArray, Stop
from linsep.lab.perceptrons.settings import check_cap

Order = Literal["cyclic", "shuffled"]

# Squares of entries, summed and multiplied by counts, stay within double precision.
SMALLEST, LARGEST = 1e-120, 1e120


@dataclass(frozen=True)
class SignedRows:
    """The training rows as the family sees them.

    Attributes
    ----------
    A : ndarray of shape (n_samples, d)
        Signed rows ``a_i = sign_i (x_i, 1)``; the constant only with an intercept.
    signs : ndarray of shape (n_samples,)
        +1 for the last of the sorted classes, -1 for the first.
    classes : ndarray of shape (2,) or (1,)
        The labels, sorted.
    fit_intercept : bool
        Whether the last column of ``A`` is the signed constant.
    """

    A: FloatArray
    signs: FloatArray
    classes: NDArray[np.generic]
    fit_intercept: bool

    def split(self, w: FloatArray) -> tuple[FloatArray, float]:
        """Return (coef, intercept) from a weight vector on the columns of ``A``."""
        if self.fit_intercept:
            return w[:-1].copy(), float(w[-1])
        return w.copy(), 0.0


def signed_rows(X: ArrayLike, y: ArrayLike, *, fit_intercept: bool) -> SignedRows:
    """Validate ``X`` (n_samples, n_features) and two-class labels ``y``; sign the rows.

    Raises
    ------
    linsep.input.InputError
        If the data are not what `linsep.separate` would accept, or so large or small
        that squares of entries leave the range of double precision.
    """
    from linsep.input import InputError, problem_from

    problem = problem_from(X, y, fit_intercept=fit_intercept)
    rows = problem.rows.take(np.arange(problem.n_samples))
    A = rows if isinstance(rows, np.ndarray) else rows.toarray()
    largest = float(np.abs(A).max(initial=0.0))
    if not (largest == 0.0 or SMALLEST < largest < LARGEST):
        raise InputError(
            f"the largest entry of X must be between {SMALLEST:g} and {LARGEST:g} in "
            f"size for the textbook methods, got {largest:g}: their inner products "
            "would overflow or vanish; multiply X by a constant, or use linsep.separate"
        )
    return SignedRows(
        A=np.ascontiguousarray(A, dtype=np.float64),
        signs=problem.rows.signs.astype(np.float64),
        classes=np.asarray(problem.classes),
        fit_intercept=fit_intercept,
    )


@dataclass
class Tally:
    """Running counts of a fit: what was shown, computed and changed."""

    n_updates: int = 0
    n_passes: int = 0
    n_inner_products: int = 0
    n_additions: int = 0
    stopped: Stop = "max_passes"

    @property
    def n_operations(self) -> int:
        """Inner products plus additions, the paper's unit."""
        return self.n_inner_products + self.n_additions


@dataclass(frozen=True)
class Presentation:
    """The order rows are shown in, and when to stop without a separator.

    Parameters
    ----------
    order : {"cyclic", "shuffled"}
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None
        Updates at most; the run ends when one more is needed.
    max_passes : int or None
        Passes at most.
    """

    order: Order
    max_updates: int | None
    max_passes: int | None

    def __post_init__(self) -> None:
        if self.order not in ("cyclic", "shuffled"):
            raise ValueError(
                f'`order` must be "cyclic" or "shuffled", got {self.order!r}.'
            )
        for name in ("max_updates", "max_passes"):
            check_cap(name, getattr(self, name), none_allowed=True)

    def pass_order(self, n: int, rng: np.random.Generator) -> NDArray[np.intp]:
        """Return the row order of the next pass, shape (n,)."""
        if self.order == "cyclic":
            return np.arange(n, dtype=np.intp)
        return rng.permutation(n).astype(np.intp)

    def mistakes(
        self, A: FloatArray, w: FloatArray, rng: np.random.Generator, tally: Tally
    ) -> Iterator[int]:
        """Yield each row ``i`` met with ``a_i . w <= 0``; ``w`` is read as it changes.

        Ends after a pass without mistakes (``tally.stopped = "separated"``) or at a
        cap. The caller must change ``w`` in place.

        Raises
        ------
        linsep.input.InputError
            If a change leaves the range of double precision.
        """
        n = len(A)
        while self.max_passes is None or tally.n_passes < self.max_passes:
            order = self.pass_order(n, rng)
            tally.n_passes += 1
            before, position = tally.n_updates, 0
            while position < n:
                found = next_violation(A, order, position, w)
                tally.n_inner_products += min(found + 1, n) - position
                if found == n:
                    break
                if tally.n_updates == self.max_updates:
                    tally.stopped = "max_updates"
                    return
                tally.n_updates += 1
                yield int(order[found])
                require_finite(w, tally)
                position = found + 1
            if tally.n_updates == before:
                tally.stopped = "separated"
                return


def require_finite(values: FloatArray, tally: Tally) -> None:
    """Raise InputError if an update took a number beyond double precision."""
    from linsep.input import InputError

    if not np.isfinite(values).all():
        raise InputError(
            f"weights and margins must stay finite, but update {tally.n_updates:,} "
            "left the range of double precision; scale X down, or choose a smaller "
            "step, promotion or degree"
        )
