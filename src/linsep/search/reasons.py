"""Why an answer is undecided, in words: every such sentence of the searches."""

from __future__ import annotations

from enum import Enum


class Reason(Enum):
    """Why an answer is undecided: what came in the way, and what to do about it."""

    TIME_LIMIT = "the time limit of {:g} s passed; allow more to go on"
    MAX_ROUNDS = "max_rounds={} were played; allow more to go on"
    MAX_PASSES = "max_passes={} sweeps were made; allow more to go on"
    CALLBACK = "the callback asked to stop"
    INTERRUPTED = (
        "interrupted from the keyboard; the margin interval is what had been found by "
        "then"
    )
    INTERRUPTED_READING = "interrupted while the data were still being read"
    EXACTNESS_STOPPED = "stopped before the exact arithmetic was done"
    TOO_LARGE_TO_SETTLE = (
        "floating point found neither a separator nor a conflict, and more than {} "
        "rows and columns are too many for exact arithmetic; drop columns, or give a "
        "part of the rows"
    )
    NOT_ASKED = "with nu={:.4g} given, separability was not asked; nu='auto' asks"
    BESIDE_A_FIT = (
        "a proof beside a fit is given {:.2g} s, which passed; linsep.separate takes "
        "the time it needs"
    )
    KERNEL_STALLED = (
        "the active set ended without an answer in the feature space; allow a larger "
        "time_limit"
    )
    KERNEL_SEPARATOR_UNPROVED = (
        "the rows separate in the factored feature space, but not on the Gram matrix "
        "as rounded; use a kernel of smaller range"
    )
    KERNEL_CONFLICT_UNPROVED = (
        "no function separates the rows as far as floating point can tell, but the "
        "Gram matrix as rounded admits no exact proof"
    )

    def text(self, *values: object) -> str:
        """Return the reason as the second half of a sentence, its numbers filled in."""
        return self.value.format(*values)


LIMITS = (
    Reason.TIME_LIMIT,
    Reason.MAX_ROUNDS,
    Reason.MAX_PASSES,
    Reason.CALLBACK,
    Reason.INTERRUPTED,
)


def is_limit(message: str) -> bool:
    """Tell whether a message says that a limit of the caller's, or Ctrl-C, came first.

    Examples
    --------
    >>> is_limit("Undecided: the time limit of 2 s passed; allow more to go on.")
    True
    """
    return any(limit.value.split("{")[0] in message for limit in LIMITS)
