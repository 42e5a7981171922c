"""The public name of `linsep.lab.plots`."""

import sys

from linsep.lab import plots

sys.modules[__name__] = plots
