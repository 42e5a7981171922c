"""The estimates of a diagnosis as a table in LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from linsep.diagnosis.status import Estimate
from linsep.printable import printable

if TYPE_CHECKING:
    from linsep.diagnosis.record import Diagnosis

_ESCAPES = str.maketrans(
    {char: rf"\{char}" for char in "&%$#_{}"}
    | {
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
    }
)
_SHOWN = {
    Estimate.PLUS: r"$+\infty$",
    Estimate.MINUS: r"$-\infty$",
    Estimate.ALIASED: "not identified",
}


def latex_of(answer: Diagnosis) -> str:
    """Return a tabular for the package booktabs, a line a coefficient.

    Columns that are left out of the model for collinearity have a column of their own.
    """
    verdicts = [answer.estimates]
    heads = ["Coefficient", "Maximum likelihood estimate"]
    if answer.collinear:
        verdicts.append(answer.estimates_without_aliased)
        heads.append("Without collinear columns")
    lines = [rf"\begin{{tabular}}{{{'l' * len(heads)}}}", r"\toprule"]
    lines += [rf"{' & '.join(heads)} \\", r"\midrule"]
    for name in answer.coefficient_names:
        shown = [
            _SHOWN.get(found[name], found[name].value) if name in found else "left out"
            for found in verdicts
        ]
        lines.append(rf"{' & '.join([_escaped(name), *shown])} \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _escaped(name: str) -> str:
    return printable(name).translate(_ESCAPES)
