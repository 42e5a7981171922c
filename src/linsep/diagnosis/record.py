"""`Diagnosis`: what `linsep.diagnose` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.input import InputError
from linsep.input.frames import pandas_for
from linsep.lazy import Lazy, LazyIfMade
from linsep.printable import exact_text
from linsep.report.page import HasPage, Page
from linsep.wrapping import WIDTH, wrapped

if TYPE_CHECKING:
    from linsep.diagnosis.exact.certificate import CertifiedRows
    from linsep.diagnosis.positivity import Positivity
    from linsep.diagnosis.report.refitting import Design
    from linsep.diagnosis.report.remedies import Remedy
    from linsep.diagnosis.report.streamed_remedies import RowsAnew
    from linsep.proof.certificate import Certificate
    from linsep.report.shown_rows import ShownRows


@dataclass(frozen=True, repr=False, eq=False)
class Diagnosis(HasPage):
    """The answer of `linsep.diagnose`.

    Attributes
    ----------
    status : DiagnosisStatus
        ``"complete"``, ``"quasi-complete"``, ``"overlap"`` or ``"undecided"``.
    family : str
        ``"binomial"``, ``"poisson"``, ``"multinomial"``, ``"ordinal"``,
        ``"conditional"``, ``"conditional poisson"``, ``"cox"``, ``"cox exact"``,
        ``"paired"``, ``"davidson"``, ``"zero-inflated"``, ``"hurdle"`` or ``"beta"``.
    message : str
        The verdict in one sentence, or why there is none and what to do.
    rank : int or None
        Exact rank of the design, intercept counted; None if the time ran out first.
    separated_rows, overlapped_rows : ndarray of int
        Row numbers from 0, sorted. Rows of weight zero are in neither.
    direction : ndarray of shape (n_coefficients,) or None
        Coefficients along which the likelihood of every separated row grows for ever
        and that of no row falls; in the order of `coefficient_names`, intercept
        first. None where the data overlap.
    exact_direction : tuple of int or None
        The same in exact integers, of which `direction` is the nearest doubles up to
        a power of two.
    estimates : dict of str to Estimate
        For each coefficient ``"finite"``, ``"+inf"``, ``"-inf"``, ``"undetermined"``
        (the data allow both signs), ``"aliased"`` (collinearity leaves it
        unidentified) or ``"undecided"``. The intercept's name is ``"intercept"``.
    estimates_without_aliased : dict of str to Estimate
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

    status: DiagnosisStatus
    family: str
    message: str = ""
    rank: int | None = None
    separated_rows: Index = field(default_factory=no_index)
    overlapped_rows: Index = field(default_factory=no_index)
    direction: Floats | None = None
    exact_direction: tuple[int, ...] | None = None
    estimates: Mapping[str, Estimate] = field(default_factory=dict)
    estimates_without_aliased: Mapping[str, Estimate] = field(default_factory=dict)
    collinear: Mapping[str, str] = field(default_factory=dict)
    findings: tuple[str, ...] = ()
    coefficient_names: tuple[str, ...] = ()
    n_samples: int = 0
    n_features: int = 0
    n_distinct: int = 0
    seconds: float = 0.0
    _sentences: Lazy[list[str]] | None = None
    _remedies: Lazy[list[Remedy]] | None = None
    _rows: Lazy[Any] | None = None
    _positivity: LazyIfMade[Positivity] | None = None
    _design: LazyIfMade[Design] | None = None
    _anew: RowsAnew | None = None
    _certificate: Lazy[Certificate | None] | None = None
    _certified: LazyIfMade[CertifiedRows | None] | None = None
    _shown: LazyIfMade[ShownRows | None] | None = None

    @property
    def proved(self) -> bool:
        """Whether the status and the partition of the rows are settled.

        They are in exact arithmetic, always, unless undecided.
        """
        return self.status is not DiagnosisStatus.UNDECIDED

    @property
    def certificate(self) -> Certificate | None:
        """The proof of the partition, to save and check elsewhere; None if undecided.

        It is made when first asked for, in what the diagnosis left of `time_limit`,
        and None as well if that did not do. It is about the data `certificate_data`
        returns: for two classes without weights of zero those are the data given.
        """
        return None if self._certificate is None else self._certificate.value

    def certificate_data(self) -> tuple[Any, Any]:
        """Return the X and y that the certificate is about.

        For labels of two classes these are the rows present. Every other outcome is
        rewritten as a problem of two classes: a demand ``a . w >= 0`` becomes a row
        ``a`` labelled 1, a demand ``a . w = 0`` two rows ``a``, labelled 0 and 1; the
        intercept, or the constants of the groups, are among the columns. Of very many
        comparisons of a Cox regression these are some, whose span is that of all.

        Raises
        ------
        InputError
            If the diagnosis is undecided, or was unpickled.
        """
        certified = None if self._certified is None else self._certified.value
        if certified is None:
            raise InputError(
                "certificate_data needs a certificate and the data, which an undecided "
                "or an unpickled diagnosis does not hold; call diagnose again"
            )
        return certified.rows.features(slice(None)), certified.labels

    def summary(self, width: int = WIDTH) -> str:
        """Say the answer in sentences: verdict, culprits, rows, what to do, the rest.

        The columns and levels that predict rows, and a direction of few columns, are
        looked for when this is first called, in a second or so at most.

        Parameters
        ----------
        width : int, default=88
            Longer lines are broken, their further parts indented.
        """
        return "\n".join(wrapped(line, width) for line in self.sentences())

    def sentences(self) -> list[str]:
        """Return the lines of the summary, each whole."""
        return [self.message] if self._sentences is None else self._sentences.value

    def remedies(self) -> list[Remedy]:
        """Return what is usually done about separation, as code for this model.

        Each has a ``name``, says ``why``, holds the ``code``, in which ``answer`` is
        this diagnosis, the same in R, if that is a line or two, as ``r_code``, and says
        what of the model it ``leaves``. What leaves out rows
        or columns is there only if the estimate was proved to exist without them.

        Returns
        -------
        list of Remedy
            Empty where the estimate exists, or nothing was decided.

        Examples
        --------
        >>> import linsep
        >>> answer = linsep.diagnose([[0], [0], [1], [1]], [0, 1, 1, 1])
        >>> print(answer.remedies()[0].code)
        # pip install firthmodels
        from firthmodels import FirthLogisticRegression
        <BLANKLINE>
        design = answer.design()
        X = design.X
        fit = FirthLogisticRegression(fit_intercept=True, max_iter=200)
        fit.fit(X, design.y, sample_weight=design.weights)
        """
        return [] if self._remedies is None else self._remedies.value

    def rows(self) -> Any:
        """Return the separated rows as a table: names, outcome, columns involved.

        Where the data overlap these are rows of a conflict: by themselves they have no
        separating direction either.

        Returns
        -------
        DataFrame or dict of str to list
            A pandas frame with its own index where one was given; else columns by
            name, the first of which, ``"row"``, counts from 0, or holds the lines of a
            file.

        Examples
        --------
        >>> import linsep
        >>> linsep.diagnose([[0], [0], [1], [1]], [0, 1, 1, 1]).rows()
        {'row': [2, 3], 'y': [1, 1], 'x0': [1.0, 1.0]}
        """
        return {"row": []} if self._rows is None else self._rows.value

    def design(self) -> Design:
        """Return the numbers of the regression: columns, outcome, weights, names.

        Raises
        ------
        InputError
            If the diagnosis is undecided, or was unpickled.
        """
        if self._design is None or self._design.is_lost:
            raise InputError(
                "design needs the data, which an undecided or an unpickled diagnosis "
                "does not hold; call diagnose again"
            )
        return self._design.value

    def batches(self, separated: bool = True) -> Iterator[tuple[Floats, Floats]]:
        """Read rows that are read in batches once more, as numbers.

        Parameters
        ----------
        separated : bool, default=True
            Whether the rows separated are among them.

        Yields
        ------
        X : ndarray of shape (m, n_features)
            The columns, without the intercept.
        y : ndarray of shape (m,)
            The outcome: 0 and 1 (the last class in order; a count that is not zero).

        Raises
        ------
        InputError
            If the data are held whole (`design` has these), or the diagnosis is
            undecided or was unpickled.
        """
        if self._anew is None:
            raise InputError(
                "batches are of data that are read in batches, and not of an undecided "
                "or an unpickled diagnosis; design() has what is held whole"
            )
        return self._anew.batches(separated)

    def positivity(self) -> Positivity:
        """Read the outcome as a treatment: for whom the covariates decide it.

        Those units have no counterpart, whatever model of the propensity is linear in
        the covariates; what is left without them is diagnosed again.

        Raises
        ------
        InputError
            If the outcome is not two labels, or the diagnosis is undecided, was
            unpickled, or is of data read in batches.

        Examples
        --------
        >>> import linsep
        >>> answer = linsep.diagnose([[0], [0], [1], [1]], [0, 1, 1, 1])
        >>> answer.positivity()
        Positivity(holds=False, treated=2, untreated=0, left=2)
        >>> print(answer.positivity().sentences()[2])
        x0 is above 0 in 2 rows, all y = 1; 0 in the 2 rows left.
        """
        if self._positivity is None or self._positivity.is_lost:
            raise InputError(
                "positivity needs the data, which a diagnosis that is undecided, was "
                "unpickled, or is of data read in batches does not hold; call diagnose "
                "on data held whole"
            )
        return self._positivity.value

    def to_dict(self) -> dict[str, Any]:
        """Return the answer in what JSON can hold; exact numbers are texts."""
        exact, direction = self.exact_direction, self.direction
        return {
            "status": self.status.value,
            "proved": self.proved,
            "family": self.family,
            "message": self.message,
            "rank": self.rank,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "separated_rows": self.separated_rows.tolist(),
            "overlapped_rows": self.overlapped_rows.tolist(),
            "estimates": {name: e.value for name, e in self.estimates.items()},
            "estimates_without_aliased": {
                name: e.value for name, e in self.estimates_without_aliased.items()
            },
            "collinear": dict(self.collinear),
            "coefficient_names": list(self.coefficient_names),
            "direction": None if direction is None else direction.tolist(),
            "exact_direction": None
            if exact is None
            else [exact_text(v) for v in exact],
            "findings": list(self.findings),
            "summary": self.summary().split("\n"),
            "sentences": self.sentences(),
            "remedies": [asdict(remedy) for remedy in self.remedies()],
            "seconds": self.seconds,
        }

    def to_frame(self) -> Any:
        """Return one line a coefficient, as a pandas frame.

        Columns: ``estimate``, ``estimate_without_aliased``, ``direction`` and
        ``combination_of``; the index holds the names.
        """
        pd = pandas_for("to_frame")

        names = list(self.coefficient_names)
        without = self.estimates_without_aliased
        return pd.DataFrame(
            {
                "estimate": [self.estimates[name].value for name in names],
                "estimate_without_aliased": [
                    without[name].value if name in without else "left out"
                    for name in names
                ],
                "direction": np.zeros(len(names))
                if self.direction is None
                else self.direction,
                "combination_of": [self.collinear.get(name, "") for name in names],
            },
            index=pd.Index(names, name="coefficient"),
        )

    def to_latex(self) -> str:
        r"""Return the estimates as a table in LaTeX, for the package booktabs.

        Examples
        --------
        >>> import linsep
        >>> print(linsep.diagnose([[0], [0], [1], [1]], [0, 1, 1, 1]).to_latex())
        \begin{tabular}{ll}
        \toprule
        Coefficient & Maximum likelihood estimate \\
        \midrule
        intercept & finite \\
        x0 & $+\infty$ \\
        \bottomrule
        \end{tabular}
        <BLANKLINE>
        """
        from linsep.diagnosis.report.latex import latex_of

        return latex_of(self)

    def __repr__(self) -> str:
        """Show the status and the counts."""
        return (
            f"Diagnosis({self.status.value}, family={self.family!r}, "
            f"proved={self.proved}, rank={self.rank}, "
            f"separated_rows={self.separated_rows.size}, "
            f"overlapped_rows={self.overlapped_rows.size})"
        )

    def page(self, *, with_proof: bool = True) -> Page:
        """Return what the page of `to_html` says, the certificate's digest or not."""
        from linsep.diagnosis.report.page import page_of

        return page_of(self, with_proof)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle with summary and certificate made, without the data."""
        return {**self.__dict__, "_certified": None}
