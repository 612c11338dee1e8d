"""Parsing: whole responses, as they arrive, and many at once."""

import ast
import inspect
import json
import pickle
import signal
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import obverse
from support import TEMPLATE, chunks, joined

RESPONSE = '<think>Why?</think>Hello <call>{"a": [1, 2.5, null, true]}</call>'
MESSAGE = {"role": "assistant", "thinking": "Why?", "content": "Hello", "calls": [{"a": [1, 2.5, None, True]}]}


class Parsing(unittest.TestCase):
    def test_a_response_becomes_a_message(self):
        self.assertEqual(obverse.parse(RESPONSE, TEMPLATE), MESSAGE)
        self.assertEqual(list(obverse.parse(RESPONSE, TEMPLATE)), ["role", "thinking", "content", "calls"])

    def test_a_long_response_is_parsed_like_a_short_one(self):
        text = "Grüße, 世界! 😀 " * 2000
        self.assertEqual(obverse.parse(text, TEMPLATE)["content"], text.strip())

    def test_integers_of_any_size_come_through(self):
        number = 2**400 + 1
        self.assertEqual(obverse.parse(f"<call>{number}</call>", TEMPLATE)["calls"], [number])
        template = {**TEMPLATE, "defaults": {"seed": number}}
        self.assertEqual(obverse.parse("Hi", template)["seed"], number)

    def test_a_prefix_is_read_from_its_last_anchor_on(self):
        prefix = "<assistant>Before</assistant><user>And?<assistant><think>"
        self.assertEqual(obverse.parse("Now.</think>Yes.", TEMPLATE, prefix=prefix)["thinking"], "Now.")

    def test_tools_type_arguments(self):
        template = {
            "start_anchor": "A:",
            "fields": {"tool_calls": {"open": "<call>", "close": "</call>", "content": "json", "repeats": True}},
        }
        tools = [{"function": {"name": "f", "parameters": {"properties": {"n": {"type": "integer"}}}, "odd": object()}}]
        call = '<call>{"function": {"name": "f", "arguments": {"n": "7"}}}</call>'
        message = obverse.parse(call, template, tools=tools)
        self.assertEqual(message["tool_calls"][0]["function"]["arguments"], {"n": 7})

    def test_what_json_does_not_have_is_refused(self):
        for odd in (object(), {1: 2}, {"a": {3}}):
            with self.assertRaises(TypeError):
                obverse.ResponseTemplate({**TEMPLATE, "defaults": {"odd": odd}})
        deep = []
        for _ in range(300):
            deep = [deep]
        with self.assertRaises(RecursionError):
            obverse.ResponseTemplate({**TEMPLATE, "defaults": {"deep": deep}})
        with self.assertRaises(TypeError):
            obverse.parse("Hi", [TEMPLATE])

    def test_what_json_does_not_have_is_told_with_its_place(self):
        for document, said in (
            ({**TEMPLATE, "defaults": {"odd": [0, {3}]}}, r"^\$\.defaults\.odd\[1\]: JSON has no objects of the type set: it has dict"),
            ({**TEMPLATE, "fields": {"a b": {1: 2}}}, r'^\$\.fields\["a b"\]: the keys of a dict must be strings, not int'),
        ):
            for load in (obverse.ResponseTemplate, lambda document: obverse.parse("Hi", document)):
                with self.assertRaisesRegex(obverse.ForeignError, said) as raised:
                    load(document)
                self.assertIsInstance(raised.exception, ValueError)
                self.assertIsInstance(raised.exception, TypeError)
                self.assertEqual(raised.exception.code, "wrong-type")

    def test_wrong_types_are_named(self):
        chat = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
        for call, said in (
            (lambda: obverse.parse("Hi", TEMPLATE, tools=3), "tools must be a list of JSON schemas or functions, not int"),
            (lambda: obverse.parse("Hi", TEMPLATE, tools={"name": "f"}), "tools must be a list of JSON schemas or functions, not dict"),
            (lambda: obverse.grammar(TEMPLATE, format="gbnf", tools={"name": "f"}), "tools must be a list of JSON schemas or functions, not dict"),
            (lambda: obverse.grammar(TEMPLATE, format="gbnf", token_ids=[1]), "token_ids must be a dict, not list"),
            (lambda: obverse.grammar(chat, format="gbnf", kwargs=[1]), "kwargs must be a dict, not list"),
            (lambda: obverse.derive(chat, prefer=["a"]), "prefer must be a dict, not list"),
            (lambda: obverse.derive(chat, for_=3), "for_ must be the name of an engine or a list of names, not int"),
        ):
            with self.subTest(said), self.assertRaisesRegex(TypeError, said):
                call()
        for number in (-1, 2**32, "7"):
            with self.assertRaisesRegex(ValueError, "token_ids must have the number of each token by its text"):
                obverse.grammar(TEMPLATE, format="gbnf", token_ids={"<a>": number})
        with self.assertRaisesRegex(ValueError, "not by an empty text"):
            obverse.derive("")

    def test_half_a_character_is_no_text(self):
        with self.assertRaises(UnicodeEncodeError):
            obverse.parse("\ud800", TEMPLATE)


class Errors(unittest.TestCase):
    def test_a_region_that_does_not_parse_is_told_with_its_place(self):
        with self.assertRaises(obverse.ParseError) as raised:
            obverse.parse("é<call>{oops</call>", TEMPLATE)
        error = raised.exception
        self.assertEqual((error.kind, error.field, error.span, error.raw), ("json", "calls", (8, 13), "{oops"))
        self.assertIn("allow_non_json", error.hint)
        self.assertIsInstance(error, ValueError)

    def test_a_document_that_is_none_tells_all_that_is_wrong(self):
        with self.assertRaises(obverse.TemplateError) as raised:
            obverse.ResponseTemplate({"fields": {"a": {}, "b": {}}})
        codes = [found["code"] for found in raised.exception.diagnostics]
        self.assertEqual(len(codes), 2)
        self.assertIn("missing-key", codes)

    def test_a_parse_goes_on_after_an_error(self):
        parser = obverse.Parser(TEMPLATE)
        with self.assertRaises(obverse.ParseError):
            parser.feed("One<call>{oops</call>two")
        events = parser.feed("")
        self.assertEqual([event["type"] for event in events][:3], ["region_open", "region_chunk", "region_close"])
        self.assertEqual(parser.finalize()[0]["content"], "two")

    def test_a_region_that_does_not_parse_can_be_kept(self):
        parser = obverse.Parser(TEMPLATE, on_error="keep")
        events = parser.feed("<call>{oops</call>")
        self.assertEqual(events[-1]["type"], "region_error")
        self.assertEqual(parser.malformed[0]["raw"], "{oops")
        with self.assertRaises(ValueError):
            obverse.Parser(TEMPLATE, on_error="ignore")


class Streaming(unittest.TestCase):
    def test_every_cut_gives_the_same(self):
        whole = obverse.Parser(TEMPLATE)
        events = joined(whole.feed(RESPONSE) + whole.finalize()[1])
        for size in (1, 2, 3, 7):
            parser = obverse.Parser(TEMPLATE)
            told = [event for chunk in chunks(RESPONSE, size) for event in parser.feed(chunk)]
            message, last = parser.finalize()
            self.assertEqual(message, MESSAGE)
            self.assertEqual(joined(told + last), events)

    def test_a_long_chunk_tells_what_short_ones_tell(self):
        text = "word " * 5000 + RESPONSE
        one, many = obverse.Parser(TEMPLATE), obverse.Parser(TEMPLATE)
        whole = one.feed(text)
        pieces = [event for chunk in chunks(text, 1000) for event in many.feed(chunk)]
        self.assertEqual(joined(whole), joined(pieces))

    def test_the_message_so_far_can_be_had(self):
        parser = obverse.Parser(TEMPLATE)
        parser.feed("<think>Why?</think>Hel")
        self.assertEqual(parser.message, {"role": "assistant", "thinking": "Why?"})

    def test_the_prefix_tells_its_events(self):
        parser = obverse.Parser(TEMPLATE, "<assistant><think>")
        self.assertEqual(parser.initial_events, [{"type": "region_open", "field": "thinking"}])

    def test_text_that_no_field_takes_is_accounted_for(self):
        template = {"start_anchor": "A:", "fields": {"content": {"open": "<c>", "close": "</c>"}}}
        parser = obverse.Parser(template)
        parser.feed("lost<c>kept</c>")
        parser.finalize()
        self.assertEqual(parser.unclaimed, [{"start": 0, "end": 4, "text": "lost"}])

    def test_delimiters_in_strings_can_be_passed_over(self):
        text = '<call>{"a": "</call>"}</call>'
        parser = obverse.Parser(TEMPLATE, skip_json_strings=True)
        parser.feed(text)
        self.assertEqual(parser.finalize()[0]["calls"], [{"a": "</call>"}])


class Many(unittest.TestCase):
    def test_messages_keep_the_order_of_the_responses(self):
        responses = [f"<think>{number}</think>" + "x" * (number % 7 * 1000) for number in range(200)]
        for threads in (None, 1, 3):
            messages = obverse.parse_many(responses, TEMPLATE, threads=threads)
            self.assertEqual(messages, [obverse.parse(response, TEMPLATE) for response in responses])
        self.assertEqual(obverse.parse_many([], TEMPLATE), [])
        with self.assertRaisesRegex(TypeError, "a list of texts, not one text"):
            obverse.parse_many("Hi.", TEMPLATE)
        with self.assertRaisesRegex(ValueError, "None for one on each core, not -1"):
            obverse.parse_many(responses, TEMPLATE, threads=-1)

    def test_prefixes_are_for_all_or_for_each(self):
        prefix = "<assistant><think>"
        expected = [{"role": "assistant", "thinking": "a"}, {"role": "assistant", "thinking": "b"}]
        responses = ["a</think>", "b</think>"]
        self.assertEqual(obverse.parse_many(responses, TEMPLATE, prefix=prefix), expected)
        self.assertEqual(obverse.parse_many(responses, TEMPLATE, prefix=[prefix, prefix]), expected)
        with self.assertRaises(ValueError):
            obverse.parse_many(responses, TEMPLATE, prefix=[prefix])

    def test_an_error_is_raised_or_returned(self):
        responses = ["fine", "<call>{oops</call>", "fine", "<call>]</call>"]
        with self.assertRaises(obverse.ParseError) as raised:
            obverse.parse_many(responses, TEMPLATE)
        self.assertEqual(raised.exception.raw, "{oops")
        answers = obverse.parse_many(responses, TEMPLATE, errors="return")
        self.assertEqual([isinstance(answer, obverse.ParseError) for answer in answers], [False, True, False, True])

    def test_other_threads_run_meanwhile(self):
        response = '<call>{"a": [1, 2, 3], "b": "c"}</call>' * 8_000
        thread = threading.Thread(target=obverse.parse_many, args=([response] * 4, TEMPLATE), kwargs={"threads": 1})
        thread.start()
        turns = 0
        while thread.is_alive():
            turns += 1
        # With the interpreter held there would be a few turns, between two that it is let go.
        self.assertGreater(turns, 1000)


class Templates(unittest.TestCase):
    def test_a_template_can_be_given_compiled(self):
        template = obverse.ResponseTemplate(TEMPLATE)
        self.assertEqual(obverse.parse(RESPONSE, template), MESSAGE)
        self.assertEqual(template.fields, ["thinking", "calls", "content"])
        self.assertEqual(pickle.loads(pickle.dumps(template)).document, TEMPLATE)

    def test_a_changed_document_is_compiled_anew(self):
        document = json.loads(json.dumps(TEMPLATE))
        self.assertEqual(obverse.parse("Hi!", document)["content"], "Hi!")
        document["fields"]["content"]["close"] = "!"
        self.assertEqual(obverse.parse("Hi!", document)["content"], "Hi")

    def test_a_template_is_loaded_from_either_file(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, content in (("a.json", TEMPLATE), ("tokenizer_config.json", {"response_template": TEMPLATE})):
                path = Path(folder) / name
                path.write_text(json.dumps(content))
                self.assertEqual(obverse.load(path).document, TEMPLATE)
            with self.assertRaises(FileNotFoundError):
                obverse.load(Path(folder) / "none.json")


class Several(unittest.TestCase):
    def test_the_one_that_fails_is_named(self):
        bad = [*["Hi"] * 40, "<call>{</call>"]
        with self.assertRaisesRegex(obverse.ParseError, "^response 40: ") as raised:
            obverse.parse_many(bad, TEMPLATE)
        self.assertEqual(raised.exception.index, 40)
        returned = obverse.parse_many(bad, TEMPLATE, errors="return")[-1]
        self.assertEqual(returned.index, 40)
        with self.assertRaises(obverse.ParseError) as raised:
            obverse.parse(bad[-1], TEMPLATE)
        self.assertIsNone(raised.exception.index)

    def test_signals_are_heard_while_it_works(self):
        if not hasattr(signal, "setitimer"):
            self.skipTest("no timers here")
        rung = []
        before = signal.signal(signal.SIGALRM, lambda *_: rung.append(1))
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        self.addCleanup(signal.setitimer, signal.ITIMER_REAL, 0)
        many = ["<think>" + "word " * 50_000 + "</think>Hello"] * 100
        # What rings while nobody listens is heard once, when the work is over.
        for _ in range(7):
            heard = len(rung)
            obverse.parse_many(many, TEMPLATE, threads=1)
            if len(rung) - heard >= 4:
                return
            many *= 2
        self.fail("no signal was heard during the work")

    def test_a_signal_that_raises_ends_it(self):
        if not hasattr(signal, "setitimer"):
            self.skipTest("no timers here")

        def ring(*_):
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, ring)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with self.assertRaises(KeyboardInterrupt):
            obverse.parse_many(["<think>" + "word " * 200_000 + "</think>Hello"] * 100, TEMPLATE)
        # It is as good as new.
        self.assertEqual(obverse.parse_many(["Hi"], TEMPLATE)[0]["content"], "Hi")

    def test_whatever_has_a_response_template_is_one(self):
        source = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
        derivation = obverse.derive(source, for_="vllm")
        self.assertEqual(obverse.parse("Hi</>", derivation)["content"], "Hi")
        self.assertEqual(obverse.parse_many(["Hi</>"], derivation)[0]["content"], "Hi")
        self.assertEqual(obverse.lint(derivation, for_="vllm"), obverse.lint(derivation.response_template, for_=["vllm"]))


    def test_a_parser_is_for_one_thread_at_a_time(self):
        for make in (obverse.Parser, obverse.DeltaParser):
            parser = make(TEMPLATE)
            said = set()

            def feed():
                for _ in range(100):
                    try:
                        parser.feed("word " * 2000)
                        parser.message
                    except RuntimeError as error:
                        said.add(str(error))

            before = sys.getswitchinterval()
            self.addCleanup(sys.setswitchinterval, before)
            sys.setswitchinterval(1e-6)
            threads = [threading.Thread(target=feed) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for one in said:
                self.assertIn("give each thread a parser of its own", one)


class Told(unittest.TestCase):
    def test_every_error_has_a_code(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = Path(folder, "tokenizer_config.json")
            broken.write_text("{", encoding="utf-8")
            empty = Path(folder, "empty")
            empty.mkdir()
            ended = obverse.Parser(TEMPLATE)
            ended.finalize()
            chat = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
            for code, call in (
                ("unreadable", lambda: obverse.derive("/nowhere/at/all")),
                ("json-syntax", lambda: obverse.derive(broken)),
                ("no-chat-template", lambda: obverse.derive(empty)),
                ("chat-template-syntax", lambda: obverse.derive("{% if %}")),
                ("not-rendered", lambda: obverse.derive("{{ raise_exception('no') }}")),
                ("not-rendered", lambda: obverse.ChatTemplate("{{ raise_exception('no') }}").render([])),
                ("no-decision", lambda: obverse.derive(chat, prefer={"no such decision": "x"})),
                ("no-grammar", lambda: obverse.grammar(TEMPLATE, format="gbnf", tool_choice="nobody")),
                ("unreadable", lambda: obverse.check("/nowhere/at/all")),
                ("json", lambda: obverse.parse("<call>{", TEMPLATE)),
                ("finalized", lambda: ended.feed("x")),
                ("missing-key", lambda: obverse.ResponseTemplate({})),
            ):
                with self.subTest(code), self.assertRaises(obverse.ObverseError) as raised:
                    call()
                with self.subTest(code):
                    self.assertEqual(raised.exception.code, code, str(raised.exception))
                    self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).code, code)

    def test_every_public_member_says_what_it_is(self):
        stubs = ast.parse((Path(obverse.__file__).parent / "_native.pyi").read_text())
        for node in stubs.body:
            thing = getattr(obverse, getattr(node, "name", ""), None)
            if thing is None or not isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                continue
            members = [(thing, node)]
            if isinstance(node, ast.ClassDef):
                members += [(getattr(thing, one.name), one) for one in node.body if isinstance(one, ast.FunctionDef) and one.name != "__new__"]
            for member, stub in members:
                said = ast.get_docstring(stub)
                if said is not None:
                    self.assertEqual(inspect.getdoc(member), said, f"{node.name}.{stub.name}")
        for name in obverse.__all__:
            self.assertTrue(inspect.getdoc(getattr(obverse, name)), name)

    def test_nothing_of_a_chat_template_reaches_a_terminal_as_it_is(self):
        with self.assertRaises(obverse.SourceError) as raised:
            obverse.derive("{{ raise_exception('no\x1b[31m\u202e') }}")
        self.assertNotRegex(str(raised.exception), "[\x1b\u202e]")
        self.assertIn("\\x1b[31m", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
