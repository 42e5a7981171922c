"""The pages: their examples run, the API page is the contract, figures are there."""

import doctest
import re
import shutil
import sys
from runpy import run_path

import pytest

import linsep
from helpers import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.rst"))
BLOCKS = run_path(str(ROOT / ".ci" / "shown_blocks.py"))
SHOWN = {page: BLOCKS["commands"](page) for page in [ROOT / "README.md", *PAGES]}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_examples_on_the_page_run(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    failed, _ = doctest.testfile(
        str(page),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS,
    )
    assert failed == 0


@pytest.mark.parametrize(
    "page", [page for page in SHOWN if SHOWN[page]], ids=lambda page: page.stem
)
def test_commands_on_the_page_run_and_print_what_it_shows(page, tmp_path, monkeypatch):
    if page.suffix == ".rst" and sys.platform != "linux":
        pytest.skip("the commands of the pages are for the shell of a Linux system")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, expected in SHOWN[page]:
        BLOCKS["check"](command, expected)


def test_every_block_on_a_page_runs_or_says_why_not():
    # What is shown is doctests, plots, commands, or output; other blocks say why not.
    for page in [*PAGES, *DOCS.glob("decisions/*.rst")]:
        text = page.read_text()
        assert not re.search(r"^(?! *\.\. ).*::$", text, re.MULTILINE), page
        shown = re.findall(r"(.*)\n\n\.\. code-block:: (\w+)", text)
        for before, language in shown:
            if language not in ("console", "text"):
                assert before.startswith(".. not run: "), (page, language)
        n_run = text.count("\n   $ ") - len(SHOWN.get(page, ()))
        assert n_run == 0 or ".. not run: " in text, page


def test_api_page_lists_the_contract_and_nothing_else():
    text = (DOCS / "api.rst").read_text()
    listed = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    listed |= set(re.findall(r"^``(\w+)``$", text, re.MULTILINE))
    assert listed == set(linsep.__all__), "docs/api.rst must list linsep.__all__"


def test_every_method_player_and_picture_has_its_entry():
    pages = {
        "game": ["game.rst"],
        "perceptrons": ["perceptrons.rst"],
        "plotting": ["plotting.rst", "game.rst", "api.rst"],
    }
    for module, of_module in pages.items():
        text = "".join((DOCS / page).read_text() for page in of_module)
        names = __import__(f"linsep.{module}", fromlist=["__all__"]).__all__
        forms = (f"linsep.{module}.%s\n", ":: %s\n", "   %s\n")
        missing = [n for n in names if not any(form % n in text for form in forms)]
        assert missing == []


def test_every_page_is_in_the_table_of_contents_and_links_lead_somewhere():
    # A page stands in the index, or in the table of the page that leads to it.
    listed = set()
    for page in PAGES:
        for table in re.findall(r"\.\. toctree::\n((?:   .*\n|\n)+)", page.read_text()):
            listed |= set(re.findall(r"^   ([\w-]+)$", table, re.MULTILINE))
    assert {page.stem for page in PAGES} == listed | {"index"}
    for page in PAGES:
        text = page.read_text()
        for target in re.findall(r":doc:`([\w-]+)`", text):
            assert (DOCS / f"{target}.rst").exists(), target
        for target in re.findall(r"(?:figure:: |<)((?:figures)/[^>\s]+)", text):
            assert (DOCS / target).exists(), target
