"""Whether files were written to since they were first looked at.

A file system keeps when a file was last written, which tells two readings of it apart
without a look at what they read. Its clock may be coarse: a file that was written a
moment ago may be written once more at what it takes for the same time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

# Seconds that a clock may stand still: two on FAT, a few thousandths on file systems
# that show by an odd fraction of a second how fine theirs are.
_COARSE, _FINE = 2.0, 0.1
_FINEST_OF_COARSE = 10_000_000  # nanoseconds, on exFAT


def _version(path: str) -> tuple[int, ...]:
    found = os.stat(path)
    times = found.st_mtime_ns, found.st_ctime_ns
    return found.st_dev, found.st_ino, found.st_size, *times


@dataclass(frozen=True)
class FileVersions:
    """Files as they were when this was made.

    Attributes
    ----------
    found : dict of str to tuple of int
        For each path which file it is, its size, and when it was written.
    """

    found: dict[str, tuple[int, ...]]

    @classmethod
    def of(cls, paths: Iterable[str]) -> FileVersions | None:
        """Look at files of this machine; None where their clock tells too little."""
        try:
            found = {path: _version(path) for path in paths}
        except OSError:
            return None
        now = time.time_ns()
        for *_, written, _changed in found.values():
            stands = _FINE if written % _FINEST_OF_COARSE else _COARSE
            if now - written < stands * 1e9:
                return None
        return cls(found)

    def are_kept(self, path: str) -> bool:
        """Tell whether one of the files is as it was; one that is gone is not."""
        try:
            return _version(path) == self.found[path]
        except OSError:
            return False
