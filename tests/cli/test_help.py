"""Help and errors, as one meets them who tries the command for the first time."""

import re
import shlex

import click
import duckdb
import pytest
from click.testing import CliRunner

from linsep.cli import main
from linsep.cli.group import _COMMANDS

PLANTS = "height,soil,grown,kind,id\n" + "".join(
    f"{i},{'cs'[i % 2]},{'ny'[i > 5]},{('rose', 'fern', 'oak')[i % 3]},{i * i}\n"
    for i in range(12)
)


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


def said(*arguments):
    """Return the one message of a call that must be refused."""
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    return done.stderr


@pytest.fixture
def plants(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(PLANTS)
    (tmp_path / "empty").mkdir()
    return "data.csv"


def examples_of(command):
    """Return the examples in the help of a command."""
    text = run(command, "--help").stdout
    found = re.search(r"^  Examples:\n((?:    .+\n)+)", text, re.MULTILINE)
    return [] if found is None else [line.strip() for line in found[1].splitlines()]


@pytest.mark.parametrize("command", sorted({*_COMMANDS} - {"reproduce"}))
def test_the_help_of_every_command_has_examples_that_run(command, plants):
    shown = examples_of(command)
    assert shown
    assert all(f"linsep {command} " in " ".join(shown) for _ in shown)
    with duckdb.connect("db.duckdb") as database:
        database.sql("CREATE TABLE t AS FROM 'data.csv'")
    run("fit", plants, "--target", "grown", "--model", "model.json")
    for line in shown:
        if not line.startswith("linsep") or ".parquet" in line or "<" in line:
            continue  # the others need other programs and files
        words = shlex.split(line)
        words = [plants if word == "new.csv" else word for word in words]
        done = run(*words[1:])
        assert done.exit_code == 0, (line, done.output)


def test_no_sentence_of_the_help_is_cut():
    text = run("--help").stdout
    assert "..." not in text.replace("[ARGS]...", "").replace("COMMAND [ARGS]", "")
    for sentence in _COMMANDS.values():
        assert sentence in " ".join(text.split())


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("seperate", "Did you mean 'separate'?"),
        ("max_margin", "Did you mean 'max-margin'?"),
        ("Diagnose", "Did you mean 'diagnose'?"),
        ("data.csv", "linsep separate data.csv --target COL"),
        ("plot", "The commands are separate, max-margin,"),
    ],
)
def test_a_word_that_is_no_command_is_answered(plants, word, hint):
    assert hint in " ".join(said(word, "x").split())


@pytest.mark.parametrize("command", ["separate", "max-margin", "diagnose", "fit"])
@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (("--target", "grwon"), "did you mean 'grown'?"),
        (("--target", "GROWN"), "did you mean 'grown'?"),
        (("--target", "9"), "none of its 5 columns"),
        (("--target", "grown", "--drop", "sol"), "did you mean 'soil'?"),
        (("--target", "grown", "--drop", "grown"), "must not name the target"),
        (("--targt", "grown"), "Did you mean '--target'?"),
        (("--target", "grown", "--target", "kind"), "--target must be given once"),
        (("--target", "grown", "--missing", "omit"), "'refuse', 'drop'"),
        (("--target", "grown", "--sep", ";;"), "one character"),
        (("--target", "grown", "--decimal", "x"), "'.' or ','"),
        (("--target", "grown", "--encoding", "klingon"), "that Python knows"),
        ((), "(--target COL; -1 is the last), got none"),
    ],
)
def test_a_wrong_option_is_answered(plants, command, options, hint):
    more = ("--model", "m.json") if command == "fit" else ()
    assert hint in said(command, plants, *options, *more)


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("separate",), "Missing argument 'FILE'"),
        (("separate", "dta.csv", "--target", "grown"), "did you mean 'data.csv'?"),
        (("separate", "empty", "--target", "grown"), "got a folder"),
        (("separate", "data.csv", "grown"), "named by --target grown"),
        (("diagnose", "https://a.org/b.csv", "--target", "y"), "curl -s ADDRESS"),
        (("separate", "data.csv", "--target", "kind"), "choose one with --positive"),
        (
            ("separate", "data.csv", "--target", "kind", "--positive", "Rose"),
            "did you mean 'rose'?",
        ),
        (
            (
                "fit",
                "data.csv",
                "--target",
                "kind",
                "--positive",
                "x",
                "--model",
                "m.json",
            ),
            "its labels are fern, oak, rose",
        ),
        (("fit", "data.csv", "--target", "grown"), "Missing option '--model'"),
        (("fit", "data.csv", "--target", "grown", "--model", "m.pkl"), "end in .json"),
        (("predict", "data.csv", "data.csv"), "a model written by `linsep fit`"),
        (("verify", "data.csv", "data.csv"), "certificate"),
        (("diagnose", "data.csv", "--formula", "grwon ~ id"), "did you mean 'grown'?"),
        (
            ("diagnose", "data.csv", "--formula", "grown ~ heigt"),
            "did you mean 'height'",
        ),
        (("diagnose", "data.csv", "--formula", "grown = id"), "one '~'"),
        (
            ("diagnose", "data.csv", "--formula", "grown ~ id", "--target", "kind"),
            "one of the two; got both",
        ),
        (
            ("diagnose", "data.csv", "--target", "grown", "--weights", "ids"),
            "--weights must name a column of data.csv, got 'ids'",
        ),
    ],
)
def test_a_wrong_call_is_answered(plants, arguments, hint):
    if arguments[0] == "verify":
        assert run(*arguments).exit_code == 1
        return
    assert hint in " ".join(said(*arguments).split())


def test_one_of_many_labels_is_fitted(plants):
    call = ("fit", plants, "--target", "kind", "--positive", "rose")
    assert run(*call, "--model", "m.json").exit_code == 0
    labels = run("predict", "m.json", plants).stdout.split()
    assert set(labels) <= {"not rose", "rose", "not"}


def test_completion_is_there(monkeypatch):
    monkeypatch.setenv("COMP_WORDS", "linsep sepa")
    monkeypatch.setenv("COMP_CWORD", "1")
    done = CliRunner().invoke(
        main, [], prog_name="linsep", env={"_LINSEP_COMPLETE": "bash_complete"}
    )
    assert done.stdout == "plain,separate\n"
    assert isinstance(main, click.Group)
