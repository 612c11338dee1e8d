"""The drop-in beside what it takes the place of, on the cases of the parser."""

import collections
import copy
import functools
import importlib
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


#: A call whose arguments are typed by what tool it is of.
CALLING = {
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


def alarm(hour: int):
    """
    Rings.

    Args:
        hour: When.
    """


class Clock:
    def alarm(self, hour: int):
        """
        Rings.

        Args:
            hour: When.
        """

    def __call__(self, hour: int):
        """
        Rings.

        Args:
            hour: When.
        """


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
        for tool in (alarm, Clock().alarm, Clock.alarm):
            for module in (self.reference, chat_parsing):
                message = module.parse_response("<alarm>hour: 7</call>", CALLING, prefix="", tools=[tool])
                self.assertEqual(message["tool_calls"]["function"]["arguments"], {"hour": 7})

    def test_what_else_can_be_called_types_nothing(self):
        others = [functools.partial(alarm, 7), functools.lru_cache(alarm), Clock(), Clock, int, print, len, [].append]
        for tool in others:
            for module in (self.reference, chat_parsing):
                with self.subTest(tool, module=module.__name__):
                    message = module.parse_response("<alarm>hour: 7</call>", CALLING, prefix="", tools=[tool])
                    self.assertEqual(message["tool_calls"]["function"]["arguments"], {"hour": "7"})

    def alike(self, name, call):
        """Asserts that both answer a call alike, or fail with errors of which ours is one of theirs."""
        with self.subTest(name):
            try:
                theirs = call(self.reference)
            except Exception as error:
                with self.assertRaises(type(error)) as raised:
                    call(chat_parsing)
                self.assertFalse(type(raised.exception).__name__ == "PanicException")
            else:
                self.assertEqual(call(chat_parsing), theirs)

    def test_odd_texts_and_prefixes_are_answered_alike(self):
        def fed(text, prefix=""):
            def answer(module):
                parser = module.ResponseParser(TEMPLATE, prefix)
                return parser.initial_events, parser.feed(text), parser.finalize()

            return answer

        def fed_late(text):
            def answer(module):
                parser = module.ResponseParser(TEMPLATE, "")
                parser.finalize()
                parser.feed(text)

            return answer

        for odd in (None, "", 0, 1, 0.0, [], ["a"], b"", b"a", (), {}, {"a": 1}, False, True, object()):
            self.alike(f"parse_response({odd!r})", lambda module: module.parse_response(odd, TEMPLATE, prefix=""))
            self.alike(f"prefix={odd!r}", lambda module: module.parse_response("Hi", TEMPLATE, prefix=odd))
            self.alike(f"feed({odd!r})", fed(odd))
            self.alike(f"feed({odd!r}) of a parser with prefix", fed(odd, "<assistant><think>"))
            self.alike(f"prefix={odd!r} of a parser", fed("Hi", odd))
            if not odd:
                self.alike(f"feed({odd!r}) behind the end", fed_late(odd))

    def test_odd_tools_are_answered_alike(self):
        schema = {"name": "alarm", "parameters": {"properties": {"hour": {"type": "integer"}}}}
        lists = [None, 0, 1, 0.0, False, True, "", "x", [], (), (schema,), {}, schema, [None], [1], ["x"], [[schema]]]
        lists += [[collections.UserDict(schema)], [{"name": 1}], [{1: 2}], [{**schema, "parameters": []}], {"a": schema}.values()]
        for tools in lists:
            self.alike(f"tools={tools!r}", lambda module: module.parse_response("<alarm>hour: 7</call>", CALLING, prefix="", tools=tools))

    def test_documents_that_are_none_are_refused_alike(self):
        fields = {"content": {}}
        documents = [None, 3, [], "x", collections.UserDict(TEMPLATE), {"start_anchor": b"A:", "fields": fields}, {1: 2, "start_anchor": "A:", "fields": fields}]
        documents += [{"start_anchor": "A:", "fields": odd} for odd in (collections.UserDict(fields), {"content": collections.UserDict()}, {"content": {1: 2}})]
        documents += [{"start_anchor": "A:", "defaults": collections.UserDict(), "fields": fields}]
        for document in documents:
            self.alike(repr(document), lambda module: module.parse_response("Hi", document, prefix=""))

    def test_tuples_are_lists(self):
        def document(sequence):
            return {
                "defaults": {"kinds": sequence(["a", "b"])},
                "start_anchor": sequence(["A:", "B:"]),
                "fields": {
                    "said": {"open": sequence(["<a>", "<b>"]), "close": "</>", "transform": {"text": sequence(["{content}"])}},
                    "content": {},
                },
            }

        tools = [{"name": "alarm", "parameters": {"properties": {"hour": {"type": ("integer", "null")}}}}]
        message = chat_parsing.parse_response("<b>x</>", document(tuple), prefix="")
        self.assertEqual(message, self.reference.parse_response("<b>x</>", document(list), prefix=""))
        with self.assertRaisesRegex(ValueError, "string or list of strings, got tuple"):
            self.reference.parse_response("<b>x</>", document(tuple), prefix="")
        message = chat_parsing.parse_response("<alarm>hour: 7</call>", CALLING, prefix="", tools=tools)
        self.assertEqual(message["tool_calls"]["function"]["arguments"], {"hour": 7})
        message = self.reference.parse_response("<alarm>hour: 7</call>", CALLING, prefix="", tools=tools)
        self.assertEqual(message["tool_calls"]["function"]["arguments"], {"hour": "7"})

    def errors(self):
        """Errors of each kind that the drop-in raises beside the reference."""
        parser = chat_parsing.ResponseParser(TEMPLATE, "")
        parser.finalize()
        for call in (
            lambda: chat_parsing.load_response_template({"start_anchor": "A:", "fields": {"content": {"content": ["text"]}}}),
            lambda: chat_parsing.load_response_template({1: 2}),
            lambda: chat_parsing.parse_response("<call>{", TEMPLATE, prefix=""),
            lambda: chat_parsing.parse_response("Hi", TEMPLATE),
            lambda: parser.feed("x"),
        ):
            try:
                call()
            except obverse.ObverseError as error:
                yield error

    def test_errors_are_pickled_and_copied(self):
        errors = list(self.errors())
        self.assertEqual(len(errors), 5)
        self.assertTrue(any(issubclass(type(error), TypeError) and type(error) not in vars(obverse).values() for error in errors))
        for error in errors:
            for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
                with self.subTest(repr(error)):
                    self.assertIs(type(again), type(error))
                    self.assertEqual((again.args, str(again), vars(again)), (error.args, str(error), vars(error)))

    def test_errors_reach_another_process(self):
        errors = list(self.errors())
        program = (
            "import pickle, sys\n"
            "for error in pickle.load(sys.stdin.buffer):\n"
            "    print(type(error).__name__, isinstance(error, TypeError), isinstance(error, ValueError), ascii(str(error)))\n"
        )
        told = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(errors), capture_output=True, check=True)
        expected = [
            f"{type(error).__name__} {isinstance(error, TypeError)} {isinstance(error, ValueError)} {ascii(str(error))}" for error in errors
        ]
        self.assertEqual(told.stdout.decode().splitlines(), expected)


@needs_reference
class Installing(unittest.TestCase):
    def test_every_public_name_of_the_reference_has_its_place(self):
        for name in ("", ".response_parser", ".response_templates"):
            theirs = importlib.import_module(f"transformers.utils.chat_parsing{name}")
            ours = importlib.import_module(f"obverse.chat_parsing{name}")
            # What a field is made of is the reference's own affair: ours is compiled.
            public = set(getattr(theirs, "__all__", ["ResponseParser", "parse_response"])) - {"ResponseTemplateField"}
            self.assertLessEqual(public, set(dir(ours)), name)

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
    def test_the_modules_are_where_the_reference_has_them(self):
        from obverse.chat_parsing import response_parser, response_templates

        for module, names in ((response_parser, ["ResponseParser", "parse_response"]), (response_templates, ["ResponseTemplate", "load_response_template"])):
            self.assertEqual(sorted(module.__all__), sorted(names))
            for name in names:
                self.assertIs(getattr(module, name), getattr(chat_parsing, name))

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
