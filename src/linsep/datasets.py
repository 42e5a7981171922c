"""The public name of `linsep.lab.datasets`."""

import sys

from linsep.lab import datasets

sys.modules[__name__] = datasets
