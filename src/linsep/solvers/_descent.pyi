from linsep.arrays import Floats, Index
from linsep.solvers.pieces import Check

MOST_VISITS: int

class Descent:
    w: Floats
    weights: Floats
    n_wrong: int
    n_near: int
    has_enough: bool
    near: Index
    def __init__(
        self, rows: Floats, seed: int | None = None, goal: float = 0.0
    ) -> None: ...
    def look(self) -> int: ...
    def descend(self, visits_a_row: int, most_rounds: int) -> int: ...

def begun(rows: Floats, goal: float = 0.0) -> Descent: ...
def gone_on(
    descent: Descent, most_rounds: int = ..., check: Check | None = None
) -> int: ...
def constant_beside(n_columns: int) -> float: ...
