"""What works without the extras, and what says which extra it needs."""

import subprocess
import sys

import pytest

from helpers import ROOT

# The libraries of the extras are hidden from a process of its own.
WITHOUT = """
import sys
from runpy import run_path

HIDDEN = {"altair", "formulaic", "jinja2", "matplotlib", "pandas", "polars"}
HIDDEN |= {"pyarrow", "statsmodels", "vl_convert"}

class Hiding:
    def __init__(self, finder):
        self.finder = finder
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            return None
        return self.finder.find_spec(name, path, target)
    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = [Hiding(finder) for finder in sys.meta_path]
"""


def run_without_extras(code, folder, *arguments):
    return subprocess.run(
        [sys.executable, "-c", WITHOUT + code, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def linsep_without_extras(folder, *arguments):
    code = "from linsep.cli import main; main(prog_name='linsep')"
    return run_without_extras(code, folder, *arguments)


@pytest.fixture
def plants(tmp_path):
    path = tmp_path / "plants.csv"
    path.write_text("height,soil,grown\n0,clay,no\n2,clay,no\n1,clay,yes\n9,sand,yes\n")
    return path


def test_every_block_of_the_readme_runs(tmp_path):
    script = ROOT / ".ci" / "shown_blocks.py"
    done = run_without_extras(
        "run_path(sys.argv[1], run_name='__main__')", tmp_path, script
    )
    assert done.returncode == 0, done.stderr
    assert "examples of the README hold" in done.stdout


@pytest.mark.parametrize("family", ["binomial", "multinomial", "ordinal"])
def test_diagnose_needs_no_extra(plants, family):
    options = ("--target", "grown", "--family", family)
    done = linsep_without_extras(plants.parent, "diagnose", plants, *options)
    assert done.returncode == 0, done.stderr
    assert "soil = sand in 1 row, all grown = yes." in done.stdout


def test_parquet_needs_no_extra(plants):
    import duckdb

    path = plants.with_suffix(".parquet")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (FROM '{plants}') TO '{path}' (FORMAT parquet)")
    for command in ("separate", "diagnose"):
        done = linsep_without_extras(plants.parent, command, path, "--target", "grown")
        assert done.returncode == 0, done.stderr
        assert "4 rows" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "extra"),
    [
        (["diagnose", "plants.csv", "--formula", "grown ~ soil"], "formula"),
        (["reproduce", "figure-1", "--n-max", "1"], "plot"),
    ],
)
def test_a_missing_library_is_named_with_its_extra(plants, arguments, extra):
    done = linsep_without_extras(plants.parent, *arguments)
    assert done.returncode == 2
    assert f'pip install "linsep[{extra}]"' in done.stderr
    assert "Traceback" not in done.stderr


def test_frames_of_answers_say_what_they_need(tmp_path):
    code = (
        "import linsep\n"
        "for answer in (linsep.diagnose([[1], [2]], [0, 1]),\n"
        "               linsep.diagnose_outcomes([[1], [2]], {'y': [0, 1]})):\n"
        "    try:\n"
        "        answer.to_frame()\n"
        "    except linsep.InputError as error:\n"
        "        print(error)\n"
    )
    done = run_without_extras(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count('needs pandas; pip install "linsep[formula]"') == 2


def test_a_page_names_its_extra_before_any_work(plants):
    options = ("--target", "grown", "--report", plants.with_suffix(".html"))
    for command in ("separate", "diagnose"):
        done = linsep_without_extras(plants.parent, command, plants, *options)
        assert done.returncode == 2
        assert 'pip install "linsep[report]"' in done.stderr


def test_a_page_needs_no_matplotlib(tmp_path):
    code = (
        "HIDDEN -= {'altair', 'jinja2', 'vl_convert'}\n"
        "import linsep\n"
        "print(linsep.separate([[0.0], [1.0]], [0, 1]).to_html().count('<svg'))\n"
    )
    done = run_without_extras(code, tmp_path)
    assert done.stdout == "2\n", done.stderr
