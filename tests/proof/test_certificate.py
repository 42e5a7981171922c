"""Certificates: made, saved, read, checked; and refused once anything is changed."""

import json
import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import linsep
from helpers import ROOT, known_cases
from judges import z3_separable
from linsep.proof import certificate, checker, simplex
from linsep.proof.answers import Separator
from linsep.proof.certificate import Certificate
from linsep.proof.checker import CertificateError
from linsep.proof.exact import IntegerRows
from linsep.rows import DenseRows, SparseRows


def problem(X, labels, fit_intercept=True):
    classes = sorted(set(labels))
    signs = np.where(np.array(labels) == classes[-1], 1, -1).astype(np.int8)
    backend = SparseRows if sparse.issparse(X) else DenseRows
    return backend(X, signs, fit_intercept), classes


def certify(X, labels, fit_intercept=True):
    rows, classes = problem(X, labels, fit_intercept)
    A = rows.take(np.arange(rows.shape[0]))
    dense = A.toarray() if sparse.issparse(A) else A
    answer = simplex.decide(IntegerRows.from_floats(dense))
    if isinstance(answer, Separator):
        return Certificate.for_separator(rows, classes, answer.w)
    return Certificate.for_conflict(rows, classes, answer.rows, answer.weights)


SEPARABLE = np.array([[0.0, 1.0], [1.0, 0.5], [2.0, 0.0], [3.0, 4.0]]), list("nnyy")
CONFLICTED = np.array([[0.0], [2.0], [3.0], [9.0]]), list("nyny")


def partition_certificate():
    # Rows 1 and 2 tie at x = 1 with both labels; rows 0 and 3 are parted by them.
    X, labels = np.array([[0.0], [1.0], [1.0], [3.0]]), list("nnyy")
    rows, classes = problem(X, labels)
    made = Certificate.for_partition(rows, classes, [1, -1], [1, 2], [1, 1])
    return made, X, labels


def cases():
    partition, X, labels = partition_certificate()
    return [
        (certify(*SEPARABLE), *SEPARABLE),
        (certify(*CONFLICTED), *CONFLICTED),
        (partition, X, labels),
    ]


@pytest.mark.parametrize(("certificate", "X", "labels"), cases())
def test_a_certificate_survives_its_file_and_holds(certificate, X, labels, tmp_path):
    path = tmp_path / "proof.json"
    certificate.save(path)
    loaded = Certificate.load(path)
    assert loaded == certificate
    assert loaded.verify(X, labels) == certificate.verify(X, np.array(labels))
    assert [p.name for p in tmp_path.iterdir()] == ["proof.json"]


def test_how_a_file_was_read_is_told_and_is_no_part_of_what_is_proved(tmp_path):
    certificate, X, labels = cases()[0]
    told = replace(certificate, reading={"target": "y", "drop": ["id"]})
    told.save(tmp_path / "proof.json")
    loaded = Certificate.load(tmp_path / "proof.json")
    assert loaded.reading == {"target": "y", "drop": ["id"]}
    assert loaded.verify(X, labels) == certificate.verify(X, labels)
    other = told.to_json().replace('"id"', '"name"')
    with pytest.raises(CertificateError, match="content was changed"):
        Certificate.from_json(other)


SAVED = (ROOT / "tests" / "data" / "certificates.jsonl").read_text().splitlines()


@pytest.mark.parametrize("saved", SAVED)
def test_certificates_of_the_first_version_load_and_hold(saved):
    saved = json.loads(saved)
    loaded = Certificate.from_json(saved["text"])
    assert loaded.to_json() == saved["text"]
    sums = loaded.verify(saved["X"], saved["y"])
    assert min(sums) >= 0
    assert any(sums) == (loaded.kind != "conflict")
    assert sums == checker.check(saved["text"], saved["X"], saved["y"])


def test_wide_sparse_rows_are_checked_by_what_they_hold():
    d = 300_000
    X = sparse.csr_array(
        ([1.0, 2.0, -1.0, 4.0], ([0, 1, 1, 2], [0, 0, d - 1, 5])), shape=(3, d)
    )
    labels = ["n", "y", "n"]
    rows, classes = problem(X, labels, False)
    w = [0] * d
    w[0], w[5], w[d - 1] = -1, -1, -3
    made = Certificate.for_separator(rows, classes, w)
    assert made.verify(X, labels) == [1, 1, 4]
    with pytest.raises(CertificateError, match="is for 300000 columns, got 299999"):
        made.verify(X[:, 1:], labels)


def test_slacks_of_a_separator_are_the_products_with_every_row():
    certificate, X, labels = cases()[0]
    signs = [1 if label == "y" else -1 for label in labels]
    expected = [
        s
        * sum(Fraction(v) * w for v, w in zip([*row, 1.0], certificate.w, strict=True))
        for s, row in zip(signs, X.tolist(), strict=True)
    ]
    slacks = certificate.verify(X, labels)
    assert slacks == expected
    assert min(slacks) > 0


def test_sums_of_a_conflict_are_zero_for_every_column():
    certificate, X, labels = cases()[1]
    assert certificate.verify(X, labels) == [0, 0]


def test_slacks_of_a_partition_are_zero_on_the_overlapped_rows_only():
    certificate, X, labels = cases()[2]
    slacks = certificate.verify(X, labels)
    assert [slack > 0 for slack in slacks] == [True, False, False, True]
    assert min(slacks) == 0


def test_dense_sparse_and_single_precision_share_certificates():
    X, labels = SEPARABLE
    certificate = certify(X, labels)
    for other in (X.astype(np.float32), np.asfortranarray(X), sparse.csr_matrix(X)):
        assert certify(other, labels).data_sha256 == certificate.data_sha256
        assert min(certificate.verify(other, labels)) > 0
    assert min(certificate.verify(X.tolist(), labels)) > 0


@pytest.mark.parametrize("size", [1, 7, 50])
def test_data_read_in_batches_are_checked_as_those_in_memory(size):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (50, 3)).astype(float)
    X = X[X @ [1.0, -2.0, 0.5] != 0]
    labels = np.where(X @ [1.0, -2.0, 0.5] > 0, "up", "down")
    proof = linsep.separate(X, labels).certificate
    table = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "side": labels})
    slacks = proof.verify(lambda: table.to_reader(size), "side")
    assert slacks == proof.verify(X, labels)
    assert all(slack > 0 for slack in slacks)
    moved = table.take(np.roll(np.arange(len(X)), 1))
    with pytest.raises(CertificateError):
        proof.verify(lambda: moved.to_reader(size), "side")


def test_data_of_one_class_read_in_batches_are_checked():
    table = pa.table({"a": [1.0, 2.0, 3.0], "side": ["up"] * 3})
    proof = linsep.separate(lambda: table.to_reader(2), "side", fit_intercept=False)
    slacks = proof.certificate.verify(lambda: table.to_reader(2), "side")
    assert [slack / slacks[0] for slack in slacks] == [1, 2, 3]
    assert slacks[0] > 0


@pytest.mark.parametrize("labels", [[0, 0, 1, 1], [0.0, 0.0, 1.0, 1.0], list("0011")])
def test_the_coding_of_numeric_labels_does_not_matter(labels):
    certificate = certify(SEPARABLE[0], [0, 0, 1, 1])
    assert min(certificate.verify(SEPARABLE[0], labels)) > 0


def test_no_intercept_and_one_class():
    X = np.array([[1.0, 0.0], [2.0, -1.0]])
    certificate = certify(X, ["only", "only"], fit_intercept=False)
    assert certificate.classes == ("only",)
    assert min(certificate.verify(X, ["only", "only"])) > 0


def test_very_long_integers_travel_in_hexadecimal():
    X, labels = np.array([[1e-300], [1e300]]), ["n", "y"]
    rows, classes = problem(X, labels)
    huge = 1 << 20_000
    certificate = Certificate.for_separator(rows, classes, [huge, -(huge << 900)])
    assert '"0x1000' in certificate.to_json()
    assert Certificate.from_json(certificate.to_json()) == certificate
    assert min(certificate.verify(X, labels)) > 0


@pytest.mark.parametrize("bits", [1988, 1989, 1990, 14_000])
def test_integers_are_read_at_any_setting_of_pythons_limit(bits):
    X, labels = np.array([[0.0], [3.0]]), ["n", "y"]
    rows, classes = problem(X, labels)
    long = (1 << bits) - 1
    certificate = Certificate.for_separator(rows, classes, [long, -long])
    limit = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)  # the lowest Python allows
    try:
        text = certificate.to_json()
        assert checker.check(text, X.tolist(), labels) == [long, 2 * long]
        assert ('"0x' in text) == (bits > 1989)  # a decimal of 600 digits
    finally:
        sys.set_int_max_str_digits(limit)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff\xfe\x00", "in UTF-8"),
        (b"", "not a JSON object"),
        (b" " * (checker.MAX_TEXT + 1), "at most"),
    ],
)
def test_files_that_are_no_certificates_are_refused(tmp_path, content, message):
    path = tmp_path / "proof.json"
    path.write_bytes(content)
    with pytest.raises(CertificateError, match=message):
        Certificate.load(path)


def test_a_certificate_too_long_for_the_checker_is_not_written():
    rows, classes = problem(np.array([[0.0], [3.0]]), ["n", "y"])
    certificate = Certificate.for_separator(rows, classes, [1 << (1 << 28), 1])
    with pytest.raises(CertificateError, match="too many and too long"):
        certificate.to_json()


def test_a_certificate_as_long_as_the_checker_reads_is_written(monkeypatch):
    made = cases()[0][0]
    text = made.to_json()
    monkeypatch.setattr(checker, "MAX_TEXT", len(text))
    assert Certificate.from_json(made.to_json()) == made
    monkeypatch.setattr(checker, "MAX_TEXT", len(text) - 1)
    with pytest.raises(CertificateError, match=f"this one has {len(text)}"):
        made.to_json()


def test_sparse_rows_without_entries_are_checked():
    X, labels = sparse.csr_array((2, 3)), ["n", "y"]
    made = certify(X, labels)
    assert (made.rows, made.weights) == ((0, 1), (1, 1))
    assert made.verify(X, labels) == [0, 0, 0, 0]


def test_rows_without_columns_are_rows():
    rows, _ = problem(np.empty((2, 0)), ["n", "y"], False)
    assert list(certificate._PlainRows(rows)) == [[], []]


def test_everything_an_ordered_partition_says_is_written():
    said = Certificate(
        kind="ordered", n_samples=4, n_features=5, fit_intercept=False,
        classes=("n", "y"), data_sha256="0" * 64, directions=((0, 1, 7), (1, 0, -2)),
        dependent=((0, 2, 3), (0, 3, -1)), free=(2,), eliminated=(4, 1),
        point=((0, 0.75), (3, -1e-300)),
    )  # fmt: skip
    assert Certificate.from_json(said.to_json()) == said


def test_a_failed_save_leaves_nothing_behind(tmp_path, monkeypatch):
    certificate = cases()[0][0]
    (tmp_path / "proof.json").write_text("older")

    def fail(source, target):
        raise OSError("disk full")

    monkeypatch.setattr("linsep.proof.certificate.os.replace", fail)
    with pytest.raises(OSError, match="disk full"):
        certificate.save(tmp_path / "proof.json")
    assert (tmp_path / "proof.json").read_text() == "older"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (0, "separates all rows (4 rows, 2 features, with intercept)"),
        (1, "no hyperplane separates 3"),
        (2, "2 rows are separated, 2 overlap"),
    ],
)
def test_a_certificate_says_what_it_proves(index, words):
    assert words in str(cases()[index][0])
    alone = certify(np.array([[1.0]]), ["only"], fit_intercept=False)
    assert str(alone).endswith("(1 rows, 1 features, without intercept)")


@pytest.mark.parametrize("case", known_cases("binary", "poisson-reduced"))
def test_known_cases_are_certified_and_z3_agrees(case):
    keep = [i for i, weight in enumerate(case.get("weights", case["y"])) if weight != 0]
    if "weights" not in case:
        keep = list(range(len(case["y"])))
    X = np.array(case["X"], dtype=float)[keep]
    labels = [case["y"][i] for i in keep]
    certificate = certify(X, labels, case["intercept"])
    text = certificate.to_json()
    sums = checker.check(text, X.tolist(), labels)
    signs = [1 if label == max(labels) else -1 for label in labels]
    constant = [1.0] if case["intercept"] else []
    A = [
        [s * v for v in [*row, *constant]]
        for s, row in zip(signs, X.tolist(), strict=True)
    ]
    separable = case["expected"] == "complete"
    assert certificate.kind == ("separator" if separable else "conflict")
    assert z3_separable(A) == separable
    assert min(sums) > 0 if separable else not any(sums)


# Tampering: whatever is changed, the check fails.


@given(st.data())
def test_any_number_changed_fails(data):
    certificate, X, labels = data.draw(st.sampled_from(cases()))
    document = json.loads(certificate.to_json())
    lists = [name for name in ("w", "rows", "weights") if name in document]
    name = data.draw(st.sampled_from([*lists, "n_samples", "n_features"]))
    if name in lists:
        position = data.draw(st.integers(0, len(document[name]) - 1))
        change = data.draw(st.integers(-3, 3).filter(bool))
        old = document[name][position]
        new = int(old) + change
        document[name][position] = str(new) if isinstance(old, str) else new
    else:
        document[name] += data.draw(st.integers(-3, 3).filter(bool))
    with pytest.raises(CertificateError):
        checker.check(json.dumps(document), X.tolist(), labels)


@given(st.data())
def test_any_number_changed_fails_even_with_the_content_digest_made_again(data):
    # Now the claim itself is false, except where another separator was written.
    certificate, X, labels = data.draw(st.sampled_from(cases()[1:]))
    document = json.loads(certificate.to_json())
    name = data.draw(st.sampled_from(["rows", "weights"]))
    position = data.draw(st.integers(0, len(document[name]) - 1))
    old = document[name][position]
    new = int(old) + data.draw(st.integers(-3, 3).filter(bool))
    document[name][position] = str(new) if isinstance(old, str) else new
    document["content_sha256"] = checker.content_digest(document)
    with pytest.raises(CertificateError):
        checker.check(json.dumps(document), X.tolist(), labels)


@given(st.data())
def test_data_changed_in_the_last_bit_fails(data):
    certificate, X, labels = data.draw(st.sampled_from(cases()))
    row = data.draw(st.integers(0, X.shape[0] - 1))
    column = data.draw(st.integers(0, X.shape[1] - 1))
    moved = X.copy()
    toward = data.draw(st.sampled_from([-np.inf, np.inf]))
    moved[row, column] = np.nextafter(moved[row, column], toward)
    with pytest.raises(CertificateError, match="data are not those"):
        certificate.verify(moved, labels)


@given(st.data())
def test_labels_changed_or_rows_moved_fail(data):
    certificate, X, labels = data.draw(st.sampled_from(cases()))
    order = data.draw(st.permutations(range(len(labels))))
    X_moved, labels_moved = X[order], [labels[i] for i in order]
    if X_moved.tolist() != X.tolist() or labels_moved != labels:
        with pytest.raises(CertificateError):
            certificate.verify(X_moved, labels_moved)
    flipped = list(labels)
    i = data.draw(st.integers(0, len(labels) - 1))
    flipped[i] = "y" if flipped[i] == "n" else "n"
    with pytest.raises(CertificateError):
        certificate.verify(X, flipped)


@given(st.data())
def test_any_character_changed_fails(data):
    certificate, X, labels = data.draw(st.sampled_from(cases()))
    text = certificate.to_json()
    position = data.draw(st.integers(0, len(text) - 2))
    letter = data.draw(st.sampled_from('0123456789abcdef"-{}[], \n'))
    changed = text[:position] + letter + text[position + 1 :]
    try:
        same = json.loads(changed) == json.loads(text)
    except ValueError:
        same = False
    if not same:
        with pytest.raises(CertificateError):
            checker.check(changed, X.tolist(), labels)


@given(st.data())
def test_any_truncation_fails(data):
    certificate, X, labels = data.draw(st.sampled_from(cases()))
    text = certificate.to_json().rstrip()
    length = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(CertificateError):
        checker.check(text[:length], X.tolist(), labels)


@pytest.mark.parametrize("chunk", [1, 4])
def test_data_of_several_chunks_are_checked_whole(monkeypatch, chunk):
    monkeypatch.setattr(certificate, "_CHUNK", chunk)
    X = np.array([[0.0, 1.0], [1.0, 0.0], [3.0, 5.0], [4.0, 0.0], [7.0, 7.0]])
    proof = linsep.separate(X, [0, 0, 1, 1, 1]).certificate
    for data in (X, sparse.csr_array(X)):
        assert len(proof.verify(data, [0, 0, 1, 1, 1])) == 5
