"""Sentences of a summary that must not be said where they are not true."""

import re

import numpy as np
import pandas as pd
import pytest

import linsep

GROUPED = pd.DataFrame(
    {
        "y": [1, 1, 1, 0, 1, 0, 1, 0, 1],
        "x": [1.0, 2, 3, 1, 2, 4, 1, 5, 2],
        "g": list("aaabbbccc"),
    }
)
SUM, HELMERT, POLY = (f"C(g, contr.{kind})" for kind in ("sum", "helmert", "poly"))


def lines(answer):
    return answer.summary().splitlines()


def one_line(answer):
    return " ".join(answer.summary().split())


def rows_with_a_rare_level():
    """Two classes that overlap along x, and three rows of a level of their own."""
    x = np.arange(200.0)
    rare = np.zeros(200)
    rare[[3, 90, 171]] = 1.0
    y = (np.arange(200) // 2) % 2
    y[[3, 90, 171]] = 1
    return np.column_stack([x, rare]), y


def test_quasi_complete_separation_is_not_called_informative():
    answer = linsep.diagnose(*rows_with_a_rare_level())
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == [3, 90, 171]
    assert "Cover" not in answer.summary()
    assert "Separation is informative" not in answer.summary()


def test_a_rare_level_separates_under_most_labels():
    # What the bound on complete separation would have called all but impossible.
    X, _ = rows_with_a_rare_level()
    rng = np.random.default_rng(0)
    kinds = [linsep.diagnose(X, rng.integers(0, 2, 200)).status for _ in range(40)]
    assert kinds.count("quasi-complete") >= 4  # a quarter is expected
    assert kinds.count("complete") == 0


def test_complete_separation_is_called_informative_and_bounds_round_up():
    text = linsep.diagnose(np.arange(30.0)[:, None], [0] * 15 + [1] * 15).summary()
    assert "Separation is informative here" in text
    # 60 of 2^30 labellings: 5.588e-08.
    assert "at most 5.6e-08" in text
    shown = [
        float(number) for number in re.findall(r"at most (\S+?)[. ;]", text[-200:])
    ]
    assert shown[0] >= 60 / 2**30


def test_a_bound_of_one_is_not_printed():
    answer = linsep.diagnose([[0.0, 1], [1, 0], [1, 1]], [0, 0, 1])
    assert answer.status == "complete"
    assert "probability" not in answer.summary()
    said = "Any labels would be separable: the 3 distinct rows"
    assert lines(answer)[1].startswith(said)
    assert "each of their 2^3 labellings (Cover 1965)" in one_line(answer)


@pytest.mark.parametrize(
    "term", ["g", SUM, HELMERT, POLY, 'C(g, contr.treatment("c"))']
)
@pytest.mark.parametrize("level", ["a", "b", "c"])
def test_every_level_is_named_in_every_coding(term, level):
    data = GROUPED.copy()
    data.loc[[0, 3, 6], "y"] = 0  # all levels mixed, then one of them pure
    data.loc[[1, 4, 7], "y"] = 1
    data.loc[data.g == level, "y"] = 1
    answer = linsep.diagnose(f"y ~ x + {term}", data)
    assert np.isin(np.flatnonzero(data.g == level), answer.separated_rows).all()
    assert f"g = {level} in 3 rows, all y = 1." in lines(answer)
    assert "together only" not in answer.summary() or answer.separated_rows.size > 3


def test_a_contrast_column_is_no_indicator():
    data = GROUPED.assign(y=[1, 1, 1, 0, 0, 0, 0, 0, 0])
    text = linsep.diagnose(f"y ~ {SUM}", data).summary()
    assert "S.a" not in text.split("\n")[1]
    assert "other than" not in text
    for level, outcome in (("a", 1), ("b", 0), ("c", 0)):
        assert f"g = {level} in 3 rows, all y = {outcome}." in text


def test_levels_are_named_by_what_a_statsmodels_design_tells():
    sm = pytest.importorskip("statsmodels.api")
    smf = pytest.importorskip("statsmodels.formula.api")
    for term in ("g", "C(g, Sum)"):
        model = smf.logit(f"y ~ x + {term}", GROUPED)
        assert "g = a in 3 rows, all y = 1." in lines(linsep.diagnose(model))
        X = pd.DataFrame(model.exog, columns=model.exog_names)
        text = linsep.diagnose(sm.Logit(model.endog, X)).summary()
        where = "g other than b, c (the reference level)"
        if term != "g":
            where = "C(g, Sum)[S.a] = 1 and C(g, Sum)[S.b] = 0"
        assert f"{where} in 3 rows, all y = 1." in text


def test_levels_of_rows_with_weight_zero_and_missing_values():
    data = pd.concat([GROUPED, GROUPED.tail(2)], ignore_index=True)
    data.loc[9, "x"] = np.nan
    weights = np.ones(11)
    weights[0] = 0
    answer = linsep.diagnose("y ~ x + g", data, sample_weight=weights)
    assert answer.separated_rows.tolist() == [1, 2]
    assert "g = a in 2 rows, all y = 1." in lines(answer)


def test_ordinal_columns_are_named():
    X, y = [[0], [0], [0], [1], [1], [0]], [0, 1, 0, 2, 2, 2]
    answer = linsep.diagnose(X, y, family="ordinal", feature_names=["d"])
    assert answer.separated_rows.tolist() == [3, 4]
    assert lines(answer)[1:3] == [
        "d = 1 in 2 rows, all y = 2.",
        "The simplest direction found uses one column, d.",
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_ordinal_levels_in_order(sign):
    X = [[sign * value] for value in (1, 2, 2, 4, 5, 6)]
    answer = linsep.diagnose(X, [0, 0, 1, 1, 2, 2], family="ordinal")
    said = lines(answer)
    assert answer.separated_rows.tolist() == [0, 3, 4, 5]
    low, high = ("<=", ">=") if sign > 0 else (">=", "<=")
    assert f"x0 = {sign} in 1 row, all y = 0." in said
    assert f"x0 = {4 * sign} in 1 row, all y = 1." in said
    assert f"x0 {high} {5 * sign} in 2 rows, all y = 2." in said
    assert not any(f"x0 {low}" in text for text in said)


def test_ordinal_reasons_are_separated_rows_of_the_outcome_named():
    rng = np.random.default_rng(1)
    n_checked = 0
    for _ in range(100):
        X = rng.integers(-2, 3, (6, 2)).astype(float)
        y = rng.integers(0, 3, 6)
        answer = linsep.diagnose(X, y, family="ordinal")
        for text in lines(answer):
            match = re.fullmatch(r"(.* in (\d+) rows?, all y = (\d))\.", text)
            if match:
                n_checked += 1
                condition = re.sub(r"(?<![<>])=(?!=)", "==", match[1].split(" in ")[0])
                for j in range(2):
                    condition = condition.replace(f"x{j}", f"row[{j}]")
                rows = [i for i, row in enumerate(X) if eval(condition)]
                assert len(rows) == int(match[2])
                assert {str(y[i]) for i in rows} == {match[3]}
                assert np.isin(rows, answer.separated_rows).all()
    assert n_checked > 10


@pytest.mark.parametrize("family", ["binomial", "poisson", "multinomial", "ordinal"])
def test_one_outcome_needs_no_column(family):
    text = linsep.diagnose([[1.0], [2.0]], [0, 0], family=family).summary()
    assert "No column is needed: the" in text
    assert "0 columns" not in text
    assert "together" not in text
    assert "fewer columns" not in text


def test_two_ways_to_write_the_same_are_written_once():
    X, y = [[1.0], [1], [2], [2], [2]], list("AABCB")
    text = linsep.diagnose(X, y, family="multinomial").summary()
    assert "x0 = 1 in 2 rows, all y = A." in text
    assert "other than B" not in text
    assert "other than C" not in text


def test_counts_of_one():
    text = linsep.diagnose([[1], [1]], [0, 1]).summary()
    assert "1 distinct row of columns among 2 rows." in text
    text = linsep.diagnose([[1], [2]], [[1, 1], [0, 1]]).summary()
    assert "1 row holds both outcomes" in text


def test_no_column_is_blamed_where_no_row_is_separated():
    X, y = [[0], [0], [1], [1]], list("ABBC")
    answer = linsep.diagnose(X, y, family="multinomial")
    assert (answer.status, answer.separated_rows.size) == ("quasi-complete", 0)
    assert "that predict perfectly" not in answer.summary()


def test_noise_and_long_numbers_are_not_printed():
    x = np.linspace(0.1, 0.9, 9)
    data = GROUPED.assign(h=GROUPED.g, z=x)
    text = linsep.diagnose(f"y ~ {POLY} + C(h) + z", data).summary()
    assert "C(h)[T.b] = 0.333333 - 0.816497*C(g, contr.poly)[.Q]" in text
    smf = pytest.importorskip("statsmodels.formula.api")
    wide = linsep.diagnose(smf.logit("y ~ x * C(g, Poly)", GROUPED)).summary()
    for shown in (text, wide):
        assert not re.search(r"e[-+]\d\d", shown)


def test_influential_rows_for_overlap_are_the_only_set():
    X, y = [[0], [1], [2], [0]], [0, 1, 1, 1]
    found = linsep.influential_rows(X, y, goal="overlap")
    assert found.rows.tolist() == [1, 2]
    assert found.n_left == 2
    assert "every one of them must go (proved)" in found.summary()
    assert "other sets" not in found.summary()


@pytest.mark.parametrize("y", [[0, 0, 1], [1, 1, 1]])
def test_no_removal_restores_overlap_of_complete_data(y):
    found = linsep.influential_rows([[0], [1], [2]], y, goal="overlap")
    assert found.summary().startswith("No removal restores overlap")
    assert "Removing" not in found.summary()


def test_one_row_in_the_way_of_a_hyperplane():
    text = linsep.separate([[0.0]], [1], fit_intercept=False).summary()
    assert text.startswith(
        "Inseparable: no hyperplane separates even this one row. (1 row, 1 feature.)"
    )
    assert "1 row stands in the way: with the weight below, its values are" in text
    no_features = linsep.separate(np.empty((2, 0)), [0, 1]).summary().splitlines()
    assert "(2 rows, 0 features.)" in no_features[0]
    assert no_features[-1] == "  row 1, 1, weight 0.5"
