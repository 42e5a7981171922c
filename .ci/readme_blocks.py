"""Run every block of the README, in an environment with the base install alone.

Each command must end with exit code 0 and print what the README shows, but for numbers;
the Python examples must give what they show. Run it with the environment's Python, from
anywhere.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import sys
import tempfile
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("formulaic", "matplotlib", "pandas", "polars", "pyarrow", "statsmodels")


def require_base_install() -> None:
    """Stop if a library of the extras is there: nothing would be shown then."""
    for name in EXTRAS:
        try:
            import_module(name)
        except ImportError:
            continue
        sys.exit(f"the environment must have the base install alone, but has {name}")


def commands() -> dict[str, list[str]]:
    """Return each command shown in the README, and the lines it prints there."""
    shown: dict[str, list[str]] = {}
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        if line.startswith("    $ "):
            shown[line.removeprefix("    $ ")] = []
        elif shown and line.startswith("    "):
            list(shown.values())[-1].append(line.removeprefix("    "))
    return shown


def shape_of(line: str) -> str:
    """Return what a line of output says before its numbers and names begin."""
    return re.sub(r"[\d,.e+-]+", "#", line.split(":")[0])


def run(command: str) -> list[str]:
    """Run a command of linsep in this process and return the lines it prints."""
    from linsep.cli import main

    output = io.StringIO()
    try:
        with redirect_stdout(output):
            main(shlex.split(command)[1:], prog_name="linsep")
    except SystemExit as end:
        if end.code:
            sys.exit(f"$ {command}\nended with exit code {end.code}")
    return output.getvalue().splitlines()


def check(command: str, expected: list[str]) -> None:
    """Run a command and compare; `cat` makes the file it shows."""
    if command.startswith("cat "):
        Path(command.split()[1]).write_text("\n".join(expected) + "\n")
        return
    printed = run(command)
    if expected[-1] == "...":  # the README shows the beginning
        expected = expected[:-1]
        printed = printed[: len(expected)]
    if list(map(shape_of, printed)) != list(map(shape_of, expected)):
        sys.exit("\n".join([f"$ {command}", "printed", *printed, "not", *expected]))


def main() -> None:
    """Run all blocks in a folder of their own."""
    require_base_install()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.chdir(folder)
        shown = commands()
        for command, expected in shown.items():
            check(command, expected)
        failed, tried = doctest.testfile(
            str(ROOT / "README.md"),
            module_relative=False,
            optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
        )
        os.chdir(ROOT)
    if failed or not tried or not shown:
        sys.exit("the README's examples must give what they show")
    print(f"{len(shown)} commands and {tried} examples of the README hold")


if __name__ == "__main__":
    main()
