"""Certificates: proofs that outlive the run, in a file anyone can check.

What a certificate claims, its file format and the digest of the data are defined in
`linsep.proof.checker`, the one module that judges them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from linsep.proof import checker
from linsep.proof.checker import CertificateError
from linsep.proof.digest import digest
from linsep.rows import Rows, is_sparse, rows_from
from linsep.whole_files import read_bounded, whole_file

__all__ = ["Certificate", "CertificateError"]

# Rows handed to the checker are made Python numbers this many entries at a time.
_CHUNK = 1 << 16
# Integers up to this many bits are written in decimal: at most 599 digits.
_DECIMAL_BITS = 1_989

_FIELDS = (
    "w", "rows", "weights", "directions", "dependent", "free", "eliminated", "point",
)  # fmt: skip

# The columns and values of a vector that are not zero.
Vector = Iterable[tuple[int, int]]
Kind = Literal["separator", "conflict", "partition", "ordered"]


@dataclass(frozen=True)
class Certificate:
    """An exact proof about one set of data.

    Attributes
    ----------
    kind : str
        - ``"separator"``: `w` separates every row.
        - ``"conflict"``: `rows` with `weights` sum to zero, so nothing separates.
        - ``"partition"``: `w` separates all but `rows`, which it leaves at zero, and
          `rows` with `weights` sum to zero, so nothing separates one of those.
        - ``"ordered"``: the same of very large data: `directions` in order separate
          all but some rows, and that these overlap follows from `point` by one
          factorisation, with bounds on its rounding errors.
    n_samples, n_features : int
        The shape of the data.
    fit_intercept : bool
        Whether a constant column was appended; it is then last in `w`.
    classes : tuple of one or two str
        The labels as text; positive means the last.
    data_sha256 : str
        The digest of the data.
    w : tuple of int or None
    rows : tuple of int or None
        Row numbers from 0, strictly increasing.
    weights : tuple of int or None
        Positive, one for each of `rows`.
    directions, dependent : tuple of (int, int, int) or None
        The entries of vectors that are not zero: the vector's number, the column, the
        value.
    free : tuple of int or None
        A column of each vector of `dependent` that no other of them holds.
    eliminated : tuple of int or None
        Columns to be eliminated first, of which no row holds two.
    point : tuple of (int, float) or None
        Columns and values.
    reading : mapping of str to str, bool or list of str, or None
        How the command line read the data from a file: nothing that is proved.

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0], [1.0], [3.0]], ["no", "no", "yes"]
    >>> proof = linsep.separate(X, y).certificate
    >>> all(slack > 0 for slack in proof.verify(X, y))
    True
    """

    kind: Kind
    n_samples: int
    n_features: int
    fit_intercept: bool
    classes: tuple[str, ...]
    data_sha256: str
    w: tuple[int, ...] | None = None
    rows: tuple[int, ...] | None = None
    weights: tuple[int, ...] | None = None
    directions: tuple[tuple[int, int, int], ...] | None = None
    dependent: tuple[tuple[int, int, int], ...] | None = None
    free: tuple[int, ...] | None = None
    eliminated: tuple[int, ...] | None = None
    point: tuple[tuple[int, float], ...] | None = None
    reading: Mapping[str, Any] | None = None

    @classmethod
    def for_separator(cls, rows: Rows, classes: Any, w: Iterable[int]) -> Certificate:
        """Certify that the integers `w`, the intercept's last, separate the rows."""
        return cls(kind="separator", w=_integers(w), **_header(rows, classes))

    @classmethod
    def for_conflict(
        cls,
        rows: Rows,
        classes: Any,
        conflict: Iterable[int],
        weights: Iterable[int],
    ) -> Certificate:
        """Certify that the rows named, with the weights, sum to zero."""
        return cls(
            kind="conflict",
            rows=_integers(conflict),
            weights=_integers(weights),
            **_header(rows, classes),
        )

    @classmethod
    def for_partition(
        cls,
        rows: Rows,
        classes: Any,
        w: Iterable[int],
        overlapped: Iterable[int],
        weights: Iterable[int],
    ) -> Certificate:
        """Certify that `w` separates all rows but the overlapped ones, and why not."""
        return cls(
            kind="partition",
            w=_integers(w),
            rows=_integers(overlapped),
            weights=_integers(weights),
            **_header(rows, classes),
        )

    @classmethod
    def for_order(
        cls,
        rows: Rows,
        classes: Any,
        *,
        directions: Iterable[Vector],
        dependent: Iterable[Vector],
        free: Iterable[int],
        eliminated: Iterable[int],
        point: Iterable[tuple[int, float]],
    ) -> Certificate:
        """Certify that directions in order separate all rows but those that overlap."""
        return cls(
            kind="ordered",
            directions=_listed(directions),
            dependent=_listed(dependent),
            free=_integers(free),
            eliminated=_integers(eliminated),
            point=tuple((int(j), float(x)) for j, x in point if x),
            **_header(rows, classes),
        )

    def verify(self, X: Any, y: Any) -> list[Fraction]:
        """Check this certificate against data with the independent checker.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features), or path
            The data the certificate is about, row for row, as they were given then.
        y : array-like of shape (n_samples,), or str
            Their labels.

        Returns
        -------
        list of Fraction
            Separator and partition: ``a_i . w`` for each signed row, positive except
            on overlapped rows, where it is zero; of an ordered partition the first
            ``a_i . d`` that is not zero. Conflict: the weighted sum of the rows for
            each column, all zero.

        Raises
        ------
        CertificateError
            If the proof fails, or is about other data.
        """
        from linsep.input.features import features_from
        from linsep.input.labels import labels_from
        from linsep.input.problem import streamed_problem, tabulated

        streamed = streamed_problem(X, y, self.fit_intercept)
        if streamed is not None:
            return checker.check(
                self.to_json(),
                _PlainRows(streamed.rows),
                _plain(streamed.classes[np.where(streamed.rows.signs > 0, -1, 0)]),
                n_columns=streamed.n_features,
            )
        table, y = tabulated(X, y, self.fit_intercept, "refuse")
        features, _ = features_from(X if table is None else table.X)
        return checker.check(
            self.to_json(),
            _PlainRows(rows_from(features, np.ones(features.shape[0], np.int8), False)),
            _plain(labels_from(y)),
            n_columns=features.shape[1],
        )

    def to_json(self) -> str:
        """Return the certificate as JSON text.

        Raises
        ------
        CertificateError
            If it is longer than the checker reads.
        """
        document: dict[str, Any] = {
            "format": "linsep certificate",
            "version": 1,
            "kind": self.kind,
            "n_samples": self.n_samples,
            "n_features": self.n_features,
            "fit_intercept": self.fit_intercept,
            "classes": list(self.classes),
            "data_sha256": self.data_sha256,
        }
        if self.w is not None:
            document["w"] = [_integer_text(value) for value in self.w]
        if self.rows is not None and self.weights is not None:
            document["rows"] = list(self.rows)
            document["weights"] = [_integer_text(value) for value in self.weights]
        for name in ("directions", "dependent"):
            entries = getattr(self, name)
            if entries is not None:
                document[name] = [
                    f"{k} {j} {_integer_text(value)}" for k, j, value in entries
                ]
        if self.point is not None:
            document["free"] = list(self.free or ())
            document["eliminated"] = list(self.eliminated or ())
            document["point"] = [f"{j} {x.hex()}" for j, x in self.point]
        if self.reading is not None:
            document["reading"] = dict(self.reading)
        document["content_sha256"] = checker.content_digest(document)
        lines = (f"{json.dumps(k)}: {json.dumps(v)}" for k, v in document.items())
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        if len(text) > checker.MAX_TEXT:
            raise CertificateError(
                f"a certificate must be at most {checker.MAX_TEXT} characters long, "
                f"this one has {len(text)}: its integers are too many and too long"
            )
        return text

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the certificate to a file, all of it or nothing."""
        text = self.to_json()
        with whole_file(path) as unfinished:
            unfinished.write_text(text, encoding="ascii")

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate from JSON text, strictly.

        Raises
        ------
        CertificateError
            If the text is not a well-formed certificate. Whether it proves anything
            is for `verify` to say.
        """
        document = checker.parse(text)
        return cls(
            kind=document["kind"],
            n_samples=document["n_samples"],
            n_features=document["n_features"],
            fit_intercept=document["fit_intercept"],
            classes=tuple(document["classes"]),
            data_sha256=document["data_sha256"],
            reading=document.get("reading"),
            **{name: tuple(document[name]) for name in _FIELDS if name in document},
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Certificate:
        """Read a certificate from a file; see `from_json`."""
        try:
            text = read_bounded(path, checker.MAX_TEXT).decode("utf-8")
        except UnicodeDecodeError:
            raise CertificateError("a certificate is a text file, in UTF-8") from None
        except ValueError as error:
            raise CertificateError(
                f"a certificate is a file of at most {checker.MAX_TEXT} bytes, got "
                f"{error}"
            ) from None
        return cls.from_json(text)

    def __str__(self) -> str:
        """Say in one sentence what is proved."""
        rows = f"{self.n_samples:,} rows, {self.n_features:,} features"
        rows += ", with intercept" if self.fit_intercept else ", without intercept"
        if self.kind == "separator":
            return f"a hyperplane separates all rows ({rows})"
        if self.kind == "ordered":
            return f"some rows are separated, the others overlap ({rows})"
        blamed = len(self.rows or ())
        if self.kind == "conflict":
            return f"no hyperplane separates {blamed} of the rows ({rows})"
        free = self.n_samples - blamed
        return f"{free:,} rows are separated, {blamed:,} overlap ({rows})"


def _header(rows: Rows, classes: Any) -> dict[str, Any]:
    """Say which data a certificate is about."""
    n, d = rows.shape
    return {
        "n_samples": n,
        "n_features": d - int(rows.fit_intercept),
        "fit_intercept": bool(rows.fit_intercept),
        "classes": tuple(map(checker.label_text, _plain(classes))),
        "data_sha256": digest(rows),
    }


class _PlainRows:
    """Rows as Python numbers, made as they are read: lists, or mappings if sparse."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[checker.Row]:
        n = self.rows.shape[0]
        step = max(1, _CHUNK // max(1, self.rows.entries_a_row))
        for start in range(0, n, step):
            block = self.rows.features(slice(start, min(start + step, n)))
            if not is_sparse(block):
                yield from block.tolist()
                continue
            columns, values = block.indices.tolist(), block.data.tolist()
            for begin, end in pairwise(block.indptr.tolist()):
                yield dict(zip(columns[begin:end], values[begin:end], strict=True))


def _plain(labels: Any) -> list[object]:
    return list(labels.tolist() if hasattr(labels, "tolist") else labels)


def _integers(values: Iterable[int]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _listed(vectors: Iterable[Vector]) -> tuple[tuple[int, int, int], ...]:
    return tuple(
        (k, int(j), int(value))
        for k, vector in enumerate(vectors)
        for j, value in vector
    )


def _integer_text(value: int) -> str:
    return str(value) if value.bit_length() <= _DECIMAL_BITS else hex(value)
