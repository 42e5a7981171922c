"""The command line: ``linsep COMMAND``, one module a command."""

from linsep.cli.group import main

__all__ = ["main"]
