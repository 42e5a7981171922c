"""The Kernel Perceptron (Aizerman, Braverman & Rozonoer 1964)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from linsep.arrays import Floats, Index
from linsep.input import InputError, checked_count, checked_number
from linsep.lab.game.bounds import perceptron_bound
from linsep.lab.perceptrons.by_mistakes import DrivenByMistakes, State
from linsep.lab.perceptrons.method import result_of
from linsep.lab.perceptrons.result import PerceptronResult, new_rows
from linsep.lab.signed_rows import SignedRows

Kernel = Callable[[Floats, Floats], Floats]
KernelName = Literal["linear", "polynomial", "rbf"]


@dataclass(frozen=True, repr=False)
class KernelResult(PerceptronResult):
    """The outcome of a run with a hyperplane in the feature space of a kernel.

    Attributes
    ----------
    support_vectors : ndarray of shape (k, n_features)
        Rows that were mistakes at least once.
    multipliers : ndarray of shape (k,)
        Sign times number of mistakes of each.
    kernel : callable
        ``kernel(U, V)`` of shapes (p, d), (q, d) returns the (p, q) inner products, the
        constant's included.
    """

    support_vectors: Floats
    multipliers: Floats
    kernel: Kernel

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return ``sum_k multipliers_k kernel(x, support_vectors_k)``, (n_samples,)."""
        rows = new_rows(X, self.support_vectors.shape[1])
        products = kernel_values(self.kernel, rows, self.support_vectors)
        return products @ self.multipliers


@dataclass(frozen=True)
class KernelPerceptron(DrivenByMistakes[KernelResult]):
    r"""Perceptron in the feature space of a kernel, without ever going there.

    Keep how often each row was a mistake, ``c``. Row i is shown::

        y_i sum_j c_j y_j k(x_j, x_i) <= 0:   c_i <- c_i + 1

    With the linear kernel this is `Perceptron`, update for update in exact arithmetic:
    in floating point the margins are added up in another order.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "rbf"} or callable, default="linear"
        ``u . v``, ``(1 + u . v)^degree``, ``exp(-gamma |u - v|^2)``, or a function of
        two arrays (p, d), (q, d) that returns the (p, q) inner products.
    degree : int, default=3
        Of the polynomial kernel, an integer of at least 1.
    gamma : float, default=1.0
        Of the rbf kernel, > 0, in units of ``1 / |x|^2``.
    fit_intercept : bool, default=True
        Add 1 to the kernel: the constant feature.
    order, max_updates, max_passes, random_state
        As of `DrivenByMistakes`.

    Notes
    -----
    Novikoff's bound holds in the feature space: at most ``(r / margin)^2``
    updates, with ``r^2 = max_i k(x_i, x_i)`` and the margin of a unit vector there. The
    n x n kernel matrix is computed once and kept. In the paper's unit, inner products
    are kernel values (n^2 at the outset), and an update is one addition, of a column of
    the matrix to the decision values.

    References
    ----------
    M. Aizerman, E. Braverman, L. Rozonoer, "Theoretical foundations of the potential
    function method in pattern recognition learning", Automation and Remote Control 25
    (1964).

    Examples
    --------
    The exclusive or, which no line separates:

    >>> from linsep.perceptrons import KernelPerceptron
    >>> X, y = [[0, 0], [1, 1], [0, 1], [1, 0]], [0, 0, 1, 1]
    >>> KernelPerceptron("polynomial", degree=2).run(X, y).predict(X)
    array([0, 0, 1, 1])
    """

    kernel: KernelName | Kernel = "linear"
    degree: int = 3
    gamma: float = 1.0

    def _run(self, rows: SignedRows) -> KernelResult:
        """Learn on the rows of the kernel matrix, and answer with the mistakes."""
        # The kernel wants the points themselves: no signs, no constant.
        features, _ = rows.split(rows.A * rows.signs[:, None])
        kernel = self.inner_products()
        # Row j of `gram` holds y_j y_i k(x_j, x_i); adding it updates every margin.
        gram = kernel_values(kernel, features, features)
        gram = gram * np.outer(rows.signs, rows.signs)
        _, history = self.learn(replace(rows, A=gram))
        separated = bool((gram @ history.counts > 0).all())
        support = np.flatnonzero(history.counts)
        return result_of(
            KernelResult,
            "KernelPerceptron",
            rows,
            replace(history, charged=gram.size + history.n_updates),
            separated=separated,
            support_vectors=features[support],
            multipliers=rows.signs[support] * history.counts[support],
            kernel=kernel,
        )

    def margins(self, rows: SignedRows, state: State, which: Index) -> Floats:
        """Return the margins of some rows, which the sum of columns holds."""
        return state.w[which]

    def inner_products(self) -> Kernel:
        """Return the kernel as a function of two arrays, the constant included."""
        constant = 1.0 if self.fit_intercept else 0.0
        if callable(self.kernel):
            given = self.kernel
            return lambda U, V: numbers(given(U, V)) + constant
        if self.kernel == "linear":
            return lambda U, V: U @ V.T + constant
        if self.kernel == "polynomial":
            checked_count("degree", self.degree)
            return lambda U, V: (1.0 + U @ V.T) ** self.degree + constant
        if self.kernel == "rbf":
            gamma = checked_number("gamma", self.gamma, above=0)
            return lambda U, V: np.exp(-gamma * squared_distances(U, V)) + constant
        raise InputError(
            'kernel must be "linear", "polynomial", "rbf" or a function of two '
            f"arrays, got {self.kernel!r}"
        )

    @staticmethod
    def mistake_bound(radius: float, margin: float) -> float:
        """Return ``(radius / margin)^2``, both in the feature space."""
        return perceptron_bound(margin, radius)


def squared_distances(U: Floats, V: Floats) -> Floats:
    """Return ``|u_i - v_j|^2``, shape (p, q), without cancellation below zero."""
    squares = (U**2).sum(axis=1)[:, None] + (V**2).sum(axis=1)[None, :]
    distances: Floats = np.maximum(squares - 2.0 * (U @ V.T), 0.0)
    return distances


def numbers(values: object) -> Floats:
    """Return what a kernel of the user's gave as float64, or raise InputError."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"kernel must return an array of numbers: {error}") from None


def kernel_values(kernel: Kernel, U: Floats, V: Floats) -> Floats:
    """Return ``kernel(U, V)``, shape (p, q), or raise InputError if it is not that."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = kernel(U, V)
    if values.shape != (len(U), len(V)):
        raise InputError(
            f"kernel of arrays of {len(U)} and {len(V)} rows must return shape "
            f"({len(U)}, {len(V)}), the inner product of every pair; got {values.shape}"
        )
    if not np.isfinite(values).all():
        raise InputError(
            "kernel must return finite numbers on these rows, got inf or nan; scale "
            "X down, or choose a lower degree or another kernel"
        )
    return values
