from fractions import Fraction
from itertools import product

import numpy as np
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


def test_a_factor_of_many_levels_is_reduced_level_by_level():
    # Level 5 has one outcome; in every other the outcomes overlap in x.
    rng = np.random.default_rng(0)
    level = np.repeat(np.arange(40), 12)
    x = rng.permutation(np.tile(np.arange(12.0), 40))
    y = rng.permutation(np.tile([0, 1], 240))
    y[level == 5] = 1
    for other in range(40):
        if other != 5:
            y[level == other] = rng.permutation([0] * 6 + [1] * 6)
    X = np.c_[x, level[:, None] == np.arange(1, 40)]
    answer = linsep.diagnose(X, y)
    assert answer.status == "quasi-complete"
    assert answer.separated_rows.tolist() == np.flatnonzero(level == 5).tolist()
    answer.certificate.verify(*answer.certificate_data())
