"""The family of perceptrons: each in its textbook form, one page each, one interface.

``Method(...).fit(X, y)`` returns a result with the predictor and its cost: updates,
passes over the rows, and operations in the paper's unit (inner products and additions
of vectors of the rows' length). These pages are for study and comparison, and hold the
rows dense; `linsep.separate` is the solver.

Driven by mistakes: `Perceptron`, `VotedPerceptron`, `AveragedPerceptron`, `Winnow`,
`BalancedWinnow`, `SecondOrderPerceptron`, `KernelPerceptron`, `Minover`, `Maxover`.
Played in rounds over all rows: `OptimisticPerceptron`, `SmoothPerceptron`,
`MirrorProx`, `NesterovMomentum`, `VonNeumann`.
"""

from linsep.lab.perceptrons.kernel import KernelPerceptron, KernelResult
from linsep.lab.perceptrons.maxover import Maxover, Minover
from linsep.lab.perceptrons.mirror_prox import MirrorProx
from linsep.lab.perceptrons.momentum import NesterovMomentum
from linsep.lab.perceptrons.optimistic import OptimisticPerceptron
from linsep.lab.perceptrons.perceptron import Perceptron
from linsep.lab.perceptrons.result import LinearResult, PerceptronResult
from linsep.lab.perceptrons.second_order import SecondOrderPerceptron
from linsep.lab.perceptrons.smooth import SmoothPerceptron
from linsep.lab.perceptrons.von_neumann import VonNeumann
from linsep.lab.perceptrons.voted import (
    AveragedPerceptron,
    VotedPerceptron,
    VotedResult,
)
from linsep.lab.perceptrons.winnow import BalancedWinnow, Winnow

__all__ = [
    "AveragedPerceptron",
    "BalancedWinnow",
    "KernelPerceptron",
    "KernelResult",
    "LinearResult",
    "Maxover",
    "Minover",
    "MirrorProx",
    "NesterovMomentum",
    "OptimisticPerceptron",
    "Perceptron",
    "PerceptronResult",
    "SecondOrderPerceptron",
    "SmoothPerceptron",
    "VonNeumann",
    "VotedPerceptron",
    "VotedResult",
    "Winnow",
]
