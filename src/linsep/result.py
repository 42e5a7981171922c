"""What the calls return: a status, what it proves, and words for people."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.lazy import Lazy, LazyIfMade, late
from linsep.printable import exact_text
from linsep.report.page import HasPage, Page
from linsep.wrapping import WIDTH, wrapped

if TYPE_CHECKING:
    from linsep.input.levels import Columns
    from linsep.input.types import FeaturesLike
    from linsep.proof.certificate import Certificate
    from linsep.report.shown_rows import ShownRows

LARGEST_SHOWN = 5
CONFLICT_SHOWN = 8


class Status(StrEnum):
    """The verdict, and what the accompanying vectors prove.

    - ``separable``: ``coef`` and ``intercept`` put every row strictly on its side.
    - ``inseparable``: ``conflict_weights`` on the rows ``conflict`` are positive, and
      under them the signed rows sum to exactly zero, so no hyperplane exists. Where a
      conflict of more than 500 rows would have to be found, one factorisation proves
      that such weights exist, and ``conflict`` is None unless it is asked for.
    - ``undecided``: a limit was reached first. The margin interval still holds.
    """

    SEPARABLE = "separable"
    INSEPARABLE = "inseparable"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Progress:
    """Where a search stands; what a callback receives, and a result's `trace` holds.

    Attributes
    ----------
    n_passes : int
        Sweeps over all rows so far.
    n_rounds : int
        Rounds and steps of the engines so far.
    n_working : int
        Rows held in the working set.
    n_violations : int or None
        Rows on the wrong side in the last sweep; None before the first.
    margin_lower, margin_upper : float
        The interval that holds the largest margin, as known now. The lower end is
        ``-inf`` before the first sweep and negative while some row is misplaced.
    seconds : float
        Since the call began.
    rows_read, n_rows : int
        Of data that are read in batches: rows read in this reading, and all; else 0.
    """

    n_passes: int
    n_rounds: int
    n_working: int
    n_violations: int | None
    margin_lower: float
    margin_upper: float
    seconds: float
    rows_read: int = 0
    n_rows: int = 0


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Separation(HasPage):
    """The answer of `linsep.separate`.

    Attributes
    ----------
    status : Status
        ``"separable"``, ``"inseparable"`` or ``"undecided"``.
    message : str
        One sentence: the verdict, or why there is none and what to do.
    classes : ndarray
        The labels, sorted; a positive decision value means ``classes[-1]``. One label
        only when the data hold one class.
    coef : ndarray of shape (n_features,) or None
        The separating hyperplane's normal; None unless separable.
    intercept : float or None
        Its intercept, 0.0 when none is fitted; None unless separable.
    margin_lower, margin_upper : float
        The largest possible distance from a separating hyperplane to the nearest row,
        in the units of the features, lies between the two. The lower end is what the
        hyperplane achieves. The upper end is 0 when inseparable.
    conflict : ndarray of int or None
        Rows (sorted) that no hyperplane separates, at most rank + 1 of them, none of
        them spare; None unless inseparable, or where no conflict was looked for.
    conflict_weights : tuple of Fraction or None
        Positive weights, one a conflict row, summing to one, under which the two
        classes of the conflict have the same weighted sum.
    conflict_rows : ndarray of shape (k, n_features) or None
        The features of the conflict's rows, in the order of `conflict`.
    conflict_labels : ndarray of shape (k,) or None
        Their labels.
    n_passes, n_rounds : int
        Sweeps over all rows; rounds of the loop (backtracks counted) and steps of the
        active set.
    trace : tuple of Progress
        One record a pass.
    seconds : float
        Wall-clock time of the call.
    n_samples, n_features : int
        The size of the data, rows of weight zero left out.
    fit_intercept : bool
        Whether an intercept was fitted.
    feature_names : tuple of str or None
        Column names, where the data had them.
    exact_weights : tuple of int or None
        The separator in exact integers (intercept last), where no double-precision
        vector was found that separates; then ``coef`` is this one rounded.
    notes : tuple of str
        How a file or a frame was read: text coded, columns and rows left out.
    """

    status: Status
    message: str
    classes: NDArray[Any]
    n_samples: int
    n_features: int
    fit_intercept: bool
    coef: Floats | None = None
    intercept: float | None = None
    margin_lower: float = -np.inf
    margin_upper: float = np.inf
    conflict: Index | None = None
    conflict_weights: tuple[Fraction, ...] | None = late()
    conflict_rows: Floats | None = None
    conflict_labels: NDArray[Any] | None = late()
    n_passes: int = 0
    n_rounds: int = 0
    trace: tuple[Progress, ...] = ()
    seconds: float = 0.0
    feature_names: tuple[str, ...] | None = None
    exact_weights: tuple[int, ...] | None = None
    notes: tuple[str, ...] = ()
    _columns: Columns | None = None
    _certificate: Lazy[Certificate] | None = None
    _column: str = "feature"
    _conflict_names: Lazy[tuple[str, ...]] | None = None
    _shown: LazyIfMade[ShownRows | None] | None = None

    @property
    def proved(self) -> bool:
        """Whether the verdict passed its exact check: always, unless undecided."""
        return self.status is not Status.UNDECIDED

    @property
    def separable(self) -> bool | None:
        """True, False, or None when undecided."""
        return {Status.SEPARABLE: True, Status.INSEPARABLE: False}.get(self.status)

    @property
    def certificate(self) -> Certificate | None:
        """The proof, to save and to check elsewhere; None when undecided.

        Built at first use, because it hashes the data: change the data in between and
        the certificate is of the changed data, which its check will tell. It is about
        the rows present: where some had weight zero, ``X[sample_weight > 0]``.
        """
        return None if self._certificate is None else self._certificate.value

    @property
    def support(self) -> Index | None:
        """None; deprecated here, a `LargestMargin` has it."""
        _warn_of_move("support")
        return None

    def margin_squared(self) -> Fraction:
        """Return 0 if inseparable; deprecated here, a `LargestMargin` has it."""
        square = _no_square(self.status)
        _warn_of_move("margin_squared")
        return square

    def decision_function(self, X: FeaturesLike) -> Floats:
        """Return ``X @ coef + intercept``, positive for ``classes[-1]``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to decide, as accepted by `linsep.separate`.

        Returns
        -------
        ndarray of shape (n_samples,)
            Their signs are exact, for the hyperplane as it is held: on the rows it
            separates they are right, however close those are.

        Raises
        ------
        InputError
            If there is no hyperplane, or ``X`` does not fit it.
        """
        from linsep.input import InputError, check_features

        if self.coef is None or self.intercept is None:
            raise InputError(
                "decision_function needs a separating hyperplane, but the status is "
                f"{self.status.value!r}; look at .conflict, or fit a soft margin"
            )
        known = self.feature_names, self._columns
        data = check_features(X, self.n_features, *known)
        from linsep.proof.signs import decisions

        w = np.append(self.coef, self.intercept) if self.fit_intercept else self.coef
        return decisions(data, w, self.exact_weights, self.fit_intercept)

    def largest_coefficients(
        self, count: int = LARGEST_SHOWN
    ) -> list[tuple[str, float]]:
        """Return the names and values of the coefficients largest in size, at most 5.

        Parameters
        ----------
        count : int, default=5
            How many at most. Zeros are left out.
        """
        if self.coef is None:
            return []
        coef, name = self.coef, self.column_name
        order = np.argsort(-np.abs(coef), kind="stable")[:count]
        return [(name(j), float(coef[j])) for j in order if coef[j]]

    def column_name(self, column: int) -> str:
        """Return the name of a column; ``"x0"``, ``"x1"``, ... where it has none."""
        names = self.feature_names
        return f"x{column}" if names is None else names[column]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in what JSON can hold; exact numbers are texts.

        Margins without a bound are infinite, which strict JSON has no word for.
        """
        return {
            "status": self.status.value,
            "separable": self.separable,
            "proved": self.proved,
            "message": self.message,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "fit_intercept": self.fit_intercept,
            "classes": self.classes.tolist(),
            "margin_lower": float(self.margin_lower),
            "margin_upper": float(self.margin_upper),
            "feature_names": _list(self.feature_names),
            "coef": _list(self.coef),
            "intercept": self.intercept,
            "exact_weights": _texts(self.exact_weights),
            "conflict": _list(self.conflict),
            "conflict_weights": _texts(self.conflict_weights),
            "n_passes": self.n_passes,
            "n_rounds": self.n_rounds,
            "seconds": self.seconds,
            "notes": list(self.notes),
        }

    def summary(self, width: int = WIDTH) -> str:
        """Say the answer in sentences a person understands.

        Rows are called by their positions from 0, those of a frame with an index of
        its own by that, those of a text by their lines.

        Parameters
        ----------
        width : int, default=88
            Longer lines are broken, their further parts indented.
        """
        size = (
            f"{_counted(self.n_samples, 'row', 'rows')}, "
            f"{_counted(self.n_features, self._column, f'{self._column}s')}"
        )
        lines = [f"{self.message} ({size}.)"]
        if self.status is not Status.INSEPARABLE:
            lines.append(
                f"Margin: between {self.margin_lower:.6g} and {self.margin_upper:.6g}."
            )
        lines.append(
            f"Work: {_counted(self.n_passes, 'pass', 'passes')}, "
            f"{_counted(self.n_rounds, 'round', 'rounds')}, {self.seconds:.3g} s."
        )
        largest = self.largest_coefficients()
        if largest:
            terms = ", ".join(f"{name} {value:.6g}" for name, value in largest)
            lines.append(
                f"Largest coefficients: {terms}; intercept {self.intercept:.6g}."
            )
        lines.extend(self._conflict_lines())
        lines.extend(f"Note: {note}." for note in self.notes)
        return "\n".join(wrapped(line, width) for line in lines)

    def conflict_names(self) -> tuple[str, ...]:
        """Return what the rows of the conflict are called."""
        if self._conflict_names is not None:
            return self._conflict_names.value
        return tuple(f"row {row}" for row in _list(self.conflict) or ())

    def why_in_conflict(self) -> str:
        """Say why no hyperplane can part the rows of the conflict."""
        n = 0 if self.conflict is None else len(self.conflict)
        if self.fit_intercept and len(self.classes) == 2:
            why = (
                "the two classes have exactly the same weighted mean, so a hyperplane "
                "would have to put that one point on both sides"
            )
        elif n == 1:
            why = "its values are exactly zero, so no hyperplane through the origin "
            why += "has it on its side"
        else:
            why = "their signed values add up to exactly zero, so no hyperplane "
            why += "through the origin has them all on their side"
        if n == 1:
            return f"1 row stands in the way: with the weight below, {why}."
        return f"{n} rows stand in each other's way: with the weights below, {why}."

    def _conflict_lines(self) -> list[str]:
        """Name the conflict's rows, their values, and why they cannot be parted."""
        weights, labels = self.conflict_weights, self.conflict_labels
        rows = self.conflict_rows
        if self.conflict is None or weights is None:
            return []
        lines = [self.why_in_conflict()]
        for shown, name in enumerate(self.conflict_names()[:CONFLICT_SHOWN]):
            label = "" if labels is None else f", {labels[shown]}"
            values = ""
            if rows is not None and self.n_features:
                values = f": {self._values(rows[shown])}"
            lines.append(f"  {name}{label}, weight {float(weights[shown]):.4g}{values}")
        if len(self.conflict) > CONFLICT_SHOWN:
            n_more = len(self.conflict) - CONFLICT_SHOWN
            lines.append(f"  and {_counted(n_more, 'more row', 'more rows')}")
        return lines

    def _values(self, row: Floats) -> str:
        """Write the first few values of a row by name."""
        shown = [f"{self.column_name(j)}={row[j]:.6g}" for j in range(min(4, row.size))]
        return ", ".join(shown) + (", ..." if row.size > len(shown) else "")

    def __repr__(self) -> str:
        """Show the status, the margin interval and the work."""
        return (
            f"{type(self).__name__}({self.status.value}, proved={self.proved}, "
            f"margin=[{self.margin_lower:.6g}, {self.margin_upper:.6g}], "
            f"n_passes={self.n_passes}, n_rounds={self.n_rounds})"
        )

    def page(self, *, with_proof: bool = True) -> Page:
        """Return what the page of `to_html` says, the certificate's digest or not."""
        from linsep.report.separation_page import page_of

        return page_of(self, with_proof)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LargestMargin(Separation):
    """The answer of `linsep.max_margin`: a `Separation`, and what carries its margin.

    Attributes
    ----------
    support : ndarray of int or None
        Rows (sorted) that carry the largest margin; None unless separable.
    """

    support: Index | None = None
    _square: LazyIfMade[Fraction] | None = None

    def margin_squared(self) -> Fraction:
        """Return the exact square of the largest margin of the numbers as given.

        The optimality conditions of the hard margin are solved, and checked on every
        row, in rational arithmetic, when this is first asked for.

        Returns
        -------
        Fraction
            0 when inseparable.

        Raises
        ------
        InputError
            If there is no largest margin, or the answer was pickled before this was
            asked for.
        """
        if self._square is None or self._square.is_lost:
            return _no_square(self.status)
        return self._square.value

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in what JSON can hold; exact numbers are texts.

        The square of the margin is there if it was asked for before.
        """
        square = self._square
        made = square is not None and square.is_made
        return super().to_dict() | {
            "support": _list(self.support),
            "margin_squared": exact_text(square.value) if square and made else None,
        }


def _no_square(status: Status) -> Fraction:
    """Return the square of a margin that is not there to be solved for, or refuse."""
    from linsep.input import InputError

    if status is Status.INSEPARABLE:
        return Fraction(0)
    raise InputError(
        "margin_squared needs a largest margin and the data at hand, but this answer "
        f"({status.value}) has none; call linsep.max_margin(X, y).margin_squared()"
    )


def _warn_of_move(name: str) -> None:
    """Warn that a name has moved to the largest margin's own result."""
    message = (
        f"Separation.{name} is deprecated: linsep.max_margin(X, y) returns a "
        "LargestMargin, which has it"
    )
    warnings.warn(message, DeprecationWarning, stacklevel=3)


def _list(values: Any) -> list[Any] | None:
    """Return an array or a tuple as a list."""
    if values is None:
        return None
    return list(values.tolist() if isinstance(values, np.ndarray) else values)


def _texts(numbers: tuple[Fraction | int, ...] | None) -> list[str] | None:
    """Write exact numbers, which a JSON number would round: "1/3"."""
    return None if numbers is None else [exact_text(number) for number in numbers]


def _counted(count: int, one: str, many: str) -> str:
    """Write a count with its noun."""
    return f"{count:,} {one if count == 1 else many}"
