"""What data sets and solvers of the benchmark share."""
