"""The ``linsep`` command, and ``python -m linsep``."""

import signal

from linsep.cli import main


def run() -> None:
    """Run the command; a Ctrl-C that comes when it is over ends the process quietly.

    Python would word it, with a traceback of its own shutdown.
    """
    try:
        main(prog_name="linsep")
    finally:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    run()
