"""Whatever describes a regression, read into a `Study`."""
