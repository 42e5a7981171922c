"""Data of two classes that come with the truth about them.

Every generator returns a `Dataset`: the rows, the labels, and what is known for
certain (separable or not, a margin, a separator, a conflict), by a construction that
its docstring gives with the reason why it is true. They are seeded by
``random_state``; None is a fixed seed.

Separable by a planted hyperplane, or spoilt on purpose:

- `planted_margin`, `planted_overlap`, `flipped_labels`: Gaussian rows, any size.
- `duplicated_rows`: a few rows repeated by the thousand.
- `clustered_ties`: both classes within a hair of the same points.
- `last_bit`: one unit in the last place decides.
- `wide_range`: entries from subnormal numbers to beyond 1e300.

Exponentially small margins:

- `paper_rows`: the data set (2) of "Linear Separation via Optimism".
- `mixed_paper_rows`: the same, mixed by a unimodular matrix.
- `odd_max_bit`, `threshold_rows`, `hard_threshold_rows`: threshold functions.

Every answer known:

- `boolean_function`: any Boolean function of up to eight inputs.
- `moment_curve`: points in general position with any labels.
- `cover_count`, `threshold_function_count`: how many are separable.
"""

from linsep.lab.datasets.arguments import SEED
from linsep.lab.datasets.boolean import (
    boolean_function,
    hard_threshold_rows,
    odd_max_bit,
    threshold_rows,
)
from linsep.lab.datasets.paper import mixed_paper_rows, paper_rows
from linsep.lab.datasets.planted import flipped_labels, planted_margin, planted_overlap
from linsep.lab.datasets.position import (
    cover_count,
    moment_curve,
    threshold_function_count,
)
from linsep.lab.datasets.record import Dataset
from linsep.lab.datasets.ties import (
    clustered_ties,
    duplicated_rows,
    last_bit,
    wide_range,
)

__all__ = [
    "SEED",
    "Dataset",
    "boolean_function",
    "clustered_ties",
    "cover_count",
    "duplicated_rows",
    "flipped_labels",
    "hard_threshold_rows",
    "last_bit",
    "mixed_paper_rows",
    "moment_curve",
    "odd_max_bit",
    "paper_rows",
    "planted_margin",
    "planted_overlap",
    "threshold_function_count",
    "threshold_rows",
    "wide_range",
]
