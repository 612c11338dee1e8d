"""Renders of a chat template and of a changed one, by the binary, which must be the same but for the change."""

import json
import subprocess

ASK = {"role": "user", "content": "A question"}
SYSTEM = {"role": "system", "content": "The rules"}
RESULT = {"role": "tool", "tool_call_id": "abcdEFG01", "name": "lookup", "content": "the result"}
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "lookup",
            "description": "Looks up.",
            "parameters": {
                "type": "object",
                "properties": {"city": {"type": "string", "description": "Where"}, "days": {"type": "array", "items": {"type": "integer"}}},
                "required": ["city"],
            },
        },
    }
]
KWARG_VALUES = (True, False, "high")


class Failed(Exception):
    """The binary cannot render a chat template at all."""


def call(arguments, identifier="abcdEFG01"):
    return {"id": identifier, "type": "function", "function": {"name": "lookup", "arguments": arguments}}


def answers():
    """Messages of every kind, in the ways in which chat templates take them."""
    yield {"content": "An answer"}
    for key in ("reasoning_content", "thinking", "reasoning"):
        yield {"content": "An answer", key: "Some thoughts"}
    yield {"content": [{"type": "thinking", "thinking": "Some thoughts"}, {"type": "text", "text": "An answer"}]}
    arguments = {"city": "Oslo", "days": [1, 2], "exact": True, "note": None}
    for given in (arguments, json.dumps(arguments)):
        for content in ({}, {"content": ""}, {"content": "An answer"}):
            yield {**content, "tool_calls": [call(given)]}
        yield {"content": "", "reasoning_content": "Some thoughts", "tool_calls": [call(given)]}
        yield {"content": "", "thinking": "Some thoughts", "tool_calls": [call(given), call(given, "abcdEFG02")]}
    yield {"content": "", "tool_calls": [call({})]}


def conversations():
    yield [ASK]
    yield [SYSTEM, ASK]
    for answer in answers():
        message = {"role": "assistant", **answer}
        yield [ASK, message]
        yield [SYSTEM, ASK, message, ASK]
        if "tool_calls" in answer:
            yield [ASK, message, RESULT]
            yield [ASK, message, RESULT, {"role": "assistant", "content": "It is so"}, ASK]


def lines(kwargs):
    """What is rendered: conversations with and without tools and prompt, and under the kwargs."""
    for messages in conversations():
        for prompt in (False, True):
            for tools in (None, TOOLS):
                yield {"messages": messages, "tools": tools, "add_generation_prompt": prompt}
    some = list(conversations())[:8]
    for name in kwargs[:6]:
        for value in KWARG_VALUES:
            for messages in some:
                yield {"messages": messages, "tools": TOOLS, "add_generation_prompt": True, "kwargs": {name: value}}


def spoken_lines(spoken):
    """Conversations that speak of markers, which show where a source looks for them, as `content.split("</think>")` does."""
    texts = [f"Alpha {marker} beta" for marker in spoken] + [f"{one}gamma{other}delta" for one, other in zip(spoken, spoken[1:])]
    for text in texts:
        yield {"messages": [ASK, {"role": "assistant", "content": text}]}
        yield {"messages": [{"role": "user", "content": text}, {"role": "assistant", "content": "An answer"}, ASK], "add_generation_prompt": True}


def changed_line(line, change):
    """A line with what a change makes of its texts and kwargs: markers that are spoken of are renamed as well."""

    def walk(value):
        if isinstance(value, dict):
            return {k: walk(v) for k, v in value.items()}
        if isinstance(value, list):
            return [walk(v) for v in value]
        return change.text(value) if isinstance(value, str) else value

    kwargs = {change.kwargs.get(name, name): value for name, value in line.get("kwargs", {}).items()}
    return {**line, "messages": walk(line["messages"]), **({"kwargs": kwargs} if kwargs else {})}


class Renders:
    """What a chat template makes of the lines: a text each, or None where it refuses."""

    def __init__(self, obverse, path, tokens, asked, origins=False):
        given = "".join(json.dumps({k: v for k, v in line.items() if v is not None}) + "\n" for line in asked)
        command = [*obverse, "render", "--jsonl", *token_options(tokens), *(["--origins"] if origins else []), str(path)]
        done = subprocess.run(command, input=given.encode(), capture_output=True, timeout=300)
        self.found = [json.loads(line) for line in done.stdout.splitlines()]
        if len(self.found) != len(asked):
            raise Failed(done.stderr.decode(errors="replace").strip()[-300:] or "not every line was rendered")
        self.texts = [one.get("text") for one in self.found]

    def written(self, index):
        """A text as runs of what the source writes and of what comes from elsewhere: (is the source's, text)."""
        text = self.texts[index].encode()
        runs = []
        for origin in self.found[index]["origins"]:
            part = ("source" in origin, text[origin["start"] : origin["end"]])
            if runs and runs[-1][0] == part[0]:
                runs[-1] = (part[0], runs[-1][1] + part[1])
            else:
                runs.append(part)
        return [(own, part.decode()) for own, part in runs]


def token_options(tokens):
    return ["--date=2025-06-15", *(f"--special-token={name}={text}" for name, text in tokens.items())]


def disagreement(before, after, change, with_origins):
    """The first render that is not what the change makes of the original's: (expected, found, index); None if there is none."""
    for index, (old, new) in enumerate(zip(before.texts, after.texts)):
        if old is None:
            expected = None
        elif with_origins:
            expected = expected_by_origins(before.written(index), change)
        else:
            expected = change.text(old)
        if expected != new:
            return expected, new, index
    return None


def expected_by_origins(runs, change):
    """A render in which only what the source writes is changed: a key that the source writes, and not the same key of a tool."""
    return "".join(change.written(text) if own else text for own, text in runs)
