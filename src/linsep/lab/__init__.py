"""The laboratory: the paper's game, the family of perceptrons, data sets, pictures."""
