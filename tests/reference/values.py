"""Answers what Python makes of JSON, of values and of numbers: one JSON object a line in, one out.

Results are given as Python's JSON in a string, so that a test sees spelling and key order and not only the value.
"""

import json
import re
import sys


class Place(Exception):
    pass


def ask(question):
    text = question["text"]
    match question["ask"]:
        case "json":
            try:
                return json.loads(text)
            except json.JSONDecodeError as error:
                # In UTF-8, as Obverse counts.
                raise Place(len(text[: error.pos].encode())) from error
        case "dumps":
            return json.dumps(json.loads(text), **question["options"])
        case "repr":
            return repr(json.loads(text))
        case "strip":
            return text.strip()
        case "int":
            return int(text)
        case "float":
            return float(text)


def lone_surrogates_replaced(text):
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


for line in sys.stdin:
    try:
        value = ask(json.loads(line))
        answer = {"value": lone_surrogates_replaced(json.dumps(value, ensure_ascii=False))}
    except Place as place:
        answer = {"error": "json", "at": place.args[0]}
    except ValueError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer), flush=True)
