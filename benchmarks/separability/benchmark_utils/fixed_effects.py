"""Designs with fixed effects, and which of their rows are separated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.sparse import csgraph


@dataclass(frozen=True)
class Design:
    """Rows, levels of the factors, and whether the second follows from the first."""

    n: int
    levels: tuple[int, ...]
    workers_and_firms: bool = False

    @property
    def name(self) -> str:
        """Rows and levels."""
        return f"{self.n:,} x ({' + '.join(f'{k:,}' for k in self.levels)})"

    @property
    def formula(self) -> str:
        """Three numbers and all factors."""
        factors = " + ".join(f"f{k}" for k in range(len(self.levels)))
        return f"y ~ x0 + x1 + x2 | {factors}"

    def frame(self, family: str) -> pd.DataFrame:
        """Draw data of a model of that family with effects of every level."""
        rng = np.random.default_rng(self.n)
        x = rng.standard_normal((self.n, 3))
        data: dict[str, Any] = {f"x{j}": x[:, j] for j in range(3)}
        linear = x @ [0.3, -0.2, 0.1] - 0.5
        for k, codes in enumerate(self._codes(rng)):
            size = 1.0 if k == 0 else 0.5
            linear += size * rng.standard_normal(self.levels[k])[codes]
            data[f"f{k}"] = codes
        if family == "poisson":
            data["y"] = rng.poisson(np.exp(np.minimum(linear, 3.0)))
        else:
            data["y"] = (rng.random(self.n) < 1 / (1 + np.exp(-linear))).astype(int)
        data["row"] = np.arange(self.n)
        return pd.DataFrame(data)

    def _codes(self, rng: np.random.Generator) -> list[Any]:
        if not self.workers_and_firms:
            return [rng.integers(0, k, self.n) for k in self.levels]
        # Three workers in a hundred work for two firms, a neighbouring pair: the
        # graph of workers and firms has a component for each pair.
        n_workers, n_firms = self.levels
        worker = np.arange(self.n) % n_workers
        firm = rng.integers(0, n_firms, n_workers)[worker]
        moves = (rng.random(n_workers) < 0.03)[worker] & (rng.random(self.n) < 0.5)
        return [worker, np.where(moves, firm ^ 1, firm)]


def separated_rows(frame: pd.DataFrame, family: str) -> np.ndarray:
    """Return the separated rows of two factors; numbers beside them add none.

    With effects ``a`` and ``-t``, a row without an event asks for ``a_f <= t_g``, an
    event for ``a_f >= t_g`` (binomial) or for equality (Poisson). Levels are the nodes
    of a graph and these the arcs: a row can be strict iff its two levels lie in
    different strongly connected components.
    """
    first, second, y = frame.f0.to_numpy(), frame.f1.to_numpy(), frame.y.to_numpy()
    n_first = first.max() + 1
    second = second + n_first
    below = np.ones(len(y), bool) if family == "poisson" else y == 0
    above = y > 0
    tails = np.concatenate([first[below], second[above]])
    heads = np.concatenate([second[below], first[above]])
    size = int(second.max()) + 1
    arcs = sparse.coo_array((np.ones(len(tails)), (tails, heads)), shape=(size, size))
    _, component = csgraph.connected_components(arcs.tocsr(), connection="strong")
    return np.flatnonzero(component[first] != component[second])
