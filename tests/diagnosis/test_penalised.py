"""Penalised columns: separation in the null space of the penalty, judged by z3."""

import numpy as np
import pandas as pd
import pytest

import linsep
from judges import z3_direction_exists


@pytest.mark.parametrize("seed", range(40))
def test_directions_leave_penalised_columns_alone(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 10))
    X = rng.integers(-1, 2, (n, 3)).astype(float)
    y = rng.integers(0, 2, n)
    answer = linsep.diagnose(X, y, penalized=["x1"])
    assert list(answer.estimates) == ["intercept", "x0", "x2"]
    if len(set(y.tolist())) < 2:
        return
    signs = np.where(y == 1, 1.0, -1.0)
    rows = (np.c_[np.ones(n), X] * signs[:, np.newaxis]).tolist()
    held = [[0.0, 0.0, 1.0, 0.0]]  # the coefficient of x1 stays
    strict = [z3_direction_exists(rows, held, row) for row in rows]
    assert answer.separated_rows.tolist() == np.flatnonzero(strict).tolist()
    assert "x1 is penalised" in " ".join(answer.summary().split())


def test_a_factor_of_random_intercepts_is_left_out_whole():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=60), "site": np.repeat(list("abc"), 20)})
    y = np.where(data.site == "a", 1, rng.integers(0, 2, 60))
    assert linsep.diagnose(data, y).status == "quasi-complete"
    answer = linsep.diagnose(data, y, penalized=["site"])
    assert answer.status == "overlap"
    assert list(answer.estimates) == ["intercept", "x"]
    with pytest.raises(linsep.InputError, match="must name columns"):
        linsep.diagnose(data, y, penalized=["xx"])
    with pytest.raises(linsep.InputError, match="leave a column"):
        linsep.diagnose(data[["x"]], y, penalized=["x"], fit_intercept=False)
