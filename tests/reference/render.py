"""Renders chat templates with transformers.

One JSON object a line in: {"template": text, "inputs": [{messages, tools, documents, add_generation_prompt, kwargs}]}.
One out: {"results": [{"text": ...} or {"error": ...}]}, in the same order. Time stands still at CLOCK.
"""

import datetime
import json
import sys

from transformers import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

CLOCK = datetime.datetime(2025, 1, 5, 14, 3, 9)


class StoppedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return CLOCK


chat_template_utils.datetime = StoppedClock


TOKENIZER = PreTrainedTokenizerBase()


def render(template, case):
    options = {
        "tools": case.get("tools"),
        "documents": case.get("documents"),
        "chat_template": template,
        "add_generation_prompt": case.get("add_generation_prompt", False),
        **case.get("kwargs", {}),
    }
    try:
        if case["messages"]:
            text = TOKENIZER.apply_chat_template(case["messages"], tokenize=False, **options)
        else:
            # `apply_chat_template` looks at the first message.
            text = chat_template_utils.render_jinja_template([[]], **options)[0][0]
        text.encode()
        return {"text": text}
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
