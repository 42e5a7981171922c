"""Normal rows with a planted margin; flipped labels make them overlap."""

from benchmark_utils.planted import planted
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "planted"
    parameters = {
        "n, d, margin, flips": [
            (20_000, 50, 1e-1, 0),
            (20_000, 50, 1e-3, 0),
            (20_000, 50, 1e-5, 0),
            (20_000, 50, 1e-7, 0),
            (200_000, 100, 1e-4, 0),
            (1_000_000, 100, 1e-3, 0),
            (5_000, 2_000, 0, 0),
            (500, 20_000, 1e-3, 0),
            (20_000, 50, 1e-3, 10),
            (1_000_000, 50, 1e-3, 10),
            (1_000_000, 50, 1e-3, 0.1),
            (1_000_000, 50, 1e-3, 0.05),
        ]
    }
    parameter_template = "{n:,} x {d:,}, margin {margin:g}, flips {flips:g}"
    test_config = {"n": 200, "d": 5, "margin": 0.1, "flips": 0}

    def get_data(self):
        X, y, separable = planted(self.n, self.d, self.margin, self.flips)
        return {"X": X, "y": y, "separable": separable}
