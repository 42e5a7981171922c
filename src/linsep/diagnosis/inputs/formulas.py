"""Formulas, R style, on formulaic: `"y ~ x1 + C(x2)"` and a frame.

formulaic evaluates the terms of a formula as Python code; formulas that come from
strangers go through `linsep.diagnosis.inputs.safe_formula` first.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linsep.arrays import Mask
from linsep.diagnosis.inputs.codings import Coding, factors_of
from linsep.diagnosis.inputs.design import rows_in_use, study_from
from linsep.diagnosis.inputs.families import COMPARING, WITH_INTERCEPT, family_named
from linsep.diagnosis.inputs.fixed_effects import (
    absorbed,
    combined_factor,
    factor_of,
    named_factors,
    split_at_bar,
)
from linsep.diagnosis.inputs.formula_data import (
    pandas_of,
    plain_frame,
    require_no_dates,
)
from linsep.diagnosis.inputs.orders import declared_order
from linsep.diagnosis.inputs.refusals import no_such_column, require_column
from linsep.diagnosis.inputs.several_columns import (
    COUNTS,
    outcome_columns,
    require_family,
    unquoted,
)
from linsep.diagnosis.inputs.study import Given, Study
from linsep.input import InputError
from linsep.input.row_names import require_same_index, row_names_of
from linsep.rows import as_dense

if TYPE_CHECKING:
    from linsep.diagnosis.inputs.numbered_columns import Part

# C(column) alone, with or without a contrast, and a dot for all other columns.
_FACTOR = re.compile(r"C\(\s*([^\W\d]\w*|`[^`]*`)\s*\)")
_CODED = re.compile(r"C\(\s*([^\W\d]\w*|`[^`]*`)\s*(?:,.*)?\)", re.DOTALL)
_DOT = re.compile(r"(?<![\w.)\]])\.(?![\w.])")
# What is put before an outcome to have it evaluated alone, and how formulaic says that
# there is no such name.
_NO_CONSTANT = "0 + "
_UNKNOWN = re.compile(r"NameError: (?:name )?[`'](.+?)[`'] is not")


def study_from_formula(
    formula: str,
    data: Any,
    *,
    family: str | None = None,
    fit_intercept: bool | None = None,
    sample_weight: Any = None,
    feature_names: Any = None,
    order: object = None,
    groups: Any = None,
) -> Study:
    """Build the design of a formula; rows with missing values are left out."""
    if fit_intercept is not None or feature_names is not None:
        raise InputError(
            "a formula says itself whether there is an intercept ('y ~ 0 + x' for "
            "none) and what columns are called; leave out fit_intercept and "
            "feature_names"
        )
    whole = pandas_of(data)
    frame = plain_frame(whole)
    require_same_index(whole, "sample_weight", sample_weight)
    require_same_index(whole, "groups", groups)
    left, right = sides_of(formula)
    terms, effects = split_at_bar(right)
    factors = [] if effects is None else named_factors(effects, frame.columns)
    family = family_named(family or "binomial")
    if isinstance(groups, str):
        require_column(groups, frame.columns)
        frame, groups = frame.drop(columns=groups), frame[groups]
    if isinstance(sample_weight, str):
        require_column(sample_weight, frame.columns, "sample_weight")
        frame, sample_weight = frame.drop(columns=sample_weight), frame[sample_weight]
    require_family(left, family)
    y, name = _outcome(left, frame, data)
    of_dot = frame
    if _DOT.search(terms):
        named = [column for factor in factors for column in factor]
        of_dot = frame.drop(columns=[*_columns_used(left, frame), *named])
    design, columns = _model_matrix(terms, of_dot)
    matrix, positions = _numbers(design, of_dot, terms)
    present = positions & ~_missing(y)
    for factor in factors:
        for column in factor:
            present &= ~_missing(frame[column])
    if groups is not None:
        groups = _for_each_row("groups", groups, len(frame))
        present &= ~_missing(groups)
    kept = np.flatnonzero(present)
    if kept.size == 0:
        raise InputError(
            f"at least one of the {len(frame)} rows must have no missing value in the "
            "columns of the formula, got none"
        )
    if kept.size < matrix.shape[0]:  # the design has the rows at `positions`
        matrix = matrix[present[positions]]
    # A column that is a product of no factors is the constant.
    intercept = not all(columns)
    if intercept:
        matrix = matrix[:, [j for j, parts in enumerate(columns) if parts]]
        columns = [parts for parts in columns if parts]
    codings = [_coding(parts, design, frame) for parts in columns]
    if sample_weight is not None:
        sample_weight = _for_each_row("sample_weight", sample_weight, len(frame))[kept]
    y = y.iloc[kept] if hasattr(y, "iloc") else y[kept]
    in_use = kept[rows_in_use(y, family, sample_weight, kept.size)]
    made = absorbed(
        [combined_factor(factor, frame, in_use) for factor in factors],
        in_use,
        in_place_of_constant=family in WITH_INTERCEPT,
    )
    study = study_from(
        made.beside(matrix, kept),
        y,
        family=family,
        fit_intercept=not factors and intercept and family not in COMPARING,
        order=order,
        groups=None if groups is None else groups[kept],
        sample_weight=sample_weight,
        feature_names=[
            *(":".join(part.name for part in parts) for parts in columns),
            *made.names,
        ],
        codings=[*codings, *made.codings],
        outcome_name=name,
        present=kept,
        n_given=len(frame),
        row_names=row_names_of(whole),
    )
    factors_used = {
        factor: factor_of(factor, frame[factor]).of_rows(study.present)
        for factor in factors_of(codings, frame.columns)
    }
    given = Given(frame=whole, formula=formula)
    return made.told_in(
        replace(study, factors=factors_used, given=given), study.present
    )


def _for_each_row(argument: str, values: Any, n: int) -> NDArray[Any]:
    """Return an argument that has a value for each row of the data."""
    array = np.asarray(values)
    if array.shape != (n,):
        kind = "group" if argument == "groups" else "number"
        raise InputError(
            f"{argument} must have one {kind} for each of the {n} rows of data, got "
            f"shape {array.shape}"
        )
    return array


def _coding(parts: tuple[Part, ...], design: Any, frame: Any) -> Coding:
    """Say which levels a column indicates, factors by the columns they are made of."""
    from linsep.diagnosis.inputs.numbered_columns import indicated_levels

    spec = design.model_spec
    names = {str(column) for column in frame.columns}
    columns = {}
    for factor in spec.factors:
        coded = _CODED.fullmatch(factor.expr)
        if factor.eval_method.value == "lookup" or coded is None:
            columns[factor.expr] = factor.expr
        else:
            columns[factor.expr] = unquoted(coded[1])
    levels = indicated_levels(parts, design)
    first = parts[0].factor
    is_factor = len(parts) == 1 and first in spec.factor_contrasts
    return Coding(
        columns[first] if is_factor and columns[first] in names else None,
        tuple((columns[factor], level) for factor, level in levels),
    )


def sides_of(formula: str) -> tuple[str, str]:
    """Split a formula at its tilde."""
    left, *right = formula.split("~")
    if len(right) != 1 or not left.strip() or not right[0].strip():
        raise InputError(
            "a formula must have an outcome, one '~' and terms, such as 'y ~ x1 + "
            f"C(x2)', got {formula!r}"
        )
    return left.strip(), right[0].strip()


def _outcome(left: str, frame: Any, data: Any) -> tuple[Any, str]:
    """Return the outcome's column and name; several for counts and for times."""
    counts = COUNTS.fullmatch(left)
    if counts is not None:
        names = outcome_columns(counts)
        missing = [name for name in names if name not in frame.columns]
        if missing:
            raise InputError(no_such_column(missing[0], frame.columns))
        return frame[names], names[-2]
    name = unquoted(left)
    if name in frame.columns:
        return _as_declared(frame[name], data[name]), name
    _require_one_term(left)
    factor = _FACTOR.fullmatch(left)
    if factor is not None and unquoted(factor[1]) in frame.columns:
        name = unquoted(factor[1])
        return _as_declared(frame[name], data[name]).astype("category"), left
    made, columns = _model_matrix(
        _NO_CONSTANT + left, frame, output="pandas", is_outcome=True
    )
    is_missing = np.ones(len(frame), dtype=bool)
    is_missing[made.index] = False
    if made.shape[1] == 1:
        return made.iloc[:, 0].reindex(range(len(frame))), left
    return _labels_of(made, columns, is_missing, left), left


def _as_declared(column: Any, given: Any) -> Any:
    """Return categories as plain values where the data given put them in no order.

    Of a Categorical of polars, pandas has the categories in the order they came in.
    """
    if hasattr(column, "cat") and declared_order(given) is None:
        return column.astype(object)
    return column


def _labels_of(
    made: Any, columns: list[tuple[Part, ...]], is_missing: Mask, left: str
) -> NDArray[Any]:
    """Return the levels of an outcome that is a factor; None where it is missing."""
    levels = [str(parts[0].level) for parts in columns]
    indicators = made.to_numpy()
    if (
        len(set(levels)) < len(levels)
        or not np.isin(indicators, (0, 1)).all()
        or (indicators.sum(axis=1) != 1).any()
    ):
        raise InputError(
            "an outcome that is a factor must have one level in each row, and levels "
            f"written differently, got {left!r}, which does not; use C(column)"
        )
    values = np.full(is_missing.size, None, dtype=object)
    values[~is_missing] = np.array(levels, dtype=object)[indicators.argmax(axis=1)]
    return values


def _tokens(text: str) -> list[tuple[str, str]]:
    """Return the words of a formula with their kinds; none of one that is wrong."""
    from formulaic.errors import FormulaSyntaxError
    from formulaic.parser.algos.tokenize import tokenize

    try:
        return [(str(token), token.kind.value) for token in tokenize(text)]
    except FormulaSyntaxError:
        return []


def _require_one_term(left: str) -> None:
    """Raise if the left side is more than one column or transformed column."""
    kinds = [kind for _, kind in _tokens(left) if kind != "context"]
    if kinds not in (["name"], ["python"]):
        raise InputError(
            "the left side of a formula must be one column, one transformed column, "
            f"or cbind(successes, failures), got {left!r}"
        )


def _columns_used(left: str, frame: Any) -> list[Any]:
    """Return the columns the left side speaks of."""
    from formulaic import Formula

    counts = COUNTS.fullmatch(left)
    names = set(outcome_columns(counts)) if counts else {unquoted(left)}
    if counts is None and not names & set(frame.columns):
        names = {str(name) for name in Formula(f"0 + {left}").required_variables}
    return [column for column in frame.columns if column in names]


def _model_matrix(
    right: str, frame: Any, output: str | None = None, is_outcome: bool = False
) -> tuple[Any, list[tuple[Part, ...]]]:
    """Let formulaic build the columns, and say what each is the product of.

    They are sparse by default, but of columns of numbers alone. Whatever formulaic
    raises becomes one error.
    """
    from linsep.diagnosis.inputs.numbered_columns import NumberedColumns

    frame = _without_shadows(right, frame)
    _require_no_other_meaning(right, frame)
    output = output or ("pandas" if _are_numbers(right, frame) else "sparse")
    failures: list[str] = []
    try:
        # An empty context: names mean columns and formulaic's own transforms only.
        with np.errstate(
            divide="call", invalid="call", call=lambda kind, _: failures.append(kind)
        ):
            maker = NumberedColumns(frame, context={})
            made = maker.get_model_matrix(right, output=output, na_action="drop")
    except Exception as error:
        used = {text for text, kind in _tokens(right) if kind == "name"}
        require_no_dates(frame, frame.columns if _DOT.search(right) else used)
        reason = str(error).strip().splitlines()[0] if str(error).strip() else ""
        unknown = _UNKNOWN.search(reason)
        if unknown is not None:
            raise InputError(no_such_column(unknown[1], frame.columns)) from error
        written = right.removeprefix(_NO_CONSTANT) if is_outcome else right
        raise InputError(
            f"the formula {written!r} could not be evaluated on columns "
            f"{', '.join(map(str, frame.columns[:10]))}: "
            f"{type(error).__name__}: {reason}"
        ) from error
    if failures and made.shape[0] < len(frame):
        _require_values(made, right, frame)
    return made, maker.columns(made)


def _are_numbers(right: str, frame: Any) -> bool:
    """Tell whether terms are plain columns of numbers, and products of them."""
    dtypes = {str(name): dtype for name, dtype in frame.dtypes.items()}
    return all(
        _is_plain(dtypes.get(text))
        if kind == "name"
        else kind in ("operator", "context") or text.isdigit()
        for text, kind in _tokens(right)
    )


def _is_plain(dtype: Any) -> bool:
    """Tell whether it is NumPy's own of signed numbers."""
    return isinstance(dtype, np.dtype) and dtype.kind in "if"


def _require_no_other_meaning(right: str, frame: Any) -> None:
    """Raise if a column in use is called like an expression or number in the formula.

    formulaic tells the factors of a formula apart by their texts alone, and a formula
    has a 1, or takes it away, without saying so.
    """
    kinds = _tokens(right)
    if not kinds:
        return  # told better where the formula is evaluated
    columns = {str(column) for column in frame.columns}
    used = {text for text, kind in kinds if kind == "name"}
    used = columns if _DOT.search(right) else columns & used
    others = {text for text, kind in kinds if kind in ("python", "value")} | {"0", "1"}
    shared = sorted(name for name in used & others if not name.isidentifier())
    if shared:
        raise InputError(
            f"the column {shared[0]!r} must not be called like a number or a term of "
            f"the same formula, got {right!r}; rename the column"
        )


def _without_shadows(right: str, frame: Any) -> Any:
    """Leave out columns named like a transform that the formula applies."""
    for column in [name for name in frame.columns if str(name).isidentifier()]:
        calls = re.compile(rf"(?<![\w.`]){column}\(")
        if not calls.search(right):
            continue
        if re.search(rf"(?<!\w){column}(?!\w)", calls.sub("", right)):
            raise InputError(
                f"the column {column!r} must not be called like the transform "
                f"{column}() in the same formula, got {right!r}; rename the column"
            )
        frame = frame.drop(columns=column)
    return frame


def _require_values(made: Any, right: str, frame: Any) -> None:
    """Raise if a transform, and not the data, made values missing."""
    from formulaic import model_matrix

    for factor, names in made.model_spec.factor_variables.items():
        used = [column for column in frame.columns if str(column) in names]
        present = frame[used].dropna()
        if not used or str(factor) in used:
            continue
        with np.errstate(all="ignore"):
            values = model_matrix(f"0 + {{{factor}}}", present, context={})
        without = np.setdiff1d(present.index, values.index)
        if without.size:
            row = int(without[0])
            given = ", ".join(f"{column} = {frame[column][row]}" for column in used)
            raise InputError(
                "the terms of a formula must have a value wherever their columns have "
                f"one, got none for {factor} in row {row}, where {given}; leave such "
                "rows out, or transform the column in another way"
            )


def _numbers(design: Any, frame: Any, right: str) -> tuple[Any, Any]:
    """Return the design as a matrix, dense if mostly filled, and which rows it has."""
    from scipy import sparse

    is_frame = hasattr(design, "index")
    matrix: Any = design.to_numpy() if is_frame else sparse.csr_array(design)
    n = len(frame)
    positions = np.ones(n, dtype=bool)
    if matrix.shape[0] != n:
        # A sparse design has no index: a frame tells which rows were dropped.
        if not is_frame:
            design, _ = _model_matrix(right, frame, output="pandas")
        positions = np.isin(np.arange(n), np.asarray(design.index))
    n_filled = np.count_nonzero(matrix) if is_frame else matrix.nnz
    if n_filled > 0.3 * matrix.shape[0] * max(1, matrix.shape[1]):
        return np.ascontiguousarray(as_dense(matrix)), positions
    return sparse.csr_array(matrix), positions


def _missing(y: Any) -> Any:
    """Return which outcomes are missing."""
    import pandas as pd

    gone = np.asarray(pd.isna(y))
    return gone.any(axis=1) if gone.ndim == 2 else gone
