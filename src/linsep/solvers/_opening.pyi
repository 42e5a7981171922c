from linsep.arrays import Floats, Index, Signs
from linsep.solvers.pieces import Check

Sizes = tuple[float, float, float]

def means_apart(
    X: Floats, signs: Signs, constant: bool
) -> tuple[bool, Floats, Sizes] | None: ...
def opened_rows(
    X: Floats,
    signs: Signs,
    constant: float,
    tolerance: float,
    most_rounds: int | None,
    is_small: bool,
    check: Check | None,
) -> (
    tuple[
        int,
        Floats | None,
        Sizes | None,
        tuple[Index, Floats] | None,
        tuple[int, int] | None,
        bool,
    ]
    | None
): ...
