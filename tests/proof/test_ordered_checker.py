"""The second page of the checker: what it accepts is true, however it was made."""

import json

import numpy as np
import pytest
from scipy import sparse

import linsep
from linsep.diagnosis.exact import large_columns
from linsep.proof import checker, ordered_checker
from linsep.proof.checker import CertificateError


def problem(seed, n=14):
    """Labels of a factor and a number, of which some levels hold one outcome only."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 4, n)
    X = np.c_[np.eye(4)[codes], rng.integers(-2, 3, n)]
    y = rng.integers(0, 2, n)
    y[codes == 0] = 1
    return X, y


def certificate(X, y, monkeypatch):
    monkeypatch.setattr(large_columns, "MOST_EXACT", -1)
    answer = linsep.diagnose(X, y)
    monkeypatch.undo()
    return answer, answer.certificate


def rewritten(document):
    """A certificate changed by someone who can compute digests."""
    document["content_sha256"] = checker.content_digest(document)
    return json.dumps(document)


def separated(slacks):
    return [i for i, slack in enumerate(slacks) if slack > 0]


@pytest.fixture
def by_doubles(monkeypatch):
    monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("route", ["fractions", "doubles"])
def test_both_routes_accept_what_is_true(seed, route, monkeypatch):
    X, y = problem(seed)
    answer, proof = certificate(X, y, monkeypatch)
    if route == "doubles":
        monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)
    if proof.kind == "ordered":
        assert separated(proof.verify(X, y)) == answer.separated_rows.tolist()


def true_document(monkeypatch):
    for seed in range(50):
        X, y = problem(seed)
        _, proof = certificate(X, y, monkeypatch)
        if proof.kind == "ordered" and proof.directions and proof.dependent:
            return X, y, json.loads(proof.to_json())
    raise AssertionError


@pytest.mark.parametrize(
    ("entry", "value", "words"),
    [
        ("directions", ["0 0 01"], "texts of numbers"),
        ("directions", ["0 0 1", "0 0 2"], "entry twice"),
        ("directions", [1], "texts of numbers"),
        ("directions", {}, "must be a list"),
        ("directions", ["0 99 1"], "columns must be below"),
        ("free", [0, 0], "column twice"),
        ("free", ["0"], "list of columns"),
        ("free", [5], "free column must stand in its own vector"),
        ("eliminated", [99], "list of columns"),
        ("point", ["0 1.5"], "texts of numbers"),
        ("point", ["0 0x1.0000000000000p+9999"], "finite doubles"),
        ("point", ["0 0x1.0p+0", "0 0x1.0p+0"], "column twice"),
        ("point", ["99 0x1.0p+0"], "columns must be below"),
    ],
)
def test_what_is_malformed_is_refused(entry, value, words, monkeypatch):
    X, y, document = true_document(monkeypatch)
    document[entry] = value
    with pytest.raises(CertificateError, match=words):
        checker.check(rewritten(document), X.tolist(), y.tolist())


def test_eliminated_columns_that_share_a_row_are_refused(monkeypatch, by_doubles):
    X = np.c_[np.arange(8.0) % 3, np.arange(8.0) % 2 + 1]
    y = np.array([0, 1, 1, 0, 0, 1, 1, 0])
    answer, proof = certificate(X, y, monkeypatch)
    monkeypatch.setattr(ordered_checker, "FEW_PRODUCTS", -1)
    assert answer.status.value == "overlap"
    document = json.loads(proof.to_json())
    document["eliminated"] = [0, 1]
    with pytest.raises(CertificateError, match="two of the columns"):
        checker.check(rewritten(document), X.tolist(), y.tolist())


def test_separable_rows_are_not_seen_to_overlap_from_any_point(by_doubles):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3))
    signs = np.where(X[:, 0] > 0, 1.0, -1.0)
    for scale in (0.0, 1.0, 30.0, 1e3):
        with pytest.raises(ordered_checker.NotProved):
            ordered_checker.check_overlap(
                sparse.csr_array(X * signs[:, np.newaxis]),
                np.array([scale, 0.0, 0.0]),
                np.zeros(3, dtype=bool),
            )


def test_a_dependent_column_that_is_kept_is_refused(by_doubles):
    A = np.array([[1.0, 1, 1], [-1, -1, 1], [0.5, 0.5, -2]])
    with pytest.raises(ordered_checker.NotProved, match="not positive definite"):
        ordered_checker.check_overlap(
            sparse.csr_array(A), np.zeros(3), np.zeros(3, dtype=bool)
        )
