r"""Proofs by one factorisation: which of very many rows overlap, and which do not.

Exact elimination answers for hundreds of columns; this package for thousands. What it
says is a theorem about the doubles given all the same: directions are integers checked
on every row, and that the rest overlaps follows from a Cholesky factor in floating
point, whose rounding errors are bounded. In the order in which a proof is made:

1. `presolve`: columns that point one way separate the rows they are not zero on.
2. `null_space`: columns that depend on others on the rows left are set aside.
3. `overlap`: positive weights under which all rows left vanish, or a direction that
   separates some of them.
4. `reduction`: the three in turn, until nothing is left to do.
"""
