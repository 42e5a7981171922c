"""Public data with the answers their own projects state; see the READMEs there."""

import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from helpers import ROOT, shared_file


def read(*parts):
    return pd.read_csv(shared_file("peer-data", *parts))


def texts(answer):
    return {name: str(verdict) for name, verdict in answer.estimates.items()}


def test_endometrial_is_quasi_separated_by_one_column():
    data = read("detectseparation", "endometrial.csv")
    answer = linsep.diagnose("HG ~ NV + PI + EH", data)
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == np.flatnonzero(data.NV == 1).tolist()
    assert len(answer.separated_rows) == 13
    assert texts(answer) == {
        "intercept": "finite", "NV": "+inf", "PI": "finite", "EH": "finite",
    }  # fmt: skip
    assert "NV = 1 in 13 rows, all HG = 1." in answer.summary()
    assert texts(linsep.diagnose("HG ~ I(-NV) + PI + EH", data))["I(-NV)"] == "-inf"


def test_endometrial_with_a_multiple_of_a_column():
    data = read("detectseparation", "endometrial.csv")
    data["twice"] = 2 * data.NV
    answer = linsep.diagnose(data[["NV", "twice", "PI", "EH"]], data.HG)
    assert (answer.rank, answer.status) == (4, "quasi-complete")
    assert texts(answer)["NV"] == texts(answer)["twice"] == "aliased"
    assert answer.estimates_without_aliased["NV"] == "+inf"
    assert answer.collinear == {"twice": "2*NV"}


def test_lizards_overlap():
    data = read("detectseparation", "lizards.csv")
    answer = linsep.diagnose(
        "cbind(grahami, opalinus) ~ height + diameter + light + time", data
    )
    assert answer.status == "overlap"
    assert len(answer.estimates) == 6
    assert set(texts(answer).values()) == {"finite"}


def test_the_vignette_whose_sign_is_not_determined():
    X = np.column_stack([[1, 0, 3, 2, 3, 4], [2, 1, 1, 4, 6, 8]])
    answer = linsep.diagnose(X, [0, 0, 0, 1, 1, 1])
    assert answer.status == "complete"
    assert texts(answer)["x0"] == "undetermined"


@pytest.mark.parametrize("number", range(1, 19))
def test_ppmlhdfe_data_row_by_row(number):
    data = read("ppmlhdfe", "separation_datasets", f"{number:02}.csv")
    numeric = data[[c for c in data if c.startswith("x")]].astype(float)
    effects = [
        pd.get_dummies(data[c], prefix=c).astype(float)
        for c in data
        if c.startswith("id")
    ]
    design = pd.concat([numeric, *effects], axis=1)
    answer = linsep.diagnose(design, data.y, family="poisson")
    expected = np.flatnonzero(data.separated == 1)
    assert answer.separated_rows.tolist() == expected.tolist()
    answer.certificate.verify(*answer.certificate_data())


@pytest.mark.parametrize(
    ("name", "rows"),
    [("example1", [5]), ("fe1", [5, 8, 14, 15]), ("fe3", [5, 6, 7, 8, 9, 11, 12])],
)
def test_ppmlhdfe_guides(name, rows):
    data = read("ppmlhdfe", "guides", f"{name}.csv")
    x = " + ".join(c for c in data if c.startswith("x"))
    effects = "".join(f" + C({c})" for c in data if c in "ij")
    answer = linsep.diagnose(f"y ~ {x}{effects}", data, family="poisson")
    assert (answer.separated_rows + 1).tolist() == rows


def simplex_cases():
    path = ROOT.parent / "shared" / "peer-data" / "ppmlhdfe" / "simplex_internal.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [pytest.param(c, id=c["id"]) for c in map(json.loads, lines)]


@pytest.mark.parametrize("case", simplex_cases())
def test_ppmlhdfe_simplex_cases(case):
    rows = [[Fraction(str(v)) for v in row] for row in case["X"]]
    # Decimals become whole numbers: a row times a positive number asks the same.
    rows = [[int(v * 1000) for v in row] for row in rows]
    answer = linsep.diagnose(
        [[-v for v in row] for row in rows],
        [0] * len(rows),
        family="poisson",
        fit_intercept=False,
    )
    expected = [i for i, overlaps in enumerate(case["peer_ans"]) if not overlaps]
    assert answer.separated_rows.tolist() == expected


def iris():
    from sklearn.datasets import load_iris

    bunch = load_iris()
    return bunch.data, bunch.target_names[bunch.target]


def test_iris_is_multinomially_quasi_complete():
    X, y = iris()
    answer = linsep.diagnose(X, y, family="multinomial")
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == list(range(50))
    assert "all y = setosa." in answer.summary()


def test_iris_first_two_classes_are_complete():
    X, y = iris()
    assert linsep.diagnose(X[:100], y[:100]).status == "complete"


@pytest.mark.parametrize("columns", ["fou", "fou kar"])
def test_multiple_features_is_complete(columns):
    data = read("brglm2", "MultipleFeatures_fou_kar.csv.gz")
    training = data[data.training.astype(str).str.upper() == "TRUE"]
    used = [c for c in data if c.split(".")[0] in columns.split()]
    answer = linsep.diagnose(training[used], training.digit == 7, time_limit=60)
    assert answer.status == "complete"
    assert len(training) == 1000


@pytest.mark.parametrize(("digit", "n_rows"), [(8, 108), (9, 24)])
def test_digits_one_against_the_rest(digit, n_rows):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    answer = linsep.diagnose(X, y == digit)
    assert answer.status == "quasi-complete"
    assert len(answer.separated_rows) == n_rows
