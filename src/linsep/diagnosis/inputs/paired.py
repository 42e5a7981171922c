"""Comparisons of two: who played whom, and who won."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Floats, Index
from linsep.diagnosis.inputs.design import study_from
from linsep.diagnosis.inputs.outcomes import Outcome
from linsep.diagnosis.inputs.refusals import refuse_said, require_column
from linsep.diagnosis.inputs.risk_sets import numbered
from linsep.diagnosis.inputs.study import Study
from linsep.input import InputError
from linsep.input.frames import frame_of


def study_from_pairs(
    pairs: Any,
    results: Any = None,
    *,
    sample_weight: Any = None,
    family: str = "paired",
    **options: Any,
) -> Study:
    """Read comparisons as a Bradley-Terry model, or as Davidson's with ties.

    Parameters
    ----------
    pairs : array-like, frame of shape (n, 2 + k), or path
        Two players a row; further columns are covariates of the first against the
        second.
    results : array-like of shape (n,) or str, optional
        1 where the first won, 0 where the second did, 1/2 for a tie, which counts for
        both; or the column of a frame. By default the first won.
    sample_weight : array-like of shape (n,), optional
        Rows of weight zero are absent.
    family : {"paired", "davidson"}, default="paired"
    **options
        What else a call may say; nothing of it goes with this family.
    """
    refuse_said(
        options,
        f"{{}} does not go with family={family!r}, whose columns are players; leave it "
        "out",
    )
    if isinstance(pairs, str | os.PathLike):
        pairs, sample_weight = _of_file(pairs, sample_weight)
    players, covariates, names, results = _columns(pairs, results)
    n = len(players)
    shares = _shares(results, n)
    codes, labels = _numbered(players)
    alike = np.flatnonzero(codes[:, 0] == codes[:, 1])
    if alike.size:
        raise InputError(
            "two players must be compared in each row, got the same one twice in row "
            f"{alike[0]}"
        )
    # A pair stands one way round, so that equal ones are found.
    turned = codes[:, 0] > codes[:, 1]
    wins = np.stack([shares > 0, shares < 1], axis=1)
    wins[turned] = wins[turned][:, ::-1]
    sides = np.sort(codes, axis=1)
    references = reference_players(sides, len(labels))
    X = _design(sides, references, len(labels))
    kept = np.setdiff1d(np.arange(len(labels)), references)
    if covariates.shape[1]:
        from scipy import sparse

        signs = np.where(turned, -1.0, 1.0)[:, np.newaxis]
        X = sparse.csr_array(sparse.hstack([X, sparse.csr_array(covariates * signs)]))
    study = study_from(
        X,
        wins.astype(np.float64),
        family="paired",
        fit_intercept=False,
        sample_weight=sample_weight,
        feature_names=[*(labels[j] for j in kept), *names],
        outcome_name="won",
    )
    present = study.present
    return replace(
        study,
        family=family,
        outcome=study.outcome if family == "paired" else _with_ties(study.outcome),
        players=tuple(labels),
        sides=sides[present],
        has_constant=True,
        notes=(_reference_text([labels[j] for j in references.tolist()]),),
    )


def _with_ties(outcome: Outcome) -> Outcome:
    """Tell ties, which count for both, apart from what was won and lost."""
    lost, won = outcome.has.T
    has = np.stack([lost & ~won, lost & won, won & ~lost], axis=1)
    return replace(outcome, levels=np.array(["lost", "tie", "won"]), has=has)


def pairs_from_rankings(
    rankings: Iterable[Sequence[Any]],
) -> list[tuple[Any, Any]]:
    """Return the comparisons that decide whether a Plackett-Luce model has an estimate.

    A ranking is a choice of its first among all, of its second among the rest, and so
    on. Directions along which that never gets less likely rank the same way, and for
    this it is enough that each is not below the next: these pairs.

    Parameters
    ----------
    rankings : iterable of sequences
        Each from the first to the last; those not ranked are not compared.

    Returns
    -------
    list of pairs
        For ``linsep.diagnose(pairs, family="paired")``, whose verdicts on the players
        are those of the rankings.

    Examples
    --------
    >>> import linsep
    >>> pairs = linsep.pairs_from_rankings([["a", "b", "c"], ["b", "a", "c"]])
    >>> pairs
    [('a', 'b'), ('b', 'c'), ('b', 'a'), ('a', 'c')]
    >>> linsep.diagnose(pairs, family="paired").estimates["c"].value
    '-inf'
    """
    made = []
    for k, ranking in enumerate(rankings):
        order = list(ranking)
        if len(set(order)) < len(order):
            raise InputError(
                f"a ranking must name each once, got {order} in ranking {k}"
            )
        made += list(pairwise(order))
    if not made:
        raise InputError("rankings must hold one of two or more, got none")
    return made


def components(sides: Index, n_players: int, *, by_wins: bool = False) -> Index:
    """Return the number of the group in which each player has met others.

    With `by_wins` each has beaten each other one of the group, directly or by others:
    the first of every row beat the second.
    """
    from scipy import sparse
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(len(sides))
    met: Any = sparse.csr_array((ones, sides.T), shape=(n_players, n_players))
    return np.asarray(
        connected_components(met, directed=by_wins, connection="strong")[1],
        dtype=np.intp,
    )


def reference_players(sides: Index, n_players: int) -> Index:
    """Return of each group that met the player with the most comparisons."""
    group = components(sides, n_players)
    counts = np.bincount(sides.ravel(), minlength=n_players)
    order = np.lexsort((np.arange(n_players), -counts, group))
    first = np.flatnonzero(np.diff(group[order], prepend=-1))
    return np.sort(order[first])


def who_beat_whom(study: Study) -> Index:
    """Return winners and losers, one pair a win, of shape (k, 2); a tie is two."""
    sides = study.sides
    assert sides is not None
    lost, *ties, won = study.outcome.has.T
    for tied in ties:
        lost, won = lost | tied, won | tied
    return np.concatenate([sides[won], sides[lost][:, ::-1]])


def _of_file(path: Any, weights: Any) -> tuple[Any, Any]:
    """Read the columns of a file of comparisons; weights may be one of them."""
    from linsep.input.files import Request, read_columns

    columns = read_columns(path, Request())
    if isinstance(weights, str):
        require_column(weights, columns, "weights")
        weights = columns.pop(weights)
    return columns, weights


def _columns(pairs: Any, results: Any) -> tuple[NDArray[Any], Any, list[str], Any]:
    """Return the players, the covariates and their names, and the results."""
    found = None if isinstance(pairs, Mapping) else frame_of(pairs)
    columns = dict(pairs) if isinstance(pairs, Mapping) else {}
    if found is not None:
        columns = {name: found[0][name].to_numpy() for name in found[1]}
    elif not columns:
        return *_rows(pairs), results
    if isinstance(results, str):
        require_column(results, columns, "y")
        results = columns.pop(results)
    names = list(columns)
    _require_two(len(names))
    sides = [np.asarray(columns[name]) for name in names[:2]]
    if not all(side.dtype.kind in "iub" for side in sides):
        sides = [side.astype(object) for side in sides]
    more = [columns[name] for name in names[2:]]
    numbers = _numbers(np.column_stack(more)) if more else np.zeros((len(sides[0]), 0))
    return np.column_stack(sides), numbers, names[2:], results


def _rows(pairs: Any) -> tuple[NDArray[Any], Floats, list[str]]:
    """Return the same of rows, one after the other."""
    if isinstance(pairs, np.ndarray) and pairs.ndim == 2 and pairs.dtype.kind in "iub":
        _require_two(pairs.shape[1])
        values, more = pairs[:, :2], _numbers(pairs[:, 2:])
    else:
        rows = [tuple(row) for row in pairs]
        _require_two(min((len(row) for row in rows), default=0))
        values = np.empty((len(rows), 2), dtype=object)
        values[:, 0] = [row[0] for row in rows]
        values[:, 1] = [row[1] for row in rows]
        more = _numbers([row[2:] for row in rows])
    return values, more, [f"x{k}" for k in range(more.shape[1])]


def _numbers(covariates: Any) -> Floats:
    """Return covariates as numbers."""
    try:
        return np.asarray(covariates, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"columns after the two players must be covariates, numbers: {error}"
        ) from None


def _numbered(players: NDArray[Any]) -> tuple[Index, list[str]]:
    """Return a number for each player, and what they are called."""
    if players.dtype.kind in "iub":
        distinct, codes = np.unique(players, return_inverse=True)
        return codes.reshape(players.shape).astype(np.intp), list(map(str, distinct))
    codes, found = numbered(
        players.ravel().tolist(),
        "players must be named in every row, got a missing value; leave those out",
    )
    return codes.reshape(players.shape), list(map(str, found))


def _require_two(n_columns: int) -> None:
    if n_columns < 2:
        raise InputError(
            "comparisons must have two players in every row for family='paired', got "
            f"{n_columns} columns"
        )


def _shares(results: Any, n: int) -> Floats:
    """Return 1, 0 or 1/2 for each comparison."""
    if results is None:
        return np.ones(n)
    shares = np.asarray(results, dtype=np.float64)
    if shares.shape != (n,) or not np.isin(shares, (0.0, 0.5, 1.0)).all():
        raise InputError(
            f"results must be 1 (the first won), 0 or 1/2 for each of the {n} "
            "comparisons of family='paired'; leave them out where the first always won"
        )
    return shares


def _design(sides: Index, references: Index, n_players: int) -> Any:
    """Return a column a player but the references: 1 for the first, -1 the second."""
    from scipy import sparse

    n = len(sides)
    place = np.cumsum(~np.isin(np.arange(n_players), references)) - 1
    place[references] = -1
    rows = np.repeat(np.arange(n), 2)
    columns, signs = place[sides.ravel()], np.tile([1.0, -1.0], n)
    held = columns >= 0
    shape = (n, n_players - references.size)
    return sparse.csr_array((signs[held], (rows[held], columns[held])), shape=shape)


def _reference_text(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" * (len(names) > 5))
    if len(names) == 1:
        return f"Strengths are relative to {shown}, who was compared most often."
    return (
        f"Strengths are relative to {shown}, each compared most often among those it "
        "met, directly or by others."
    )
