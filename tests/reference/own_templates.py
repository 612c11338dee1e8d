"""Renders chat templates with one input, as transformers does.

One JSON line in, `{"ours": PATH, "real": PATH, "input": {"messages": [...], ...}}`; one out,
`{"ours": RESULT, "real": RESULT}` where RESULT is `{"text": ...}` or `{"error": TYPE, "message": ...}`. Either path may be
left out.
"""

import json
import sys
from pathlib import Path

from transformers.utils.chat_template_utils import render_jinja_template


def render(path, inputs):
    inputs = dict(inputs)
    # As `apply_chat_template` does before it renders.
    conversation = [
        {key: value for key, value in message.items() if value is not None} for message in inputs.pop("messages")
    ]
    try:
        texts, _ = render_jinja_template(
            [conversation],
            chat_template=Path(path).read_text(encoding="utf-8"),
            bos_token="<s>",
            eos_token="</s>",
            **inputs,
        )
    except Exception as error:  # whatever a template can raise is an answer
        return {"error": type(error).__name__, "message": str(error)}
    return {"text": texts[0]}


def main():
    for line in sys.stdin:
        question = json.loads(line)
        answer = {name: render(question[name], question["input"]) for name in ("ours", "real") if name in question}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
