"""Pages of results: what they say, whatever names hold, and without a browser."""

import json
import pickle
import re
from html.parser import HTMLParser

import altair
import numpy as np
import pandas as pd
import pytest
import vl_convert
from markupsafe import escape
from scipy.sparse import random as random_sparse

import linsep
from linsep import result
from linsep.report.charts import charts_of
from linsep.report.page import said
from linsep.report.shown_rows import MOST_SHOWN, shown_rows
from torture.data import hostile_problem

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(2)</script>",
    "\u202eevil",
    "\u05e9\u05dc\u05d5\u05dd",
    "$\\broken{",
    "&amp; {{ 7 * 7 }}",
]


class Reader(HTMLParser):
    """Collects the text, the tags and their attributes of a page."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.words = [], []
        self.feed(html)
        self.text = re.sub(r"\s+", " ", " ".join(self.words))

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        self.words.append(data)


def hostile_frame():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(40, len(HOSTILE))).astype(float)
    X[:, 0] = 0.0
    X[:5, 0] = 1.0
    y = np.where(rng.random(40) < 0.5, "<b>no</b>", "yes$")
    y[:5] = "yes$"
    index = [f"<i>{row}</i>" for row in range(40)]
    return pd.DataFrame(X, columns=HOSTILE, index=index), y


def answers():
    separable = [[0.0, 1.0], [1.0, 3.0], [3.0, 0.5], [4.0, 2.0]]
    crossed = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [9.0, 1.0]]
    labels = ["no", "no", "yes", "yes"]
    yield linsep.separate(separable, labels)
    yield linsep.max_margin(separable, labels)
    yield linsep.separate(crossed, labels)
    yield linsep.separate(separable, ["one"] * 4)
    yield linsep.diagnose(separable, labels)
    yield linsep.diagnose(crossed, labels)
    yield linsep.diagnose(crossed, ["a", "b", "c", "a"], family="multinomial")
    yield linsep.diagnose(crossed, [0, 3, 1, 0], family="poisson")
    yield linsep.diagnose(crossed, [1, 2, 3, 2], family="ordinal")
    yield linsep.diagnose(crossed, [[1, 0], [2, 3], [0, 1], [4, 4]])
    yield linsep.diagnose(
        crossed, [0, 1, 0, 1], family="conditional", groups=[0, 0, 1, 1]
    )
    yield linsep.diagnose(crossed, labels, callback=lambda progress: True)


@pytest.fixture(scope="module")
def pages():
    return [(answer, answer.to_html()) for answer in answers()]


def test_every_answer_has_a_page_that_says_its_verdict(pages):
    for answer, html in pages:
        page = Reader(html)
        first = answer.summary(width=10**6).split("\n")[0]
        assert answer.page().verdict in page.text
        assert first.startswith(answer.page().verdict)
        headings = [tag for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
        assert headings[0] == "h1"
        assert headings.count("h1") == 1
        assert len(html) < 1_000_000
        if answer.certificate is not None:
            assert answer.certificate.data_sha256 in page.text


def test_no_page_names_another_file_or_address(pages):
    for _, html in pages:
        page = Reader(html)
        for tag, attributes in page.tags:
            assert tag not in ("link", "img", "iframe", "object", "a")
            for name in ("src", "href"):
                assert name not in attributes
            assert attributes.get("xlink:href", "#").startswith("#")


def test_the_remedies_of_a_diagnosis_are_on_its_page_in_python_and_r():
    X = pd.DataFrame({"pox": [0, 0, 0, 0, 1, 1], "dose": [1, 2, 3, 2, 1, 3]})
    y = pd.Series([0, 1, 0, 1, 1, 1], name="died")
    answer = linsep.diagnose(X, y)
    page = Reader(answer.to_html())
    for remedy in answer.remedies():
        assert remedy.name in page.text
        assert re.sub(r"\s+", " ", remedy.code).strip() in page.text
    firth = answer.remedies()[0].r_code
    assert "glm(died ~ pox + dose," in firth
    assert "brglmFit" in firth
    assert re.sub(r"\s+", " ", firth) in page.text
    dropped = answer.remedies()[-1]
    assert "subset = -c(5, 6)" in dropped.r_code  # R counts rows from 1


def test_r_takes_over_formulas_that_mean_the_same_there():
    data = pd.DataFrame(
        {"ill": [0, 1, 0, 1, 1], "drug": list("abacc"), "x": [1, 2, 3, 4, 5]}
    )
    answer = linsep.diagnose("ill ~ x + C(drug)", data)
    assert "glm(ill ~ x + factor(drug)," in answer.remedies()[0].r_code


def test_hostile_names_are_text_and_legible():
    X, y = hostile_frame()
    for answer in (linsep.diagnose(X, y), linsep.separate(X, y)):
        for html in (answer.to_html(), answer._repr_html_()):
            page = Reader(html)
            assert not [tag for tag, _ in page.tags if tag in ("img", "i", "b")]
            n_scripts = sum(tag == "script" for tag, _ in page.tags)
            assert n_scripts == html.startswith("<!doctype")
            assert not [a for _, a in page.tags if any(n.startswith("on") for n in a)]
            assert "\u202e" not in html
            assert "49" not in Reader(html).text.split("{{")[-1][:10]
        assert "<img src=x onerror=alert(1)>" in Reader(answer.to_html()).text


def test_labels_that_cannot_be_written_are_spelled_out(tmp_path):
    answer = linsep.separate([[0.0], [1.0]], ["caf\udce9", "\u202etea"])
    html = answer.to_html(tmp_path / "answer.html")  # no UTF-8 has half a surrogate
    assert "1 of caf\\udce9 at" in Reader(html).text
    assert "\u202e" not in html


def test_words_from_right_to_left_are_set_apart():
    assert str(said("a \u05d0\u05d1 \u05d2 = 1")) == (
        "a <bdi>\u05d0\u05d1 \u05d2</bdi> = 1"
    )


def three_charts():
    """Return a diagnosis with hostile names, and charts of it and of a search."""
    answer = linsep.diagnose(*hostile_frame())
    trace = [
        result.Progress(1, 9, 4, 2, -np.inf, 3.0, 0.1),
        result.Progress(2, 20, 4, 0, 1.0, 1.5, 0.2),
    ]
    return answer, charts_of(answer.shown_rows(), trace)


def test_pictures_are_made_of_valid_specifications_that_ask_for_nothing(monkeypatch):
    made = []

    def kept(specification, allowed_base_urls):
        made.append(specification)
        return vegalite_to_svg(specification, allowed_base_urls=allowed_base_urls)

    vegalite_to_svg = vl_convert.vegalite_to_svg
    monkeypatch.setattr(vl_convert, "vegalite_to_svg", kept)
    three_charts()
    assert len(made) == 3
    for specification in made:
        altair.LayerChart.from_dict(specification)  # raises if the schema forbids it
        assert '"url"' not in json.dumps(specification)
    elsewhere = made[0] | {"data": {"url": "https://example.com/rows.csv"}}
    for layer in elsewhere["layer"]:
        layer.pop("data")
    with pytest.raises(ValueError, match="not allowed"):
        kept(elsewhere, [])


def test_pictures_show_what_the_displays_hold():
    answer, (rows, margins, interval) = three_charts()
    shown = answer.shown_rows()
    points = re.findall(r"<title>([^<]*)</title>", rows.svg)
    assert len(points) == shown.n_rows + shown.marked.size
    bars = re.findall(r"<title>(\d+) of ([^<]*) from [^<]*</title>", margins.svg)
    for code, label in enumerate(shown.classes):
        counts = [int(count) for count, name in bars if name == str(escape(label))]
        assert sum(counts) == (shown.codes == code).sum()
    assert re.findall(r"<title>after pass (\d): ([^,]*), ", interval.svg) == [
        ("1", "3"),  # that nothing is known from below then is not drawn
        ("2", "1.5"),
        ("2", "1"),
    ]


def test_classes_that_share_a_colour_differ_in_shape():
    X = np.arange(14.0)[:, None] % 7
    answer = linsep.diagnose(X, np.repeat(range(7), 2), family="multinomial")
    (chart,) = answer.page().charts
    looks = [look for look, _ in chart.legend]
    assert len(set(looks)) == len(looks) == 7
    for colour, n_rows in (("class-0", 4), ("class-1", 4), ("class-2", 2)):
        assert chart.svg.count(f'fill="var(--{colour})"') == n_rows


def test_the_same_answer_gives_the_same_page_whatever_altair_is_told_elsewhere():
    X, y = hostile_frame()
    first = linsep.diagnose(X, y).to_html()
    with altair.theme.enable("dark"), altair.data_transformers.enable("vegafusion"):
        assert linsep.diagnose(X, y).to_html() == first


def test_every_marked_row_says_its_name_in_the_picture():
    X, y = hostile_frame()
    answer = linsep.diagnose(X, y)
    html = answer.to_html()
    shown = answer.shown_rows()
    names = {shown.names[at] for at in shown.marked}
    assert names == {f"row <i>{row}</i>" for row in range(5)}
    titles = re.findall(r"<title>(.*?)</title>", html)
    marked = [title for title in titles if title.endswith("separated rows")]
    assert len(set(marked)) == 5
    assert all("&lt;i&gt;" in title for title in marked)


def test_the_picture_of_a_separator_keeps_distances():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(50, 4))
    answer = linsep.max_margin(X, X[:, 0] > 0)
    shown = answer.shown_rows()
    length = np.linalg.norm(answer.coef)
    np.testing.assert_allclose(shown.across, answer.decision_function(X) / length)
    assert (np.array(shown.numbers)[shown.marked] == answer.support).all()
    assert shown.margins.min() == pytest.approx(answer.margin_lower)
    # What is up is at right angles to what is across.
    assert abs(np.corrcoef(shown.across, shown.up)[0, 1]) < 1e-6


def test_the_page_of_a_largest_margin_lists_its_support():
    X = [[0.0], [1.0], [3.0], [4.0]]
    page = linsep.max_margin(X, ["a", "a", "b", "b"]).page()
    first = linsep.separate(X, ["a", "a", "b", "b"]).page()
    code = "linsep.max_margin(X, y)"  # is no advice to those who called it
    assert code in [advice.code for advice in first.advice]
    assert code not in [advice.code for advice in page.advice]
    assert [line[:2] for line in page.rows.lines] == [("row 1", "a"), ("row 2", "b")]
    assert [line[2] for line in page.rows.lines] == pytest.approx([1.0, 1.0])


def test_rows_of_weight_zero_are_not_shown_and_others_keep_their_numbers():
    X, y = [[9.0], [0.0], [1.0], [3.0], [4.0]], [1, 0, 0, 1, 1]
    weights = [0, 1, 1, 1, 1]
    answer = linsep.max_margin(X, y, sample_weight=weights)
    diagnosis = linsep.diagnose(X, y, sample_weight=weights)
    for shown in (answer.shown_rows(), diagnosis.shown_rows()):
        assert shown.numbers == (1, 2, 3, 4)
        assert shown.names[0] == "row 1"
    assert [line[0] for line in answer.page().rows.lines] == ["row 2", "row 3"]


def test_pictures_of_many_rows_show_a_sample_with_all_that_is_marked():
    rng = np.random.default_rng(5)
    X = random_sparse(6000, 300, density=0.02, format="csr", random_state=rng)
    codes = rng.integers(0, 2, size=6000)
    marked = np.array([17, 4021])
    shown = shown_rows(
        lambda index: X[index], codes, ("a", "b"), marked, "some", np.asarray, str
    )
    assert shown.n_rows == 6000
    assert MOST_SHOWN <= shown.across.size <= MOST_SHOWN + 2
    assert set(marked) <= set(shown.numbers)
    dense = shown_rows(
        lambda index: X[index].toarray(),
        codes,
        ("a", "b"),
        marked,
        "some",
        np.asarray,
        str,
    )
    np.testing.assert_allclose(dense.across, shown.across, atol=1e-9)


def test_numbers_at_the_ends_of_the_doubles_have_a_page():
    X = [[1e308, 1.0], [-1e308, 2.0], [5e-324, 3.0], [0.0, 4.0]]
    for answer in (linsep.separate(X, [0, 1, 0, 1]), linsep.diagnose(X, [0, 1, 0, 1])):
        assert "nan" not in Reader(answer.to_html()).text


@pytest.mark.parametrize(
    "X", [[[1e308], [-1e308]], [[1.7e308, 1.0], [-1.7e308, 1e300]]]
)
def test_axes_wider_than_doubles_are_drawn(X):
    for answer in (linsep.separate(X, [0, 1]), linsep.max_margin(X, [0, 1])):
        assert "<svg" in answer.to_html()


def test_a_notebook_does_not_make_the_certificate():
    X, y = hostile_frame()
    for answer in (linsep.diagnose(X, y), linsep.separate(X, y)):
        shown = answer._repr_html_()
        assert "value" not in vars(answer._certificate)
        assert "SHA-256" not in shown
        assert "SHA-256" in answer.to_html()


def test_an_unpickled_answer_has_a_page_without_pictures_of_rows():
    X, y = hostile_frame()
    for answer in (linsep.separate(X, y), linsep.diagnose(X, y)):
        again = pickle.loads(pickle.dumps(answer))
        assert again.shown_rows() is None
        assert answer.page().verdict in Reader(again.to_html()).text.replace("  ", " ")
        with pytest.raises(linsep.InputError, match="needs the rows"):
            linsep.ProjectionDisplay.from_answer(again)


def test_a_page_is_saved_whole_or_not_at_all(tmp_path):
    answer = linsep.separate([[0.0], [1.0]], [0, 1])
    html = answer.to_html(tmp_path / "answer.html")
    assert (tmp_path / "answer.html").read_text(encoding="utf-8") == html
    with pytest.raises(FileNotFoundError):
        answer.to_html(tmp_path / "nowhere" / "answer.html")
    assert [path.name for path in tmp_path.iterdir()] == ["answer.html"]


@pytest.mark.parametrize("missing", ["jinja2", "altair", "vl_convert"])
def test_without_its_libraries_a_notebook_shows_the_summary(monkeypatch, missing):
    from linsep.report import page

    answer = linsep.separate([[0.0], [1.0]], ["<b>", "c"])
    monkeypatch.setattr(page, "find_spec", lambda name: None if name == missing else 1)
    assert answer._repr_html_().startswith("<pre>Separable")
    for ask in (answer.to_html, answer.page):
        with pytest.raises(ImportError, match=rf"{missing}; .*linsep\[report\]"):
            ask()


def test_words_of_a_conflict_are_those_of_the_summary():
    answer = linsep.separate([[0.0], [2.0], [1.0]], [0, 0, 1])
    page = answer.page()
    assert page.rows.note == answer.why_in_conflict()
    assert page.rows.note in answer.summary(width=10**6)
    assert [line[0] for line in page.rows.lines] == ["row 0", "row 1", "row 2"]
    assert isinstance(answer, result.Separation)


def test_a_page_of_data_read_in_batches_says_what_is_proved_and_what_to_do():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"pox": [0, 0, 0, 1, 1], "died": [0, 1, 0, 1, 1]})
    answer = linsep.diagnose(lambda: table, "died")
    assert answer.status == "quasi-complete"
    text = Reader(answer.to_html()).text
    assert answer.certificate.data_sha256 in text
    assert "In the Python below" in text
    assert "answer.batches(separated=False)" in text
    table = pa.table({"pox": [0, 0, 0, 1, 1], "deaths": [3, 1, 0, 0, 0]})
    of_counts = linsep.diagnose(lambda: table, "deaths", family="poisson")
    text = Reader(of_counts.to_html()).text
    assert "Use a penalty" in text
    assert "In the Python below" not in text  # there is none


def test_rows_that_stand_for_a_regression_are_not_called_its_rows():
    crossed = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [9.0, 1.0]]
    answer = linsep.diagnose(crossed, list("abca"), family="multinomial")
    text = Reader(answer.to_html()).text
    assert "8 rows, 6 columns, which stand for this regression" in text


TINY, HUGE = 5e-324, np.finfo(np.float64).max


@pytest.mark.parametrize(
    ("X", "y", "unit"),
    [
        ([[2 * TINY, -1e308], [TINY, -TINY], [-TINY, -1e-300]], [1, 1, 1], ", in 1e"),
        (
            [[2.2e-308, -TINY], [0, -2.2e-308], [2 * TINY, -1], [2.2e-308, -1e-300]],
            [0, 1, 1, 0],
            ", in 1e",
        ),
        ([[1e-300, 1e-300], [-1e300, -HUGE]], [0, 1], ", in 1e"),
        ([[1.0, 3.0], [np.nextafter(1.0, 2.0), 3.0]], [0, 1], ""),
        ([[3.0, 1e16], [3.0, 1e16 + 2], [4.0, 1e16 + 4]], [0, 1, 1], ""),
    ],
)
def test_rows_at_the_ends_of_the_doubles_are_drawn(X, y, unit):
    for call in (linsep.separate, linsep.max_margin):
        html = call(X, y, fit_intercept=False).to_html()
        assert "<svg" in html
        assert unit in html


def test_random_rows_of_extreme_numbers_are_drawn():
    rng = np.random.default_rng(5)
    for _ in range(25):
        X, y = hostile_problem(rng)
        try:
            answer = linsep.max_margin(X, y, fit_intercept=bool(rng.random() < 0.5))
        except linsep.InputError:
            continue
        assert "</html>" in answer.to_html()
