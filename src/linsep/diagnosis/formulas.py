"""Formulas, R style, on formulaic: `"y ~ x1 + C(x2)"` and a frame.

formulaic evaluates the terms of a formula as Python code. `restricted` lets only column
names, ``C()``, interactions and a fixed list of transforms through, by parsing, for
formulas that come from strangers.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

import numpy as np

from linsep.diagnosis.design import study_from
from linsep.diagnosis.study import Study
from linsep.validate import InputError

#: What a restricted formula may apply to a column.
TRANSFORMS = frozenset({"C", "log", "log2", "log10", "exp", "center", "scale"})

_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`[^`]*`)|(?P<name>[^\W\d]\w*)|(?P<number>\d+)"
    r"|(?P<operator>\*\*|[-+:*~()]))"
)
_COUNTS = re.compile(r"\s*cbind\(\s*([^,()]+?)\s*,\s*([^,()]+?)\s*\)\s*")


def study_from_formula(
    formula: str,
    data: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
) -> Study:
    """Build the design of a formula; rows with missing values are left out."""
    if fit_intercept is not None or feature_names is not None:
        raise InputError(
            "a formula says itself whether there is an intercept ('y ~ 0 + x' for "
            "none) and what columns are called; leave out fit_intercept and "
            "feature_names"
        )
    frame = _pandas(data)
    left, right = _sides(formula)
    y, name = _outcome(left, frame)
    design = _model_matrix(right, frame)
    kept = np.asarray(design.index if hasattr(design, "index") else range(len(frame)))
    names = [str(column) for column in design.model_spec.column_names]
    matrix, positions = _numbers(design, frame, right)
    present = positions & ~_missing(y)
    kept = np.flatnonzero(present)
    if kept.size == 0:
        raise InputError(
            f"at least one of the {len(frame)} rows must have no missing value in the "
            "columns of the formula, got none"
        )
    matrix = matrix[kept[...] if matrix.shape[0] == len(frame) else present[positions]]
    intercept = "Intercept" in names
    if intercept:
        others = [j for j, column in enumerate(names) if column != "Intercept"]
        matrix, names = matrix[:, others], [names[j] for j in others]
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight)
        if sample_weight.shape != (len(frame),):
            raise InputError(
                f"sample_weight must have one number for each of the {len(frame)} rows "
                f"of data, got shape {sample_weight.shape}"
            )
        sample_weight = sample_weight[kept]
    return study_from(
        matrix,
        y.iloc[kept] if hasattr(y, "iloc") else y[kept],
        family=family or "binomial",
        fit_intercept=intercept,
        sample_weight=sample_weight,
        feature_names=names,
        outcome_name=name,
        present=kept,
        n_given=len(frame),
    )


def _pandas(data: Any) -> Any:
    """Return the data as a pandas frame numbered from 0."""
    try:
        import formulaic  # noqa: F401
        import pandas as pd
    except ImportError as error:
        raise InputError(
            'formulas need formulaic and pandas; pip install "linsep[data]"'
        ) from error
    if hasattr(data, "to_pandas") and not isinstance(data, pd.DataFrame):
        data = data.to_pandas()
    if not isinstance(data, pd.DataFrame):
        try:
            data = pd.DataFrame(data)
        except (TypeError, ValueError) as error:
            raise InputError(
                "data must be a frame or a mapping of names to columns, got "
                f"{type(data).__name__}"
            ) from error
    return data.reset_index(drop=True)


def _sides(formula: str) -> tuple[str, str]:
    """Split a formula at its tilde."""
    left, *right = formula.split("~")
    if len(right) != 1 or not left.strip() or not right[0].strip():
        raise InputError(
            "a formula must have an outcome, one '~' and terms, such as 'y ~ x1 + "
            f"C(x2)', got {formula!r}"
        )
    return left.strip(), right[0].strip()


def _outcome(left: str, frame: Any) -> tuple[Any, str]:
    """Return the outcome's column and name; ``cbind(a, b)`` for counts."""
    counts = _COUNTS.fullmatch(left)
    if counts is not None:
        names = [_unquoted(name) for name in counts.groups()]
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(_no_such_column(missing[0], frame))
        return frame[names], names[0]
    name = _unquoted(left)
    if name in frame.columns:
        return frame[name], name
    made = _model_matrix(f"0 + {left}", frame, output="pandas")
    if len(made) < len(frame):
        made = made.reindex(range(len(frame)))
    if made.shape[1] == 1:
        return made.iloc[:, 0], left
    # A factor: one 0/1 column for each level.
    levels = [re.sub(r"^.*\[(?:T\.)?(.*)\]$", r"\1", str(c)) for c in made.columns]
    values = np.array(levels, dtype=object)[made.to_numpy().argmax(axis=1)]
    values[made.isna().any(axis=1).to_numpy()] = None
    return values, left


def _unquoted(name: str) -> str:
    name = name.strip()
    return name[1:-1] if len(name) > 2 and name[0] == name[-1] == "`" else name


def _no_such_column(name: str, frame: Any) -> str:
    columns = [str(column) for column in frame.columns[:10]]
    return (
        f"a formula must name columns of the data, got {name!r}; the data have "
        f"{', '.join(columns)}{', ...' if frame.shape[1] > 10 else ''}"
    )


def _model_matrix(right: str, frame: Any, output: str = "sparse") -> Any:
    """Let formulaic build the columns; whatever it raises becomes one error."""
    from formulaic import model_matrix

    try:
        # An empty context: names mean columns and formulaic's own transforms only.
        return model_matrix(right, frame, context={}, output=output, na_action="drop")
    except Exception as error:
        reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
        raise InputError(
            f"the formula {right!r} could not be evaluated on columns "
            f"{', '.join(map(str, frame.columns[:10]))}: "
            f"{type(error).__name__}: {reason}"
        ) from error


def _numbers(design: Any, frame: Any, right: str) -> tuple[Any, Any]:
    """Return the design as a matrix, dense if mostly filled, and which rows it has."""
    from scipy import sparse

    matrix = sparse.csr_array(design)
    n = len(frame)
    positions = np.ones(n, dtype=bool)
    if matrix.shape[0] != n:
        # A sparse design has no index: a dense one tells which rows were dropped.
        kept = _model_matrix(right, frame, output="pandas").index
        positions = np.isin(np.arange(n), np.asarray(kept))
    if matrix.nnz > 0.3 * matrix.shape[0] * max(1, matrix.shape[1]):
        return matrix.toarray(), positions
    return matrix, positions


def _missing(y: Any) -> Any:
    """Return which outcomes are missing."""
    import pandas as pd

    gone = np.asarray(pd.isna(y))
    return gone.any(axis=1) if gone.ndim == 2 else gone


def restricted(formula: str, columns: Collection[str]) -> str:
    """Return the formula, if it holds nothing that could run code.

    Parameters
    ----------
    formula : str
    columns : collection of str
        The names it may use. Names that are not identifiers stand in backticks.

    Raises
    ------
    InputError
        If it holds anything but names of columns, ``C()`` and the transforms in
        `TRANSFORMS` of one column, ``cbind(a, b)``, whole numbers and ``~ + - : * **``
        and parentheses.

    Examples
    --------
    >>> restricted("y ~ x + C(group):x", {"y", "x", "group"})
    'y ~ x + C(group):x'
    """
    tokens = _tokens(formula)
    allowed = ", ".join(sorted(TRANSFORMS))
    depth_of_call = 0
    for position, (kind, text) in enumerate(tokens):
        following = tokens[position + 1][1] if position + 1 < len(tokens) else ""
        if kind == "quoted" and text[1:-1] not in columns:
            raise InputError(_not_allowed(text, formula, allowed))
        if kind == "name" and following == "(":
            if text not in TRANSFORMS:
                raise InputError(_not_allowed(text + "(", formula, allowed))
            inside = tokens[position + 2 : position + 4]
            if (
                len(inside) < 2
                or inside[0][0] not in ("name", "quoted")
                or (inside[1][1] != ")")
            ):
                raise InputError(
                    f"{text}() must hold the name of one column in a formula on the "
                    f"command line, got {formula!r}"
                )
        elif kind == "name" and text not in columns:
            raise InputError(_not_allowed(text, formula, allowed))
    del depth_of_call
    return formula


def _tokens(formula: str) -> list[tuple[str, str]]:
    """Cut a formula into tokens; ``cbind(a, b)`` before the tilde is taken first."""
    left, tilde, right = formula.partition("~")
    counts = _COUNTS.fullmatch(left)
    tokens: list[tuple[str, str]] = []
    rest = formula
    if counts is not None and tilde:
        for name in counts.groups():
            tokens += [("quoted" if name[0] == "`" else "name", name)]
            tokens += [("operator", "+")]
        rest = "~" + right
    at = 0
    rest = rest.rstrip()
    while at < len(rest):
        match = _TOKEN.match(rest, at)
        if match is None:
            raise InputError(
                _not_allowed(
                    rest[at:].strip()[:1], formula, ", ".join(sorted(TRANSFORMS))
                )
            )
        kind = str(match.lastgroup)
        tokens.append((kind, match.group(kind)))
        at = match.end()
    return tokens


def _not_allowed(text: str, formula: str, allowed: str) -> str:
    return (
        "a formula on the command line may hold names of columns (in backticks if need "
        f"be), {allowed} of one column, cbind(a, b), ~ + - : * ** and parentheses, got "
        f"{text!r} in {formula!r}"
    )
