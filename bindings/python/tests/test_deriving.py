"""Deriving, inspecting and linting, and the command."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import obverse
from support import CHAT_TEMPLATES, DERIVED, TEMPLATE, needs_reference

#: A chat template that is quickly derived from.
PLAIN = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


class Deriving(unittest.TestCase):
    def test_a_text_is_derived_from(self):
        derivation = obverse.derive(PLAIN)
        self.assertEqual((derivation.verdict, derivation.verified), ("proved", True))
        self.assertEqual(obverse.parse("Hello!</assistant>", derivation.response_template)["content"], "Hello!")
        self.assertEqual(json.loads(derivation.to_json()), derivation.response_template)
        self.assertIn("proved", repr(derivation))

    def test_a_file_gives_what_the_command_gives(self):
        path = CHAT_TEMPLATES / "command_r.jinja"
        path = path if path.exists() else sorted(CHAT_TEMPLATES.glob("*.jinja"))[0]
        for given in (path, str(path)):
            derivation = obverse.derive(given)
            expected = json.loads((DERIVED / f"{path.stem}.json").read_text(encoding="utf-8"))
            self.assertEqual(derivation.response_template, expected)

    def test_a_notebook_is_shown_no_markup_of_the_chat_template(self):
        chat_template = PLAIN.replace("<{{ m.role }}>", "<img src={{ m.role }}>").replace("<assistant>", "<img src=assistant>")
        shown = obverse.derive(chat_template)._repr_html_()
        self.assertIn("&lt;img src=assistant&gt;", shown)
        self.assertNotIn("<img", shown)

    def test_engines_are_named(self):
        self.assertTrue(obverse.derive(PLAIN, for_=["vllm", "sglang"]).verified)
        with self.assertRaises(ValueError):
            obverse.derive(PLAIN, for_=["nothing"])

    def test_what_cannot_be_derived_from_is_told(self):
        for source in ("{% if %}", "{{ raise_exception('no') }}", Path("no/such/folder")):
            with self.subTest(source), self.assertRaises(obverse.SourceError):
                obverse.derive(source)
        with self.assertRaises(TypeError):
            obverse.derive(7)

    def test_a_processors_tokenizer_tells_the_special_tokens(self):
        tokenizer = SimpleNamespace(bos_token="<b>", eos_token="<end>", name_or_path="some/model", added_tokens_decoder={})
        processor = SimpleNamespace(chat_template=PLAIN.replace("</{{ m.role }}>", "{{ eos_token }}"), tokenizer=tokenizer)
        derivation = obverse.derive(processor)
        self.assertIn("<end>", derivation.to_json())

    def test_named_chat_templates_are_known(self):
        tokenizer = SimpleNamespace(chat_template={"default": PLAIN, "tool_use": PLAIN}, name_or_path="some/model")
        inspection = obverse.inspect(tokenizer)
        self.assertEqual(sorted(template["name"] for template in inspection["templates"]), ["default", "tool_use"])
        self.assertEqual(inspection["source"], "some/model")

    @needs_reference
    def test_a_tokenizer_is_derived_from(self):
        from transformers import PreTrainedTokenizerFast

        tokenizer = PreTrainedTokenizerFast(
            tokenizer_file=str(CHAT_TEMPLATES.parent / "tests" / "support" / "tokenizer.json"), eos_token="<|end|>"
        )
        tokenizer.chat_template = PLAIN.replace("</{{ m.role }}>", "{{ eos_token }}")
        derivation = obverse.derive(tokenizer)
        self.assertTrue(derivation.verified)
        tokenizer.response_template = derivation.response_template
        self.assertEqual(tokenizer.parse_response("Hello!<|end|>", prefix="<assistant>")["content"], "Hello!")


class Inspecting(unittest.TestCase):
    def test_what_a_chat_template_supports_is_told(self):
        (template,) = obverse.inspect(PLAIN)["templates"]
        self.assertIn("user", [role["role"] for role in template["roles"]["known"]])


class Linting(unittest.TestCase):
    DOLLAR = {"start_anchor": "<bot>", "fields": {"content": {"close_pattern": "</bot>|$"}}}

    def test_findings_have_their_places(self):
        finding = next(found for found in obverse.lint(self.DOLLAR) if found.code == "dollar")
        self.assertEqual((finding.severity, finding.path), ("warning", "$.fields.content.close_pattern"))
        start, end = finding.span
        self.assertEqual(json.dumps(self.DOLLAR)[start:end], '"</bot>|$"')

    def test_documents_are_given_in_any_form(self):
        codes = [found.code for found in obverse.lint(self.DOLLAR)]
        self.assertEqual([found.code for found in obverse.lint(json.dumps(self.DOLLAR, indent=2))], codes)
        self.assertEqual([found.code for found in obverse.lint(obverse.ResponseTemplate(self.DOLLAR))], codes)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "template.json"
            path.write_text(json.dumps(self.DOLLAR))
            for given in (path, str(path)):
                self.assertEqual([found.code for found in obverse.lint(given)], codes)

    def test_what_is_no_response_template_is_a_finding(self):
        self.assertIn("missing-key", [found.code for found in obverse.lint({"fields": {"content": {}}})])

    def test_engines_and_chat_templates_count(self):
        odd = {"start_anchor": "<bot>", "fields": {"answer": {}}}
        self.assertGreater(len(obverse.lint(odd, for_=["vllm"])), len(obverse.lint(odd)))
        found = obverse.lint({"start_anchor": "<nobody>", "fields": {"content": {}}}, chat_template=PLAIN)
        self.assertIn("anchor-not-rendered", [one.code for one in found])


class Command(unittest.TestCase):
    def run_command(self, *arguments, **others):
        command = [sys.executable, "-m", "obverse", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, **others)

    def test_it_parses(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "template.json")
            Path(path).write_text(json.dumps(TEMPLATE))
            done = self.run_command("parse", path, "-", input="<think>A</think>B")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(json.loads(done.stdout), {"role": "assistant", "thinking": "A", "content": "B"})

    def test_its_exit_status_is_the_binarys(self):
        self.assertEqual(self.run_command("--version").returncode, 0)
        self.assertEqual(self.run_command("lint", "-", input='{"fields": {}}').returncode, 1)
        self.assertEqual(self.run_command("no-such-verb").returncode, 2)

    def test_it_has_all_verbs(self):
        told = self.run_command("--help").stdout
        for verb in ("derive", "convert", "inspect", "parse", "grammar", "render", "spans", "annotate", "read", "check", "serve"):
            self.assertIn(f"  {verb}", told)


if __name__ == "__main__":
    unittest.main()
