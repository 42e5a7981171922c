"""`feasible_weights`: whether weights of rows reach given means, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from linsep.arrays import Floats, Index, no_index
from linsep.diagnosis.watch import Watch
from linsep.hull.bounds import gap_errors
from linsep.hull.membership import Hull, HullAnswer, table_of
from linsep.hull.search import HullSearch
from linsep.input import InputError, checked_seed, checked_time_limit
from linsep.input.arguments import checked_array, checked_names
from linsep.input.errors import did_you_mean
from linsep.input.frames import frame_features
from linsep.input.row_names import RowNames, row_names_of
from linsep.wrapping import WIDTH, wrapped

# Digits of the coefficients that a sentence is tried with.
DIGITS = (2, 3, 4, 6, 9, 17)
# How far a target relaxed is moved on into what can be reached, in deviations.
INWARD = 1e-7
# Rows named in a sentence.
MOST_NAMED = 8


@dataclass(frozen=True, eq=False, repr=False)
class FeasibleWeights:
    """What is proved of weights that are to reach given means.

    Attributes
    ----------
    feasible : bool or None
        Whether weights >= 0 with sum one reach all targets; None if time ran out.
    targets : dict of str to float
    weights : dict of int to Fraction, or None
        Such weights, exact, on at most d + 1 rows (the others have none); None unless
        feasible.
    together : tuple of str
        Targets that no weights reach together, though they do without any one of them;
        empty unless infeasible.
    inequality : tuple of (dict of str to float, float, float), or None
        ``(c, most, asked)``: no row has ``c . x`` above `most`, to double precision,
        and the targets ask for `asked`, which is more; None unless infeasible.
    bounding_rows : ndarray of int
        The rows nearest to that bound, which carry the weight of the nearest means.
    nearest : dict of str to float, or None
        The means nearest to the targets that weights reach, distances being counted in
        standard deviations; None unless infeasible.
    relaxed : dict of str to float
        For each target of `together` that may be moved alone: a value near the
        closest one that weights are proved to reach, all other targets kept.
    """

    feasible: bool | None
    targets: dict[str, float]
    together: tuple[str, ...] = ()
    inequality: tuple[dict[str, float], float, float] | None = None
    bounding_rows: Index = field(default_factory=no_index)
    nearest: dict[str, float] | None = None
    relaxed: dict[str, float] = field(default_factory=dict)
    _answer: HullAnswer | None = None
    _n_rows: int = 0
    _row_names: RowNames = field(default_factory=RowNames)

    @property
    def weights(self) -> dict[int, Fraction] | None:
        """Exact weights that reach the targets; made when asked for."""
        return None if self._answer is None else self._answer.weights

    @cached_property
    def face(self) -> Index | None:
        """The rows that can have weight at all; None unless feasible."""
        return None if self._answer is None else self._answer.face

    @property
    def all_positive(self) -> bool | None:
        """Whether weights > 0 on every row reach the targets; None unless feasible.

        Entropy balancing, raking and their like have a solution only if so.
        """
        return None if self.face is None else self.face.size == self._n_rows

    def __repr__(self) -> str:
        """Show the summary."""
        return self.summary()

    def summary(self, width: int = WIDTH) -> str:
        """Say it in sentences, on lines of this width."""
        return "\n".join(wrapped(line, width) for line in self._sentences())

    def _sentences(self) -> list[str]:
        asked = _listed(self.targets)
        if self.feasible is None:
            return [f"Undecided: time ran out before it was known of {asked}."]
        if self.feasible:
            return self._of_weights(asked)
        assert self.inequality is not None
        c, most, value = self.inequality
        some = {name: self.targets[name] for name in self.together}
        told = [f"No weights reach {_listed(some)}{' together' * (len(some) > 1)}."]
        left, right = _numbers(most, value)
        told.append(
            f"No row has {_combination(c)} above {left}; the targets ask for {right}."
        )
        rows = self.bounding_rows
        bounding = self._row_names.some(rows, MOST_NAMED)
        noun = self._row_names.noun + "s" * (rows.size > 1)
        told.append(f"{noun.capitalize()} {bounding} bound{'s' * (rows.size == 1)} it.")
        if self.nearest is not None:
            told.append(
                "Nearest that weights reach, in standard deviations: "
                f"{_listed(self.nearest)}."
            )
        if self.relaxed:
            ways = [f"{name} to {value:.6g}" for name, value in self.relaxed.items()]
            told.append(f"Of one target alone it takes {', or '.join(ways)}.")
        return told

    def _of_weights(self, asked: str) -> list[str]:
        assert self.weights is not None
        assert self.face is not None
        told = [
            f"Weights reach {asked}: exactly so on {len(self.weights)} of "
            f"{self._n_rows:,} rows."
        ]
        if self.all_positive:
            return [*told, "Weights that are positive on every row reach them too."]
        some = self._row_names.some(self.face, MOST_NAMED)
        return [
            *told,
            f"Only {self.face.size:,} of the rows can have weight ({some}): the "
            "targets are at the edge of what can be reached, and methods that "
            "need positive weights on all rows, such as entropy balancing, fail.",
        ]


def feasible_weights(
    X: Any,
    targets: Mapping[str, float] | Sequence[float],
    *,
    feature_names: Sequence[str] | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> FeasibleWeights:
    """Tell whether rows can be weighted so that the columns have given means.

    Weights ``p >= 0`` with sum one and ``sum_i p_i x_i = t`` exist iff the targets lie
    in the convex hull of the rows. That is what entropy balancing, matching-adjusted
    indirect comparison (MAIC), raking to known margins, and the moments of an
    exponential family need. If they do not exist, the answer names targets that no
    weights reach together, the rows that bound them, the nearest means that can be
    reached, and by how much a target must give way.

    Parameters
    ----------
    X : array-like or frame of shape (n, d)
        Finite numbers; for shares, columns of 0 and 1. For second moments, columns of
        squares.
    targets : mapping of str to float, or sequence of d floats
        The means that are wanted: of the columns named, or of all.
    feature_names : sequence of str, optional
        Names of the columns, in place of a frame's, or x0, x1, ...
    time_limit : float, optional
        Seconds at most, > 0.
    random_state : int, optional
        Seed of the search; None is 0. No verdict depends on it.

    Returns
    -------
    FeasibleWeights

    Raises
    ------
    InputError
        If X is no table of finite numbers, or the targets are not of its columns.

    References
    ----------
    J. Hainmueller, "Entropy balancing for causal effects", Political Analysis 20, 2012,
    doi:10.1093/pan/mpr025; J. E. Signorovitch et al., "Comparative effectiveness
    without head-to-head trials", PharmacoEconomics 28, 2010, doi:10.2165/11538370.

    Examples
    --------
    >>> import linsep
    >>> patients = [[40, 0], [50, 1], [60, 0], [45, 1]]
    >>> linsep.feasible_weights(patients, [50, 0.5], feature_names=["age", "female"])
    Weights reach age 50 and female 0.5: exactly so on 3 of 4 rows.
    Weights that are positive on every row reach them too.
    >>> print(linsep.feasible_weights(patients, {"x0": 57, "x1": 0.71}).summary())
    No weights reach x0 57 and x1 0.71 together.
    No row has 0.1*x0 + x1 above 6; the targets ask for 6.41.
    Rows 1, 2 bound it.
    Nearest that weights reach, in standard deviations: x0 54.1863 and x1 0.581373.
    Of one target alone it takes x0 to 52.9, or x1 to 0.3.
    """
    values, names, wanted = _read(X, targets, feature_names)
    watch, seed = Watch(checked_time_limit(time_limit)), checked_seed(random_state)
    asked = _Asked(values, wanted, seed, watch)
    answer = asked.answer()
    found = FeasibleWeights(
        answer.inside,
        dict(zip(names, wanted.tolist(), strict=True)),
        _answer=answer if answer.inside else None,
        _n_rows=len(values),
        _row_names=row_names_of(X),
    )
    if answer.inside is not False:
        return found
    some = asked.fewest()
    part, together = asked.part(some), [names[j] for j in some]
    search = part.nearest()
    means = _weighted(asked.nearest(), values)
    c, most, value = part.inequality(search.direction[0])
    relaxed = asked.relaxed(some)
    return replace(
        found,
        together=tuple(together),
        inequality=(dict(zip(together, c, strict=True)), most, value),
        bounding_rows=np.sort(_held(search)),
        nearest=None
        if means is None
        else dict(zip(names, means.tolist(), strict=True)),
        relaxed={names[j]: value for j, value in relaxed.items()},
    )


def _read(
    X: Any,
    targets: Mapping[str, float] | Sequence[float],
    feature_names: Sequence[str] | None,
) -> tuple[Floats, tuple[str, ...], Floats]:
    """Return the columns that have targets, their names, and the targets."""
    values = table_of(X, "X")
    from_frame = frame_features(X)
    own = None if from_frame is None else from_frame[1]
    d = values.shape[1]
    names = own or tuple(f"x{j}" for j in range(d))
    if feature_names is not None:
        names = checked_names(feature_names, d)
    if not isinstance(targets, Mapping):
        return values, names, checked_array("targets", targets, (d,))
    strange = [str(name) for name in targets if name not in names]
    if strange or not targets:
        hint = did_you_mean(strange[0], names) if strange else ""
        raise InputError(
            "targets must name columns of X, one at least, got "
            f"{strange[0] if strange else 'none'!r}{hint and '; '}{hint}"
        )
    columns = [j for j, name in enumerate(names) if name in targets]
    chosen = tuple(names[j] for j in columns)
    wanted = checked_array("targets", [targets[n] for n in chosen], (len(chosen),))
    return np.ascontiguousarray(values[:, columns]), chosen, wanted


@dataclass(frozen=True)
class _Asked:
    """Rows, the means they are wanted to have, and how long to look for that."""

    values: Floats
    wanted: Floats
    seed: int
    watch: Watch

    def part(self, columns: Index) -> _Asked:
        """Return the same of some columns alone."""
        values = np.ascontiguousarray(self.values[:, columns])
        return replace(self, values=values, wanted=self.wanted[columns])

    def answer(self) -> HullAnswer:
        """Tell whether weights reach the means."""
        query = self.wanted[np.newaxis]
        found: HullAnswer = Hull(self.values, query, self.seed, self.watch)[0]
        return found

    def fewest(self) -> Index:
        """Drop targets, one after the other, as long as the rest cannot be reached."""
        some = np.arange(self.wanted.size)
        for j in range(self.wanted.size):
            rest = some[some != j]
            if rest.size == 0 or self.watch.is_over():
                break
            if self.part(rest).answer().inside is False:
                some = rest
        return some

    def nearest(self) -> HullSearch:
        """Search for the point of the hull that is nearest."""
        rng, queries = np.random.default_rng(self.seed), self.wanted[np.newaxis]
        is_over = self.watch.is_over
        found = HullSearch(self.values, queries, rng, is_over, nearest=True)
        found.run()
        return found

    def inequality(self, away: Floats) -> tuple[list[float], float, float]:
        """Write a hyperplane beside all rows, with as few digits as it takes."""
        rows, ends = self.values, self.wanted
        largest = np.abs(rows).max(axis=0)
        unit = float(np.abs(away).max())
        if unit > 0 and np.isfinite(unit):
            for digits in DIGITS:
                c = np.array([float(f"{-x / unit:.{digits - 1}e}") for x in away])
                most, asked = float((rows @ c).max()), float(ends @ c)
                error = gap_errors(c[np.newaxis], largest, ends[np.newaxis])[0]
                if asked - most > 2 * error:
                    return c.tolist(), most, asked
        exact = self.answer()
        assert exact.hyperplane is not None
        coefficients, bound = exact.hyperplane
        terms = zip(coefficients, ends.tolist(), strict=True)
        asked = float(sum(c * Fraction(x) for c, x in terms))
        return [float(c) for c in coefficients], float(bound), asked

    def relaxed(self, some: Index) -> dict[int, float]:
        """Find how far each target alone must give way; what is proved is kept."""
        from scipy.optimize import linprog

        found = {}
        with np.errstate(over="ignore", invalid="ignore"):
            # Where it overflows, nothing is added to the step.
            spread = np.nan_to_num(self.values.std(axis=0), posinf=0.0)
        n, d = self.values.shape
        for j in some.tolist():
            if self.watch.is_over():
                break
            # Weights, and how far the mean falls short of the target or is beyond it.
            moved = np.zeros((d + 1, 2))
            moved[j] = 1.0, -1.0
            solved = linprog(
                np.append(np.zeros(n), [1.0, 1.0]),
                A_eq=np.hstack([np.vstack([self.values.T, np.ones(n)]), moved]),
                b_eq=np.append(self.wanted, 1.0),
                method="highs",
            )
            if solved.x is None:
                continue
            short, beyond = solved.x[-2:]
            step = beyond - short
            inward = np.sign(step) * INWARD * spread[j]
            for change in (step + inward, step):
                trial = self.wanted.copy()
                trial[j] += change
                if replace(self, wanted=trial).answer().inside:
                    found[j] = float(trial[j])
                    break
        return found


def _held(search: HullSearch) -> Index:
    """Return the rows that carry the nearest point."""
    rows = search.support[0]
    return no_index() if rows is None else rows


def _weighted(search: HullSearch, values: Floats) -> Floats | None:
    """Return the means that the weights of a search make."""
    weights = search.weights[0]
    if weights is None or not weights.size or not np.isfinite(weights).all():
        return None
    return np.asarray(weights @ values[_held(search)])


def _listed(targets: Mapping[str, float]) -> str:
    """List targets: "age 62 and female 0.71"."""
    *first, last = [f"{name} {value:.6g}" for name, value in targets.items()]
    return f"{', '.join(first)} and {last}" if first else last


def _combination(c: Mapping[str, float]) -> str:
    """Write a combination of columns: "age - 0.5*female"."""
    text = ""
    for name, value in c.items():
        if value:
            digits = repr(abs(value)).removesuffix(".0")
            size = "" if abs(value) == 1 else f"{digits}*"
            sign = "-" if value < 0 else "+" if text else ""
            text += f" {sign} {size}{name}" if text else f"{sign}{size}{name}"
    return text


def _numbers(*values: float) -> list[str]:
    """Write numbers with as few digits as tell them apart."""
    for digits in range(6, 17):
        told = [f"{value:.{digits}g}" for value in values]
        if len(set(told)) == len(values):
            return told
    return [f"{value:.17g}" for value in values]
