"""The drop-in beside what it takes the place of, on the cases of the parser."""

import copy
import json
import pickle
import signal
import subprocess
import sys
import unittest

import obverse
from obverse import chat_parsing
from support import CASES, TEMPLATE, chunks, joined, needs_reference, spelled

#: A case whose `$` is not certain before the end, so that an event of the whole response comes with the end: docs/differences.md.
LATE = "a close that may be the end of the text fires before a last line end, and that is the end of processing"

#: How long, in seconds, the reference may take for a response.
SECONDS = 5


class Timeout(Exception):
    pass


def give_up(_signal, _frame):
    raise Timeout


def cases():
    for file in sorted(CASES.glob("*.json")):
        content = json.loads(file.read_text(encoding="utf-8"))
        templates = content.get("templates", {})
        for case in content["cases"]:
            template = case["template"]
            yield f"{file.name}: {case['name']}", case, templates[template] if isinstance(template, str) else template


def answer(module, case, template, texts):
    """What a parser makes of a case: what it returned, call by call, and what it raised."""
    told = []
    parser = None
    try:
        parser = module.ResponseParser(template, case.get("prefix", ""), tools=case.get("tools"))
        told.append(parser.initial_events)
        for text in texts:
            told.append(parser.feed(text))
        message, events = parser.finalize()
        told.append(events)
    except Timeout:
        raise
    except Exception as error:
        return told, None if parser is None else parser._output, error
    return told, message, None


def words(error):
    """What an exception says. Which groups of a pattern took part is not known afterwards, so what is available is left out."""
    said = str(error.args[0]) if isinstance(error, KeyError) else str(error)
    return said.partition(" Available: ")[0] if isinstance(error, KeyError) else said


@needs_reference
class Beside(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        from transformers.utils import chat_parsing as reference

        cls.reference = reference
        cls.before = signal.signal(signal.SIGALRM, give_up)

    @classmethod
    def tearDownClass(cls):
        signal.signal(signal.SIGALRM, cls.before)

    def compare(self, case, template, texts, is_whole):
        signal.alarm(SECONDS)
        try:
            theirs, their_message, their_error = answer(self.reference, case, template, texts)
        except Timeout:
            return
        finally:
            signal.alarm(0)
        ours, message, error = answer(chat_parsing, case, template, texts)
        if their_error is None:
            self.assertIsNone(error)
            if is_whole:
                self.assertEqual(spelled(ours), spelled(theirs))
            else:
                self.assertEqual(
                    spelled(joined(event for call in ours for event in call)),
                    spelled(joined(event for call in theirs for event in call)),
                )
        else:
            self.assertIsInstance(error, type(their_error))
            self.assertIsInstance(error, obverse.ObverseError)
            self.assertIn(words(their_error), str(error))
        # A prefix that breaks a region leaves the reference without a parser, and so without a message.
        if their_error is None or their_message is not None:
            self.assertEqual(spelled(message), spelled(their_message))

    def test_cases_are_answered_alike(self):
        count = 0
        for name, case, template in cases():
            with self.subTest(name):
                count += 1
                is_late = case.get("chunked") == "differs" or case["name"] == LATE
                self.compare(case, template, [case["response"]], not is_late)
        self.assertGreater(count, 100)

    def test_cases_are_answered_alike_in_pieces(self):
        for name, case, template in cases():
            if case.get("chunked") == "differs" or "error" in case:
                continue
            for size in (1, 4):
                with self.subTest(name, size=size):
                    self.compare(case, template, chunks(case["response"], size), False)

    def test_whole_responses_are_answered_alike(self):
        for name, case, template in cases():
            if case.get("prefix", "") is None or case.get("error", {}).get("type") == "Timeout":
                continue
            arguments = {"prefix": case.get("prefix", ""), "tools": case.get("tools")}
            with self.subTest(name):
                try:
                    theirs = self.reference.parse_response(case["response"], template, **arguments)
                except Exception as error:
                    with self.assertRaises(type(error)) as raised:
                        chat_parsing.parse_response(case["response"], template, **arguments)
                    self.assertIn(words(error), str(raised.exception))
                else:
                    self.assertEqual(spelled(chat_parsing.parse_response(case["response"], template, **arguments)), spelled(theirs))

    def test_what_the_reference_has_loaded_is_taken(self):
        from transformers.utils.chat_parsing.response_templates import load_response_template

        for name, case, template in cases():
            try:
                loaded = load_response_template(template)
            except Exception:
                continue
            with self.subTest(name):
                ours = chat_parsing.load_response_template(loaded)
                self.assertEqual(ours.fields, chat_parsing.load_response_template(template).fields)

    def test_a_parser_whose_end_has_come_says_so(self):
        for module in (self.reference, chat_parsing):
            parser = module.ResponseParser(TEMPLATE, "")
            parser.finalize()
            for call in (lambda: parser.feed("x"), parser.finalize):
                with self.assertRaisesRegex(RuntimeError, "ResponseParser already finalized"):
                    call()

    def test_a_parser_is_not_copied(self):
        parser = obverse.chat_parsing.ResponseParser(TEMPLATE, prefix="")
        for copied in (copy.copy, copy.deepcopy, pickle.dumps):
            with self.assertRaisesRegex(TypeError, "feed the text so far to another one"):
                copied(parser)

    def test_functions_are_tools(self):
        def alarm(hour: int):
            """
            Rings.

            Args:
                hour: When.
            """

        template = {
            "start_anchor": "A:",
            "fields": {
                "tool_calls": {
                    "open_pattern": r"<(?P<name>\w+)>",
                    "close": "</call>",
                    "content": "kv-lines",
                    "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
                }
            },
        }
        for module in (self.reference, chat_parsing):
            message = module.parse_response("<alarm>hour: 7</call>", template, prefix="", tools=[alarm])
            self.assertEqual(message["tool_calls"]["function"]["arguments"], {"hour": 7})


@needs_reference
class Installing(unittest.TestCase):
    def tearDown(self):
        obverse.uninstall()

    def test_a_tokenizer_uses_what_is_installed(self):
        from transformers import tokenization_utils_base as tokenizers
        from transformers.utils import chat_parsing as reference
        from transformers.utils.chat_parsing import response_parser

        before = reference.ResponseParser, tokenizers._template_parse_response
        obverse.install()
        obverse.install()
        self.assertIs(reference.ResponseParser, chat_parsing.ResponseParser)
        self.assertIs(response_parser.parse_response, chat_parsing.parse_response)
        self.assertIs(tokenizers._template_parse_response, chat_parsing.parse_response)
        self.assertIs(tokenizers.ResponseParser, chat_parsing.ResponseParser)
        obverse.uninstall()
        obverse.uninstall()
        self.assertEqual((reference.ResponseParser, tokenizers._template_parse_response), before)

    def test_errors_have_the_references_words_while_installed(self):
        obverse.install()
        from transformers.utils.chat_parsing import parse_response

        with self.assertRaisesRegex(ValueError, "could not parse region as JSON"):
            parse_response("<call>{oops</call>", TEMPLATE, prefix="")
        with self.assertRaisesRegex(ValueError, 'pass `prefix=""` to opt out'):
            parse_response("Hi", TEMPLATE)


class Alone(unittest.TestCase):
    def test_transformers_is_not_needed(self):
        program = (
            "import sys; sys.modules['transformers'] = None\n"
            "from obverse.chat_parsing import ResponseParser, parse_response\n"
            f"template = {TEMPLATE!r}\n"
            "assert parse_response('Hi', template, prefix='') == {'role': 'assistant', 'content': 'Hi'}\n"
            "try: ResponseParser(template)\n"
            "except ValueError as error: assert 'prefix' in str(error)\n"
            "else: raise SystemExit('no error')\n"
        )
        subprocess.run([sys.executable, "-c", program], check=True)


if __name__ == "__main__":
    unittest.main()
