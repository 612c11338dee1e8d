"""Answers what Python and the reference make of values and of the text of regions: one JSON object a line in, one out.

Results are given as Python's JSON in a string, so that a test sees spelling and key order and not only the value.
"""

import json
import re
import sys
from types import SimpleNamespace

from transformers.utils.chat_parsing.content_parsers import parse_content, process_field
from transformers.utils.chat_parsing.response_parser import ResponseParser

NO_TOOLS = {"start_anchor": "x", "fields": {"content": {}}}


def loads(text):
    return json.loads(text)


def ask(question):
    match question["ask"]:
        case "json":
            try:
                return loads(question["text"])
            except json.JSONDecodeError as error:
                # In UTF-8, as Obverse counts.
                raise Place(len(question["text"][: error.pos].encode())) from error
        case "dumps":
            options = question["options"]
            if separators := options.get("separators"):
                options["separators"] = tuple(separators)
            return json.dumps(loads(question["text"]), **options)
        case "repr":
            return repr(loads(question["text"]))
        case "strip":
            return question["text"].strip()
        case "int":
            return int(question["text"])
        case "float":
            return float(question["text"])
        case "content":
            return parse_content(question["text"], question["name"], question["args"])
        case "process":
            field = SimpleNamespace(
                name="field",
                content=question["name"],
                content_args=question["args"],
                transform=question["transform"],
                transform_each=question["each"],
            )
            return process_field(question["text"], field, question["captures"])
        case "coerce":
            parser = ResponseParser(NO_TOOLS, prefix="", tools=question["tools"])
            value = question["value"]
            return parser._coerce_tool_calls(value) if parser._tool_params else value


class Place(Exception):
    pass


def lone_surrogates_replaced(text):
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


for line in sys.stdin:
    question = json.loads(line)
    try:
        answer = {"value": lone_surrogates_replaced(json.dumps(ask(question), ensure_ascii=False))}
    except Place as place:
        answer = {"error": "json", "at": place.args[0]}
    except Exception as error:  # whatever it raises, the text has no value
        answer = {"error": type(error).__name__}
    print(json.dumps(answer))
