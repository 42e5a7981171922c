r"""Zero-inflated counts: when there is certainly no estimate, by either of two parts.

With probability :math:`\pi(z \cdot v)` a row is zero whatever its mean is, else it is a
count of mean :math:`\mu = \exp(x \cdot w)`. A zero has the likelihood
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

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.study import Study
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import Watch
from linsep.input import InputError
from linsep.lazy import Lazy

_MODELS = ("ZeroInflatedPoisson", "ZeroInflatedNegativeBinomialP")


def is_zero_inflated(given: Sequence[Any]) -> bool:
    """Tell whether a zero-inflated model of statsmodels was given, alone."""
    model = getattr(given[0], "model", given[0]) if len(given) == 1 else None
    return any(kind.__name__ == "GenericZeroInflated" for kind in type(model).__mro__)


def diagnose_zero_inflated(model: Any, watch: Watch, seed: int = 0) -> Diagnosis:
    """Prove that there is no estimate, by one of the parts, or leave it undecided.

    Raises
    ------
    InputError
        If zeros of its counts need not get less likely with a larger mean.
    """
    model = getattr(model, "model", model)
    power = getattr(model.model_main, "parameterization", 2)
    if type(model).__name__ not in _MODELS or power not in (1, 2):
        raise InputError(
            f"a zero-inflated model must be one of {' and '.join(_MODELS)}, the latter "
            f"with p=1 or p=2, got {type(model).__name__}; diagnose its parts: the "
            "counts with family='poisson', the zeros with family='binomial'"
        )
    answer = None
    for part, study in _parts(model):
        answer = diagnose_study(study, watch, seed)
        if answer.status is not DiagnosisStatus.OVERLAP:
            return _told(answer, part)
    assert answer is not None
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


def _parts(model: Any) -> Iterator[tuple[str, Study]]:
    """Read the two regressions of a zero-inflated model."""
    names, counts = list(model.exog_names), np.asarray(model.endog)
    k, outcome = model.exog_infl.shape[1], model.endog_names
    name = outcome if isinstance(outcome, str) else "y"
    yield (
        "counts, as those of a Poisson regression",
        study_from(
            model.exog,
            counts,
            family="poisson",
            fit_intercept=False,
            feature_names=names[k : k + model.exog.shape[1]],
            outcome_name=name,
        ),
    )
    yield (
        "zeros, as one outcome of a binomial regression",
        study_from(
            model.exog_infl,
            np.where(counts == 0, "zero", "positive"),
            family="binomial",
            fit_intercept=False,
            feature_names=names[:k],
            order=["positive", "zero"],
            outcome_name=name,
        ),
    )


def _told(answer: Diagnosis, part: str) -> Diagnosis:
    """Say of the model what a part proves: its rows and directions, no coefficient."""
    if not answer.proved:
        return replace(answer, family="zero-inflated")
    n, lines = answer.separated_rows.size, answer.sentences()
    verdict = "No finite maximum likelihood estimate exists"
    message = (
        f"Zero-inflated: its {part}, are separated in {n:,} of {answer.n_samples:,} "
        f"rows. {verdict}."
    )
    end = next(k for k, line in enumerate(lines) if verdict in line)
    undecided = dict.fromkeys(answer.coefficient_names, Estimate.UNDECIDED)
    return replace(
        answer,
        family="zero-inflated",
        message=message,
        estimates=undecided,
        estimates_without_aliased=undecided,
        _sentences=Lazy(
            lambda: [
                message,
                *lines[1:end],
                "The rank, the direction and the certificate are of this part; which "
                "coefficients stay finite is not decided.",
            ]
        ),
        _remedies=None,
        _positivity=None,
    )
