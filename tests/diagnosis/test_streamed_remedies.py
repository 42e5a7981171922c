"""Remedies of data read in batches: their code fits what remedies in memory fit."""

import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression

import linsep
from linsep.input import InputError

pytest.importorskip("statsmodels")


def a_frame(seed, n=600):
    """All rows of level d hold one label, and a column depends on another."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 80, n).astype(float),
            "income": rng.normal(5e4, 1e4, n).round(),
            "g": rng.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]),
        }
    )
    chance = 1 / (1 + np.exp(-(frame.age - 50) / 10))
    frame["y"] = np.where(rng.random(n) < chance, "yes", "no")
    frame.loc[frame.g == "d", "y"] = "yes"
    if seed % 2:
        frame["twice"] = 2 * frame.age + 1
    return frame


def in_batches(frame, size=70):
    batches = pa.Table.from_pandas(frame).to_batches(size)
    return lambda: pa.Table.from_batches(batches)


def run(answer, name):
    [remedy] = [r for r in answer.remedies() if name in r.name]
    names = {"answer": answer}
    exec(remedy.code, names)
    assert names["fit"].success if hasattr(names["fit"], "success") else True
    return names


@pytest.mark.parametrize("seed", range(4))
def test_leaving_rows_out_fits_as_it_does_in_memory(seed, tmp_path):
    frame = a_frame(seed)
    pa.parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "0.parquet")
    source = in_batches(frame) if seed < 2 else tmp_path
    answer, whole = linsep.diagnose(source, "y"), linsep.diagnose(frame, "y")
    assert answer.status == "quasi-complete"
    left_out = [line for line in whole.sentences() if "leaving rows out" in line]
    assert left_out == [line for line in answer.sentences() if "leaving rows" in line]
    found, fit = run(answer, "leaving rows out"), run(whole, "leaving rows out")["fit"]
    assert set(found["params"]) == set(fit.params.index)
    for name, value in found["params"].items():
        np.testing.assert_allclose(value, fit.params[name], rtol=1e-5, err_msg=name)
    for name, value in found["bse"].items():
        np.testing.assert_allclose(value, fit.bse[name], rtol=1e-5, err_msg=name)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_penalty_is_that_of_columns_in_like_units(seed, fit_intercept):
    frame = a_frame(seed)
    answer = linsep.diagnose(in_batches(frame), "y", fit_intercept=fit_intercept)
    found = run(answer, "penalty")
    X, y = (np.concatenate(parts) for parts in zip(*answer.batches(), strict=True))
    assert (y == (frame.y == "yes")).all()
    scale = X.std(axis=0)
    peer = LogisticRegression(fit_intercept=fit_intercept, tol=1e-10, max_iter=10_000)
    peer.fit(X / scale, y)
    names = [n for n in answer.coefficient_names if n != "intercept"]
    estimates = [found["params"][name] for name in names]
    np.testing.assert_allclose(estimates, peer.coef_[0] / scale, rtol=1e-4, atol=1e-9)
    if fit_intercept:
        np.testing.assert_allclose(
            found["params"]["intercept"], peer.intercept_[0], rtol=1e-4
        )


def test_rows_separated_are_left_out_of_batches():
    frame = a_frame(0)
    answer = linsep.diagnose(in_batches(frame), "y")
    left = sum(len(y) for _, y in answer.batches(separated=False))
    assert left == answer.overlapped_rows.size == (frame.g != "d").sum()
    assert sum(len(y) for _, y in answer.batches()) == len(frame)


def test_what_has_no_code_says_so():
    frame = a_frame(0)
    complete = linsep.diagnose(in_batches(frame.assign(y=frame.age > 50)), "y")
    assert [r.name for r in complete.remedies()] == ["a penalty (ridge)"]
    assert np.isfinite(run(complete, "penalty")["fit"].x).all()
    mixed = frame.assign(y=np.arange(600) % 2)
    assert linsep.diagnose(in_batches(mixed), "y").remedies() == []
    counts = frame.assign(y=np.where(frame.g == "d", 0, np.arange(600) % 4))
    of_counts = linsep.diagnose(in_batches(counts), "y", family="poisson")
    assert of_counts.remedies() == []
    assert "counts in batches come without code" in of_counts.summary().replace(
        "\n   ", ""
    )
    one = linsep.diagnose(in_batches(frame.assign(y="yes")), "y")
    assert one.remedies() == []


def test_batches_are_of_data_read_in_batches():
    frame = a_frame(0)
    answer = linsep.diagnose(in_batches(frame), "y")
    again = pickle.loads(pickle.dumps(answer))
    assert [r.name for r in again.remedies()] == [r.name for r in answer.remedies()]
    for other in (again, linsep.diagnose(frame, "y")):
        with pytest.raises(InputError, match="of data that are read in batches"):
            other.batches()
