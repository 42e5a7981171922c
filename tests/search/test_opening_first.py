"""Small plain data are answered at once: as a search answers them, and no others."""

import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import linsep
from linsep.search import opening_first
from linsep.search.opening_first import at_once

USUAL = {
    "fit_intercept": True,
    "missing": "refuse",
    "max_passes": 100,
    "time_limit": None,
    "most_settled": 500,
}
SIX = np.array([[1.0, 2], [2, 1], [3, 3], [6, 7], [8, 8], [9, 6]])
LABELS = np.array([0, 0, 0, 1, 1, 1])


def fields_of(answer):
    """All that an answer says but how long it took."""
    fields = {
        field.name: value.tolist() if isinstance(value, np.ndarray) else value
        for field in dataclasses.fields(answer)
        if not field.name.startswith("_")
        for value in [getattr(answer, field.name)]
    }
    trace = [dataclasses.replace(step, seconds=0.0) for step in answer.trace]
    return fields | {"trace": trace, "seconds": 0.0}


@given(
    X=hnp.arrays(
        np.float64,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=7),
        elements=st.sampled_from([0.0, 0.1, 1.0, -1.0, 3.0, 1e-200, 1e200]),
    ),
    labels=st.lists(st.sampled_from([-1.5, 2.0]), min_size=7, max_size=7),
    fit_intercept=st.booleans(),
)
def test_an_answer_at_once_is_that_of_a_search(X, labels, fit_intercept):
    y = np.array(labels[: len(X)])
    at_once = linsep.separate(X, y, fit_intercept=fit_intercept)
    searched = linsep.separate(
        X, y, fit_intercept=fit_intercept, callback=lambda _: False
    )
    assert fields_of(at_once) == fields_of(searched)
    again = pickle.loads(pickle.dumps(at_once))
    assert fields_of(again) == fields_of(searched)
    assert at_once.certificate.to_json() == searched.certificate.to_json()


@pytest.mark.parametrize("time_limit", [None, 1, 60.0, np.inf])
def test_six_rows_need_no_search(time_limit):
    # From another process: their types are equal to those at hand, but not the same.
    given = pickle.loads(pickle.dumps((SIX, LABELS)))
    answer = at_once(*given, **(USUAL | {"time_limit": time_limit}))
    assert (answer.status.value, answer.n_passes) == ("separable", 1)
    assert at_once(SIX, np.array([0, 1, 0, 1, 0, 0]), **USUAL).conflict is not None


@pytest.mark.parametrize(
    "part",
    [
        lambda X: X[:, :2],
        lambda X: X[:, 1:3],
        lambda X: X[::-1, :2],
        lambda X: np.asfortranarray(X[:, :2]),
    ],
)
def test_a_part_of_an_array_is_read_where_it_stands(part):
    whole = np.column_stack([SIX, SIX[:, 0] - 3.0, np.full(6, np.nan)])
    X = part(whole)
    y = LABELS[::-1].copy() if X[0, 0] == 9.0 else LABELS
    answer = at_once(X, y, **USUAL)
    searched = linsep.separate(X, y, callback=lambda _: False)
    assert fields_of(answer) == fields_of(searched)
    assert min(answer.certificate.verify(X, y)) > 0
    whole[2] = np.nan  # then in the part too
    assert at_once(part(whole), y, **USUAL) is None


@pytest.mark.parametrize(
    "other",
    [
        {"fit_intercept": 1},
        {"missing": "drop"},
        {"missing": np.array(["refuse", "drop"])},
        {"max_passes": 0},
        {"max_passes": 1.5},
        {"time_limit": 1e-9},
        {"time_limit": True},
        {"time_limit": np.nan},
        {"time_limit": "1"},
    ],
)
def test_arguments_that_are_not_as_usual_are_left_to_the_search(other):
    assert at_once(SIX, LABELS, **(USUAL | other)) is None


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (SIX, LABELS.tolist()),
        (SIX, np.zeros(6)),
        (SIX, np.array([0, np.nan, 1, 0, 1, 1])),
        (SIX.astype(np.float32), LABELS),
        (SIX.astype(">f8"), LABELS),
        (np.repeat(SIX, 2, axis=1)[:, ::2], LABELS),
        (SIX[:5], LABELS),
        (SIX * 1e200, LABELS),
    ],
)
def test_data_that_are_not_plain_are_left_to_the_search(X, y):
    assert at_once(X, y, **USUAL) is None


def test_an_interrupted_answer_knows_its_data(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(opening_first, "opened", interrupt)
    answer = linsep.separate(SIX, LABELS)
    assert answer.status.value == "undecided"
    assert "interrupt" in answer.message.lower()
    assert (answer.n_samples, answer.n_features) == SIX.shape
