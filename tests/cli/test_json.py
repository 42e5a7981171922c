"""What --json prints is strict JSON, and follows the schema on the page."""

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

import linsep
from helpers import ROOT
from linsep.cli import main

SCHEMA = json.loads((ROOT / "docs" / "answers.schema.json").read_text())
KINDS = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "null": type(None),
    "integer": int,
    "number": (int, float),
}
TABLES = {
    "apart": "x,g,y\n1,a,u\n2,b,u\n8,a,v\n9,b,v\n",
    "overlap": "x,g,y\n0,a,u\n2,a,u\n1,a,v\n9,b,v\n",
    "one class": "x,g,y\n1,a,u\n2,b,u\n",
    "numbers": "x,y\n1,0\n2,1\n3,0\n",
}


def fits(value, schema):
    """Tell whether a value follows the part of JSON Schema that the page uses."""
    if "$ref" in schema:
        return fits(value, SCHEMA["$defs"][schema["$ref"].rpartition("/")[2]])
    kinds = schema.get("type", list(KINDS))
    kinds = [kinds] if isinstance(kinds, str) else kinds
    is_kind = any(
        isinstance(value, KINDS[kind])
        and not (isinstance(value, bool) and kind in ("integer", "number"))
        for kind in kinds
    )
    holds = is_kind and value in schema.get("enum", [value])
    holds = holds and value == schema.get("const", value)
    if "anyOf" in schema:
        holds = holds and any(fits(value, one) for one in schema["anyOf"])
    if isinstance(value, str) and "pattern" in schema:
        holds = holds and re.search(schema["pattern"], value) is not None
    if isinstance(value, list) and "items" in schema:
        holds = holds and all(fits(one, schema["items"]) for one in value)
    if isinstance(value, dict):
        known, others = schema.get("properties", {}), schema.get("additionalProperties")
        holds = holds and set(schema.get("required", ())) <= set(value)
        for name, one in value.items():
            part = known.get(name, others)
            holds = holds and part is not False and (not part or fits(one, part))
    return holds


def printed(*arguments, code=0):
    """Run a command with --json, and parse what it prints strictly."""

    def refuse(literal):
        raise AssertionError(f"{literal} is not JSON")

    done = CliRunner().invoke(main, [*map(str, arguments), "--json"])
    assert done.exit_code == code, done.output
    return json.loads(done.stdout, parse_constant=refuse)


@pytest.mark.parametrize("kind", TABLES)
def test_every_answer_follows_the_schema(tmp_path, kind):
    path, proof, model = (tmp_path / name for name in ("t.csv", "p.json", "m.json"))
    path.write_text(TABLES[kind])
    on_file = (path, "--target", "y")
    save = ("--certificate", proof)
    answers = {
        "separate": printed("separate", *on_file, *save),
        "max-margin": printed("max-margin", *on_file, "--exact"),
        "diagnose": printed("diagnose", *on_file),
        "verify": printed("verify", proof, path),
        "fit": printed("fit", *on_file, "--model", model),
        "predict": printed("predict", model, path, "--scores"),
    }
    for command, answer in answers.items():
        schema = SCHEMA["$defs"][command]
        assert fits(answer, schema), command
        # The judge itself can say no.
        assert not fits(answer | {"new": 1}, schema)
        assert not fits({**answer, schema["required"][0]: {}}, schema)
    assert answers["predict"]["labels"] == [
        label if label.isalpha() else int(label)
        for label in CliRunner()
        .invoke(main, ["predict", str(model), str(path)])
        .stdout.split()
    ]
    if kind == "one class":
        assert answers["separate"]["margin_upper"] == "Infinity"
    if kind != "one class":
        undecided = printed("separate", *on_file, "--time-limit", "1e-9", code=1)
        assert undecided["margin_lower"] == "-Infinity"


def test_a_failed_certificate_is_an_answer_and_errors_are_text(tmp_path):
    path, proof = tmp_path / "t.csv", tmp_path / "p.json"
    path.write_text(TABLES["apart"])
    printed("separate", path, "--target", "y", "--certificate", proof)
    path.write_text(TABLES["overlap"])
    answer = printed("verify", proof, path, code=1)
    assert fits(answer, SCHEMA["$defs"]["verify"])
    assert answer["holds"] is False
    done = CliRunner().invoke(main, ["separate", str(path), "--target", "z", "--json"])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: target must name a column")


@pytest.mark.parametrize(
    ("options", "given"),
    [
        (("--penalized", "g"), {"penalized": ["g"]}),
        (("--nominal", "x", "--nominal", "g"), {"nominal": ["x", "g"]}),
    ],
)
@pytest.mark.parametrize("formula", [None, "y ~ x + g"])
def test_columns_set_apart_on_the_command_line(tmp_path, options, given, formula):
    rows = ["a,1,lo", "a,2,mid", "b,3,hi", "b,1,mid", "a,3,lo", "c,2,hi", "c,1,lo"]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["g,x,y", *rows, "c,3,mid"]) + "\n")
    order = ["lo", "mid", "hi"]
    what = ("--target", "y") if formula is None else ("--formula", formula)
    family = ("--family", "ordinal", "--order", ",".join(order))
    arguments = ["diagnose", str(path), *what, *family, *options, "--json"]
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(path)
    asked = (frame, "y") if formula is None else (formula, frame)
    answer = linsep.diagnose(*asked, family="ordinal", order=order, **given)
    found = json.loads(done.stdout)
    assert found["estimates"] == {n: e.value for n, e in answer.estimates.items()}
    assert found["message"] == answer.message
    refused = CliRunner().invoke(main, [*arguments, options[0], "h"])
    assert refused.exit_code == 2
    assert f"{options[0][2:]} must name columns of the design" in refused.output
