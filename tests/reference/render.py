"""Renders chat templates with transformers.

One JSON object a line in: {"template": text, "inputs": [{messages, tools, documents, add_generation_prompt, kwargs}]}.
One out: {"results": [{"text": ...} or {"error": ...}]}, in the same order. Time stands still at CLOCK.
"""

import datetime
import json
import sys

from transformers.utils import chat_template_utils

CLOCK = datetime.datetime(2025, 1, 5, 14, 3, 9, 42)


class StoppedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return CLOCK


chat_template_utils.datetime = StoppedClock


def render(template, case):
    try:
        texts, _ = chat_template_utils.render_jinja_template(
            conversations=[case["messages"]],
            tools=case.get("tools"),
            documents=case.get("documents"),
            chat_template=template,
            add_generation_prompt=case.get("add_generation_prompt", False),
            **case.get("kwargs", {}),
        )
        texts[0].encode()
        return {"text": texts[0]}
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        results = [render(request["template"], case) for case in request["inputs"]]
        print(json.dumps({"results": results}), flush=True)


main()
