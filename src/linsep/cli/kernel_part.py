"""The part of a model file that a kernel adds: its parameters, and the landmarks."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats
from linsep.input import InputError
from linsep.rows import as_dense

if TYPE_CHECKING:
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron

LARGEST = sys.float_info.max
KERNELS = ("rbf", "poly")
# Powers beyond these overflow on ordinary numbers.
MOST_DEGREE = 100
_ENTRIES = ("name", "gamma", "degree", "coef0")  # as `Kernel` takes them


@dataclass(frozen=True)
class KernelPart:
    """A kernel, and the rows (r, d) that new rows are compared with."""

    parameters: Mapping[str, Any]
    landmarks: Floats

    @classmethod
    def of(cls, classifier: OptimisticPerceptron) -> KernelPart | None:
        """Return the part of a fitted classifier; None if it is linear."""
        space = classifier._space
        if space is None:
            return None
        kernel = space.kernel
        values = kernel.function, float(kernel.gamma), kernel.degree, kernel.coef0
        rows = as_dense(space.rows).astype(np.float64)
        return cls(dict(zip(_ENTRIES, values, strict=True)), rows)

    def features(self, X: Any) -> Floats:
        """Return the kernel between rows and the landmarks, all of them finite."""
        from linsep.classifier.kernel_fits import Kernel

        kernel = Kernel(*(self.parameters[name] for name in _ENTRIES))
        with np.errstate(all="ignore"):
            found = kernel.values(X, self.landmarks)
        beyond = np.flatnonzero(~np.isfinite(found).all(axis=1))
        if beyond.size:
            raise InputError(
                f"rows must be where the model's {kernel.function} kernel is finite, "
                f"got row {beyond[0]}, counted from 0; leave it out"
            )
        return found

    def record(self) -> dict[str, Any]:
        """Return its entries in the file."""
        return {
            "kernel": dict(self.parameters),
            "landmarks": self.landmarks.tolist(),
        }

    @classmethod
    def read(cls, record: Mapping[str, Any]) -> KernelPart | None:
        """Return the part of a file whose entries were checked; None if it has none."""
        if "kernel" not in record:
            return None
        width = len(record["feature_names"])
        rows = np.array(record["landmarks"], dtype=np.float64).reshape(-1, width)
        return cls(record["kernel"], rows)


def requirements(record: Mapping[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield what must hold of its entries; each may rely on those before it."""
    kernel, landmarks = record["kernel"], record["landmarks"]
    broken = "got a broken one; fit again"
    yield (
        isinstance(kernel, dict)
        and set(kernel) == set(_ENTRIES)
        and kernel["name"] in KERNELS
        and are_numbers([kernel["gamma"], kernel["coef0"]])
        and kernel["gamma"] > 0
        and type(kernel["degree"]) is int
        and 1 <= kernel["degree"] <= MOST_DEGREE,
        f"whose kernel is {' or '.join(KERNELS)}, with its parameters, {broken}",
    )
    yield (
        isinstance(landmarks, list)
        and all(map(are_numbers, landmarks))
        and {len(row) for row in landmarks} == {len(record["feature_names"])},
        f"whose landmarks are rows of a number for each column, {broken}",
    )


def are_numbers(values: object) -> bool:
    """Tell whether this is a list of numbers in the range of doubles."""
    return isinstance(values, list) and all(
        type(value) in (int, float) and abs(value) <= LARGEST for value in values
    )
