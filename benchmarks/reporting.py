"""Lines of a measurement: where it was made, then what was found, shown and saved."""

import os
import platform
import time

import linsep


class Lines:
    """Prints lines as they come, and keeps them; the first says where and when."""

    def __init__(self, *facts):
        self.lines = []
        self.say(
            ", ".join(
                (
                    time.strftime("%Y-%m-%d"),
                    f"{os.cpu_count()} cores",
                    f"Python {platform.python_version()}",
                    f"linsep {linsep.__version__}",
                    *facts,
                    f"load {os.getloadavg()[0]:.1f}",
                )
            )
        )

    def say(self, line):
        """Print a line, and keep it."""
        self.lines.append(line)
        print(line, flush=True)

    def save(self, path):
        """Write all lines to a file, if one is named."""
        if path:
            path.write_text("\n".join(self.lines) + "\n")
