"""A fitted linear classifier as a plain JSON file: names and numbers, no code.

The file holds what a prediction needs and what a reader wants to know: the classes, the
columns in their order, how columns of text were coded, coefficients, and the status of
the fit. Numbers are written with the digits that give the same double back. A file may
come from anywhere: every entry is checked, and its size, before anything is done with
it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linsep.cli.output import require_file
from linsep.input import InputError, check_features
from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.input.files import Table

Label: TypeAlias = str | int | float | bool

FORMAT = "linsep-linear-classifier"
VERSION = 1
# Four million columns, the most that are read, with names and coefficients take half.
MOST_BYTES = 1 << 28
# Digits of an integer: any of 64 bits has at most 20.
MOST_DIGITS = 20
_ENTRIES = {
    "format", "version", "target", "classes", "feature_names", "dummies", "coef",
    "intercept",
}  # fmt: skip


@dataclass(frozen=True)
class LinearModel:
    """A linear decision rule.

    Attributes
    ----------
    classes : tuple of str, int, float or bool
        The labels, all different.
    coef : ndarray of shape (1, d) or (n_classes, d)
    intercept : ndarray of shape (1,) or (n_classes,)
    feature_names : tuple of str
    target : str
        The name of the labels' column.
    dummies : mapping of str to tuple of str
        Columns of text, and the levels that became 0/1 columns.
    status : mapping
        What was proved when it was fitted.
    """

    classes: tuple[Label, ...]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    feature_names: tuple[str, ...]
    target: str
    dummies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    status: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, classifier: OptimisticPerceptron, table: Table) -> LinearModel:
        """Return the rule of a classifier fitted on a table."""
        answers, shares = classifier.separation_, classifier.nu_
        if not isinstance(answers, tuple):
            answers, shares = (answers,), (shares,)
        margin = float(classifier.margin_)
        status = {
            "status": [answer.status.value for answer in answers],
            "proved": [answer.proved for answer in answers],
            "nu": list(shares),
            "margin": margin if math.isfinite(margin) else None,
        }
        return cls(
            tuple(classifier.classes_.tolist()),
            classifier.coef_,
            classifier.intercept_,
            table.feature_names,
            table.target,
            table.dummies,
            status,
        )

    def decisions(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return decision values, shape (n_samples,) or (n_samples, n_classes)."""
        features = check_features(X, self.coef.shape[1])
        scores = np.asarray(features @ self.coef.T) + self.intercept
        return scores.ravel() if len(self.coef) == 1 else scores

    def predict(self, X: ArrayLike) -> list[Label]:
        """Return the label of each row."""
        scores = self.decisions(X)
        if len(self.classes) == 1:
            return [self.classes[0]] * len(scores)
        chosen = scores > 0 if scores.ndim == 1 else scores.argmax(axis=1)
        return [self.classes[int(k)] for k in chosen]

    def to_json(self) -> str:
        """Return the file's text."""
        record = {
            "format": FORMAT,
            "version": VERSION,
            "target": self.target,
            "classes": list(self.classes),
            "feature_names": list(self.feature_names),
            "dummies": {name: list(levels) for name, levels in self.dummies.items()},
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
            "fit": dict(self.status),
        }
        return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path: Path) -> None:
        """Write the file whole or not at all: beside its place, then moved there."""
        try:
            with whole_file(path) as unfinished:
                unfinished.write_text(self.to_json(), encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{path} must be writable, got: {error.strerror}; name another place"
            ) from error

    @classmethod
    def load(cls, path: Path) -> LinearModel:
        """Read a model file.

        Raises
        ------
        InputError
            If the file is not one, or its parts do not fit together.
        """
        record = _read(path)
        if record.get("format") != FORMAT:
            raise InputError(
                f"{path} must be a model written by `linsep fit`, got other JSON; "
                "check the path"
            )
        version = record.get("version")
        if type(version) is not int or version != VERSION:
            raise InputError(
                f"{path} must be a model of version {VERSION}, got {version!r:.40}; "
                "update linsep"
            )
        missing = sorted(_ENTRIES - set(record))
        unknown = sorted(set(record) - _ENTRIES - {"fit"})
        if missing or unknown:
            raise InputError(
                f"{path} must hold every part of a model and nothing else, got one "
                f"with {missing} missing and {unknown!s:.200} added; fit again"
            )
        return _checked(record, path)


def _read(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file of bounded size, refusing what is not strict."""
    require_file(path, "a model file", "make one with `linsep fit`")

    def entries(pairs: list[tuple[str, object]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) != len(pairs):
            raise ValueError("an entry that occurs twice")
        return record

    def integer(digits: str) -> int:
        if len(digits) > MOST_DIGITS:
            raise ValueError(f"an integer of {len(digits):,} digits")
        return int(digits)

    def finite(digits: str) -> float:
        if not math.isfinite(float(digits)):
            raise ValueError(f"{digits:.40}, which is no double")
        return float(digits)

    def constant(name: str) -> NoReturn:
        raise ValueError(f"{name}, which is no number")

    try:
        with open(path, "rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES:,} bytes")
        record = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=entries,
            parse_int=integer,
            parse_float=finite,
            parse_constant=constant,
        )
        if not isinstance(record, dict):
            raise ValueError("JSON that is no object")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} must be a model written by `linsep fit`, got: {error}; check the "
            "path"
        ) from error
    return record


def _checked(record: dict[str, Any], path: Path) -> LinearModel:
    """Return the model of a file's object, each entry checked."""

    def refused(entry: str, what: str) -> InputError:
        return InputError(
            f"{path} must be a model whose {entry} {what}, got a broken one; fit again"
        )

    target, classes = record["target"], record["classes"]
    names, dummies = record["feature_names"], record["dummies"]
    status = record.get("fit", {})
    if not _is_text(target):
        raise refused("target", "is a text")
    if not isinstance(classes, list) or not all(map(_is_label, classes)):
        raise refused("classes", "are a list of texts, numbers or truth values")
    if not classes or len(set(classes)) != len(classes):
        raise refused("classes", "are at least one, all different")
    if not _are_texts(names):
        raise refused("feature_names", "are a list of different texts")
    if not isinstance(dummies, dict) or not all(
        _is_text(column) and _are_texts(levels) for column, levels in dummies.items()
    ):
        raise refused("dummies", "are lists of different texts, by column")
    coded = {f"{column}[{level}]" for column, of in dummies.items() for level in of}
    if not coded <= set(names):
        raise refused("dummies", "are among its feature_names")
    if not isinstance(status, dict) or not all(
        _is_text(name) and _is_note(value) for name, value in status.items()
    ):
        raise refused("fit", "holds texts, numbers, truth values and lists of them")
    coef, intercept = record["coef"], record["intercept"]
    if not _are_numbers(intercept) or not (
        isinstance(coef, list) and all(map(_are_numbers, coef))
    ):
        raise refused("coef and intercept", "are lists of numbers")
    one_a_class = len(coef) == len(classes) or (len(coef) == 1 and len(classes) == 2)
    shapes = {len(row) for row in coef}
    if not one_a_class or shapes != {len(names)} or len(intercept) != len(coef):
        raise InputError(
            f"{path} must hold one coefficient a column and class, got {len(coef)} "
            f"rows of {sorted(shapes)[:8]} coefficients and {len(intercept)} "
            f"intercepts for {len(names)} columns and {len(classes)} classes; fit again"
        )
    return LinearModel(
        tuple(classes),
        np.array(coef, dtype=np.float64).reshape(len(coef), len(names)),
        np.array(intercept, dtype=np.float64),
        tuple(names),
        target,
        {column: tuple(levels) for column, levels in dummies.items()},
        status,
    )


def _is_text(value: object) -> bool:
    """Tell whether a value is a text that can be printed: no half of a surrogate."""
    try:
        return isinstance(value, str) and value.encode() is not None
    except UnicodeEncodeError:
        return False


def _is_label(value: object) -> bool:
    return _is_text(value) or isinstance(value, int | float)


def _is_note(value: object) -> bool:
    parts = value if isinstance(value, list) else [value]
    return all(part is None or _is_label(part) for part in parts)


def _are_texts(values: object) -> bool:
    """Tell whether these are texts, all different."""
    return (
        isinstance(values, list)
        and all(map(_is_text, values))
        and len(set(values)) == len(values)
    )


def _are_numbers(values: object) -> bool:
    return isinstance(values, list) and all(type(v) in (int, float) for v in values)
