"""The game with capped weights: the mean of the worst margins, made largest."""
