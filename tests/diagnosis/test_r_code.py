"""The R of the remedies runs in R, and fits what the Python beside it fits."""

import re
import shutil
import subprocess
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from helpers import known_cases

sm = pytest.importorskip("statsmodels.api")
OrderedModel = pytest.importorskip("statsmodels.miscmodels.ordinal_model").OrderedModel
smf = pytest.importorskip("statsmodels.formula.api")


def a_frame(outcome):
    """Rows of whom those of ward c have one outcome only; one is without an age."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "ward": rng.choice(["a", "b", "c"], 90, p=[0.5, 0.4, 0.1]),
            "age at entry": rng.standard_normal(90).round(3),
            "dose": rng.integers(0, 5, 90),
        }
    )
    y = rng.integers(0, 3 if outcome in ("kind", "grade", "visits") else 2, 90)
    y[frame.ward == "c"] = 0
    words = {"died": "no yes", "kind": "apple pear fig", "grade": "low mid top"}
    if outcome == "grade":
        order = words[outcome].split()
        frame[outcome] = pd.Categorical.from_codes(y, order, ordered=True)
    else:
        frame[outcome] = np.array(words[outcome].split())[y] if outcome in words else y
    frame.loc[3, "age at entry"] = np.nan
    return frame


def diagnoses():
    """Yield names, diagnoses, and the data as R is to have them."""
    for outcome, family in (
        ("died", "binomial"),
        ("visits", "poisson"),
        ("kind", "multinomial"),
        ("grade", "ordinal"),
    ):
        frame = a_frame(outcome)
        X, y = frame.drop(columns=outcome), frame[outcome]
        given = {"family": family, "missing": "drop"}
        yield family, linsep.diagnose(X, y, **given), frame
    frame = a_frame("died")
    yield "formula", linsep.diagnose("died ~ C(ward) * dose", frame), frame
    frame = a_frame("ill")
    for fit in (
        smf.probit("ill ~ ward + dose", frame),
        smf.glm("ill ~ ward + dose - 1", frame, family=sm.families.Binomial()),
    ):
        yield type(fit).__name__, linsep.diagnose(fit), frame
    grade = a_frame("grade")
    design = pd.get_dummies(grade[["ward", "dose"]], drop_first=True, dtype=float)
    ordered = OrderedModel(grade.grade, design, distr="logit")
    yield "OrderedModel", linsep.diagnose(ordered), design.assign(grade=grade.grade)
    two = frame.loc[frame.ward != "b", ["ward", "ill"]]  # without c one level is left
    yield "one factor", linsep.diagnose(two[["ward"]], two.ill), two
    many = pd.DataFrame(np.random.default_rng(1).normal(size=(90, 24))).add_prefix("x")
    many["pox"] = (frame.ward == "c").astype(int)
    yield "a dot", linsep.diagnose(many, frame.ill), many.assign(ill=frame.ill)
    weighted = linsep.diagnose(
        frame[["ward", "dose"]], frame.ill, sample_weight=frame.dose + 1
    )
    yield "weights", weighted, frame.assign(w=frame.dose + 1)
    counts = pd.DataFrame(
        {"yes": [3, 5, 0, 0, 2], "no": [4, 2, 6, 3, 9], "x": [0, 1, 3, 3, 2.0]}
    )
    counts["g"] = [0, 0, 1, 1, 0]
    yield "counts", linsep.diagnose("cbind(yes, no) ~ x + g", counts), counts


def fitted_in_r(scripts, folder):
    """Run scripts that end with a `fit`, each by itself, in one process of R.

    Returns their coefficients, or what R complained of.
    """
    lines = ['answer <- function(name, text) cat("\\n@", name, "@", text, "@")']
    for k, (code, data) in enumerate(scripts):
        data.to_csv(folder / f"{k}.csv", index=False)
        (folder / f"{k}.R").write_text(code)
        lines.append(
            f"""tryCatch({{
  e <- new.env(); e$d <- read.csv("{k}.csv", check.names = FALSE); e$w <- e$d$w
  set.seed(1); sys.source("{k}.R", e)
  found <- as.vector(if (is.list(b <- coef(e$fit))) unlist(lapply(b, as.vector)) else b)
  answer({k}, paste(format(found[!is.na(found)], digits = 12), collapse = " "))
}}, error = function(problem) answer({k}, conditionMessage(problem)))"""
        )
    (folder / "all.R").write_text("\n".join(lines))
    done = subprocess.run(
        ["Rscript", "--vanilla", "all.R"], cwd=folder, capture_output=True, text=True
    )
    found = re.findall(r"\n@ (\d+) @ ([^@]*) @", done.stdout)
    assert len(found) == len(scripts), done.stderr
    return [text for _, text in found]


def test_the_r_of_remedies_runs_and_fits_what_the_python_fits(tmp_path):
    if not shutil.which("Rscript"):
        pytest.skip("no R here: apt-get install r-base-core r-cran-brglm2")
    asked = [
        (name, answer, remedy, data)
        for name, answer, data in diagnoses()
        for remedy in answer.remedies()
        if remedy.r_code
    ]
    texts = fitted_in_r([(r.r_code, data) for *_, r, data in asked], tmp_path)
    n_run = n_compared = 0
    for (name, answer, remedy, _), text in zip(asked, texts, strict=True):
        if "there is no package called" in text:
            continue
        where = f"{name}\n{remedy.r_code}\n{text}"
        try:
            coef = np.array(text.split(), dtype=float)
        except ValueError:
            pytest.fail(where)
        n_run += 1
        assert np.isfinite(coef).all(), where
        if "brmultinom" in remedy.r_code or "cv.glmnet" in remedy.r_code:
            continue  # no such fit in Python, or folds drawn at random
        names = {"answer": answer}
        exec(remedy.code, names)
        if "fit" not in names or "ordinalNet" in remedy.r_code:
            continue
        fit = names["fit"]
        ours = getattr(fit, "params", None)
        if ours is None:
            ours = np.r_[fit.intercept_, np.ravel(fit.coef_)]
        ours = np.asarray(ours)[np.abs(ours) > 0]
        assert np.allclose(np.sort(coef), np.sort(ours), rtol=1e-3, atol=1e-4), where
        n_compared += 1
    if not n_run:
        pytest.skip("R has none of brglm2, glmnet and ordinalNet")
    assert n_compared >= 6


def test_detectseparation_says_what_the_page_of_comparisons_says(tmp_path):
    """Its verdicts and the signs it gives, beside those of exact arithmetic."""
    if not shutil.which("Rscript"):
        pytest.skip("no R here: apt-get install r-base-core")
    cases = [parameter.values[0] for parameter in known_cases("binary")]
    scripts = []
    for case in cases:
        data = pd.DataFrame(case["X"], dtype=float).add_prefix("x")
        low = min(case["y"])
        data["y"] = [int(label != low) for label in case["y"]]
        data["w"] = case.get("weights") or 1
        formula = f"y ~ . - w{' - 1' * (not case['intercept'])}"
        code = (
            f"f <- glm({formula}, data = d, family = binomial, weights = w,\n"
            "         method = detectseparation::detect_separation)\n"
            "b <- f$coefficients; b[is.na(b)] <- 9  # aliased\n"
            "fit <- list(coefficients = c(f$outcome, b))"
        )
        scripts.append((code, data))
    texts = fitted_in_r(scripts, tmp_path)
    if "there is no package called" in texts[0]:
        pytest.skip("R has no detectseparation")
    differing, wrongly_finite, wrongly_signed, n_coefficients = [], 0, 0, 0
    for case, text in zip(cases, texts, strict=True):
        is_separated, *signs = np.array(text.split(), dtype=float)
        if bool(is_separated) != (case["expected"] != "overlap"):
            differing.append(case["id"])
        for sign, ends in zip(signs, case.get("coef_range", ()), strict=False):
            low, high = (Fraction(end) for end in ends)
            n_coefficients += 1
            wrongly_finite += bool(sign == 0 and (low or high))
            wrongly_signed += bool(np.isinf(sign) and low < 0 < high)
    assert (len(cases), differing) == (40, ["float-touch-overlap"])
    assert (n_coefficients, wrongly_signed, wrongly_finite) == (83, 19, 8)
