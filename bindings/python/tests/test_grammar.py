"""Grammars: what a model may write."""

import json
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import obverse
from support import CHAT_TEMPLATES

QWEN = CHAT_TEMPLATES / "qwen3.jinja"
SMALL = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content or '' }}"
    "{% for c in m.tool_calls or [] %}<call>{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}</call>{% endfor %}</>"
    "{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
FIND = {"name": "find", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
TOOLS = [{"type": "function", "function": FIND}]


class Grammars(unittest.TestCase):
    def test_each_language_is_written(self):
        for format, begins in [("gbnf", "root ::="), ("lark", "start:"), ("structural-tag", "{")]:
            grammar = obverse.grammar(SMALL, format=format, tools=TOOLS)
            self.assertEqual(grammar.format, format)
            self.assertTrue(grammar.text.lstrip().startswith(begins), grammar.text[:200])
            self.assertIn("city", grammar.text)
            self.assertIn("<call>", grammar.text)
        self.assertIsInstance(json.loads(grammar.text), dict)

    def test_it_is_what_the_command_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            tools = Path(folder) / "tools.json"
            tools.write_text(json.dumps(TOOLS))
            chat = Path(folder) / "chat.jinja"
            chat.write_text(SMALL)
            arguments = ["grammar", str(chat), "--tools", str(tools), "--format", "gbnf", "--tool-choice", "required"]
            told = subprocess.run([sys.executable, "-m", "obverse", *arguments], capture_output=True, text=True, check=True)
        grammar = obverse.grammar(SMALL, format="gbnf", tools=TOOLS, tool_choice="required")
        self.assertEqual(grammar.text.rstrip(), told.stdout.rstrip())

    def test_the_prompt_may_have_opened_the_reasoning(self):
        open_already = "<|im_start|>assistant\n<think>\n"
        shut = obverse.grammar(QWEN, format="gbnf", prefix=open_already + "\n</think>\n\n")
        begun = obverse.grammar(QWEN, format="gbnf", prefix=open_already)
        self.assertNotEqual(shut.text, begun.text)
        self.assertEqual(obverse.grammar(QWEN, format="gbnf", kwargs={"enable_thinking": False}).text, shut.text)

    def test_special_tokens_are_tokens(self):
        plain = obverse.grammar(SMALL, format="lark", tools=TOOLS)
        tokens = obverse.grammar(SMALL, format="lark", tools=TOOLS, token_ids={"<call>": 7})
        self.assertIn('"<call>', plain.text)
        self.assertNotIn('"<call>', tokens.text)

    def test_what_cannot_be_is_told(self):
        with self.assertRaisesRegex(obverse.SourceError, "no tool `lookup`"):
            obverse.grammar(SMALL, format="gbnf", tools=TOOLS, tool_choice="lookup")
        with self.assertRaisesRegex(ValueError, "'gbnf', 'ebnf', 'lark', 'peg' or 'structural-tag'"):
            obverse.grammar(SMALL, format="bnf")
        with self.assertRaisesRegex(ValueError, "'auto', 'on' or 'off'"):
            obverse.grammar(SMALL, format="gbnf", reasoning="yes")

    def test_a_response_template_is_enough(self):
        template = obverse.derive(SMALL).response_template
        alone = obverse.grammar(template, format="gbnf", tools=TOOLS)
        self.assertIn("city", alone.text)
        self.assertTrue(alone.notes)
        for source in (obverse.ResponseTemplate(template), obverse.derive(SMALL)):
            self.assertEqual(obverse.grammar(source, format="gbnf", tools=TOOLS).text, alone.text)
        with tempfile.TemporaryDirectory() as folder:
            for name, document in [("template.json", template), ("tokenizer_config.json", {"response_template": template})]:
                path = Path(folder, name)
                path.write_text(json.dumps(document), encoding="utf-8")
                self.assertEqual(obverse.grammar(path, format="gbnf", tools=TOOLS).text, alone.text)
                self.assertEqual(obverse.grammar(str(path), format="gbnf", tools=TOOLS).text, alone.text)
        with self.assertRaisesRegex(ValueError, "give the prompt as prefix"):
            obverse.grammar(template, format="gbnf", kwargs={"enable_thinking": False})

    def test_a_peg_reads_what_it_allows(self):
        grammar = obverse.grammar(SMALL, format="peg", tools=TOOLS)
        self.assertIsInstance(json.loads(grammar.text), dict)

    def test_a_response_is_held_to_it(self):
        grammar = obverse.grammar(SMALL, format="gbnf", tools=TOOLS)
        begun = 'Grüße.<call>{"name": "find", "arguments": {'
        held = grammar.accepts(begun)
        self.assertEqual((held.allowed, held.complete, held.at), (True, False, len(begun)))
        self.assertIn('"\\"city\\""', held.expected)
        held = grammar.accepts(begun + '"town"')
        self.assertEqual((held.allowed, held.complete, held.at), (False, False, len(begun) + 1))
        self.assertTrue(grammar.accepts(begun + '"city": "Ulm"}}</call></>').complete)

    def test_samples_are_allowed(self):
        grammar = obverse.grammar(SMALL, format="gbnf", tools=TOOLS, tool_choice="required")
        samples = grammar.sample(20, seed=3)
        self.assertEqual(len(samples), 20)
        self.assertEqual(samples, grammar.sample(20, seed=3))
        self.assertTrue(all(grammar.accepts(sample).complete for sample in samples))

    def test_a_pickled_grammar_is_its_text(self):
        grammar = obverse.grammar(SMALL, format="gbnf", tools=TOOLS)
        again = pickle.loads(pickle.dumps(grammar))
        self.assertEqual(again, grammar)
        with self.assertRaisesRegex(ValueError, "its text alone"):
            again.accepts("")


if __name__ == "__main__":
    unittest.main()
