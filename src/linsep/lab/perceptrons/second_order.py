"""The Second-Order Perceptron (Cesa-Bianchi, Conconi & Gentile 2005)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from linsep.lab.perceptrons._mistakes import add_equation, solve_upper
from linsep.lab.perceptrons.perceptron import additive_result
from linsep.lab.perceptrons.presentation import Order, Presentation, Tally, signed_rows
from linsep.lab.perceptrons.result import FloatArray, LinearResult
from linsep.lab.perceptrons.settings import check_number, generator


@dataclass(frozen=True)
class SecondOrderPerceptron:
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
    fit_intercept : bool, default=True
        Extend every row by the constant 1.
    order : {"cyclic", "shuffled"}, default="cyclic"
        Row order on each pass: as given, or a fresh permutation.
    max_updates : int or None, default=None
        Updates at most.
    max_passes : int or None, default=1000
        Passes at most.
    random_state : int or None, default=None
        Seed of the shuffles.

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
    >>> SecondOrderPerceptron().fit([[10.0], [11.0]], [0, 1]).separated
    True
    """

    ridge: float = 1.0
    fit_intercept: bool = True
    order: Order = "cyclic"
    max_updates: int | None = None
    max_passes: int | None = 1000
    random_state: int | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> LinearResult:
        """Run on ``X`` (n_samples, n_features) with two-class labels ``y``.

        Returns
        -------
        LinearResult
            ``row_weights`` are how often each row was a mistake: ``v``, not ``w``, is
            the sum of rows so weighted.
        """
        ridge = check_number("ridge", self.ridge, above=0)
        data = signed_rows(X, y, fit_intercept=self.fit_intercept)
        A = data.A
        d = A.shape[1]
        # triangle^T triangle = M, and M w = v where triangle w = right.
        triangle = math.sqrt(ridge) * np.eye(d)
        right = np.zeros(d)
        w = np.zeros(d)
        counts = np.zeros(len(A))
        shown = Presentation(self.order, self.max_updates, self.max_passes)
        tally = Tally()
        rng = generator(self.random_state)
        for i in shown.mistakes(A, w, rng, tally):
            add_equation(triangle, right, A[i])
            solve_upper(triangle, right, w)
            counts[i] += 1
            tally.n_inner_products += d
            tally.n_additions += 2 * d
        return additive_result("SecondOrderPerceptron", data, w, counts, tally)

    def mistake_bound(self, erred: FloatArray, u: FloatArray, margin: float) -> float:
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
        check_number("margin", margin, above=0)
        check_number("ridge", self.ridge, above=0)
        erred = np.atleast_2d(np.asarray(erred, dtype=np.float64))
        eigenvalues = np.linalg.eigvalsh(erred.T @ erred).clip(min=0.0)
        alignment = self.ridge + float(((erred @ u) ** 2).sum())
        volume = float(np.log1p(eigenvalues / self.ridge).sum())
        return math.sqrt(alignment * volume) / margin
