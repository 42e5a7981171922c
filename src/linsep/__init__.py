"""Find the hyperplane that separates two classes, and prove it."""

__version__ = "0.1.0"

__all__ = ["__version__"]
