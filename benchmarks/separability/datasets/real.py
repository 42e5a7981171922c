"""Data that packages ship: breast cancer, digits, wine, and 5,000 images of MNIST."""

from benchmark_utils.real import DATA, FOR_MARGIN
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "real"
    parameters = {"which": list(DATA)}
    parameter_template = "{which}"
    requirements = ["pip::scikit-learn", "pip::mlxtend"]
    test_config = {"which": "wine 1 or not"}

    def get_data(self):
        X, y, separable = DATA[self.which]()
        margin = True if self.which in FOR_MARGIN else None
        return {"X": X, "y": y, "separable": separable, "margin": margin}
