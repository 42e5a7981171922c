"""Fixed effects after a bar are the columns of C(), made sparse from level numbers."""

import re
import tracemalloc
from collections import defaultdict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import linsep
from linsep.diagnosis import diagnose_formula
from linsep.diagnosis.inputs.fixed_effects import Absorbed, named_factors, split_at_bar
from linsep.diagnosis.inputs.formulas import study_from_formula
from linsep.diagnosis.inputs.safe_formula import safe_formula
from linsep.diagnosis.report.levels import level_column_reasons, level_columns
from linsep.diagnosis.report.phrases import claim_text
from linsep.diagnosis.report.single_columns import reasons_of

FAMILIES = ["binomial", "poisson", "multinomial", "ordinal"]


def a_panel(seed=0, n=120, family="poisson"):
    """Firms and years, one firm of which has one outcome only."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "firm": rng.integers(10, 10 + int(rng.integers(3, 9)), n),
            "year": rng.choice(list("abcd"), n, p=[0.2, 0.2, 0.35, 0.25]),
            "x": rng.integers(-3, 4, n).astype(float),
        }
    )
    most = {"binomial": 2, "poisson": 4}.get(family, 3)
    frame["y"] = rng.integers(0, most, n) * rng.integers(0, 2, n)
    if family == "binomial":
        frame["y"] = np.minimum(frame.y, 1)
    frame.loc[frame.firm == 11, "y"] = 0
    return frame


def reference(frame, column):
    """Return the commonest value, the first in order of those as common."""
    return frame[column].value_counts().sort_index().idxmax()


def plain(verdicts):
    """Return verdicts on coefficients under names without C() and contrasts."""
    contrast = re.compile(r"C\((\w+)(?:, contr\.treatment\(.*?\))?\)\[")
    return {contrast.sub(r"\1[", name): verdict for name, verdict in verdicts.items()}


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(5))
def test_fixed_effects_are_the_indicators_of_their_levels(family, seed):
    frame = a_panel(seed, family=family)
    year = f"C(year, contr.treatment(base='{reference(frame, 'year')}'))"
    firm, first = "C(firm)", "0"
    if family == "ordinal":  # thresholds stand in place of the intercept
        firm = f"C(firm, contr.treatment(base={reference(frame, 'firm')}))"
        first = "1"
    ours = diagnose_formula("y ~ x | firm + year", frame, family=family)
    theirs = diagnose_formula(
        f"y ~ {first} + x + {firm} + {year}", frame, family=family
    )
    assert ours.proved
    assert ours.status == theirs.status
    assert ours.rank == theirs.rank
    np.testing.assert_array_equal(ours.separated_rows, theirs.separated_rows)
    for kind in ("estimates", "estimates_without_aliased"):
        assert getattr(ours, kind) == plain(getattr(theirs, kind))
    assert ours.certificate is not None
    ours.certificate.verify(*ours.certificate_data())


@pytest.mark.parametrize("seed", range(5))
def test_combined_factors_are_the_indicators_of_the_cells(seed):
    frame = a_panel(seed, n=80)
    frame["cell"] = frame.firm.astype(str) + "^" + frame.year
    ours = linsep.diagnose("y ~ x | firm^year", frame, family="poisson")
    theirs = linsep.diagnose("y ~ 0 + x + C(cell)", frame, family="poisson")
    assert ours.status == theirs.status
    np.testing.assert_array_equal(ours.separated_rows, theirs.separated_rows)
    assert {
        n.replace("firm^year", "C(cell)"): v for n, v in ours.estimates.items()
    } == (theirs.estimates)
    for firm, year in {(11, year) for year in frame.year[frame.firm == 11]}:
        rows = int(((frame.firm == firm) & (frame.year == year)).sum())
        assert ours.estimates[f"firm^year[{firm}^{year}]"] == "-inf"
        where = "1 row" if rows == 1 else f"{rows} rows"
        sentence = f"firm = {firm} and year = {year} in {where}, all y = 0."
        assert sentence in ours.summary() or " more columns predict" in ours.summary()


def test_the_summary_names_the_level():
    frame = a_panel()
    answer = linsep.diagnose("y ~ x | firm + year", frame, family="poisson")
    n_rows = int((frame.firm == 11).sum())
    lines = answer.summary().splitlines()
    assert lines[1] == f"firm = 11 in {n_rows} rows, all y = 0."
    assert lines[2] == "The simplest direction found uses one column, firm[11]."
    assert answer.estimates["firm[11]"] == "-inf"
    assert answer.estimates["firm[10]"] == "finite"
    assert set(answer.separated_rows) == set(np.flatnonzero(frame.firm == 11))
    n_firms, last = frame.firm.nunique(), reference(frame, "year")
    assert (
        f"Fixed effects as columns: firm, {n_firms} levels in place of the intercept; "
        f"year, 4 levels, the reference is {last}."
    ) in answer.findings


def test_a_reference_level_of_one_outcome_is_named():
    frame = a_panel(1)
    common = reference(frame, "year")
    frame["y"] = np.where(frame.year == common, 0, 1 + frame.y)
    answer = linsep.diagnose("y ~ x | firm + year", frame, family="poisson")
    n_rows = int((frame.year == common).sum())
    assert f"year = {common} in {n_rows} rows, all y = 0." in answer.summary()
    assert not any(f"year[T.{common}]" in name for name in answer.coefficient_names)


@pytest.mark.parametrize("right", ["1", "0", "x", "C(year)", "x + C(year):x"])
def test_what_stands_before_the_bar_is_as_without_it(right):
    frame = a_panel(2)
    ours = linsep.diagnose(f"y ~ {right} | firm", frame, family="poisson")
    theirs = linsep.diagnose(f"y ~ {right} + C(firm)", frame, family="poisson")
    assert ours.status == theirs.status
    assert ours.rank == theirs.rank
    np.testing.assert_array_equal(ours.separated_rows, theirs.separated_rows)


def test_a_dot_leaves_the_fixed_effects_out():
    frame = a_panel()
    answer = linsep.diagnose("y ~ . | firm^year", frame, family="poisson")
    names = [name for name in answer.coefficient_names if "^" not in name]
    assert names == ["x"]


def test_rows_without_a_value_are_left_out():
    frame = a_panel(3)
    frame["firm"] = frame.firm.astype(float)
    frame.loc[[0, 5], "firm"] = np.nan
    frame.loc[[5, 7], "year"] = None
    frame.loc[9, "x"] = np.nan
    whole = frame.dropna().astype({"firm": int})
    ours = linsep.diagnose("y ~ x | firm + year", frame, family="poisson")
    theirs = linsep.diagnose("y ~ x | firm + year", whole, family="poisson")
    assert ours.coefficient_names == theirs.coefficient_names
    np.testing.assert_array_equal(
        ours.separated_rows, whole.index[theirs.separated_rows]
    )
    assert "4 rows with missing values left out." in ours.findings
    with pytest.raises(linsep.InputError, match="no missing value"):
        linsep.diagnose("y ~ x | firm", frame.assign(firm=np.nan))


def test_levels_without_a_weight_have_no_column():
    frame = a_panel(4)
    weight = (frame.firm != 11).astype(int)
    ours = linsep.diagnose(
        "y ~ x | firm + year", frame, family="poisson", sample_weight=weight
    )
    theirs = linsep.diagnose(
        "y ~ x | firm + year", frame[frame.firm != 11], family="poisson"
    )
    assert ours.estimates == theirs.estimates
    assert ours.collinear == theirs.collinear == {}


@pytest.mark.parametrize(
    "kind", ["text", "category", "bool", "dates", "floats", "mixed", "polars", "dict"]
)
def test_factors_of_any_kind(kind):
    frame = a_panel(5)
    number = frame.firm.map({f: k for k, f in enumerate(sorted(frame.firm.unique()))})
    values = {
        "text": number.map("level {}".format),
        "category": pd.Categorical(number.map("z{}".format)),
        "bool": number == 1,
        "dates": pd.Timestamp("2020-01-01") + pd.to_timedelta(number, unit="D"),
        "floats": number + 0.5,
        "mixed": pd.Series([1, "1a", 2.5, None, (1, 2), "b", 7, 8, 9])[number].array,
    }.get(kind, number)
    frame["factor"] = values
    data = frame
    if kind == "polars":
        data = pytest.importorskip("polars").DataFrame(frame.to_dict("list"))
    elif kind == "dict":
        data = frame.to_dict("list")
    ours = linsep.diagnose("y ~ x | factor", data, family="poisson")
    kept = frame.factor.notna()
    assert ours.rank == 1 + frame.factor[kept].nunique()
    assert set(ours.separated_rows) >= set(np.flatnonzero((frame.firm == 11) & kept))


LEVELS = [
    ("b]:h[c", "T.b", "[T.]"),
    ("a:b", "`b`", "^"),
    ("", " ", "|"),
    ("0", "-", "{}"),
]


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("name", ["g", "a b", "g[T.b]", "x|y", "C(g)", "1"])
def test_factors_and_levels_may_be_called_anything(levels, name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(levels, 60), "z": rng.standard_normal(60)})
    frame["y"] = np.where(frame[name] == levels[1], 0, rng.integers(0, 2, 60))
    formula = f"y ~ z | `{name}`"
    answer = linsep.diagnose(safe_formula(formula, set(frame)), frame)
    assert set(np.flatnonzero(frame[name] == levels[1])) <= set(answer.separated_rows)
    assert answer.estimates[f"{name}[{levels[1]}]"] == "-inf"
    n_rows = int((frame[name] == levels[1]).sum())
    assert f"{name} = {levels[1]} in {n_rows} rows, all y = 0." in answer.summary()


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ("firm[x]", r"slopes.*C\(firm\):x \| firm"),
        ("firm[[x]]", r"slopes"),
        ("csw(firm, year)", "one model"),
        ("csw0(firm, year)", "one model"),
        ("sw(firm, year)", "one model"),
        ("firm:year", r"write \^ in place of :"),
        ("firm*year", r"write \^ in place of \*"),
        ("firm - year", "got '-'"),
        ("C(firm)", r"without C\(\) or i\(\)"),
        ("i(firm)", r"without C\(\) or i\(\)"),
        ("log(x)", "transforms before the"),
        ("firm + firm", "each factor once"),
        ("firm^year + year^firm", "each factor once"),
        ("firm^firm", "each column once"),
        ("firm +", r"got '\+'"),
        ("^firm", r"got '\^'"),
        ("firm year", "got 'year'"),
        ("0", "got '0'"),
        ("firmm", "no column; the data have firm, year, x, y"),
        ("firm | year", "instruments"),
        ("", "fixed effects after it"),
        ("__import__('os').system('true')", "fixed effects must be"),
        ("firm`", "got '`'"),
    ],
)
def test_other_fixed_effects_are_refused(effects, said):
    frame = a_panel()
    formula = f"y ~ x | {effects}"
    with pytest.raises(linsep.InputError, match=said):
        linsep.diagnose(formula, frame, family="poisson")
    with pytest.raises(linsep.InputError, match=said):
        safe_formula(formula, list(frame))


def test_terms_before_the_bar_are_asked_for():
    with pytest.raises(linsep.InputError, match=r"write 'y ~ 1 \| firm'"):
        linsep.diagnose("y ~ | firm", a_panel())


def test_a_bar_in_quotes_and_brackets_is_none():
    assert split_at_bar("`a|b` + I(x | z) | `c|d`") == ("`a|b` + I(x | z)", "`c|d`")
    assert split_at_bar("`a|b`") == ("`a|b`", None)
    assert named_factors("`c|d`^e + f", ["c|d", "e", "f"]) == [("c|d", "e"), ("f",)]


def test_strangers_fixed_effects():
    names = [f"x{k}" for k in range(300)]
    formula = f"y ~ x0 | {'^'.join(names[:80])} + " + " + ".join(names[100:190])
    assert safe_formula(formula, {"y", *names}) == formula
    with pytest.raises(linsep.InputError, match="at most 100 fixed effects"):
        safe_formula("y ~ 1 | " + " + ".join(names), {"y", *names})
    with pytest.raises(linsep.InputError, match="may hold names of columns"):
        safe_formula("y ~ eval(x0) | x1", {"y", *names})


def test_thousands_of_levels_are_never_dense():
    # Dense, these columns would take 1.2 GB.
    rng = np.random.default_rng(0)
    n, n_firms, n_years = 50_000, 3_000, 50
    frame = pd.DataFrame(
        {
            "y": rng.integers(0, 2, n),
            "x": rng.standard_normal(n),
            "firm": rng.integers(0, n_firms, n),
            "year": rng.integers(0, n_years, n),
        }
    )
    study_from_formula("y ~ x | firm", frame[:100])  # what is imported is not counted
    tracemalloc.start()
    study = study_from_formula("y ~ x | firm + year", frame, family="poisson")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 60 * 2**20
    assert sparse.issparse(study.X)
    common = reference(frame, "year")
    assert study.X.nnz == 2 * n + int((frame.year != common).sum())
    assert study.X.shape == (n, 1 + n_firms + n_years - 1)
    name = study.names.index("firm[17]")
    np.testing.assert_array_equal(
        study.X[:, [name]].toarray().ravel() == 1, frame.firm == 17
    )


@given(st.integers(0, 2**32 - 1), st.sampled_from(FAMILIES))
def test_counts_tell_of_levels_what_the_columns_tell(seed, family):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    frame = pd.DataFrame(
        {
            "g": rng.integers(0, int(rng.integers(1, 6)), n),
            "h": rng.integers(0, 3, n),
            "y": rng.integers(0, 2 if family == "binomial" else 3, n),
        }
    )
    frame["y"] = np.where(frame.g == 0, frame.y.max(), frame.y)
    if frame.y.nunique() < 2:
        return
    formula = str(rng.choice(["y ~ C(g) + C(h)", "y ~ 1 | g + h", "y ~ C(h) | g^h"]))
    study = study_from_formula(formula, frame, family=family)
    columns = level_columns(study)
    assert len(columns) == len(study.names)
    by_counts = level_column_reasons(study, columns)
    by_columns, _ = reasons_of(study, True, lambda: False)
    said = []
    for reasons in (by_columns, by_counts):
        found = defaultdict(set)
        for reason in reasons:
            assert reason.is_level
            found[reason.column].update(
                (claim_text(study, claim), tuple(claim.rows.tolist()))
                for claim in reason.claims
            )
        rows = {(r.column, tuple(r.predicted.tolist())) for r in reasons}
        said.append((dict(found), rows))
    assert said[0] == said[1]


@pytest.mark.parametrize("numbers", [[[1.0, 2.0]] * 4, [[1.0, 0.0]] * 4, [[]] * 4])
def test_numbers_are_put_to_the_left_of_levels(numbers):
    first, second = np.array([0, 2, 1, 1, 0]), np.array([3, -1, 4, 3, -1])
    names = tuple("abcde")
    made = Absorbed(np.array([first, second], np.int32).T, names, (), {}, ())
    rows = np.array([0, 1, 3, 4])
    levels = np.eye(5)[first]
    levels[second >= 0] += np.eye(5)[second[second >= 0]]
    expected = np.hstack([numbers, levels[rows]])
    for matrix in (np.array(numbers), sparse.csr_array(np.array(numbers))):
        whole = made.beside(matrix, rows)
        np.testing.assert_array_equal(whole.toarray(), expected)
        assert whole.has_canonical_format
        assert whole.nnz == np.count_nonzero(expected)
