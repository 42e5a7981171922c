"""A search that is written down after every sweep, and goes on from there.

What is written are row numbers and counts, never data or bounds: a search that goes on
gathers its rows anew, so all that it proves rests on the data as they are then,
whoever wrote the file. They must have the digest of the data that the checkpoint was
made of (`linsep.proof.digest`).
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from linsep import __version__
from linsep.arrays import Index
from linsep.input import InputError
from linsep.proof.checker import content_digest
from linsep.proof.digest import digest
from linsep.rows import Rows, Scan
from linsep.rows.working_set import WorkingSet
from linsep.search.answers import Verdict
from linsep.search.hyperplane import Hyperplane
from linsep.search.limits import Monitor, Stopped
from linsep.search.separator_search import MOST_SETTLED, Search, SeparatorEngine
from linsep.whole_files import read_bounded, whole_file

FORMAT = "linsep checkpoint"
MOST_BYTES = 1 << 28  # twenty million row numbers


@dataclass
class Checkpoint:
    """The file, and what a search must be to go on from it.

    Parameters
    ----------
    path : path-like
    identity : dict
        The version, the digest of the data, and the seed.
    """

    path: str | os.PathLike[str]
    identity: dict[str, Any]

    @classmethod
    def of(cls, path: str | os.PathLike[str], rows: Rows, seed: int) -> Checkpoint:
        """Read all data once, for their digest."""
        identity = {
            "format": FORMAT,
            "version": __version__,
            "data_sha256": digest(rows),
            "fit_intercept": bool(rows.fit_intercept),
            "random_state": seed,
        }
        return cls(path, identity)

    def save(self, state: dict[str, Any]) -> None:
        """Write the state of a search, whole or not at all."""
        document = self.identity | state
        document["content_sha256"] = content_digest(document)
        with whole_file(self.path) as unfinished:
            unfinished.write_text(json.dumps(document), encoding="ascii")

    def load(self, n_rows: int) -> dict[str, Any] | None:
        """Return the state that was written, None if there is no file yet.

        Raises
        ------
        InputError
            If it is of other data, another version or seed, or was changed.
        """
        try:
            text = read_bounded(self.path, MOST_BYTES).decode("ascii")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise InputError(self._refusal("one that cannot be read")) from error
        try:
            document = json.loads(text)
            told = document.pop("content_sha256")
            is_whole = told == content_digest(document)
        except (
            ValueError,
            LookupError,
            AttributeError,
            TypeError,
            RecursionError,
        ) as error:
            raise InputError(self._refusal("another file")) from error
        names = {
            "format": "another file",
            "version": f"one of version {document.get('version')}",
            "data_sha256": "one of other data",
            "fit_intercept": "one with another intercept",
            "random_state": "one of another random_state",
        }
        for name, got in names.items():
            if document.get(name) != self.identity[name]:
                raise InputError(self._refusal(got))
        if not (is_whole and _is_state(document, n_rows)):
            raise InputError(self._refusal("one that was changed"))
        state: dict[str, Any] = document
        return state

    def _refusal(self, got: str) -> str:
        return (
            f"checkpoint must be a file that this search wrote, of the same data and "
            f"version, got {got} ({self.path}); name another file, or remove it"
        )


@dataclass
class ResumableEngine(SeparatorEngine):
    """The search for a separator that begins where a checkpoint says, and keeps it."""

    checkpoint: Checkpoint = field(kw_only=True)
    _has_begun: bool = False

    def solve(self, working: WorkingSet) -> Hyperplane | Verdict:
        """Solve the working set, the first time that of the checkpoint."""
        if not self._has_begun:
            state = self.checkpoint.load(self.search.rows.shape[0])
            if state is not None:
                self._restore(working, state)
        self._has_begun = True
        return super().solve(working)

    def grow(self, working: WorkingSet, scan: Scan) -> None:
        """Take the worst rows, and write down how far the search is."""
        super().grow(working, scan)
        self.checkpoint.save(self._state(working))

    def _state(self, working: WorkingSet) -> dict[str, Any]:
        monitor = self.search.monitor
        return {
            "index": working.index.tolist(),
            "support": self.support.tolist(),
            "is_stuck": self._is_stuck,
            "is_factored": self._is_factored,
            "n_passes": monitor.n_passes,
            "n_rounds": monitor.n_rounds,
        }

    def _restore(self, working: WorkingSet, state: dict[str, Any]) -> None:
        working.index = _rows(state["index"])
        self.support = _rows(state["support"])
        self._is_stuck, self._is_factored = state["is_stuck"], state["is_factored"]
        monitor = self.search.monitor
        monitor.n_passes, monitor.n_rounds = state["n_passes"], state["n_rounds"]


def find_from_checkpoint(
    rows: Rows,
    monitor: Monitor,
    rng: int,
    most_settled: int = MOST_SETTLED,
    *,
    path: str | os.PathLike[str],
) -> Verdict:
    """Find a separator, or prove that there is none, from where a file says."""
    search = Search(rows, monitor, rng, most_settled)
    try:
        checkpoint = Checkpoint.of(path, rows, rng)
    except Stopped as stop:  # while the digest was made
        return Verdict.undecided(str(stop))
    return search.run(partial(ResumableEngine, checkpoint=checkpoint))


def _is_state(document: dict[str, Any], n_rows: int) -> bool:
    """Tell whether this says where a search of so many rows may be."""

    def are_below(numbers: Any, most: int) -> bool:
        return isinstance(numbers, list) and all(
            type(number) is int and 0 <= number < most for number in numbers
        )

    named: list[Any] = [document.get(name) for name in ("index", "support")]
    counts = [document.get(name) for name in ("n_passes", "n_rounds")]
    marks = [document.get(name) for name in ("is_stuck", "is_factored")]
    return (
        all(are_below(index, n_rows) for index in named)
        and all(len(set(index)) == len(index) for index in named)
        and are_below(counts, 1 << 62)
        and all(type(mark) is bool for mark in marks)
    )


def _rows(numbers: list[int]) -> Index:
    return np.array(numbers, dtype=np.intp)
