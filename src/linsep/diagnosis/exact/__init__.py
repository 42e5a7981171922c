"""The exact partition of a regression's rows, and what follows for its coefficients."""
