"""The game with capped weights: the worst share of the margins is made as good as can be."""
