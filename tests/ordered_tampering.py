"""Ordered certificates, what they say judged in fractions, and how to falsify them."""

import json
import math
import re
from fractions import Fraction

import numpy as np
from scipy import sparse

import linsep
from hostile_parts import overlap_by_weights
from judges import dot, fractions_of, rank
from linsep.proof import checker
from random_designs import random_problem


def weights_at(rows, point):
    """The doubles p and either v of the second page's text, one row at a time."""
    p, v, other = [], [], []
    with np.errstate(all="ignore"):
        for t in (rows @ point).tolist():
            root = math.sqrt(1.0 + t * t)
            small = 0.5 / (root * (root + abs(t)))
            p.append(max(small if t > 0 else 1.0 - small, 2.0**-100))
            v.append(max(0.5 / (root * root * root), 2.0**-100))
            other.append(max(small * (1.0 - small), 2.0**-100))
    return [list(map(Fraction, numbers)) for numbers in (p, v, other)]


def overlaps(rows, point):
    exact = fractions_of(rows)
    p, *both = weights_at(rows, point)
    return any(overlap_by_weights(exact, p, v) for v in both)


def ordered_case(seed):
    """A certificate of this kind, its data, and which rows truly overlap."""
    M, y, family = random_problem(seed)
    if family != "poisson" and len(set(y.tolist())) < 2:
        return None
    diagnosis = linsep.diagnose(M, y, family=family)
    certificate = diagnosis.certificate
    if certificate is None or certificate.kind != "ordered":
        return None
    Z, labels = diagnosis.certificate_data()
    rows = (Z.toarray() if sparse.issparse(Z) else np.asarray(Z)).astype(float).tolist()
    return json.loads(certificate.to_json()), rows, [str(x) for x in labels]


def signed_rows(document, rows, labels):
    last = document["classes"][-1]
    constant = [1.0] if document["fit_intercept"] else []
    return fractions_of(
        [
            [(1 if label == last else -1) * x for x in [*row, *constant]]
            for row, label in zip(rows, labels, strict=True)
        ]
    )


def vectors_of(texts, k):
    found = {}
    for entry in texts:
        number, column, value = entry.split()
        found.setdefault(int(number), [0] * k)[int(column)] = int(value, 0)
    return found


def holds(document, rows, labels):
    """Whether all that a certificate says is so: in fractions, written anew."""
    A = signed_rows(document, rows, labels)
    k = len(A[0])
    directions = vectors_of(document["directions"], k)
    left = []
    for row in A:
        products = [dot(row, directions[number]) for number in sorted(directions)]
        first = next((value for value in products if value), 0)
        if first < 0:
            return False
        if first == 0:
            left.append(row)
    dependent = vectors_of(document["dependent"], k)
    if any(dot(row, w) for row in left for w in dependent.values()):
        return False
    for number, column in enumerate(document["free"]):
        if [n for n, w in dependent.items() if w[column]] != [number]:
            return False
    kept = [
        j for j in range(k) if j not in document["free"] and any(row[j] for row in left)
    ]
    if not left or not kept:
        return True
    narrow = [[row[j] for j in kept] for row in left]
    if rank(narrow) < len(kept):
        return False
    point = {
        int(j): float.fromhex(x) for j, x in (t.split() for t in document["point"])
    }
    doubles = np.array([[float(x) for x in row] for row in narrow])
    return overlaps(doubles, np.array([point.get(j, 0.0) for j in kept]))


def changed_number(entry, rng):
    number, column, value = entry.split()
    return f"{number} {column} {int(value, 0) + int(rng.choice([-3, -2, -1, 1, 2, 9]))}"


def tampered(document, rows, labels, rng):
    """Change one thing, and bring the digests up to date."""
    document = json.loads(json.dumps(document))
    rows, labels = [list(row) for row in rows], list(labels)
    k = document["n_features"] + document["fit_intercept"]
    kind = rng.integers(0, 14)

    def some(name):
        return int(rng.integers(0, len(document[name]))) if document[name] else None

    if kind in (0, 1, 2):  # another number, sign or column in a vector
        name = str(rng.choice(["directions", "dependent"]))
        at = some(name)
        if at is not None:
            number, column, value = document[name][at].split()
            document[name][at] = [
                changed_number(document[name][at], rng),
                f"{number} {column} {-int(value, 0)}",
                f"{number} {rng.integers(0, k)} {value}",
            ][kind]
    elif kind == 3:  # a vector dropped
        name = str(rng.choice(["directions", "dependent"]))
        if document[name]:
            gone = document[name][some(name)].split()[0]
            document[name] = [t for t in document[name] if t.split()[0] != gone]
    elif kind == 4:  # an entry dropped, or one more
        name = str(rng.choice(["directions", "dependent"]))
        if document[name] and rng.random() < 0.5:
            del document[name][some(name)]
        else:
            document[name].append(f"{rng.integers(0, 3)} {rng.integers(0, k)} 1")
    elif kind == 5:  # the order of the directions
        document["directions"] = [
            re.sub(r"^\d+", lambda m: str(99 - int(m[0])), t)
            for t in document["directions"]
        ]
    elif kind == 6:  # other free columns
        if document["free"] and rng.random() < 0.5:
            document["free"][some("free")] = int(rng.integers(0, k))
        else:
            document["free"].append(int(rng.integers(0, k)))
    elif kind == 7 and document["free"]:
        del document["free"][some("free")]
    elif kind == 8:  # a column said to depend on nothing, or on itself
        number = 1 + max([int(t.split()[0]) for t in document["dependent"]], default=-1)
        column = int(rng.integers(0, k))
        document["dependent"].append(f"{number} {column} {rng.integers(0, 2)}")
        document["free"].append(column)
    elif kind == 9:  # a point far off
        size = float(rng.choice([1.0, 30.0, 1e5, 1e300]))
        moved = {j: float(rng.standard_normal() * size) for j in range(k)}
        document["point"] = [f"{j} {x.hex()}" for j, x in moved.items()]
    elif kind == 10:  # other columns first
        document["eliminated"] = np.flatnonzero(rng.random(k) < 0.5).tolist()
    elif kind == 11:  # other data
        i, j = int(rng.integers(0, len(rows))), int(rng.integers(0, k))
        if j < len(rows[i]):
            rows[i][j] = float(rng.choice([0.0, -rows[i][j], rows[i][j] + 1.0]))
    elif kind == 12:  # other labels
        i = int(rng.integers(0, len(rows)))
        labels[i] = str(rng.choice(document["classes"]))
    elif kind == 13 and len(rows) > 1:  # a row less
        i = int(rng.integers(0, len(rows)))
        del rows[i], labels[i]
    last = document["classes"][-1]
    document["n_samples"] = len(rows)
    document["data_sha256"] = checker._data_digest(
        rows, [1 if label == last else -1 for label in labels], document
    )
    document["content_sha256"] = checker.content_digest(document)
    return document, rows, labels
