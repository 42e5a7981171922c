r"""The Optimistic Perceptron: Algorithm 1, and the loop that adapts its step.

The learner plays optimistic follow-the-regularised-leader, the data player exponential
weights, on the signed rows ``A`` (n, d). With steps ``eta_t`` write ``G_t = sum_s eta_s
x_s`` for the weighted pseudoexamples, ``S_t = sum_s eta_s``, and ``v_t = sum_s eta_s
w_s`` for the weighted plays. A round is

    w  = G + eta x_                        (optimism: the last pseudoexample twice)
    v' = v + eta w
    f', x', margin' = oracle(v')
    kl = -eta <w, x'> - (f' - f)           (the divergence KL(p' || p))
    eta^2 |x' - x_|^2 / 2 > kl:            halve eta and play the round again
    v, f, x_, G, S = v', f', x', G + eta x', S + eta;   eta = 1.3 eta

and it stops when ``v'`` or the play ``w`` separates.

Guarantee. Theorems 1 and 2 of the paper, used with weights ``eta_t`` and a comparator
of free length, give at every round, whatever the steps accepted,

    min_i a_i . v_T >= |G_T|^2 / 2 - ln n,     |G_T| >= margin * S_T.

Hence a separator exists among the averages once ``S > sqrt(2 ln n) / margin``; on data
no hyperplane separates ``|G| <= sqrt(2 ln n)`` for ever; and always ``margin <= |G| /
S``. Pinsker's inequality gives ``|x' - x|^2 <= 2 r^2 kl`` with ``r >= max |a_i|``, so a
step ``1/r`` is always accepted.

Source: Hanashiro & Abernethy, "Linear Separation via Optimism" (2020), Algorithm 1 and
Theorems 1 to 3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linsep.solvers._optimistic import Loop
from linsep.solvers.oracle import Oracle


@dataclass(frozen=True)
class Round:
    """The state after a round of play.

    Attributes
    ----------
    n_rounds : int
        Oracle calls so far, backtracks counted.
    play : ndarray of shape (d,)
        The learner's play ``w_t``.
    total : ndarray of shape (d,)
        ``v_t``, the weighted sum of plays; the returned average up to scale.
    pseudoexample : ndarray of shape (d,)
        ``x_t = sum_i p_i a_i``.
    weighted_sum : ndarray of shape (d,)
        ``G_t``, the weighted sum of pseudoexamples.
    step_sum : float
        ``S_t``, the sum of steps.
    step_size : float
        The step taken in this round.
    f : float
        ``log mean_i exp(-a_i . v_t)``.
    margin : float
        ``min_i a_i . v_t``.
    margin_play : float
        ``min_i a_i . w_t``.
    found : bool
        Whether this is a separator with as much margin as was asked for.
    """

    n_rounds: int
    play: NDArray[np.float64]
    total: NDArray[np.float64]
    pseudoexample: NDArray[np.float64]
    weighted_sum: NDArray[np.float64]
    step_sum: float
    step_size: float
    f: float
    margin: float
    margin_play: float
    found: bool

    @property
    def separator(self) -> NDArray[np.float64] | None:
        """The average if it separates, else the play if it does, else None."""
        if self.margin > 0:
            return self.total
        if self.margin_play > 0:
            return self.play
        return None

    @property
    def margin_upper(self) -> float:
        """The bound ``|G| / S`` on the largest margin of the rows, at no cost."""
        if self.step_sum == 0:
            return float("inf")
        return float(np.linalg.norm(self.weighted_sum)) / self.step_sum


class OptimisticLoop:
    """A play of the loop of this module, whose rounds run in compiled code.

    Parameters
    ----------
    oracle : Oracle
        The signed rows.
    step_size : float or None, default=None
        The first step, > 0. ``None`` takes ``1 / max_i |a_i|``, which is always
        accepted.
    adaptive : bool, default=True
        ``False`` holds the step: Algorithm 1 with learning rate ``step_size ** 2``.
    """

    def __init__(
        self, oracle: Oracle, *, step_size: float | None = None, adaptive: bool = True
    ) -> None:
        safe = safe_step(oracle)
        first = step_size if step_size is not None else safe
        # Half the safe step is accepted for certain, so it is not halved again.
        self._loop = Loop(oracle.sweep, first, 0.5 * safe if adaptive else np.inf)

    def play(self, until: int = 0, *, enough: float = 0.0) -> Round:
        """Play one round, and more until so many are done or a separator is met.

        Parameters
        ----------
        until : int, default=0
            Rounds in all, backtracks counted, after which to return.
        enough : float, default=0.0
            The average must have more than this share of the best margin there can be,
            by ``|G| / S``. With 0 any separator will do, the play among them.
        """
        found = self._loop.advance(until, enough)
        loop = self._loop
        return Round(
            loop.n_rounds,
            *loop.vectors(),
            loop.step_sum,
            loop.step_size,
            loop.f,
            loop.margin,
            loop.margin_play,
            found,
        )

    def rounds(self) -> Iterator[Round]:
        """Yield the state after each round, for ever: the caller must stop."""
        while True:
            yield self.play()


def safe_step(oracle: Oracle) -> float:
    """Return ``1 / max_i |a_i|``, always accepted as a step; 1 if all rows are zero."""
    return 1.0 / oracle.radius if oracle.radius > 0 else 1.0


AlgorithmOneCallback = Callable[
    [int, NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]], object
]


@dataclass(frozen=True)
class AlgorithmOne:
    """What `algorithm_1` returns.

    Attributes
    ----------
    average : ndarray of shape (d,)
        The mean of the plays ``w_1 .. w_T``.
    separates : bool
        Whether every ``a_i . average > 0``, as computed in floating point.
    n_rounds : int
        ``T``.
    n_operations : int
        The paper's unit, inner products and additions of d-vectors:
        ``2 n`` a round (n inner products, n additions), plus two for the play.
    """

    average: NDArray[np.float64]
    separates: bool
    n_rounds: int
    n_operations: int


def algorithm_1(
    A: NDArray[np.float64],
    *,
    max_rounds: int = 1_000_000,
    radius: float | None = None,
    callback: AlgorithmOneCallback | None = None,
) -> AlgorithmOne:
    """Run the paper's Algorithm 1 until its average separates.

    Round ``t`` plays ``w_t = w_{t-1} + 2 x_{t-1} - x_{t-2}``, reweights the rows by
    ``p_{t,i} ~ p_{t-1,i} exp(-a_i . w_t / r^2)`` and forms ``x_t = sum_i p_{t,i} a_i``.
    The weights are a function of ``v_t = sum_{s <= t} w_s / r^2`` alone, so one sweep a
    round computes them, the pseudoexample and the margin of the average.

    Parameters
    ----------
    A : ndarray of shape (n, d)
        Signed rows ``y_i x_i``.
    max_rounds : int, default=1_000_000
        Rounds at most.
    radius : float or None, default=None
        ``r > 0``, at least the largest row norm for the guarantee; ``None`` takes it.
    callback : callable or None, default=None
        Called as ``callback(t, w_t, v_t, x_t)`` after each round; a true return value
        stops. The weights are ``softmin_weights(A, v_t)``.

    Returns
    -------
    AlgorithmOne
        The average and the counts.

    Notes
    -----
    The average separates after more than ``(1 + 2 r^2 ln n) / (2 margin)`` rounds
    (Theorem 3 with ``H = ln n``), and already after more than ``r sqrt(2 ln n) /
    margin`` (the same bound with a comparator of the best length).

    References
    ----------
    Hanashiro & Abernethy, "Linear Separation via Optimism" (2020), Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[1.0, 0.0], [-1.0, 1.0]])
    >>> run = algorithm_1(A)
    >>> run.separates, bool((A @ run.average > 0).all())
    (True, True)
    """
    oracle = Oracle(A)
    r = radius if radius is not None else 1.0 / safe_step(oracle)
    loop = OptimisticLoop(oracle, step_size=1.0 / r, adaptive=False)
    n, d = oracle.A.shape
    v = np.zeros(d)
    separates = False
    t = 0
    while t < max_rounds and not separates:
        state = loop.play()
        t, v = state.n_rounds, state.total
        separates = state.margin > 0
        if callback is not None and callback(t, r * state.play, v, state.pseudoexample):
            break
    average = v * (r**2 / t) if t else v
    return AlgorithmOne(average, separates, t, t * (2 * n + 2))
