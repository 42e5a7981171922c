"""The one exception raised for input that cannot be used."""

__all__ = ["InputError"]


class InputError(ValueError):
    """Input that cannot be used: says what must hold, what came, what to do.

    Examples
    --------
    >>> from linsep.input import InputError, problem_from
    >>> try:
    ...     problem_from([[1.0], [2.0]], [0, 1, 1])
    ... except InputError as error:
    ...     print(error)
    X and y must have the same number of rows, got 2 rows in X (shape (2, 1)) and 3 \
labels in y; pass one label for every row of X
    """
