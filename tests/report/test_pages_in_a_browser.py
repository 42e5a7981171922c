"""Pages in a real browser: offline, by keyboard, narrow and wide, light and dark."""

import json
import re
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

import linsep
from report_pages import browser, opened


@pytest.fixture(scope="module")
def started():
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(0)
    n = 60
    frame = pd.DataFrame(
        {
            "<img src=x onerror=alert(1)>": np.r_[np.ones(7), np.zeros(n - 7)],
            "</script><script>alert(2)</script>": rng.normal(size=n),
            "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd": rng.normal(size=n),
            "a" * 120: rng.normal(size=n),
        }
    )
    y = np.r_[np.ones(7), rng.integers(0, 2, n - 7)]
    answers = {
        "diagnosis": linsep.diagnose(frame, y),
        "margin": linsep.max_margin(frame[["a" * 120]], frame["a" * 120] > 0.2),
        "conflict": linsep.separate(frame, y),
    }
    for name, answer in answers.items():
        answer.to_html(folder / f"{name}.html")
    return {name: folder / f"{name}.html" for name in answers}


@pytest.mark.parametrize("name", ["diagnosis", "margin", "conflict"])
@pytest.mark.parametrize(
    ("width", "scheme"), [(1200, "light"), (390, "dark")], ids=["wide", "narrow"]
)
def test_nothing_is_clipped_or_asked_of_the_network(
    started, saved, name, width, scheme
):
    page = opened(started, saved[name], width=width, scheme=scheme)
    assert page.complaints == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    is_whole = "all => all.every(one => one.scrollWidth <= one.clientWidth)"
    assert page.locator("pre").evaluate_all(is_whole)
    # Text and what is behind it differ enough in every scheme (WCAG AA is 4.5).
    ratio = page.evaluate(CONTRAST)
    assert ratio["least"] >= 4.5, ratio
    page.context.close()


def test_a_table_is_sorted_by_keyboard_alone(started, saved):
    page = opened(started, saved["margin"])
    table = page.locator("table").last  # of coefficients
    head = table.locator("th button").nth(1)
    for _ in range(40):
        page.keyboard.press("Tab")
        if head.evaluate("button => button === document.activeElement"):
            break
    else:
        pytest.fail("the heading was not reached by Tab")
    read = "lines => lines.map(line => Number(line.cells[1].dataset.value))"
    for order in ("ascending", "descending"):
        page.keyboard.press("Enter")
        values = table.locator("tbody tr").evaluate_all(read)
        assert values == sorted(values, reverse=order == "descending")
        where = "button => button.closest('th').ariaSort"
        assert head.evaluate(where) == order
    page.context.close()


def test_rows_say_their_names_under_the_pointer_and_by_the_arrow_keys(started, saved):
    page = opened(started, saved["diagnosis"])
    chart = page.locator(".chart").first
    tip = chart.locator(".tip")
    chart.locator(".marked_marks path").first.hover(force=True)
    assert tip.inner_text().startswith("row ")
    page.mouse.move(0, 0)
    chart.focus()
    said = set()
    for _ in range(7):
        page.keyboard.press("ArrowRight")
        said.add(tip.inner_text())
    assert said == {f"row {row}: y = 1.0, separated rows" for row in range(7)}
    page.keyboard.press("Escape")
    assert tip.is_hidden()
    bar = page.locator(".chart").nth(1).locator(".mark-rect path").first
    bar.hover(force=True)
    tip = page.locator(".chart").nth(1).locator(".tip")
    assert re.fullmatch(r"\d+ of y = 0.0 from 0 to 0.025", tip.inner_text())
    page.context.close()


def test_pictures_take_the_colours_of_the_scheme(started, saved):
    read = "one => [getComputedStyle(one).fill, getComputedStyle(one).stroke]"
    seen = []
    for scheme in ("light", "dark"):
        page = opened(started, saved["diagnosis"], scheme=scheme)
        chart = page.locator(".chart").first
        parts = (".named_marks path", ".marked_marks path", ".role-axis-grid line")
        seen.append([chart.locator(part).first.evaluate(read) for part in parts])
        page.context.close()
    light, dark = seen
    assert light[0][0] == "rgb(184, 121, 0)"  # --class-1, of row 0
    for one, other in zip(light, dark, strict=True):
        assert one != other


def test_hostile_names_do_nothing_and_are_read_as_they_are(started, saved):
    page = opened(started, saved["diagnosis"])
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 1
    text = page.locator("main").inner_text()
    assert "<img src=x onerror=alert(1)> = 1 in 7 rows" in text
    assert page.locator("bdi").first.inner_text() == (
        "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd"
    )
    assert page.complaints == []
    page.context.close()


def test_a_screen_reader_finds_names_for_all_that_can_be_reached(started, saved):
    page = opened(started, saved["diagnosis"])
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll('[tabindex="0"], button')].filter(
            one => !(one.getAttribute('aria-label') || one.textContent.trim())
        ).length"""
    )
    assert unnamed == 0
    levels = page.locator("h1, h2, h3").evaluate_all(
        "heads => heads.map(head => Number(head.tagName[1]))"
    )
    assert all(later - level <= 1 for level, later in pairwise(levels))
    assert page.locator("main").count() == 1
    assert page.evaluate("document.documentElement.lang") == "en"
    tree = page.locator("body").aria_snapshot()
    for table in ("The separated rows", "Coefficients"):
        assert f'table "{table}":' in tree
    for part in ('columnheader "row":', 'rowheader "6"', 'group "R for Firth'):
        assert part in tree
    assert "\u2195" not in tree  # the arrow of a heading that sorts
    # Pictures say what they show, not only what they are of.
    for group in (" of y = 0.0 at 0; ", " of y = 1.0 from 0 to 1; the 7 ringed at 1."):
        assert re.search(r'group "The rows, seen .*' + group, tree)
    assert 'group "How far' in tree
    assert "The 53 at 0 are not predicted." in tree
    page.context.close()


def test_a_page_prints(started, saved):
    page = opened(started, saved["diagnosis"], scheme="dark")
    page.emulate_media(media="print", color_scheme="light")
    ink = page.locator("h1").evaluate("head => getComputedStyle(head).color")
    assert json.dumps(ink) == '"rgb(0, 0, 0)"'
    assert page.pdf().startswith(b"%PDF")
    page.context.close()


CONTRAST = """() => {
  const light = (text) => {
    const parts = text.match(/[\\d.]+/g).slice(0, 3).map(part => {
      const x = Number(part) / 255;
      return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = (one) => {
    for (let at = one; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/, 0\\)$/.test(colour)) return colour;
    }
    return 'rgb(255, 255, 255)';
  };
  let least = 21, where = '';
  const all = 'p, li, h1, h2, h3, td, th, dt, dd, code, text';
  for (const one of document.querySelectorAll(all)) {
    const style = getComputedStyle(one);
    const a = light(one.tagName === 'text' ? style.fill : style.color);
    const b = light(behind(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < least) {
      least = ratio;
      where = `${one.tagName} ${one.textContent.slice(0, 40)}`;
    }
  }
  return {least, where};
}"""
