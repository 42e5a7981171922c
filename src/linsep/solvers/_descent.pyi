from linsep.arrays import Floats, Index

class Descent:
    w: Floats
    weights: Floats
    n_wrong: int
    n_near: int
    has_enough: bool
    near: Index
    def __init__(self, rows: Floats, seed: int, goal: float) -> None: ...
    def look(self) -> int: ...
    def descend(self, visits_a_row: int, most_rounds: int) -> int: ...
