"""Check a certificate against the data, trusting nothing but this page.

It uses Python's integers and standard library, and can be copied out and run alone.
Every double is an exact fraction, so nothing is rounded. One kind of certificate, the
ordered partition, rests in part on floating point with proved bounds: for that kind,
and no other, it needs its second page, `ordered_checker`, and NumPy and SciPy.

What is claimed. Row ``i`` of the data, ``x_i``, has a sign: +1 if its label is the last
of the certificate's classes, -1 if it is the first of two. Its *signed row* ``a_i`` is
``x_i``, with the constant 1 appended if an intercept is fitted, times that sign.

- A *separator* is a ``w`` with ``a_i . w > 0`` for every row.
- A *conflict* is a set of rows with positive weights ``p`` such that
  ``sum p_i a_i = 0``. A separator would make ``sum p_i (a_i . w)`` both positive and
  zero, so there is none. At most one row more than there are columns is accepted; that
  no smaller set would do is not checked.
- A *partition* is both: ``w`` is positive on every row but the overlapped ones, where
  it is zero, and the overlapped rows have positive weights that sum to zero. So the
  rows outside are separated, and no ``w >= 0`` on all rows can separate another one.
- An *ordered partition* says the same of data too large for exact weights. It has
  directions ``d_1, d_2, ...``, and the first of ``a_i . d_1, a_i . d_2, ...`` that is
  not zero is positive: with large enough factors they add up to a ``w`` as above. The
  rows on which all are zero overlap. On those, each vector of ``dependent`` is zero,
  so that its ``free`` column, which the others do not hold, adds nothing; that on the
  columns left the rows have positive weights that sum to zero follows from ``point``,
  as the second page says.

The data are named by a SHA-256 digest of b"linsep data 1", a line feed, the numbers of
rows and of columns (8 bytes each), and four SHA-256 digests: of the signs (1 byte a
row, 1 or 255); of the numbers of non-zero entries (4 bytes a row); of the columns of
the non-zero entries (4 bytes each, counted from 0, increasing), rows without a zero
left out; of the non-zero entries as IEEE doubles, row by row. All are little-endian.

The file is one JSON object. Exact integers are strings: decimal up to 600 digits, which
Python reads at any setting of its limit, else hexadecimal with 0x. ``content_sha256``
is the digest of the object without it, written by
``json.dumps(..., sort_keys=True, separators=(",", ":"))``. The entry ``reading``, if
there is one, says how a file was read, which is no part of what is proved.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from operator import mul
from typing import Any

Document = dict[str, Any]
Row = Sequence[float] | Mapping[int, float]

MAX_TEXT = 1 << 26  # characters in a certificate
# A dozen keys and lists, the rest may stand in the names of the classes; an integer
# takes four characters: two quotes, a digit and a comma.
MAX_MARKS = {
    ":": ("keys", 10_000),
    "[": ("lists", 10_000),
    "{": ("objects", 10_000),
    ",": ("entries", MAX_TEXT // 4),
}
UNIT = 1 << 1074  # the largest denominator of a double; the others divide it
_DECIMAL = re.compile(r"-?(0|[1-9][0-9]{0,599})", re.ASCII)
_HEXADECIMAL = re.compile(r"-?0x[1-9a-f][0-9a-f]{0,249999}", re.ASCII)
_TEXTS = "integers written as text"
_DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
_HEADER = {
    "format", "version", "kind", "n_samples", "n_features", "fit_intercept",
    "classes", "data_sha256", "content_sha256",
}  # fmt: skip
_BODY = {
    "separator": {"w"},
    "conflict": {"rows", "weights"},
    "partition": {"w", "rows", "weights"},
    "ordered": {"directions", "dependent", "free", "eliminated", "point"},
}


class CertificateError(ValueError):
    """The certificate is malformed, belongs to other data, or proves nothing."""


def check(
    certificate_text: str,
    rows: Iterable[Row],
    labels: Sequence[object],
    n_columns: int | None = None,
) -> list[Fraction]:
    """Check a certificate; return what its sums come to, or raise.

    Parameters
    ----------
    certificate_text : str
        The certificate, JSON.
    rows : iterable of sequences of n_features numbers
        The data, as they were given. A row that is mostly zeros may also be a mapping
        from column, counted from 0, to number. Read twice; an iterator is kept in
        memory.
    labels : sequence of n_samples labels
        Text, numbers or truth values.
    n_columns : int, optional
        The number of columns, which rows that are mappings do not show.

    Returns
    -------
    list of Fraction
        Separator and partition: ``a_i . w`` for every row (zero on the overlapped
        rows). Conflict: ``sum p_i a_i`` for every column, all zero. Ordered partition:
        for every row the first ``a_i . d_k`` that is not zero (zero on the overlapped).

    Raises
    ------
    CertificateError
        If anything at all is amiss.
    """
    certificate = parse(certificate_text)
    d = certificate["n_features"]
    if n_columns not in (None, d):
        raise CertificateError(f"the certificate is for {d} columns, got {n_columns}")
    data = rows if isinstance(rows, Sequence) or iter(rows) is not rows else list(rows)
    signs = _signs(certificate["classes"], labels)
    if _data_digest(data, signs, certificate) != certificate["data_sha256"]:
        raise CertificateError("the data are not those the certificate was issued for")

    if certificate["kind"] == "ordered":
        extended = _extended(certificate, data, n_columns)
        sums: list[Fraction] = _on_second_page(
            "check_ordered", certificate, extended, signs
        )
        return sums
    w = certificate.get("w")
    weights = dict(
        zip(certificate.get("rows", []), certificate.get("weights", []), strict=True)
    )
    totals: dict[int, int] = {}
    slacks = []
    extended = _extended(certificate, data, n_columns)
    for i, ((columns, values), sign) in enumerate(zip(extended, signs, strict=True)):
        entries, unit = _integers(values)
        if w is not None:
            slack = sign * sum(map(mul, entries, map(w.__getitem__, columns)))
            if slack < 0 or (slack == 0) != (i in weights):
                found = (
                    "negative" if slack < 0 else "zero" if slack == 0 else "positive"
                )
                raise CertificateError(f"a . w must not be {found} on row {i}")
            slacks.append(Fraction(slack, unit))
        if i in weights:
            factor = sign * weights[i] * (UNIT // unit)
            for j, entry in zip(columns, entries, strict=True):
                totals[j] = totals.get(j, 0) + factor * entry
    if any(totals.values()):
        raise CertificateError("the weighted rows do not sum to zero")
    size = d + certificate["fit_intercept"]
    return [Fraction(0)] * size if w is None else slacks


def _extended(
    certificate: Document, data: Iterable[Row], n_columns: int | None
) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the columns and entries of each row, the constant's last."""
    d, constant = certificate["n_features"], certificate["fit_intercept"]
    for i, row in enumerate(data):
        if n_columns is None and isinstance(row, Mapping):
            raise CertificateError("rows that are mappings need n_columns")
        columns, values = _entries(row, d, i)
        yield ([*columns, d], [*values, 1.0]) if constant else (columns, values)


def _on_second_page(name: str, *arguments: Any) -> Any:
    page_name = "ordered_checker"  # next to this one, in the package or copied out
    try:
        page = import_module(f"{__package__}.{page_name}" if __package__ else page_name)
    except ImportError as error:
        raise CertificateError(
            f"an ordered partition is checked with NumPy and SciPy: {error}"
        ) from None
    try:
        return getattr(page, name)(*arguments)
    except page.NotProved as error:
        raise CertificateError(str(error)) from None


def parse(text: str) -> Document:
    """Read a certificate strictly; its strings of digits become integers."""
    if not isinstance(text, str) or len(text) > MAX_TEXT:
        raise CertificateError(
            f"a certificate is text of at most {MAX_TEXT} characters"
        )
    for mark, (name, most) in MAX_MARKS.items():
        if text.count(mark) > most:  # before millions of them are made
            raise CertificateError(f"not a JSON object of few {name}: this has many")
    try:
        document = json.loads(
            text,
            object_pairs_hook=_object,
            parse_int=_small_integer,
            parse_float=_refuse,
            parse_constant=_refuse,
        )
    except CertificateError:
        raise
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"not a JSON object: {error}") from None
    if not isinstance(document, dict):
        raise CertificateError("not a JSON object")
    version = document.get("version")
    known = type(version) is int and version == 1
    if document.get("format") != "linsep certificate" or not known:
        raise CertificateError("not a linsep certificate of version 1")
    kind = document.get("kind")
    if not isinstance(kind, str) or kind not in _BODY:
        raise CertificateError(f"kind must be one of {', '.join(_BODY)}")
    if set(document) - {"reading"} != _HEADER | _BODY[kind]:
        wrong = sorted(set(document) - {"reading"} ^ (_HEADER | _BODY[kind]))
        raise CertificateError(f"missing or unknown entries: {', '.join(wrong)[:200]}")
    _check_header(document)
    body = _read_body(document)
    if content_digest(document) != document["content_sha256"]:
        raise CertificateError("the content was changed after the certificate was made")
    return {**document, **body}


def content_digest(document: Document) -> str:
    """Return the digest of a certificate's object, ``content_sha256`` left out."""
    rest = {key: value for key, value in document.items() if key != "content_sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def label_text(label: object) -> str:
    """Return a label as certificates write it: 1, 1.0 and "1" are the same label."""
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    return str(label)


def _check_header(document: Document) -> None:
    for name in ("n_samples", "n_features"):
        if type(document[name]) is not int or not 0 <= document[name] < 1 << 32:
            raise CertificateError(f"{name} must be a count below 2**32")
    if type(document["fit_intercept"]) is not bool:
        raise CertificateError("fit_intercept must be true or false")
    classes = document["classes"]
    if (
        not isinstance(classes, list)
        or not 1 <= len(classes) <= 2
        or not all(isinstance(name, str) for name in classes)
        or len(set(classes)) != len(classes)
    ):
        raise CertificateError("classes must be one or two different texts")
    for name in ("data_sha256", "content_sha256"):
        value = document[name]
        if not isinstance(value, str) or not _DIGEST.fullmatch(value):
            raise CertificateError(f"{name} must be 64 hexadecimal digits")


def _read_body(document: Document) -> Document:
    """Return the rows and the integers; what is too long is refused unread."""
    n_columns = document["n_features"] + document["fit_intercept"]
    if document["kind"] == "ordered":
        ordered: Document = _on_second_page("read_body", document, n_columns)
        return ordered
    for name in ("w", "rows", "weights"):
        if not isinstance(document.get(name, []), list):
            wanted = "row numbers" if name == "rows" else _TEXTS
            raise CertificateError(f"{name} must be a list of {wanted}")
    if "w" in document and len(document["w"]) != n_columns:
        raise CertificateError(f"w must have {n_columns} entries")
    if "rows" in document:
        rows = document["rows"]
        if len(rows) != len(document["weights"]):
            raise CertificateError("every row needs a positive weight")
        if document["kind"] == "conflict" and not 1 <= len(rows) <= n_columns + 1:
            raise CertificateError(f"a conflict has from 1 to {n_columns + 1} rows")
        if any(type(row) is not int for row in rows):
            raise CertificateError("rows must be a list of row numbers")
        inside = not rows or (rows[0] >= 0 and rows[-1] < document["n_samples"])
        if not inside or any(a >= b for a, b in pairwise(rows)):
            raise CertificateError("rows must increase, from 0 to below n_samples")
    body: Document = {
        name: _exact_integers(document[name], name)
        for name in ("w", "weights")
        if name in document
    }
    if any(weight <= 0 for weight in body.get("weights", [])):
        raise CertificateError("every row needs a positive weight")
    return body


def _exact_integers(values: list[object], name: str) -> list[int]:
    integers = []
    for value in values:
        if isinstance(value, str) and _DECIMAL.fullmatch(value):
            integers.append(int(value))
        elif isinstance(value, str) and _HEXADECIMAL.fullmatch(value):
            integers.append(int(value, 16))  # takes time proportional to its length
        else:
            raise CertificateError(f"{name} must be a list of {_TEXTS}")
    return integers


def _signs(classes: list[str], labels: Sequence[object]) -> list[int]:
    names = [label_text(label) for label in labels]
    if not set(names) <= set(classes):
        raise CertificateError(f"the labels must be among {classes}")
    return [1 if name == classes[-1] else -1 for name in names]


def _data_digest(
    rows: Iterable[Row],
    signs: list[int],
    certificate: Document,
) -> str:
    d = certificate["n_features"]
    count = 0
    counts, columns, values = hashlib.sha256(), hashlib.sha256(), hashlib.sha256()
    for row in rows:
        filled, entries = _entries(row, d, count)
        k = len(entries)
        counts.update(struct.pack("<I", k))
        if k < d:
            columns.update(struct.pack(f"<{k}I", *filled))
        values.update(struct.pack(f"<{k}d", *entries))
        count += 1
    if not count == len(signs) == certificate["n_samples"]:
        raise CertificateError(
            f"the certificate is for {certificate['n_samples']} rows; "
            f"got {count} rows and {len(signs)} labels"
        )
    total = hashlib.sha256(b"linsep data 1\n" + struct.pack("<QQ", count, d))
    total.update(hashlib.sha256(bytes(sign % 256 for sign in signs)).digest())
    for part in (counts, columns, values):
        total.update(part.digest())
    return total.hexdigest()


def _entries(row: Row, d: int, number: int) -> tuple[list[int], list[float]]:
    """Return the columns of the entries that are not zero, increasing, and these."""
    if isinstance(row, Mapping):
        if not all(type(j) is int and 0 <= j < d for j in row):
            raise CertificateError(f"row {number} must have columns from 0 to {d - 1}")
        columns = sorted(j for j, entry in row.items() if entry != 0)
    elif len(row) == d:
        columns = [j for j, entry in enumerate(row) if entry != 0]
    else:
        raise CertificateError(f"row {number} must have {d} entries, got {len(row)}")
    return columns, [_double(row[j]) for j in columns]


def _double(entry: object) -> float:
    try:
        if isinstance(entry, (int, float)) and math.isfinite(entry):
            value = float(entry)
            if value == entry:
                return value
    except OverflowError:
        pass
    shown = repr(entry) if isinstance(entry, float) else type(entry).__name__
    raise CertificateError(f"the data must be finite doubles, got {shown}")


def _integers(row: list[float]) -> tuple[list[int], int]:
    """Return a row as integers over one denominator, a power of two."""
    ratios = [entry.as_integer_ratio() for entry in row]
    unit = max((below for _, below in ratios), default=1)
    return [above * (unit // below) for above, below in ratios], unit


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise CertificateError("an entry occurs twice")
    return result


def _small_integer(digits: str) -> int:
    if len(digits) > 20:
        raise CertificateError(
            "a number is too long; exact integers are written as text"
        )
    return int(digits)


def _refuse(text: str) -> None:
    raise CertificateError(f"{text[:40]}: numbers must be integers")
