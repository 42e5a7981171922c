"""`separate` against counts that mathematics knows, and data sets with known truth."""

from itertools import permutations, product

import numpy as np
import pytest

from hostile_data import (
    clustered_ties,
    duplicated_rows,
    hard_threshold_rows,
    last_bit,
    wide_range,
)
from linsep import datasets, separate


def truth_tables(n_inputs):
    """All inputs of n bits, and the permutations of them that NPN symmetry makes."""
    inputs = np.array(list(product([0, 1], repeat=n_inputs)))
    place = 2 ** np.arange(n_inputs)[::-1]
    symmetries = [
        (inputs[:, list(order)] ^ np.array(flips)) @ place
        for order in permutations(range(n_inputs))
        for flips in product([0, 1], repeat=n_inputs)
    ]
    return inputs.astype(float), np.array(symmetries)


def is_threshold(inputs, table):
    answer = separate(inputs, table)
    assert answer.proved
    return answer.separable


@pytest.mark.parametrize(("n_inputs", "count"), [(1, 4), (2, 14), (3, 104)])
def test_threshold_functions_are_counted(n_inputs, count):
    inputs, _ = truth_tables(n_inputs)
    n = len(inputs)
    tables = [[number >> i & 1 for i in range(n)] for number in range(2**n)]
    assert sum(is_threshold(inputs, table) for table in tables) == count


def test_threshold_functions_of_four_inputs_by_class():
    # Permuting and negating inputs and negating the output change nothing, so one
    # function of each class answers for its whole orbit.
    inputs, symmetries = truth_tables(4)
    seen = np.zeros(2**16, dtype=bool)
    place = 1 << np.arange(16)
    count = n_classes = 0
    for number in range(2**16):
        if seen[number]:
            continue
        table = number >> np.arange(16) & 1
        images = table[symmetries]
        orbit = np.unique(np.concatenate([images @ place, (1 - images) @ place]))
        seen[orbit] = True
        n_classes += 1
        count += len(orbit) * is_threshold(inputs, table)
    assert (n_classes, count) == (222, 1882)


@pytest.mark.slow
def test_threshold_functions_of_four_inputs_one_by_one():
    inputs, _ = truth_tables(4)
    count = sum(
        is_threshold(inputs, number >> np.arange(16) & 1) for number in range(2**16)
    )
    assert count == 1882


@pytest.mark.parametrize(("n_points", "n_features"), [(4, 1), (5, 2), (6, 2), (6, 3)])
def test_covers_count_in_general_position(n_points, n_features):
    X = datasets.moment_curve(n_points, n_features).X
    labels = product([0, 1], repeat=n_points)
    count = sum(separate(X, y).separable for y in labels)
    assert count == datasets.cover_count(n_points, n_features)


@pytest.mark.parametrize("n_features", [1, 3, 7])
def test_affinely_independent_points_separate_under_any_labels(n_features):
    rng = np.random.default_rng(n_features)
    X = rng.standard_normal((n_features + 1, n_features))
    for y in product([0, 1], repeat=n_features + 1):
        assert separate(X, y).separable


def known_truths():
    """Data sets of linsep.datasets, each a way to be hard."""
    for kind in ("overlap", "tie", "separable"):
        for seed in range(3):
            data = last_bit(kind, random_state=seed)
            yield pytest.param(data, id=f"last bit {kind} {seed}")
    for seed in range(3):
        for overlap in (False, True):
            yield pytest.param(
                clustered_ties(8, 6, overlap=overlap, random_state=seed),
                id=f"clustered ties {overlap} {seed}",
            )
            yield pytest.param(
                duplicated_rows(20_000, 5, overlap=overlap, random_state=seed),
                id=f"duplicates {overlap} {seed}",
            )
            yield pytest.param(
                wide_range(60, 5, overlap=overlap, random_state=seed),
                id=f"wide range {overlap} {seed}",
            )
    for n_inputs in (3, 8, 11):
        for low in (0, -1):
            yield pytest.param(
                datasets.odd_max_bit(n_inputs, low=low),
                id=f"odd max bit {n_inputs} {low}",
            )
    yield pytest.param(datasets.threshold_rows(8), id="threshold rows")
    yield pytest.param(hard_threshold_rows(3), id="hard threshold rows")
    for n_features in (30, 60, 100):
        yield pytest.param(
            datasets.mixed_paper_rows(n_features), id=f"mixed paper {n_features}"
        )
        for overlap in (False, True):
            yield pytest.param(
                datasets.mixed_paper_rows(
                    n_features, n_redundant=n_features, overlap=overlap
                ),
                id=f"mixed paper {n_features} redundant {overlap}",
            )


@pytest.mark.parametrize("data", list(known_truths()))
def test_known_truth_is_found_and_its_certificate_accepted(data):
    answer = separate(data.X, data.y, fit_intercept=data.fit_intercept)
    assert answer.proved
    assert answer.separable == data.separable
    slacks = answer.certificate.verify(data.X, data.y)
    if answer.separable:
        assert all(slack > 0 for slack in slacks)
        return
    assert not any(slacks)
    # Minimal: without any one row, the rest of the conflict is separable.
    for spare in range(min(len(answer.conflict), 3)):
        rest = np.delete(answer.conflict, spare)
        assert separate(
            data.X[rest], data.y[rest], fit_intercept=data.fit_intercept
        ).separable


@pytest.mark.slow
@pytest.mark.parametrize("overlap", [False, True])
def test_mixed_paper_rows_with_200_features(overlap):
    data = datasets.mixed_paper_rows(200, n_redundant=400, overlap=overlap)
    answer = separate(data.X, data.y, fit_intercept=data.fit_intercept)
    assert answer.separable == data.separable
    answer.certificate.verify(data.X, data.y)


def test_exact_separator_decides_where_doubles_cannot():
    data = datasets.mixed_paper_rows(100, n_redundant=100)
    answer = separate(data.X, data.y, fit_intercept=data.fit_intercept)
    assert answer.exact_weights is not None
    signs = np.sign(answer.decision_function(data.X))
    expected = np.where(data.y == answer.classes[-1], 1, -1)
    np.testing.assert_array_equal(signs, expected)


def test_planted_million_is_proved_in_few_passes():
    data = datasets.flipped_labels(200_000, 50, n_flips=10, random_state=0)
    answer = separate(data.X, data.y, fit_intercept=data.fit_intercept)
    assert answer.separable is False
    assert answer.n_passes <= 7
