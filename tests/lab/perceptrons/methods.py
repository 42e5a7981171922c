"""The methods of `linsep.perceptrons` by how they learn."""

import numpy as np

from linsep.perceptrons import (
    AveragedPerceptron,
    BalancedWinnow,
    KernelPerceptron,
    MirrorProx,
    NesterovMomentum,
    Optimistic,
    Perceptron,
    SecondOrderPerceptron,
    SmoothPerceptron,
    VonNeumann,
    VotedPerceptron,
)

# Winnow, whose weights are positive, separates only data that such weights can.
BY_MISTAKES = [
    Perceptron,
    VotedPerceptron,
    AveragedPerceptron,
    BalancedWinnow,
    SecondOrderPerceptron,
    KernelPerceptron,
]
IN_ROUNDS = [
    Optimistic,
    SmoothPerceptron,
    MirrorProx,
    NesterovMomentum,
    VonNeumann,
]


def radius_of(A):
    return float(np.linalg.norm(A, axis=1).max())
