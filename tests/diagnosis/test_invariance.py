"""What must not matter: units, shifts, the order of columns and rows, label names."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep


@st.composite
def problems(draw):
    n, d = draw(st.integers(4, 12)), draw(st.integers(1, 3))
    row = st.lists(st.integers(-3, 3), min_size=d, max_size=d)
    X = np.array(draw(st.lists(row, min_size=n, max_size=n)), dtype=float)
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    y[0], y[1] = 0, 1
    return X, y


def slopes(answer):
    return [str(v) for k, v in answer.estimates.items() if k != "intercept"]


def same_rows(one, other):
    return one.status == other.status and (
        one.separated_rows.tolist() == other.separated_rows.tolist()
    )


@given(problems())
def test_units_and_shifts_change_nothing(problem):
    X, y = problem
    plain = linsep.diagnose(X, y)
    # Powers of two and whole shifts: the transformed numbers are exact.
    moved = linsep.diagnose(X * 2.0 ** np.arange(-20, -20 + X.shape[1]) + 2.0**20, y)
    assert same_rows(plain, moved)
    assert slopes(plain) == slopes(moved)


@given(problems(), st.randoms(use_true_random=False))
def test_order_of_columns_and_rows_changes_only_the_order(problem, random):
    X, y = problem
    columns, rows = list(range(X.shape[1])), list(range(len(y)))
    random.shuffle(columns)
    random.shuffle(rows)
    names = [f"c{j}" for j in range(X.shape[1])]
    plain = linsep.diagnose(X, y, feature_names=names)
    other = linsep.diagnose(
        X[rows][:, columns], y[rows], feature_names=[names[j] for j in columns]
    )
    assert plain.status == other.status
    assert plain.estimates == {name: other.estimates[name] for name in plain.estimates}
    assert sorted(rows[i] for i in other.separated_rows) == list(plain.separated_rows)


@given(problems())
def test_the_other_class_as_the_event_turns_the_signs(problem):
    X, y = problem
    plain, turned = linsep.diagnose(X, y), linsep.diagnose(X, 1 - y)
    assert same_rows(plain, turned)
    turn = {"+inf": "-inf", "-inf": "+inf"}
    assert [turn.get(v, v) for v in map(str, plain.estimates.values())] == [
        str(v) for v in turned.estimates.values()
    ]


@pytest.mark.parametrize(
    "labels",
    [(False, True), (-1, 1), ("no", "yes"), (1, 2), (0.25, 1.75), (b"a", b"b")],
    ids=str,
)
def test_any_coding_of_two_labels(labels):
    X, y = [[0, 1], [0, 2], [1, 1], [1, 3], [0, 1.5]], np.array([0, 1, 1, 1, 0])
    plain = linsep.diagnose(X, y)
    coded = linsep.diagnose(X, np.array(labels)[y])
    assert same_rows(plain, coded)
    assert plain.estimates == coded.estimates


@given(problems())
def test_multinomial_and_ordinal_of_two_classes_are_binomial(problem):
    X, y = problem
    plain = linsep.diagnose(X, y)
    multinomial = linsep.diagnose(X, y, family="multinomial")
    ordinal = linsep.diagnose(X, y, family="ordinal")
    assert same_rows(plain, multinomial)
    assert same_rows(plain, ordinal)
    assert list(plain.estimates.values()) == list(multinomial.estimates.values())
    # The threshold stands on the other side of the inequality.
    turn = {"+inf": "-inf", "-inf": "+inf"}
    first, *rest = map(str, plain.estimates.values())
    assert [turn.get(first, first), *rest] == [
        str(v) for v in ordinal.estimates.values()
    ]


@given(problems())
def test_rows_of_weight_zero_count_as_absent(problem):
    X, y = problem
    extra = np.concatenate([X, X[::-1]]), np.concatenate([y, 1 - y[::-1]])
    weights = np.repeat([1, 0], len(y))
    weighted = linsep.diagnose(*extra, sample_weight=weights)
    assert same_rows(linsep.diagnose(X, y), weighted)
    assert f"{len(y)} rows of weight zero counted as absent." in weighted.findings


@given(problems())
def test_counts_of_successes_and_failures_are_repeated_rows(problem):
    X, y = problem
    distinct, group = np.unique(X, axis=0, return_inverse=True)
    counts = np.zeros((len(distinct), 2))
    np.add.at(counts, (group.reshape(-1), 1 - y), 1)
    grouped = linsep.diagnose(distinct, counts)
    plain = linsep.diagnose(X, y)
    assert grouped.status == plain.status
    assert grouped.estimates == plain.estimates
    expected = np.unique(group.reshape(-1)[plain.separated_rows])
    assert grouped.separated_rows.tolist() == expected.tolist()
    shares = linsep.diagnose(distinct, [list(c) for c in counts * [3, 5]])
    assert same_rows(grouped, shares)
