"""Exact proofs: every answer is settled in rational arithmetic before it is given."""
