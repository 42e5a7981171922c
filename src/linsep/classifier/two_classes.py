"""Fit two classes: the largest margin where it exists, the capped game elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.classifier.samples import Samples
from linsep.input import InputError, Problem
from linsep.result import LargestMargin, Separation
from linsep.rows import is_sparse, rows_from
from linsep.rows._sweeps import column_moments, moved_rows
from linsep.search.answers import Verdict, not_asked, one_class, result_of
from linsep.search.limits import Callback, Limits, Monitor
from linsep.search.margin_search import find_largest_margin
from linsep.search.separator_search import find_separator
from linsep.solvers.scaling import exponent_above
from linsep.solvers.soft_margin.game import largest_nu, solve_capped
from linsep.solvers.soft_margin.tempered import TEMPERATURE, solve_tempered

# Sparse rows are made dense up to this many entries, where that must be.
MOST_DENSE = 30_000_000
# Sparse rows of fewer columns than this are made dense to be faster.
FEW_COLUMNS = 300
# Entries up to two to these powers have squares and fourth powers in the range of
# doubles.
SQUARES_FIT, FOURTH_POWERS_FIT = 480, 200
# A margin this close to the dividing one counts as on it.
ON_THE_LINE = 1e-3


@dataclass(frozen=True)
class Settings:
    """What an estimator was asked for, checked.

    Attributes
    ----------
    objective : {"separate", "max_margin"}
    nu : float or "auto"
    temperature : float
        0 is the capped game itself.
    fit_intercept, standardize : bool
    tol : float
    max_passes : int
    time_limit : float or None
    seed : int
    callback : callable or None
    """

    objective: str
    nu: float | str
    temperature: float
    fit_intercept: bool
    standardize: bool
    tol: float
    max_passes: int
    time_limit: float | None
    seed: int
    callback: Callback | None = None


@dataclass(frozen=True)
class Fitted:
    """A fitted hyperplane, or one for each class.

    Attributes
    ----------
    coef : ndarray of shape (k, d)
    intercept : ndarray of shape (k,)
    separation : Separation
        Whether the classes can be separated at all.
    support : ndarray of int
        Rows that carry the solution.
    nu : float or None
        The share of margins that are judged; None where the worst one is.
    value : tuple of two floats or None
        The interval that holds the capped game's value.
    closed : bool
        Whether the interval was closed to the tolerance.
    n_iter : int
    temperature : float
        What a nat cost the data player, in the units of the margins.
    """

    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    separation: Separation
    support: NDArray[np.intp]
    nu: float | None = None
    value: tuple[float, float] | None = None
    closed: bool = True
    n_iter: int = 0
    temperature: float = 0.0


def problem_of(
    X: Any,
    labels: NDArray[np.intp],
    classes: NDArray[Any],
    names: tuple[str, ...] | None,
    fit_intercept: bool,
) -> Problem:
    """Return checked arrays as a problem; label 0 is the negative side."""
    present = np.unique(labels)
    top = int(present[-1])
    signs = np.where(labels == top, 1, -1).astype(np.int8)
    return Problem(rows_from(X, signs, fit_intercept), classes, names, fit_intercept)


def monitor_of(settings: Settings) -> Monitor:
    """Start the clock of a search, within the limits that were asked for."""
    limits = Limits.checked(
        max_passes=settings.max_passes, time_limit=settings.time_limit
    )
    return Monitor(limits, settings.callback)


def verdict_on(rows: Any, monitor: Monitor, settings: Settings) -> Verdict:
    """Run the search that the objective asks for."""
    rng = np.random.default_rng(settings.seed)
    if settings.objective == "max_margin":
        return find_largest_margin(rows, monitor, rng, settings.tol)
    return find_separator(rows, monitor, rng)


def separation_of(
    samples: Samples, whole: Problem, kept: NDArray[np.intp], settings: Settings
) -> Separation:
    """Search the distinct rows; word the answer for the rows given.

    Parameters
    ----------
    samples : Samples
        The distinct rows that are searched.
    whole : Problem
        The rows given, those of weight zero left out: the proof is about these.
    kept : ndarray of int
        Which of the rows given they are.
    """
    distinct = problem_of(
        samples.X, samples.labels, whole.classes, None, whole.fit_intercept
    )
    whole = replace(whole, present=kept)
    monitor = monitor_of(settings)
    record = LargestMargin if settings.objective == "max_margin" else Separation
    if np.unique(samples.labels).size == 1 and whole.fit_intercept:
        alone = replace(whole, classes=whole.classes[-1:])
        return one_class(alone, monitor.effort, record)
    verdict = verdict_on(distinct.rows, monitor, settings)
    numbers = np.searchsorted(kept, samples.index)
    if verdict.conflict is not None and verdict.conflict_weights is not None:
        rows = numbers[verdict.conflict]
        order = np.argsort(rows)
        verdict = replace(
            verdict,
            conflict=rows[order],
            conflict_weights=tuple(verdict.conflict_weights[i] for i in order),
        )
    if verdict.support is not None:
        verdict = replace(verdict, support=numbers[verdict.support])
    return result_of(whole, verdict, monitor.effort, monitor.interval, record)


def fit_two_classes(
    samples: Samples, whole: Problem, kept: NDArray[np.intp], settings: Settings
) -> Fitted:
    """Fit labels 0 and 1."""
    if np.unique(samples.labels).size == 1:
        separation = separation_of(samples, whole, kept, settings)
        sign = 1.0 if samples.labels[0] == 1 else -1.0
        return Fitted(
            np.zeros((1, whole.n_features)),
            np.array([sign]),
            separation,
            np.empty(0, dtype=np.intp),
        )
    if settings.nu == "auto":
        separation = separation_of(samples, whole, kept, settings)
        if separation.coef is not None:
            return _from_separation(separation)
        return soft_margin(samples, None, settings, separation)
    nu = float(settings.nu)
    _require_possible(nu, samples, settings.fit_intercept)
    return soft_margin(samples, nu, settings, not_asked(whole, nu))


def soft_margin(
    samples: Samples, nu: float | None, settings: Settings, separation: Separation
) -> Fitted:
    """Play the capped game on two classes; without a share, choose one.

    The hyperplane is scaled so that the margin which divides the rows at their caps
    from the rest is 1, as in scikit-learn's NuSVC.
    """
    features = game_features(samples.X, settings.temperature)
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    free = settings.fit_intercept
    rows, centre, scale = _signed(features, signs, samples.weights, settings)
    if settings.temperature > 0.0 or nu is None:
        temperature = settings.temperature or TEMPERATURE
        game = solve_tempered(
            rows,
            signs,
            samples.weights,
            nu,
            free=free,
            temperature=temperature,
            tol=settings.tol,
        )
        nu = game.nu
    if settings.temperature == 0.0:
        assert nu is not None
        game = solve_capped(
            rows, signs, samples.weights, nu, free=free, tol=settings.tol
        )
    length = game.level if game.level > 0 else 1.0
    coef = game.w / scale / length
    intercept = game.offset / length - float(coef @ centre)
    if not coef.any():  # no direction pays: the heavier class is all there is to say
        intercept = 1.0 if samples.weights @ signs > 0 else -1.0
    return Fitted(
        coef[None, :],
        np.array([intercept]),
        separation,
        _carriers(samples, coef, intercept),
        nu,
        (game.value_lower, game.value_upper),
        game.closed,
        separation.n_rounds + game.n_iterations,
        game.temperature,
    )


def _signed(
    X: Any,
    signs: NDArray[np.float64],
    weights: NDArray[np.float64],
    settings: Settings,
) -> tuple[Any, NDArray[np.float64], NDArray[np.float64]]:
    """Return signed rows ``(x - centre) / scale``, and what they were moved by."""
    if is_sparse(X):
        # Rare columns of sparse rows would outweigh all others if they were scaled up.
        from scipy.sparse import diags_array

        scale = np.full(X.shape[1], _common_scale(X))
        return (diags_array(signs / scale[0]) @ X).tocsr(), np.zeros(X.shape[1]), scale
    return standardized(X, signs, weights, settings)


def standardized(
    X: NDArray[np.float64],
    signs: NDArray[np.float64],
    weights: NDArray[np.float64],
    settings: Settings,
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return new rows ``sign (x - centre) / scale``, and what they were moved by.

    The centre is the mean where a free intercept undoes it, else zero.
    """
    X = np.ascontiguousarray(X)
    share = weights / weights.sum()
    mean, largest, peak, square = np.zeros((4, X.shape[1]))
    column_moments(X, share, mean, largest, peak, square)
    if settings.standardize:
        scale = np.sqrt(square)
        extreme = (peak > 0) & (np.abs(np.frexp(peak)[1]) > SQUARES_FIT)
        unit = (X[:, extreme] - mean[extreme]) / peak[extreme]
        scale[extreme] = peak[extreme] * np.sqrt(share @ (unit * unit))
        scale[scale <= 1e-12 * largest] = 1.0  # constant but for rounding
    else:
        scale = np.full(X.shape[1], _common_scale(peak))
    centre = mean if settings.fit_intercept else np.zeros(X.shape[1])
    moved = np.empty(X.shape)
    moved_rows(X, centre, scale, signs, moved)
    return moved, centre, scale


def _common_scale(X: Any) -> float:
    """Return 1, or a power of two that brings entries far from it to about 1."""
    size = exponent_above(X)
    return float(np.ldexp(1.0, size)) if abs(size) > FOURTH_POWERS_FIT else 1.0


def _carriers(
    samples: Samples, coef: NDArray[np.float64], intercept: float
) -> NDArray[np.intp]:
    """Return the rows judged: those whose margin is at most the dividing one, 1."""
    decisions = np.asarray(samples.X @ coef + intercept).ravel()
    signed = decisions * np.where(samples.labels == 1, 1.0, -1.0)
    return np.sort(samples.index[signed <= 1.0 + ON_THE_LINE])


def _from_separation(separation: Separation) -> Fitted:
    assert separation.coef is not None
    assert separation.intercept is not None
    support = separation.support if isinstance(separation, LargestMargin) else None
    return Fitted(
        separation.coef[None, :],
        np.array([separation.intercept]),
        separation,
        support if support is not None else np.empty(0, dtype=np.intp),
        n_iter=separation.n_rounds,
    )


def _require_possible(nu: float, samples: Samples, free: bool) -> None:
    signs = np.where(samples.labels == 1, 1.0, -1.0)
    largest = largest_nu(signs, samples.weights, free)
    if nu > largest * (1.0 + 1e-12):
        raise InputError(
            f"nu must be at most twice the smaller class's share, {largest:.4g}, so "
            f"that both classes can carry half of the weight, got {nu!r}; lower nu, or "
            "pass nu='auto'"
        )


def game_features(X: Any, temperature: float) -> Any:
    """Return rows as a game needs them: sparse ones only at a temperature, if wide."""
    wide = is_sparse(X) and X.shape[1] > FEW_COLUMNS
    return X.astype(np.float64) if wide and temperature > 0.0 else dense_features(X)


def dense_features(X: Any) -> NDArray[np.float64]:
    """Return rows as a dense float64 array, if there is room for it."""
    if not is_sparse(X):
        return np.ascontiguousarray(X, dtype=np.float64)
    n, d = X.shape
    if n * d > MOST_DENSE:
        raise InputError(
            "a soft margin of many classes jointly, or without a temperature, needs X "
            f"to be dense or, as a sparse matrix, of at most {MOST_DENSE:,} entries, "
            f"zeros counted, got {n} x {d}; pass multi_class='ovr' and temperature=0.5"
        )
    return np.asarray(X.toarray(), dtype=np.float64)
