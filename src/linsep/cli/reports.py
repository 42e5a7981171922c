"""Pages for --report, and the Python in them that makes the answer again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from linsep.cli.output import writing
from linsep.cli.standard_input import argument
from linsep.report.page import HasPage


def save_report(answer: HasPage, path: Path, file: Path, call: str) -> None:
    """Save an answer as a page that names the file and says how to go on from it."""
    given = argument(file)
    source = "standard input" if given == "-" else Path(given).name
    page = replace(answer.page(), source=source, call="" if given == "-" else call)
    with writing(path):
        page.save(path)


def call_that_reads(file: Path, reading: Mapping[str, Any]) -> str:
    """Return Python that reads the X and y of a file.

    Examples
    --------
    >>> print(call_that_reads(Path("a.csv"), {"target": "y", "positive": "rose"}))
    import linsep
    table = linsep.read_table('a.csv', 'y')
    X, y = table.X, table.y == 'rose'
    """
    options = dict(reading)
    positive = options.pop("positive", None)
    y = "table.y" if positive is None else f"table.y == {positive!r}"
    return f"import linsep\n{_read(file, options)}\nX, y = table.X, {y}"


def call_that_diagnoses(
    file: Path,
    target: str | None,
    formula: str | None,
    reading: Mapping[str, Any],
    model: Mapping[str, Any],
) -> str:
    """Return Python that diagnoses a file; empty where that is not a line or two.

    Examples
    --------
    >>> print(call_that_diagnoses(Path("a.csv"), "y", None, {}, {"family": "poisson"}))
    import linsep
    answer = linsep.diagnose('a.csv', 'y', family='poisson')
    """
    options = ("family", "order", "groups", "penalized", "nominal")
    said = {name: model.get(name) for name in options}
    if model.get("fit_intercept") is False:
        said["fit_intercept"] = False
    given = {name: value for name, value in said.items() if value not in (None, "")}
    if given.get("family") == "binomial":
        del given["family"]
    rest = _arguments(given)
    if formula is not None:
        return (
            "import linsep\nimport pandas\n"
            f"data = pandas.read_csv({str(file)!r})  # or as your file is read\n"
            f"answer = linsep.diagnose({formula!r}, data{rest})"
        )
    if not reading:
        place = f"{str(file)!r}, {target!r}"
        return f"import linsep\nanswer = linsep.diagnose({place}{rest})"
    if "groups" in given:
        return ""
    return (
        f"import linsep\n{_read(file, {'target': target, **reading})}\n"
        "names = table.feature_names\n"
        f"answer = linsep.diagnose(table.X, table.y, feature_names=names{rest})"
    )


def _read(file: Path, reading: Mapping[str, Any]) -> str:
    """Write the call of `linsep.read_table`."""
    options = dict(reading)
    target = options.pop("target", None)
    return f"table = linsep.read_table({str(file)!r}, {target!r}{_arguments(options)})"


def _arguments(options: Mapping[str, Any]) -> str:
    """Write the arguments that follow others."""
    return "".join(f", {name}={value!r}" for name, value in options.items())
