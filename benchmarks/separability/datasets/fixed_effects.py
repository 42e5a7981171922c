"""Regressions with three numbers and two factors of thousands of levels."""

from benchmark_utils.fixed_effects import Design, separated_rows
from benchopt import BaseDataset


class Dataset(BaseDataset):
    name = "fixed effects"
    parameters = {
        "n, n_first, n_second": [
            (20_000, 1_000, 100),
            (100_000, 2_000, 500),
            (200_000, 5_000, 1_000),
        ],
        "family": ["poisson", "binomial"],
    }
    parameter_template = "{n:,} x ({n_first:,} + {n_second:,}), {family}"
    test_config = {"n": 500, "n_first": 20, "n_second": 5, "family": "poisson"}

    def get_data(self):
        design = Design(self.n, (self.n_first, self.n_second))
        frame = design.frame(self.family)
        return {
            "frame": frame,
            "formula": design.formula,
            "family": self.family,
            "regression": separated_rows(frame, self.family),
        }
