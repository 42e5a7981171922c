"""The classifier on rows read in batches: a fit of a sample, a proof of all."""

import dask.array
import numpy as np
import pyarrow as pa
import pytest

from linsep import FitWarning, OptimisticPerceptron, datasets
from linsep.classifier import streamed
from linsep.input import InputError


def stream(X, y):
    columns = {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}
    table = pa.table(columns | {"y": y})
    return lambda: table


@pytest.fixture(scope="module")
def planted():
    data = datasets.planted_margin(6_000, 5, margin=1e-2)
    return data.X, np.where(data.y > 0, "up", "down")


@pytest.mark.parametrize("objective", ["separate", "max_margin"])
def test_separable_classes_are_separated_as_in_memory(planted, objective):
    X, y = planted
    fit = OptimisticPerceptron(objective=objective).fit(stream(X, y), "y")
    whole = OptimisticPerceptron(objective=objective).fit(X, y)
    assert fit.separation_.separable
    assert fit.separation_.proved
    assert fit.classes_.tolist() == ["down", "up"]
    assert (fit.predict(X) == y).all()
    signed = fit.decision_function(X) * np.where(y == "up", 1, -1)
    distance = signed.min() / np.linalg.norm(fit.coef_)
    assert fit.margin_ == pytest.approx(distance, rel=1e-9)
    if objective == "max_margin":
        assert fit.margin_ == pytest.approx(whole.margin_, rel=1e-3)
        nearest = np.flatnonzero(signed <= signed.min() * (1 + 1e-2))
        assert set(fit.support_) <= set(nearest)


def test_the_regression_is_of_a_sample_and_the_proof_of_all(monkeypatch):
    monkeypatch.setattr(streamed, "LEAST_SAMPLE", 2_000)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8_000, 4))
    y = (X @ [1.0, 2.0, 0.0, -1.0] + rng.standard_normal(8_000) > 0).astype(int)
    fit = OptimisticPerceptron().fit(dask.array.from_array(X, chunks=1_500), y)
    whole = OptimisticPerceptron().fit(X, y)
    assert fit.separation_.separable is False
    assert fit.separation_.n_samples == 8_000
    fit.separation_.certificate.verify(X, y)
    assert abs(fit.score(X, y) - whole.score(X, y)) < 0.01
    cosine = (fit.coef_ @ whole.coef_.T).item() / (
        np.linalg.norm(fit.coef_) * np.linalg.norm(whole.coef_)
    )
    assert cosine > 0.99
    assert fit.predict_proba(X[:5]).shape == (5, 2)


def test_a_hard_objective_falls_back_to_the_soft_margin_of_a_sample():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3_000, 3))
    y = (X[:, 0] + rng.standard_normal(3_000) > 0).astype(int)
    with pytest.warns(FitWarning, match="Inseparable"):
        fit = OptimisticPerceptron(objective="separate").fit(stream(X, y), "y")
    assert fit.separation_.separable is False
    assert fit.score(X, y) > 0.7


def test_texts_are_coded_as_in_the_stream():
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green"], 500, p=[0.3, 0.7])
    table = pa.table({"colour": colour, "x": rng.standard_normal(500)})
    table = table.append_column("y", pa.array((colour == "red").astype(int)))
    fit = OptimisticPerceptron(objective="separate").fit(lambda: table, "y")
    assert fit.feature_names_in_.tolist() == ["colour[T.red]", "x"]
    frame = table.drop_columns("y").to_pandas()
    assert (fit.predict(frame) == (colour == "red")).all()


def test_what_goes_with_data_in_memory_is_refused(planted):
    X, y = planted
    source = stream(X, y)
    with pytest.raises(InputError, match="sample_weight goes with data held in memory"):
        OptimisticPerceptron().fit(source, "y", sample_weight=np.ones(len(y)))
    with pytest.raises(InputError, match="kernel goes with data held in memory"):
        OptimisticPerceptron(kernel="rbf").fit(source, "y")
    one = pa.table({"x": [1.0, 2.0], "y": [1, 1]})
    with pytest.raises(InputError, match="two classes where X is read in batches"):
        OptimisticPerceptron().fit(lambda: one, "y")
