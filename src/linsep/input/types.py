"""What users may pass: the types that public signatures name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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


class ArrowStream(Protocol):
    """What speaks Arrow's C stream protocol: frames, data sets, relations, readers."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the data as a stream of record batches."""


# Frames count as arrays here: those of pandas, polars and Arrow turn into one.
FeaturesLike: TypeAlias = (
    ArrayLike
    | SparseMatrix
    | PathLike[str]
    | ArrowStream
    | Callable[[], ArrowStream | Iterable[object]]
)
LabelsLike: TypeAlias = ArrayLike | SparseMatrix | None
WeightsLike: TypeAlias = ArrayLike
