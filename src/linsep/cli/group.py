"""The ``linsep`` command: finds subcommands, and turns errors into one message."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import click

from linsep import __version__

# What each command does, in a line. Its module is loaded when it is called, so that the
# help and the other commands cost nothing of it.
_COMMANDS = {
    "separate": "Separate two classes, or name the rows that no hyperplane can.",
    "max-margin": "Separate them by the largest margin.",
    "diagnose": "Say why a regression has no finite estimate.",
    "verify": "Check a saved proof against the data it is about.",
    "fit": "Fit a classifier, and save it.",
    "predict": "Print the labels that a saved classifier gives.",
    "reproduce": "Measure again what the paper reports, and draw it.",
}
_IN_THE_LABORATORY = {"reproduce": "linsep.lab.reproduce.command"}
# After "\b" click leaves the lines as they are.
_EPILOG = """\
To begin: `linsep separate data.csv --target COL`; `linsep COMMAND --help` says more.

\b
Exit codes:
  0  an answer was found, either way
  1  undecided within the limits, or a certificate failed
  2  bad input; the message says what must hold and what to do
"""


class _BadInput(click.ClickException):
    """What was asked cannot be done with this input."""

    exit_code = 2


class _CertificateFailed(click.ClickException):
    """A certificate is malformed, belongs to other data, or proves nothing."""

    exit_code = 1


class _Commands(click.Group):
    """A group whose commands lie in modules of their own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load a command by name."""
        if cmd_name not in _COMMANDS:
            return None
        here = f"linsep.cli.{cmd_name.replace('-', '_')}_command"
        module = import_module(_IN_THE_LABORATORY.get(cmd_name, here))
        command: click.Command = module.command
        return command

    def format_commands(
        self, ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """List the commands without loading them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors about input become one message and exit code 2."""
        try:
            return super().invoke(ctx)
        except ValueError as error:
            from linsep.input import InputError
            from linsep.proof.checker import CertificateError

            if isinstance(error, InputError):
                raise _BadInput(str(error)) from error
            if isinstance(error, CertificateError):
                raise _CertificateFailed(f"the certificate failed: {error}") from error
            raise


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="linsep")
def main() -> None:
    """Find the hyperplane that separates two classes, or prove that there is none."""
