"""Renders chat templates with transformers.

One JSON object a line in: {"template": text, "inputs": [{messages, tools, documents, add_generation_prompt, kwargs}]}.
One out: {"results": [{"text": ...} or {"error": ...}]}, in the same order. Time stands still: see `renders.py`.
"""

import renders
from transformers import PreTrainedTokenizerBase
from transformers.utils import chat_template_utils

chat_template_utils.datetime = renders.StoppedClock
TOKENIZER = PreTrainedTokenizerBase()


def render(template, case):
    options = {
        "tools": case.get("tools"),
        "documents": case.get("documents"),
        "chat_template": template,
        "add_generation_prompt": case.get("add_generation_prompt", False),
        **case.get("kwargs", {}),
    }
    if case["messages"]:
        return {"text": TOKENIZER.apply_chat_template(case["messages"], tokenize=False, **options)}
    # `apply_chat_template` looks at the first message.
    return {"text": chat_template_utils.render_jinja_template([[]], **options)[0][0]}


renders.answer(render)
