"""``linsep verify``: check a saved proof against the data it is about."""

from collections.abc import Callable
from pathlib import Path

import click

from linsep.cli.data_options import Labelled, data_options

__all__ = ["command"]


@click.command("verify")
@click.argument("certificate", type=click.Path(path_type=Path), metavar="CERT.json")
@data_options
def command(read: Callable[[], Labelled], file: Path, certificate: Path) -> None:
    """Check that the proof in CERT.json holds for the data in FILE.

    Give --target, --positive and --drop as they were given when it was made.
    """
    from linsep.proof.certificate import Certificate
    from linsep.proof.checker import CertificateError

    try:
        proof = Certificate.load(certificate)
        data = read()
        proof.verify(data.table.X, data.y)
    except CertificateError as error:
        click.echo(f"The certificate failed: {error}", err=True)
        raise SystemExit(1) from None
    click.echo(f"The certificate holds: {proof}")
