"""`OptimisticPerceptron`: the classifier, as scikit-learn has them."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from linsep.arrays import Floats, Index
from linsep.classifier.fit_warnings import warn_of
from linsep.classifier.fitted import Fitted, Settings, smallest_margin
from linsep.classifier.kernel_fits import Kernel, KernelLike, fit_kernel
from linsep.classifier.linear_rule import LinearRule, is_dispatched
from linsep.classifier.many_classes import fit_joint
from linsep.classifier.row_weights import ClassWeight, class_factors, units_of
from linsep.classifier.samples import Samples
from linsep.classifier.streamed import fit_streamed
from linsep.classifier.two_classes import fit_each_side
from linsep.input import InputError, Problem
from linsep.input.levels import Columns
from linsep.input.problem import streamed_problem, tabulated
from linsep.input.row_names import require_same_index, row_names_of
from linsep.input.types import FeaturesLike, LabelsLike, WeightsLike
from linsep.result import Progress
from linsep.rows.device import DeviceRows, to_numpy
from linsep.solvers.bounds import norm
from linsep.solvers.soft_margin.tempered import TEMPERATURE

KERNELS = {"linear", "rbf", "poly", "precomputed"}


class OptimisticPerceptron(LinearRule):
    r"""Linear classifier that predicts well, and proves whether the classes separate.

    The default is a logistic regression (linear discriminants, of wide dense rows) with
    ridge penalties that leave-one-out weighs; beside it stands a proof of whether any
    hyperplane separates the rows. On request the largest margin, where there is one:

    .. math::

        \max_{\|w\| = 1,\, b}\; \min_i\; y_i (w \cdot x_i + b).

    Or the learner is judged by the mean of the worst share ``nu`` of the margins
    instead of the very worst, which is the nu-support vector machine:

    .. math::

        \max_{\|w\| = 1,\, b}\; \min_{p \in \Delta,\; p_i \le c_i / (\nu \sum c)}\;
        \sum_i p_i\, y_i (w \cdot x_i + b) \;=\;
        \min_{p}\; \left\| \sum_i p_i y_i x_i \right\|,

    ``c`` the sample weights; a `temperature` ``T`` adds ``T KL(p || c)`` to the payoff.
    Both sides are computed, so the gap is known.

    Parameters
    ----------
    objective : {"soft_margin", "max_margin", "separate"}, default="soft_margin"
        "soft_margin" predicts new rows as well as it can, separable or not. The others
        ask of separable classes the largest margin, in the units of the features, or
        any hyperplane that separates, which takes less time on large data; of others,
        the soft margin of the smallest share that pays, with a warning.
    nu : float or "auto", default="auto"
        The share of margins that are judged, in (0, 1]; at most twice the smaller
        class's share (for K classes K times the smallest's). "auto" fits the logistic
        regression, or, with a temperature given or another objective, takes the
        smallest share that pays: just above the one at which the worst margins of the
        direction found have a positive mean. It is reported as ``nu_``.
    temperature : float or "auto", default="auto"
        What it costs the data player to leave the sample's own weights, in standard
        deviations of the margins within their classes. 0 is the capped game itself,
        the nu-support vector machine. Above 0 its answer is exponential weights under
        the caps, which smooths the loss. "auto" is 0 where a share is given; where a
        hard objective finds no separator, 0.5.
    class_weight : dict, "balanced" or None, default=None
        What the rows of each class weigh, times `sample_weight`; classes left out of a
        dict weigh 1. "balanced" lets all classes weigh the same in sum. A share `nu`
        that classes so weighted do not allow is lowered to the largest they do; of two
        classes the heavier then has the whole margin.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable, default="linear"
        Kernel; a callable takes two arrays of rows and returns their Gram matrix.
    gamma : float or "scale", default="scale"
        Of "rbf" and "poly"; "scale" is ``1 / (n_features * X.var())``.
    degree : int, default=3
        Of "poly".
    coef0 : float, default=1.0
        Of "poly".
    multi_class : {"joint", "ovr"}, default="joint"
        Many classes as one problem, every row against every other class, or each class
        against the rest. One-vs-rest asks for more than separability: penguins are
        separable jointly while two of their three one-vs-rest problems are not.
    fit_intercept : bool, default=True
        Whether hyperplanes may miss the origin; the intercept is never penalised.
    standardize : bool, default=True
        Whether every column is divided by its standard deviation (within classes for
        the logistic regression), so that units do not matter. Separation and the
        largest margin are always in the units of the features. No effect with other
        kernels than "linear", nor on sparse rows of more than 300 columns: scaled up,
        their rare columns would outweigh all others.
    tol : float, default=1e-4
        Relative width at which the margin's interval is narrow enough: of the largest
        margin where the classes are separated, else of the mean of the worst share of
        the margins (the capped game's value, ``value_bounds_``).
    max_passes : int, default=100
        Sweeps over all rows at most, in the search for a separator.
    time_limit : float or None, default=None
        Seconds at most for that search. Beside a logistic regression it has in any case
        no more than 1.5 times as long as that took, or a quarter of a second (2
        seconds where rows are few).
    random_state : int, RandomState instance or None, default=None
        Draws the working set's sample; None is the same as 0: fits repeat.
    verbose : int, default=0
        Above 0 each sweep prints a line.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Only with the linear kernel.
    intercept_ : ndarray of shape (1,) or (n_classes,)
    dual_coef_ : ndarray of shape (1, n_landmarks) or (n_classes, n_landmarks)
        Only with other kernels: the coefficients of the kernel at ``landmarks_``.
    landmarks_ : ndarray of int
        Training rows (columns of a precomputed kernel) that the function is made of.
    separation_ : Separation or tuple of Separation
        The full answer: whether the classes are separable, and the proof; "undecided",
        with the reason, if there was no time for one. A tuple, one for each class, with
        ``multi_class="ovr"`` and more than two classes. Of a joint problem its rows are
        the ``pairs_``.
    pairs_ : ndarray of shape (n_pairs, 2)
        Only for a joint problem: the training row and the class it is held against.
    margin_ : float
        The smallest signed distance of a training row from the hyperplane (of the
        decision from a tie, for many classes), in the units of the features;
        positive when they are separated.
    support_ : ndarray of int
        Training rows that carry the solution.
    penalty_ : float, None, or tuple
        The penalty, of a regression the geometric mean, in units of the mean square
        length of the rows, standardised; None where none was fitted.
    nu_ : float, None, or tuple
        The share used; None where none is.
    temperature_ : float or tuple
        What a nat (of the Kullback-Leibler divergence from the sample's weights) cost
        the data player, in standardised units; 0 where nothing.
    value_bounds_ : tuple of two floats, None, or tuple of them
        The interval that holds the value of the game played, in standardised units.
    n_iter_ : int
        Rounds, steps and linear systems solved.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Warns
    -----
    FitWarning
        If a limit ended the search for a proof; if separation was asked for
        (`objective`) and cannot be had or is undecided; if an interval could not be
        closed to `tol`. That classes overlap is no reason in itself.

    Notes
    -----
    Probabilities, `predict_proba`, are those of the default fit. Its penalties are
    weighed by the probabilities that rows get when they are left out, so they are about
    calibrated wherever log-odds are about linear; with `class_weight` they are those of
    classes so weighted. Other fits have none:
    ``sklearn.calibration.CalibratedClassifierCV`` gives them some.

    One class alone is fitted too, unlike by scikit-learn's own linear models: it is
    predicted for every row, and ``separation_`` says so.

    With ``sklearn.set_config(array_api_dispatch=True)`` rows may be arrays of PyTorch,
    CuPy or others of the array API: they are fitted on the processor; what is fitted
    and predicted goes where they are.

    There is no ``partial_fit``: a proof about all rows cannot be had from some of them.
    Rows of zero weight count as absent, equal rows count once with their weights added.
    A separation proved with a kernel is one of the Gram matrix as given: the signs of
    ``K @ dual_coef + intercept`` are exact for the numbers that the kernel returned.

    References
    ----------
    Hanashiro & Abernethy, "Linear Separation via Optimism" (2020). Schölkopf, Smola,
    Williamson & Bartlett, "New support vector algorithms", Neural Computation 12
    (2000), doi:10.1162/089976600300015565.

    Examples
    --------
    >>> from linsep import OptimisticPerceptron
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> model = OptimisticPerceptron().fit(X, y)
    >>> model.predict([[2.5]]).tolist(), model.separation_.proved
    (['yes'], True)
    >>> hard = OptimisticPerceptron("max_margin").fit(X, y)
    >>> print(round(hard.margin_, 6))
    1.0
    """

    _parameter_constraints: dict[str, list[Any]] = {  # noqa: RUF012
        "objective": [StrOptions({"soft_margin", "separate", "max_margin"})],
        "nu": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="right")],
        "temperature": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "kernel": [StrOptions(KERNELS), callable],
        "gamma": [StrOptions({"scale"}), Interval(Real, 0, None, closed="neither")],
        "degree": [Interval(Integral, 1, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "multi_class": [StrOptions({"joint", "ovr"})],
        "fit_intercept": ["boolean"],
        "standardize": ["boolean"],
        "tol": [Interval(Real, 0, 1, closed="neither")],
        "max_passes": [Interval(Integral, 1, None, closed="left")],
        "time_limit": [None, Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        objective: str = "soft_margin",
        *,
        nu: float | str = "auto",
        temperature: float | str = "auto",
        class_weight: ClassWeight = None,
        kernel: KernelLike = "linear",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 1.0,
        multi_class: str = "joint",
        fit_intercept: bool = True,
        standardize: bool = True,
        tol: float = 1e-4,
        max_passes: int = 100,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.objective = objective
        self.nu = nu
        self.temperature = temperature
        self.class_weight = class_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_passes = max_passes
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self, X: FeaturesLike, y: LabelsLike, sample_weight: WeightsLike | None = None
    ) -> OptimisticPerceptron:
        """Fit the classifier.

        Parameters
        ----------
        X : array-like, sparse matrix, frame or source, shape (n_samples, n_features)
            Or the Gram matrix, (n_samples, n_samples), with ``kernel="precomputed"``.
            Text and categories in a frame become columns of 0 and 1, as for
            `linsep.separate`; ``feature_names_in_`` are those of the columns made.
            Of sources that `linsep.separate` reads in batches, or that lie on a
            cluster, what is proved is about all rows; a regression or a soft margin is
            fitted to 20,000 rows drawn at random, or 100 a column.
        y : array-like of shape (n_samples,), or str
            Labels, or the name of a column of the frame.
        sample_weight : array-like of shape (n_samples,) or None, default=None
            Non-negative weights; zero means absent.

        Returns
        -------
        self
        """
        self._validate_params()
        if is_dispatched(X):
            self.fit(to_numpy(X), to_numpy(y), to_numpy(sample_weight))
            self._move_to(X, y)
            return self
        streamed = streamed_problem(X, y, bool(self.fit_intercept))
        if streamed is not None and not isinstance(streamed.rows, DeviceRows):
            self._fit_streamed(streamed, sample_weight)
            return self
        require_same_index(X, "sample_weight", sample_weight)
        table, y = tabulated(X, y, bool(self.fit_intercept), "refuse", needs_all=True)
        rows, given = validate_data(
            self,
            X if table is None else table.X,
            y,
            accept_sparse="csr" if self.kernel != "precomputed" else False,
            dtype=[np.float64, np.float32],
            order="C",
        )
        self._columns = None
        if table is not None:
            self._columns = Columns(table.columns, table.levels)
            self.feature_names_in_ = np.array(table.feature_names, dtype=object)
        is_whole = given.dtype.kind in "biu"
        if not is_whole:
            check_classification_targets(given)
        weights = _check_sample_weight(
            sample_weight, rows, dtype=np.float64, ensure_non_negative=True
        )
        present = weights > 0
        if not present.any():
            raise InputError(
                "sample_weight must be positive for some row, got zeros only; zero "
                "means that a row is absent"
            )
        self.classes_ = np.unique(np.asarray(given)[present])
        if is_whole and 2 * self.classes_.size > len(given):
            check_classification_targets(given)  # warns of as many
        held = np.where(present, given, self.classes_[0])
        labels = np.searchsorted(self.classes_, held).astype(np.intp)
        factors = class_factors(self.class_weight, self.classes_, labels, weights)
        weighted = weights * factors[labels], units_of(weights) * factors[labels]
        settings = replace(self._settings(), row_names=row_names_of(X))
        if self.kernel == "linear":
            self._fit_linear(rows, labels, *weighted, settings)
        else:
            self._fit_kernel(rows, labels, *weighted, settings)
        return self

    def _fit_streamed(self, problem: Problem, sample_weight: object) -> None:
        """Fit two classes of rows that are read in batches."""
        given = {"sample_weight": sample_weight, "class_weight": self.class_weight}
        given["kernel"] = None if self.kernel == "linear" else self.kernel
        for name, value in given.items():
            if value is not None:
                raise InputError(
                    f"{name} goes with data held in memory, got X that is read in "
                    "batches; leave it out"
                )
        settings = self._settings()
        self._space, self._columns = None, problem.columns
        self.classes_, self.n_features_in_ = problem.classes, problem.n_features
        if problem.feature_names is not None:
            self.feature_names_in_ = np.array(problem.feature_names, dtype=object)
        fit, self.margin_ = fit_streamed(problem, settings)
        self.coef_ = self._take([fit], settings)

    def _fit_linear(
        self, X: Any, labels: Index, weights: Floats, units: Floats, settings: Settings
    ) -> None:
        self._space = None
        if len(self.classes_) > 2 and settings.multi_class == "joint":
            samples = Samples.of(X, labels, weights, units)
            fits = [fit_joint(samples, self.classes_, settings)]
        else:
            names = getattr(self, "feature_names_in_", None)
            columns = None if names is None else tuple(map(str, names))
            given = X, labels, weights, units, self.classes_, columns, settings
            fits = fit_each_side(*given)
        self.coef_ = self._take(fits, settings)
        kept = np.flatnonzero(weights > 0)
        self._measure(X if kept.size == len(labels) else X[kept], labels[kept])

    def _fit_kernel(
        self, X: Any, labels: Index, weights: Floats, units: Floats, settings: Settings
    ) -> None:
        kernel = Kernel(self.kernel, self.gamma, self.degree, self.coef0)
        given = X, labels, weights, units, self.classes_, settings
        fits, self._space, features, samples = fit_kernel(kernel, *given)
        self.dual_coef_ = self._take(fits, settings)
        self.landmarks_ = self._space.landmarks
        self._measure(features, samples.labels)

    def _settings(self) -> Settings:
        seed = 0
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        temperature: float | None = None
        if not isinstance(self.temperature, str):
            temperature = float(self.temperature)
        elif not isinstance(self.nu, str):
            temperature = 0.0
        elif self.objective != "soft_margin":
            temperature = TEMPERATURE
        return Settings(
            objective=self.objective,
            nu=None if isinstance(self.nu, str) else float(self.nu),
            temperature=temperature,
            multi_class=self.multi_class,
            fit_intercept=bool(self.fit_intercept),
            standardize=bool(self.standardize) and self.kernel == "linear",
            tol=float(self.tol),
            max_passes=int(self.max_passes),
            time_limit=self.time_limit,
            seed=seed,
            callback=_print_pass if self.verbose else None,
            is_class_weighted=self.class_weight is not None,
        )

    def _take(self, fits: list[Fitted], settings: Settings) -> Floats:
        """Set the attributes that every kind of fit has, warn, return coefficients."""
        single = len(fits) == 1
        self.intercept_ = np.concatenate([one.intercept for one in fits])
        carriers = np.concatenate([one.support for one in fits])
        self.support_ = np.flatnonzero(np.bincount(carriers))
        self.n_iter_ = max(1, sum(one.n_iter for one in fits))

        def of(values: list[Any]) -> Any:
            return values[0] if single else tuple(values)

        self.separation_ = of([one.separation for one in fits])
        self.nu_ = of([one.nu for one in fits])
        self.temperature_ = of([one.temperature for one in fits])
        self.value_bounds_ = of([one.value for one in fits])
        self.penalty_ = of([one.penalty for one in fits])
        if fits[0].pairs is not None:
            self.pairs_ = fits[0].pairs
        warn_of(fits, settings)
        return np.vstack([one.coef for one in fits])

    def _measure(self, features: Any, labels: Index) -> None:
        """Set the margin of the training rows."""
        if len(self.classes_) == 1:
            self.margin_ = float("inf")
            return
        coef = self._coef
        against = coef if len(coef) > 1 else np.zeros_like(coef)
        lengths = np.array(
            [[self._length(own - other) for other in against] for own in coef]
        )
        self.margin_ = smallest_margin(self._decide(features), labels, lengths)

    def _length(self, coef: Floats) -> float:
        """Return the norm in the feature space."""
        return norm(coef) if self._space is None else self._space.length(coef)


def _print_pass(state: Progress) -> None:
    """Print how far the search is."""
    print(
        f"pass {state.n_passes}: {state.n_rounds} rounds, {state.n_working} rows held, "
        f"margin in [{state.margin_lower:.6g}, {state.margin_upper:.6g}]"
    )
