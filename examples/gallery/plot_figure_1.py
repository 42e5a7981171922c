"""
Figure 1 of the paper, measured
===============================

On the paper's data set (2) Perceptron's work grows with the square of one over the
margin, the Optimistic Perceptron's with one over the margin. ``linsep reproduce
figure-1`` goes further, to n = 15.
"""

from linsep.lab.reproduce.drawing import draw
from linsep.lab.reproduce.figure_1 import measure

figure = draw([measure(n) for n in range(2, 10)])
