"""``linsep verify``: check a saved proof against the data it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from linsep.cli.data_options import Labelled, data_options
from linsep.cli.output import require_file, say


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path), metavar="CERT.json")
@data_options
def command(read: Callable[..., Labelled], file: Path, certificate: Path) -> None:
    """Check that the proof in CERT.json holds for the data in FILE.

    Give --target, --positive, --drop, --missing and --header as they were given when it
    was made.
    Exit code 1: the proof does not hold, or is about other data.
    """
    from linsep.proof.certificate import Certificate

    remedy = "make one with `linsep separate ... --certificate OUT.json`"
    require_file(certificate, "a certificate file", remedy)
    proof = Certificate.load(certificate)
    data = read(fit_intercept=proof.fit_intercept)
    proof.verify(data.table.X, data.y)
    say(f"The certificate holds: {proof}.")
