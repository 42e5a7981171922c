"""The commands max-margin, fit and predict, on files."""

import json
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.cli import main
from linsep.cli.model_file import LinearModel

FRUIT = """weight,colour,kind
150,red,apple
160,green,apple
140,green,apple
8,red,cherry
9,black,cherry
7,red,cherry
"""


@pytest.fixture
def fruit(tmp_path):
    path = tmp_path / "fruit.csv"
    path.write_text(FRUIT)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(a) for a in arguments])
    assert result.exit_code == code, result.output
    return result


def test_max_margin_prints_the_exact_square(fruit):
    result = run("max-margin", fruit, "--target", "kind", "--exact")
    # Nearest rows differ by 131 in weight, and by two colours: 131^2 + 2, a quarter.
    assert "17163/4" in result.output
    record = json.loads(
        run("max-margin", fruit, "--target", "kind", "--exact", "--json").stdout
    )
    assert record["status"] == "separable"
    assert record["margin_squared"] == "17163/4"
    assert record["support"] == [2, 4]


def test_max_margin_names_a_conflict(tmp_path):
    path = tmp_path / "line.csv"
    path.write_text("x,y\n0,a\n1,b\n2,a\n")
    record = json.loads(run("max-margin", path, "--target", "y", "--json").stdout)
    assert record["status"] == "inseparable"
    assert record["conflict"] == [0, 1, 2]
    assert record["support"] is None


def test_fit_then_predict_gives_the_labels_back(fruit, tmp_path):
    model = tmp_path / "model.json"
    result = run("fit", fruit, "--target", "kind", "--model", model)
    assert "Separable" in result.output
    labels = run("predict", model, fruit).stdout.split()
    assert labels == ["apple"] * 3 + ["cherry"] * 3


@pytest.mark.parametrize("is_folder", [False, True])
@pytest.mark.parametrize("label", ["apple", "cherry"])
def test_the_label_asked_for_is_on_the_positive_side(fruit, tmp_path, label, is_folder):
    data, model = fruit, tmp_path / "model.json"
    if is_folder:
        lines = fruit.read_text().splitlines()
        data = tmp_path / "parts"
        data.mkdir()
        for k, part in enumerate((lines[1:4], lines[4:])):
            (data / f"{k}.csv").write_text("\n".join([lines[0], *part, ""]))
    given = "--target", "kind", "--positive", label, "--model", model
    said = run("fit", data, *given).output
    assert "Separable" in said
    assert "Training accuracy 1.0000" in said
    lines = run("predict", model, fruit, "--scores").stdout.split()
    other = {"apple": "cherry", "cherry": "apple"}[label]
    for line, kind in zip(lines, ["apple"] * 3 + ["cherry"] * 3, strict=True):
        named, score = line.split(",")
        assert (float(score) > 0) == (kind == label)
        assert named == (label if kind == label else f"{other}")


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_a_model_with_a_kernel_gives_the_labels_back(tmp_path, kernel):
    path, model = tmp_path / "ring.csv", tmp_path / "model.json"
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.where(np.linalg.norm(X, axis=1) < 1.1, "in", "out")
    lines = [f"{a},{b},{label}" for (a, b), label in zip(X.tolist(), y, strict=True)]
    path.write_text("\n".join(["a,b,side", *lines]) + "\n")
    asked = ["--kernel", kernel, "--degree", 2, "--class-weight", "balanced"]
    result = run("fit", path, "--target", "side", "--model", model, *asked)
    assert "Separable" in result.output
    labels = run("predict", model, path).stdout.split()
    fitted = linsep.OptimisticPerceptron(
        kernel=kernel, degree=2, class_weight="balanced"
    ).fit(X, y)
    assert labels == fitted.predict(X).tolist()
    scores = LinearModel.load(model).decisions(X)
    np.testing.assert_allclose(scores, fitted.decision_function(X), rtol=1e-9)
    onnx = tmp_path / "model.onnx"
    refused = run("fit", path, "--target", "side", "--model", onnx, *asked, code=2)
    assert "must end in .json with --kernel" in refused.output


def test_model_file_is_plain_and_exact(fruit, tmp_path):
    model = tmp_path / "model.json"
    run("fit", fruit, "--target", "kind", "--model", model)
    record = json.loads(model.read_text())
    assert record["format"] == "linsep-linear-classifier"
    assert record["classes"] == ["apple", "cherry"]
    assert record["fit"]["proved"] == [True]
    rule = LinearModel.load(model)
    assert rule.coef.tolist() == record["coef"]
    assert LinearModel.load(model).to_json() == model.read_text()


def test_predict_needs_no_labels_and_ignores_order(fruit, tmp_path):
    model = tmp_path / "model.json"
    run("fit", fruit, "--target", "kind", "--model", model)
    unlabelled = tmp_path / "new.csv"
    unlabelled.write_text("colour,weight\nred,155\nblack,8\n")
    assert run("predict", model, unlabelled).stdout.split() == ["apple", "cherry"]
    scored = run("predict", model, unlabelled, "--scores").stdout.splitlines()
    assert [float(line.split(",")[1]) > 0 for line in scored] == [False, True]


def test_predict_of_many_classes(tmp_path):
    path, model = tmp_path / "three.csv", tmp_path / "model.json"
    path.write_text("x,y\n0,a\n1,a\n10,b\n11,b\n20,c\n21,c\n")
    run("fit", path, "--target", "y", "--model", model)
    assert run("predict", model, path).stdout.split() == list("aabbcc")


def test_fit_says_that_rows_are_inseparable(tmp_path):
    path, model = tmp_path / "line.csv", tmp_path / "model.json"
    rows = "".join(f"{v},{'ab'[(v + v // 7) % 2]}\n" for v in range(20))
    path.write_text("x,y\n" + rows)
    hard = "--objective", "max_margin"
    result = run("fit", path, "--target", "y", "--model", model, *hard)
    assert "Inseparable" in result.output
    assert "nu=" in result.output
    assert json.loads(model.read_text())["fit"]["status"] == ["inseparable"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("weight,kind\n1,apple\n2,cherry\n", "must have the column 'colour'"),
        ("weight,colour\n1,blue\n2,red\n", "must hold levels that the model knows"),
    ],
)
def test_predict_refuses_other_columns(fruit, tmp_path, text, message):
    model, path = tmp_path / "model.json", tmp_path / "other.csv"
    run("fit", fruit, "--target", "kind", "--model", model)
    path.write_text(text)
    assert message in run("predict", model, path, code=2).output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "must be a model written by `linsep fit`"),
        ('{"format": "other"}', "got other JSON"),
        ('{"format": "linsep-linear-classifier", "version": 9}', "a version up to 3"),
        ('{"format": "linsep-linear-classifier", "version": 1}', "every part"),
        (
            '{"format": "linsep-linear-classifier", "version": 1, "target": "y", '
            '"classes": [0, 1], "feature_names": ["a"], "dummies": {}, '
            '"coef": [[1, 2]], "intercept": [0]}',
            "one coefficient a column",
        ),
    ],
)
def test_broken_model_files_are_named(tmp_path, text, message):
    path = tmp_path / "model.json"
    path.write_text(text)
    with pytest.raises(linsep.InputError, match=message):
        LinearModel.load(path)


def test_onnx_without_onnx_says_what_to_install(fruit, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = run(
        "fit", fruit, "--target", "kind", "--model", tmp_path / "m.onnx", code=2
    )
    assert "install onnx" in result.output


THREE = "weight,colour,kind\n1,1,a\n2,0,a\n10,1,b\n11,0,b\n20,1,c\n21,3,c\n"
NUMBERS = "weight,colour,kind\n1,1,-3\n2,0,-3\n10,1,7\n11,0,7\n"
ONE = "weight,colour,kind\n1,1,x\n2,0,x\n"


@pytest.mark.parametrize("text", [FRUIT, THREE, NUMBERS, ONE])
def test_onnx_predicts_the_same(tmp_path, text):
    """The judge is ONNX's own reference implementation, whose numbers are doubles."""
    reference = pytest.importorskip("onnx.reference")
    data, path, plain = (tmp_path / name for name in ("d.csv", "m.onnx", "m.json"))
    data.write_text(text)
    run("fit", data, "--target", "kind", "--model", path)
    run("fit", data, "--target", "kind", "--model", plain)
    model = LinearModel.load(plain)
    rows = np.random.default_rng(0).normal(scale=100.0, size=(200, model.coef.shape[1]))
    labels, scores = reference.ReferenceEvaluator(str(path)).run(None, {"X": rows})
    assert labels.tolist() == model.predict(rows)
    assert scores.dtype == np.float64
    decisions = model.decisions(rows)
    if decisions.ndim == 1 and len(model.classes) == 2:
        np.testing.assert_allclose(-scores[:, 0], decisions, rtol=1e-12)
    last = decisions if decisions.ndim == 1 else decisions[:, -1]
    np.testing.assert_allclose(scores[:, -1], last, rtol=1e-12)


DROPPED = {"text": "a,b,c,d,e,f", "missing": "1,,3,?,5,6", "names": "x1,x2,x3,x4,x5,x6"}


@pytest.mark.parametrize("extra", DROPPED)
def test_predict_reads_the_file_it_was_fitted_on_when_a_column_was_dropped(
    fruit, tmp_path, extra
):
    model, path = tmp_path / "model.json", tmp_path / "with-notes.csv"
    cells = ["notes", *DROPPED[extra].split(",")]
    lines = fruit.read_text().splitlines()
    path.write_text("\n".join(map(",".join, zip(lines, cells, strict=True))) + "\n")
    run("fit", path, "--target", "kind", "--drop", "notes", "--model", model)
    labels = run("predict", model, path).stdout.split()
    assert labels == ["apple"] * 3 + ["cherry"] * 3
    unlabelled = tmp_path / "unlabelled.csv"
    kept = [line.rsplit(",", 2)[0::2] for line in path.read_text().splitlines()]
    unlabelled.write_text("\n".join(map(",".join, kept)) + "\n")
    assert run("predict", model, unlabelled).stdout.split() == labels


def test_predict_refuses_unknown_levels_without_labels_too(tmp_path):
    model, path = tmp_path / "model.json", tmp_path / "colours.csv"
    path.write_text("colour,weight,kind\nred,1,a\nblue,2,a\nred,8,b\nblue,9,b\n")
    run("fit", path, "--target", "kind", "--model", model)
    path.write_text("colour,weight\nred,1\ngreen,2\n")
    said = run("predict", model, path, code=2).output
    assert "must hold levels that the model knows" in said
    assert "'green'" in said
