"""Every picture: of a game (`linsep.game`), and of a fitted classifier."""

from linsep.displays import (
    ConvergenceDisplay,
    MarginDisplay,
    ProjectionDisplay,
)
from linsep.lab.plots import plot_convergence, plot_game, plot_weights

__all__ = [
    "ConvergenceDisplay",
    "MarginDisplay",
    "ProjectionDisplay",
    "plot_convergence",
    "plot_game",
    "plot_weights",
]
