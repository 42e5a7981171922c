"""Every picture: of a game (`linsep.game`), of a fitted classifier, of a hull."""

from linsep.classifier.displays import (
    ConvergenceDisplay,
    MarginDisplay,
    ProjectionDisplay,
)
from linsep.hull.plots import plot_hull
from linsep.lab.plots import plot_convergence, plot_game, plot_weights

__all__ = [
    "ConvergenceDisplay",
    "MarginDisplay",
    "ProjectionDisplay",
    "plot_convergence",
    "plot_game",
    "plot_hull",
    "plot_weights",
]
