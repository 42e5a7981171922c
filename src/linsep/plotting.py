"""Every picture: of answers, diagnoses, fitted classifiers, hulls, and games.

A display draws on the axes it is given or on a figure of its own (``ax=None``), and is
returned; the functions make whole figures of displays.
"""

from linsep.displays import ConvergenceDisplay, MarginDisplay, ProjectionDisplay
from linsep.hull.plots import plot_hull
from linsep.lab.game_displays import BoundsDisplay, GameDisplay, WeightsDisplay
from linsep.lab.plots import animate_game, plot_convergence, plot_game, plot_weights

__all__ = [
    "BoundsDisplay",
    "ConvergenceDisplay",
    "GameDisplay",
    "MarginDisplay",
    "ProjectionDisplay",
    "WeightsDisplay",
    "animate_game",
    "plot_convergence",
    "plot_game",
    "plot_hull",
    "plot_weights",
]
