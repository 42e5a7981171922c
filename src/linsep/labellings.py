"""How many labellings of rows a hyperplane separates: Cover's count."""

from __future__ import annotations

from math import comb


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
