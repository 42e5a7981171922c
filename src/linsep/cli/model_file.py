"""A fitted linear classifier as a plain JSON file: names and numbers, no code.

The file holds what a prediction needs and what a reader wants to know: the classes, the
columns in their order, how columns of text were coded, coefficients, and the status of
the fit. Numbers are written with the digits that give the same double back.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linsep.input import InputError, check_features
from linsep.whole_files import whole_file

FORMAT = "linsep-linear-classifier"
VERSION = 1


@dataclass(frozen=True)
class LinearModel:
    """A linear decision rule.

    Attributes
    ----------
    classes : tuple
        Labels: texts, numbers or booleans.
    coef : ndarray of shape (1, d) or (n_classes, d)
    intercept : ndarray of shape (1,) or (n_classes,)
    feature_names : tuple of str
    target : str
        The name of the labels' column.
    dummies : mapping of str to sequence of str
        Columns of text, and the levels that became 0/1 columns.
    status : dict
        What was proved when it was fitted.
    """

    classes: tuple[Any, ...]
    coef: NDArray[np.float64]
    intercept: NDArray[np.float64]
    feature_names: tuple[str, ...]
    target: str
    dummies: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    status: Mapping[str, Any] = field(default_factory=dict)

    def decisions(self, X: Any) -> NDArray[np.float64]:
        """Return decision values, shape (n_samples,) or (n_samples, n_classes)."""
        features = check_features(X, self.coef.shape[1])
        scores = np.asarray(features @ self.coef.T) + self.intercept
        return scores.ravel() if len(self.coef) == 1 else scores

    def predict(self, X: Any) -> list[Any]:
        """Return the label of each row."""
        scores = self.decisions(X)
        if scores.ndim == 1:
            chosen = (
                (scores > 0).astype(np.intp) if len(self.classes) > 1 else scores * 0
            )
        else:
            chosen = scores.argmax(axis=1)
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
        try:
            record = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
            raise InputError(
                f"{path} must be a model written by `linsep fit`, got: {error}; check "
                "the path"
            ) from error
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise InputError(
                f"{path} must be a model written by `linsep fit`, got other JSON; "
                "check the path"
            )
        if record.get("version") != VERSION:
            raise InputError(
                f"{path} must be a model of version {VERSION}, got "
                f"{record.get('version')!r}; update linsep"
            )
        return cls._from(record, path)

    @classmethod
    def _from(cls, record: dict[str, Any], path: Path) -> LinearModel:
        try:
            coef = np.array(record["coef"], dtype=np.float64, ndmin=2)
            intercept = np.array(record["intercept"], dtype=np.float64)
            names = tuple(map(str, record["feature_names"]))
            classes = tuple(record["classes"])
            dummies = {k: tuple(v) for k, v in record["dummies"].items()}
            fits = (
                coef.shape == (intercept.size, len(names))
                and (
                    coef.shape[0] == len(classes)
                    or (coef.shape[0] == 1 and len(classes) <= 2)
                )
                and bool(np.isfinite(coef).all() and np.isfinite(intercept).all())
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"{path} must hold every part of a model, got a broken one "
                f"({error!r}); fit again"
            ) from error
        if not fits:
            raise InputError(
                f"{path} must hold one coefficient a column and class, all finite, got "
                f"shapes {coef.shape} and {intercept.shape} for {len(names)} columns "
                f"and {len(classes)} classes; fit again"
            )
        return cls(
            classes,
            coef,
            intercept,
            names,
            str(record["target"]),
            dummies,
            record.get("fit", {}),
        )


def plain(value: Any) -> Any:
    """Return a label or number as JSON has it; infinities become None."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
