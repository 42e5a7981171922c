"""The command line: answers, exit codes, strict JSON, one message for every error."""

import json
import os
import re
import subprocess
import sys
from contextlib import contextmanager, suppress
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner

import linsep
from helpers import ROOT
from linsep.cli import main, search_options
from linsep.cli.output import strict_json
from linsep.cli.progress import Progress
from linsep.input.files import read_table

BREAST_CANCER = str(ROOT / "examples" / "data" / "breast_cancer.csv")

# The first "yes" is midway between the two "no": no line parts them.
OVERLAP = (
    "height,width,colour,grown\n0,0,red,no\n2,2,red,no\n1,1,red,yes\n9,9,blue,yes\n"
)
APART = "height,colour,grown\n1,red,no\n2,blue,no\n8,red,yes\n9,blue,yes\n"
THREE = "x,kind\n1,a\n2,a\n4,b\n5,b\n8,c\n9,c\n"


def run(*arguments, code=0):
    """Run the command in this process; standard error is kept apart."""
    result = CliRunner().invoke(main, [str(part) for part in arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result


def run_json(*arguments, code=0):
    """Run with --json and parse the answer, refusing what JSON has not."""

    def refuse(literal):
        raise AssertionError(f"{literal} is not JSON")

    result = run(*arguments, "--json", code=code)
    return json.loads(result.stdout, parse_constant=refuse)


@pytest.fixture
def csv(tmp_path):
    def write(text, name="data.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# --- answers ---


def test_separate_finds_a_hyperplane_that_is_one():
    answer = run_json("separate", BREAST_CANCER, "--target", "diagnosis")
    assert (answer["status"], answer["separable"], answer["proved"]) == (
        "separable",
        True,
        True,
    )
    assert answer["classes"] == ["benign", "malignant"]
    assert answer["n_rounds"] < 500
    table = read_table(BREAST_CANCER, "diagnosis")
    assert answer["feature_names"] == list(table.feature_names)
    # The printed numbers are the doubles themselves: exact arithmetic agrees.
    coef = [Fraction(value) for value in answer["coef"]]
    for row, label in zip(table.X.tolist(), table.y, strict=True):
        value = Fraction(answer["intercept"]) + sum(
            a * Fraction(b) for a, b in zip(coef, row, strict=True)
        )
        assert (value > 0) if label == "malignant" else (value < 0)
    assert 0 < answer["margin_lower"] <= answer["margin_upper"]


def test_separate_is_readable(csv):
    output = run("separate", csv(APART), "--target", "grown").stdout
    assert output.startswith("Separable")
    for part in (
        "Margin: between",
        " pass",
        " round",
        " s.",
        "Largest coefficients",
        "Proof: ",
    ):
        assert part in output
    assert "height" in output
    assert "as columns: colour, 2 levels, the reference is blue." in output
    assert "no (negative side), yes (positive side)" in output
    assert "\x1b" not in output


def test_separate_names_the_rows_that_forbid_it(csv):
    path = csv(OVERLAP)
    answer = run_json("separate", path, "--target", "grown")
    assert (answer["status"], answer["separable"]) == ("inseparable", False)
    assert answer["coef"] is None
    table = read_table(path, "grown")
    weights = [Fraction(text) for text in answer["conflict_weights"]]
    assert sum(weights) == 1
    assert min(weights) > 0
    signs = [1 if table.y[i] == "yes" else -1 for i in answer["conflict"]]
    rows = [(*table.X[i], 1) for i in answer["conflict"]]
    for column in zip(*rows, strict=True):
        terms = zip(weights, signs, column, strict=True)
        assert sum(p * s * Fraction(float(value)) for p, s, value in terms) == 0
    output = run("separate", path, "--target", "grown").stdout
    assert output.startswith("Inseparable")
    for row in answer["conflict"]:
        assert f"line {row + 2}, {table.y[row]}, weight" in output
    assert "height=" in output


def test_undecided_is_exit_code_one_with_an_interval():
    options = ("--time-limit", "1e-9")
    path = ("separate", BREAST_CANCER, "--target", "diagnosis")
    answer = run_json(*path, *options, code=1)
    assert (answer["status"], answer["separable"], answer["proved"]) == (
        "undecided",
        None,
        False,
    )
    assert answer["coef"] is None
    upper = answer["margin_upper"]
    assert upper == "Infinity" or upper > 0
    output = run(*path, *options, code=1).stdout
    assert output.startswith("Undecided")
    assert "Proof: none" in output


def test_one_class_is_an_answer(csv):
    path = csv("a,label\n1,x\n2,x\n")
    answer = run_json("separate", path, "--target", "label")
    assert answer["separable"] is True
    assert answer["classes"] == ["x"]
    assert answer["margin_upper"] == "Infinity"  # which JSON has no number for
    assert "one class" in answer["message"]


@pytest.mark.parametrize("label", ["a", "c"])
def test_positive_label_against_the_rest(csv, label):
    path = csv(THREE)
    answer = run_json("separate", path, "--target", "kind", "--positive", label)
    assert answer["status"] == "separable"
    assert answer["classes"] == [f"not {label}", label]
    table = read_table(path, "kind")
    decisions = table.X @ answer["coef"] + answer["intercept"]
    np.testing.assert_array_equal(decisions > 0, table.y == label)
    middle = run_json("separate", path, "--target", "kind", "--positive", "b")
    assert middle["status"] == "inseparable"


def test_positive_label_of_two_turns_the_hyperplane(csv):
    path = csv(APART)
    for label, other in (("yes", "no"), ("no", "yes")):
        answer = run_json("separate", path, "--target", "grown", "--positive", label)
        assert answer["classes"] == [other, label]
        table = read_table(path, "grown")
        decisions = table.X @ answer["coef"] + answer["intercept"]
        np.testing.assert_array_equal(decisions > 0, table.y == label)


def test_no_intercept_and_drop_change_the_problem(csv):
    path = csv("a,b,label\n1,1,x\n2,1,y\n")
    assert run_json("separate", path, "--target", "label")["separable"] is True
    only_a = ("separate", path, "--target", "label", "--drop", "b")
    assert run_json(*only_a)["feature_names"] == ["a"]
    through_origin = run_json(*only_a, "--no-intercept")
    assert through_origin["separable"] is False
    assert through_origin["fit_intercept"] is False


def test_seed_makes_runs_repeat():
    path = ("separate", BREAST_CANCER, "--target", "diagnosis", "--seed", "7")
    first, second = run_json(*path), run_json(*path)
    for answer in (first, second):
        del answer["seconds"]
    assert first == second


# --- help ---

COMMANDS = ["separate", "max-margin", "diagnose", "verify", "fit", "predict"]


def test_help_lists_every_command_and_every_exit_code():
    shown = run("--help").stdout
    for command in [*COMMANDS, "reproduce"]:
        assert f"\n  {command} " in shown
        assert run(command, "--help").stdout.startswith("Usage:")
    codes = re.findall(r"^    (\d+)  \w+", shown, re.MULTILINE)
    assert codes == ["0", "1", "2", "3"]


@pytest.mark.parametrize("command", ["separate", "max-margin", "diagnose", "fit"])
def test_whatever_searches_takes_a_seed(command, tmp_path):
    assert "--seed N" in run(command, "--help").stdout
    options = ["--model", tmp_path / "m.json"] if command == "fit" else []
    arguments = (command, BREAST_CANCER, "--target", "diagnosis", *options)
    run(*arguments, "--seed", "3")
    refusal = run(*arguments, "--seed", "-3", code=2)
    assert "--seed" in refusal.stderr


# --- certificates ---


@pytest.mark.parametrize("text", [APART, OVERLAP])
def test_certificate_is_saved_and_verified(csv, tmp_path, text):
    path, proof = csv(text), tmp_path / "proof.json"
    data = (path, "--target", "grown")
    output = run("separate", *data, "--certificate", proof).stdout
    assert f"saved to {proof}" in output
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "data.csv",
        "proof.json",
    ]
    assert run("verify", proof, *data).stdout.startswith("The certificate holds")

    changed = csv(text.replace("9,", "9.000000000000002,"), "changed.csv")
    refusal = run("verify", proof, changed, "--target", "grown", code=1)
    assert "the certificate failed" in refusal.stderr
    content = proof.read_text()
    proof.write_text(content.replace('"n_samples": 4', '"n_samples": 5'))
    assert "the certificate failed" in run("verify", proof, *data, code=1).stderr
    proof.write_text(content[: len(content) // 2])
    assert "the certificate failed" in run("verify", proof, *data, code=1).stderr


def test_certificate_of_one_label_against_the_rest(csv, tmp_path):
    path, proof = csv(THREE), tmp_path / "proof.json"
    data = (path, "--target", "kind", "--positive", "c")
    run("separate", *data, "--certificate", proof)
    run("verify", proof, *data)
    other = (path, "--target", "kind", "--positive", "a")
    assert "failed" in run("verify", proof, *other, code=1).stderr


def test_undecided_saves_no_certificate(tmp_path):
    proof = tmp_path / "proof.json"
    result = run(
        *("separate", BREAST_CANCER, "--target", "diagnosis"),
        *("--time-limit", "1e-9", "--certificate", proof),
        code=1,
    )
    assert "No proof to save" in result.stderr
    assert not proof.exists()


# --- bad input ---

BAD = {
    "no file": (["nothing.csv", "--target", "a"], "nothing there"),
    "no target": ([BREAST_CANCER], "target must name the column"),
    "unknown target": ([BREAST_CANCER, "--target", "diagnose"], "'diagnosis'?"),
    "unknown drop": (
        [BREAST_CANCER, "--target", "diagnosis", "--drop", "radius"],
        "did you mean",
    ),
    "number as target": ([BREAST_CANCER, "--target", "mean radius"], "two classes"),
    "unknown label": (
        [BREAST_CANCER, "--target", "diagnosis", "--positive", "bad"],
        "its labels are benign, malignant",
    ),
    "no passes": ([BREAST_CANCER, "--max-passes", "0"], "--max-passes"),
    "no time": ([BREAST_CANCER, "--time-limit", "0"], "--time-limit"),
    "unknown option": ([BREAST_CANCER, "--colour"], "--colour"),
    "folder for the proof": (
        [BREAST_CANCER, "--target", "diagnosis", "--certificate", "no/such/p.json"],
        "folder that exists",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_message_and_exit_code_two(case, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    arguments, message = BAD[case]
    result = run("separate", *arguments, code=2)
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stderr.count("Error:") == 1


ONCE = [
    (["separate", "--target", "a"], ["--target", "b"]),
    (["separate", "--target", "a"], ["--positive", "x", "--positive", "x"]),
    (["separate", "--target", "a"], ["--seed=1", "--seed=2"]),
    (["separate", "--target", "a"], ["--header", "--no-header"]),
    (["max-margin", "--target", "a", "--tol", "0.1"], ["--tol", "0.2"]),
    (["verify", "proof.json", "--target", "a"], ["--target", "a"]),
    (["diagnose", "--target", "a"], ["--target", "b"]),
    (["diagnose", "--formula", "a ~ b"], ["--formula", "b ~ a"]),
    (["diagnose", "--target", "a"], ["--family", "poisson", "--family", "binomial"]),
    (["fit", "--target", "a", "--model", "one"], ["--model", "two"]),
]


@pytest.mark.parametrize(("arguments", "again"), ONCE)
def test_an_option_given_twice_is_refused(csv, arguments, again):
    path = csv("a,b\n0,1\n1,0\n")
    said = run(*arguments, path, *again, code=2).stderr
    option = again[-1].partition("=")[0] if "=" in again[-1] else again[-2]
    option = "--header/--no-header" if "--header" in again else option
    assert f"{option} must be given once, got 2 of it; leave all but one out" in said


def test_options_inside_a_group_are_counted_and_repeated_ones_may_repeat(csv, tmp_path):
    again = ("--n-max", "1", "--n-max", "2")
    assert (
        "--n-max must be given once"
        in run("reproduce", "figure-1", *again, code=2).stderr
    )
    path = csv("a,b,c,label\n1,1,1,x\n2,1,1,y\n")
    answer = run_json(
        "separate", path, "--target", "label", "--drop", "b", "--drop", "c"
    )
    assert answer["feature_names"] == ["a"]


def test_three_classes_point_to_positive(csv):
    result = run("separate", csv(THREE), "--target", "kind", code=2)
    assert "got 3 (a, b, c)" in result.stderr
    assert "--positive LABEL" in result.stderr


def test_verify_needs_a_certificate(csv, tmp_path):
    data = (csv(APART), "--target", "grown")
    assert "nothing there" in run("verify", tmp_path / "p.json", *data, code=2).stderr
    assert "a folder" in run("verify", tmp_path, *data, code=2).stderr
    junk = csv("not json", "junk.json")
    assert "the certificate failed" in run("verify", junk, *data, code=1).stderr


# --- the process ---


def process(*arguments, **options):
    """Run the command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "linsep", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        **options,
    )


def test_module_and_script_are_the_same_command():
    done = process("--version")
    assert done.returncode == 0
    assert done.stdout == f"linsep, version {linsep.__version__}\n"
    script = os.path.join(os.path.dirname(sys.executable), "linsep")
    again = subprocess.run([script, "--version"], capture_output=True, text=True)
    assert again.stdout == done.stdout


def test_no_progress_and_no_colour_where_there_is_no_terminal(csv):
    done = process("separate", csv(APART), "--target", "grown")
    assert done.returncode == 0
    assert done.stderr == ""
    assert "\x1b" not in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs pseudo-terminals")
def test_progress_is_shown_on_a_terminal_and_not_in_the_answer():
    import pty

    asked = ("separate", BREAST_CANCER, "--target", "diagnosis", "--json")
    master, slave = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "linsep", *asked],
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        check=True,
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(slave)
    parts = []
    with suppress(OSError):  # so Linux says that there is no more
        while part := os.read(master, 1 << 16):  # a few thousand bytes at most
            parts.append(part)
    shown = b"".join(parts).decode()
    os.close(master)
    assert "rows in hand" in shown
    assert "\n" not in shown.split("rows in hand")[0].split("pass")[-1]
    assert json.loads(done.stdout)["status"] == "separable"


def test_interrupt_returns_what_was_found(monkeypatch, tmp_path, ctrl_c):
    class Interrupt(Progress):
        def __call__(self, state):
            ctrl_c()

    @contextmanager
    def interrupting(_):
        yield Interrupt(say=lambda _: None)

    # So many rows that the first sweep finds some on the wrong side.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50_000, 10))
    path = tmp_path / "planted.npz"
    np.savez(path, X=X, y=X @ rng.standard_normal(10) > 0)
    assert run_json("separate", path, "--max-passes", "1", code=1)["n_passes"] == 1
    # The signal is real; only its sender is put in the place of the progress line.
    monkeypatch.setattr(search_options, "progress_line", interrupting)
    answer = run_json("separate", path, code=1)
    assert answer["status"] == "undecided"
    assert answer["n_passes"] <= 1
    assert answer["margin_upper"] is None or answer["margin_upper"] > 0


def test_strict_json_keeps_every_bit_and_no_infinity():
    values = [0.1, 5e-324, 1.7976931348623157e308, -0.0, 1 / 3]
    back = json.loads(strict_json({"a": values, "b": [float("nan"), {"c": -np.inf}]}))
    assert [value.hex() for value in back["a"]] == [value.hex() for value in values]
    assert back["b"] == ["NaN", {"c": "-Infinity"}]


@pytest.mark.parametrize(
    "arguments",
    [
        ["separate", "--certificate"],
        ["max-margin", "--certificate"],
        ["diagnose", "--certificate"],
        ["fit", "--model"],
    ],
)
def test_output_never_replaces_the_data(tmp_path, arguments):
    file = tmp_path / "plants.csv"
    file.write_text(APART)
    command, option = arguments
    run = CliRunner().invoke(
        main, [command, str(file), "--target", "grown", option, str(file)]
    )
    assert run.exit_code == 2
    assert "must not be the file of data" in run.stderr
    assert file.read_text() == APART


# --- formulas with fixed effects ---


def test_fixed_effects_are_read_as_in_python(tmp_path):
    rng = np.random.default_rng(0)
    columns = {
        "y": rng.poisson(1.0, 200),
        "x": rng.integers(0, 9, 200),
        "firm": rng.choice(["a|b", "c", "d"], 200),
        "my year": rng.integers(2001, 2005, 200),
        "w": rng.integers(0, 2, 200),
    }
    columns["y"][columns["firm"] == "c"] = 0
    path = tmp_path / "panel.csv"
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in rows), ""]
    path.write_text("\n".join(lines))
    formula = "y ~ x | firm^`my year` + firm"
    options = ["--family", "poisson", "--weights", "w"]
    found = run_json("diagnose", path, "--formula", formula, *options)
    answer = linsep.diagnose(
        formula, columns, family="poisson", sample_weight=columns["w"]
    )
    expected = json.loads(strict_json(answer.to_dict()))
    first = found["separated_rows"][0]  # the header is line 1
    here, there = found.pop("sentences"), expected.pop("sentences")
    [k] = [k for k, line in enumerate(here) if "lines of the file" in line]
    assert f"(lines of the file): {first + 2}, " in here.pop(k)
    assert f"(counted from 0): {first}, " in there.pop(k)
    assert here == there
    del found["summary"], expected["summary"]
    assert found | {"seconds": 0} == expected | {"seconds": 0}
    n_rows = int(((columns["firm"] == "c") & (columns["w"] == 1)).sum())
    text = run("diagnose", path, "--formula", formula, *options).stdout
    assert f"firm = c in {n_rows} rows, all y = 0." in text


@pytest.mark.parametrize(
    ("effects", "said"),
    [
        ("firm[x]", "slopes"),
        ("csw(firm)", "one model"),
        ("__import__('os')", "fixed effects must be"),
        ("firms", "no column; the data have x, firm, y"),
    ],
)
def test_other_fixed_effects_are_one_message(csv, effects, said):
    path = csv("x,firm,y\n1,a,0\n2,b,1\n3,a,1\n")
    found = run("diagnose", path, "--formula", f"y ~ x | {effects}", code=2)
    assert said in " ".join(found.stderr.split())
