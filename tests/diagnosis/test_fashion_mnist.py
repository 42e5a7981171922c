"""Images: directions of rare pixels, found and proved among 14,000 rows."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import pytest

import linsep

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fashion_mnist.py"
FOLDER = Path(os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist"))


@pytest.mark.skipif(
    not FOLDER.exists(), reason="Debian's dataset-fashion-mnist is not installed"
)
@pytest.mark.parametrize(
    ("first", "second", "n_separated"), [(0, 3, 894), (1, 3, 230), (0, 6, 0)]
)
def test_pairs_of_classes_are_parted(first, second, n_separated):
    spec = importlib.util.spec_from_file_location("fashion_mnist", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    X, y = script.load(FOLDER)
    chosen = np.isin(y, (first, second))
    X, y = X[chosen], y[chosen] == second
    answer = linsep.diagnose(X.astype(np.float32), y)
    assert answer.proved
    assert answer.separated_rows.size == n_separated
    if n_separated:
        *w, constant = np.roll(np.array(answer.exact_direction, dtype=object), -1)
        used = np.flatnonzero(w)
        values = X[:, used].astype(object) @ np.array(w, dtype=object)[used] + constant
        values *= np.where(y, 1, -1)
        assert np.flatnonzero(values > 0).tolist() == answer.separated_rows.tolist()
        assert (values >= 0).all()
