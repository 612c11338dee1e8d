"""The second judge is judged: what is broken must be caught, what is ambiguous excused, what is right left alone.

    python -m unittest discover -s tests/second_judge
"""

import copy
import os
import sys
import unittest
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
sys.path.insert(0, str(Path(__file__).resolve().parent))

import growth  # noqa: E402
from judging import Context, Judge  # noqa: E402
from renaming import STYLES, renamed  # noqa: E402
from rendering import ChatTemplate, Manner  # noqa: E402
from trial import Trial  # noqa: E402

CHAT_TEMPLATE = """\
{%- for m in messages -%}
  {{- "<|" + m.role + "|>" -}}
  {%- if m.reasoning_content -%}{{- "<think>" + m.reasoning_content | trim + "</think>" -}}{%- endif -%}
  {{- m.content | trim if m.content else "" -}}
  {%- for call in m.tool_calls or [] -%}
    {{- "<call>" + {"name": call.function.name, "arguments": call.function.arguments} | tojson + "</call>" -}}
  {%- endfor -%}
  {{- "<|end|>" -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- "<|assistant|>" -}}{%- endif -%}
"""
RESPONSE_TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|assistant|>",
    "fields": {
        "reasoning_content": {"open": "<think>", "close": "</think>"},
        "tool_calls": {"open": "<call>", "close": "</call>", "repeats": True, "content": "json", "transform": {"type": "function", "function": "{content}"}},
        "content": {"close": "<|end|>"},
    },
}
ASKED = Context("asked", [{"role": "user", "content": "And?"}], {})


def message(content=None, reasoning=None, calls=()):
    return {"content": content, "reasoning": reasoning, "calls": [{"name": n, "arguments": a, "id": None} for n, a in calls]}


def judge(document, said, chat_template=CHAT_TEMPLATE, chunks=(1, 3)):
    one = Judge(ChatTemplate(chat_template), document)
    for scouted in (message("x"), message("x", "y", [("f", {"city": "z"})])):
        one.probe(scouted, ASKED, Manner())
    return one.judge(said, ASKED, Manner(), chunks)


def broken(**changes):
    document = copy.deepcopy(RESPONSE_TEMPLATE)
    for field, change in changes.items():
        document["fields"][field].update(change)
    return document


class Right(unittest.TestCase):
    def test_messages_that_come_back(self):
        for said in (
            message("Hello there."),
            message("  edges that are trimmed \n"),
            message("{\"a\": [1]} and <b>markup</b>", "thinks"),
            message("Both", None, [("f", {"a": [None, {"b": 10**30}], "c": 1.5, "d": "q\"\\\n"}), ("f", {})]),
        ):
            self.assertEqual(judge(RESPONSE_TEMPLATE, said).outcome, "right", said)

    def test_calls_before_which_no_header_stands(self):
        head = '{{- "<|" + m.role + "|>" -}}'
        headless = CHAT_TEMPLATE.replace(head, "{%- if m.content or not m.tool_calls -%}" + head + "{%- endif -%}")
        said = message(None, None, [("f", {"city": "Bonn"})])
        self.assertEqual(judge(RESPONSE_TEMPLATE, said, headless).outcome, "right")
        lost = broken(tool_calls={"open": "<other>"})
        self.assertEqual(judge(lost, said, headless).outcome, "wrong")
        # Where other calls stand behind a content than alone, nothing is known of how a model writes them.
        other = headless.replace('{{- "<call>" +', '{{- ("<call>" if m.content else "<only>") +')
        self.assertNotEqual(judge(RESPONSE_TEMPLATE, said, other).outcome, "right")

    def test_a_whole_trial(self):
        trial = Trial("test", CHAT_TEMPLATE, RESPONSE_TEMPLATE).run()
        self.assertEqual([f for f in trial.shrunk if f["outcome"] == "wrong"], [])
        self.assertGreater(sum(c["right"] for c in trial.counts.values()), 300)


class Caught(unittest.TestCase):
    def test_a_marker_in_the_content(self):
        document = copy.deepcopy(RESPONSE_TEMPLATE)
        del document["fields"]["reasoning_content"]
        verdict = judge(document, message("Hello", "thinks"))
        self.assertEqual((verdict.outcome, verdict.cause), ("wrong", "reasoning lost"))

    def test_the_last_of_two_calls(self):
        document = broken(tool_calls={"repeats": False})
        verdict = judge(document, message(None, None, [("f", {}), ("g", {})]))
        self.assertEqual(verdict.outcome, "wrong")

    def test_arguments_that_lose_their_type(self):
        chat_template = CHAT_TEMPLATE.replace("call.function.arguments}", "call.function.arguments | tojson}")
        said = message(None, None, [("f", {"city": [1]})])
        document = broken(tool_calls={"transform": {"type": "function", "function": {"name": "{name}", "arguments": {"city": "{arguments}"}}}, "transform_each": False})
        self.assertEqual(judge(document, said, chat_template).outcome, "wrong")

    def test_white_space_that_the_chat_template_keeps(self):
        verdict = judge(RESPONSE_TEMPLATE, message(" x"), CHAT_TEMPLATE.replace("m.content | trim if", "m.content if"))
        self.assertEqual((verdict.outcome, verdict.cause), ("slight", "white space at the ends of a text"))

    def test_a_trial_finds_the_smallest(self):
        document = copy.deepcopy(RESPONSE_TEMPLATE)
        document["fields"]["content"] = {"close_pattern": r"<\|end\|>|\?"}
        trial = Trial("test", CHAT_TEMPLATE, document).run()
        found = [f for f in trial.shrunk if f["outcome"] == "wrong"]
        self.assertTrue(found)
        self.assertTrue(any("?" in str(f["message"]) and len(str(f["message"])) < 80 for f in found), found)


class Excused(unittest.TestCase):
    def test_text_that_is_another_message_as_well(self):
        verdict = judge(RESPONSE_TEMPLATE, message("<think>a</think>b"))
        self.assertEqual(verdict.outcome, "ambiguous")

    def test_text_that_ends_the_turn(self):
        self.assertEqual(judge(RESPONSE_TEMPLATE, message("a<|end|>b")).outcome, "ambiguous")

    def test_what_stands_behind_the_conversation(self):
        """It may stand right behind what is said, where nothing ends a turn, and begin as the next turn would."""
        chat_template = "{%- for m in messages -%}<{{ m.role }}>{{ m.content }}{%- endfor -%}{%- if not add_generation_prompt -%}<tools>[]</tools>{%- endif -%}"
        chat_template += "{%- if add_generation_prompt -%}<assistant>{%- endif -%}"
        document = {"defaults": {"role": "assistant"}, "start_anchor": "<assistant>", "fields": {"content": {}}}
        self.assertEqual(judge(document, message("x"), chat_template).outcome, "right")
        document["fields"]["content"] = {"close": "x"}
        self.assertEqual(judge(document, message("xy"), chat_template).outcome, "wrong")

    def test_a_marker_that_is_spoken_of_is_told_apart(self):
        self.assertEqual(judge(RESPONSE_TEMPLATE, message("the <call> mark")).outcome, "spoken")

    def test_plain_words_are_not_excused(self):
        everything = {"defaults": {}, "start_anchor": "<|assistant|>", "fields": {"content": {"close": "<|end|>"}}}
        verdict = judge(everything, message("Hello", "thinks"))
        self.assertEqual(verdict.outcome, "wrong", "content may be rendered as it is, but holds what the chat template wrote")


class Renamed(unittest.TestCase):
    def test_the_program_is_the_same(self):
        for style in STYLES:
            other, markers = renamed(CHAT_TEMPLATE, style)
            self.assertEqual(len(set(markers)), len(markers))
            self.assertNotIn("<think>", other)
            text = ChatTemplate(other).render([{"role": "user", "content": "Hi"}], None, True, {}, "transformers")
            self.assertIn("Hi", text)


class Growth(unittest.TestCase):
    """Growth that is not the message must be told."""

    MESSAGE = {"role": "assistant", "content": "so", "tool_calls": [{"type": "function", "id": "x", "function": {"name": "f", "arguments": {"a": "b"}}}]}
    GROWTH = [
        {"type": "text", "path": ["role"], "text": "assistant"},
        {"type": "text", "path": ["content"], "text": "s"},
        {"type": "text", "path": ["content"], "text": "o"},
        {"type": "call", "index": 0, "path": ["tool_calls", 0], "id": "x", "name": "f"},
        {"type": "arguments", "index": 0, "text": '{"a": '},
        {"type": "arguments", "index": 0, "text": '"b"}'},
        {"type": "call_done", "index": 0},
    ]

    def test_right(self):
        growth.held(self.GROWTH, self.MESSAGE)
        dropped = [{"type": "call", "index": 1, "path": ["tool_calls", 1], "name": "g"}, {"type": "call_dropped", "index": 1}]
        growth.held([*self.GROWTH, *dropped], self.MESSAGE)
        again = [{"type": "text", "path": ["content"], "text": "no"}, {"type": "restart", "path": ["content"]}]
        growth.held([*again, *self.GROWTH], self.MESSAGE)

    def test_wrong(self):
        for left_out in range(len(self.GROWTH)):
            with self.subTest(left_out=left_out), self.assertRaises((growth.Broken, KeyError, ValueError)):
                growth.held(self.GROWTH[:left_out] + self.GROWTH[left_out + 1 :], self.MESSAGE)
        for number, key, other in [(2, "text", "x"), (3, "name", "g"), (3, "id", "y"), (3, "path", ["tool_calls", 1]), (5, "text", '"c"}')]:
            with self.subTest(key=key), self.assertRaises((growth.Broken, IndexError)):
                changed = [dict(one) for one in self.GROWTH]
                changed[number][key] = other
                growth.held(changed, self.MESSAGE)


if __name__ == "__main__":
    unittest.main()
