r"""Beta regression: no direction separates, but a precision may run off.

Shares strictly inside (0, 1) have the density of mean :math:`\mu`, the logistic
function of :math:`x \cdot w`, and precision :math:`\varphi = \exp(z \cdot v)`. With
the relative entropy :math:`D(\mu, y) \ge 0`, zero iff :math:`\mu = y`, Stirling's
bounds give, up to constants of the row,

.. math::

   \log f \le -\varphi D(\mu, y) + \tfrac12 \log \varphi + \tfrac12 \log \mu (1 - \mu)
   \quad (\varphi \ge 1), \qquad
   \log f \le \log \varphi + \log \mu (1 - \mu) \quad (\varphi \le 1).

So it falls without end as the predictor of a mean runs off to either side, as a
precision goes to zero, and as one goes to infinity unless the row is fitted exactly; in
that case it grows like :math:`\tfrac12 \log \varphi`. Let rows of equal ``z`` be groups
whose precisions can be chosen one by one: as many as the rank of the columns ``z``, as
of a constant or a factor. The likelihood then has a maximum iff no ``w`` fits all rows
of a group exactly, :math:`x_i \cdot w = \log(y_i / (1 - y_i))`. Rows that are
independent can be fitted; others iff the logarithms meet each of their dependences
:math:`\sum u_i x_i = 0`: a sum is told from zero by bounds, and zero is proved by the
powers :math:`\prod (y_i / (1 - y_i))^{u_i} = 1`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from math import prod
from typing import Any

import flint
import numpy as np

from linsep.arrays import Floats
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.pipeline import diagnose_study
from linsep.diagnosis.record import Diagnosis
from linsep.diagnosis.report.phrases import estimate_exists
from linsep.diagnosis.report.sentences import estimate_lines
from linsep.diagnosis.status import DiagnosisStatus, Estimate
from linsep.diagnosis.watch import Watch
from linsep.input import InputError
from linsep.lazy import Lazy
from linsep.proof import linear
from linsep.proof.exact import IntegerArray, integers_from, python_vector

# Powers are multiplied out up to so many bits.
MOST_BITS = 2_000_000
# Bits of a logarithm beyond those of its multiple.
SPARE_BITS = 128


def diagnose_beta(given: Any, watch: Watch, seed: int = 0) -> Diagnosis:
    """Diagnose a beta regression of statsmodels, its precision estimated too.

    Raises
    ------
    InputError
        If its links are others than logit and log.
    """
    model = getattr(given, "model", given)
    links = [type(link).__name__ for link in (model.link, model.link_precision)]
    if links != ["Logit", "Log"]:
        raise InputError(
            "a beta regression must have a logit link and the log of the precision, "
            f"got {' and '.join(links)}"
        )
    arrays = (model.exog, model.exog_precision, model.endog)
    X, Z, y = (np.asarray(values, dtype=np.float64) for values in arrays)
    names = list(map(str, model.exog_names))
    study = study_from(
        X,
        np.ones(y.size),  # bounded on both sides, as where a count is above zero
        family="poisson",
        fit_intercept=False,
        feature_names=names[: X.shape[1]],
    )
    answer = diagnose_study(study, watch, seed)
    if not answer.proved:
        return replace(answer, family="beta")
    distinct, group = np.unique(Z + 0.0, axis=0, return_inverse=True)
    null = linear.null_basis(_whole(distinct))
    if distinct.shape[1] - null.shape[1] < len(distinct):
        return _undecided(
            answer,
            "its precision has columns that tie the precisions of rows to each other; "
            "whether one runs off is decided of a constant and of factors",
        )
    for k in range(len(distinct)):
        rows = np.flatnonzero(group.reshape(-1) == k)
        fitted = is_fitted(X[rows], y[rows])
        if fitted is not False:
            which = f"{rows.size:,} of its {y.size:,} rows, whose precision is one"
            runs_off = (
                f"some coefficients fit exactly {which}, and there the likelihood "
                "grows without end with that precision: there is no estimate"
            )
            unknown = f"whether any fit exactly {which}, was too long to compute"
            return _undecided(answer, runs_off if fitted else unknown)
    of_precision = {
        name: Estimate.ALIASED if row.any() else Estimate.FINITE
        for name, row in zip(names[X.shape[1] :], null, strict=True)
    }
    estimates = {**answer.estimates, **of_precision}
    message = (
        "Beta regression: each row bounds its mean on both sides, and no precision "
        f"runs off. {estimate_exists(Estimate.ALIASED not in estimates.values())}"
    )
    found = replace(
        answer,
        family="beta",
        message=message,
        coefficient_names=tuple(names),
        estimates=estimates,
        estimates_without_aliased={**answer.estimates_without_aliased, **of_precision},
        _sentences=None,
        _positivity=None,
    )
    collinear = [line for line in answer.findings if "ollinear" in line]
    told = "The certificate is of the mean's columns."
    lines = [message, *collinear, told, *estimate_lines(found)]
    return replace(found, _sentences=Lazy(lambda: lines))


def _undecided(answer: Diagnosis, why: str) -> Diagnosis:
    """Say that no direction separates, and that this does not settle it."""
    return Diagnosis(
        DiagnosisStatus.UNDECIDED,
        "beta",
        message=(
            "Undecided by separation: each row of this beta regression bounds its mean "
            f"on both sides, so that no direction separates. But {why}."
        ),
        rank=answer.rank,
        n_samples=answer.n_samples,
        n_features=answer.n_features,
        seconds=answer.seconds,
    )


def is_fitted(X: Floats, y: Floats) -> bool | None:
    """Tell whether some ``w`` has ``x_i . w = log(y_i / (1 - y_i))`` for all rows.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,), in (0, 1)

    Returns
    -------
    bool or None
        Exactly; None where it is too long to compute.

    Examples
    --------
    >>> X = np.array([[1.0, 0], [1, 1], [1, 2]])
    >>> is_fitted(X, np.array([0.2, 0.5, 0.8])), is_fitted(X, np.array([0.5] * 3))
    (False, True)
    >>> is_fitted(X[:2], np.array([0.3, 0.9]))
    True
    """
    values = _whole(X)
    basis = linear.independent_columns(values.T)
    others = np.setdiff1d(np.arange(y.size), basis)
    # What is farthest from its fit in doubles most likely tells.
    aims = np.log(y) - np.log1p(-y)
    w = np.linalg.lstsq(X, aims, rcond=None)[0]
    order = np.argsort(-np.abs(aims - X @ w)[others], kind="stable")
    is_known = True
    for row in others[order].tolist():
        chosen = [*basis, row]
        u = linear.null_basis(values[chosen].T)
        if u.shape[1] == 0:  # independent after all
            basis = chosen
            continue
        is_zero = _is_zero(y[chosen].tolist(), u[:, 0].tolist())
        if is_zero is False:
            return False
        is_known = is_known and is_zero is not None
    return True if is_known else None


def _is_zero(y: list[float], u: list[int]) -> bool | None:
    """Tell whether ``sum u_i log(y_i / (1 - y_i))`` is zero; None if too long."""
    powers: Counter[Fraction] = Counter()
    for value, multiple in zip(map(Fraction, y), map(int, u), strict=True):
        powers[value / (1 - value)] += multiple
    n_bits = max(map(abs, powers.values())).bit_length()
    with flint.ctx.workprec(n_bits + SPARE_BITS):
        total = flint.arb(0)
        for odds, k in powers.items():
            ratio = flint.fmpq(odds.numerator, odds.denominator)
            total += k * flint.arb(ratio).log()
        if not total.contains(0):
            return False
    used = [(odds if k > 0 else 1 / odds, abs(k)) for odds, k in powers.items() if k]
    sizes = (k * (o.numerator * o.denominator).bit_length() for o, k in used)
    if sum(sizes) > MOST_BITS:
        return None
    above = prod(odds.numerator**k for odds, k in used)
    below = prod(odds.denominator**k for odds, k in used)
    return bool(above == below)


def _whole(X: Floats) -> IntegerArray:
    """Return doubles as integers times one power of two."""
    return python_vector(integers_from(X)).reshape(X.shape)
