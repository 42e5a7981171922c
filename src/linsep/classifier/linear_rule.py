"""What a fitted classifier does: predict, give probabilities, show what is proved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from linsep.arrays import Floats
from linsep.classifier.kernel_fits import KernelLike, KernelSpace
from linsep.classifier.probabilities import log_probabilities
from linsep.input import InputError, check_features
from linsep.input.levels import Columns
from linsep.input.types import FeaturesLike
from linsep.result import Separation
from linsep.rows.device import moved_to, namespace_of, to_numpy


def is_dispatched(X: Any) -> bool:
    """Tell whether what is made of rows goes back to the library they come from."""
    return bool(get_config()["array_api_dispatch"]) and namespace_of(X) is not None


def _place(X: Any) -> Any:
    """Return the library and the device of an array, both None on the processor."""
    xp = namespace_of(X)
    return xp, None if xp is None else getattr(X, "device", None)


class LinearRule(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision that is linear in the features, or in kernels at landmarks.

    A fit sets ``classes_``, ``intercept_``, ``separation_``, ``coef_`` or
    ``dual_coef_``, and privately the feature space, None for the columns themselves.

    With scikit-learn's ``array_api_dispatch`` these arrays and all that is predicted
    are of the library of the rows, and where the rows are.
    """

    objective: str
    nu: float | str
    temperature: float | str
    kernel: KernelLike
    classes_: NDArray[Any]
    intercept_: Floats
    separation_: Separation | tuple[Separation, ...]
    coef_: Floats
    dual_coef_: Floats
    _space: KernelSpace | None
    _columns: Columns | None  # those of a frame or a file that was coded

    def decision_function(self, X: FeaturesLike) -> Floats:
        """Return signed decision values.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)
            Or the Gram matrix with the training rows, for a precomputed kernel.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Positive for ``classes_[1]``; with many classes the largest one wins.
        """
        return self._scores(X, "decision_function")

    def _scores(self, X: Any, method: str) -> Floats:
        """Return decision values for a method, where the rows are."""
        check_is_fitted(self)
        if get_config()["array_api_dispatch"]:
            self._require_same_place(X, method)
        if self._columns is not None:
            names = tuple(self.feature_names_in_)
            X = check_features(X, len(names), names, self._columns)
        else:
            xp = namespace_of(X) if is_dispatched(X) else np
            X = validate_data(
                self,
                X,
                accept_sparse="csr" if self.kernel != "precomputed" else False,
                dtype=[xp.float64, xp.float32],
                reset=False,
            )
        if self._space is not None:
            X = moved_to(X, self._space.features(to_numpy(X)))
        return self._decide(X)

    def _decide(self, features: Any) -> Floats:
        coef, intercept = self._coef, self.intercept_
        xp = namespace_of(features)
        if xp is None:
            coef, intercept = to_numpy(coef), to_numpy(intercept)
        else:
            features = xp.asarray(features, dtype=coef.dtype)
        scores: Floats = features @ coef.T + intercept
        return scores[:, 0] if scores.shape[1] == 1 else scores

    @property
    def _coef(self) -> Floats:
        return self.coef_ if self._space is None else self.dual_coef_

    def _require_same_place(self, X: Any, method: str) -> None:
        """Raise unless rows are of the library, and on the device, of those fitted."""
        if _place(X) != _place(self._coef):
            raise InputError(
                f"rows passed to {type(self).__name__}.{method}() must use the same "
                "namespace and device as those fitted, whose coefficients are a "
                f"{type(self._coef).__name__}, got a {type(X).__name__}; move them "
                "there, or leave array_api_dispatch off"
            )

    def _move_to(self, X: Any, y: Any) -> None:
        """Bring the arrays of a fit to where its rows are, the classes if numbers."""
        for name, value in list(vars(self).items()):
            is_moved = name != "classes_" or namespace_of(y) is not None
            if is_moved and isinstance(value, np.ndarray) and value.dtype != object:
                setattr(self, name, moved_to(X, value))

    def predict(self, X: FeaturesLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self._scores(X, "predict")
        values, classes = to_numpy(scores), to_numpy(self.classes_)
        if len(classes) == 1:
            codes = np.zeros(len(values), dtype=np.intp)
        elif values.ndim == 1:
            codes = (values > 0).astype(np.intp)
        else:
            codes = values.argmax(axis=1)
        predicted: NDArray[Any] = classes[codes]
        if namespace_of(self.classes_) is None:  # as names, which are no numbers
            return predicted
        return moved_to(scores, predicted)  # type: ignore[no-any-return]

    def _has_probabilities(self) -> bool:
        """Tell whether the fit is a logistic regression; else say what to do."""
        if (self.objective, self.nu, self.temperature) == (
            "soft_margin",
            *2 * ["auto"],
        ):
            return True
        raise AttributeError(
            "predict_proba is that of the logistic regression, which objective="
            "'soft_margin' fits where nu and temperature are 'auto'; wrap this fit in "
            "sklearn.calibration.CalibratedClassifierCV"
        )

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: FeaturesLike) -> Floats:
        """Return the probability of each class; see the notes above.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._probabilities(X, np.exp, "predict_proba")

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: FeaturesLike) -> Floats:
        """Return logarithms of the probabilities; see `predict_proba`."""
        return self._probabilities(X, np.asarray, "predict_log_proba")

    def _probabilities(self, X: Any, of_logs: Any, method: str) -> Floats:
        """Return a function of the logarithms of probabilities, where the rows are."""
        scores = self._scores(X, method)
        values = to_numpy(scores)
        if self.classes_.shape[0] == 1:
            logs = np.zeros((len(values), 1))
        else:
            logs = log_probabilities(values, joint=hasattr(self, "pairs_"))
        found: Floats = moved_to(scores, of_logs(logs))
        return found

    def _verdict(self) -> str:
        """Return what was proved, as HTML; nothing before a fit."""
        from html import escape

        found: Separation | tuple[Separation, ...] = getattr(self, "separation_", ())
        answers = found if isinstance(found, tuple) else (found,)
        return "".join(f"<p>{escape(answer.message)}</p>" for answer in answers)

    def _repr_html_inner(self) -> str:
        return self._verdict() + str(super()._repr_html_inner())

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = self._verdict() + bundle["text/html"]
        return bundle

    def __sklearn_tags__(self) -> Any:
        """Say what the estimator accepts."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.array_api_support = True
        return tags
