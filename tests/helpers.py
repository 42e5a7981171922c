"""What test modules share: tolerances, cases with known answers, peers' data."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parent.parent

#: The tolerances of the suite, relative to the size of what is compared. A test that
#: needs a looser one says why.
IDENTITY = {np.float64: 100 * 2.0**-52, np.float32: 100 * 2.0**-23}

#: For the code of another process: the bytes it has held at most. Of one that was
#: started by a larger one, ru_maxrss is that of the larger one on Linux.
PEAK = """
def peak():
    import resource, sys
    try:
        with open("/proc/self/status") as status:
            held = [line.split()[1] for line in status if line.startswith("VmHWM")]
        return int(held[0]) * 1024
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024)
"""
_COMMAND_AND_PEAK = f"""
import sys
from linsep.cli import main
{PEAK}
try:
    main(prog_name="linsep")
finally:
    print(peak(), file=sys.stderr)
"""


def peak_of_command(*arguments: object) -> int:
    """Run the command line in a process of its own; return the most bytes it held."""
    done = subprocess.run(
        [sys.executable, "-c", _COMMAND_AND_PEAK, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stderr.split()[-1])


def dot_rounding_bound(row, w):
    """Bound on the rounding error of ``row @ w`` in double precision."""
    return row.size * 2.0**-52 * float(np.linalg.norm(row)) * float(np.linalg.norm(w))


def known_cases(*problems: str) -> list[Any]:
    """Parameters for `pytest.mark.parametrize`, one a line of data/cases.jsonl.

    With `problems`, only the cases whose "problem" is one of them ("binary", ...).
    """
    lines = (ROOT / "tests" / "data" / "cases.jsonl").read_text().splitlines()
    return [
        pytest.param(case, id=case["id"])
        for case in map(json.loads, lines)
        if not problems or case["problem"] in problems
    ]


def shared_file(*parts: str) -> Path:
    """A file of the shared folder (peers' public data, which the project never copies).

    The folder is ``$LINSEP_SHARED``, else ``../shared``; where it or the file is
    absent the test is skipped.
    """
    folder = Path(os.environ.get("LINSEP_SHARED") or ROOT.parent / "shared")
    path = folder.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{path} is absent: set LINSEP_SHARED to the folder of peers' data, "
            "or put it beside the repository as ../shared"
        )
    return path
