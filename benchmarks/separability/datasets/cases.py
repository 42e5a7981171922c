"""The small cases of this project's tests, one by one."""

import json
from pathlib import Path

import numpy as np
from benchopt import BaseDataset

LINES = Path(__file__).parents[3] / "tests" / "data" / "cases.jsonl"
CASES = {
    case["id"]: case
    for case in map(json.loads, LINES.read_text().splitlines())
    if case["problem"] == "binary" and "weights" not in case and len(set(case["y"])) > 1
}


class Dataset(BaseDataset):
    name = "case"
    parameters = {"which": list(CASES)}
    parameter_template = "{which}"

    def get_data(self):
        case = CASES[self.which]
        return {
            "X": np.array(case["X"], dtype=float),
            "y": np.array(case["y"]),
            "intercept": case["intercept"],
            "separable": case["expected"] == "complete",
        }
