"""The checker printed on the page about proofs: right about proofs and frauds."""

import json
import subprocess
import sys
from runpy import run_path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linsep
from helpers import ROOT

PATH = ROOT / "examples" / "check_proof.py"
holds = run_path(str(PATH))["holds"]
SMALL = st.lists(
    st.tuples(st.integers(-2, 2), st.integers(-2, 2), st.booleans()),
    min_size=2,
    max_size=8,
)


def proofs_of(X, y):
    for answer in (linsep.separate(X, y), linsep.diagnose(X, y)):
        if answer.certificate is not None:
            yield json.loads(answer.certificate.to_json())


@given(SMALL)
def test_every_proof_of_small_problems_holds_and_no_changed_one_does(rows):
    X = [[float(a), float(b)] for a, b, _ in rows]
    y = [str(label) for *_, label in rows]
    for proof in proofs_of(X, y):
        assert holds(proof, X, y)
        # Turned round, a separator is on the wrong side, and weights are negative.
        for entry in {"w", "weights"} & set(proof):
            if any(int(v) for v in proof[entry]):
                turned = proof | {entry: [str(-int(v)) for v in proof[entry]]}
                assert not holds(turned, X, y)
        if proof["kind"] == "conflict":
            less = proof | {k: proof[k][:-1] for k in ("rows", "weights")}
            assert not holds(less, X, y)


def test_nothing_of_the_checker_comes_from_linsep_and_it_is_ten_lines():
    text = PATH.read_text()
    imports = [
        line for line in text.splitlines() if line.startswith(("import", "from"))
    ]
    assert imports == [
        "import csv",
        "import json",
        "import sys",
        "from fractions import Fraction",
    ]
    body = text[text.index('"""Tell') :].split("\n\n")[0].splitlines()[1:]
    assert len(body) <= 12


@pytest.mark.parametrize("labels", ["0001", "0101"])
def test_it_runs_from_the_shell(tmp_path, labels):
    lines = [f"{x},{2 * x % 3},{y}" for x, y in zip(range(4), labels, strict=True)]
    data, proof = tmp_path / "data.csv", tmp_path / "proof.json"
    data.write_text("a,b,y\n" + "\n".join(lines))
    answer = linsep.separate(str(data), "y")
    answer.certificate.save(proof)
    done = subprocess.run(
        [sys.executable, "-I", str(PATH), str(proof), str(data), "y"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "True\n"
