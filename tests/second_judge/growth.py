"""Whether the growth that a client is sent is the message: put together here, of what `obverse parse --jsonl` writes, in random chunks.

The message has to be the one that transformers' parser gives, which never saw a chunk. So one run tries the parser, the deltas and the law between them."""

import json
import random
import subprocess
import tempfile
from pathlib import Path

WHOLE = object()


class Broken(Exception):
    """The growth is not the message."""


def cut(rng, text):
    """A text in pieces of one to some characters."""
    most, pieces = rng.choice((1, 3, 12, 60)), []
    while text:
        size = rng.randint(1, most)
        pieces.append(text[:size])
        text = text[size:]
    return pieces


def at(root, path):
    """The container of what a path leads to, and the last step; what is missing on the way is made."""
    for step, following in zip(path, path[1:]):
        fresh = [] if isinstance(following, int) else {}
        if isinstance(step, int):
            while len(root) <= step:
                root.append(None)
            if root[step] is None:
                root[step] = fresh
        elif root.get(step) is None:
            root[step] = fresh
        root = root[step]
    if isinstance(path[-1], int):
        while len(root) <= path[-1]:
            root.append(None)
    return root, path[-1]


def found(root, path):
    for step in path:
        root = root[step]
    return root


def without_empty(value):
    """A message without the texts that are empty: they grow by nothing."""
    if isinstance(value, dict):
        return {k: without_empty(v) for k, v in value.items() if v != ""}
    return [without_empty(v) for v in value] if isinstance(value, list) else value


def held(growth, message):
    """Holds the growth to the message."""
    whole, calls = {}, {}
    for one in growth:
        kind = one["type"]
        if kind == "text":
            place, step = at(whole, one["path"])
            said = place[step] if isinstance(step, int) else place.get(step)
            place[step] = (said or "") + one["text"]
        elif kind == "value":
            place, step = at(whole, one["path"])
            place[step] = one["value"]
        elif kind == "restart":
            place, step = at(whole, one["path"])
            if isinstance(step, int):
                place[step] = None
            else:
                place.pop(step, None)
        elif kind == "call":
            calls[one["index"]] = {**one, "arguments": "", "done": False}
        elif kind == "arguments":
            calls[one["index"]]["arguments"] += one["text"]
        elif kind == "call_done":
            calls[one["index"]]["done"] = True
        elif kind == "call_dropped":
            del calls[one["index"]]
        else:
            raise Broken(f"growth of the type {kind}")
    for call in calls.values():
        if not call["done"]:
            raise Broken(f"a call that is never done: {call}")
        there = found(message, call["path"])
        function = there["function"]
        arguments = function.get("arguments", WHOLE)
        told = call["arguments"]
        if arguments is not WHOLE and not isinstance(arguments, str):
            told = json.loads(told)
        if (there.get("id"), function["name"]) != (call.get("id"), call["name"]) or arguments is not WHOLE and told != arguments:
            raise Broken(f"another call: {call} for {there}")
        place, step = at(whole, call["path"])
        place[step] = there
    if without_empty(whole) != without_empty(message):
        raise Broken(f"it makes {json.dumps(whole, ensure_ascii=False)}")


def failures(obverse, document, asked, seed):
    """What is wrong with the growth of these, each a prefix, a response, the tools, and the message by transformers' parser or None."""
    rng = random.Random(seed)
    lines, expected = [], []
    for number, (prefix, response, tools, parsed) in enumerate(asked):
        for certain in (False, True) if number % 4 == 0 else (False,):
            lines.append({"prefix": prefix, "chunks": cut(rng, response), "tools": tools or [], "deltas": "growth", "certain": certain})
            expected.append(parsed)
    if not lines:
        return []
    with tempfile.TemporaryDirectory() as folder:
        template = Path(folder) / "template.json"
        template.write_text(json.dumps(document))
        text = "".join(json.dumps(line) + "\n" for line in lines)
        done = subprocess.run([obverse, "parse", "-q", "--jsonl", str(template)], input=text, capture_output=True, text=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    if len(answers) != len(lines):
        return [{"cause": f"{len(answers)} answers to {len(lines)} lines", "line": None, "told": done.stderr[-400:]}]
    bad = []
    for line, answer, parsed in zip(lines, answers, expected):
        growth = answer.get("initial_deltas", []) + [one for chunk in answer.get("deltas", []) for one in chunk] + answer.get("final_deltas", [])
        try:
            if "error" in answer:
                if parsed is not None:
                    raise Broken("an error where transformers has a message")
                continue
            if parsed is not None and answer["message"] != parsed:
                raise Broken("another message than that of transformers")
            held(growth, answer["message"])
            if line["certain"] and any(one["type"] in ("restart", "call_dropped") for one in growth):
                raise Broken("what is certain is taken back")
        except (Broken, KeyError, IndexError, TypeError, ValueError) as error:
            bad.append({"cause": f"growth: {error}", "line": line, "told": answer, "parsed": parsed})
    return bad
