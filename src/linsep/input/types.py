"""What users may pass: the types that public signatures name."""

from __future__ import annotations

from os import PathLike
from typing import Protocol, TypeAlias

from numpy.typing import ArrayLike


class SparseMatrix(Protocol):
    """A matrix or array of SciPy's in any sparse format."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of rows and of columns."""

    def tocsr(self) -> object:
        """Return it in CSR form."""


# Frames count as arrays here: those of pandas, polars and Arrow turn into one.
FeaturesLike: TypeAlias = ArrayLike | SparseMatrix | PathLike[str]
LabelsLike: TypeAlias = ArrayLike | SparseMatrix | None
WeightsLike: TypeAlias = ArrayLike
