"""Names of columns and values of levels are held apart, whatever they are called."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import linsep
from linsep.cli import main

LEVELS = [
    ("A", "__b", "c"),
    ("__a", "__b", "__c"),
    ("A", "__b__", "__"),
    ("A", "__formulaic_metadata__", "Intercept"),
    ("a", "b]:h[c", "b"),
    ("a", "T.b", "b"),
    ("a[T.b]", "b[T.a]", "[T.]"),
    ("a:b", "`b`", ":"),
    ("", " ", "\t"),
    ("#0", "#1", "Intercept"),
    ("intercept", "{field}", "{name}"),
    ("0", "1", "-1"),
]
NAMES = [
    "__g",
    "__g__",
    "__formulaic_metadata__",
    "Intercept",
    "g[T.b]",
    "g[b]",
    "a:b",
    "#0",
    "C(g)",
    "log(g)",
    "h = 1",
    "a.b",
    "{g}",
    "contr",
]


def dummies(values, full=False):
    """One 0/1 column a level in sorted order, but for the first."""
    levels = sorted(set(values))[0 if full else 1 :]
    return np.array([[float(v == level) for level in levels] for v in values])


def a_frame(levels, name="g", seed=0):
    """Rows of three levels, of which the last in order holds one outcome only."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({name: rng.choice(levels, 60), "x": rng.standard_normal(60)})
    frame["h"] = rng.choice(levels, 60)
    last = sorted(levels)[seed % len(levels)]
    frame["y"] = np.where(frame[name] == last, 1, rng.integers(0, 2, 60))
    return frame


def assert_same(answer, X, frame, fit_intercept=True):
    """Compare with the design given as arrays, coefficient by coefficient."""
    plain = linsep.diagnose(X, frame.y, fit_intercept=fit_intercept)
    assert answer.status == plain.status
    assert answer.rank == plain.rank
    assert answer.separated_rows.tolist() == plain.separated_rows.tolist()
    assert [str(v) for v in answer.estimates.values()] == [
        str(v) for v in plain.estimates.values()
    ]


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("levels", LEVELS)
def test_levels_may_be_called_anything(levels, seed):
    frame = a_frame(levels, seed=seed)
    x = frame[["x"]].to_numpy()
    g = dummies(frame.g)
    for term in ("g", "C(g)", "C(`g`)"):
        answer = linsep.diagnose(f"y ~ {term}", frame)
        assert_same(answer, g, frame)
        assert f"g = {sorted(levels)[seed]} in " in answer.summary()
        assert_same(
            linsep.diagnose(f"y ~ 0 + {term}", frame),
            dummies(frame.g, full=True),
            frame,
            fit_intercept=False,
        )
    answer = linsep.diagnose("y ~ x + g + x:g", frame)
    assert_same(answer, np.hstack([x, g, x * g]), frame)
    h = dummies(frame.h)
    both = [g[:, i] * h[:, j] for j in range(2) for i in range(2)]
    answer = linsep.diagnose("y ~ g + h + g:h", frame)
    assert_same(answer, np.hstack([g, h, np.stack(both, axis=1)]), frame)


def test_products_written_the_same_are_refused_and_none_is_lost():
    levels = ("a", "b", "b]:h[T.c", "c", "c]:h[T.c")
    with pytest.raises(linsep.InputError, match="must differ from each other"):
        linsep.diagnose("y ~ g * h", a_frame(levels))


@pytest.mark.parametrize("name", NAMES)
def test_columns_may_be_called_anything(name):
    frame = a_frame(("a", "b", "c"), name)
    x, g = frame[["x"]].to_numpy(), dummies(frame[name])
    for term in (f"`{name}`", f"C(`{name}`)"):
        answer = linsep.diagnose(f"y ~ x + {term}", frame)
        assert_same(answer, np.hstack([x, g]), frame)
        assert f"{name} = a in " in answer.summary()
    frame[name] = frame.x * 2 + (frame.y == 1) * 9
    number = frame[[name]].to_numpy()
    for right in (f"`{name}`", "."):
        answer = linsep.diagnose(f"y ~ {right}", frame.drop(columns=["x", "h"]))
        assert_same(answer, number, frame)
        assert answer.coefficient_names == ("intercept", name)
    answer = linsep.diagnose(f"y ~ 0 + x + `{name}`", frame)
    assert_same(answer, np.hstack([x, number]), frame, fit_intercept=False)


def test_a_column_beside_the_level_it_is_called_like():
    frame = a_frame(("a", "b", "c"))
    frame["C(g)[T.b]"] = (frame.y == 1) * 1.0
    answer = linsep.diagnose("y ~ `C(g)[T.b]` + g", frame)
    assert_same(answer, np.hstack([frame[["C(g)[T.b]"]], dummies(frame.g)]), frame)
    assert "C(g)[T.b] = 1 in " in answer.summary()
    with pytest.raises(linsep.InputError, match=r"'C\(g\)\[T.b\]' twice"):
        linsep.diagnose("y ~ `C(g)[T.b]` + C(g)", frame)


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("1", "`1`"),
        ("1", "0 + `1`"),
        ("0", "x + `0`"),
        ("1", "."),
        ("2", "`2`:x + 2:x"),
        ("log(x)", "`log(x)` + log(x)"),
        ("C(g)", "`C(g)` + C(g)"),
        ("exp(x)", ". + exp(x)"),
    ],
)
def test_a_column_called_like_a_term_of_the_formula_is_refused(name, right):
    frame = a_frame(("a", "b", "c"))
    frame["x"] = frame.x.abs()
    frame[name] = frame.y * 1.0
    with pytest.raises(linsep.InputError, match="rename the column"):
        linsep.diagnose(f"y ~ {right}", frame)


def test_levels_written_the_same_are_refused():
    frame = pd.DataFrame(
        {"y": [0, 1, 0, 1, 1], "g": [1, "1", "a", 1, "a"]}, dtype=object
    )
    frame["y"] = frame.y.astype(int)
    with pytest.raises(linsep.InputError, match=r"'g\[T.1\]' twice|'g\[1\]' twice"):
        linsep.diagnose("y ~ 0 + g", frame)


@pytest.mark.parametrize(
    "levels", [("u[a]", "v[a]", "w"), ("__a", "__b", "A"), ("[T.]", "T.", ".")]
)
def test_levels_of_an_outcome_may_be_called_anything(levels):
    frame = a_frame(levels)
    for left in ("g", "C(g)", "C(g, contr.treatment)", "C(g, contr.sum)"):
        answer = linsep.diagnose(f"{left} ~ x + y", frame, family="multinomial")
        plain = linsep.diagnose(frame[["x", "y"]], frame.g, family="multinomial")
        assert answer.status == plain.status
        assert answer.separated_rows.tolist() == plain.separated_rows.tolist()
        assert list(answer.estimates.values()) == list(plain.estimates.values())


@pytest.mark.parametrize(
    ("family", "names", "classes"),
    [
        ("ordinal", ["x", "a|b"], ["a", "b", "c"]),
        ("multinomial", ["x", "x [b]"], ["a", "b] [c", "c"]),
    ],
)
def test_coefficients_called_the_same_are_refused(family, names, classes):
    X = np.random.default_rng(0).standard_normal((12, 2))
    y = np.repeat(classes, 4)
    with pytest.raises(linsep.InputError, match=r"got .* twice; rename the feature"):
        linsep.diagnose(X, y, family=family, feature_names=names)


def test_numbers_named_like_an_interaction_are_no_factor():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (40, 2)).astype(float)
    y = np.where(X[:, 1] == 1, 1, rng.integers(0, 2, 40))
    answer = linsep.diagnose(X, y, feature_names=["g[T.a]:h[T.b]", "g[T.b]:h[T.b]"])
    assert "g = b and h = b in " in answer.summary()
    assert "reference level" not in answer.summary()


@pytest.mark.parametrize("levels", LEVELS[:3])
def test_the_command_reads_levels_as_they_are(tmp_path, levels):
    frame = a_frame(levels, seed=1)
    frame.to_csv(tmp_path / "data.csv", index=False)
    for term in ("g", "C(g)"):
        call = ["diagnose", str(tmp_path / "data.csv"), "--formula", f"y ~ {term}"]
        done = CliRunner().invoke(main, [*call, "--json"])
        assert done.exit_code == 0, done.output
        plain = linsep.diagnose(dummies(frame.g), frame.y)
        assert json.loads(done.stdout)["status"] == str(plain.status)
        assert list(json.loads(done.stdout)["estimates"].values()) == [
            str(v) for v in plain.estimates.values()
        ]


RED = "red\x1b[31m\x07\x9b\u202e"


def test_no_summary_holds_what_a_terminal_obeys():
    X = pd.DataFrame({RED: [0.0, 1.0, 2.0, 3.0]})
    y = [RED, RED, "b", "b"]
    pairs = pd.DataFrame({"winner": [RED, RED], "loser": ["b", "c"]})
    told = [
        linsep.separate(X, y).summary(),
        linsep.diagnose(X, y).summary(),
        linsep.diagnose(pairs, [1, 1], family="paired").summary(),
        linsep.feasible_weights(X, {RED: 9.0}).summary(),
    ]
    for text in told:
        assert "red\\u001b[31m\\u0007\\u009b\\u202e" in text.replace("\n    ", " ")
        assert not set(text) & set(RED[3:4] + "\x07\x9b\u202e")


def test_no_error_holds_what_a_terminal_obeys():
    with pytest.raises(linsep.InputError, match="red") as caught:
        linsep.diagnose(f"y ~ Q('{RED}')", pd.DataFrame({"y": [0, 1], "x": [1, 2]}))
    assert "\x1b" not in str(caught.value)


def test_a_name_too_long_for_a_file_is_told():
    with pytest.raises(linsep.InputError, match="existing file"):
        linsep.diagnose("x" * 20_000, [0, 1])
