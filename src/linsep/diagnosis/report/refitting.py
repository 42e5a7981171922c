"""A regression's numbers as arrays, and the code that fits it again in another way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index, Mask
from linsep.diagnosis.inputs.study import Study
from linsep.rows import is_sparse

# What code needs that linsep does not bring along.
EXTRAS = ("firthmodels", "statsmodels")
# Row numbers written out in code; more are asked of the diagnosis.
MOST_WRITTEN = 20


@dataclass(frozen=True)
class Design:
    """The numbers a regression is fitted to, rows of weight zero left out.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n, n_columns)
        The columns, without the intercept.
    y : ndarray of shape (n,) or (n, 2)
        The outcome in numbers: 0 and 1 (the last class in order), successes and
        failures, counts, or the numbers of the classes from 0.
    weights : ndarray of shape (n,)
        Those of the rows; ones where none were given.
    names : tuple of str
        The columns' names.
    separated : ndarray of int
        The rows that are separated, of these.
    groups : ndarray of shape (n,), int, or None
        Of a conditional model, the number of each row's group; of a Cox regression
        that of its stratum.
    """

    X: Any
    y: NDArray[Any]
    weights: Floats
    names: tuple[str, ...]
    separated: Index
    groups: Index | None = None


def design_of(study: Study, separated: Mask) -> Design:
    """Return the numbers of a regression."""
    outcome, y = study.outcome, study.observed
    weights = np.ones(study.present.size) if study.weights is None else study.weights
    if y is None:
        y = outcome.has.argmax(axis=1)
    elif y.ndim == 1 and study.family == "binomial":  # shares of successes
        y = np.stack([y, 1.0 - y], axis=1)
    which = np.flatnonzero(separated)
    return Design(study.X, y, weights, study.names, which, study.strata)


def firth(study: Study, columns: Index) -> str:
    """Return code for Firth's penalty on two labels a row."""
    lines = [
        *_block(study, columns),
        "fit = FirthLogisticRegression("
        f"fit_intercept={study.fit_intercept}, max_iter=200)",
        "fit.fit(X, design.y, sample_weight=design.weights)",
    ]
    return _code(["from firthmodels import FirthLogisticRegression"], lines)


def penalty(study: Study, columns: Index) -> str:
    """Return code for a ridge penalty by scikit-learn, which spares the constant."""
    constant = np.flatnonzero(study.is_constant)
    intercept = f"fit_intercept={study.fit_intercept or constant.size > 0}"
    lines = _block(study, np.setdiff1d(columns, constant))
    y, weights = "design.y", "design.weights"
    if study.family == "poisson":
        first = "from sklearn.linear_model import PoissonRegressor"
        fit = f"PoissonRegressor(alpha=0.01, {intercept}, max_iter=1000)"
    else:
        first = "from sklearn.linear_model import LogisticRegression"
        fit = f"LogisticRegression(C=1.0, {intercept}, max_iter=1000)"
        if not study.outcome.is_labels:  # a row of successes, and one of failures
            y, weights = "y", "weights"
            lines += [
                "X = numpy.concatenate([X, X])",
                "y = numpy.repeat([1, 0], len(design.y))",
                "weights = (design.y * design.weights[:, None]).T.ravel()",
            ]
    lines += [f"fit = {fit}", f"fit.fit(X, {y}, sample_weight={weights})"]
    return _code([first], lines)


def within_groups(study: Study) -> str:
    """Return code for a ridge penalty on a model that compares within groups."""
    kind = {"conditional": "ConditionalLogit"}.get(study.family, "ConditionalPoisson")
    first = f"from statsmodels.discrete.conditional_models import {kind}"
    lines = [
        *_block(study, np.arange(len(study.names))),
        f"model = {kind}(design.y, X, groups=design.groups)",
        "fit = model.fit_regularized(alpha=0.01, L1_wt=0)",
    ]
    return _code([first], lines)


def reduction(study: Study, dropped: Index | None, columns: Index) -> str:
    """Return code that fits a model to some columns, without the rows dropped."""
    y, weights = "design.y", "design.weights"
    if dropped is not None:
        y, weights = f"{y}[rows]", f"{weights}[rows]"
    imports = ["import pandas", "import statsmodels.api as sm"]
    lines = _block(study, columns, dropped)
    is_whole = columns.size == len(study.names)
    names = "design.names" if is_whole else "numpy.array(design.names)[columns]"
    lines.append(f"X = pandas.DataFrame(X, columns={names})")
    if study.fit_intercept and study.family != "ordinal":
        lines.append('X.insert(0, "intercept", 1.0)')
    refit = study.given.refit
    if refit and not (refit.startswith("sm.Logit") and study.is_weighted):
        fit = refit.format(X="X", y=y, weights=weights)
    elif study.family == "ordinal":
        imports.append("from statsmodels.miscmodels.ordinal_model import OrderedModel")
        fit = f'OrderedModel({y}, X, distr="logit").fit(method="bfgs", disp=False)'
    elif study.family == "multinomial":
        fit = f"sm.MNLogit({y}, X).fit(disp=False)"
    elif (
        study.family == "binomial" and study.outcome.is_labels and not study.is_weighted
    ):
        fit = f"sm.Logit({y}, X).fit(disp=False)"
    else:
        family = "Poisson" if study.family == "poisson" else "Binomial"
        fit = f"sm.GLM({y}, X, sm.families.{family}(), freq_weights={weights}).fit()"
    return _code(imports, [*lines, f"fit = {fit}"])


def _code(imports: list[str], lines: list[str]) -> str:
    """Put imports before lines of code, and what must be installed before these."""
    if any("numpy." in line for line in lines):
        imports = ["import numpy", *imports]
    extras = [name for name in EXTRAS if any(name in line for line in imports)]
    needed = [f"# pip install {name}" for name in extras]
    return "\n".join([*needed, *imports, "", *lines])


def _block(study: Study, columns: Index, dropped: Index | None = None) -> list[str]:
    """Write code for some columns as a dense X, without the rows dropped."""
    lines = ["design = answer.design()"]
    X = "design.X"
    if dropped is not None:
        which = "design.separated"
        if dropped.size <= MOST_WRITTEN:
            which = str(dropped.tolist())
        lines.append(f"rows = numpy.delete(numpy.arange(len(design.y)), {which})")
        X += "[rows]"
    n_columns = len(study.names)
    if columns.size < n_columns:
        gone = np.setdiff1d(np.arange(n_columns), columns)
        chosen = f"numpy.array({columns.tolist()}, dtype=int)"
        if gone.size < columns.size:
            chosen = f"numpy.delete(numpy.arange({n_columns}), {gone.tolist()})"
        lines.append(f"columns = {chosen}")
        X += "[:, columns]"
    lines.append(f"X = {X}{'.toarray()' * is_sparse(study.X)}")
    return lines
