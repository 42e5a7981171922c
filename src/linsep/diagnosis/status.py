"""What a diagnosis may say."""

from enum import StrEnum


class Kind(StrEnum):
    """The three ways data and model can stand to each other, and a fourth.

    - ``complete``: some direction fits every row perfectly in the limit.
    - ``quasi-complete``: some rows, the ``separated_rows``, but not all.
    - ``overlap``: none. Estimates of all identified coefficients exist.
    - ``undecided``: the time ran out first.
    """

    COMPLETE = "complete"
    QUASI_COMPLETE = "quasi-complete"
    OVERLAP = "overlap"
    UNDECIDED = "undecided"
