"""The public name of `linsep.lab.game`."""

import sys

from linsep.lab import game

sys.modules[__name__] = game
