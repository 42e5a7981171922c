"""The arguments that generators share: sizes and random states."""

import numpy as np

__all__ = ["SEED", "at_least", "between", "generator"]

#: The seed that ``random_state=None`` stands for.
SEED = 2020


def generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """Return a random generator; None is the fixed seed `SEED`, never the clock."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(SEED if random_state is None else random_state)


def at_least(name: str, value: int, least: int) -> None:
    """Raise unless an integer is large enough."""
    if not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"{name} must be an integer of {least} or more, got {value!r}")


def between(name: str, value: int, least: int, most: int) -> None:
    """Raise unless an integer is within a range."""
    if not isinstance(value, int | np.integer) or not least <= value <= most:
        raise ValueError(
            f"{name} must be an integer from {least} to {most}, got {value!r}"
        )
