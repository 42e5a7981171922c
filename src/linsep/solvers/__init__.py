"""Solvers: the optimistic loop, its metric, the active set and the working set."""
