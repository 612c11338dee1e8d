"""Parses responses as transformers does.

One JSON line in:

    {"template": DOCUMENT, "response": TEXT or "chunks": [TEXT, ...], "prefix"?: TEXT, "tools"?: [...], "finalize"?: BOOL}

One out:

    {"initial_events": [...], "events": [[...], ...], "final_events": [...], "message": {...}, "discarded": [TEXT, ...]}

`events` has a list for each chunk; a response is one chunk. `discarded` is the text that went nowhere, each stretch of it one text. Without `prefix` nothing stands before the response; with
`finalize` false there is neither `final_events`, `message` nor `discarded`. What fails adds, to everything that was there before it,

    {"error": {"stage": "load" | "prefix" | "feed" | "finalize", "type": "ValueError", "message": TEXT}, "output": {...}}

where `output` is the message as far as it was parsed. What does not end within `SECONDS` fails with the type `Timeout`.
"""

import json
import signal
import sys

from discarding import Discarding
from transformers.utils.chat_parsing.response_templates import load_response_template

SECONDS = 5


class Timeout(Exception):
    pass


def give_up(_signal, _frame):
    raise Timeout(f"still at work after {SECONDS} seconds")


def parse(question):
    answer = {}
    parser = None
    stage = "load"
    try:
        template = load_response_template(question["template"])
        stage = "prefix"
        parser = Discarding(template, prefix=question.get("prefix", ""), tools=question.get("tools"))
        answer["initial_events"] = parser.initial_events
        stage = "feed"
        answer["events"] = []
        for chunk in question["chunks"] if "chunks" in question else [question["response"]]:
            answer["events"].append(parser.feed(chunk))
        if question.get("finalize", True):
            stage = "finalize"
            answer["message"], answer["final_events"] = parser.finalize()
            answer["discarded"] = parser.discarded
    except Exception as error:  # whatever the reference raises is an answer
        answer["error"] = {"stage": stage, "type": type(error).__name__, "message": str(error)}
        if parser is not None:
            answer["output"] = parser._output
    return answer


def main():
    signal.signal(signal.SIGALRM, give_up)
    for line in sys.stdin:
        question = json.loads(line)
        signal.alarm(SECONDS)
        try:
            answer = parse(question)
        finally:
            signal.alarm(0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
