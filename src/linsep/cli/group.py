"""The ``linsep`` command: finds subcommands, and turns errors into one message."""

from __future__ import annotations

from collections import Counter
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from linsep import __version__
from linsep.cli.endings import worded_ending

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
Completion in bash: eval "$(_LINSEP_COMPLETE=bash_source linsep)"; also zsh, fish.

\b
Exit codes:
  0  an answer was found, either way
  1  undecided within the limits, or a certificate failed
  2  bad input, or a file that cannot be read or written: the message says what to do
  3  an error inside linsep, to be reported
  130 and 143  stopped by Ctrl-C or SIGTERM before there was an answer
"""


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

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, and refuse an option given twice."""
        try:
            name, command, rest = super().resolve_command(ctx, args)
        except click.UsageError as error:
            raise click.UsageError(f"{error.message}{_hint(args[0])}", ctx) from None
        if command is not None:
            _require_options_once(command, ctx, rest)
        return name, command, rest

    def make_context(self, *given: Any, **options: Any) -> click.Context:
        """Read the arguments; --help and --version print here."""
        with worded_ending():
            return super().make_context(*given, **options)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever stops it becomes one sentence and an exit code."""
        with worded_ending():
            return super().invoke(ctx)


def _hint(word: str) -> str:
    """Say what a word that is no command may have been meant to be."""
    close = get_close_matches(word.replace("_", "-").lower(), _COMMANDS, cutoff=0.6)
    if close:
        return f" Did you mean {' or '.join(map(repr, close))}?"
    if Path(word).exists():
        return f" A file comes after a command: linsep separate {word} --target COL"
    return f" The commands are {', '.join(_COMMANDS)}."


def _require_options_once(
    command: click.Command, parent: click.Context, arguments: list[str]
) -> None:
    """Raise if an option of one value is given twice: which one is meant is unclear."""
    ctx = click.Context(command, parent=parent, info_name=command.name)
    _, rest, given = command.make_parser(ctx).parse_args(list(arguments))
    for option, count in Counter(given).items():
        takes_one = isinstance(option, click.Option) and not option.multiple
        if takes_one and count > 1 and option.name != "help":
            name = "/".join([*option.opts, *option.secondary_opts])
            raise click.UsageError(
                f"{name} must be given once, got {count} of it; leave all but one out",
                ctx,
            )
    if rest and any(option.name == "target" for option in command.params):
        raise click.UsageError(
            f"{command.name} takes one file, got {rest[0]!r} beside it; the column of "
            f"the labels is named by --target {rest[0]}",
            ctx,
        )
    if isinstance(command, click.Group) and rest:
        inner = command.get_command(ctx, rest[0])
        if inner is not None:
            _require_options_once(inner, ctx, rest[1:])


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "show_default": True},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="linsep")
def main() -> None:
    """Find the hyperplane that separates two classes, or prove that there is none."""
