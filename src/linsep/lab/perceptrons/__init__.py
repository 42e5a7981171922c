"""The family of perceptrons: each in its textbook form, all with one interface.

``Method(...).run(X, y)`` returns a result with the predictor and its cost: updates,
passes over the rows, and operations in the paper's unit (inner products and additions
of vectors of the rows' length); ``trace`` returns the results on the way, `compare`
runs several methods. These pages are for study and comparison, and hold the rows dense;
`linsep.separate` is the solver.

Driven by mistakes: `Perceptron`, `VotedPerceptron`, `AveragedPerceptron`, `Winnow`,
`BalancedWinnow`, `SecondOrderPerceptron`, `KernelPerceptron`, `Minover`, `Maxover`.
Played in rounds over all rows: `Optimistic`, `SmoothPerceptron`, `MirrorProx`,
`NesterovMomentum`, `VonNeumann`. A method of your own subclasses `DrivenByMistakes` or
`PlayedInRounds`.
"""

import warnings

from linsep.lab.perceptrons.accelerated import (
    MirrorProx,
    NesterovMomentum,
    SmoothPerceptron,
)
from linsep.lab.perceptrons.by_mistakes import DrivenByMistakes
from linsep.lab.perceptrons.comparison import Comparison, compare
from linsep.lab.perceptrons.in_rounds import PlayedInRounds
from linsep.lab.perceptrons.kernel import KernelPerceptron, KernelResult
from linsep.lab.perceptrons.minover import Maxover, Minover
from linsep.lab.perceptrons.optimistic import Optimistic
from linsep.lab.perceptrons.perceptron import Perceptron
from linsep.lab.perceptrons.result import LinearResult, PerceptronResult
from linsep.lab.perceptrons.second_order import SecondOrderPerceptron
from linsep.lab.perceptrons.von_neumann import VonNeumann
from linsep.lab.perceptrons.voted import (
    AveragedPerceptron,
    VotedPerceptron,
    VotedResult,
)
from linsep.lab.perceptrons.winnow import BalancedWinnow, Winnow

__all__ = [
    "AveragedPerceptron", "BalancedWinnow", "Comparison", "DrivenByMistakes",
    "KernelPerceptron", "KernelResult", "LinearResult", "Maxover", "Minover",
    "MirrorProx", "NesterovMomentum", "Optimistic", "Perceptron", "PerceptronResult",
    "PlayedInRounds", "SecondOrderPerceptron", "SmoothPerceptron", "VonNeumann",
    "VotedPerceptron", "VotedResult", "Winnow", "compare",
]  # fmt: skip


def __getattr__(name: str) -> type[Optimistic]:
    """Return `Optimistic` under its name of 0.1, with a warning."""
    if name == "OptimisticPerceptron":
        warnings.warn(
            "linsep.perceptrons.OptimisticPerceptron is now Optimistic; the classifier "
            "is linsep.OptimisticPerceptron",
            DeprecationWarning,
            stacklevel=2,
        )
        return Optimistic
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
