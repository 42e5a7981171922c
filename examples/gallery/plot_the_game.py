"""
The game in two dimensions
==========================

The Optimistic Perceptron is a game: a learner plays a line, an opponent puts weight on
the rows that are on its wrong side (their area). The average of the plays separates in
the end. ``animate_game(transcript, path="game.gif")`` saves the film for a lecture.
"""

import numpy as np

from linsep.game import OFTRL, Constant, MirrorDescent, play
from linsep.plotting import animate_game, plot_game

rng = np.random.default_rng(1)
X = rng.normal(size=(30, 2))
y = np.where(X @ [1.0, 0.6] > 0.2, 1.0, -1.0)
X += 0.02 * y[:, None] * [1.0, 0.6]
rows = y[:, None] * np.column_stack([X, np.ones(len(X))])
largest = np.linalg.norm(rows, axis=1).max()
transcript = play(rows, OFTRL(), MirrorDescent(steps=Constant(1 / largest**2)), 150)
print("the average separates from round", transcript.separated_at)

animation = animate_game(transcript, most_frames=40, seconds=8)

# %%
# The same as a figure, for print.
figure = plot_game(transcript)
