"""The columns of a formula under numbers, so that no name or level is misread.

formulaic keeps the columns it makes in dictionaries under their names, leaves out names
that begin with two underscores, and calls the intercept by a name like any other. A
level or a column of the data may be called any of these. So while formulaic works each
column goes by a number, and what it stands for is kept beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from formulaic.materializers import PandasMaterializer
from interface_meta import override

from linsep.diagnosis.inputs.codings import level_text
from linsep.input import InputError

# What formulaic calls the column of ones; no numbered column is called so.
_CONSTANT = "Intercept"
# Codings by these are indicators of levels.
_INDICATORS = {"TreatmentContrasts", "SASContrasts"}


@dataclass(frozen=True)
class Part:
    """A column that a factor of a formula became.

    Attributes
    ----------
    factor : str
        The factor as the formula writes it.
    level : object
        The level, or number of the column; None if the factor is one column.
    name : str
        What formulaic would call the column.
    """

    factor: str
    level: Any
    name: str


class NumberedColumns(PandasMaterializer):  # type: ignore[misc]
    """formulaic on a pandas frame, its columns numbered."""

    @override
    def _init(self) -> None:
        super()._init()
        self._parts: list[Part] = []

    @override
    def _flatten_encoded_evaled_factor(self, name: str, values: Any) -> dict[str, Any]:
        """Give each column of a factor a number, in place of a name made of levels."""
        if not isinstance(values, dict):
            return {self._number(Part(name, None, name)): values}
        written = "{name}[{field}]"
        if hasattr(values, "__formulaic_metadata__"):
            written = values.__formulaic_metadata__.get_format()
        numbered = {}
        for level, column in values.items():
            own = written.format(name=name, field=level)
            if isinstance(column, dict):
                numbered.update(self._flatten_encoded_evaled_factor(own, column))
            else:
                numbered[self._number(Part(name, level, own))] = column
        return numbered

    def _number(self, part: Part) -> str:
        self._parts.append(part)
        return f"#{len(self._parts) - 1}"

    def columns(self, design: Any) -> list[tuple[Part, ...]]:
        """Say which parts each column is the product of; none for the constant."""
        columns = []
        for key in design.model_spec.column_names:
            numbers = [] if key == _CONSTANT else key.split(":")
            try:
                parts = [self._parts[int(text.removeprefix("#"))] for text in numbers]
            except (ValueError, IndexError):
                raise InputError(
                    "formulas need a version of formulaic that linsep knows (1.1 or "
                    f"1.2), got another, with a column {key!r}; install one of these"
                ) from None
            columns.append(tuple(parts))
        return columns


def indicated_levels(parts: tuple[Part, ...], design: Any) -> list[tuple[str, str]]:
    """Return the factors and levels a column indicates; none if it is no indicator."""
    contrasts = design.model_spec.factor_contrasts
    for part in parts:
        state = contrasts.get(part.factor)
        kind = type(getattr(state, "contrasts", None)).__name__
        if part.level is None or kind not in _INDICATORS:
            return []
    return [(part.factor, level_text(part.level)) for part in parts]
