"""`diagnose`: why a logistic, Poisson or multinomial regression blew up."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, overload

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.input import InputError, checked_seed, checked_time_limit


@overload
def diagnose(
    X: Any,
    y: Any,
    /,
    *,
    family: str | None = None,
    fit_intercept: bool = True,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Diagnosis: ...


@overload
def diagnose(
    *inputs: Any,
    X: Any = None,
    y: Any = None,
    data: Any = None,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Diagnosis: ...


def diagnose(
    *inputs: Any,
    X: Any = None,
    y: Any = None,
    data: Any = None,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Diagnosis:
    r"""Say whether a regression's maximum likelihood estimate exists, and why not.

    Called as::

        diagnose(X, y, family="binomial")         # arrays, sparse matrices, frames
        diagnose("y ~ x1 + C(x2)", data)          # a formula, as in R
        diagnose("file.csv", "y")                 # a data file and its target
        diagnose(model)                           # statsmodels, fitted or not
        diagnose(pipeline, X, y)                  # scikit-learn, fitted or not

    A direction ``w`` along which no row's likelihood falls and some row's grows for
    ever is a *separating* direction; there is a finite estimate iff there is none. The
    rows on which some such direction is strict are the *separated* rows; all others
    *overlap*. The answer is unique, does not depend on units, shifts or the order of
    columns, and is settled in exact arithmetic on the numbers as given.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The design, without a column for the intercept. In its place: a formula (needs
        formulaic), a path, a statsmodels model or result, or a scikit-learn estimator
        or pipeline that ends in a logistic or Poisson regression.
    y : array-like of shape (n_samples,) or (n_samples, 2)
        The outcome. Binomial: two labels in any coding, shares of successes in [0, 1],
        or two columns that count successes and failures. Poisson: any non-negative
        numbers. Multinomial and ordinal: labels; the order is theirs, or that of an
        ordered categorical.
    data : frame
        The columns a formula speaks of; may be given as the second argument.
    family : {"binomial", "poisson", "multinomial", "ordinal"}, default="binomial"
        Binomial stands for the logit, probit, cloglog and loglog links, "poisson" for
        every outcome of a log link with mass at zero, "ordinal" for the cumulative
        link. Models know their own.
    fit_intercept : bool, default=True
        Formulas and models know their own; an ordinal model has thresholds in its
        place.
    sample_weight : array-like of shape (n_samples,), optional
        Rows of weight zero count as absent; no other weight matters.
    feature_names : sequence of str, optional
        Names of the columns, instead of a frame's, or x0, x1, ...
    time_limit : float, optional
        Seconds at most, > 0. The status is "undecided" if it ran out; if it ran out
        afterwards, some estimates are.
    random_state : int, optional
        Seed of the sample the search starts from; None is 0. No answer depends on it.

    Returns
    -------
    Diagnosis

    Raises
    ------
    InputError
        If the data cannot be used. One class, collinear columns, contradictory rows
        and weights of zero are findings, not errors.

    Warnings
    --------
    formulaic evaluates formulas as Python: a formula from a stranger can run code.
    ``linsep diagnose --formula`` accepts column names, ``C()``, interactions and a
    fixed list of transforms only.

    Notes
    -----
    Coefficients of a multinomial model are named ``"x [class]"`` for every class but
    the first, the reference; thresholds of an ordinal one ``"low|high"``.

    The cost is that of a few sweeps over the rows, and of exact linear algebra on a
    few times ``rank`` rows; see `linsep.diagnosis.exact.facial_reduction`.

    References
    ----------
    A. Albert & J. A. Anderson, "On the existence of maximum likelihood estimates in
    logistic regression models", Biometrika 71, 1984, doi:10.1093/biomet/71.1.1.
    S. Correia, P. Guimaraes & T. Zylkin, "Verifying the existence of maximum
    likelihood estimates for generalized linear models", 2019, arXiv:1903.01633.

    Examples
    --------
    >>> import linsep
    >>> treated = [[0, 1], [0, 2], [0, 3], [0, 2], [1, 1], [1, 3]]
    >>> answer = linsep.diagnose(treated, [0, 1, 0, 0, 1, 1],
    ...     feature_names=["drug", "dose"])
    >>> answer.status.value, answer.separated_rows.tolist()
    ('quasi-complete', [4, 5])
    >>> {name: verdict.value for name, verdict in answer.estimates.items()}
    {'intercept': 'finite', 'drug': '+inf', 'dose': 'finite'}
    >>> print(answer.summary().splitlines()[1])
    drug = 1 in 2 rows, all y = 1.
    """
    seed = checked_seed(random_state)
    checked_time_limit(time_limit)
    study = study_of(
        *inputs,
        X=X,
        y=y,
        data=data,
        family=family,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        feature_names=feature_names,
    )
    return diagnose_study(study, time_limit=time_limit, seed=seed)


def study_of(
    *inputs: Any,
    X: Any = None,
    y: Any = None,
    data: Any = None,
    **options: Any,
) -> Study:
    """Tell which of the ways to call `diagnose` this is, and read it."""
    given = [*inputs, *(part for part in (data, X, y) if part is not None)]
    if not given:
        raise InputError(
            "diagnose needs data: diagnose(X, y), diagnose('y ~ x', frame), or "
            "diagnose(model); got nothing"
        )
    first, rest = given[0], given[1:]
    if isinstance(first, str) and "~" in first:
        from linsep.diagnosis.inputs.formulas import study_from_formula

        _expect(rest, 1, "diagnose('y ~ x', data): the formula and its frame")
        return study_from_formula(first, rest[0], **options)
    if isinstance(first, str | os.PathLike):
        from linsep.input.files import read_table

        _expect(rest, 1, "diagnose(path, target): the file and its target column")
        table = read_table(first, rest[0])
        names = options.pop("feature_names") or table.feature_names
        options["feature_names"] = names
        return study_from(
            table.X, table.y, outcome_name=table.target, **_defaults(options)
        )
    library = type(first).__module__.partition(".")[0]
    if library == "statsmodels":
        from linsep.diagnosis.inputs.statsmodels_models import study_from_statsmodels

        _expect(rest, 0, "diagnose(model): a statsmodels model holds its data")
        return study_from_statsmodels(first, **options)
    if hasattr(first, "fit") and hasattr(first, "get_params"):
        from linsep.diagnosis.inputs.sklearn_models import study_from_sklearn

        _expect(rest, 2, "diagnose(estimator, X, y)")
        return study_from_sklearn(first, rest[0], rest[1], **options)
    _expect(rest, 1, "diagnose(X, y): the design and the outcome")
    return study_from(first, rest[0], **_defaults(options))


def _expect(rest: list[Any], count: int, form: str) -> None:
    """Check how many inputs came after the first."""
    if len(rest) != count:
        raise InputError(
            f"diagnose is called as {form}; got {len(rest) + 1} inputs in place of "
            f"{count + 1}"
        )


def _defaults(options: dict[str, Any]) -> dict[str, Any]:
    """Fill in what was not said."""
    filled = dict(options)
    if filled.get("family") is None:
        filled["family"] = "binomial"
    if filled.get("fit_intercept") is None:
        filled["fit_intercept"] = True
    return filled
