"""Points and convex hulls: membership, and weights that reach given moments."""

from linsep.hull.membership import Hull, HullAnswer, in_hull
from linsep.hull.weights import FeasibleWeights, feasible_weights

__all__ = ["FeasibleWeights", "Hull", "HullAnswer", "feasible_weights", "in_hull"]
