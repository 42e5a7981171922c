"""Batches, influential_rows and the command."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import linsep
from helpers import known_cases
from linsep.cli import main


@pytest.fixture(scope="module")
def screen():
    rng = np.random.default_rng(3)
    n, m = 300, 400
    X = rng.standard_normal((n, 2))
    y = (X[:, 0] + 2 * rng.standard_normal(n) > 0).astype(int)
    columns = rng.binomial(2, 10 ** rng.uniform(-2.5, -0.3, m), (n, m)).astype(float)
    columns[:, 7] = y  # complete
    columns[:, 8] = X[:, 1] * 2  # collinear
    columns[5, 9] = np.nan
    columns[:, 10] = 0
    return X, y, columns


def test_a_screen_says_what_diagnose_says(screen):
    X, y, columns = screen
    batch = linsep.screen_columns(X, y, columns)
    assert len(batch) == columns.shape[1]
    assert set(batch.status) >= {"complete", "quasi-complete", "overlap"}
    for k, item in enumerate(batch):
        kept = np.isfinite(columns[:, k])
        design = np.column_stack([X, columns[:, k]])[kept]
        answer = linsep.diagnose(design, y[kept])
        assert item.status == answer.status
        assert item.estimate == answer.estimates["x2"]
        assert item.n_separated == answer.separated_rows.size
        assert item.proved
    assert batch[8].estimate == batch[10].estimate == "aliased"


def test_a_screen_of_sparse_columns_and_no_covariates(screen):
    from scipy import sparse

    _, y, columns = screen
    some = columns[:, 10:60]
    dense = linsep.screen_columns(None, y, some)
    made = linsep.screen_columns(None, y, sparse.csr_array(some))
    assert [i.status for i in dense] == [i.status for i in made]


def test_nothing_stops_a_batch_and_progress_is_told():
    X = np.arange(6.0)[:, None]
    outcomes = {
        "fine": [0, 1, 0, 1, 1, 0],
        "one": ["x"] * 6,
        "short": [0, 1],
        "many": list("abcdef"),
        "gaps": [0, 0, np.nan, 1, 1, 1],
        "object": [object(), 1, "a"] * 2,
    }
    told = []
    batch = linsep.diagnose_outcomes(X, outcomes, callback=lambda *k: told.append(k))
    assert [item.name for item in batch] == list(outcomes)
    assert list(batch.status) == [
        "overlap", "complete", "error", "error", "complete", "error",
    ]  # fmt: skip
    assert told[-1] == (6, 6)
    assert "same number of rows" in batch[2].message
    assert batch.to_frame().loc["gaps", "n_separated"] == 5
    assert "3 error" in batch.summary()


def test_undecided_items_are_not_counted_as_separated():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 20))
    y = {"slow": X @ np.ones(20) > 0}
    batch = linsep.diagnose_outcomes(X, y, time_limit=1e-9)
    assert list(batch.status) == ["undecided"]
    assert batch.summary() == "1 models: 1 undecided."


def test_what_is_shared_must_be_usable():
    with pytest.raises(linsep.InputError, match="one outcome a column"):
        linsep.diagnose_outcomes([[1], [2]], [0, 1])
    with pytest.raises(linsep.InputError, match="as many rows"):
        linsep.screen_columns([[1], [2]], [0, 1], [[1.0], [2], [3]])


def test_the_old_name_does_the_same_and_says_so(screen):
    X, y, columns = screen
    told = []
    with pytest.warns(DeprecationWarning, match="screen_columns"):
        old = linsep.diagnose_many(X, y, screen=columns[:, :20])
    assert old == linsep.screen_columns(X, y, columns[:, :20])
    outcomes = {"a": y, "b": 1 - y}
    with pytest.warns(DeprecationWarning, match="diagnose_outcomes"):
        old = linsep.diagnose_many(
            X, outcomes, progress=lambda *k: told.append(k) or True
        )
    assert old == linsep.diagnose_outcomes(X, outcomes)
    assert told == [(1, 2), (2, 2)]  # its answer never stopped a batch


def test_a_batch_that_is_stopped_keeps_what_it_has():
    X, outcomes = [[1], [2], [3]], {name: [0, 1, 1] for name in "abc"}
    batch = linsep.diagnose_outcomes(X, outcomes, callback=lambda done, _: done == 2)
    assert list(batch.status) == ["complete", "complete", "undecided"]
    assert [item.proved for item in batch] == [True, True, False]
    assert batch[2].message == "Undecided: the callback asked to stop."

    def press_ctrl_c(done, total):
        raise KeyboardInterrupt

    batch = linsep.screen_columns(None, [0, 1], np.eye(2), callback=press_ctrl_c)
    assert list(batch.status) == ["complete", "undecided"]
    assert "keyboard" in batch[1].message


# --- the fewest rows ---


def fewest_by_enumeration(X, y):
    from itertools import combinations

    n = len(y)
    for size in range(n + 1):
        for removed in combinations(range(n), size):
            kept = [i for i in range(n) if i not in removed]
            if (
                not kept
                or linsep.separate(
                    np.asarray(X, float)[kept], np.asarray(y)[kept]
                ).separable
            ):
                return size
    raise AssertionError("unreachable")


@pytest.mark.parametrize("seed", range(6))
def test_bounds_hold_the_true_number(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 4, (8, 2)).astype(float), rng.integers(0, 2, 8)
    found = linsep.influential_rows(X, y, goal="separable")
    kept = np.setdiff1d(np.arange(8), found.rows)
    assert linsep.separate(X[kept], y[kept]).separable
    assert found.lower_bound <= fewest_by_enumeration(X, y) <= found.rows.size
    assert found.is_fewest  # so small that the search ends


def test_one_row_of_the_question_is_enough():
    (case,) = [p.values[0] for p in known_cases() if p.id == "min-removal"]
    found = linsep.influential_rows(case["X"], case["y"])
    assert found.rows.tolist() in ([2], [3])
    assert found.is_fewest
    assert "no fewer do (proved)" in found.summary()


def test_overlap_needs_every_separated_row_gone():
    X, y = [[0, 1], [0, 2], [1, 1], [0, 1], [0, 3]], [0, 1, 1, 1, 0]
    found = linsep.influential_rows(X, y)
    assert (found.goal, found.is_fewest) == ("overlap", True)
    answer = linsep.diagnose(X, y)
    assert found.rows.tolist() == answer.separated_rows.tolist()
    kept = np.setdiff1d(np.arange(5), found.rows)
    rest = linsep.diagnose(np.array(X)[kept], np.array(y)[kept])
    assert rest.separated_rows.size == 0


# --- the command ---


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "data.csv"
    pd.DataFrame(
        {
            "drug": [0, 0, 0, 0, 1, 1],
            "dose": [1, 2, 3, 2, 1, 3],
            "ill": [0, 1, 0, 0, 1, 1],
        }
    ).to_csv(path, index=False)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(main, ["diagnose", *arguments])


def test_command_prints_the_summary(file):
    done = run(file, "--target", "ill")
    assert done.exit_code == 0
    assert "drug = 1 in 2 rows, all ill = 1." in done.stdout


def test_command_with_a_formula_as_json(file):
    done = run(file, "--formula", "ill ~ C(drug) + dose", "--json")
    answer = json.loads(done.stdout)
    assert answer["status"] == "quasi-complete"
    assert answer["separated_rows"] == [4, 5]
    assert answer["estimates"]["C(drug)[T.1]"] == "+inf"


def test_command_saves_a_proof_that_verifies(file, tmp_path):
    out = str(tmp_path / "proof.json")
    assert run(file, "--target", "ill", "--certificate", out).exit_code == 0
    checked = CliRunner().invoke(main, ["verify", out, file, "--target", "ill"])
    assert checked.exit_code == 0, checked.output


def test_command_families_and_weights(file):
    assert run(file, "--target", "ill", "--family", "poisson").exit_code == 0
    weighted = run(file, "--target", "ill", "--weights", "drug", "--json")
    answer = json.loads(weighted.stdout)
    assert answer["separated_rows"] == [4, 5]
    assert answer["status"] == "complete"


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--target", "ill", "--formula", "ill ~ dose"],
        ["--formula", "ill ~ __import__('os').getcwd()"],
        ["--target", "nothing"],
        ["--formula", "ill ~ dose", "--drop", "drug"],
    ],
)
def test_command_refuses_what_it_cannot_use(file, arguments):
    done = run(file, *arguments)
    assert done.exit_code == 2
    assert done.stderr.startswith("Error:")
