"""Answers how the reference takes response templates: one JSON object a line in, one out.

`{"ask": "load", "document": ...}` tells whether the document loads, and what is in it; `{"ask": "truncate", ...}` what is
left of a prefix; `{"ask": "member", "text": ...}` what Python reads under `response_template` in a config.
"""

import json
import sys

from transformers.utils.chat_parsing.response_templates import load_response_template


def summary(template):
    return {
        "defaults": template.defaults,
        "implicit": template.implicit,
        "anchor": template.start_anchor_literals,
        "fields": [
            {
                "name": field.name,
                "open": field.open_literals if field.open_literals else field.open_re is not None,
                "close": field.close_literals if field.close_literals else field.close_re is not None,
                "content": field.content,
                "repeats": bool(field.repeats),
                "join": field.join,
                "optional": bool(field.optional),
                "transform": field.transform is not None,
                "transform_each": field.transform_each,
            }
            for field in template.fields.values()
        ],
    }


def ask(question):
    match question["ask"]:
        case "load":
            return summary(load_response_template(question["document"]))
        case "truncate":
            return load_response_template(question["document"]).truncate_past_last_anchor(question["prefix"])
        case "member":
            text = question["text"].removeprefix("\ufeff")
            return json.dumps(json.loads(text)["response_template"], ensure_ascii=False)


for line in sys.stdin:
    try:
        answer = {"value": ask(json.loads(line))}
    except Exception as error:  # whatever it raises, the document does not load
        answer = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)
