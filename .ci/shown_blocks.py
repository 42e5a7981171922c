"""Run every block of the README, in an environment with the base install alone.

Each command must end with exit code 0 and print what the README shows, but for numbers;
the Python examples must give what they show. Run it with the environment's Python, from
anywhere. `tests/test_docs.py` runs the commands of the pages in the same way.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import redirect_stdout
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("altair", "formulaic", "matplotlib", "pandas", "polars", "pyarrow")
EXTRAS += ("statsmodels",)


def require_base_install() -> None:
    """Stop if a library of the extras is there: nothing would be shown then."""
    for name in EXTRAS:
        try:
            import_module(name)
        except ImportError:
            continue
        sys.exit(f"the environment must have the base install alone, but has {name}")


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Return each command that a page shows, and the lines it prints there.

    Blocks after a comment of reST, ``.. not run: REASON``, are left out.
    """
    shown: list[tuple[str, list[str]]] = []
    indent, is_run = "", True
    for line in page.read_text(encoding="utf-8").splitlines():
        command = re.match(r"( {3,4})\$ (.*)", line)
        if line.startswith(".. not run: "):
            is_run = False
        elif command:
            indent = command[1]
            if is_run:
                shown.append((command[2], []))
        elif indent and line.startswith(indent) and is_run:
            shown[-1][1].append(line.removeprefix(indent))
        elif re.match(r"\w", line):  # the text goes on
            indent, is_run = "", True
    return shown


def shape_of(line: str) -> str:
    """Return what a line of output says before its numbers and names begin."""
    return re.sub(r"[\d,.e+-]+", "#", line.split(":")[0])


def run(command: str) -> list[str]:
    """Run a command and return the lines it prints.

    One of linsep runs in this process, which takes no shell; others need bash.
    """
    from linsep.cli import main

    if re.search(r"^(?!linsep )|[|;<]", re.sub(r"'[^']*'", "", command)):
        script = f"""set -eo pipefail
            python() {{ {shlex.quote(sys.executable)} "$@"; }}
            linsep() {{ python -m linsep "$@"; }}
            {command}"""
        done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"$ {command}\nended with {done.returncode}: {done.stderr}")
        return done.stdout.splitlines()

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
        file = Path(command.split()[1])
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(expected) + "\n")
        return
    printed = run(command)
    if expected[-1:] in ([], ["..."]):  # the page shows the beginning, or nothing
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
        shown = commands(ROOT / "README.md")
        for command, expected in shown:
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
