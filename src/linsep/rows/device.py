"""Rows of an array on a device: PyTorch, CuPy, JAX, and whatever speaks the array API.

A sweep is one product of the array where it lies, in its own precision. That ranks
rows, and finds those that are violated: what it says of them need not be true of every
row. Where none is violated a second sweep, in doubles with bounds on rounding, on the
device if it has doubles and else on the processor a block at a time, is the proof.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Signs
from linsep.rows.blocks import BlockRows, Blocks
from linsep.rows.dense import DenseRows
from linsep.rows.protocol import CHUNK_ENTRIES, Scan
from linsep.rows.rounding import certain_signs, rounding_error
from linsep.rows.sweep import sweep

# Entries that are made doubles, or brought to the processor, at a time.
BLOCK_ENTRIES = 16 * CHUNK_ENTRIES


def namespace_of(X: object) -> Any:
    """Return the functions for an array that is no ndarray; None if it has none.

    PyTorch's module has what is needed here under the names of the array API.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(X, torch.Tensor):
        return torch
    if isinstance(X, np.ndarray | np.generic):
        return None
    find = getattr(X, "__array_namespace__", None)
    return None if find is None else find()


def to_numpy(X: Any) -> Any:
    """Bring an array to the processor; what is no array of another library stays."""
    if namespace_of(X) is None:
        return X
    if hasattr(X, "detach"):  # PyTorch
        return np.asarray(X.detach().cpu().numpy())
    if hasattr(X, "get"):  # CuPy
        return np.asarray(X.get())
    try:
        return np.asarray(X)
    except (TypeError, RuntimeError, ValueError):  # no conversion but by this protocol
        return np.asarray(np.from_dlpack(X))


def moved_to(X: Any, values: NDArray[Any]) -> Any:
    """Bring an array from the processor to where another one is."""
    xp = namespace_of(X)
    if xp is None:
        return values
    device = getattr(X, "device", None)
    try:
        return xp.asarray(values, device=device)
    except TypeError:  # a device without doubles
        return xp.asarray(values.astype(np.float32), device=device)


class DeviceRows(BlockRows):
    """Signed rows over an array that stays on its device.

    Parameters
    ----------
    X : array of shape (n_samples, n_features), float64 or float32
    signs, fit_intercept
        As of `BlockRows`.
    """

    def __init__(self, X: Any, signs: Signs, fit_intercept: bool) -> None:
        xp = namespace_of(X)
        dtype = np.dtype(np.float32 if X.dtype == xp.float32 else np.float64)
        super().__init__(signs, X.shape[1], fit_intercept, dtype)
        self.X, self._xp = X, xp
        self._signs = self._there(signs.astype(dtype))

    def blocks(self) -> Blocks:
        """Bring the rows to the processor, a block after the other."""
        n = self.shape[0]
        step = max(1, BLOCK_ENTRIES // self.entries_a_row)
        for start in range(0, n, step):
            stop = min(start + step, n)
            block = to_numpy(self.X[start:stop, :])
            yield start, DenseRows(block, self.signs[start:stop], self.fit_intercept)

    def gather(self, index: Index) -> Any:
        """Return the rows named, at least one."""
        xp, places = self._xp, self._there(index.astype(np.int64))
        if hasattr(self.X, "index_select"):
            return to_numpy(self.X.index_select(0, places))
        return to_numpy(xp.take(self.X, places, axis=0))

    def scan(self, w: Floats, k: int, *, by_margin: bool = False) -> Scan:
        """Sweep all rows once; where that finds no violation, once more in doubles."""
        if not by_margin and k < self.shape[0]:
            found = self._ranked(w, k)
            if found is not None:
                return found
        if not self._has_doubles():
            return super().scan(w, k, by_margin=by_margin)
        self.n_readings += 1
        step = max(1, BLOCK_ENTRIES // self.entries_a_row)
        n = self.shape[0]
        ranges = [(start, min(start + step, n)) for start in range(0, n, step)]

        def margins(start: int, stop: int) -> Any:
            return self._in_doubles(w, start, stop)

        return sweep(ranges, margins, self.signs, self.n_terms, min(k, n), by_margin)

    def _ranked(self, w: Floats, k: int) -> Scan | None:
        """Return the smallest margins as one product shows them; None if all are > 0.

        Those named are looked at again in doubles. Nothing is claimed of the others.
        """
        self.n_readings += 1
        xp, d = self._xp, self.X.shape[1]
        length = float(np.linalg.norm(w)) or 1.0
        products = self.X @ self._there((w[:d] / length).astype(self.dtype))
        if self.fit_intercept:
            products = products + float(w[d] / length)
        products = products * self._signs
        wrong = products <= 0
        n_wrong = int(
            wrong.sum() if hasattr(wrong, "sum") else xp.sum(_ones(xp, wrong))
        )
        if n_wrong == 0:
            return None
        if hasattr(xp, "topk"):
            index = to_numpy(xp.topk(products, k, largest=False).indices)
        else:
            index = to_numpy(xp.argsort(products))[:k]
        index = np.sort(index.astype(np.intp))
        values, sizes = self.margins(w, index)
        doubt = rounding_error(sizes, self.n_terms)
        violated = certain_signs(values, sizes, doubt) < 0
        if not violated.any():
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = np.where(sizes > 0, values / sizes, 0.0)
        order = np.lexsort((index, scores))
        n_violations = n_wrong if violated.all() else int(np.count_nonzero(violated))
        bounds = (-np.inf, -np.inf, -np.inf)
        return Scan(*bounds, n_violations, 0, index[order], values[order])

    def _in_doubles(self, w: Floats, start: int, stop: int) -> Any:
        """Return the margins of a range, and the sums of the sizes of their terms."""
        xp, d = self._xp, self.X.shape[1]
        block = self._doubles(self.X[start:stop, :])
        weights = self._there(w[:d])
        s, t = to_numpy(block @ weights), to_numpy(xp.abs(block) @ xp.abs(weights))
        if self.fit_intercept:
            s, t = s + w[d], t + abs(w[d])
        return s * self.signs[start:stop], t.copy()

    def _has_doubles(self) -> bool:
        """Tell whether the device computes in doubles; some make them floats."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # JAX warns that it makes floats
                made = self._doubles(self.X[:1, :])
        except (TypeError, RuntimeError, ValueError):
            return False
        return bool(made.dtype == self._xp.float64)

    def _doubles(self, X: Any) -> Any:
        xp = self._xp
        if hasattr(X, "detach"):
            return X.detach().to(xp.float64)
        return xp.astype(X, xp.float64)

    def _there(self, values: NDArray[Any]) -> Any:
        """Bring a vector to where the array is."""
        return moved_to(self.X, values)


def _ones(xp: Any, mask: Any) -> Any:
    """Return truth values as numbers."""
    return xp.astype(mask, xp.int64)
