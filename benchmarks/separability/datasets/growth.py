"""Planted rows, one size at a time made larger: the cost against n, d and 1/margin."""

from benchmark_utils.planted import planted
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "growth"
    parameters = {
        "along, n, d, margin": [
            *(("n", n, 30, 1e-3) for n in (20_000, 60_000, 200_000, 600_000)),
            *(("d", 100_000, d, 1e-3) for d in (10, 30, 100, 200)),
            *(("margin", 100_000, 30, 10.0**-k) for k in range(1, 8)),
        ]
    }
    parameter_template = "{along}: {n:,} x {d:,}, margin {margin:g}"
    test_config = {"along": "n", "n": 200, "d": 5, "margin": 0.1}

    def get_data(self):
        X, y, separable = planted(self.n, self.d, self.margin, 0)
        return {"X": X, "y": y, "separable": separable}
