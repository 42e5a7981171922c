"""The searches: limits, the working set, engines and proofs brought together."""
