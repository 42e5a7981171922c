"""The Second-Order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from linsep.arrays import Floats
from linsep.input import checked_number
from linsep.lab.perceptrons.by_mistakes import HyperplaneByMistakes, State
from linsep.lab.perceptrons.method import History
from linsep.lab.perceptrons.result import LinearResult
from linsep.lab.signed_rows import SignedRows


@dataclass(frozen=True)
class SecondOrderPerceptron(HyperplaneByMistakes):
    r"""Perceptron on rows whitened by the rows it has erred on.

    With ``M = ridge I + sum a a^T`` and ``v = sum a`` over the mistakes so far (both
    sums repeat a row as often as it was a mistake), a row is a mistake if ::

        v^T (M + a a^T)^{-1} a <= 0

    and then joins both sums. The source whitens by the current row too, as above; by
    Sherman and Morrison this divides ``v^T M^{-1} a`` by ``1 + a^T M^{-1} a > 0``,
    which changes no sign, so the predictor is the hyperplane ``w = M^{-1} v``.

    Parameters
    ----------
    ridge : float, default=1.0
        ``> 0``, the source's ``a``, in units of squared rows. Large values approach
        Perceptron.
    fit_intercept, order, max_updates, max_passes, random_state
        As of `DrivenByMistakes`.

    Notes
    -----
    If ``a_i . u >= margin > 0`` for a unit vector ``u`` and all rows, the number of
    mistakes is at most ::

        (1 / margin) sqrt( (ridge + sum (a . u)^2) sum_j ln(1 + l_j / ridge) ),

    the sums over the rows erred on, ``l_j`` the eigenvalues of ``sum a a^T`` over them
    (Theorem 3.1 of the source, whose hinge terms vanish on separable rows). The bound
    is of the run itself: `mistake_bound` takes the rows erred on.

    Since ``v`` is the sum of the rows erred on, ``w`` is the ridge regression of the
    constant 1 on them: it minimises ``ridge |w|^2 + sum (a . w - 1)^2``. It is computed
    from the triangular factor of ``M``, kept up to date by plane rotations, which holds
    for rows of any size (the inverse of ``M``, updated, is lost once ``|a|^2 / ridge``
    nears 1e16). An update costs ``2 d`` additions (a rotation a column, of two rows)
    and ``d`` inner products (the triangular solution).

    References
    ----------
    N. Cesa-Bianchi, A. Conconi, C. Gentile, "A second-order perceptron algorithm", SIAM
    Journal on Computing 34 (2005), doi:10.1137/S0097539703432542.

    Examples
    --------
    >>> from linsep.perceptrons import SecondOrderPerceptron
    >>> SecondOrderPerceptron().run([[10.0], [11.0]], [0, 1]).separated
    True
    """

    ridge: float = 1.0

    def init(self, rows: SignedRows) -> State:
        """Return weights zero; the memory is the triangle of ``M`` and its right side.

        ``triangle^T triangle = M``, and ``M w = v`` where ``triangle w = right``.
        """
        ridge = checked_number("ridge", self.ridge, above=0)
        d = rows.A.shape[1]
        return State(np.zeros(d), math.sqrt(ridge) * np.eye(d, d + 1))

    def step(self, rows: SignedRows, state: State, i: int) -> State:
        """Return the state with row ``i`` in both sums; ``v``, not ``w``, adds rows."""
        from scipy.linalg import solve_triangular

        system = with_equation(state.memory, rows.A[i])
        w = solve_triangular(system[:, :-1], system[:, -1], check_finite=False)
        return State(w, system)

    def answer(self, rows: SignedRows, w: Floats, history: History) -> LinearResult:
        """Return the result of ``w``, the updates charged as the notes say."""
        updates = 3 * int(rows.A.shape[1]) * history.n_updates
        history = replace(history, charged=history.n_shown + updates)
        return super().answer(rows, w, history)

    def mistake_bound(self, erred: Floats, u: Floats, margin: float) -> float:
        """Return the bound of the notes.

        Parameters
        ----------
        erred : ndarray of shape (m, d)
            The signed rows erred on, a row as often as it was a mistake.
        u : ndarray of shape (d,)
            A unit vector.
        margin : float
            ``min_i a_i . u > 0`` over all rows.
        """
        checked_number("margin", margin, above=0)
        checked_number("ridge", self.ridge, above=0)
        erred = np.atleast_2d(np.asarray(erred, dtype=np.float64))
        eigenvalues = np.linalg.eigvalsh(erred.T @ erred).clip(min=0.0)
        alignment = self.ridge + float(((erred @ u) ** 2).sum())
        volume = float(np.log1p(eigenvalues / self.ridge).sum())
        return math.sqrt(alignment * volume) / margin


def with_equation(system: Floats, row: Floats) -> Floats:
    """Return the least squares ``[triangle, right]`` with ``row . w = 1`` added.

    Plane rotations, one a column; rotations keep lengths, so that large rows and a
    small ridge stand side by side.
    """
    system, equation = system.copy(), np.append(row, 1.0)
    for j, above in enumerate(system):
        length = math.hypot(above[j], equation[j])
        cosine, sine = above[j] / length, equation[j] / length
        above[j:], equation[j:] = (
            cosine * above[j:] + sine * equation[j:],
            cosine * equation[j:] - sine * above[j:],
        )
    return system
