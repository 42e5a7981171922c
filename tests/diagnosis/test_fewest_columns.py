"""Directions of few columns: they separate, and no column of them can be left out."""

from itertools import count

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

import linsep
from linsep.diagnosis.exact.columns import columns_of
from linsep.diagnosis.exact.demands import demands_of
from linsep.diagnosis.exact.facial_reduction import Reduction
from linsep.diagnosis.inputs.call_shapes import study_of
from linsep.diagnosis.report.fewest_columns import FewestColumns
from linsep.diagnosis.watch import Watch
from linsep.rows.equal_rows import merge_equal_rows


def search_of(X, y, most_looks=10_000, **asked):
    """The search for few columns of a regression, and the matrix of its demands.

    Time is counted in looks at the clock.
    """
    study = study_of(
        [X, y],
        fit_intercept=None,
        sample_weight=None,
        feature_names=None,
        **{"family": None, **asked},
    )
    demands = demands_of(study, merge_equal_rows(study.X))
    rng = np.random.default_rng(0)
    kept = columns_of(demands.rows, rng, demands.order, lambda: False).kept
    partition = Reduction(demands.rows, demands.equal, kept, rng, lambda: False).run()
    watch = Watch(most_looks, clock=count().__next__)
    return FewestColumns(demands, partition, watch)


def separates(search, columns):
    """Whether the same rows are separated by these columns and the constants."""
    demands, kept = search.demands, search.partition.quotient.kept  # independent
    chosen = np.union1d(columns, np.intersect1d(demands.constants, kept))
    found = Reduction(
        demands.rows,
        demands.equal,
        chosen.astype(np.intp),
        np.random.default_rng(0),
        lambda: False,
        spans=False,
    ).run()
    return bool((found.overlapped == search.partition.overlapped).all())


@given(
    seed=st.integers(0, 2**32 - 1),
    n_used=st.integers(1, 3),
    quasi=st.booleans(),
    family=st.sampled_from(["binomial", "poisson", "multinomial"]),
)
def test_no_column_found_can_be_left_out(seed, n_used, quasi, family):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (40, 5)).astype(float)
    side = X[:, :n_used] @ rng.choice([-1.0, 1.0], n_used)
    y = (side > 0).astype(int)
    if quasi:  # rows on the boundary are of any class
        y[side == 0] = rng.integers(0, 2, np.count_nonzero(side == 0))
    if family == "multinomial":
        y[side > 2] = 2
    search = search_of(X, y, family=family)
    found, were_tried = search.for_all
    assert were_tried
    assert search.is_for_all(found)
    if not any(found.w):
        return  # nothing is separated
    used = search.columns_used(found)
    assert separates(search, used)
    for column in used:
        assert not separates(search, np.setdiff1d(used, [column]))


def test_every_column_of_real_data_is_tried_at_the_cost_of_a_few_looks():
    X, y = load_breast_cancer(return_X_y=True)
    # Two or three looks of each engine are at its start, before its first round. Which
    # engines are started depends on how a processor rounds: some 450 to 600 looks.
    search = search_of(X, y, most_looks=900)
    found, were_tried = search.for_all
    assert were_tried
    used = search.columns_used(found)
    assert used.size <= 25
    assert linsep.separate(X[:, used], y).separable
    for column in used:
        rest = np.setdiff1d(used, [column])
        assert linsep.separate(X[:, rest], y).status == "inseparable"


@pytest.mark.parametrize("most_looks", [1, 20, 60])
def test_a_search_that_ran_out_of_time_has_a_direction_that_separates(most_looks):
    X, y = load_breast_cancer(return_X_y=True)
    search = search_of(X, y, most_looks)
    found, were_tried = search.for_all
    assert not were_tried
    used = search.columns_used(found)
    assert linsep.separate(X[:, used], y).separable
