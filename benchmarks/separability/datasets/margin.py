"""Planted, wide and clouded rows for the largest margin."""

import numpy as np
from benchmark_utils.planted import planted
from benchopt import BaseDataset
from scipy import sparse


class Dataset(BaseDataset):
    name = "margin"
    parameters = {
        "kind, n, d": [
            ("planted", 2_000, 20),
            ("planted", 20_000, 50),
            ("wide, 1 % filled", 300, 3_000),
            ("wide", 1_000, 3_000),
            ("two clouds", 2_000, 500),
        ]
    }
    parameter_template = "{kind}, {n:,} x {d:,}"
    test_config = {"kind": "planted", "n": 200, "d": 5}

    def get_data(self):
        rng = np.random.default_rng(0)
        y = rng.choice([-1, 1], self.n)
        if self.kind == "planted":
            X, y, _ = planted(self.n, self.d, 0.01, 0)
        elif self.kind.startswith("wide,"):
            X = sparse.random_array((self.n, self.d), density=0.01, rng=rng).toarray()
        else:
            X = rng.standard_normal((self.n, self.d))
            if self.kind == "two clouds":
                X[:, 0] += 4.0 * y
        return {"X": X, "y": y, "margin": True}
