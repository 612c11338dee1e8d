"""Answers what the reference makes of the text of regions and of tool calls: one JSON object a line in, one out.

Results are given as Python's JSON in a string, so that a test sees spelling and key order and not only the value.
"""

import json
import sys
from types import SimpleNamespace

from transformers.utils.chat_parsing.content_parsers import parse_content, process_field
from transformers.utils.chat_parsing.response_parser import ResponseParser

ANY_TEMPLATE = {"start_anchor": "x", "fields": {"content": {}}}


def ask(question):
    match question["ask"]:
        case "content":
            return parse_content(question["text"], question["name"], question["args"])
        case "process":
            field = SimpleNamespace(
                name="field",
                content=question["name"],
                content_args={},
                transform=question["transform"],
                transform_each=question["each"],
            )
            value = process_field(question["text"], field, question["captures"])
            return coerce(value, question["tools"]) if "tools" in question else value
        case "coerce":
            return coerce(question["value"], question["tools"])


def coerce(value, tools):
    parser = ResponseParser(ANY_TEMPLATE, prefix="", tools=tools)
    return parser._coerce_tool_calls(value) if parser._tool_params else value


for line in sys.stdin:
    try:
        answer = {"value": json.dumps(ask(json.loads(line)), ensure_ascii=False)}
    except Exception as error:  # whatever it raises, the region has no value
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
