"""The ``linsep`` command: finds subcommands, and turns errors into one message."""

from importlib import import_module
from typing import Any

import click

from linsep import __version__
from linsep.input import InputError
from linsep.proof.checker import CertificateError

__all__ = ["main"]

# Each is loaded when it is called, so that the others cost it nothing.
_COMMANDS = {
    "separate": "linsep.cli.separate_command",
    "diagnose": "linsep.cli.diagnose_command",
    "verify": "linsep.cli.verify_command",
    "max-margin": "linsep.cli.max_margin_command",
    "fit": "linsep.cli.fit_command",
    "predict": "linsep.cli.predict_command",
    "reproduce": "linsep.lab.reproduce.command",
}


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
        command: click.Command = import_module(_COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; errors about input become one message and exit code 2."""
        try:
            return super().invoke(ctx)
        except InputError as error:
            raise _BadInput(str(error)) from error
        except CertificateError as error:
            raise _CertificateFailed(f"the certificate failed: {error}") from error


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="linsep")
def main() -> None:
    """Find the hyperplane that separates two classes, or prove that there is none.

    Exit codes: 0 an answer was found, either way; 1 undecided, or a certificate
    failed; 2 bad input.
    """
