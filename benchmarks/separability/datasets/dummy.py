"""Quasi-complete separation by one dummy, whose rows all have one label."""

from benchmark_utils.planted import one_dummy
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "one dummy"
    parameters = {"n, d": [(20_000, 50), (1_000_000, 30)]}
    parameter_template = "{n:,} x {d:,}"
    test_config = {"n": 1_000, "d": 4}

    def get_data(self):
        X, y, separated = one_dummy(self.n, self.d)
        return {"X": X, "y": y, "separable": False, "regression": separated}
