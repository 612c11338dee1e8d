"""Validates values by JSON Schemas, with the reference implementation.

One JSON line in: {"schema": NAME, "value": ANY}, where NAME is a file's in schemas/. One out: the first error as a string, or null.
"""

import json
import pathlib
import sys

import jsonschema

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "schemas"
known = {}

for line in sys.stdin:
    question = json.loads(line)
    name = question["schema"]
    if name not in known:
        schema = json.loads((SCHEMAS / f"{name}.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        known[name] = jsonschema.Draft202012Validator(schema)
    error = jsonschema.exceptions.best_match(known[name].iter_errors(question["value"]))
    print(json.dumps(None if error is None else f"{error.json_path}: {error.message}"), flush=True)
