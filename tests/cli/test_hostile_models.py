"""Model files from strangers: used whole, or refused in one sentence."""

import json
import os
import random
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from linsep.cli import main
from linsep.cli.model_file import LinearModel

MODEL = {
    "format": "linsep-linear-classifier",
    "version": 1,
    "target": "kind",
    "classes": ["apple", "cherry", "pear"],
    "feature_names": ["weight", "colour[green]", "colour[red]"],
    "dummies": {"colour": ["green", "red"]},
    "coef": [[0.5, 1.0, -2.5], [1e-300, 0, 3], [-0.5, -1.0, 7.25]],
    "intercept": [0.125, -1, 2.0],
    "fit": {"status": ["separable"], "proved": [True], "nu": [None], "margin": 0.25},
}
SECOND = {name: part for name, part in MODEL.items() if name != "dummies"} | {
    "version": 2,
    "feature_names": ["weight", "colour[T.green]", "size[s]"],
    "levels": {
        "colour": {"levels": ["green", "red"], "reference": "red"},
        "size": {"levels": ["s"], "reference": None},
    },
}
KERNEL = SECOND | {
    "version": 3,
    "kernel": {"name": "rbf", "gamma": 0.5, "degree": 3, "coef0": 1.0},
    "landmarks": [[1.0, 0, 1], [-2.5, 1, 0]],
    "coef": [[0.5, -1.0], [2, 0], [-0.5, 7.25]],
}
TWO = MODEL | {
    "classes": [False, True],
    "coef": [[0.5, 1.0, -2.5]],
    "intercept": [0.125],
}
# Values that stand where a model has others.
HOSTILE = [
    None, True, False, 0, -1, 2, 1.5, 1e308, "", "x", "ab", "\ud800", "\x1b[2J", [],
    [[]], {}, [None], [True], ["a", "a"], [1, 1.0], [[1.0], [2.0, 3.0]], {"": []},
    {"colour": "red"}, {"colour": [1]}, 10**19, 10**400, float("nan"), float("inf"),
]  # fmt: skip


def load(tmp_path, content):
    path = tmp_path / "model.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return LinearModel.load(path)


def places(value, path=()):
    """Yield the path of every value inside a JSON value."""
    yield path
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*path, key))
    elif isinstance(value, list):
        for at, part in enumerate(value):
            yield from places(part, (*path, at))


def mutated(draw):
    """One model file with an entry replaced, removed or added, or bytes spoilt."""
    record = json.loads(json.dumps(draw.choice([MODEL, TWO, SECOND, KERNEL])))
    if draw.random() < 0.6:
        *path, last = draw.choice(list(places(record))[1:])
        parent = record
        for key in path:
            parent = parent[key]
        change = draw.choice(["replace", "replace", "remove", "add"])
        if change == "replace":
            parent[last] = draw.choice(HOSTILE)
        elif change == "remove":
            del parent[last]
        elif isinstance(parent, list):
            parent.insert(last, draw.choice([*HOSTILE, parent[last]]))
        else:
            parent[f"{last}_"] = parent[last]
        return json.dumps(record).encode()
    content = bytearray(json.dumps(record).encode())
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(content))
        until = min(len(content), at + draw.randint(1, 30))
        part = content[at:until]
        change = draw.choice(["bytes", "cut", "double", "brackets", "digits"])
        content[at:until] = {
            "bytes": bytes(draw.randrange(256) for _ in part),
            "cut": b"",
            "double": part + part,
            "brackets": b"[" * draw.choice([1, 100_000]),
            "digits": b"9" * draw.choice([1, 400, 5000]),
        }[change]
    return bytes(content)


def test_a_mutated_model_is_refused_in_words_or_is_a_whole_model(tmp_path):
    draw = random.Random(20)
    n_used, texts = 0, []
    for _ in range(3000):
        content = mutated(draw)
        try:
            model = load(tmp_path, content)
        except linsep.InputError as error:
            texts.append(str(error))
            continue
        n_used += 1
        n_rows, d = 3, len(model.feature_names)
        try:
            scores = model.decisions(np.ones((n_rows, d))) if d else np.zeros(n_rows)
        except linsep.InputError as error:
            texts.append(str(error))
            continue
        assert np.isfinite(model.coef).all()
        assert scores.shape[0] == n_rows
        assert all(isinstance(label, str | int | float) for label in model.classes)
        again = load(tmp_path, model.to_json())
        assert again.classes == model.classes
        assert again.coef.tolist() == model.coef.tolist()
    assert all("must" in text and len(text) < 1000 for text in texts)
    # Changed digits and letters leave a model a model; most mutations do not.
    assert 100 < n_used < 1500


def test_predict_refuses_hostile_models_without_a_traceback(tmp_path):
    data, path = tmp_path / "data.csv", tmp_path / "model.json"
    data.write_text("weight,colour\n150,red\n8,green\n")
    draw = random.Random(21)
    codes = set()
    for _ in range(150):
        path.write_bytes(mutated(draw))
        done = CliRunner().invoke(main, ["predict", str(path), str(data)])
        assert done.exception is None or isinstance(done.exception, SystemExit)
        codes.add(done.exit_code)
    assert codes == {0, 2}


ENTRIES = {
    "no classes": {"classes": []},
    "classes in one text": {"classes": "abc"},
    "classes that are no labels": {"classes": [{}, [], 0]},
    "classes that are equal": {"classes": [1, 1.0, 2]},
    "version true": {"version": True},
    "names that are equal": {"feature_names": ["a", "a", "b"], "dummies": {}},
    "half a surrogate": {"classes": ["a", "b", "\ud800"]},
    "an integer of 400 digits": {"intercept": [10**400, 0, 0]},
    "an infinite coefficient": {"intercept": [float("inf"), 0, 0]},
    "a true coefficient": {"intercept": [True, 0, 0]},
    "a text of digits": {"intercept": ["1", 0, 0]},
    "levels without a column": {"dummies": {"colour": ["blue"]}},
    "an unknown entry": {"colours": []},
    "no target": {"target": None},
    "fit a list": {"fit": []},
}


CODINGS = {
    "a reference that is no level": {"levels": ["green"], "reference": "blue"},
    "a reference that is no text": {"levels": ["green"], "reference": 1},
    "no reference": {"levels": ["green"]},
    "levels alone": ["green"],
    "a level without a column": {"levels": ["green", "blue"], "reference": None},
}


@pytest.mark.parametrize("case", CODINGS)
def test_each_coding_is_checked(tmp_path, case):
    assert load(tmp_path, json.dumps(SECOND)).columns == ("weight", "colour", "size")
    levels = SECOND["levels"] | {"colour": CODINGS[case]}
    with pytest.raises(linsep.InputError, match="must"):
        load(tmp_path, json.dumps(SECOND | {"levels": levels}))


@pytest.mark.parametrize("model", [MODEL, SECOND])
def test_both_versions_predict(tmp_path, model):
    data, path = tmp_path / "data.csv", tmp_path / "model.json"
    data.write_text("size,colour,weight\ns,red,150\ns,green,-8\n")
    path.write_text(json.dumps(model))
    done = CliRunner().invoke(main, ["predict", str(path), str(data), "--scores"])
    scores = [line.split(",")[1:] for line in done.stdout.splitlines()]
    coef, intercept = np.array(model["coef"]), np.array(model["intercept"])
    rows = [[150, 0, 1], [-8, 1, 0 if model is MODEL else 1]]
    assert np.array(scores, float).tolist() == (rows @ coef.T + intercept).tolist()


KERNELS = {
    "no kernel": {"kernel": None},
    "an unknown kernel": {"kernel": KERNEL["kernel"] | {"name": "sigmoid"}},
    "a negative gamma": {"kernel": KERNEL["kernel"] | {"gamma": -1}},
    "a degree that is no whole number": {"kernel": KERNEL["kernel"] | {"degree": 2.0}},
    "a degree beyond reason": {"kernel": KERNEL["kernel"] | {"degree": 10**6}},
    "no landmarks": {"landmarks": []},
    "landmarks of other columns": {"landmarks": [[1, 2], [3, 4]]},
    "more landmarks than coefficients": {"landmarks": [[1, 2, 3]] * 3},
    "a kernel in version 2": {"version": 2},
}


@pytest.mark.parametrize("case", KERNELS)
def test_each_part_of_a_kernel_is_checked(tmp_path, case):
    scores = load(tmp_path, json.dumps(KERNEL)).decisions(np.array([[0.0, 1, 1]]))
    squares = np.array([2.0, 6.25 + 1])  # its distances to the landmarks
    expected = np.exp(-0.5 * squares) @ np.transpose(KERNEL["coef"]) + [0.125, -1, 2]
    np.testing.assert_allclose(scores, [expected], rtol=1e-14)
    with pytest.raises(linsep.InputError, match="must"):
        load(tmp_path, json.dumps(KERNEL | KERNELS[case]))


def test_rows_beyond_a_kernel_are_named(tmp_path):
    poly = KERNEL["kernel"] | {"name": "poly", "degree": 100}
    model = load(tmp_path, json.dumps(KERNEL | {"kernel": poly}))
    with pytest.raises(linsep.InputError, match="got row 1"):
        model.predict(np.array([[1.0, 0, 0], [1e9, 0, 0]]))


@pytest.mark.parametrize("case", ENTRIES)
def test_each_entry_is_checked(tmp_path, case):
    load(tmp_path, json.dumps(MODEL))
    with pytest.raises(linsep.InputError, match="must"):
        load(tmp_path, json.dumps(MODEL | ENTRIES[case]))


@pytest.mark.parametrize(
    "content",
    [
        b"[" * 200_000,
        b'{"format": ' * 100_000,
        b"9" * 6000,
        b"\xff\xfe",
        b'{"format": 1, "format": 2}',
        json.dumps(MODEL).replace("0.125", "1e999").encode(),
        json.dumps(MODEL).replace("0.125", "NaN").encode(),
        b"",
        b"null",
    ],
)
def test_texts_that_are_no_json_objects_are_refused(tmp_path, content):
    with pytest.raises(linsep.InputError, match="written by `linsep fit`"):
        load(tmp_path, content)


def test_a_file_beyond_the_bound_is_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr("linsep.cli.model_file.MOST_BYTES", 200)
    with pytest.raises(linsep.InputError, match="more than 200 bytes"):
        load(tmp_path, json.dumps(MODEL))


def test_a_folder_and_an_absent_file_are_named(tmp_path):
    with pytest.raises(linsep.InputError, match="a folder"):
        LinearModel.load(tmp_path)
    with pytest.raises(linsep.InputError, match="nothing there"):
        LinearModel.load(tmp_path / "model.json")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes and devices as files")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", "/dev/zero"):
        done = CliRunner().invoke(main, ["predict", str(path), "data.csv"])
        assert done.exit_code == 2
        assert "a device or pipe" in done.stderr
