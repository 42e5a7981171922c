"""`Diagnosis`: what `linsep.diagnose` returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.diagnosis.exact.coefficients import Estimate
from linsep.diagnosis.status import Kind

if TYPE_CHECKING:
    from linsep.proof.certificate import Certificate


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis:
    """The answer of `linsep.diagnose`.

    Attributes
    ----------
    status : str
        ``"complete"``, ``"quasi-complete"``, ``"overlap"`` or ``"undecided"``.
    proved : bool
        Whether the status and the partition of the rows were settled in exact
        arithmetic; always true unless undecided.
    family : str
        ``"binomial"``, ``"poisson"``, ``"multinomial"`` or ``"ordinal"``.
    rank : int
        Exact rank of the design, intercept counted.
    separated_rows, overlapped_rows : ndarray of int
        Row numbers from 0, sorted. Rows of weight zero are in neither.
    direction : ndarray of shape (n_coefficients,) or None
        Coefficients along which the likelihood of every separated row grows for ever
        and that of no row falls; in the order of `coefficient_names`, intercept
        first. None where the data overlap.
    exact_direction : tuple of int or None
        The same in exact integers, of which `direction` is the nearest doubles up to
        a power of two.
    estimates : dict of str to str
        For each coefficient ``"finite"``, ``"+inf"``, ``"-inf"``, ``"undetermined"``
        (the data allow both signs) or ``"aliased"`` (collinearity leaves it
        unidentified). The intercept's name is ``"intercept"``.
    estimates_without_aliased : dict of str to str
        The verdicts when the columns of `collinear` are left out of the model, as most
        programs do; the same as `estimates` for a design of full rank.
    collinear : dict of str to str
        Columns that are linear combinations of earlier ones, and of which.
    findings : tuple of str
        What else was found: one class only, contradictory rows, duplicates, weights
        of zero; a sentence each.
    coefficient_names : tuple of str
    n_samples : int
        Rows given, those of weight zero included.
    n_features : int
        Columns given.
    n_distinct : int
        Distinct rows among those present.
    seconds : float
        Wall-clock time.
    """

    status: Kind
    proved: bool
    family: str
    rank: int
    separated_rows: NDArray[np.intp]
    overlapped_rows: NDArray[np.intp]
    direction: NDArray[np.float64] | None
    exact_direction: tuple[int, ...] | None
    estimates: dict[str, Estimate]
    estimates_without_aliased: dict[str, Estimate]
    collinear: Mapping[str, str]
    findings: tuple[str, ...]
    coefficient_names: tuple[str, ...]
    n_samples: int
    n_features: int
    n_distinct: int
    seconds: float
    message: str
    _sentences: Callable[[], list[str]] = field(default=list)
    _certify: Callable[[], Certificate] | None = field(default=None)
    _reduced: Callable[[], tuple[Any, Any]] | None = field(default=None)

    @property
    def certificate(self) -> Certificate | None:
        """The proof of the partition, to save and check elsewhere; None if undecided.

        It is about the data `certificate_data` returns: for two classes without
        weights of zero those are the data given.
        """
        if self._certify is None:
            return None
        made: Certificate = self._once("_certificate", self._certify)
        return made

    def certificate_data(self) -> tuple[Any, Any]:
        """Return the X and y that the certificate is about.

        For labels of two classes these are the rows present. Every other outcome is
        rewritten as a problem of two classes: a demand ``a . w >= 0`` becomes a row
        ``a`` labelled 1, a demand ``a . w = 0`` two rows ``a``, labelled 0 and 1; the
        intercept is among the columns.

        Raises
        ------
        ValueError
            If the diagnosis is undecided, or was unpickled.
        """
        if self._reduced is None:
            raise ValueError(
                "certificate_data needs the data, which an undecided or an unpickled "
                "diagnosis does not hold; call diagnose again"
            )
        return self._reduced()

    def summary(self) -> str:
        """Say the answer in sentences."""
        sentences: list[str] = self._once("_summary", self._sentences)
        return "\n".join([self.message, *sentences])

    def to_frame(self) -> Any:
        """Return one line a coefficient, as a pandas frame.

        Columns: ``estimate``, ``estimate_without_aliased``, ``direction`` and
        ``combination_of``; the index holds the names.
        """
        import pandas as pd

        names = list(self.coefficient_names)
        direction = np.zeros(len(names)) if self.direction is None else self.direction
        return pd.DataFrame(
            {
                "estimate": [self.estimates[name].value for name in names],
                "estimate_without_aliased": [
                    self.estimates_without_aliased[name].value
                    if name in self.estimates_without_aliased
                    else "left out"
                    for name in names
                ],
                "direction": direction,
                "combination_of": [self.collinear.get(name, "") for name in names],
            },
            index=pd.Index(names, name="coefficient"),
        )

    def __repr__(self) -> str:
        """Show the status and the counts."""
        return (
            f"Diagnosis({self.status.value}, family={self.family!r}, "
            f"proved={self.proved}, rank={self.rank}, "
            f"separated_rows={self.separated_rows.size}, "
            f"overlapped_rows={self.overlapped_rows.size})"
        )

    def _repr_html_(self) -> str:
        """Show the summary and a table in a notebook; all from the data is escaped."""
        head, *rest = self.summary().split("\n")
        body = "".join(f"<br>{escape(line)}" for line in rest)
        lines = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(estimate.value)}</td></tr>"
            for name, estimate in list(self.estimates.items())[:100]
        )
        more = len(self.estimates) - 100
        if more > 0:
            lines += f"<tr><td>and {more} more</td><td></td></tr>"
        return (
            f"<div><strong>{escape(head)}</strong>{body}<table><thead><tr>"
            f"<th>coefficient</th><th>estimate</th></tr></thead><tbody>{lines}"
            "</tbody></table></div>"
        )

    def _once(self, name: str, make: Callable[[], Any]) -> Any:
        """Make something at first use, and keep it."""
        if name not in self.__dict__:
            object.__setattr__(self, name, make())
        return self.__dict__[name]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle with summary and certificate made, without the data."""
        self.summary()
        certificate = self.certificate
        state = dict(self.__dict__)
        state["_certificate"] = certificate
        state["_sentences"], state["_reduced"] = list, None
        state["_certify"] = None if certificate is None else _none
        return state


def _none() -> Any:
    """Stand for a certificate that is made already."""
    raise AssertionError("the certificate was made before pickling")
