"""Renders chat templates with one input, as transformers does.

One JSON line in, `{"ours": PATH, "real": PATH, "input": {"messages": [...], ...}}`; one out,
`{"ours": RESULT, "real": RESULT}` where RESULT is `{"text": ...}` or `{"error": TYPE, "message": ...}`. Either path may be
left out.

A real template that appends to a list, which the sandbox of transformers refuses, is rendered once more in one that allows
it, as engines other than transformers do: its format is known by nothing else.
"""

import json
import sys
from pathlib import Path

import jinja2.sandbox
from transformers.utils import chat_template_utils
from transformers.utils.chat_template_utils import render_jinja_template


def render_lenient(path, inputs):
    """As `render`, in a sandbox in which lists can be changed."""
    strict = chat_template_utils.ImmutableSandboxedEnvironment
    chat_template_utils.ImmutableSandboxedEnvironment = jinja2.sandbox.SandboxedEnvironment
    # The compiled templates are kept by their source; an added comment makes this one another.
    try:
        return render(path, inputs, suffix="{#- lenient #}")
    finally:
        chat_template_utils.ImmutableSandboxedEnvironment = strict


def render(path, inputs, suffix=""):
    inputs = dict(inputs)
    # As `apply_chat_template` does before it renders.
    conversation = [
        {key: value for key, value in message.items() if value is not None} for message in inputs.pop("messages")
    ]
    try:
        texts, _ = render_jinja_template(
            [conversation],
            chat_template=Path(path).read_text(encoding="utf-8") + suffix,
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
        if answer.get("real", {}).get("error") == "SecurityError":
            answer["real"] = render_lenient(question["real"], question["input"])
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
