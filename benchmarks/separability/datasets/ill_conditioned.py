"""Columns in units from 1e-6 to 1e6, mixed; and the paper's rows, mixed by integers."""

from benchmark_utils.planted import scaled_and_mixed
from benchopt import BaseDataset

from linsep import datasets


class Dataset(BaseDataset):
    name = "ill-conditioned"
    parameters = {
        "kind, d": [
            ("scaled and mixed", 50),
            ("paper rows mixed", 30),
            ("paper rows mixed", 100),
            ("paper rows mixed", 500),
            ("paper rows overlapping", 100),
        ]
    }
    parameter_template = "{kind}, {d}"

    def get_data(self):
        if self.kind == "scaled and mixed":
            X, y = scaled_and_mixed(20_000, self.d, 0.01)
            return {"X": X, "y": y, "separable": True}
        overlap = "overlapping" in self.kind
        data = datasets.mixed_paper_rows(
            self.d, n_redundant=2 * self.d, overlap=overlap, random_state=0
        )
        return {
            "X": data.X,
            "y": data.y,
            "intercept": data.fit_intercept,
            "separable": not overlap,
        }
