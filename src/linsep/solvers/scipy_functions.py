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
from types import ModuleType

PACKAGE = "scipy.linalg"
NAMES = (f"{PACKAGE}.cython_blas", f"{PACKAGE}.cython_lapack")


@contextmanager
def scipy_functions() -> Iterator[None]:
    """Let compiled modules be imported without `scipy.linalg`, if its files are found.

    Where they are not, or cannot be loaded on their own, the import is the usual one.
    Afterwards both modules are forgotten: a later import of the package finds things as
    if nothing had been loaded, and gets the very same functions.
    """
    loaded = {} if PACKAGE in sys.modules else _loaded()
    sys.modules.update(loaded)
    try:
        yield
    finally:
        # Another thread that has begun to import the package may be using them.
        if PACKAGE not in sys.modules:
            for name in loaded:
                sys.modules.pop(name, None)


def _loaded() -> dict[str, ModuleType]:
    """Load both modules from their files; none if either cannot be."""
    scipy = find_spec("scipy")
    folders = (scipy.submodule_search_locations if scipy is not None else None) or ()
    paths = [str(Path(folder, "linalg")) for folder in folders]
    loaded = {}
    try:
        for name in NAMES:
            spec = PathFinder.find_spec(name, paths)
            if spec is None or spec.loader is None:
                return {}
            loaded[name] = module_from_spec(spec)
            spec.loader.exec_module(loaded[name])
    except ImportError:  # a library that only the package knows how to find
        return {}
    return loaded
