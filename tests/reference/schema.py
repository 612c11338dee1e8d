"""Answers what `recursive_parse` makes of texts: `{"schema", "text"}` a line in.

Out: `{"value": JSON in a string}`, or `{"error": {"kind", "path", "message"}}`. The kind is read off the exception and its words; the path
is the way through the schema that the calls of `recursive_parse` took, by the identity of the nodes that they were given. With
`{"schemas": true}` the answer is every response schema that the installed packages hold: `{"schemas": [{"name", "schema"}, ...]}`; with
`{"folder"}` those of the Python and JSON files there.
"""

import ast
import json
import pathlib
import re
import sys
import warnings

warnings.simplefilter("ignore")

import jmespath.exceptions
import transformers
from transformers.utils.chat_parsing_utils import recursive_parse

# The first words of each message, and its kind.
KINDS = [
    ("Schema node got a non-string input", "not-text"),
    (r"Schema node with type .* cannot use x-regex-iterator", "iterator-type"),
    (r"Schema node with type .* cannot use x-regex-key-value", "key-value-type"),
    ("Regex has multiple unnamed groups", "many-groups"),
    ("Regex has no capture groups", "no-group"),
    ("Regex for x-regex-key-value must have", "key-value-groups"),
    ("Node has JSON parser but got non-string", "parser-not-text"),
    ("Node has Gemma4 tool call parser but got", "parser-not-text"),
    ("Node has JSON parser but could not parse", "json"),
    ("Unknown parser", "unknown-parser"),
    ("Object node received string content", "object-text"),
    ("Expected a dict or str for schema node", "not-object"),
    ("Required fields", "required"),
    (r"Array node has no items", "no-items"),
    (r"Array node has \d+ items", "prefix-length"),
    ("Expected a string or int for", "wrong-value"),
    ("Expected a string or number for", "wrong-value"),
    ("Expected a string or bool for", "wrong-value"),
    ("Expected a string for schema node with type string", "wrong-value"),
    ("Schema node has type 'integer'", "integer"),
    ("Schema node has type 'number'", "number"),
    ("int too large to convert to float", "number"),
    ("Invalid boolean value", "boolean"),
    ("Unsupported schema type", "unknown-type"),
]


def kind_of(error, frames):
    message = str(error)
    modules = {frame.f_globals.get("__name__", "") for frame in frames}
    if isinstance(error, jmespath.exceptions.JMESPathError) or any(name.startswith("jmespath") for name in modules):
        return "transform"
    if message.startswith("Expected a list or regex for schema node"):
        return "not-list" if "items" in frames_of_parse(frames)[-1].f_locals["node_schema"] else "prefix-not-list"
    for words, kind in KINDS:
        if re.match(words, message):
            return kind
    if isinstance(error, TypeError) and "expected string or bytes-like object" in message:
        return "extracted-not-text"
    return f"{type(error).__name__}: {message}"


def frames_of_parse(frames):
    return [frame for frame in frames if frame.f_code is recursive_parse.__code__]


def step(parent, child):
    for key, node in (parent.get("properties") or {}).items():
        if node is child:
            return ["properties", key]
    for key in ("items", "additionalProperties"):
        if parent.get(key) is child:
            return [key]
    for index, node in enumerate(parent.get("prefixItems") or []):
        if node is child:
            return ["prefixItems", index]
    return ["?"]


def answer(question):
    if "folder" in question:
        return {"schemas": list(schemas_of(question["folder"]))}
    if question.get("schemas"):
        return {"schemas": list(schemas())}
    try:
        value = recursive_parse(question["text"], question["schema"])
        return {"value": json.dumps(value, ensure_ascii=False)}
    except Exception as error:
        frames, trace = [], error.__traceback__
        while trace:
            frames.append(trace.tb_frame)
            trace = trace.tb_next
        nodes = [frame.f_locals["node_schema"] for frame in frames_of_parse(frames)]
        path = [part for parent, child in zip(nodes, nodes[1:]) for part in step(parent, child)]
        return {"error": {"kind": kind_of(error, frames), "path": path, "message": str(error)[:300]}}


def literals(file):
    """Every response schema that is written out in a Python file, outermost first, with the name of what it is assigned to."""
    for statement in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(statement, ast.Assign):
            continue
        try:
            value = ast.literal_eval(statement.value)
        except ValueError:
            continue
        target = statement.targets[0]
        name = getattr(target, "id", None) or getattr(target, "attr", None) or f"line {statement.lineno}"
        yield from nodes(name, value)


def nodes(name, value):
    if isinstance(value, dict):
        if "type" in value and "x-regex" in str(value):
            yield name, value
            return
        for key, member in value.items():
            yield from nodes(f"{name}.{key if isinstance(key, str) else key[0]}", member)
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(value):
            yield from nodes(f"{name}.{index}", item)


def schemas_of(folder):
    for file in sorted(pathlib.Path(folder).iterdir()):
        if file.suffix == ".py":
            for name, schema in literals(file):
                yield {"name": f"{file.stem}: {name}", "schema": schema}
        elif file.suffix == ".json":
            for name, schema in json.loads(file.read_text(encoding="utf-8")).items():
                yield {"name": f"{file.stem}: {name}", "schema": schema}


def schemas():
    packages = pathlib.Path(transformers.__file__).parent.parent
    for package in ("transformers", "trl"):
        for file in sorted((packages / package).rglob("*.py")):
            if "x-regex" not in file.read_text(encoding="utf-8"):
                continue
            for name, schema in literals(file):
                yield {"name": f"{package}: {name}", "schema": schema}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
