"""SciPy's BLAS and LAPACK for the compiled modules, without all of `scipy.linalg`.

A compiled module that uses them imports ``scipy.linalg.cython_blas``, and Python runs
the package before a module in it: four tenths of a second, of which the module itself
is a hundredth. So the two modules are loaded from their files first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path

PACKAGE = "scipy.linalg"
NAMES = (f"{PACKAGE}.cython_blas", f"{PACKAGE}.cython_lapack")


@contextmanager
def scipy_functions() -> Iterator[None]:
    """Let compiled modules be imported without `scipy.linalg`, if its files are found.

    Where they are not, or cannot be loaded on their own, the import is the usual one.
    Afterwards both are forgotten: a later import of the package finds things as if
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
    paths = [str(Path(folder, "linalg")) for folder in folders]
    try:
        for name in NAMES:
            spec = PathFinder.find_spec(name, paths)
            if spec is not None and spec.loader is not None:
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
