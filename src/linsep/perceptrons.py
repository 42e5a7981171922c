"""The public name of `linsep.lab.perceptrons`."""

import sys

from linsep.lab import perceptrons

sys.modules[__name__] = perceptrons
