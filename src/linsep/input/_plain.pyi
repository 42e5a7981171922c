from typing import Any

from numpy.typing import NDArray

from linsep.arrays import Floats, Signs

def are_finite(X: Floats) -> bool: ...
def signs_of_labels(
    labels: NDArray[Any], signs: Signs, classes: NDArray[Any]
) -> bool: ...
