from linsep.arrays import Floats, Signs

def opening(
    X: Floats,
    signs: Signs,
    constant: bool,
    first_rounds: int,
    most_rounds: int,
    most_wrong: float,
) -> (
    tuple[int, Floats, tuple[float, float, float] | None]
    | tuple[int, None, None]
    | None
): ...
