"""The code of a remedy runs, and its fit is one that exists."""

import numpy as np
import pandas as pd
import pytest

import linsep
from random_designs import FAMILIES

sm = pytest.importorskip("statsmodels.api")
smf = pytest.importorskip("statsmodels.formula.api")


def a_frame(seed, family, n=80):
    """Rows of which those of level c, and the cell (b, v), hold one outcome only."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "g": rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1]),
            "h": rng.choice(["u", "v"], n),
            "x": rng.standard_normal(n),
        }
    )
    if family == "binomial":
        y = rng.integers(0, 2, n)
    elif family == "poisson":
        y = rng.poisson(1.5, n)
    else:
        y = rng.integers(0, 3, n)
    pure = (frame.g == "c") | ((frame.g == "b") & (frame.h == "v"))
    frame["y"] = np.where(pure, 0, y)
    return frame


def run(answer, name):
    """Run the code of a remedy, by what its name holds; return what it fitted."""
    [remedy] = [r for r in answer.remedies() if name in r.name]
    names = {"answer": answer}
    exec(remedy.code, names)
    return names["fit"]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", FAMILIES)
def test_all_code_runs_and_refits_have_standard_errors(family, seed):
    answer = linsep.diagnose("y ~ g*h + x", a_frame(seed, family), family=family)
    assert answer.status == "quasi-complete"
    for remedy in answer.remedies():
        names = {"answer": answer}
        for package in ("firthmodels", "statsmodels"):  # linsep brings the others
            said = f"# pip install {package}" in remedy.code.splitlines()
            assert said == (
                package in remedy.code.replace(f"# pip install {package}", "")
            )
        exec(remedy.code, names)
        fit = names.get("fit")
        if hasattr(fit, "bse"):
            assert np.isfinite(np.asarray(fit.bse, dtype=float)).all()
        elif fit is not None:
            coef = fit.coef_
            assert np.isfinite(coef).all()


def test_dropping_rows_leaves_what_was_finite_as_it_was():
    frame = a_frame(0, "binomial")
    fit = run(linsep.diagnose("y ~ g + x", frame), "leaving rows out")
    left = frame[frame.g != "c"]
    by_hand = smf.logit("y ~ g + x", left).fit(disp=False)
    assert fit.params["x"] == pytest.approx(by_hand.params["x"])
    assert fit.bse["x"] == pytest.approx(by_hand.bse["x"])


@pytest.mark.parametrize("kind", ["logit", "probit", "glm"])
def test_a_model_of_statsmodels_is_fitted_as_its_own_kind(kind):
    frame = a_frame(1, "binomial")
    family = {"family": sm.families.Binomial()} if kind == "glm" else {}
    model = getattr(smf, kind)("y ~ g + x", frame, **family)
    fit = run(linsep.diagnose(model), "leaving rows out")
    by_hand = getattr(smf, kind)("y ~ g + x", frame[frame.g != "c"], **family)
    settings = {} if kind == "glm" else {"disp": False}
    assert fit.params["x"] == pytest.approx(by_hand.fit(**settings).params["x"])


def test_counts_and_weights_are_kept():
    counts = pd.DataFrame(
        {"yes": [3, 5, 0, 0, 2], "no": [4, 2, 6, 3, 9], "x": [0, 1, 3, 3, 2.0]}
    )
    counts["g"] = [0, 0, 1, 1, 0]
    answer = linsep.diagnose("cbind(yes, no) ~ x + g", counts)
    assert answer.sentences()[1].startswith("g = 1: 9 observations in 2 rows, all no.")
    fit = run(answer, "leaving rows out")
    by_hand = smf.glm(
        "yes + no ~ x", counts[counts.g == 0], family=sm.families.Binomial()
    )
    assert fit.params["x"] == pytest.approx(by_hand.fit().params["x"])
    ridge = run(answer, "another penalty")
    assert ridge.coef_.shape == (1, 2)

    weighted = sm.GLM(
        [0, 1, 0, 1, 1, 1],
        sm.add_constant(
            pd.DataFrame({"x": [0, 1, 2, 3, 1, 1], "g": [0, 0, 0, 0, 1, 1]})
        ),
        sm.families.Binomial(),
        freq_weights=np.array([4, 3, 5, 2, 12, 12]),
    )
    answer = linsep.diagnose(weighted)
    first = answer.sentences()[0]
    assert "24 observations in 2 rows of 6" in first
    assert answer.sentences()[1] == "g = 1: 24 observations in 2 rows, all y = 1."
    fit = run(answer, "leaving rows out")
    X = np.c_[np.ones(14), np.repeat([0, 1, 2, 3], [4, 3, 5, 2])]
    by_hand = sm.Logit(np.repeat([0, 1, 0, 1], [4, 3, 5, 2]), X).fit(disp=False)
    assert fit.params["x"] == pytest.approx(by_hand.params[1], rel=1e-6)


def test_what_does_not_bring_the_estimate_back_is_not_advised():
    # Row 6 is predicted; of the rest class C is ruled out at x = 0.
    X = [[0, 0], [0, 0], [1, 0], [1, 0], [1, 0], [0, 0], [0, 1]]
    answer = linsep.diagnose(X, list("ABABCAA"), family="multinomial")
    assert answer.separated_rows.tolist() == [6]
    said = [line for line in answer.sentences() if "1 row separated" in line]
    assert len(said) == 1
    assert "does not bring the estimate back" in said[0]
    assert not any("leaving rows out" in remedy.name for remedy in answer.remedies())


def test_no_remedies_where_the_estimate_exists_or_nothing_is_known():
    X, y = [[0], [1], [0], [1]], [0, 1, 1, 0]
    assert linsep.diagnose(X, y).remedies() == []
    undecided = linsep.diagnose(X, y, time_limit=1e-9)
    assert undecided.remedies() == []
    with pytest.raises(linsep.InputError, match="call diagnose again"):
        undecided.design()


def test_rows_are_called_by_a_frames_index_and_lines_of_a_file(tmp_path):
    frame = pd.DataFrame(
        {"x": [1.0, 2, 3, 4, 9], "r": [0.0, 0, 0, 0, 1], "y": [0, 1, 0, 1, 1]},
        index=list("PQRST"),
    )
    answer = linsep.diagnose("y ~ x + r", frame)
    assert "Separated rows (by the frame's index): T." in " ".join(answer.sentences())
    table = answer.rows()
    assert list(table.columns) == ["r", "y"]
    assert list(table.index) == ["T"]
    found = linsep.influential_rows("y ~ x + r", frame, goal="overlap")
    assert "Removing 1 row (T) leaves no separated row" in found.summary()
    clash = linsep.separate(frame[["x"]], frame.y)
    assert "row Q, 1, weight" in clash.summary()

    path = tmp_path / "a.csv"
    path.write_text("x,y,r\n\n1,0,0\n2,1,0\n3,0,0\n4,1,0\n9,1,1\n")
    answer = linsep.diagnose(path, "y")
    assert "Separated rows (lines of the file): 7." in " ".join(answer.sentences())
    assert answer.rows() == {"row": [7], "y": [1], "r": [1.0]}
    assert "line 4, 1, weight" in linsep.separate(path, "y").summary()


def test_infinite_estimates_come_before_lists_that_are_cut():
    rng = np.random.default_rng(0)
    n = 200
    frame = pd.DataFrame({f"x{k:02}": rng.integers(-9, 9, n) for k in range(20)})
    frame["twice"] = 2 * frame.x00
    frame["rare"] = (np.arange(n) < 3) * 1.0
    y = rng.integers(0, 2, n)
    y[:3] = 1
    said = linsep.diagnose(frame, y).sentences()
    infinite = [k for k, line in enumerate(said) if "go to +inf" in line]
    finite = [k for k, line in enumerate(said) if "inite estimates: " in line]
    assert len(infinite) == 1
    assert "rare" in said[infinite[0]]
    assert infinite[0] < min(finite)
    assert said[infinite[0] + 1].startswith("Standard errors, Wald")
    assert len({line for line in said if "x07" in line}) <= 1


def test_thresholds_are_short_and_lines_fit():
    x = np.array([1.0123456789, 1.0734567891, 1.1085626195212777, 1.9])
    answer = linsep.diagnose(
        np.log(x)[:, None], [0, 0, 1, 1], feature_names=["long name"]
    )
    for line in answer.sentences()[1:3]:
        value = line.split()[3]
        assert len(value) <= 5, line
    for width in (88, 60):
        assert all(len(line) <= width for line in answer.summary(width).splitlines())


def test_a_remedy_prints_as_its_sentence_and_its_code():
    answer = linsep.diagnose([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    for remedy in answer.remedies():
        said = str(remedy).split("\n\n")[0]
        assert " ".join(said.split()) == remedy.text
        assert str(remedy).endswith(remedy.code)
        assert (f"It leaves {remedy.leaves}." in str(remedy)) == bool(remedy.leaves)


@pytest.mark.parametrize(
    ("formula", "is_merged"),
    [("y ~ g + x", True), ("y ~ 0 + g + x", False), ("y ~ x | g", False)],
)
def test_levels_are_merged_with_a_reference_where_there_is_one(formula, is_merged):
    frame = a_frame(0, "binomial").query("g != 'b' or h != 'v'")
    frame = frame.assign(y=np.where(frame.g == "c", 0, np.arange(len(frame)) % 2))
    [remedy] = [
        r for r in linsep.diagnose(formula, frame).remedies() if "merging" in r.name
    ]
    assert ("merged with the reference" in remedy.why) == is_merged
    assert ("has the effect zero" in remedy.why) == (not is_merged)


@pytest.mark.parametrize("family", ["conditional", "conditional poisson"])
def test_models_that_compare_within_groups_are_penalised_by_code(family):
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(20), 3)
    frame = pd.DataFrame(
        {"x": rng.normal(size=60).round(2), "exposed": 0, "set": group}
    )
    frame["y"] = np.tile([1, 0, 0], 20)
    frame.loc[frame.y == 1, "exposed"] = rng.integers(0, 2, 20)
    frame.loc[:2, "exposed"] = 0  # a set of nothing else to tell
    answer = linsep.diagnose(frame, "y", family=family, groups="set")
    assert str(answer.estimates["exposed"]) == "+inf"
    design = answer.design()
    assert design.groups.tolist() == group.tolist()
    params = run(answer, "penalty").params
    assert np.isfinite(params).all()
    assert params[list(design.names).index("exposed")] > 0
