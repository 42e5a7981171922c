"""How commands end when there is no answer, and what reaches the terminal."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from helpers import ROOT
from linsep.cli import main
from linsep.printable import printable

LINSEP = [sys.executable, "-m", "linsep"]
SEPARATE = ("separate", "data.csv", "--target", "kind")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "data.csv").write_text("x,z,kind\n1,3,a\n2,5,a\n8,4,b\n9,3,b\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, [str(part) for part in arguments])


def test_an_error_inside_is_exit_code_three(folder, monkeypatch):
    def broken(*arguments, **options):
        raise ZeroDivisionError("division by zero")

    # No input is known that does this: the fault is put there.
    monkeypatch.setattr("linsep.separation.separate", broken)
    done = run(*SEPARATE)
    assert done.exit_code == 3
    assert done.stdout == ""
    assert "in broken" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("Error: linsep failed inside")


def test_ctrl_c_while_the_engine_reads_is_no_error_inside(folder, monkeypatch):
    def interrupted(*arguments, **options):
        raise RuntimeError("Query interrupted")  # what DuckDB makes of the signal

    monkeypatch.setattr("linsep.separation.separate", interrupted)
    done = run(*SEPARATE)
    assert (done.exit_code, done.stdout) == (130, "")
    assert done.stderr == "Error: stopped by Ctrl-C before there was an answer\n"


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)]
)
def test_a_signal_where_python_drops_what_is_raised_is_not_lost(
    folder, monkeypatch, number, code
):
    def signalled(*arguments, **options):
        class Dropped:
            def __del__(self):  # as callbacks of imports are run
                signal.raise_signal(number)

        Dropped()
        for _ in range(1000):
            time.sleep(0.01)
        pytest.fail("the command went on")

    monkeypatch.setattr("linsep.separation.separate", signalled)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        done = run(*SEPARATE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert done.exit_code == code
    assert "Exception ignored" not in done.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
def test_sigterm_while_the_engine_reads_is_no_ctrl_c(folder, monkeypatch):
    def interrupted(*arguments, **options):
        with contextlib.suppress(SystemExit):  # as DuckDB does
            signal.raise_signal(signal.SIGTERM)
        raise RuntimeError("Query interrupted")

    monkeypatch.setattr("linsep.separation.separate", interrupted)
    done = run(*SEPARATE)
    assert (done.exit_code, done.stdout, done.stderr) == (143, "", "")


def test_exit_codes_are_in_the_help_and_in_the_readme():
    shown = " ".join(run("--help").stdout.split())
    readme = " ".join((ROOT / "README.md").read_text().split())
    for text in (shown, readme):
        for part in ("0 an answer", "1 undecided", "2 bad input", "3 an error inside"):
            assert part in text
        assert "130 and 143 stopped by Ctrl-C or SIGTERM" in text


@pytest.mark.skipif(os.name == "nt", reason="signals are sent as POSIX has them")
@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGTERM, 143, ""), (signal.SIGINT, 130, "stopped by Ctrl-C before")],
)
@pytest.mark.parametrize("command", ["fit", "separate"])
def test_signals_before_an_answer(folder, sent, code, said, command):
    # A pipe that is never filled: the command waits in the middle of its reading.
    os.mkfifo("waits")
    stopping = (
        "import signal, linsep.input.files, linsep.input.files.read as read\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "read._require_regular_file = lambda source: print('reading', flush=True)\n"
        "from linsep.cli import main; main(prog_name='linsep')\n"
    )
    save = (
        ["--model", "out.json"] if command == "fit" else ["--certificate", "out.json"]
    )
    process = subprocess.Popen(
        [sys.executable, "-c", stopping, command, "waits", "--target", "kind", *save],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "reading\n"
    time.sleep(0.2)
    process.send_signal(sent)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == code
    assert stdout == ""
    assert said in stderr
    assert "Aborted" not in stderr
    assert "Traceback" not in stderr
    assert sorted(path.name for path in folder.iterdir()) == ["data.csv", "waits"]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [
        SEPARATE,
        (*SEPARATE, "--json"),
        ("fit", *SEPARATE[1:], "--model", "model.json"),
        ("--help",),
        ("--version",),
    ],
)
def test_output_that_cannot_be_written_is_one_sentence(folder, arguments):
    command = [*LINSEP, *arguments]
    # As on most machines: what is buffered is written at the end once more.
    env = {name: x for name, x in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w") as full:
        # Both at once: they spend their time on loading.
        one = subprocess.Popen(
            command, stdout=full, stderr=subprocess.PIPE, text=True, env=env
        )
        both = subprocess.Popen(command, stdout=full, stderr=full, env=env)
        _, said = one.communicate(timeout=60)
        assert one.returncode == 2
        assert said.count("\n") == 1
        assert "No space left on device" in said
        assert both.wait(timeout=60) == 2


HOSTILE = "\x1b[31mred\x07\x9b2J\x7f\u202eevil"


def assert_harmless(text):
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", text) is None


@pytest.mark.parametrize("command", ["separate", "max-margin", "diagnose"])
@pytest.mark.parametrize("place", ["column", "level", "label", "target"])
def test_no_control_character_of_the_data_is_printed(folder, command, place):
    name = {p: HOSTILE if p == place else p for p in ("column", "label", "target")}
    level = HOSTILE if place == "level" else "clay"
    path = folder / "odd.csv"
    lines = [f"{name['column']},soil,{name['target']}"]
    lines += [f"{i},{level},{name['label'] if i > 2 else 'no'}" for i in range(5)]
    lines += [f"9,sand,{name['label']}", f"4,{level},no"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for extra in ([], ["--json"]):
        done = run(command, path, "--target", name["target"], *extra)
        assert done.exit_code == 0, done.output
        assert_harmless(done.stdout + done.stderr)
        assert place == "target" or "evil" in done.stdout


def test_errors_and_predictions_print_no_control_character(folder):
    path = folder / "odd.csv"
    path.write_text(
        f"{HOSTILE},kind\n1,a\n,a\n3,{HOSTILE}\n4,{HOSTILE}\n", encoding="utf-8"
    )
    for arguments in (
        ("separate", path, "--target", "kind"),  # a value is missing: --drop
        ("separate", path, "--target", HOSTILE + "?"),
        ("separate", f"{HOSTILE}.csv", "--target", "kind"),
        ("separate", path, f"--{HOSTILE}"),
        (HOSTILE,),
        ("diagnose", path, "--formula", f"y ~ `{HOSTILE}"),
        ("verify", f"{HOSTILE}.json", path, "--target", "kind"),
    ):
        done = run(*arguments)
        assert done.exit_code == 2
        assert_harmless(done.stdout + done.stderr)
    path.write_text(path.read_text(encoding="utf-8").replace("\n,a", "\n2,a"))
    run("fit", path, "--target", "kind", "--model", "model.json")
    done = run("predict", "model.json", path)
    assert_harmless(done.stdout)
    assert done.stdout.splitlines() == [
        "a",
        "a",
        printable(HOSTILE),
        printable(HOSTILE),
    ]


def test_printable_keeps_lines_and_letters():
    assert printable("a\tb\nÄ ✓") == "a\tb\nÄ ✓"
    assert printable("\r\x00") == "\\u000d\\u0000"


def test_progress_shows_names_harmlessly(folder):
    from linsep.cli.progress import _one_line

    assert_harmless(_one_line(f"reading {HOSTILE}").plain)


@pytest.mark.parametrize(
    ("before", "after"),
    [("default_int_handler", "SIG_DFL"), ("SIG_IGN", "SIG_IGN")],
)
def test_ctrl_c_after_the_command_is_not_worded_by_python(before, after):
    code = (
        "import contextlib, signal, sys\n"
        f"signal.signal(signal.SIGINT, signal.{before})\n"
        "from linsep.__main__ import run\n"
        "sys.argv = ['linsep', '--version']\n"
        "with contextlib.suppress(SystemExit): run()\n"
        f"assert signal.getsignal(signal.SIGINT) == signal.{after}"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
