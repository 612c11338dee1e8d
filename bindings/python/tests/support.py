"""What the tests share."""

import json
import os
import unittest
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent.parent
CHAT_TEMPLATES = CHECKOUT / "chat_templates"
DERIVED = CHECKOUT / "derived"
CASES = CHECKOUT / "tests" / "cases" / "parser"

TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<assistant>",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": True},
        "content": {"close": "</assistant>"},
    },
}


def needs_reference(test):
    """Leaves a test out where there is no transformers; in CI it fails instead."""
    try:
        import transformers.utils.chat_parsing  # noqa: F401
    except ImportError:
        if not os.environ.get("CI"):
            return unittest.skip("transformers 5.23 is not installed")(test)
    return test


def spelled(value):
    """A value as text, in which order and types show."""
    return json.dumps(value, ensure_ascii=False)


def chunks(text, size):
    return [text[start : start + size] for start in range(0, len(text), size)]


def joined(events):
    """The events with adjacent chunks of a region joined."""
    all = []
    for event in events:
        if event["type"] == "region_chunk" and all and all[-1]["type"] == "region_chunk":
            all[-1] = {**all[-1], "text": all[-1]["text"] + event["text"]}
        else:
            all.append(event)
    return all
