"""Check a certificate of linsep without linsep: exact sums, and nothing else.

Run as ``python examples/check_proof.py proof.json data.csv TARGET``.
"""

import csv
import json
import sys
from fractions import Fraction


def holds(proof, X, y):
    """Tell whether a proof is right about rows X of numbers and labels y of text."""
    ones = [1] * proof["fit_intercept"]
    signs = [1 if label == proof["classes"][-1] else -1 for label in y]
    A = [[s * Fraction(v) for v in [*x, *ones]] for x, s in zip(X, signs, strict=True)]
    w = [int(v) for v in proof.get("w", [0] * len(A[0]))]
    weights = map(int, proof.get("weights", ()))
    p = dict(zip(proof.get("rows", ()), weights, strict=True))
    sides = [sum(a * b for a, b in zip(row, w, strict=True)) for row in A]
    apart = all(side == 0 if i in p else side > 0 for i, side in enumerate(sides))
    gone = not any(sum(p[i] * A[i][j] for i in p) for j in range(len(w)))
    balanced = gone and all(v > 0 for v in p.values())  # nothing is left of these rows
    kinds = {"conflict": bool(p), "separator": apart and not p, "partition": apart}
    return balanced and kinds[proof["kind"]]


if __name__ == "__main__":
    proof_path, data_path, target = sys.argv[1:]
    with open(data_path, newline="") as lines:
        table = list(csv.DictReader(lines))
    with open(proof_path) as file:
        proof = json.load(file)
    X = [[float(v) for k, v in row.items() if k != target] for row in table]
    print(holds(proof, X, [row[target] for row in table]))
