"""Data that packages ship."""

from benchmark_utils.real import DATA
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "real"
    parameters = {"which": sorted(DATA)}

    def get_data(self):
        X, y, separable = DATA[self.which]()
        return {"X": X, "y": y, "separable": separable}
