"""The proof that all rows overlap, at a point that is near enough to a minimum."""

from __future__ import annotations

import numpy as np

from linsep.arrays import Floats
from linsep.rows import Rows, is_sparse
from linsep.verified.moments import Layout, NotPositive, TooLarge
from linsep.verified.null_space import NullSpace
from linsep.verified.overlap import Counts, Step
from linsep.verified.parts import Check, Part, TooWide
from linsep.verified.reduction import PROMISING, Reduced


# What is not finite proves nothing.
@np.errstate(all="ignore")
def overlap_at(
    rows: Rows, counts: Counts, point: Floats, check: Check
) -> Reduced | None:
    """Return the proof that a point gives as it stands; None if it gives none.

    Nothing else need be looked at then. Of sparse rows it is not tried: they would be
    copied for this alone.
    """
    m, d = rows.shape
    if is_sparse(rows.features(slice(0, 0))):
        return None
    every = np.arange(d)
    part = Part.of(rows, np.arange(m), every, check)
    layout = Layout.of(part)
    try:
        products = part.products(np.ldexp(point, part.exponents))
        step = Step.sure(part, products, counts, layout)
    except (NotPositive, TooLarge, TooWide):
        return None
    if not (step.shares.max(initial=-np.inf) < PROMISING and step.is_proof()):
        return None
    space = NullSpace(every, every[:0], [], is_proved=False)
    stage = np.zeros(m, dtype=np.intp)
    return Reduced([], stage, point, every, every[:0], space, is_proved=True)
