"""The build backend: meson-python's, with a compiler for machines that have none.

A C compiler is looked for as Meson does; where there is none, the one of PyPI's
``ziglang`` is asked for and used. An editable installation is a path to the sources,
with the compiled modules beside them, so that nothing is built or looked at on import.

Run as a script, in an environment that has the requirements of the build, this puts the
compiled modules beside the sources and installs nothing.
"""

import os
import shutil
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path

import mesonpy
from mesonpy import build_sdist, get_requires_for_build_sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ROOT / "src"


def has_compiler():
    """Tell whether a C compiler is there; Windows is left to Meson's own search."""
    names = ["cc", "gcc", "clang", "icx"]
    return "CC" in os.environ or os.name == "nt" or any(map(shutil.which, names))


def get_requires_for_build_wheel(config_settings=None):
    """Ask for a compiler too, where there is none."""
    compilers = [] if has_compiler() else ["ziglang>=0.13"]
    return [*mesonpy.get_requires_for_build_wheel(config_settings), *compilers]


get_requires_for_build_editable = get_requires_for_build_wheel


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build by meson-python."""
    if not has_compiler():
        os.environ["CC"] = f"{sys.executable} -m ziglang cc"
        os.environ["AR"] = f"{sys.executable} -m ziglang ar"
    return mesonpy.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Put the compiled modules beside the sources, and their path into a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        name = build_wheel(folder, config_settings)
        with (
            zipfile.ZipFile(Path(folder, name)) as whole,
            zipfile.ZipFile(Path(wheel_directory, name), "w") as editable,
        ):
            copy_compiled(whole)
            records = []
            for entry in whole.namelist():
                if ".dist-info/" in entry and not entry.endswith("RECORD"):
                    editable.writestr(entry, whole.read(entry))
                    records.append(entry)
            editable.writestr("linsep.pth", f"{SOURCES}\n")
            record = next(e for e in whole.namelist() if e.endswith("/RECORD"))
            lines = [f"{entry},,\n" for entry in [*records, "linsep.pth", record]]
            editable.writestr(record, "".join(lines))
    return name


def copy_compiled(wheel):
    """Copy the compiled modules of a wheel to where their sources are.

    Each is moved there whole: a process that has the old one loaded keeps it.
    """
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    for entry in wheel.namelist():
        if entry.endswith(suffix):
            unfinished = SOURCES / f"{entry}.part"
            unfinished.write_bytes(wheel.read(entry))
            unfinished.replace(SOURCES / entry)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        settings = {"build-dir": str(ROOT / "build" / sys.implementation.cache_tag)}
        os.chdir(ROOT)
        programs = str(Path(sys.executable).parent)  # cython, meson and ninja
        os.environ["PATH"] = os.pathsep.join([programs, os.environ["PATH"]])
        wheel = build_wheel(folder, settings)
        with zipfile.ZipFile(Path(folder, wheel)) as whole:
            copy_compiled(whole)
