"""The paper's game as a laboratory: players, plays, transcripts, theorems.

`play` has a learner and a data player meet for some rounds and returns a `Transcript`
(``play(X, y)`` plays the paper's on rows and labels, `signed_rows` is for others);
`check` compares it with what a theorem promises, `check_all` with all that apply.

Learners: `OFTRL`, `FTRL`, `OnlineGradientAscent`, `BestResponse`.
Data players: `MirrorDescent` with a regulariser (`NegativeEntropy`, `SquaredEuclidean`,
`PNorm`), `BestResponseRow`, `FirstViolatedRow`.
Steps and weights: `Constant`, `Power`, `Listed`, `Backtracking`.
Theorems: `regret_bound_learner`, `regret_bound_data`, `gap_bound`, `rounds_bound`,
`sharper_rounds_bound`, `rounds_to_separation`, `perceptron_bound`.
"""

from linsep.lab.game.bounds import (
    gap_bound,
    perceptron_bound,
    regret_bound_data,
    regret_bound_learner,
    rounds_bound,
    rounds_to_separation,
    sharper_rounds_bound,
)
from linsep.lab.game.checks import Check, check, check_all
from linsep.lab.game.data_players import (
    BestResponseRow,
    FirstViolatedRow,
    MirrorDescent,
)
from linsep.lab.game.learners import FTRL, OFTRL, BestResponse, OnlineGradientAscent
from linsep.lab.game.protocols import DataPlayer, Learner, Move, Regulariser, Schedule
from linsep.lab.game.recorded_play import RecordedPlay
from linsep.lab.game.regularisers import (
    NegativeEntropy,
    PNorm,
    SquaredEuclidean,
    project_simplex,
)
from linsep.lab.game.rounds import play
from linsep.lab.game.schedules import Backtracking, Constant, Listed, Power
from linsep.lab.game.transcript import Transcript
from linsep.lab.signed_rows import SignedRows, signed_rows

__all__ = [
    "FTRL", "OFTRL", "Backtracking", "BestResponse", "BestResponseRow", "Check",
    "Constant", "DataPlayer", "FirstViolatedRow", "Learner", "Listed", "MirrorDescent",
    "Move", "NegativeEntropy", "OnlineGradientAscent", "PNorm", "Power", "RecordedPlay",
    "Regulariser", "Schedule", "SignedRows", "SquaredEuclidean", "Transcript", "check",
    "check_all", "gap_bound", "perceptron_bound", "play", "project_simplex",
    "regret_bound_data", "regret_bound_learner", "rounds_bound", "rounds_to_separation",
    "sharper_rounds_bound", "signed_rows",
]  # fmt: skip
