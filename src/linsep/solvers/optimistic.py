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

from dataclasses import dataclass

from linsep.arrays import Floats
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
    margin : float
        ``min_i a_i . v_t``.
    margin_play : float
        ``min_i a_i . w_t``.
    found : bool
        Whether this is a separator with as much margin as was asked for.
    """

    n_rounds: int
    play: Floats
    total: Floats
    margin: float
    margin_play: float
    found: bool

    @property
    def separator(self) -> Floats | None:
        """The average if it separates, else the play if it does, else None."""
        if self.margin > 0:
            return self.total
        if self.margin_play > 0:
            return self.play
        return None


class OptimisticLoop:
    """A play of the loop of this module, whose rounds run in compiled code.

    Parameters
    ----------
    oracle : Oracle
        The signed rows.
    """

    def __init__(self, oracle: Oracle) -> None:
        safe = safe_step(oracle)
        # Half the safe step is accepted for certain, so it is not halved again.
        self._loop = Loop(oracle.sweep, safe, 0.5 * safe)

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
        loop = self._loop
        found = loop.advance(until, enough)
        play, total, _, _ = loop.vectors()
        return Round(
            n_rounds=loop.n_rounds,
            play=play,
            total=total,
            margin=loop.margin,
            margin_play=loop.margin_play,
            found=found,
        )


def safe_step(oracle: Oracle) -> float:
    """Return ``1 / max_i |a_i|``, always accepted as a step; 1 if all rows are zero."""
    return 1.0 / oracle.radius if oracle.radius > 0 else 1.0
