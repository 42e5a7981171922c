"""`Batch`: what many diagnoses at once return."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.report.phrases import listed
from linsep.diagnosis.status import DiagnosisStatus
from linsep.input.frames import pandas_for
from linsep.printable import printable


@dataclass(frozen=True)
class Item:
    """One diagnosis of a batch, in brief.

    Attributes
    ----------
    name : str
        Of the outcome, or of the column screened.
    status : str
        As `Diagnosis.status`, or ``"error"``.
    message : str
        The verdict in a sentence, or the error's text.
    n_separated : int
        Rows separated.
    estimate : str or None
        The verdict on the column screened; None for outcomes and errors.
    """

    name: str
    status: str
    message: str
    n_separated: int = 0
    estimate: str | None = None

    @property
    def proved(self) -> bool:
        """Whether status and count are settled: unless undecided, or an error."""
        return self.status not in (DiagnosisStatus.UNDECIDED, "error")


@dataclass(frozen=True)
class Batch(Sequence[Item]):
    """The items of `diagnose_outcomes` or `screen_columns`, in the order asked.

    Attributes
    ----------
    items : tuple of Item
    """

    items: tuple[Item, ...]

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.items)

    def __getitem__(self, index: Any) -> Any:
        """Return an item, or several by a slice."""
        return self.items[index]

    @property
    def status(self) -> NDArray[Any]:
        """The statuses, as an array of text."""
        return np.array([item.status for item in self.items], dtype=object)

    def to_frame(self) -> Any:
        """Return one line an item, as a pandas frame indexed by name."""
        pd = pandas_for("to_frame")

        fields = ("status", "proved", "n_separated", "estimate", "message")
        columns = {f: [getattr(item, f) for item in self.items] for f in fields}
        names = [item.name for item in self.items]
        return pd.DataFrame(columns, index=pd.Index(names, name="name"))

    def summary(self) -> str:
        """Count the statuses, and name a few items that are separated."""
        counts = {
            status: int((self.status == status).sum())
            for status in (*(kind.value for kind in DiagnosisStatus), "error")
        }
        text = ", ".join(f"{n:,} {status}" for status, n in counts.items() if n)
        separated = (DiagnosisStatus.COMPLETE, DiagnosisStatus.QUASI_COMPLETE)
        found = [
            printable(str(item.name)) for item in self.items if item.status in separated
        ]
        separated_text = f" Separated: {listed(found)}." if found else ""
        return f"{len(self):,} models: {text}.{separated_text}"

    def __repr__(self) -> str:
        """Show the counts."""
        return f"Batch({self.summary()})"
