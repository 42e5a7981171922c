"""Points in convex hulls: every proof recomputed, every verdict judged by z3."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import linsep
from judges import dot, fractions_of, z3_separable
from linsep.hull import membership
from linsep.hull.bounds import gap_errors, inside_simplices


def assert_proved(points, queries, answers):
    """Check each answer's proof in fractions, against the points and nothing else."""
    exact = fractions_of(points)
    for query, answer in zip(fractions_of(queries), answers, strict=True):
        if answer.inside:
            weights = answer.weights
            assert min(weights.values()) > 0
            assert sum(weights.values()) == 1
            assert len(weights) <= points.shape[1] + 1
            for j, value in enumerate(query):
                assert sum(p * exact[i][j] for i, p in weights.items()) == value
            assert answer.hyperplane is None
        else:
            c, b = answer.hyperplane
            assert dot(query, c) > b
            assert all(dot(point, c) < b for point in exact)
            assert answer.weights is None
            assert answer.face is None


def hostile_points(seed):
    """Few points: on grids, far from zero, of dependent and constant columns."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 5))
    points = rng.integers(-2, 3, (n, d)).astype(float)
    if seed % 3 == 0:
        points = rng.standard_normal((n, d))
    if seed % 4 == 0:
        points = np.c_[points, 2 * points[:, :1] - 1]
    if seed % 5 == 0:
        points = points * 1e-3 + 1e6
    if seed % 7 == 0:
        points[:, 0] = points[0, 0]
    chosen = points[rng.integers(0, n, (6, 2))]
    queries = [chosen[:, 0], chosen.mean(axis=1), chosen[:, 0] + rng.integers(-1, 2)]
    queries += [points.mean(axis=0)[np.newaxis], np.nextafter(chosen[:, 1], np.inf)]
    return points, np.vstack(queries)


# In 430 the fractions of dependent columns have a common denominator beyond 64 bits.
@pytest.mark.parametrize("seed", [*range(60), 430])
def test_every_answer_is_proved_and_the_judge_agrees(seed):
    points, queries = hostile_points(seed)
    answers = linsep.in_hull(points, queries)
    assert answers.decided.all()
    assert_proved(points, queries, answers)
    if seed < 15:
        for query, inside in zip(queries, answers.inside, strict=True):
            signed = np.vstack([points, -query])
            rows = np.c_[signed, np.append(np.ones(len(points)), -1.0)]
            assert inside == (not z3_separable(rows.tolist()))


@pytest.mark.slow
def test_five_thousand_hostile_hulls():
    for seed in range(5_000):
        points, queries = hostile_points(seed)
        answers = linsep.in_hull(points, queries)
        assert answers.decided.all(), seed
        assert_proved(points, queries, answers)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_many_queries_share_their_work(scale):
    rng = np.random.default_rng(1)
    points = rng.standard_normal((3_000, 5)) * [1, 10, 1e-3, 1e4, 1]
    queries = rng.standard_normal((150, 5)) * [1, 10, 1e-3, 1e4, 1] * scale
    answers = linsep.in_hull(points, queries)
    assert answers.decided.all()
    assert_proved(points[:400], queries[answers.inside][:0], [])
    for answer in answers:
        if answer.inside:
            weights = answer.weights
            mean = sum(float(p) * points[i] for i, p in weights.items())
            assert np.allclose(mean, answer.point, rtol=1e-9, atol=1e-9)
        else:
            c, b = answer.hyperplane
            floats = np.array([float(x) for x in c])
            assert (points @ floats).max() < float(b) < floats @ answer.point
    assert 0 < answers.inside.sum() < 150 or scale != 1.0


def test_no_point_is_outside_its_own_hull():
    rng = np.random.default_rng(2)
    points = np.vstack([rng.standard_normal((500, 4)), rng.integers(0, 2, (200, 4))])
    answers = linsep.in_hull(points, points)
    assert answers.inside.all()
    # Beyond a corner by one unit in the last place is outside.
    corner = points[points[:, 0].argmax()]
    beyond = np.nextafter(corner, np.inf)
    assert not linsep.in_hull(points, [beyond]).inside[0]


def test_levels_of_factors_and_their_faces():
    rng = np.random.default_rng(3)
    levels = np.eye(4)[rng.integers(0, 4, 400)]
    points = np.c_[levels, rng.integers(0, 2, (400, 2)), rng.standard_normal((400, 2))]
    pairs = points[rng.integers(0, 400, (60, 2))]
    # Halves of doubles of a like size add up without rounding.
    queries = np.round(pairs * 1024) / 1024 @ np.eye(8)
    queries = queries.mean(axis=1)
    answers = linsep.in_hull(np.round(points * 1024) / 1024, queries)
    assert answers.inside.all()
    for answer in answers[:10]:
        used = np.flatnonzero(answer.point[:6] == 0)
        assert not points[answer.face][:, used].any()  # none of these can have weight
        assert set(answer.weights) <= set(answer.face.tolist())
    off = queries.copy()
    off[:, 0] += 0.25  # shares of levels no longer add up to one
    answers = linsep.in_hull(points, off)
    assert not answers.inside.any()
    assert_proved(points[:50], off[:3], answers[:3])


def test_faces_are_those_of_the_polygon():
    square = np.array([[0, 0], [4, 0], [4, 4], [0, 4], [2, 2], [2, 0]], dtype=float)
    cases = {
        (1.0, 0.0): [0, 1, 5],
        (2.0, 0.0): [0, 1, 5],
        (0.0, 0.0): [0],
        (1.0, 1.0): [0, 1, 2, 3, 4, 5],
    }
    answers = linsep.in_hull(square, list(cases))
    assert answers.inside.all()
    for answer, face in zip(answers, cases.values(), strict=True):
        assert answer.face.tolist() == face


def test_bounds_in_doubles_hold():
    rng = np.random.default_rng(4)
    for k in (2, 3, 6):
        corners = np.ones((200, k, k))
        corners[:, :-1] = rng.integers(-3, 4, (200, k - 1, k)) * 0.1
        points = np.ones((200, k))
        points[:, :-1] = corners[:, :-1].mean(axis=2) + rng.normal(0, 0.1, (200, k - 1))
        for held, query, proved in zip(
            corners, points, inside_simplices(corners, points), strict=True
        ):
            rows = np.vstack([held.T, -query])
            if proved:
                assert not z3_separable(rows.tolist())
    directions, ends = rng.standard_normal((50, 4)), rng.standard_normal((50, 4)) * 1e6
    errors = gap_errors(directions, np.full(4, 1e6), ends)
    for c, q, error in zip(directions, ends, errors, strict=True):
        exact = sum(Fraction(a) * Fraction(b) for a, b in zip(c, q, strict=True))
        assert abs(Fraction(float(c @ q)) - exact) <= Fraction(float(error))


def test_what_doubles_leave_is_settled_exactly(monkeypatch):
    monkeypatch.setattr(membership.HullSearch, "run", lambda self: None)
    points, queries = hostile_points(11)
    answers = linsep.in_hull(points, queries)
    assert answers.decided.all()
    assert_proved(points, queries, answers)


def test_time_limits_leave_queries_undecided():
    rng = np.random.default_rng(0)
    points = rng.standard_normal((2_000, 6))
    answers = linsep.in_hull(points, 0.9 * points[:100], time_limit=1e-9)
    assert not answers.decided.all()
    assert not (answers.inside & ~answers.decided).any()
    assert answers[int(np.argmin(answers.decided))].inside is None


@pytest.mark.parametrize(
    ("points", "queries"),
    [([[1.0, 2.0]], [[1.0]]), ([[np.nan]], [[1.0]]), (np.zeros((0, 2)), [[1.0, 2.0]])],
)
def test_what_is_no_set_of_points_is_refused(points, queries):
    with pytest.raises(linsep.InputError, match="points"):
        linsep.in_hull(points, queries)


# --- weights that reach given means ---


def trial(seed=0, n=300):
    """Patients of a trial, none of the women older than 60."""
    rng = np.random.default_rng(seed)
    age = rng.integers(30, 80, n)
    female = (rng.random(n) < 0.5) & (age <= 60)
    return pd.DataFrame({
        "age": age, "female": female.astype(int), "weight": rng.normal(70, 9, n),
    })  # fmt: skip


def test_targets_no_weights_reach_are_named_with_the_rows_that_bound_them():
    data = trial()
    answer = linsep.feasible_weights(data, {"age": 72, "female": 0.71, "weight": 70})
    assert answer.feasible is False
    assert answer.together == ("age", "female")
    c, most, asked = answer.inequality
    value = sum(c[name] * data[name] for name in c)
    assert value.max() == pytest.approx(most)
    assert asked == pytest.approx(c["age"] * 72 + c["female"] * 0.71)
    assert asked > most
    # The bounding rows lie on it, but for the digits of c.
    assert len(answer.bounding_rows) <= 3
    assert (value[answer.bounding_rows] > most - 0.02 * value.std()).all()
    for name, moved in answer.relaxed.items():
        targets = {"age": 72, "female": 0.71, "weight": 70} | {name: moved}
        assert linsep.feasible_weights(data, targets).feasible
        # A hundredth of a deviation nearer to what was asked is out of reach.
        step = np.sign(answer.targets[name] - moved) * data[name].std() / 100
        targets[name] += step
        assert linsep.feasible_weights(data, targets).feasible is False
    assert set(answer.relaxed) == {"age", "female"}
    text = answer.summary()
    assert text.startswith("No weights reach age 72 and female 0.71 together.")
    inward = {n: v + (data[n].mean() - v) * 1e-6 for n, v in answer.nearest.items()}
    assert linsep.feasible_weights(data, inward).feasible
    nearer = {n: v + (answer.targets[n] - v) * 1e-3 for n, v in answer.nearest.items()}
    assert linsep.feasible_weights(data, nearer).feasible is False


def test_weights_that_reach_targets_reach_them_exactly():
    data = trial()
    answer = linsep.feasible_weights(data, [50, 0.25, 70.5])
    assert answer.feasible
    assert answer.all_positive
    for name, target in answer.targets.items():
        reached = sum(
            p * Fraction(float(data[name][i])) for i, p in answer.weights.items()
        )
        assert reached == Fraction(target)
    assert "positive on every row" in answer.summary()


def test_targets_on_the_edge_leave_rows_without_weight():
    data = trial()
    answer = linsep.feasible_weights(data, {"female": 1.0, "age": 45})
    assert answer.feasible
    assert not answer.all_positive
    assert (data.female[answer.face] == 1).all()
    assert len(answer.face) == data.female.sum()
    assert "entropy balancing" in " ".join(answer.summary().split())


def test_targets_of_unknown_columns_are_refused():
    with pytest.raises(linsep.InputError, match="did you mean 'female'"):
        linsep.feasible_weights(trial(), {"femal": 0.5})
    with pytest.raises(linsep.InputError, match="targets must have shape"):
        linsep.feasible_weights(trial(), [1.0])
