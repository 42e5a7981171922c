"""``linsep diagnose``: why the regression of a data file has no finite estimate."""

from __future__ import annotations

import csv
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import click

from linsep.cli.data_options import without_defaults
from linsep.cli.options import (
    LAYOUT,
    READING,
    examples,
    intercept_option,
    shared_options,
    taken,
)
from linsep.cli.output import require_places, say, strict_json, writing
from linsep.cli.progress import DiagnosisSteps, progress_line
from linsep.cli.reports import call_that_diagnoses, save_report
from linsep.cli.standard_input import argument
from linsep.cli.streams import source_of, streamed_table
from linsep.input import InputError
from linsep.input.errors import did_you_mean
from linsep.rows import as_dense
from linsep.whole_files import whole_file

if TYPE_CHECKING:
    from linsep.diagnosis.inputs.study import Study
    from linsep.diagnosis.record import Diagnosis


@click.command(
    "diagnose",
    epilog=examples(
        "linsep diagnose data.csv --target grown",
        "linsep diagnose data.csv --formula 'grown ~ height + C(soil)'",
        "linsep diagnose trips.parquet --formula 'n ~ x | city' --family poisson",
    ),
)
@shared_options("FILE", "--target")
@click.option(
    "--formula",
    metavar="'y ~ x'",
    help="In place of --target: names of columns, C(), interactions, and log, log2, "
    "log10, exp, center, scale of one column; cbind(successes, failures) on the left; "
    "after a |, fixed effects: 'y ~ x | firm + region^year'.",
)
@click.option(
    "--family",
    metavar="NAME",
    default="binomial",
    help="binomial: logit, probit, cloglog; poisson: any log link; multinomial; "
    "ordinal: cumulative link; conditional: cases against the controls of their group; "
    "cox, cox-exact: times to an event, with --formula 'Surv(time, event) ~ x'; "
    "paired: two players first, and --target 1, 0 or 0.5 as the first won; davidson: "
    "the same, ties with a coefficient.",
)
@click.option(
    "--order",
    metavar="A,B,...",
    help="The levels of the outcome from the first to the last, separated by commas; "
    "one that holds a comma stands in double quotes.",
)
@click.option(
    "--groups",
    metavar="COL",
    help="The column of groups of a conditional model, or of the strata of a Cox "
    "regression, which is no feature.",
)
@click.option(
    "--penalized",
    metavar="COL",
    multiple=True,
    help="A column, or a factor, that a penalty holds, such as random intercepts. May "
    "be given several times.",
)
@click.option(
    "--nominal",
    metavar="COL",
    multiple=True,
    help="A column, or a factor, with an effect of its own at each threshold of an "
    "ordinal model. May be given several times.",
)
@shared_options(*READING)
@intercept_option("A model without an intercept (with --target).")
@click.option(
    "--weights", metavar="COL", help="A column of weights; rows of weight 0 are absent."
)
@shared_options("--time-limit", "--seed", "--certificate")
@click.option(
    "--certificate-data",
    metavar="OUT.npz",
    type=click.Path(path_type=Path),
    help="Save the two-class data that the proof is about (with --certificate); check "
    "it by `linsep verify OUT.json OUT.npz`.",
)
@shared_options("--report", "--json")
def command(
    file: Path,
    target: str | None,
    formula: str | None,
    fit_intercept: bool,
    weights: str | None,
    order: str | None,
    certificate: Path | None,
    certificate_data: Path | None,
    report: Path | None,
    as_json: bool,
    **settings: Any,  # how to read, and the options of `linsep.diagnose`
) -> None:
    """Say whether a regression's estimates exist, and which columns and rows forbid it.

    FILE is as for `linsep separate`; with --formula, CSV, JSON lines or Parquet. With
    --target all other columns are the design, text as 0/1 columns; --drop, --missing
    and --no-intercept go with it. svmlight text and arrays X and y need neither.
    """
    reading = taken(settings, READING)
    limits = {name: settings.pop(name) for name in ("time_limit", "random_state")}
    drop = reading["drop"]
    texts = {"--target": target, "--formula": formula, "--weights": weights}
    texts |= {"--order": order, "--groups": settings["groups"]}
    _require_text(texts, drop)
    settings["order"] = None if order is None else _levels_of(order)
    for name in ("penalized", "nominal"):
        settings[name] = list(settings[name]) or None
    _require_places(certificate, certificate_data)
    require_places(
        file,
        certificate=certificate,
        certificate_data=certificate_data,
        report=report,
    )
    if target is not None and formula is not None:
        raise InputError(
            "give --target COL or --formula 'y ~ x', one of the two; got both"
        )
    if formula is not None and (
        not fit_intercept or drop or reading["missing"] != "refuse"
    ):
        raise InputError(
            "--no-intercept, --drop and --missing go with --target; a formula says "
            "itself what is in the model ('y ~ 0 + x'), and leaves out rows with "
            "missing values"
        )
    with progress_line(f"reading {file}") as progress:
        limits["callback"] = DiagnosisSteps(progress.say)
        shape = None
        if formula is not None:
            layout = taken(reading, LAYOUT)
            answer = _by_formula(file, formula, weights, layout, limits, **settings)
        else:
            settings["fit_intercept"] = None if fit_intercept else False
            given = file, target, reading, weights, limits
            answer, shape = _by_target(*given, **settings)
        progress.say("putting the answer into words, and the proof on paper")
        answer.summary()  # is kept
        proof = answer.certificate if certificate is not None else None
    if certificate is not None and proof is not None:
        if shape is not None and _is_about_file(answer, shape):
            if weights is not None:
                reading["drop"] = (*drop, weights)
            recorded = without_defaults({"target": target} | reading)
            proof = replace(proof, reading=recorded)
        with writing(certificate):
            proof.save(certificate)
        if certificate_data is not None:
            with writing(certificate_data):
                _save_data(answer, certificate_data)
    if report is not None:
        read = without_defaults(reading)
        call = call_that_diagnoses(file, target, formula, read, settings)
        save_report(answer, report, file, "" if weights else call)
    if as_json:
        say(strict_json(answer.to_dict()))
    else:
        from linsep.wrapping import width_of_terminal

        say(answer.summary(width_of_terminal()))
        if certificate is not None and proof is not None:
            say(f"Proof saved: {certificate}")
            data = certificate_data
            if data is None and proof.reading is not None:
                data = Path(argument(file))
            say(_how_to_check(answer, certificate, data))
        if report is not None:
            say(f"Report: {report}")
    if certificate is not None and proof is None:
        why = "no time was left to write it" if answer.proved else "undecided"
        say(f"No proof to save to {certificate}: {why}.", err=True)
    raise SystemExit(0 if answer.proved else 1)


def _is_about_file(answer: Diagnosis, shape: tuple[int, ...]) -> bool:
    """Tell whether the proof is about the design as it was read, of this shape."""
    if not shape:
        return True
    X, _ = answer.certificate_data()
    return answer.family == "binomial" and X.shape == shape


def _require_places(certificate: Path | None, certificate_data: Path | None) -> None:
    """Raise if the data of a proof are to be saved without it, or in another format."""
    if certificate_data is not None and certificate is None:
        raise InputError(
            "--certificate-data goes with --certificate OUT.json, the proof that is "
            "about the data; got it alone"
        )
    if certificate_data is not None and certificate_data.suffix != ".npz":
        raise InputError(
            f"--certificate-data must name a file OUT.npz, got {certificate_data}"
        )


def _require_text(options: dict[str, str | None], drop: tuple[str, ...]) -> None:
    """Raise if an option was given as an empty text."""
    given = [*options.items(), *(("--drop", name) for name in drop)]
    for option, value in given:
        if value is not None and not value.strip():
            raise InputError(f"{option} must not be empty, got {value!r}")


def _save_data(answer: Diagnosis, path: Path) -> None:
    """Save the X and y that the certificate is about."""
    import numpy as np

    X, y = answer.certificate_data()
    labels = np.asarray(y)
    # Made in memory first: a full disk in the midst of an archive is two errors.
    archive = BytesIO()
    np.savez_compressed(
        archive,
        X=as_dense(X),
        y=labels.astype(str) if labels.dtype.kind == "O" else labels,
    )
    with whole_file(path) as unfinished:
        unfinished.write_bytes(archive.getbuffer())


def _how_to_check(answer: Diagnosis, proof: Path, data: Path | None) -> str:
    """Say what the proof is about, and how to check it.

    `data` is a file that ``verify`` reads as the rows the proof is about; None if there
    is none, as with a formula.
    """
    if data is not None:
        return f"Check it: {join(['linsep', 'verify', str(proof), str(data)])}"
    X, _ = answer.certificate_data()
    return (
        f"It is about {X.shape[0]} rows of two classes that stand for this regression, "
        "not about the file; --certificate-data OUT.npz saves them, and "
        f"{join(['linsep', 'verify', str(proof), 'OUT.npz'])} checks it."
    )


def _by_target(
    file: Path,
    target: str | None,
    reading: dict[str, Any],
    weights: str | None,
    limits: dict[str, Any],
    *,
    penalized: list[str] | None,
    nominal: list[str] | None,
    **model: Any,
) -> tuple[Diagnosis, tuple[int, ...]]:
    """Diagnose one column of a file against all others but those dropped.

    Returns the answer and the shape of the design that was read; of one that is read
    in batches, an empty one.
    """
    from linsep.diagnosis.diagnosing import diagnosed, with_named
    from linsep.diagnosis.inputs.families import PAIRED, family_named
    from linsep.diagnosis.inputs.tables import study_from_file

    model["family"] = family_named(model["family"])
    kept = without_defaults({"target": target} | reading)
    source = source_of(file, kept)
    if source is not None:
        from linsep.diagnosis import diagnose

        whole, is_count = model["fit_intercept"] is None, model["family"] == "poisson"
        table, _ = streamed_table(source, kept, whole, None, is_count)
        named = {"penalized": penalized, "nominal": nominal}
        given = {"sample_weight": weights, **named, **limits, **model}
        return diagnose(table.X, target, **given), ()
    if model["family"] in PAIRED:
        from linsep.diagnosis.inputs.paired import study_from_pairs

        family = model["family"]
        study = study_from_pairs(file, target, sample_weight=weights, family=family)
    else:
        study = study_from_file(file, target, weights=weights, reading=reading, **model)
    study = with_named(study, penalized, nominal)
    shape = (study.n_given - study.n_missing, len(study.names))
    return diagnosed(lambda: study, **limits), shape


def _levels_of(text: str) -> list[str]:
    """Cut the levels of --order apart.

    Examples
    --------
    >>> _levels_of('low, "between, so to say",high')
    ['low', 'between, so to say', 'high']
    """
    try:
        (cells,) = csv.reader([text], skipinitialspace=True, strict=True)
    except (csv.Error, ValueError) as error:
        raise InputError(
            "--order must be levels separated by commas, those that hold a comma in "
            f"double quotes, got {text!r}"
        ) from error
    levels = [cell.strip() for cell in cells]
    if "" in levels:
        raise InputError(f"--order must have a level between its commas, got {text!r}")
    return levels


def _by_formula(
    file: Path,
    formula: str,
    weights: str | None,
    layout: dict[str, Any],
    limits: dict[str, Any],
    *,
    family: str,
    order: Any,
    penalized: list[str] | None,
    nominal: list[str] | None,
    **model: Any,
) -> Diagnosis:
    """Diagnose a formula, after looking that it runs no code."""
    from linsep.diagnosis.diagnosing import diagnosed, with_named
    from linsep.diagnosis.inputs.families import family_named
    from linsep.diagnosis.inputs.formula_data import require_formulaic
    from linsep.diagnosis.inputs.formulas import sides_of, study_from_formula
    from linsep.diagnosis.inputs.orders import Order
    from linsep.diagnosis.inputs.safe_formula import safe_formula
    from linsep.diagnosis.inputs.several_columns import unquoted
    from linsep.input.files import Request, declared_order, read_columns
    from linsep.input.row_names import row_names_of_file

    require_formulaic()
    frame = read_columns(file, Request(**layout))
    family = family_named(family)
    name = unquoted(sides_of(formula)[0])
    if family == "ordinal" and order is None and name in frame:
        declared = declared_order(file, name)
        order = declared and Order(*declared)
    if weights is not None and weights not in frame:
        meant = did_you_mean(weights, frame) or f"it has {', '.join([*frame][:10])}"
        raise InputError(
            f"--weights must name a column of {file}, got {weights!r}; {meant}"
        )
    model |= {"family": family, "order": order}
    model["sample_weight"] = None if weights is None else frame[weights]
    safe = safe_formula(formula, frame.keys())

    def study() -> Study:
        made = study_from_formula(safe, frame, **model)
        made = with_named(made, penalized, nominal)
        return replace(made, row_names=row_names_of_file(file, **layout))

    return diagnosed(study, **limits)
