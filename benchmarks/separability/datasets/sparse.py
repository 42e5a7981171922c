"""CSR rows of 20 entries, labelled by a planted plane."""

from benchmark_utils.planted import sparse_rows
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "sparse"
    parameters = {"n, d": [(200_000, 100_000)]}
    parameter_template = "{n:,} x {d:,}"
    test_config = {"n": 200, "d": 50}

    def get_data(self):
        X, y = sparse_rows(self.n, self.d)
        return {"X": X, "y": y, "separable": True}
