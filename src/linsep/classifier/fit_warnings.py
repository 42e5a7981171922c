"""What a fit warns of: that something asked for was not had."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from sklearn.exceptions import ConvergenceWarning

from linsep.classifier.fitted import Fitted, Settings
from linsep.search.reasons import is_limit


class FitWarning(ConvergenceWarning):  # type: ignore[misc]
    """A fit ended before it had all it was asked for; the message says what and why.

    That classes overlap is no reason: it is what `linsep.OptimisticPerceptron` expects,
    unless a hyperplane that separates was asked for.
    """


def warn_of(fits: Sequence[Fitted], settings: Settings) -> None:
    """Say what kept the classes from being separated, or ended a search or a fit."""
    answers = [one.separation for one in fits]
    if settings.is_hard:
        told = [answer.message for answer in answers if answer.separable is not True]
        if told:
            used = ", ".join(f"{one.nu:.4g}" for one in fits if one.nu is not None)
            warnings.warn(
                f"{told[0]} The fit judges the worst share nu={used} of the margins "
                "instead; separation_ holds the proof.",
                FitWarning,
                stacklevel=5,
            )
    else:
        ended = [a.message for a in answers if a.separable is None]
        for message in filter(is_limit, ended[:1]):
            warnings.warn(
                f"{message} The fit itself is complete; separation_ is undecided.",
                FitWarning,
                stacklevel=5,
            )
    for one in fits:
        if not one.closed:
            warnings.warn(
                f"The capped game's interval {one.value} is wider than "
                f"tol={settings.tol}; scale the features, or allow a larger tol.",
                FitWarning,
                stacklevel=5,
            )
            return
