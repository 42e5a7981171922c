from fractions import Fraction
from itertools import product

import pytest

import linsep
from helpers import known_cases

FAMILY = {
    "binary": "binomial",
    "poisson-reduced": "binomial",
    "multinomial": "multinomial",
}
STATUS = {"quasi": "quasi-complete"}


def verdict_of(low, high):
    low, high = Fraction(low), Fraction(high)
    if low == high == 0:
        return "finite"
    if low == 0:
        return "+inf"
    return "-inf" if high == 0 else "undetermined"


@pytest.mark.parametrize("case", known_cases())
def test_known_case(case):
    answer = linsep.diagnose(
        case["X"],
        case["y"],
        family=FAMILY[case["problem"]],
        fit_intercept=case["intercept"],
        sample_weight=case.get("weights"),
    )
    assert answer.proved
    assert answer.status == STATUS.get(case["expected"], case["expected"])
    assert answer.separated_rows.tolist() == case["separated_rows"]
    n_blocks = len(set(case["y"])) - 1 if case["problem"] == "multinomial" else 1
    assert answer.rank == case["rank"] * n_blocks
    answer.certificate.verify(*answer.certificate_data())
    for bounds, verdict in zip(
        case.get("coef_range", ()), answer.estimates.values(), strict=False
    ):
        # A coefficient that is not identified moves along with another, both ways.
        expected = verdict_of(*bounds)
        assert verdict == expected or (verdict, expected) == ("aliased", "undetermined")
    if answer.status != "overlap" and case["problem"] == "binary":
        assert len(case.get("coef_range", answer.estimates)) == len(answer.estimates)


def test_boolean_functions_of_three_inputs():
    corners = list(product([0, 1], repeat=3))
    counts = {"complete": 0, "quasi-complete": 0, "overlap": 0}
    for labels in product([0, 1], repeat=8):
        counts[linsep.diagnose(corners, labels).status] += 1
    assert counts == {"complete": 104, "quasi-complete": 48, "overlap": 104}
