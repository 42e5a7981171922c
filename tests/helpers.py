"""What several test modules share: tolerances, and the cases kept outside the package."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

#: The tolerances of the suite, relative to the size of what is compared. A test that
#: needs a looser one says why.
IDENTITY = {np.float64: 100 * 2.0**-52, np.float32: 100 * 2.0**-23}


def dot_rounding_bound(row, w):
    """Bound on the rounding error of ``row @ w`` in double precision."""
    return row.size * 2.0**-52 * float(np.linalg.norm(row)) * float(np.linalg.norm(w))


def shared_folder() -> Path | None:
    """The folder of collected cases: ``$LINSEP_SHARED``, else ``../shared``."""
    named = os.environ.get("LINSEP_SHARED")
    folder = Path(named) if named else ROOT.parent / "shared"
    return folder if folder.is_dir() else None


ABSENT = (
    "needs the folder of collected cases: set LINSEP_SHARED to it, "
    "or put it beside the repository as ../shared"
)


def shared_file(*parts: str) -> Path:
    """A file of the shared folder; the test is skipped where it is absent."""
    folder = shared_folder()
    if folder is None or not folder.joinpath(*parts).exists():
        pytest.skip(f"{'/'.join(parts)}: {ABSENT}")
    return folder.joinpath(*parts)


def shared_cases(*problems: str) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`, one for each line of cases.jsonl.

    With `problems`, only the cases whose "problem" is one of them ("binary", ...).
    Where the folder is absent: one parameter, marked to be skipped.
    """
    folder = shared_folder()
    path = folder / "cases" / "cases.jsonl" if folder else None
    if path is None or not path.exists():
        return [pytest.param(None, marks=pytest.mark.skip(reason=ABSENT))]
    cases = [json.loads(line) for line in path.read_text().splitlines()]
    return [
        pytest.param(case, id=case["id"])
        for case in cases
        if not problems or case["problem"] in problems
    ]
