"""The loop: two players, T rounds, a transcript."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from linsep.arrays import Floats
from linsep.input import InputError, checked_count, checked_number
from linsep.input.features import features_from
from linsep.lab.game.data_players import MirrorDescent
from linsep.lab.game.learners import OFTRL
from linsep.lab.game.protocols import (
    DataPlayer,
    Learner,
    Move,
    Schedule,
    require_parts,
    require_schedule,
)
from linsep.lab.game.recorded_play import First
from linsep.lab.game.schedules import Constant
from linsep.lab.game.transcript import Transcript
from linsep.lab.signed_rows import signed_rows
from linsep.rows import as_dense
from linsep.solvers.bounds import longest_row

LARGEST = 1e100
# Rounding the two sides of the acceptance test can suffer, relative to their sizes.
ROUNDING = 64 * float(np.finfo(np.float64).eps)


def play(
    A: ArrayLike,
    learner: Learner | ArrayLike | None = None,
    data: DataPlayer | None = None,
    rounds: int = 100,
    *,
    weights: Schedule | None = None,
    first: First = "learner",
    stop_when_separated: bool = False,
) -> Transcript:
    r"""Play the game of section 4: the learner wants ``p . A w`` large, the data small.

    In round t the first player moves on what it saw of the rounds before, the second
    also sees that move. Both then learn the round, whose payoff counts ``weight_t``.

    ``play(X, y)`` plays the paper's Algorithm 1 on rows and labels; `signed_rows` makes
    the ``A`` of rows and labels for players of your choice.

    A `Backtracking` schedule, of the weights or of the data player's steps, plays the
    round again with a smaller number until what the round adds to the learner's regret
    is paid by the data player's (see there).

    Parameters
    ----------
    A : array-like of shape (n, d)
        Signed rows ``y_i x_i``, finite; or rows ``x_i``, if labels follow.
    learner : Learner or array-like of shape (n,), default=None
        None takes `OFTRL()`, the paper's. Labels of two classes sign the rows of ``A``,
        a constant 1 appended, and leave the learner to the paper's.
    data : DataPlayer or None, default=None
        None takes the paper's, `MirrorDescent(NegativeEntropy(), Constant(1 / r**2))`
        with r the norm of the longest row.
    rounds : int, default=100
        Rounds at most, at least 1.
    weights : Schedule or None, default=None
        Weights of the rounds; None takes 1.
    first : {"learner", "data"}, default="learner"
        Who moves first. The paper's theorems have the learner first.
    stop_when_separated : bool, default=False
        End after the first round whose average, or move, separates the rows.

    Returns
    -------
    Transcript

    Raises
    ------
    InputError
        If ``A`` is not a matrix of finite numbers, ``rounds`` not an integer of at
        least 1, a player or schedule not one, or a `Backtracking` schedule meets
        players it cannot judge.

    Examples
    --------
    Algorithm 1, and the check of Theorem 3 on it:

    >>> import numpy as np
    >>> from linsep.game import OFTRL, Constant, MirrorDescent, NegativeEntropy, play
    >>> A = np.array([[1.0, 0.0], [-1.0, 1.0]])
    >>> data = MirrorDescent(NegativeEntropy(), Constant(1 / 2))     # r^2 = 2
    >>> transcript = play(A, OFTRL(), data, 20)
    >>> transcript.separated_at, transcript.check("gap").holds
    (2, True)
    >>> play([[0.0], [1.0], [3.0]], ["a", "a", "b"]).separated_at
    4
    """
    if _are_labels(learner):
        A, learner = signed_rows(A, cast(ArrayLike, learner)).A, None
    A = _matrix(A)
    rounds = checked_count("rounds", rounds)
    learner = OFTRL() if learner is None else cast(Learner, learner)
    if data is None:
        data = MirrorDescent(steps=Constant(1.0 / (longest_row(A) or 1.0) ** 2))
    _require_players(learner, data)
    if first not in ("learner", "data"):
        raise InputError(f'first must be "learner" or "data", got {first!r}')
    weights = Constant() if weights is None else weights
    require_schedule("weights", weights)
    _require_judgeable(weights, data, first)
    game = _Game(A, learner, data, weights, first)
    for t in range(1, rounds + 1):
        game.play_round(t)
        if stop_when_separated and game.separated():
            break
    return game.transcript()


@dataclass
class _Game:
    """A game under way: the players' memories and the record so far."""

    A: Floats
    learner: Learner
    data: DataPlayer
    weights: Schedule
    first: First
    weight: float | None = None
    step: float | None = None
    n_trials: int = 0

    def __post_init__(self) -> None:
        self.state: Any = self.learner.start(self.A)
        self.start = self.last = self.data.start(len(self.A))
        self.margins = np.zeros(len(self.A))
        self.margin_sum = np.zeros(len(self.A))
        self.record: list[tuple[Floats, Move, float, float]] = []

    def play_round(self, t: int) -> None:
        """Play round ``t``, again with smaller numbers while it is refused."""
        steps = self.data.steps
        weight = self.weights.propose(t, self.weight)
        step = math.nan if steps is None else steps.propose(t, self.step)
        checked_number(f"weight of round {t}", weight, above=0)
        if steps is not None:
            checked_number(f"step of round {t}", step, above=0)
        # What overflows is refused below, by a message.
        with np.errstate(over="ignore", invalid="ignore"):
            while True:
                self.n_trials += 1
                seen, w, margins, move = self._moves(weight, step)
                require_finite_round(t, w, move.p)
                smaller = self.weights.shrink(weight)
                smaller_step = None if steps is None else steps.shrink(step)
                stands = smaller is None and smaller_step is None
                if stands or self._is_paid(move, weight, step):
                    break
                weight = weight if smaller is None else smaller
                step = step if smaller_step is None else smaller_step
            self.state = self.learner.observe(self.state, weight, seen, w, move.p)
        self.last, self.margins = move, margins
        self.weight, self.step = weight, step
        self.margin_sum = self.margin_sum + weight * margins
        self.record.append((w, move, weight, step))

    def _moves(self, weight: float, step: float) -> tuple[Floats, Floats, Floats, Move]:
        """Return what the learner saw, its move ``w``, ``A w``, and the data's move."""
        if self.first == "data":
            move = self._data_moves(weight, self.margins, step)
            w = self._learner_moves(weight, move.p)
            return move.p, w, self.A @ w, move
        w = self._learner_moves(weight, self.last.p)
        margins = self.A @ w
        return self.last.p, w, margins, self._data_moves(weight, margins, step)

    def _learner_moves(self, weight: float, seen: Floats) -> Floats:
        w = self.learner.act(self.state, weight, seen)
        return _shaped("the learner's move w", w, self.A.shape[1], "columns")

    def _data_moves(self, weight: float, margins: Floats, step: float) -> Move:
        move = self.data.act(self.last, weight, margins, step)
        _shaped("p of the data player's move", move.p, len(self.A), "rows")
        return move

    def _is_paid(self, move: Move, weight: float, step: float) -> bool:
        """Whether ``weight^2 |x' - x|^2 / 2 <= D(p', p) / step``, within rounding."""
        drift = weight * (move.p - self.last.p) @ self.A
        cost = 0.5 * float(drift @ drift)
        # A divergence is a difference of numbers of order 1.
        rounding = ROUNDING * (cost + (1.0 + move.divergence) / step)
        return cost <= move.divergence / step + rounding

    def separated(self) -> bool:
        """Whether the last move or the average separates."""
        return bool(self.margins.min() > 0 or self.margin_sum.min() > 0)

    def transcript(self) -> Transcript:
        """Return the record as arrays."""
        w, moves, weights, steps = zip(*self.record, strict=True)
        return Transcript(
            A=self.A,
            learner=self.learner,
            data=self.data,
            first=self.first,
            p_start=self.start.p,
            w=np.array(w),
            p=np.array([move.p for move in moves]),
            weights=np.array(weights),
            steps=np.array(steps),
            divergences=np.array([move.divergence for move in moves]),
            reaches=np.array([move.reach for move in moves]),
            n_trials=self.n_trials,
        )


def _shaped(name: str, move: Floats, size: int, of_what: str) -> Floats:
    """Return a player's move, or say that it has the wrong shape."""
    if np.shape(move) != (size,):
        raise InputError(
            f"{name} must be an array of shape ({size},), as A has {size} {of_what}, "
            f"got shape {np.shape(move)}"
        )
    return move


def require_finite_round(t: int, w: Floats, p: Floats) -> None:
    """Refuse a round whose moves are not made of finite numbers."""
    if not (np.isfinite(w).all() and np.isfinite(p).all()):
        raise InputError(
            f"moves must be finite, but those of round {t} left the range of double "
            "precision; take smaller steps or weights, or scale the rows down"
        )


def _matrix(A: ArrayLike) -> Floats:
    """Return ``A`` as a float64 matrix, or refuse it."""
    try:
        features, _ = features_from(A)
    except InputError as error:
        raise InputError(f"A must be a matrix of signed rows: {error}") from error
    rows = as_dense(features)
    if 0 in rows.shape:
        raise InputError(
            "A must have at least one row and one column, got shape "
            f"{rows.shape}; a row is y_i x_i"
        )
    largest = float(np.abs(rows).max())
    if largest > LARGEST:
        raise InputError(
            f"entries of A must be at most {LARGEST:g} in size, so that payoffs do "
            f"not overflow, got {largest:g}; multiply all rows by a constant"
        )
    return np.ascontiguousarray(rows, dtype=np.float64)


def _are_labels(value: object) -> bool:
    """Tell labels from a learner."""
    return np.ndim(value) == 1 and not hasattr(value, "act")  # type: ignore[arg-type]


def _require_players(learner: Learner, data: DataPlayer) -> None:
    """Refuse what is not a learner and a data player, in this order."""
    parts = ("start", "act", "observe")
    require_parts("learner", learner, parts, "a learner such as OFTRL()")
    wanted = "a data player such as MirrorDescent()"
    require_parts("data", data, ("start", "act", "steps"), wanted)
    if hasattr(data, "observe"):
        raise InputError(
            f"data must be {wanted}, got the learner {data!r}; the learner comes "
            "first: play(A, learner, data, rounds)"
        )


def _require_judgeable(weights: Schedule, data: DataPlayer, first: First) -> None:
    """Refuse a schedule that would shrink by a test these players lack."""
    adaptive = weights.shrink(1.0) is not None
    adaptive = adaptive or (
        data.steps is not None and data.steps.shrink(1.0) is not None
    )
    if adaptive and (data.steps is None or first == "data"):
        raise InputError(
            "a Backtracking schedule needs a data player with a regulariser, such as "
            'MirrorDescent, and first="learner": it judges a round by the data '
            "player's divergence after the learner moved"
        )
