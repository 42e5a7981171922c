"""Data of two classes that come with the truth about them.

Every generator returns a `Dataset`: the rows, the labels, and what is known for
certain (separable or not, a margin, a separator, a conflict), by a construction that
its docstring gives with the reason why it is true. They are seeded by
``random_state``, an integer or a NumPy generator; None is the seed 0.
``fit_intercept`` says whether the truth is about hyperplanes that may miss the origin.

Separable by a planted hyperplane, or spoilt on purpose:

- `planted_margin`, `planted_overlap`, `flipped_labels`: Gaussian rows, any size.

Exponentially small margins:

- `paper_rows`: the data set (2) of "Linear Separation via Optimism".
- `mixed_paper_rows`: the same, mixed by a unimodular matrix.
- `odd_max_bit`, `threshold_rows`: threshold functions.

Every answer known:

- `boolean_function`: any Boolean function of up to eight inputs.
- `moment_curve`: points in general position with any labels.
- `cover_count`, `threshold_function_count`: how many are separable.
"""

from linsep.lab.datasets.boolean import boolean_function, odd_max_bit, threshold_rows
from linsep.lab.datasets.paper import mixed_paper_rows, paper_rows
from linsep.lab.datasets.planted import flipped_labels, planted_margin, planted_overlap
from linsep.lab.datasets.position import (
    cover_count,
    moment_curve,
    threshold_function_count,
)
from linsep.lab.datasets.record import SEED, Dataset

__all__ = [
    "SEED", "Dataset", "boolean_function", "cover_count", "flipped_labels",
    "mixed_paper_rows", "moment_curve", "odd_max_bit", "paper_rows", "planted_margin",
    "planted_overlap", "threshold_function_count", "threshold_rows",
]  # fmt: skip
