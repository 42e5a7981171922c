"""What a diagnosis may say: of the data, and of each coefficient."""

from __future__ import annotations

from enum import StrEnum


class DiagnosisStatus(StrEnum):
    """The three ways data and model can stand to each other, and a fourth.

    - ``complete``: some direction fits every row perfectly in the limit.
    - ``quasi-complete``: some rows, the ``separated_rows``, but not all.
    - ``overlap``: none. Estimates of all identified coefficients exist.
    - ``undecided``: a limit, the callback or Ctrl-C came first.
    """

    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"
    UNDECIDED = "undecided"


class Estimate(StrEnum):
    """The verdict on a coefficient; compares equal to its text.

    - ``finite``: the maximum likelihood estimate of it exists.
    - ``+inf``, ``-inf``: it diverges, in this direction whichever way it is approached.
    - ``undetermined``: it may diverge either way, or stay; the data do not say.
    - ``aliased``: collinearity leaves it unidentified, separation or not.
    - ``undecided``: the time ran out first.
    """

    FINITE = "finite"
    PLUS = "+inf"
    MINUS = "-inf"
    UNDETERMINED = "undetermined"
    ALIASED = "aliased"
    UNDECIDED = "undecided"
