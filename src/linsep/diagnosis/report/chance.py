"""Would random labels separate as well? Cover's count of separable labellings."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from math import comb, exp, log

from linsep.labellings import (
    EXACT_ROWS,
    log_binomial,
    log_share,
    separable_labellings,
)

# A chance above this makes separation say little.
LIKELY = 0.05
# A bound above this says nothing.
ALMOST_ONE = 0.99


@dataclass(frozen=True)
class Chance:
    """Probabilities that random labels would be separated completely.

    Attributes
    ----------
    any_balance : float
        An upper bound over labels drawn by fair coins; exact for rows in general
        position.
    same_balance : float
        An upper bound over labels with as many of each class as were observed.
    """

    any_balance: float
    same_balance: float


def chance_of_separation(n_rows: int, rank: int, n_positive: int) -> Chance:
    r"""Bound the probability that random labels on distinct rows are separable.

    At most ``C(N, r) = 2 sum_{k < r} binom(N - 1, k)`` of the ``2^N`` labellings of N
    distinct rows are separable by a hyperplane through the origin of their r
    dimensions (the intercept counted as one), with equality in general position. Of
    these no more than half, or all if the classes are equal in number, have a given
    number of positive labels, because the opposite labelling is separable too.

    Parameters
    ----------
    n_rows : int
        Distinct rows, >= 1.
    rank : int
        Of the design, the intercept counted.
    n_positive : int
        How many of them are in the last class.

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear
    inequalities with applications in pattern recognition", IEEE Transactions on
    Electronic Computers EC-14, 1965, doi:10.1109/PGEC.1965.264137.

    Examples
    --------
    >>> chance_of_separation(5, 3, 2).any_balance  # 22 of 32
    0.6875
    """
    if rank >= n_rows:
        return Chance(1.0, 1.0)
    halves = 2 if 2 * n_positive == n_rows else 1
    if n_rows <= EXACT_ROWS:
        count = separable_labellings(n_rows, rank)
        balanced = _ratio(halves * count, 2 * comb(n_rows, n_positive))
        return Chance(_ratio(count, 2**n_rows), balanced)
    any_balance = log_share(n_rows, rank)
    log_count = any_balance + n_rows * log(2.0)
    return Chance(
        exp(any_balance),
        exp(min(0.0, log_count + log(halves / 2) - log_binomial(n_rows, n_positive))),
    )


def chance_sentence(
    n_rows: int, rank: int, n_positive: int, overlaps: bool
) -> str | None:
    """Say what the bounds are, and whether complete separation is informative.

    Parameters
    ----------
    n_rows, rank, n_positive
        As of `chance_of_separation`.
    overlaps : bool
        Whether the data overlap, and the bounds are for comparison only.

    Returns
    -------
    str or None
        None where there is nothing to compare: the bound is one, or nearly.
    """
    if rank >= n_rows and not overlaps:
        return (
            f"Any labels would be separable: the {n_rows:,} distinct rows are linearly "
            f"independent, so a hyperplane separates each of their 2^{n_rows} "
            "labellings (Cover 1965), and this says nothing about these labels."
        )
    chance = chance_of_separation(n_rows, rank, n_positive)
    any_balance, same_balance = map(
        _rounded_up, (chance.any_balance, chance.same_balance)
    )
    start, up_to = "Separation says little here", "up to"
    if overlaps or chance.any_balance <= LIKELY >= chance.same_balance:
        if chance.any_balance > ALMOST_ONE:
            return None
        start = "For comparison" if overlaps else "Separation is informative here"
        up_to = "at most"
    elif chance.any_balance <= LIKELY:
        few = min(n_positive, n_rows - n_positive)
        share = f"a share of up to {same_balance}"
        return (
            f"{start}: one class has only {few:,} of {n_rows:,} distinct rows of rank "
            f"{rank}, and of all labels like that "
            f"{'perhaps all' if same_balance == '1' else share} would be separated "
            "completely (Cover 1965)."
        )
    text = (
        f"{start}: random labels on {n_rows:,} distinct rows of rank {rank} would be "
        f"separated completely with probability {up_to} {any_balance} (Cover 1965)"
    )
    if chance.same_balance <= ALMOST_ONE:
        of_them = f"with {n_positive:,} of them in the last class"
        text += f"; {of_them}, {up_to} {same_balance}"
    return f"{text}."


def _rounded_up(probability: float) -> str:
    """Write a bound on a probability, rounded upwards."""
    if probability < 1e-300:
        return "1e-300"
    with localcontext(prec=2, rounding=ROUND_CEILING):
        return f"{float(+Decimal(probability)):.2g}"


def _ratio(count: int, total: int) -> float:
    """Divide integers of any size; not above 1."""
    return min(1.0, count / total)
