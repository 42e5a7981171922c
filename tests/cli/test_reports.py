"""--report: the page of an answer, as the commands save it."""

import re

import pytest
from click.testing import CliRunner

import linsep
from linsep.cli import main

OVERLAP = "height,soil,grown\n0,clay,no\n2,clay,no\n1,clay,yes\n9,sand,yes\n"
APART = "id;height;grown\n7;1,5;no\n8;2,5;no\n9;8,5;yes\n"


def run(*arguments, code=0, stdin=None):
    result = CliRunner().invoke(main, [str(part) for part in arguments], input=stdin)
    assert result.exit_code == code, result.output
    return result


def code_of(html):
    """The first block of code of a page, which makes the answer again."""
    found = re.search(r"<code>(import linsep.*?)</code>", html, re.DOTALL)[1]
    return found.replace("&#39;", "'").replace("&gt;", ">")


@pytest.mark.parametrize("command", ["separate", "max-margin", "diagnose"])
def test_a_page_names_the_file_its_lines_and_the_call(tmp_path, command):
    data, page = tmp_path / "plants.csv", tmp_path / "out.html"
    data.write_text(OVERLAP)
    run(command, data, "--target", "grown", "--report", page)
    html = page.read_text(encoding="utf-8")
    assert "plants.csv" in html
    assert ">5<" in html or "line 4" in html
    scope = {}
    exec(code_of(html), scope)
    if command == "diagnose":
        assert scope["answer"].separated_rows.tolist() == [3]
    else:
        assert not linsep.separate(scope["X"], scope["y"]).separable


def test_the_call_on_a_page_reads_the_file_as_the_command_did(tmp_path):
    data, page = tmp_path / "a file.csv", tmp_path / "out.html"
    data.write_text(APART)
    options = ["--target", "grown", "--drop", "id", "--decimal", ","]
    run("separate", data, *options, "--positive", "no", "--report", page)
    scope = {}
    exec(code_of(page.read_text(encoding="utf-8")), scope)
    assert scope["X"].tolist() == [[1.5], [2.5], [8.5]]
    assert scope["y"].tolist() == [True, True, False]
    run("diagnose", data, *options, "--report", page)
    scope = {}
    exec(code_of(page.read_text(encoding="utf-8")), scope)
    assert scope["answer"].coefficient_names == ("intercept", "height")


def test_a_page_of_a_formula_makes_its_answer_again(tmp_path):
    data, page = tmp_path / "plants.csv", tmp_path / "out.html"
    data.write_text(OVERLAP)
    run("diagnose", data, "--formula", "grown ~ height + C(soil)", "--report", page)
    scope = {}
    exec(code_of(page.read_text(encoding="utf-8")), scope)
    assert scope["answer"].status == "quasi-complete"


def test_a_page_of_standard_input_names_no_file(tmp_path):
    page = tmp_path / "out.html"
    run("separate", "-", "--target", "grown", "--report", page, stdin=OVERLAP)
    html = page.read_text(encoding="utf-8")
    assert "standard input" in html
    assert "linsep-stdin" not in html


def test_places_that_would_replace_something_are_refused(tmp_path):
    data = tmp_path / "plants.csv"
    data.write_text(OVERLAP)
    for command in ("separate", "diagnose"):
        told = run(command, data, "--target", "grown", "--report", data, code=2)
        assert "data itself" in told.output
        same = tmp_path / "same"
        options = ["--certificate", same, "--report", same]
        told = run(command, data, "--target", "grown", *options, code=2)
        assert "--certificate and --report must name different files" in told.output
    options = ["--certificate", same, "--checkpoint", same]
    told = run("separate", data, "--target", "grown", *options, code=2)
    assert "--certificate and --checkpoint must name different files" in told.output
    assert data.read_text() == OVERLAP
    assert not (tmp_path / "same").exists()


def test_no_page_is_left_of_a_command_that_fails(tmp_path):
    data, page = tmp_path / "plants.csv", tmp_path / "out.html"
    data.write_text(OVERLAP)
    run("separate", data, "--target", "weight", "--report", page, code=2)
    run("separate", data, "--target", "grown", "--report", page / "x", code=2)
    assert [path.name for path in tmp_path.iterdir()] == ["plants.csv"]
