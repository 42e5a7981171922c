"""How many labellings of rows a hyperplane separates: Cover's count."""

from __future__ import annotations

from math import comb, exp, lgamma, log

# Up to this many rows the count is made in exact integers.
EXACT_ROWS = 2000


def separable_labellings(n_rows: int, rank: int) -> int:
    """Return ``2 sum_{k < rank} C(n_rows - 1, k)``, out of ``2 ** n_rows``.

    It is at least the number of labellings of distinct rows of this rank (the constant
    counted, if there is one) that a hyperplane through the origin separates, and is
    that number for rows in general position: any `rank` of them, or all if there are
    fewer, linearly independent (Cover 1965, theorem 1).

    Examples
    --------
    >>> separable_labellings(5, 3)
    22
    """
    return 2 * sum(comb(n_rows - 1, k) for k in range(rank))


def share_of_labellings(n_rows: int, rank: int) -> float:
    """Return `separable_labellings` over ``2 ** n_rows``, at most one.

    Examples
    --------
    >>> share_of_labellings(5, 3)  # 22 of 32
    0.6875
    """
    if rank >= n_rows:
        return 1.0
    if n_rows <= EXACT_ROWS:
        return separable_labellings(n_rows, rank) / (1 << n_rows)
    return exp(log_share(n_rows, rank))


def log_share(n_rows: int, rank: int) -> float:
    """Return the logarithm of the share, for very many rows; 1 <= rank < n_rows."""
    terms = [log_binomial(n_rows - 1, k) for k in range(rank)]
    largest = max(terms)
    total = largest + log(sum(exp(term - largest) for term in terms))
    return min(0.0, total + (1 - n_rows) * log(2.0))


def log_binomial(n: int, k: int) -> float:
    """Return the logarithm of a binomial coefficient."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
