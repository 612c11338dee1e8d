"""Parses one response cut in several ways, as transformers does.

One JSON line in:

    {"template": DOCUMENT, "runs": [[TEXT, ...], ...], "prefix"?: TEXT, "tools"?: [...], "as_one"?: BOOL}

One out, with an answer for each run:

    {"runs": [{"initial": [EVENT, ...], "events": [[EVENT, ...], ...], "message": {...},
               "discarded": [TEXT, ...]}, ...]}

`events` has a list for each chunk and one for the end, in the short form of `tests/cases`, as the reference gives them;
`discarded` are the texts of the response that went nowhere. What fails has, instead of a message, `"error": {"stage", "type",
"message", "field"}` and the message so far as `output`. A document that is refused is answered with `{"refused": TEXT}`. With
`go_on` the chunks after one that fails are fed all the same, and in the place of its events stands `{"failed": TYPE}`. With
`as_one` there is also an answer of that name: for the first run with what follows the prefix's anchor fed in front of it, as
one text.

A parser that passes `MOST` times in a row over delimiters without taking any text never ends; it fails with the type `Timeout`.
"""

import json
import sys

from discarding import Discarding
from transformers.utils.chat_parsing.response_templates import load_response_template

MOST = 200


class Timeout(Exception):
    pass


class Watched(Discarding):
    """The reference, and an end where it has none."""

    def _scan(self, watch, eos):
        # A new position, or a new call: both are progress.
        now = (self._pos, eos, len(self._buffer))
        if now != getattr(self, "_last_scan", None):
            self._last_scan, self._scans = now, 0
        self._scans += 1
        if self._scans > MOST:
            raise Timeout("passes over delimiters without taking any text")
        return super()._scan(watch, eos)


def short(event):
    """An event in the form of the cases."""
    kind, field = event["type"].removeprefix("region_"), event["field"]
    if kind == "open":
        return ["open", field]
    if kind == "close":
        return ["close", field, event["value"]]
    return ["dirty" if event["dirty"] else "chunk", field, event["text"]]


def run(template, question, chunks):
    answer = {}
    # Made apart from its initialisation, so that it can be looked at when that fails.
    parser = Watched.__new__(Watched)
    stage = "prefix"
    try:
        parser.__init__(template, prefix=question.get("prefix", ""), tools=question.get("tools"))
        answer["initial"] = [short(event) for event in parser.initial_events]
        stage = "feed"
        answer["events"] = events = []
        for chunk in chunks:
            # Feeding nothing is feeding all the same.
            parser._last_scan = None
            try:
                events.append([short(event) for event in parser.feed(chunk)])
            except Exception as error:
                if not question.get("go_on"):
                    raise
                events.append({"failed": type(error).__name__})
        stage = "finalize"
        answer["message"], last = parser.finalize()
        events.append([short(event) for event in last])
        answer["discarded"] = parser.discarded
    except Exception as error:  # whatever the reference raises is an answer
        missing = str(error).startswith("Required response_template fields")
        answer["error"] = {
            "stage": stage,
            "type": type(error).__name__,
            "message": str(error),
            "field": None if missing else parser._current,
        }
        answer["output"] = parser._output
    return answer


def answer_to(question):
    try:
        template = load_response_template(question["template"])
    except Exception as error:
        return {"refused": str(error)}
    answer = {"runs": [run(template, question, chunks) for chunks in question["runs"]]}
    if question.get("as_one"):
        text = template.truncate_past_last_anchor(question["prefix"]) + "".join(question["runs"][0])
        answer["as_one"] = run(template, {**question, "prefix": ""}, [text])
    return answer


def main():
    for line in sys.stdin:
        print(json.dumps(answer_to(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
