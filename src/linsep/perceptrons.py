"""`linsep.perceptrons`: the public name of `linsep.perceptrons`."""

import sys

from linsep.lab import perceptrons

sys.modules[__name__] = perceptrons
