"""Deltas: what the clients of a server are sent while a response is read."""

import json
import unittest

import obverse
from support import DERIVED, chunks

QWEN = obverse.load(DERIVED / "qwen3.json")
RESPONSE = 'Sure.<tool_call>{"name": "find", "arguments": {"city": "Paris", "days": "3"}}</tool_call>'
TOOLS = [{"type": "function", "function": {"name": "find", "parameters": {"properties": {"days": {"type": "integer"}}}}}]


def sent(template, response, size=4, **options):
    """All events of a response in pieces, and its message."""
    parser = obverse.DeltaParser(template, **options)
    events = list(parser.initial_events)
    for piece in chunks(response, size):
        events += parser.feed(piece)
    message, last = parser.finalize()
    return events + last, message


class Deltas(unittest.TestCase):
    def test_arguments_come_as_they_are_written(self):
        parser = obverse.DeltaParser(QWEN)
        parser.feed('<tool_call>{"name": "find", "arguments": {"city": "Pa')
        self.assertEqual(parser.feed("ris"), [{"type": "arguments", "index": 0, "text": "ris"}])

    def test_the_growth_is_the_message(self):
        for size in (1, 4, 1000):
            events, message = sent(QWEN, RESPONSE, size, tools=TOOLS)
            text = "".join(e["text"] for e in events if e["type"] == "text" and e["path"] == ["content"])
            arguments = "".join(e["text"] for e in events if e["type"] == "arguments")
            self.assertEqual(text, message["content"])
            self.assertEqual(json.loads(arguments), {"city": "Paris", "days": 3})
            self.assertEqual(message["tool_calls"][0]["function"]["arguments"], {"city": "Paris", "days": 3})
            self.assertEqual(message, obverse.parse(RESPONSE, QWEN, tools=TOOLS))

    def test_the_protocols_have_their_beginning_and_their_end(self):
        events, _ = sent(QWEN, RESPONSE, form="openai", id="chatcmpl-7", model="qwen3", created=12)
        self.assertEqual({(e["id"], e["model"], e["created"]) for e in events}, {("chatcmpl-7", "qwen3", 12)})
        self.assertEqual(events[0]["choices"][0]["delta"]["role"], "assistant")
        self.assertEqual(events[-1]["choices"][0]["finish_reason"], "tool_calls")
        kinds = [e["type"] for e in sent(QWEN, RESPONSE, form="anthropic")[0]]
        self.assertEqual((kinds[0], kinds[-1]), ("message_start", "message_stop"))
        kinds = [e["type"] for e in sent(QWEN, RESPONSE, form="responses")[0]]
        self.assertEqual((kinds[0], kinds[-1]), ("response.created", "response.completed"))

    def test_a_reply_may_be_cut_off(self):
        parser = obverse.DeltaParser(QWEN, form="openai")
        parser.feed("So far")
        message, events = parser.finalize("length")
        self.assertEqual(message["content"], "So far")
        self.assertEqual(events[-1]["choices"][0]["finish_reason"], "length")

    def test_events_are_framed(self):
        parser = obverse.DeltaParser(QWEN, form="anthropic")
        event = parser.initial_events[0]
        name, data, end = parser.frame(event).split("\n", 2)
        self.assertEqual((name, end), ("event: message_start", "\n"))
        self.assertEqual(json.loads(data.removeprefix("data: ")), event)
        self.assertEqual(obverse.DeltaParser(QWEN, form="openai").last_frame, "data: [DONE]\n\n")

    def test_a_prefix_may_have_begun_the_message(self):
        parser = obverse.DeltaParser(QWEN, "<|im_start|>assistant\n<think>\nHm")
        self.assertEqual(parser.initial_events[-1], {"type": "text", "path": [list(QWEN.document["fields"])[0]], "text": "Hm"})

    def test_what_is_certain_waits(self):
        begun = '<tool_call>{"name": "find", "arguments": {"city": "Pa'
        self.assertTrue(obverse.DeltaParser(QWEN).feed(begun))
        self.assertEqual(obverse.DeltaParser(QWEN, certain=True).feed(begun), [])

    def test_what_does_not_parse_is_told(self):
        call = {"open": "<c>", "close": "</c>", "content": "json", "transform": {"type": "function", "function": "{content}"}}
        parser = obverse.DeltaParser({"start_anchor": "A:", "fields": {"tool_calls": {**call, "repeats": True}, "content": {}}})
        with self.assertRaises(obverse.ParseError):
            parser.feed('<c>{"name": "find", "arguments": {"a": tru}}</c>')
        self.assertEqual(parser.feed("")[-1], {"type": "call_dropped", "index": 0})
        self.assertEqual(parser.feed("On")[-1]["text"], "On")

    def test_wrong_names_are_refused(self):
        with self.assertRaisesRegex(ValueError, "there are growth, openai, responses and anthropic"):
            obverse.DeltaParser(QWEN, form="grpc")
        with self.assertRaisesRegex(ValueError, "'complete' or 'length'"):
            obverse.DeltaParser(QWEN).finalize("over")


if __name__ == "__main__":
    unittest.main()
