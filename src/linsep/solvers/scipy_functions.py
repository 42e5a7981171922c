"""SciPy's BLAS and LAPACK for the compiled modules, without all of `scipy.linalg`.

A compiled module that uses them imports ``scipy.linalg.cython_blas``, and Python runs
the packages before a module in them: four tenths of a second, of which the module
itself is a hundredth. So these modules are loaded from their files first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path

PACKAGE = "scipy.linalg"
NEEDED = (f"{PACKAGE}.cython_blas", f"{PACKAGE}.cython_lapack")
# What the two import themselves, since SciPy 1.17.
SHARED = "scipy._cyutility"


@contextmanager
def scipy_functions() -> Iterator[None]:
    """Let compiled modules be imported without `scipy.linalg`, if its files are found.

    Where they are not, or cannot be loaded on their own, the import is the usual one.
    Afterwards they are forgotten: a later import of the packages finds things as if
    nothing had been loaded, and gets the very same functions.
    """
    loaded: list[str] = []
    try:
        if PACKAGE not in sys.modules:
            _load(loaded)
        yield
    finally:
        # Another thread that has begun to import the package may be using them.
        if PACKAGE not in sys.modules:
            _forget(loaded)


def _load(loaded: list[str]) -> None:
    """Load the modules from their files, and name them; none if one cannot be."""
    scipy = find_spec("scipy")
    folders = (scipy.submodule_search_locations if scipy is not None else None) or ()
    try:
        for name in (SHARED, *NEEDED):
            _, *inner, _ = name.split(".")
            paths = [str(Path(folder, *inner)) for folder in folders]
            spec = PathFinder.find_spec(name, paths)
            if spec is not None and spec.loader is not None and name not in sys.modules:
                module = module_from_spec(spec)
                sys.modules[name] = module
                loaded.append(name)
                spec.loader.exec_module(module)
    except ImportError:  # a library that only the package knows how to find
        _forget(loaded)


def _forget(loaded: list[str]) -> None:
    """Take modules out of Python's table."""
    while loaded:
        sys.modules.pop(loaded.pop(), None)
