"""No sentence of a summary is false: all are counted again on random regressions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import linsep
from random_designs import FAMILIES
from recount import Recount

FORMULAS = (
    "y ~ x + g",
    "y ~ g*h",
    "y ~ g*h + z",
    "y ~ x + z",
    "y ~ C(k) + h",
    "y ~ C(k)*h + x",
    "y ~ 0 + g + x",
    "y ~ g:h",
)


def random_frame(rng, family):
    """Two factors, a factor of numbers, two numbers, and an outcome they drive."""
    n = int(rng.integers(4, 40))
    frame = pd.DataFrame(
        {
            "g": rng.choice(list("abc"), n, p=rng.dirichlet([1, 1, 1])),
            "h": rng.choice(["u", "v"], n),
            "k": rng.integers(1, int(rng.integers(2, 6)), n).astype(float),
            "x": rng.integers(-3, 4, n).astype(float),
            "z": rng.standard_normal(n).round(int(rng.integers(0, 12))),
        }
    )
    push = rng.choice([0.5, 2.0, 8.0])
    eta = push * (frame.x / 3 + (frame.g == "a") - (frame.h == "u") * (frame.k == 1))
    eta = (eta - np.median(eta)).to_numpy()
    if family == "binomial":
        y = (rng.random(n) < 1 / (1 + np.exp(-eta))).astype(int).tolist()
        if rng.random() < 0.3:
            y = [("no", "yes")[value] for value in y]
    elif family == "poisson":
        y = rng.poisson(np.exp(np.clip(eta - 1, -6, 2))).tolist()
    else:
        code = np.digitize(eta + rng.logistic(size=n), [-1, 1])
        y = [("p", "q", "r")[value] for value in code]
    frame["y"] = y
    return frame


def columns_of(formula, frame, answer):
    """Write the design of a formula by hand: indicators by the columns' names."""
    made = {}
    names = [name.split(" [")[0] for name in answer.coefficient_names]
    for name in dict.fromkeys(names):
        if name == "intercept" or "|" in name:
            continue
        column = np.ones(len(frame))
        for part in name.split(":"):
            if "[" in part:
                factor = part[: part.index("[")].removeprefix("C(").removesuffix(")")
                level = part[part.index("[") + 1 : -1].removeprefix("T.")
                column = column * (frame[factor].astype(str) == level)
            else:
                column = column * frame[part]
        made[name] = np.asarray(column, dtype=float)
    return pd.DataFrame(made, index=frame.index)


def recount(seed):
    """Diagnose a random regression, and recount its summary."""
    rng = np.random.default_rng(seed)
    family = FAMILIES[seed % 4]
    frame = random_frame(rng, family)
    formula = str(rng.choice(FORMULAS))
    if family == "ordinal" and "0 +" in formula:
        formula = "y ~ g + x"
    weights = None
    if rng.random() < 0.3:
        weights = (rng.random(len(frame)) < 0.9).astype(float)
        weights[0] = 1.0
    answer = linsep.diagnose(formula, frame, family=family, sample_weight=weights)
    columns = columns_of(formula, frame, answer)
    values = pd.concat([frame.drop(columns="y"), columns], axis=1)
    has_constant = "0 +" not in formula and family != "ordinal"
    return Recount(
        answer, values.loc[:, ~values.columns.duplicated()], frame.y, columns,
        has_constant,
    ).judge()  # fmt: skip


def recount_counts(seed):
    """The same for grouped counts, given as arrays."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 15))
    X = pd.DataFrame({"a": rng.integers(0, 2, n), "b": rng.integers(-2, 3, n)})
    counts = rng.integers(0, 3, (n, 2)) * (rng.random((n, 2)) < 0.6)
    counts[counts.sum(axis=1) == 0, 0] = 1
    answer = linsep.diagnose(X.to_numpy(), counts, feature_names=["a", "b"])
    return Recount(answer, X, [tuple(row) for row in counts.tolist()], X).judge()


def recount_streamed(seed):
    """The same for data that are read in batches."""
    rng = np.random.default_rng(seed)
    frame = random_frame(rng, "binomial").drop(columns="k")
    if frame.y.nunique() < 2:
        return set()
    if rng.random() < 0.5:
        frame["twice"] = 2 * frame.x
    if rng.random() < 0.3:  # the outcome is a threshold of a column
        frame["y"] = np.where(frame.z > 0, frame.y.max(), frame.y.min())
        if frame.y.nunique() < 2:
            return set()
    batches = pa.Table.from_pandas(frame).to_batches(int(rng.integers(3, 50)))
    table = pa.Table.from_batches(batches)
    answer = linsep.diagnose(lambda: table, "y")
    columns = columns_of("", frame, answer)
    values = pd.concat([frame.drop(columns="y"), columns], axis=1)
    values = values.loc[:, ~values.columns.duplicated()]
    return Recount(answer, values, frame.y, columns).judge()


def test_no_sentence_on_data_read_in_batches_is_false():
    seen = set()
    for seed in range(150):
        seen |= recount_streamed(seed)
    assert seen >= {
        "claim", "collinear", "direction", "estimates", "exists", "headline",
        "rows", "simplest", "together",
    }  # fmt: skip


def test_no_sentence_is_false():
    seen = set()
    # Of one class a constant predicts every row, also those that no cell holds; a list
    # of what is ruled out must not be cut before the one cell that predicts.
    for seed in (*range(60), 1904, 3_145_448, 7_710_002):
        seen |= recount(seed)
    for seed in range(12):
        seen |= recount_counts(seed)
    assert len(seen) >= 16, seen


@pytest.mark.slow
def test_no_sentence_of_two_thousand_models_is_false():
    seen = set()
    for seed in range(1000, 2800):
        seen |= recount(seed)
    for seed in range(1000, 1200):
        seen |= recount_counts(seed)
    assert len(seen) >= 19, seen


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("g = a in 2 rows", "g = a in 3 rows"),
        ("all y = 1", "never y = 1"),
        ("0, 1", "0, 2"),
        ("+inf", "-inf"),
        ("No other row", "No other row of 5"),
    ],
)
def test_a_false_sentence_is_noticed(right, wrong):
    frame = pd.DataFrame({"g": list("aabbbb"), "y": [1, 1, 0, 1, 0, 1]})
    answer = linsep.diagnose("y ~ 0 + g", frame)
    told = Recount(
        answer, frame, frame.y, columns_of("y ~ 0 + g", frame, answer), False
    )
    told.judge()
    changed = [line.replace(right, wrong) for line in told.lines]
    if changed == told.lines:
        changed.append("No other row of 5 is separated.")
    told.lines = changed
    with pytest.raises((AssertionError, KeyError)):
        told.judge()
