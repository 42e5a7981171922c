from linsep.arrays import Floats, Index, Signs
from linsep.solvers.pieces import Check

Sizes = tuple[float, float, float]

def means_apart(
    X: Floats, signs: Signs, constant: bool
) -> tuple[bool, Floats, Sizes] | None: ...

class Opening:
    n_rounds: int
    w: Floats | None
    margin_upper: float
    conflict: tuple[Index, Floats] | None
    opposite: tuple[int, int] | None
    may_be_opposite: bool
    def __init__(
        self, n_rounds: int, w: Floats | None = None, margin_upper: float = ...
    ) -> None: ...

def opened_rows(
    X: Floats,
    signs: Signs,
    centred: bool,
    tolerance: float,
    most_rounds: int | None,
    is_small: bool,
    check: Check | None,
) -> Opening | None: ...
