"""`linsep.datasets`: the public name of `linsep.datasets`."""

import sys

from linsep.lab import datasets

sys.modules[__name__] = datasets
