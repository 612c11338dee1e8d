"""What holds data: equal, with an equal hash, after it was pickled and after it was copied."""

import copy
import json
import pickle
import subprocess
import sys
import unittest

import obverse
from support import TEMPLATE

CHAT = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}[call {{ c.function.name }}{% for k, v in c.function.arguments.items() %}|{{ k }}={{ v }};{% endfor %}]{% endfor %}</s>"
    "{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
MESSAGES = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]


class Data(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.derivation = obverse.derive(CHAT)
        grammar = obverse.grammar(TEMPLATE, format="gbnf")
        chat = obverse.ChatTemplate(CHAT, special_tokens={"bos_token": "<b>"})
        spans = chat.spans(MESSAGES)
        finding = obverse.lint({"start_anchor": "A:", "fields": {"content": {"close_pattern": "B|$"}}})[0]
        result = obverse.Result("a", "failed", [finding])
        cls.all = [
            obverse.ResponseTemplate(TEMPLATE),
            obverse.ResponseTemplate({"start_anchor": "A:", "defaults": {"n": [10**30, float("nan"), 1.0, None]}, "fields": {"content": {}}}),
            obverse.ResponseTemplate.from_json(json.dumps(TEMPLATE, indent=4)),
            chat,
            cls.derivation,
            cls.derivation.strict_reader(),
            grammar,
            grammar.accepts("Hi"),
            spans,
            spans.spans[0],
            finding,
            result,
            obverse.Check([result], {"failed": 1}),
        ]

    def test_it_is_equal_to_what_it_was(self):
        for one in self.all:
            for made in (lambda one: pickle.loads(pickle.dumps(one)), copy.copy, copy.deepcopy):
                with self.subTest(type(one).__name__):
                    again = made(one)
                    self.assertIs(type(again), type(one))
                    self.assertEqual(again, one)
                    self.assertEqual(hash(again), hash(one))

    def test_others_are_others(self):
        first, others = self.all[0], self.all[1:]
        self.assertEqual(len({first, *others}), len(self.all) - 1, "the third is the first, read from text")
        self.assertNotEqual(obverse.ChatTemplate(CHAT), self.all[3], "the special tokens differ")
        self.assertNotEqual(first, TEMPLATE)
        turned = {**TEMPLATE, "fields": dict(reversed(TEMPLATE["fields"].items()))}
        self.assertNotEqual(obverse.ResponseTemplate(turned), first, "its messages have another order")

    def test_the_same_template_of_another_process_is_equal(self):
        program = "import pickle, sys; sys.stdout.buffer.write(pickle.dumps(pickle.load(sys.stdin.buffer)))"
        given = pickle.dumps(self.all)
        told = subprocess.run([sys.executable, "-c", program], input=given, capture_output=True, check=True)
        self.assertEqual(pickle.loads(told.stdout), self.all)

    def test_a_copy_does_what_it_was_copied_from_does(self):
        for made in (copy.copy, copy.deepcopy):
            self.assertTrue(made(obverse.grammar(TEMPLATE, format="gbnf")).accepts("Hi").allowed)
            self.assertEqual(made(self.derivation).strict_reader(), self.derivation.strict_reader())
        self.assertIsNot(copy.deepcopy(self.derivation).report, self.derivation.report)

    def test_parsers_are_not_data(self):
        for parser in (obverse.Parser(TEMPLATE), obverse.DeltaParser(TEMPLATE)):
            for made in (pickle.dumps, copy.copy, copy.deepcopy):
                with self.assertRaisesRegex(TypeError, "cannot pickle"):
                    made(parser)


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.derivation = obverse.derive(CHAT)
        cls.reader = cls.derivation.strict_reader()

    def test_it_reads_what_no_response_template_says(self):
        message = self.reader.parse("[call book|who=O'Hara;|seats=['a', None];]</s>")
        self.assertEqual(message["tool_calls"][0]["function"], {"name": "book", "arguments": {"who": "O'Hara", "seats": ["a", None]}})

    def test_tools_type_and_a_prefix_is_passed_over(self):
        tools = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "string"}}}}]
        for given, value in ((None, 5), (tools, "5")):
            message = self.reader.parse("[call f|n=5;]</s>", prefix="<user>Hi</s><assistant>", tools=given)
            self.assertEqual(message["tool_calls"][0]["function"]["arguments"], {"n": value})

    def test_it_is_the_document_that_the_command_writes(self):
        self.assertEqual(obverse.StrictReader(self.reader.document), self.reader)
        self.assertEqual(self.reader.document["peg"], 1)
        tried = self.reader.tried
        self.assertGreaterEqual(tried["of"], tried["read"])
        self.assertGreater(tried["read"], 0)
        self.assertIsNone(obverse.StrictReader(self.reader.document).tried)

    def test_what_does_not_match_is_told(self):
        with self.assertRaises(obverse.ParseError) as raised:
            self.reader.parse("[call f|n=5;")
        self.assertEqual((raised.exception.code, raised.exception.span), ("no-match", (12, 12)))
        with self.assertRaises(obverse.TemplateError) as raised:
            obverse.StrictReader({"peg": 1, "root": {"ref": "nowhere"}})
        self.assertTrue(raised.exception.diagnostics)
        with self.assertRaisesRegex(TypeError, r"^\$\.root: JSON has no objects of the type set"):
            obverse.StrictReader({"peg": 1, "root": {1}})

    def test_a_pickled_derivation_says_what_it_has_lost(self):
        with self.assertRaisesRegex(ValueError, "derive anew, or pickle the reader itself"):
            pickle.loads(pickle.dumps(self.derivation)).strict_reader()

    def test_a_grammar_for_any_tool_reads_any_tool(self):
        tools = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
        given = {"format": "peg", "tools": tools, "prefix": "<assistant>"}
        bound, free = (obverse.StrictReader(json.loads(obverse.grammar(CHAT, any_tool=any_tool, **given).text)) for any_tool in (False, True))
        for reader in (bound, free):
            self.assertEqual(reader.parse("[call f|n=5;]</s>")["tool_calls"][0]["function"]["name"], "f")
        with self.assertRaises(obverse.ParseError):
            bound.parse("[call g|m=5;]</s>")
        self.assertEqual(free.parse("[call g|m=5;]</s>")["tool_calls"][0]["function"]["arguments"], {"m": 5})
        with self.assertRaisesRegex(ValueError, "'peg' alone"):
            obverse.grammar(CHAT, format="gbnf", any_tool=True)


if __name__ == "__main__":
    unittest.main()
