"""How late the parsers of a server pass arguments on.

Each line of standard input is a JSON object: `response`, `tools`, what stands `before` and `behind` the one call in the response, the call's `name` and
`arguments`, and `text`, a text of the arguments whose bytes are looked at. Each line of the answer is a list of `{"parser", "sum", "most"}`, one for each of SGLang's parsers of
tool calls that gets the call right, and passes nothing of it on as text, when it is fed the response character by character: how many bytes the model has written behind each
byte of `text` by the time that it is passed on, in sum and at most.
"""

import json
import os
import sys
import sysconfig
import types
import typing
from unittest import mock


def load():
    """The parsers by their names. What else there is in SGLang is not imported: it needs a GPU's libraries."""
    root = os.path.join(sysconfig.get_paths()["purelib"], "sglang")
    for name in ("", "srt", "srt.entrypoints", "srt.entrypoints.openai", "srt.function_call", "srt.parser"):
        parts = [part for part in name.split(".") if part]
        module = types.ModuleType(".".join(["sglang", *parts]))
        module.__path__ = [os.path.join(root, *parts)]
        sys.modules[module.__name__] = module
    for name in ("xgrammar", "xgrammar.structural_tag", "xgrammar.builtin_structural_tag"):
        module = types.ModuleType(name)
        module.__path__ = []
        module.__getattr__ = lambda _: typing.Any
        sys.modules[name] = module
    for name in ("IPython", "IPython.display", "tqdm", "requests", "pybase64", "transformers", "huggingface_hub"):
        sys.modules[name] = mock.MagicMock(name=name)
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    return Tool, FunctionCallParser


TOOL, PARSER = load()


def calls(name, tools, response):
    """What a parser passes on: the text, and of each call its name, its arguments' text, and when each byte of that came."""
    parser = PARSER(tools, name)
    found, texts = {}, []

    def take(passed, at):
        text, pieces = passed
        texts.append(text or "")
        for piece in pieces:
            call = found.setdefault(piece.tool_index, {"name": "", "text": "", "times": []})
            call["name"] += piece.name or ""
            call["text"] += piece.parameters or ""
            call["times"] += [at] * len((piece.parameters or "").encode())

    at = 0
    for character in response:
        at += len(character.encode())
        take(parser.parse_stream_chunk(character), at)
    take(parser.parse_stream_end(), at)
    return "".join(texts), list(found.values())


def delay(case, name):
    """The delays of one parser; None where it does not get the call right."""
    tools = [TOOL(**tool) for tool in case["tools"]]
    try:
        beside, found = calls(name, tools, case["response"])
    except Exception:  # A parser that fails has not got it right.
        return None
    if len(found) != 1 or found[0]["name"] != case["name"]:
        return None
    # What marks the call must not be left in the text; other parsers take the marks of reasoning and the end token from it.
    beside, before, behind = ("".join(text.split()) for text in (beside, case["before"], case["behind"]))
    if not beside.startswith(before) or beside[len(before) :] not in behind:
        return None
    text, times = found[0]["text"], found[0]["times"]
    try:
        if json.loads(text) != case["arguments"]:
            return None
    except ValueError:
        return None
    passed = text.encode().find(case["text"].encode())
    written = case["response"].encode().find(case["text"].encode())
    if passed < 0 or written < 0:
        return None
    delays = [times[passed + offset] - (written + offset + 1) for offset in range(len(case["text"].encode()))]
    return {"parser": name, "sum": sum(delays), "most": max(delays)}


def main():
    names = [name for name in PARSER.ToolCallParserEnum if name != "response_template"]
    for line in sys.stdin:
        case = json.loads(line)
        found = (delay(case, name) for name in names)
        print(json.dumps([one for one in found if one is not None]), flush=True)


main()
