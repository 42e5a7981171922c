"""`separate`: the pipeline from data to a proved verdict.

1. Validate: the user's data become signed rows (`linsep.input`).
2. Few dense rows: a few rounds on all of them (`linsep.solvers.opening`). What these
   find is proved as in 4 and 5, of a few plain numbers `at_once`; else:
3. Gather a working set and solve it (`linsep.solvers`): a hyperplane or a conflict.
4. A conflict is settled exactly; if it stands, no hyperplane exists: done.
5. Otherwise one sweep over all rows. None violated: the hyperplane is checked exactly
   where rounding leaves a doubt, and that sweep is the proof: done.
6. Rows found violated, and near-violators, join the working set; back to 3.

When floating point can make no progress on the working set, exact arithmetic takes over
(`linsep.proof.ladder`), and ends it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from os import PathLike

from linsep.input import checked_seed, problem_from
from linsep.input.types import FeaturesLike, LabelsLike, WeightsLike
from linsep.result import Separation
from linsep.search.answers import Verdict, answered
from linsep.search.checkpoint import find_from_checkpoint
from linsep.search.limits import Callback, Monitor
from linsep.search.opening_first import at_once
from linsep.search.separator_search import MOST_SETTLED, find_separator


def separate(
    X: FeaturesLike,
    y: LabelsLike,
    *,
    fit_intercept: bool = True,
    sample_weight: WeightsLike | None = None,
    feature_names: Sequence[str] | None = None,
    missing: str = "refuse",
    max_memory: int | None = None,
    checkpoint: str | PathLike[str] | None = None,
    minimal_conflict: bool = False,
    max_passes: int = 100,
    max_rounds: int | None = None,
    time_limit: float | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
) -> Separation:
    """Find a hyperplane that separates two classes, or prove that there is none.

    Looks for ``coef`` and ``intercept`` with ``y_i (coef . x_i + intercept) > 0`` for
    every row, the classes coded -1 and +1. By Gordan's theorem either they exist, or
    there are weights ``p >= 0``, ``sum p = 1``, with ``sum_i p_i y_i (x_i, 1) = 0``;
    the answer carries whichever does, after a check in exact arithmetic on the numbers
    as given.

    Parameters
    ----------
    X : array-like, sparse matrix, frame, path or source, shape (n_samples, n_features)
        Finite numbers; float32 and float64 arrays are read in place, never copied.
        Frames and files may hold text and categories, as `linsep.read_table` says.
        Sources are read in batches, once a sweep: a folder of files or a pattern of
        paths, a `pyarrow.dataset.Dataset`, a relation of DuckDB, or a callable that
        returns a fresh Arrow stream each time. Collections of Dask, Ray and
        Spark, and arrays on a device stay where they are; :doc:`/scale` says more.
    y : array-like of shape (n_samples,), or str
        Labels of at most two classes, or the name of a frame's or file's column.
    fit_intercept : bool, default=True
        Whether the hyperplane may miss the origin.
    sample_weight : array-like of shape (n_samples,) or None, default=None
        Rows of weight zero count as absent; no other weight matters, >= 0.
    feature_names : sequence of str or None, default=None
        Names of the columns, in place of a frame's or a file's.
    missing : {"refuse", "drop"}, default="refuse"
        What to do with rows of a frame, a file or an array that lack a value.
    max_memory : int or None, default=None
        Bytes that reading a source may take, > 0; None is a tenth of what is free, and
        at most 512 MB.
    checkpoint : path-like or None, default=None
        A file to write down after each sweep how far the search is, and to go on from
        if it is there; one of other data or of another version is refused.
    minimal_conflict : bool, default=False
        Whether a conflict of more than 500 rows is looked for too, which may take
        minutes; else one factorisation proves that no hyperplane separates.
    max_passes : int, default=100
        Sweeps over all rows at most, >= 1.
    max_rounds : int or None, default=None
        Rounds of the solvers at most, >= 1; None sets no limit of its own (the solvers
        are finite).
    time_limit : float or None, default=None
        Seconds at most, > 0. It is looked at between steps: one sweep, factorisation
        or exact solve is not cut short, so data of hundreds of columns may overrun it.
    random_state : int or None, default=None
        Seed of the working set's sample; None is the same as 0. The answer is the same
        from run to run on one machine.
    callback : callable or None, default=None
        Called with a `Progress` after each sweep, and from time to time in between; a
        true return value stops the search.

    Returns
    -------
    Separation
        Never raises for lack of an answer: a limit, a callback or Ctrl-C gives the
        status "undecided" with the margin interval found so far.

    Raises
    ------
    InputError
        If the data or an argument cannot be used; a ValueError whose text says what
        must hold, what was received, and what to do.

    Notes
    -----
    A sweep costs O(n d); rows are gathered between sweeps, not counted as one. The
    number of sweeps does not depend on the margin in practice (four to seven), and
    Clarkson's reweighting bounds it by O(d log n) in expectation.

    References
    ----------
    Hanashiro & Abernethy, "Linear Separation via Optimism" (2020). Gordan, "Ueber die
    Auflösung linearer Gleichungen mit reellen Coefficienten" (1873).

    Examples
    --------
    >>> import linsep
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> answer = linsep.separate(X, y)
    >>> answer.status.value, answer.proved
    ('separable', True)
    >>> bool(answer.decision_function([[10.0]])[0] > 0)
    True
    >>> linsep.separate([[0.0], [1.0], [2.0]], [0, 1, 0]).conflict.tolist()
    [0, 1, 2]
    """
    most_settled = sys.maxsize if minimal_conflict else MOST_SETTLED
    if (
        (sample_weight is None and feature_names is None and max_memory is None)
        and (checkpoint is None and max_rounds is None)
        and (random_state is None and callback is None)
    ):
        limits = max_passes, time_limit
        answer = at_once(X, y, fit_intercept, missing, *limits, most_settled)
        if answer is not None:
            return answer
    monitor = Monitor.checked(
        callback, max_passes=max_passes, max_rounds=max_rounds, time_limit=time_limit
    )
    search: Callable[..., Verdict] = find_separator
    if checkpoint is not None:
        search = partial(find_from_checkpoint, path=checkpoint)
    find = partial(
        search,
        monitor=monitor,
        rng=checked_seed(random_state),
        most_settled=most_settled,
    )
    read = partial(
        problem_from,
        X,
        y,
        fit_intercept=fit_intercept,
        sample_weight=sample_weight,
        feature_names=feature_names,
        missing=missing,
        max_memory=max_memory,
    )
    return answered(read, find, monitor, Separation, bool(fit_intercept))
