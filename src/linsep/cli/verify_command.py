"""``linsep verify``: check a saved proof against the data it is about."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from linsep.cli.data_options import Labelled, data_options
from linsep.cli.options import examples, shared_options
from linsep.cli.output import require_file, say, strict_json
from linsep.cli.progress import progress_line


@click.command(
    "verify",
    epilog=examples(
        "linsep separate data.csv --target grown --certificate proof.json",
        "linsep verify proof.json data.csv",
    ),
)
@click.argument("certificate", type=click.Path(path_type=Path), metavar="CERT.json")
@data_options
@shared_options("--json")
def command(
    read: Callable[..., Labelled], file: Path, certificate: Path, as_json: bool
) -> None:
    """Check that the proof in CERT.json holds for the data in FILE.

    How the file was read stands in the certificate; --target and the other options are
    for a file that is called or laid out in another way.
    Exit code 1: the proof does not hold, or is about other data.
    """
    from linsep.proof.certificate import Certificate, CertificateError

    remedy = "make one with `linsep separate ... --certificate OUT.json`"
    require_file(certificate, "a certificate file", remedy)
    proof = Certificate.load(certificate)
    record = {"holds": True, "kind": proof.kind, "message": str(proof)}
    try:
        with progress_line(f"reading {file}") as progress:
            data = read(fit_intercept=proof.fit_intercept, recorded=proof.reading)
            progress.say("checking")
            proof.verify(data.table.X, data.y)
    except CertificateError as error:
        if not as_json:
            raise
        say(strict_json(record | {"holds": False, "message": str(error)}))
        raise SystemExit(1) from None
    if as_json:
        say(strict_json(record))
    else:
        say(f"The certificate holds: {proof}.")
