"""Attacks on the package: hostile data, files, signals and crowds. See `__main__`."""
