r"""Counts of two parts, zero-inflated or with a hurdle: the parts are two regressions.

With a hurdle the likelihood is a product. That of ``y > 0`` is a binomial regression.
That of the counts above zero is of a Poisson distribution without its zero (or of a
negative binomial whose variance is :math:`\mu + \alpha\mu^2`): with :math:`\mu \to 0`
it tends to one where ``y = 1`` and to zero elsewhere, with :math:`\mu \to \infty` to
zero, so that it is a Poisson regression of ``y - 1``. There is an estimate iff both
have one, dispersions being known.

Zero-inflated, a row is zero with probability :math:`\pi(z \cdot v)` whatever its mean
is, else it is a count of mean :math:`\mu = \exp(x \cdot w)`. A zero has the likelihood
:math:`\pi + (1 - \pi) P_\mu(0)`, which rises with :math:`z \cdot v` and falls with
:math:`x \cdot w`; a count has :math:`(1 - \pi) P_\mu(y)`, which falls with
:math:`z \cdot v`. So the likelihood rises without end along every direction that

- separates the counts as a Poisson regression on the columns ``x``, or
- separates the zeros from the counts as a binomial regression on the columns ``z``,

and then there is no estimate. The converse does not hold: without such a direction the
share of zeros beyond the counts' own may still run off to none, which depends on the
counts themselves, not on signs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.statsmodels_models import (
    cut_off,
    penalty_of,
    plain_name,
    users_rows,
)
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.phrases import estimate_exists
from linsep.diagnosis.report.remedies import Remedy
from linsep.diagnosis.report.sentences import estimate_lines
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import Watch
from linsep.input import InputError
from linsep.lazy import Lazy

_ZERO_INFLATED = ("ZeroInflatedPoisson", "ZeroInflatedNegativeBinomialP")
_COUNTS = "counts, as those of a Poisson regression"
_ZEROS = "zeros, as one outcome of a binomial regression"
_NONE = "No finite maximum likelihood estimate exists"
_PENALTY = Remedy(
    "a penalty (a weakly informative prior)",
    "it makes every estimate finite",
    leaves="the model; estimates depend on the penalty",
)


def diagnose_zero_inflated(given: Any, watch: Watch, seed: int = 0) -> Diagnosis:
    """Prove that there is no estimate, by one of the parts, or leave it undecided.

    Raises
    ------
    InputError
        If zeros of its counts need not get less likely with a larger mean.
    """
    model = getattr(given, "model", given)
    power = getattr(model.model_main, "parameterization", 2)
    if type(model).__name__ not in _ZERO_INFLATED or power not in (1, 2):
        raise InputError(
            f"a zero-inflated model must be one of {' and '.join(_ZERO_INFLATED)}, the "
            f"latter with p=1 or p=2, got {type(model).__name__}; diagnose its parts: "
            "the counts with family='poisson', the zeros with family='binomial'"
        )
    names, k = list(map(str, model.exog_names)), model.exog_infl.shape[1]
    of_counts = names[k : k + model.exog.shape[1]]
    for part, study in (
        (_COUNTS, _counts(given, of_counts, is_above_zero=False)),
        (_ZEROS, _zeros(given, model.exog_infl, names[:k], ["positive", "zero"])),
    ):
        answer = diagnose_study(study, watch, seed)
        if answer.status is not DiagnosisStatus.OVERLAP:
            unknown = dict.fromkeys(answer.coefficient_names, Estimate.UNDECIDED)
            answer = replace(
                answer, estimates=unknown, estimates_without_aliased=unknown
            )
            left = (
                "The rank, the direction and the certificate are of this part; which "
                "coefficients stay finite is not decided."
            )
            return _told(answer, "zero-inflated", part, [left])
    return Diagnosis(
        DiagnosisStatus.UNDECIDED,
        "zero-inflated",
        message=(
            "Undecided: neither the counts nor the zeros of this zero-inflated model "
            "are separated, so no direction of either part is without an end; whether "
            "the share of zeros beyond the counts' own runs off to none is no question "
            "of separation. If the fit's inflate_ coefficients are huge, leave the "
            "inflation out."
        ),
        n_samples=answer.n_samples,
        seconds=watch.seconds,
    )


def diagnose_hurdle(given: Any, watch: Watch, seed: int = 0) -> Diagnosis:
    """Decide both parts of a hurdle model; rows and proof are of one of them.

    Raises
    ------
    InputError
        If counts above zero do not tend to one as their mean does to zero.
    """
    model = getattr(given, "model", given)
    if getattr(model.model2.model_main, "parameterization", 2) != 2:
        raise InputError(
            "the counts of a hurdle model must be Poisson, or negative binomial with "
            "p=2, got another p, with which counts above zero vary even where their "
            "mean is near zero; diagnose its zeros with family='binomial'"
        )
    # A fit names its coefficients in `xnames`, those of the zeros first.
    own = getattr(model.data.orig_exog, "columns", None)
    of_fit = [name.removeprefix("zm_") for name in model.data.xnames]
    names = list(map(str, of_fit[: model.exog.shape[1]] if own is None else own))
    of_zeros = [f"zm_{name}" for name in names]
    parts = {_ZEROS: _zeros(given, model.exog, of_zeros, ["zero", "positive"])}
    if (np.asarray(model.endog) > 0).any():
        parts[_COUNTS] = _counts(given, names, is_above_zero=True)
    found = {part: diagnose_study(study, watch, seed) for part, study in parts.items()}
    overlap = DiagnosisStatus.OVERLAP
    # One that is separated says most, then one that is undecided, then the counts.
    of_use = [p for p in found if found[p].status is not overlap]
    part = next((p for p in of_use if found[p].proved), (of_use or [*found][::-1])[0])
    answer, both = found[part], list(found.values())

    def merged(field: str) -> dict[str, Any]:
        return {k: v for one in both for k, v in getattr(one, field).items()}

    def placed(w: Sequence[Any]) -> list[Any]:
        zeros = ([0] * len(one.coefficient_names) for one in both)
        pairs = zip(both, zeros, strict=True)
        return [x for one, none in pairs for x in (w if one is answer else none)]

    answer = replace(
        answer,
        direction=None
        if answer.direction is None
        else np.array(placed(answer.direction.tolist()), dtype=np.float64),
        exact_direction=None
        if answer.exact_direction is None
        else tuple(placed(answer.exact_direction)),
        coefficient_names=tuple(n for one in both for n in one.coefficient_names),
        estimates=merged("estimates"),
        estimates_without_aliased=merged("estimates_without_aliased"),
        collinear=merged("collinear"),
    )
    told = [
        f"Its {other.split(',')[0]}: {one.message}"
        for other, one in found.items()
        if other != part
    ]
    if model.k_extra1 or model.k_extra2:
        told.append("The dispersion is taken as known.")
    told.append("Rows, rank and certificate are of the part named first.")
    return _told(answer, "hurdle", part, told + estimate_lines(answer))


def _counts(given: Any, names: list[str], *, is_above_zero: bool) -> Study:
    """Read the counts as a Poisson regression, those above zero from one on."""
    model = getattr(given, "model", given)
    y, place = np.asarray(model.endog), users_rows(model)
    rows = np.flatnonzero(y > 0) if is_above_zero else np.arange(y.size)
    study = study_from(
        np.asarray(model.exog)[rows],
        y[rows] - is_above_zero,
        family="poisson",
        fit_intercept=False,
        feature_names=names,
        outcome_name=plain_name(model.endog_names) + " - 1" * is_above_zero,
        present=place.get("present", np.arange(y.size))[rows],
        n_given=place.get("n_given", y.size),
        penalty=penalty_of(given),
    )
    return cut_off(study, y.size - rows.size)


def _zeros(given: Any, X: Any, names: list[str], order: list[str]) -> Study:
    """Read whether a row is zero as a binomial regression."""
    model = getattr(given, "model", given)
    return study_from(
        X,
        np.where(np.asarray(model.endog) == 0, "zero", "positive"),
        family="binomial",
        fit_intercept=False,
        feature_names=names,
        order=order,
        outcome_name=plain_name(model.endog_names),
        penalty=penalty_of(given),
        **users_rows(model),
    )


def _told(answer: Diagnosis, kind: str, part: str, more: list[str]) -> Diagnosis:
    """Say of the model what its part proves, and then more."""
    if not answer.proved:
        return replace(answer, family=kind)
    start, told, advice = f"{kind.capitalize()}: its {part},", [], []
    if answer.status is DiagnosisStatus.OVERLAP:
        exists = estimate_exists(not answer.collinear)
        message = f"{start} overlap, and its zeros do. {exists}"
    else:
        n, lines = answer.separated_rows.size, answer.sentences()
        message = (
            f"{start} are separated in {n:,} of {answer.n_samples:,} rows. {_NONE}."
        )
        advice = [_PENALTY]
        told = lines[1 : next(k for k, line in enumerate(lines) if _NONE in line)]
    return replace(
        answer,
        family=kind,
        message=message,
        _sentences=Lazy(lambda: [message, *told, *more]),
        _remedies=Lazy(lambda: advice),
        _positivity=None,
    )
