"""Published data of every family, and what their sources say of the estimates.

More of a Cox regression stand in `test_cox`.
"""

import json

import numpy as np
import pytest

import linsep
from helpers import ROOT

CASES = (ROOT / "tests" / "data" / "public_cases.jsonl").read_text().splitlines()


def numbers(rows):
    """Rows as numbers; texts of digits hold one a character."""
    return [list(map(float, row)) for row in rows]


def diagnosed(case):
    if case["family"] == "rankings":
        return linsep.diagnose(linsep.pairs_from_rankings(case["X"]), family="paired")
    if case["family"] == "paired":
        return linsep.diagnose(case["X"], case.get("y"), family="paired")
    y = list(map(int, case["y"])) if isinstance(case["y"], str) else case["y"]
    return linsep.diagnose(
        numbers(case["X"]),
        y,
        family=case["family"],
        groups=case.get("groups"),
        feature_names=case.get("names"),
    )


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case["id"]) for case in map(json.loads, CASES)]
)
def test_public_case(case):
    answer = diagnosed(case)
    assert answer.status == case["status"]
    assert answer.separated_rows.tolist() == case["separated_rows"]
    verdicts = {name: str(found) for name, found in answer.estimates.items()}
    assert verdicts == case["estimates"]
    answer.certificate.verify(*answer.certificate_data())


def test_one_patient_of_lung_has_an_indicator():
    # https://github.com/easystats/insight/issues/1090: coxph says -14, standard error
    # 1983; the last patient of 228 is the only one with the indicator.
    data = pytest.importorskip("lifelines.datasets").load_lung()
    x = np.zeros((len(data), 1))
    x[-1] = 1.0
    answer = linsep.diagnose(x, data[["time", "status"]].to_numpy(), family="cox")
    assert answer.status == "quasi-complete"
    assert answer.estimates["x0"] == "-inf"
    assert answer.separated_rows.tolist() == [227]


def test_choices_of_travel_mode_have_estimates():
    # Greene's example, fitted in statsmodels' test_dcm_clogit.
    data = pytest.importorskip("statsmodels.api").datasets.modechoice.load().data
    X = data[["gc", "ttme"]].assign(
        hinc_air=data.hinc * (data["mode"] == 1),
        air=data["mode"] == 1,
        train=data["mode"] == 2,
        bus=data["mode"] == 3,
    )
    answer = linsep.diagnose(
        X.astype(float), data.choice, family="conditional", groups=data.individual
    )
    assert answer.status == "overlap"
    assert set(map(str, answer.estimates.values())) == {"finite"}
    # Without the rows of those who took the bus, its constant goes to -inf.
    took = data.individual[(data["mode"] == 3) & (data.choice == 1)]
    rest = ~data.individual.isin(took)
    fewer = linsep.diagnose(
        X[rest].astype(float),
        data.choice[rest],
        family="conditional",
        groups=data.individual[rest],
    )
    assert {name: str(v) for name, v in fewer.estimates.items() if v != "finite"} == {
        "bus": "-inf"
    }


def test_grades_of_spector_have_estimates():
    # Greene's example, logit and probit of statsmodels' documentation.
    data = pytest.importorskip("statsmodels.api").datasets.spector.load().data
    answer = linsep.diagnose(data[["GPA", "TUCE", "PSI"]], data.GRADE)
    assert answer.status == "overlap"
    assert set(map(str, answer.estimates.values())) == {"finite"}
