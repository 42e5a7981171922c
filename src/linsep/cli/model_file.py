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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from linsep.arrays import Floats
from linsep.cli.kernel_part import KernelPart, are_numbers
from linsep.cli.kernel_part import requirements as kernel_requirements
from linsep.cli.output import require_file, writing
from linsep.input import InputError, check_features
from linsep.input.levels import Levels
from linsep.whole_files import read_bounded, whole_file

if TYPE_CHECKING:
    from linsep.classifier.optimistic_perceptron import OptimisticPerceptron
    from linsep.input.files import Table
    from linsep.result import Separation

Label: TypeAlias = str | int | float | bool

FORMAT = "linsep-linear-classifier"
# Version 1 had "dummies", a column for each level, in place of "levels"; version 3 is 2
# with a kernel.
VERSIONS = (1, 2, 3)
# Four million columns, the most that are read, with names and coefficients take half.
MOST_BYTES = 1 << 28
_ENTRIES = {
    "format", "version", "target", "classes", "feature_names", "coef", "intercept",
}  # fmt: skip


def problems(classifier: OptimisticPerceptron) -> list[tuple[Separation, float | None]]:
    """Return the answer and the share of each problem that was fitted: one, or each."""
    answers, shares = classifier.separation_, classifier.nu_
    if not isinstance(answers, tuple):
        return [(answers, shares)]
    return list(zip(answers, shares, strict=True))


@dataclass(frozen=True)
class LinearModel:
    """A decision rule, linear in the features or in a kernel's.

    Attributes
    ----------
    classes : tuple of str, int, float or bool
        The labels, all different.
    coef : ndarray of shape (1, d) or (n_classes, d)
        A coefficient for each column, or for each landmark of a kernel.
    intercept : ndarray of shape (1,) or (n_classes,)
    feature_names : tuple of str
    target : str
        The name of the labels' column.
    levels : mapping of str to Levels
        Columns of text, and how they became 0/1 columns.
    status : mapping
        What was proved when it was fitted.
    kernel : KernelPart or None
    """

    classes: tuple[Label, ...]
    coef: Floats
    intercept: Floats
    feature_names: tuple[str, ...]
    target: str
    levels: Mapping[str, Levels] = field(default_factory=dict)
    status: Mapping[str, object] = field(default_factory=dict)
    kernel: KernelPart | None = None

    @classmethod
    def of(cls, classifier: OptimisticPerceptron, table: Table) -> LinearModel:
        """Return the rule of a classifier fitted on a table."""
        answers, shares = zip(*problems(classifier), strict=True)
        margin = float(classifier.margin_)
        status = {
            "status": [answer.status.value for answer in answers],
            "proved": [answer.proved for answer in answers],
            "nu": list(shares),
            "margin": margin if math.isfinite(margin) else None,
        }
        return cls(
            tuple(classifier.classes_.tolist()),
            classifier._coef,
            classifier.intercept_,
            table.feature_names,
            str(table.target),
            table.levels,
            status,
            KernelPart.of(classifier),
        )

    def with_positive(self, label: str | None) -> LinearModel:
        """Return the same rule, with this label on the positive side if it is one."""
        if label is None or len(self.classes) != 2 or self.classes[1] == label:
            return self
        turned = self.classes[::-1]
        return replace(self, classes=turned, coef=-self.coef, intercept=-self.intercept)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the features are made of."""
        column_of = {
            name: column
            for column, of in self.levels.items()
            for name in of.names(column)
        }
        used = (column_of.get(name, name) for name in self.feature_names)
        return tuple(dict.fromkeys(used))

    @property
    def width(self) -> int:
        """Numbers that judging a row takes at a time."""
        landmarks = () if self.kernel is None else self.kernel.landmarks
        return max(len(self.feature_names), len(landmarks), len(self.classes))

    def decisions(self, X: ArrayLike) -> Floats:
        """Return decision values, shape (n_samples,) or (n_samples, n_classes)."""
        features = check_features(X, len(self.feature_names))
        if self.kernel is not None:
            features = self.kernel.features(features)
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
            "version": 2 if self.kernel is None else 3,
            "target": self.target,
            "classes": list(self.classes),
            "feature_names": list(self.feature_names),
            "levels": {
                name: {"levels": list(of.levels), "reference": of.reference}
                for name, of in self.levels.items()
            },
            "coef": self.coef.tolist(),
            "intercept": self.intercept.tolist(),
            "fit": dict(self.status),
        }
        if self.kernel is not None:
            record |= self.kernel.record()
        return json.dumps(record, indent=2, ensure_ascii=False, allow_nan=False)

    def save(self, path: Path) -> None:
        """Write the file whole or not at all: beside its place, then moved there."""
        content = self.to_json().encode()
        if len(content) > MOST_BYTES:
            raise InputError(
                f"{path} must be at most {MOST_BYTES:,} bytes, got a model of "
                f"{len(content):,}; fit on fewer rows or columns"
            )
        with writing(path), whole_file(path) as unfinished:
            unfinished.write_bytes(content)

    @classmethod
    def load(cls, path: Path) -> LinearModel:
        """Read a model file; refuse what is none, or whose parts do not fit."""
        record = _read(path)
        for holds, what in _requirements(record):
            if not holds:
                raise InputError(f"{path} must be a model {what}")
        names = record["feature_names"]
        width = len(record.get("landmarks", names))
        return cls(
            tuple(record["classes"]),
            np.array(record["coef"], dtype=np.float64).reshape(-1, width),
            np.array(record["intercept"], dtype=np.float64),
            tuple(names),
            record["target"],
            _levels(record),
            record.get("fit", {}),
            KernelPart.read(record),
        )


def _read(path: Path) -> dict[str, Any]:
    """Return the object of a JSON file of bounded size, refusing what is not strict."""
    require_file(path, "a model file", "make one with `linsep fit`")

    def entries(pairs: list[tuple[str, object]]) -> dict[str, object]:
        record = dict(pairs)
        if len(record) != len(pairs):
            raise ValueError("an entry that occurs twice")
        return record

    def double(text: str) -> float:
        if not math.isfinite(float(text)):
            raise ValueError(f"{text:.40}, which is no double")
        return float(text)

    try:
        record = json.loads(
            read_bounded(path, MOST_BYTES).decode("utf-8"),
            object_pairs_hook=entries,
            parse_float=double,
            parse_constant=double,
        )
        if not isinstance(record, dict):
            raise ValueError("JSON that is no object")
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(
            f"{path} must be a model written by `linsep fit`, got: {error}; check the "
            "path"
        ) from error
    return record


def _levels(record: dict[str, Any]) -> dict[str, Levels]:
    """Return how the columns of text are coded, in either version of the file."""
    if record["version"] == 1:
        return {name: Levels(tuple(of), None) for name, of in record["dummies"].items()}
    return {
        name: Levels(tuple(of["levels"]), of["reference"])
        for name, of in record["levels"].items()
    }


def _is_coding(version: object, coding: object) -> bool:
    """Tell whether this says which levels a column has, and which is the reference."""
    if version == 1:
        return _all_differ(coding, _is_text)
    return (
        isinstance(coding, dict)
        and set(coding) == {"levels", "reference"}
        and _all_differ(coding["levels"], _is_text)
        and coding["reference"] in (None, *coding["levels"])
    )


def _requirements(record: dict[str, Any]) -> Iterator[tuple[bool, str]]:
    """Yield what must hold of a model's object; each may rely on those before it."""
    yield (
        record.get("format") == FORMAT,
        "written by `linsep fit`, got other JSON; check the path",
    )
    version = record.get("version")
    yield (
        type(version) is int and version in VERSIONS,
        f"of a version up to {VERSIONS[-1]}, got {version!r:.40}; update linsep",
    )
    coding = "dummies" if version == 1 else "levels"
    more = {"kernel", "landmarks"} if version == 3 else set()
    odd = sorted((set(record) - {"fit"}) ^ {*_ENTRIES, coding, *more})
    yield (
        not odd,
        f"with every part and no other, got one where these are missing or unknown: "
        f"{odd!s:.200}; fit again",
    )
    broken = "got a broken one; fit again"
    classes, names = record["classes"], record["feature_names"]
    codings = record[coding]
    yield _is_text(record["target"]), f"whose target is a text, {broken}"
    yield (
        _all_differ(classes, _is_label),
        f"whose classes are texts, numbers or truth values, all different, {broken}",
    )
    yield (
        names == [] or _all_differ(names, _is_text),
        f"whose feature_names are texts, all different, {broken}",
    )
    yield (
        isinstance(codings, dict)
        and all(_is_coding(version, of) for of in codings.values())
        and {
            name for column, of in _levels(record).items() for name in of.names(column)
        }
        <= set(names),
        f"whose {coding} give levels by column, each among its feature_names, {broken}",
    )
    coef, intercept = record["coef"], record["intercept"]
    yield (
        isinstance(coef, list) and all(map(are_numbers, [*coef, intercept])),
        f"whose coef and intercept are lists of numbers, {broken}",
    )
    if version == 3:
        yield from kernel_requirements(record)
    width = len(record.get("landmarks", names))
    shapes = [len(row) for row in coef]
    wanted = {len(classes), 1} if len(classes) == 2 else {len(classes)}
    yield (
        set(shapes) == {width}
        and {len(coef), len(intercept)} <= wanted
        and len(coef) == len(intercept),
        f"of one coefficient a column, or landmark, and class, got {len(coef)} rows of "
        f"{sorted(set(shapes))[:8]} coefficients and {len(intercept)} intercepts for "
        f"{width} columns or landmarks and {len(classes)} classes; fit again",
    )
    status = record.get("fit", {})
    yield (
        isinstance(status, dict) and all(map(_is_note, [*status, *status.values()])),
        f"whose fit holds texts, numbers, truth values and lists of them, {broken}",
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


def _all_differ(values: object, is_one: Callable[[object], bool]) -> bool:
    """Tell whether this is a list of such values, at least one, all different."""
    return (
        isinstance(values, list)
        and all(map(is_one, values))
        and 0 < len(set(values)) == len(values)
    )
