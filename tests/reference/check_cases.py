"""Checks what `tests/cases/parser` expects against transformers.

    .venv/bin/python tests/reference/check_cases.py tests/cases/parser/*.json

Each case is parsed with the response whole, and once more a character at a time, which must give the same unless the case
says that it differs. Prints what is wrong and ends with 1, or prints the number of cases.

Without files it reads one JSON line with the path of a file, and answers `{"cases": COUNT, "wrong": [TEXT, ...]}`.
"""

import json
import signal
import sys
from pathlib import Path

import parse

KEYS = {
    "name", "template", "response", "prefix", "tools", "message", "initial_events", "events", "error", "chunked",
    "unclaimed",
}  # fmt: skip


def joined(events):
    """The events in the short form of the cases, adjacent chunks joined."""
    short = []
    for event in events:
        kind, field = event["type"].removeprefix("region_"), event["field"]
        if kind == "open":
            short.append(["open", field])
        elif kind == "close":
            short.append(["close", field, event["value"]])
        else:
            kind = "dirty" if event["dirty"] else "chunk"
            if short and short[-1][:2] == [kind, field]:
                short[-1][2] += event["text"]
            else:
                short.append([kind, field, event["text"]])
    return short


def answer_of(case, template, chunks):
    """What the reference makes of a case, in the form of the case."""
    question = {"template": template, "chunks": chunks, "prefix": case.get("prefix", "")}
    if "tools" in case:
        question["tools"] = case["tools"]
    signal.alarm(parse.SECONDS)
    try:
        answer = parse.parse(question)
    finally:
        signal.alarm(0)
    if "error" in answer:
        error = {key: answer["error"][key] for key in ("stage", "type")}
        # A parser that never ends has no output worth comparing.
        if "output" in answer and error["type"] != "Timeout":
            error["output"] = answer["output"]
        return {"error": error}
    events = [event for chunk in answer["events"] for event in chunk] + answer["final_events"]
    found = {"message": answer["message"], "events": joined(events)}
    if answer["discarded"]:
        found["unclaimed"] = answer["discarded"]
    if answer["initial_events"]:
        found["initial_events"] = joined(answer["initial_events"])
    return found


def text(value):
    return json.dumps(value, ensure_ascii=False)


def wrong_with(case, templates):
    """What is wrong with a case; nothing when it is right."""
    if unknown := set(case) - KEYS:
        return [f"unknown keys {sorted(unknown)}"]
    template = templates[case["template"]] if isinstance(case["template"], str) else case["template"]
    expected = {key: case[key] for key in ("message", "initial_events", "events", "unclaimed", "error") if key in case}
    if "error" in expected:
        # The field at fault is in no exception of the reference.
        expected["error"] = {key: value for key, value in case["error"].items() if key != "field"}
    wrong = []
    found = answer_of(case, template, [case["response"]])
    for key in sorted(set(expected) | set(found)):
        # Compared as text: 1, 1.0 and True are different, and so is the order of keys.
        if text(expected.get(key)) != text(found.get(key)):
            wrong.append(f"{key}: expected {text(expected.get(key))}, the reference gives {text(found.get(key))}")
    if found.get("error", {}).get("type") == "Timeout":
        return wrong
    chunked = answer_of(case, template, list(case["response"]))
    if "error" in found and "error" in chunked:
        # Where a region fails depends on when it closes.
        same = chunked["error"]["type"] == found["error"]["type"]
    else:
        same = text(chunked) == text(found)
    if same == ("chunked" in case):
        wrong.append(f"a character at a time gives {'the same' if same else text(chunked)}")
    return wrong


def check(path):
    """How many cases a file holds, and what is wrong with them."""
    document = json.loads(Path(path).read_text(encoding="utf-8"))
    templates = document.get("templates", {})
    wrong, names = [], set()
    for case in document["cases"]:
        if case["name"] in names:
            wrong.append(f"{case['name']}: a second case of this name")
        names.add(case["name"])
        wrong += [f"{case['name']}: {text}" for text in wrong_with(case, templates)]
    return len(document["cases"]), wrong


def main():
    signal.signal(signal.SIGALRM, parse.give_up)
    if not sys.argv[1:]:
        for line in sys.stdin:
            count, wrong = check(json.loads(line))
            print(json.dumps({"cases": count, "wrong": wrong}), flush=True)
        return
    total = failures = 0
    for path in sys.argv[1:]:
        count, wrong = check(path)
        for line in wrong:
            print(f"{Path(path).name}: {line}")
        total += count
        failures += len(wrong)
    print(f"{total} cases, {failures} findings")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
