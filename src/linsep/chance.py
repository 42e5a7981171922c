"""What separation says: how likely random labels are to be separable."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linsep.input import InputError, checked_count, checked_seed, checked_time_limit
from linsep.input.problem import problem_from
from linsep.labellings import share_of_labellings
from linsep.result import Status
from linsep.rows import rows_from
from linsep.search.limits import Clock, Limits, Monitor
from linsep.search.separator_search import find_separator

if TYPE_CHECKING:
    from linsep.input.types import FeaturesLike, LabelsLike


def capacity(n_samples: int, n_features: int, *, fit_intercept: bool = True) -> float:
    r"""Return the share of all labellings of points that a hyperplane separates.

    Cover's function, ``2^{1 - n} sum_{k < r} binom(n - 1, k)`` with ``r = n_features +
    1`` (``n_features`` without an intercept): 1 where there are no more points than r,
    1/2 at twice as many. It holds for points in general position; for others it is an
    upper bound.

    Parameters
    ----------
    n_samples : int
        Points, >= 1.
    n_features : int
        Features, >= 0.
    fit_intercept : bool, default=True
        Whether hyperplanes need not pass through the origin.

    Returns
    -------
    float
        In [0, 1].

    Raises
    ------
    InputError
        If a number is not a count.

    References
    ----------
    T. M. Cover, "Geometrical and statistical properties of systems of linear
    inequalities with applications in pattern recognition", IEEE Transactions on
    Electronic Computers EC-14, 1965, doi:10.1109/PGEC.1965.264137, theorem 1.

    Examples
    --------
    >>> import linsep
    >>> linsep.capacity(200, 300), linsep.capacity(602, 300)
    (1.0, 0.5)
    >>> round(linsep.capacity(5, 2), 4)  # 22 of 32
    0.6875
    """
    n = checked_count("n_samples", n_samples)
    width = checked_count("n_features", n_features, least=0) + bool(fit_intercept)
    return share_of_labellings(n, width) if width else 0.0


@dataclass(frozen=True)
class PermutationTest:
    """How often the labels are separable once they are shuffled.

    Attributes
    ----------
    n_permutations : int
        Shufflings tried.
    n_separable : int
        Those that a hyperplane separates.
    n_undecided : int
        Those not decided within the limits; they count as separable in `p_value`.
    """

    n_permutations: int
    n_separable: int
    n_undecided: int

    @property
    def p_value(self) -> float:
        """``(1 + n_separable + n_undecided) / (1 + n_permutations)``.

        The chance, at most, that labels without any relation to the rows would be
        separable; of interest where the labels given are.
        """
        likely = 1 + self.n_separable + self.n_undecided
        return likely / (1 + self.n_permutations)


def permutation_test(
    X: FeaturesLike,
    y: LabelsLike,
    *,
    n_permutations: int = 99,
    fit_intercept: bool = True,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> PermutationTest:
    """Shuffle the labels, and count how often they are separable all the same.

    Cover's count (`capacity`) is about points in general position; this asks the points
    themselves. Each shuffling is decided as `linsep.separate` does.

    Parameters
    ----------
    X : array-like, sparse matrix or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        Two classes.
    n_permutations : int, default=99
        Shufflings, >= 1.
    fit_intercept : bool, default=True
    time_limit : float, optional
        Seconds at most for all of them; those left count as undecided.
    random_state : int, optional
        Seed of the shufflings; None is 0.

    Returns
    -------
    PermutationTest

    Raises
    ------
    InputError
        If the data or an argument cannot be used.

    Examples
    --------
    >>> import linsep
    >>> X, y = [[k] for k in range(20)], [0] * 10 + [1] * 10
    >>> linsep.permutation_test(X, y, n_permutations=19).p_value
    0.05
    """
    count = checked_count("n_permutations", n_permutations)
    clock, limit = Clock(), checked_time_limit(time_limit)
    problem = problem_from(X, y, fit_intercept=fit_intercept)
    if len(problem.classes) != 2:
        raise InputError(
            f"y must hold two classes, got one ({problem.classes[0]!r}); there is "
            "nothing to shuffle"
        )
    features = problem.rows.features(slice(None))
    rng = np.random.default_rng(checked_seed(random_state))
    found = Counter[Status]()
    for _ in range(count):
        signs = rng.permutation(problem.rows.signs)
        rows = rows_from(features, signs, problem.rows.fit_intercept)
        monitor = Monitor(Limits(time_limit=max(0.0, limit - clock.elapsed())))
        found[find_separator(rows, monitor, 0).status] += 1
    return PermutationTest(count, found[Status.SEPARABLE], found[Status.UNDECIDED])
