"""Findings that are not exceptions, and the sentences and tables people read."""

import pickle

import numpy as np
import pandas as pd
import pytest

import linsep
from linsep.diagnosis.report.chance import chance_of_separation


def lines(answer):
    return answer.summary().splitlines()


@pytest.mark.parametrize(
    ("label", "verdict"), [(0, "-inf"), (1, "+inf"), ("no", "-inf")]
)
def test_one_class_is_a_finding(label, verdict):
    answer = linsep.diagnose(np.empty((3, 0)), [label] * 3)
    assert answer.status == "complete"
    assert answer.estimates["intercept"] == verdict
    assert f"One class only: every row has y = {label}" in answer.findings[0]
    answer.certificate.verify(*answer.certificate_data())


def test_one_class_without_intercept_may_overlap():
    answer = linsep.diagnose([[1.0], [-1.0], [0.0]], [0, 0, 0], fit_intercept=False)
    assert answer.status == "overlap"
    answer.certificate.verify(*answer.certificate_data())


@pytest.mark.parametrize("family", ["poisson", "multinomial", "ordinal"])
def test_one_level_of_any_family_is_a_finding(family):
    answer = linsep.diagnose([[1.0], [2.0]], [0, 0], family=family)
    assert answer.status == "complete"
    assert answer.findings


def test_contradictory_and_repeated_rows_are_findings():
    answer = linsep.diagnose([[1], [1], [2], [3], [3]], [0, 1, 1, 0, 0])
    assert any("share all their columns" in text for text in answer.findings)
    assert any("3 distinct rows of columns among 5 rows" in t for t in answer.findings)


def test_collinearity_is_told_apart_from_separation():
    X = pd.DataFrame({"a": [0, 1, 2, 3.0, 1], "b": [1, 3, 5, 7.0, 3]})
    answer = linsep.diagnose(X, [0, 1, 0, 1, 0])
    assert answer.status == "overlap"
    assert answer.collinear == {"b": "1 + 2*a"}
    assert answer.rank == 2
    assert "rank 2 of 3; b = 1 + 2*a" in answer.summary()
    assert answer.to_frame().loc["b", "combination_of"] == "1 + 2*a"
    assert answer.to_frame().loc["b", "estimate_without_aliased"] == "left out"


def test_columns_that_rounding_keeps_apart_are_flagged():
    rng = np.random.default_rng(0)
    x = rng.standard_normal(50)
    answer = linsep.diagnose(np.column_stack([x, 3 * x + 0.1]), np.arange(50) % 2)
    assert answer.rank == 3
    assert any(text.startswith("Nearly collinear") for text in answer.findings)
    plain = linsep.diagnose(np.column_stack([x, x**2]), np.arange(50) % 2)
    assert plain.findings == ()


def test_a_column_in_two_sentences():
    answer = linsep.diagnose([[1], [2], [3], [4]], [0, 0, 1, 1], feature_names=["age"])
    assert lines(answer)[1:4] == [
        "age >= 3 in 2 rows, all y = 1.",
        "age <= 2 in 2 rows, all y = 0.",
        "The simplest direction found uses one column, age.",
    ]


def test_a_falling_column_and_a_tie():
    y = pd.Series(["ill", "ill", "well", "ill", "well"], name="state")
    answer = linsep.diagnose([[5], [4], [3], [3], [1]], y, feature_names=["dose"])
    assert "dose > 3 in 2 rows, all state = ill." in lines(answer)
    assert "dose = 1 in 1 row, all state = well." in lines(answer)


def test_without_intercept_only_zero_parts():
    X, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    assert linsep.diagnose(X, y, fit_intercept=False).status == "overlap"
    answer = linsep.diagnose([[-1.0], [2.0], [0.0]], [0, 1, 1], fit_intercept=False)
    assert answer.separated_rows.tolist() == [0, 1]
    assert "x0 = 2 in 1 row, all y = 1." in lines(answer)


def test_two_columns_are_needed_and_named():
    corners = [[a, b] for a in (0, 1, 2) for b in (0, 1, 2)]
    y = [int(a + b > 2) if a + b != 2 else (a > 1) for a, b in corners]
    # Rows with a + b = 2 are of both classes, twice over.
    X, y = [*corners, [1, 1], [2, 0], [0, 2]], [*y, 1, 0, 1]
    answer = linsep.diagnose(X, y)
    assert answer.status == "quasi-complete"
    said = " ".join(answer.sentences())
    assert "x0 + x1 - 2 is never negative where y = 1" in said


def test_poisson_sentence():
    X = pd.DataFrame({"war": [0, 0, 1, 1, 0], "x": [1.0, 2, 1, 3, 3]})
    trade = pd.Series([2.5, 0, 0, 0, 1], name="trade")
    answer = linsep.diagnose(X, trade, family="poisson")
    assert answer.separated_rows.tolist() == [2, 3]
    assert "war = 1 in 2 rows, all trade = 0." in lines(answer)
    assert answer.estimates["war"] == "-inf"


def test_remedies_are_named_and_none_is_chosen():
    X = [[0, 1], [0, 2], [0, 3], [0, 2], [1, 1], [1, 3]]
    text = linsep.diagnose(X, [0, 1, 0, 0, 1, 1]).summary()
    for remedy in ("Firth", "merging the levels", "exact", "dropping the"):
        assert remedy in text
    assert "none chosen for you" in text
    overlap = linsep.diagnose([[0], [1], [0], [1]], [0, 1, 1, 0])
    assert "remedies" not in overlap.summary()


def test_cover_counts_five_points_of_the_plane():
    assert chance_of_separation(5, 3, 2).any_balance == 22 / 32
    assert chance_of_separation(4, 4, 2).any_balance == 1.0
    # Ten points on a line: two labellings of each balance but one half.
    assert chance_of_separation(10, 2, 5).any_balance == 20 / 1024
    # Exact integers up to 2,000 rows, logarithms beyond: they meet.
    one, other = (chance_of_separation(n, 1990, 1000) for n in (2000, 2001))
    assert one.any_balance == pytest.approx(1.0)
    assert other.any_balance == pytest.approx(1.0)
    one, other = (chance_of_separation(n, 900, 1000) for n in (2000, 2001))
    assert 0.9 < other.any_balance / one.any_balance < 1


def test_cover_bounds_labellings_counted_one_by_one():
    from itertools import product

    rng = np.random.default_rng(0)
    X = rng.standard_normal((7, 2))
    found = [
        (sum(labels), linsep.diagnose(X, labels).status == "complete")
        for labels in product([0, 1], repeat=7)
    ]
    share = sum(complete for _, complete in found) / len(found)
    assert share == pytest.approx(chance_of_separation(7, 3, 3).any_balance)
    with_three = [complete for k, complete in found if k == 3]
    bound = chance_of_separation(7, 3, 3).same_balance
    assert sum(with_three) / len(with_three) <= bound


def test_html_escapes_what_comes_from_the_data():
    X = pd.DataFrame({"<b>x</b>": [0.0, 1, 2, 3]})
    y = pd.Series(["<i>", "<i>", "u", "u"], name="<script>")
    html = linsep.diagnose(X, y)._repr_html_()
    assert "<b>x" not in html
    assert "<script>" not in html
    assert "<i>" not in html
    assert "&lt;b&gt;x" in html


def test_frame_has_a_line_for_every_coefficient():
    answer = linsep.diagnose([[0, 1], [0, 2], [1, 1], [0, 1]], [0, 1, 1, 1])
    frame = answer.to_frame()
    assert list(frame.index) == list(answer.estimates)
    assert frame.direction.tolist() == answer.direction.tolist()
    assert frame.loc["x0", "estimate"] == "+inf"


def test_pickled_answers_keep_summary_and_certificate():
    X, y = [[0, 1], [0, 2], [1, 1], [0, 1]], [0, 1, 1, 1]
    answer = linsep.diagnose(X, y)
    again = pickle.loads(pickle.dumps(answer))
    assert again.summary() == answer.summary()
    again.certificate.verify(X, y)
    with pytest.raises(ValueError, match="call diagnose again"):
        again.certificate_data()


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: linsep.diagnose([[1], [2]], [0, 1, 1]), "same number of rows"),
        (lambda: linsep.diagnose([[1], [2], [3]], [0, 1, 2]), "multinomial"),
        (
            lambda: linsep.diagnose([[1], [2]], [0, -1], family="poisson"),
            "non-negative",
        ),
        (lambda: linsep.diagnose([[1], [2]], [0, 1], family="tobit"), "family must be"),
        (lambda: linsep.diagnose([[1], [2]], [0, 1], sample_weight=[1]), "each of the"),
        (lambda: linsep.diagnose([[1], [2]], [0, 1], sample_weight=[1, -1]), "row 1"),
        (
            lambda: linsep.diagnose([[1], [2]], [0, 1], sample_weight=[0, 0]),
            "none with",
        ),
        (
            lambda: linsep.diagnose([[1], [2]], [0, 1], feature_names=["a", "b"]),
            "1 col",
        ),
        (lambda: linsep.diagnose([[1]], [0], feature_names=["intercept"]), "rename"),
        (lambda: linsep.diagnose([[1], [2]], [[1, -1], [0, 1]]), "row 0"),
        (lambda: linsep.diagnose([[1], [2]], [0, 1], time_limit=0), "time_limit"),
        (lambda: linsep.diagnose([[1], [2]], [0, 1], random_state=-1), "random_state"),
        (lambda: linsep.diagnose(), "got nothing"),
        (lambda: linsep.diagnose([[1], [2]]), "the design and the outcome"),
        (lambda: linsep.diagnose(np.empty((2, 0)), [0, 1], fit_intercept=False), "col"),
    ],
)
def test_errors_say_what_must_hold(call, text):
    with pytest.raises(linsep.InputError, match=text):
        call()


def test_tables_in_latex_escape_names_and_tell_what_is_left_out():
    frame = pd.DataFrame({"a_b": [0.0, 1, 2, 3], "50 % \\x{y}^2~\x1b": [0.0, 2, 4, 6]})
    made = linsep.diagnose(frame, [0, 0, 1, 1]).to_latex().splitlines()
    assert made[2:-2] == [
        "Coefficient & Maximum likelihood estimate & Without collinear columns \\\\",
        "\\midrule",
        "intercept & $-\\infty$ & $-\\infty$ \\\\",
        "a\\_b & not identified & $+\\infty$ \\\\",
        "50 \\% \\textbackslash{}x\\{y\\}\\textasciicircum{}2\\textasciitilde{}"
        "\\textbackslash{}u001b & not identified & left out \\\\",
    ]
