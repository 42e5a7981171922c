"""What a fitted classifier does: predict, give probabilities, show what is proved."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from linsep.classifier.kernel_fits import KernelLike, KernelSpace
from linsep.classifier.probabilities import log_probabilities
from linsep.input import check_features
from linsep.input.levels import Columns
from linsep.input.types import FeaturesLike
from linsep.result import Separation


class LinearRule(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A decision that is linear in the features, or in kernels at landmarks.

    A fit sets ``classes_``, ``intercept_``, ``separation_``, and privately the
    coefficients and the feature space, None for the columns themselves.
    """

    objective: str
    nu: float | str
    temperature: float | str
    kernel: KernelLike
    classes_: NDArray[Any]
    intercept_: NDArray[np.float64]
    separation_: Separation | tuple[Separation, ...]
    _coef: NDArray[np.float64]
    _space: KernelSpace | None
    _columns: Columns | None  # those of a frame or a file that was coded

    def decision_function(self, X: FeaturesLike) -> NDArray[np.float64]:
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
        check_is_fitted(self)
        if self._columns is not None:
            names = tuple(self.feature_names_in_)
            X = check_features(X, len(names), names, self._columns)
        else:
            X = validate_data(
                self,
                X,
                accept_sparse="csr" if self.kernel != "precomputed" else False,
                dtype=[np.float64, np.float32],
                reset=False,
            )
        return self._decide(X if self._space is None else self._space.features(X))

    def _decide(self, features: Any) -> NDArray[np.float64]:
        scores: NDArray[np.float64] = features @ self._coef.T + self.intercept_
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X: FeaturesLike) -> NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        if scores.ndim == 1:
            return np.asarray(self.classes_[(scores > 0).astype(np.intp)])
        return np.asarray(self.classes_[scores.argmax(axis=1)])

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
    def predict_proba(self, X: FeaturesLike) -> NDArray[np.float64]:
        """Return the probability of each class; see the notes above.

        Parameters
        ----------
        X : array-like, sparse matrix or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return np.asarray(np.exp(self.predict_log_proba(X)))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: FeaturesLike) -> NDArray[np.float64]:
        """Return logarithms of the probabilities; see `predict_proba`."""
        scores = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.zeros((len(scores), 1))
        return log_probabilities(scores, joint=hasattr(self, "pairs_"))

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
        return tags
