"""A league of 2,000 players and 1,000,000 battles: `diagnose(family="paired")`.

env -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE python benchmarks/league.py
"""

import time

import numpy as np

import linsep

N_PLAYERS, N_BATTLES = 2_000, 1_000_000


def main():
    rng = np.random.default_rng(0)
    strength = rng.normal(size=N_PLAYERS)
    first = rng.integers(0, N_PLAYERS, N_BATTLES)
    second = (first + rng.integers(1, N_PLAYERS, N_BATTLES)) % N_PLAYERS
    chance = 1 / (1 + np.exp(strength[second] - strength[first]))
    won = rng.random(N_BATTLES) < chance
    top = rng.integers(0, N_PLAYERS, 20)
    linsep.diagnose([("a", "b")], family="paired")
    for name in ("as it is", "20 players who lose to each other only"):
        started = time.perf_counter()
        answer = linsep.diagnose(
            np.column_stack([first, second]), won.astype(float), family="paired"
        )
        print(
            f"{name}: {answer.status.value}, proved={answer.proved}, "
            f"{time.perf_counter() - started:.1f} s",
            flush=True,
        )
        is_top = np.isin(first, top), np.isin(second, top)
        won = np.where(is_top[0] & ~is_top[1], True, won & ~(is_top[1] & ~is_top[0]))


if __name__ == "__main__":
    main()
