"""Renders chat templates with transformers, with the ranges that `{% generation %}` marks.

One JSON object a line in: {"template": text, "inputs": [{messages, tools, kwargs}]}.
One out: {"results": [{"text": ..., "generated": [[start, end]]} or {"error": ...}]}, in the same order, in characters. Time stands
still: see `renders.py`.
"""

import renders
from transformers.utils import chat_template_utils

chat_template_utils.datetime = renders.StoppedClock


def render(template, case):
    messages = [{key: value for key, value in message.items() if value is not None} for message in case["messages"]]
    texts, indices = chat_template_utils.render_jinja_template(
        [messages],
        tools=case.get("tools"),
        chat_template=template,
        return_assistant_tokens_mask=True,
        **case.get("kwargs", {}),
    )
    return {"text": texts[0], "generated": indices[0]}


renders.answer(render)
