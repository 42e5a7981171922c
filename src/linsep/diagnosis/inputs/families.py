"""The families of regressions, and what else people call them."""

from __future__ import annotations

from typing import Any

from linsep.input import InputError
from linsep.input.errors import did_you_mean

FAMILIES = (
    "binomial",
    "poisson",
    "multinomial",
    "ordinal",
    "conditional",
    "cox",
    "cox exact",
    "paired",
    "conditional poisson",
    "davidson",
)
# Of two in each row: ties as half wins, or with an effect of their own.
PAIRED = ("paired", "davidson")
# Of times to an event: tied events in the way of Breslow and Efron, or exactly.
OF_TIMES = ("cox", "cox exact")
# Rows are compared with others, so that a constant cancels.
OF_GROUPS = ("conditional", "conditional poisson")
COMPARING = (*OF_GROUPS, *OF_TIMES)
# Thresholds, or the constants of groups, stand in the others' place of an intercept.
WITH_INTERCEPT = ("binomial", "poisson", "multinomial")

_OTHER_NAMES = {
    "binomial": "bernoulli, logit, logistic, probit, cloglog, loglog",
    "poisson": "log, log link, negativebinomial, negative binomial, quasipoisson",
    "multinomial": "mnlogit, multinomial logit, softmax",
    "ordinal": "ordered, ordered logit, ordered probit, proportional odds, cumulative",
    "conditional": "clogit, conditional logit",
    "paired": "bradley terry, btm",
    "cox": "coxph, proportional hazards, breslow, efron",
    "cox exact": "coxexact",
}
_SYNONYMS = {
    other: family for family, text in _OTHER_NAMES.items() for other in text.split(", ")
}
# Families of which, with a log link, zero bounds one side and more than zero both.
_LOG_LINK = ("Poisson", "NegativeBinomial", "Gamma", "InverseGaussian")
# Links of a binomial model for which the two tails of the likelihood are the same
# question. (The log and identity links bound the linear predictor.)
_BINOMIAL_LINKS = {"Logit", "Probit", "CLogLog", "LogLog", "CDFLink", "logit", "probit"}


def family_named(family: object) -> str:
    """Return the family meant by a name, a synonym or a family of statsmodels.

    Raises
    ------
    InputError
        If there is no such family.

    Examples
    --------
    >>> family_named("logit"), family_named("Negative-Binomial")
    ('binomial', 'poisson')
    """
    if isinstance(family, str):
        name = " ".join(family.casefold().replace("-", " ").replace("_", " ").split())
        name = _SYNONYMS.get(name, name)
        if name in FAMILIES:
            return name
        hint = did_you_mean(name, [*FAMILIES, *_SYNONYMS])
    else:
        made: Any = family
        if isinstance(family, type) and hasattr(family, "links"):
            made = family()
        if hasattr(made, "link"):
            return family_of_glm(made)
        hint = ""
    raise InputError(
        f"family must be one of {', '.join(map(repr, FAMILIES))}, a usual other name "
        "of these such as 'logit', or a family of statsmodels such as "
        f"families.Poisson(), got {family!r}{hint and '; '}{hint}"
    )


def family_of_glm(family: Any) -> str:
    """Return what a family of statsmodels' generalised linear models is here."""
    name, link = type(family).__name__, type(family.link).__name__
    if name == "Binomial" and link in _BINOMIAL_LINKS:
        return "binomial"
    if name in _LOG_LINK and link in ("Log", "log"):
        return "poisson"
    raise InputError(
        "a GLM must have a Binomial family with a logit, probit, cloglog or loglog "
        f"link, or one of {', '.join(_LOG_LINK)} with a log link, got "
        f"{name} with link {link}; other links bound the coefficients in other ways"
    )
