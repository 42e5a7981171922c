"""`diagnose`: why a logistic, Poisson or multinomial regression blew up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from numpy.typing import ArrayLike

from linsep.diagnosis.beta_regression import diagnose_beta
from linsep.diagnosis.exact.penalty_matrix import with_what_is_proved
from linsep.diagnosis.inputs.call_shapes import study_from_model, study_of
from linsep.diagnosis.inputs.named_columns import with_nominal, with_penalty
from linsep.diagnosis.inputs.refusals import refuse_said
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.status import DiagnosisStatus
from linsep.diagnosis.streamed import diagnose_streamed, streamed_problem_of
from linsep.diagnosis.two_parts import diagnose_hurdle, diagnose_zero_inflated
from linsep.diagnosis.watch import DiagnosisProgress, Watch
from linsep.input import (
    InputError,
    checked_callback,
    checked_seed,
    checked_time_limit,
)

Callback = Callable[[DiagnosisProgress], object]


def diagnose(
    *inputs: Any,
    X: Any = None,
    y: Any = None,
    data: Any = None,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    missing: str | None = None,
    order: Sequence[Any] | None = None,
    groups: Any = None,
    penalized: Sequence[str] | ArrayLike | None = None,
    nominal: Sequence[str] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Diagnosis:
    r"""Say whether a regression's maximum likelihood estimate exists, and why not.

    Called as::

        diagnose(X, y, family="binomial")         # arrays, sparse matrices, frames
        diagnose("y ~ x1 + C(x2)", data)          # as `diagnose_formula`
        diagnose("y ~ x | firm + year", data)     # with fixed effects
        diagnose(frame, "y")                      # a frame that holds the outcome
        diagnose("file.csv", "y")                 # a data file and its target
        diagnose("folder/*.parquet", "y")         # read in batches, as by `separate`
        diagnose(model)                           # as `diagnose_model`: statsmodels
        diagnose(pipeline, X, y)                  # and scikit-learn, fitted or not
        diagnose(fitter, frame)                   # of lifelines and pyfixest, fitted
        diagnose(pairs, results, family="paired") # who played whom, and who won

    A direction ``w`` along which no row's likelihood falls and some row's grows for
    ever is a *separating* direction; there is a finite estimate iff there is none. The
    rows on which some such direction is strict are the *separated* rows; all others
    *overlap*. The answer is unique, does not depend on units, shifts or the order of
    columns, and is settled in exact arithmetic on the numbers as given.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
        The design, without a column for the intercept. Columns of text or categories
        in a frame or a file become columns of 0 and 1, one for each level but the one
        with the most rows; dates, and texts that are another in every row, are left
        out with a note. In its place: a formula, a path, or a model; or, for an
        outcome of two labels or of counts, a source that is read in batches
        (:doc:`/scale`).
    y : array-like of shape (n_samples,) or (n_samples, 2)
        The outcome. Binomial: two labels in any coding, shares of successes in [0, 1],
        or two columns that count successes and failures. Poisson: any non-negative
        numbers. Multinomial, ordinal and conditional: labels. Cox: two columns (time,
        event) or three (entry, time, event), or the names of a frame's columns, or the
        array of scikit-survival; in a formula ``Surv(time, event)``.
    data : frame
        The columns a formula speaks of; may be given as the second argument.
    family : str or family of statsmodels, default="binomial"
        "binomial", "poisson", "multinomial", "ordinal", "conditional", "conditional
        poisson", "cox", "cox exact", "paired" or "davidson". Binomial stands for the
        logit, probit, cloglog and loglog links, "poisson" for every outcome of a log
        link with mass at zero, "ordinal" for the cumulative link, "conditional" for the
        logit of cases against controls of the same group, "cox" for the partial
        likelihood (ties in the way of Breslow or Efron; "cox exact" where they are
        exact). Usual other names, "logit" or "clogit", are understood.
        Models know their own. "paired" is the Bradley-Terry model: `X` has two players
        a row, and covariates of the first against the second after them, `y` is 1, 0 or
        1/2 as the first won, lost or tied; without `y` the first won. "davidson" is
        the same with a coefficient for ties.
    fit_intercept : bool, default=True
        Formulas and models know their own; an ordinal model has thresholds in its
        place, and from a conditional one or a Cox regression a constant cancels.
    sample_weight : array-like of shape (n_samples,) or str, optional
        Rows of weight zero count as absent; no other weight matters. Or the column of a
        frame, a file or a formula's data that holds it, which is no feature.
    feature_names : sequence of str, optional
        Names of the columns, instead of a frame's, or x0, x1, ...
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows of a file, a frame or an array that lack a value; formulas
        leave them out.
    order : sequence, optional
        The levels of an outcome that is labels, from the first to the last; all that
        occur must be named. Of a binomial outcome the last is the event, of a
        multinomial one the first is the reference. By default an ordinal outcome has
        the order of its categories (pandas, polars, Arrow, Parquet files), else that
        of numbers; the summary says so where texts had to be sorted.
    groups : array-like of shape (n_samples,) or str, optional
        The group of each row, for a conditional model, or its stratum, for a Cox
        regression; or the column of a frame, a file or a formula's data that holds it.
        Groups of one outcome are left out.
    penalized : sequence of str, or array-like of shape (k, n_features), optional
        Columns, or factors, whose coefficients a penalty holds (ridge, lasso, normal
        priors, random intercepts). Their estimates are finite, and the answer is about
        directions of the other columns alone. Or the matrix of a penalty, such as of
        a smooth: ``S`` of ``w' S w``, positive semidefinite, or ``M`` of ``|M w|^2``;
        then the answer is about directions that it sends to zero, exactly, so that
        whole numbers say what is meant. Of a mixed model, whose variances are
        estimated too, that no direction separates is sufficient for an estimate, not
        necessary.
    nominal : sequence of str, optional
        Columns, or factors, of an ordinal model that have an effect of their own at
        each threshold (partial proportional odds); the others have one for all.
    time_limit : float, optional
        Seconds at most, > 0. The status is "undecided" if it ran out; if it ran out
        afterwards, some estimates are. What it leaves is for the summary and the
        certificate. It is looked at between steps: reading the data, one sweep or one
        exact solve is not cut short.
    random_state : int, optional
        Seed of the sample the search starts from; None is 0. No answer depends on it.
    callback : callable, optional
        Called with a `linsep.diagnosis.DiagnosisProgress` when a step begins, and from
        time to time in between; a true return value stops the diagnosis.

    Returns
    -------
    Diagnosis
        Never raises for lack of an answer: a limit, a callback or Ctrl-C gives the
        status "undecided", with what was found by then.

    Raises
    ------
    InputError
        If the data cannot be used. One class, collinear columns, contradictory rows
        and weights of zero are findings, not errors.

    Warnings
    --------
    formulaic evaluates formulas as Python: a formula from a stranger can run code.
    ``linsep diagnose --formula`` accepts column names, ``C()``, interactions, fixed
    effects and a fixed list of transforms only.

    Notes
    -----
    Coefficients of a multinomial model are named ``"x [class]"`` for every class but
    the first, the reference; thresholds of an ordinal one ``"low|high"``, and what has
    an effect at each ``"x [low|high]"``.

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
    given = [*inputs, *(part for part in (data, X, y) if part is not None)]
    options = {
        "family": family,
        "sample_weight": sample_weight,
        "feature_names": feature_names,
        "order": order,
        "groups": groups,
    }
    by_parts = _of_parts(given)
    if by_parts is not None:
        beside = {**options, "fit_intercept": fit_intercept, "nominal": nominal}
        beside["penalized"] = penalized
        _refuse_beside(given[0], beside)
        return by_parts(given[0], *_limits(time_limit, random_state, callback))
    streamed = streamed_problem_of(given, fit_intercept, missing, options)
    if streamed is not None:
        if penalized is not None or nominal is not None:
            raise InputError(
                "penalized and nominal go with data held whole, got data read in "
                "batches; leave penalised columns out"
            )
        name = given[1] if isinstance(given[1], str) else "y"
        limits = _limits(time_limit, random_state, callback)
        return diagnose_streamed(streamed[0], *limits, name, streamed[1])

    def read() -> Study:
        study = study_of(given, fit_intercept=fit_intercept, missing=missing, **options)
        return with_named(study, penalized, nominal)

    return diagnosed(read, time_limit, random_state, callback)


def with_named(study: Study, penalized: Any, nominal: Sequence[str] | None) -> Study:
    """Set apart the columns that a penalty holds, and those with several effects."""
    if penalized is not None:
        study = with_what_is_proved(with_penalty(study, penalized))
    return study if nominal is None else with_nominal(study, nominal)


def diagnose_formula(
    formula: str,
    data: Any,
    *,
    family: str = "binomial",
    sample_weight: Any = None,
    order: Sequence[Any] | None = None,
    groups: Any = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Diagnosis:
    """Diagnose the regression that a formula describes, as `diagnose` does.

    Parameters
    ----------
    formula : str
        R style, ``"y ~ x1 + C(x2)"``, or ``"cbind(successes, failures) ~ x"``;
        evaluated by formulaic, as Python. A formula from a stranger can run code.
        After a bar, fixed effects: ``"y ~ x | firm + region^year"``, names of factors
        and of their combinations. All levels of the first factor have a column, in
        place of an intercept (but not beside the thresholds of an ordinal model); of
        each other factor the level with the most rows has none.
    data : frame or mapping of str to column
        The columns it speaks of. Rows with missing values are left out.
    family, sample_weight, order, groups, time_limit, random_state, callback
        As of `diagnose`.

    Returns
    -------
    Diagnosis

    Raises
    ------
    InputError
        If the formula or the data cannot be used.

    Examples
    --------
    >>> from linsep.diagnosis import diagnose_formula
    >>> data = {"ill": [0, 1, 0, 1, 1], "drug": ["no", "no", "no", "yes", "yes"]}
    >>> answer = diagnose_formula("ill ~ drug", data)
    >>> answer.estimates["drug[T.yes]"].value
    '+inf'
    """
    from linsep.diagnosis.inputs.formulas import study_from_formula

    return diagnosed(
        lambda: study_from_formula(
            formula,
            data,
            family=family,
            sample_weight=sample_weight,
            order=order,
            groups=groups,
        ),
        time_limit,
        random_state,
        callback,
    )


def diagnose_model(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    family: str | None = None,
    sample_weight: Any = None,
    feature_names: Sequence[str] | None = None,
    order: Sequence[Any] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Diagnosis:
    """Diagnose the regression that a model is or was fitted to, as `diagnose` does.

    Parameters
    ----------
    model : object
        A statsmodels model or result (Logit, Probit, GLM and GEE with a Binomial family
        or a log link, Poisson, MNLogit, OrderedModel, ConditionalLogit, PHReg,
        BetaModel, HurdleCountModel, truncated counts), or a scikit-learn estimator or
        pipeline that ends in a logistic or Poisson regression or in scikit-survival's
        CoxPHSurvivalAnalysis, or glum's GeneralizedLinearRegressor; fitted or not. Or a
        fitted CoxPHFitter of lifelines, or fit of pyfixest, with its frame as `X`. Of a
        penalised one the answer is about the likelihood without the penalty, which the
        summary says. Of a zero-inflated one it is proved at most that there is no
        estimate.
    X, y : array-like
        The data of a scikit-learn estimator; statsmodels models hold their own.
    family, feature_names, order
        As of `diagnose`; of scikit-learn estimators alone, if it is to be another than
        they say.
    sample_weight, time_limit, random_state, callback
        As of `diagnose`.

    Returns
    -------
    Diagnosis

    Raises
    ------
    InputError
        If the model is none of these, or the data cannot be used.

    Examples
    --------
    >>> from linsep.diagnosis import diagnose_model
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> diagnose_model(LogisticRegression(), X, y).status.value
    'complete'
    """
    data = [part for part in (X, y) if part is not None]
    by_parts = _of_parts([model, *data])
    if by_parts is not None:
        beside = {"family": family, "sample_weight": sample_weight, "order": order}
        _refuse_beside(model, beside)
        return by_parts(model, *_limits(time_limit, random_state, callback))
    return diagnosed(
        lambda: study_from_model(
            model,
            *data,
            family=family,
            sample_weight=sample_weight,
            feature_names=feature_names,
            order=order,
        ),
        time_limit,
        random_state,
        callback,
    )


def _limits(
    time_limit: float | None, random_state: int | None, callback: Callback | None
) -> tuple[Watch, int]:
    """Return the watch and the seed of a call, whose clock starts here."""
    seed = checked_seed(random_state)
    checked_callback(callback)
    return Watch(checked_time_limit(time_limit), callback), seed


def diagnosed(
    read: Callable[[], Study],
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Diagnosis:
    """Read a regression and diagnose it, under the limits of the call."""
    watch, seed = _limits(time_limit, random_state, callback)
    try:
        study = read()
    except KeyboardInterrupt:
        return Diagnosis(
            DiagnosisStatus.UNDECIDED,
            family="unknown",
            message="Undecided: interrupted while the data were still being read.",
            seconds=watch.seconds,
        )
    return diagnose_study(study, watch, seed)


# Models of statsmodels whose likelihood is of several predictors a row.
_OF_PARTS = {
    "GenericZeroInflated": diagnose_zero_inflated,
    "HurdleCountModel": diagnose_hurdle,
    "BetaModel": diagnose_beta,
}


def _of_parts(given: Sequence[Any]) -> Callable[[Any, Watch, int], Diagnosis] | None:
    """Return what diagnoses such a model, if one was given, alone."""
    model = getattr(given[0], "model", given[0]) if len(given) == 1 else None
    kinds = [kind.__name__ for kind in type(model).__mro__]
    return next((_OF_PARTS[kind] for kind in kinds if kind in _OF_PARTS), None)


def _refuse_beside(model: Any, options: dict[str, Any]) -> None:
    """Raise if something is said beside a model of several parts, which knows it."""
    kind = type(getattr(model, "model", model)).__name__
    refuse_said(options, f"a {kind} says itself what its {{}} is; leave it out")
