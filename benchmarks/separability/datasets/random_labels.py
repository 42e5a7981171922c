"""Labels by coin: 20 rows a column, and just below and above 2, where it turns.

Which side of it these rows are on was proved once by `linsep` and its checker.
"""

from benchmark_utils.planted import random_labels
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "coin"
    parameters = {
        "n, d, separable": [
            (2_000, 100, False),
            (1_950, 1_000, True),
            (2_200, 1_000, False),
        ]
    }
    parameter_template = "{n:,} x {d:,}, labels by coin"

    def get_data(self):
        X, y = random_labels(self.n, self.d)
        return {"X": X, "y": y, "separable": self.separable}
