"""`linsep.game`: the public name of `linsep.game`."""

import sys

from linsep.lab import game

sys.modules[__name__] = game
