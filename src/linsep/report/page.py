"""A result as one page of HTML: self-contained, and safe whatever its names hold."""

from __future__ import annotations

import base64
import hashlib
import math
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from linsep.printable import printable
from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from linsep.lazy import LazyIfMade
    from linsep.report.charts import Chart
    from linsep.report.shown_rows import ShownRows

# Lines of a table at most: a page is to be read.
MOST_LINES = 200
# Letters that are written from right to left, and what may stand between them.
_RIGHT_TO_LEFT = re.compile(
    "([\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
    "(?:[ _.\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc-]*"
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc])?)"
)


@dataclass(frozen=True)
class Advice:
    """Something to do: a name, why, code, and what of the model it leaves.

    `code` is Python, `r_code` is R; either may be empty.
    """

    name: str
    why: str
    code: str = ""
    leaves: str = ""
    r_code: str = ""


@dataclass(frozen=True)
class Table:
    """Columns with names and lines of texts and numbers; `more` says what is left out.

    `note` stands under the heading.
    """

    columns: Sequence[str]
    lines: Sequence[Sequence[Any]]
    more: str = ""
    note: str = ""

    @classmethod
    def of(
        cls, columns: Sequence[str], lines: Sequence[Sequence[Any]], note: str = ""
    ) -> Table:
        """Return a table of the first lines, the others counted."""
        left = len(lines) - MOST_LINES
        more = f"and {left:,} more" if left > 0 else ""
        return cls(columns, lines[:MOST_LINES], more, note)


@dataclass(frozen=True)
class Page:
    """What a page says, in the order it says it.

    Attributes
    ----------
    tone : {"good", "bad", "open"}
        How the verdict is coloured.
    status : str
        The verdict in a word or two.
    verdict : str
        The verdict in a sentence.
    meaning : sequence of str
        What it means for the reader's regression, a paragraph each.
    advice : sequence of Advice
        What to do.
    evidence : sequence of str
        What was found, a sentence each.
    charts : sequence of Chart
    coefficients, rows : Table or None
    rows_title : str
        What the rows are.
    proof : sequence of (str, str)
        Facts about the proof: a name and a value.
    checks : sequence of str
        Lines of code that check it.
    source : str
        What the data are called.
    call : str
        Python that makes the answer again; for code that goes on with `answer`.
    """

    tone: str
    status: str
    verdict: str
    meaning: Sequence[str]
    advice: Sequence[Advice]
    evidence: Sequence[str]
    charts: Sequence[Chart]
    coefficients: Table | None
    rows: Table | None
    rows_title: str
    proof: Sequence[tuple[str, str]]
    checks: Sequence[str]
    source: str = ""
    call: str = ""

    def html(self) -> str:
        """Return the page, which needs no other file and no network."""
        return self._rendered("page.html")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, whole or not at all."""
        text = self.html()
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")

    def fragment(self) -> str:
        """Return the page as a part of another one, without what needs a script."""
        return self._rendered("body.html", is_fragment=True)

    def _rendered(self, template: str, *, is_fragment: bool = False) -> str:
        from jinja2 import Environment, PackageLoader, StrictUndefined

        here = files("linsep.report")
        style = here.joinpath("page.css").read_text(encoding="utf-8")
        script = here.joinpath("page.js").read_text(encoding="utf-8")
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        environment = Environment(
            loader=PackageLoader("linsep.report", "."),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        environment.filters |= {"said": said, "cell": cell}
        text: str = environment.get_template(template).render(
            page=self,
            style=style,
            script=script,
            script_digest=digest,
            is_fragment=is_fragment,
        )
        return text


class HasPage:
    """A result that can be shown as a page; its class says what the page holds."""

    _shown: LazyIfMade[ShownRows | None] | None = None

    def page(self, *, with_proof: bool = True) -> Page:
        """Return what the page says, to be changed or saved.

        Parameters
        ----------
        with_proof : bool, default=True
            Whether the certificate is made for it, which takes a pass over the data.
        """
        raise NotImplementedError

    def shown_rows(self) -> ShownRows | None:
        """Return the rows that pictures show; None if there are none at hand."""
        if self._shown is None or self._shown.is_lost:
            return None
        return self._shown.value

    def to_html(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the answer as one page of HTML, and save it if a path is given.

        The page needs no other file and no network: the verdict and what it means,
        what to do, pictures, coefficients, the rows behind the verdict, the proof.

        Parameters
        ----------
        path : str, path or None, default=None
            Where to save it, whole or not at all.

        Raises
        ------
        ImportError
            If a library for pages is missing: ``pip install "linsep[report]"``.

        Examples
        --------
        >>> import linsep
        >>> answer = linsep.separate([[0.0], [1.0]], ["no", "yes"])
        >>> answer.to_html().startswith("<!doctype html>")
        True
        """
        require_report()
        page = self.page()
        if path is not None:
            page.save(path)
        return page.html()

    def summary(self) -> str:
        """Say the answer in sentences."""
        raise NotImplementedError

    def _repr_html_(self) -> str:
        """Show the page in a notebook, or the summary where its libraries are not.

        No certificate is made for it.
        """
        if _missing() is not None:
            from html import escape

            return f"<pre>{escape(printable(self.summary()))}</pre>"
        return self.page(with_proof=False).fragment()


def require_report() -> None:
    """Raise ImportError, and say how to install it, if a page cannot be made."""
    missing = _missing()
    if missing is not None:
        raise ImportError(
            f'a page needs {missing}; install it with: pip install "linsep[report]"',
            name=missing,
        )


def _missing() -> str | None:
    """Return the module that pages need and that is not there, if there is one."""
    needed = ("jinja2", "altair", "vl_convert")
    return next((name for name in needed if find_spec(name) is None), None)


def said(text: object) -> Any:
    r"""Return a text for a page: escaped, control characters and directions visible.

    Words written from right to left are set apart, so that what stands round them keeps
    its order.

    Examples
    --------
    >>> print(said("<b> \u202e \u05d0\u05d1 = 1"))
    &lt;b&gt; \u202e <bdi>\u05d0\u05d1</bdi> = 1
    """
    from markupsafe import Markup, escape

    parts = _RIGHT_TO_LEFT.split(printable(str(text)))
    return Markup("").join(
        Markup("<bdi>{}</bdi>").format(part) if at % 2 else escape(part)
        for at, part in enumerate(parts)
    )


def cell(value: Any) -> Any:
    """Return a value for a table: numbers short, texts as `said`.

    Examples
    --------
    >>> print(cell(0.1 + 0.2), cell(3), cell("a<b"))
    0.3 3 a&lt;b
    """
    if isinstance(value, float) and math.isfinite(value):
        return f"{value:.6g}"
    return said(value)
