"""The reading of C++ is tested on snippets of our own, and so is what is made of them.

    python -m unittest discover -s tests/corpus
"""

import sys
import unittest
import unittest.mock
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import llama_cases  # noqa: E402
import llama_page  # noqa: E402
import llama_tests  # noqa: E402
from cpp import Program, Unknown  # noqa: E402
from cpp_tokens import NotRead, tokens_of  # noqa: E402

PREAMBLE = """
#include <string>
#define CHECK(x) do { \\
    if (!(x)) throw 1; } while (0)

static common_chat_tool weather_tool{
    /* .name = */ "weather",
    /* .description = */ "Looks up",
    /* .parameters = */ R"({"type": "object", "properties": {"city": {"type": "string"}}})",
};

static common_chat_msg said(const std::string & content, const std::string & reasoning = "", const std::string & tool = "",
                            const std::string & arguments = "", const std::string & id = "") {
    common_chat_msg msg;
    msg.role              = "assistant";
    msg.content           = content;
    msg.reasoning_content = reasoning;
    if (!tool.empty() || !id.empty()) {
        msg.tool_calls.push_back({ tool, arguments, id });
    }
    return msg;
}

static common_chat_msg several(const std::vector<std::pair<std::string, std::string>> & calls) {
    common_chat_msg msg = said("Both");
    for (const auto & [name, args] : calls) {
        msg.tool_calls.push_back({ name, args, "" });
    }
    return msg;
}

const common_chat_msg message_user{ "user", "And?", {}, {}, "", "", "" };
const common_chat_msg prefilled = said("The an", "Hm");
"""


def cases(body, before=""):
    found, unusable = llama_tests.cases_of(f"{PREAMBLE}\n{before}\nstatic void tests(bool verbose) {{\n{body}\n}}", "tests")
    return found, dict(unusable)


def one(chain, **changes):
    """The only case of a chain of calls."""
    found, unusable = cases(f'auto tst = peg_tester("models/templates/Ours.jinja", verbose);\ntst{chain};', **changes)
    assert not unusable, unusable
    (case,) = found
    return case


def value(expression, before=""):
    return Program(f"{before}\nstatic int f() {{ return {expression}; }}").call("f")


class Literals(unittest.TestCase):
    def test_escapes_are_bytes(self):
        self.assertEqual(value(r'"a\n\t\"\\\x41\101\u00e9\?"'), b'a\n\t"\\AA\xc3\xa9?')
        self.assertEqual(value('"é"'), "é".encode())

    def test_adjacent_literals_are_one_over_lines_comments_and_kinds(self):
        self.assertEqual(value('"a"  // "not this"\n /* "nor this" */ "b" R"(c\\n)" u8"d"'), rb"abc\nd")

    def test_raw_literals_end_with_their_delimiter(self):
        self.assertEqual(value('R"x(a)" "\n)y")x"'), b'a)" "\n)y"')

    def test_sums_of_names_and_literals(self):
        self.assertEqual(value('a + "b" + a', 'const std::string a = "<a>";'), b"<a>b<a>")
        self.assertEqual(value('std::string("a") + "b"'), b"ab")

    def test_what_no_token_begins_with_is_told_with_its_line(self):
        with self.assertRaises(NotRead) as told:
            tokens_of('int a;\nint b = "open;\n')
        self.assertEqual(told.exception.line, 2)


class Values(unittest.TestCase):
    def test_conditions_and_comparisons(self):
        self.assertEqual(value('a.empty() ? "none" : a', 'static std::string a = "x";'), b"x")
        self.assertIs(value('!a.empty() && a == "x"', 'static std::string a = "x";'), True)

    def test_functions_have_defaults_and_values_of_their_own(self):
        program = Program(PREAMBLE + 'static int f() { auto a = said("x"); auto b = a; b.content = "y"; return a; }', llama_tests.STRUCTS)
        self.assertEqual(program.call("f").members["content"], b"x")

    def test_what_is_not_known_is_never_guessed(self):
        for expression in ("elsewhere(1)", "1.5f", "[&]() { return 1; }", '"a" + elsewhere()', "unknown.member", 'unknown ? "a" : "b"', 'unknown == "a"', "true && unknown"):
            self.assertIsInstance(value(expression), Unknown, expression)
        self.assertEqual(value("COMMON_KIND_AUTO"), "COMMON_KIND_AUTO")

    def test_statements_that_are_not_read_are_passed_over(self):
        program = Program('static int f() { while (true) { g(); } try { h(); } catch (const std::exception & e) { } std::string a = "x"; return a; }')
        self.assertEqual(program.call("f"), b"x")
        self.assertEqual([error.why for _, _, error in program.passed_over], ["`while` is not read", "`try` is not read"])


class Chains(unittest.TestCase):
    def test_a_chain_is_a_case(self):
        case = one(
            """.test(
                "<t>Hm</t>"   // thinks
                R"(<call>{"name": "weather"}</call>)")
            .enable_thinking(false).reasoning_format(COMMON_REASONING_FORMAT_AUTO)
            .tools({ weather_tool })
            .expect_reasoning("Hm")
            .expect_tool_calls({ { "weather", R"({"city": "Oslo"})", {} } })
            .run()"""
        )
        self.assertEqual(case.response, '<t>Hm</t><call>{"name": "weather"}</call>')
        self.assertEqual((case.template, case.kwargs, case.reasoning_format), ("Ours.jinja", {"enable_thinking": False}, "auto"))
        self.assertEqual(case.tools[0]["function"]["parameters"]["properties"], {"city": {"type": "string"}})
        calls = [{"type": "function", "function": {"name": "weather", "arguments": {"city": "Oslo"}}}]
        self.assertEqual(case.expected, {"role": "assistant", "content": "", "reasoning_content": "Hm", "tool_calls": calls})
        self.assertEqual(case.messages, [{"role": "user", "content": "And?"}])

    def test_messages_that_functions_make(self):
        case = one('.test("x").expect(said("Hi", "Hm", "weather", "{\\"city\\": 1}", "7")).run()')
        call = {"id": "7", "type": "function", "function": {"name": "weather", "arguments": {"city": 1}}}
        self.assertEqual(case.expected, {"role": "assistant", "content": "Hi", "reasoning_content": "Hm", "tool_calls": [call]})
        case = one('.test("x").expect(several({ { "a", "{}" }, { "b", "" } })).run()')
        self.assertEqual([call["function"]["name"] for call in case.expected["tool_calls"]], ["a", "b"])

    def test_the_settings_of_a_case(self):
        case = one(
            """.test("swer").messages({ message_user, prefilled }).add_generation_prompt(false)
            .continue_final_message(COMMON_CHAT_CONTINUATION_CONTENT).json_schema("{}").is_partial(true)
            .tool_choice(COMMON_CHAT_TOOL_CHOICE_REQUIRED).parallel_tool_calls(true).expect_reconstruction().expect(prefilled).run()"""
        )
        self.assertEqual((case.continues, case.has_schema, case.is_partial, case.tool_choice), ("content", True, True, "required"))
        self.assertEqual([message["role"] for message in case.messages], ["user", "assistant"])
        self.assertEqual(case.reasoning_format, "none")

    def test_loops_and_functions_make_cases_of_each_chat_template(self):
        body = """
            for (const auto & path : { "t/A.jinja", "t/B.jinja" }) { auto tst = peg_tester(path); tst.test("x").expect_content("x").run(); }
            for (const char * path : { "t/A.jinja" }) { shared(path, verbose); }"""
        shared = 'static void shared(const std::string & path, bool v) { auto tst = peg_tester(path, v); tst.test("y").expect_content("y").run(); }'
        found, unusable = cases(body, shared)
        self.assertEqual(([case.template for case in found], unusable), (["A.jinja", "B.jinja", "A.jinja"], {}))
        self.assertEqual([case.response for case in found], ["x", "x", "y"])
        found, _ = cases('for (const auto & text : { "x", "y" }) { auto tst = peg_tester("t/A.jinja"); tst.test(text).expect_content(text).run(); }')
        self.assertEqual([case.response for case in found], ["x", "y"])
        self.assertEqual(len({case.name for case in found}), 2)

    def test_what_is_no_case_is_counted(self):
        body = """auto tst = peg_tester("t/A.jinja");
            tst.test(make()).expect_content("a").run();
            tst.test("b").kind_of_tomorrow(1).expect_content("b").run();
            tst.test("c").expect(said("", "", "f", "{\\"cut")).run();
            while (verbose) { tst.test("d").run(); }
            if (verbose) { tst.test("e").run(); }
            tst.test("\\xff").run();
            tst.test("f").expect_content("f").run();"""
        found, unusable = cases(body)
        self.assertEqual([case.response for case in found], ["f"])
        reasons = ["the function `make`", "the setting `kind_of_tomorrow`", "expected arguments are no JSON", "`while` is not read", "it is never carried out", "a text is no UTF-8"]
        self.assertEqual(unusable, dict.fromkeys(reasons, 1))


class Scores(unittest.TestCase):
    def test_messages_are_compared_as_data(self):
        expected = one('.test("x").expect(said("Hi\\n", "Hm", "f", "{\\"a\\": 1, \\"b\\": [true]}")).run()').expected

        def read(**changes):
            calls = [{"function": {"name": "f", "arguments": changes.pop("arguments", {"b": [True], "a": 1})}}]
            return {"content": " Hi", "thinking": "Hm\n", "tool_calls": calls, **changes}

        self.assertTrue(llama_cases.is_right(read(), expected))
        self.assertTrue(llama_cases.is_right(read(arguments='{"a":1,"b":[true]}'), expected))
        for changes in ({"content": "Hi!"}, {"thinking": ""}, {"arguments": {"a": "1", "b": [True]}}, {"arguments": {"a": 1, "b": [1]}}, {"tool_calls": []}):
            self.assertFalse(llama_cases.is_right(read(**changes), expected), changes)
        self.assertFalse(llama_cases.is_right({"error": {"kind": "json"}, "message": {}}, one('.test("x").expect(said("")).run()').expected))

    def test_ids_count_where_they_are_expected(self):
        read = {"tool_calls": [{"id": "1", "function": {"name": "f", "arguments": {}}}]}
        with_id = one('.test("x").expect(said("", "", "f", "{}", "2")).run()').expected
        self.assertFalse(llama_cases.is_right(read, with_id))
        self.assertTrue(llama_cases.is_right(read, with_id, with_ids=False))
        self.assertTrue(llama_cases.is_right(read, one('.test("x").expect(said("", "", "f", "{}")).run()').expected))

    def test_what_is_left_out(self):
        def reason(chain):
            return llama_cases.reason_to_leave_out(one(chain), {"<t>"})

        tools = ".tools({ weather_tool }).reasoning_format(COMMON_REASONING_FORMAT_AUTO)"
        self.assertIn("incomplete", reason('.test("x").is_partial(true).run()'))
        self.assertIn("schema", reason('.test("x").json_schema("{}").run()'))
        self.assertEqual(reason('.test("<t>x").expect_content("<t>x").run()'), llama_cases.NO_REASONING)
        self.assertIsNone(reason('.test("<t>x").expect_content("x").run()'))
        self.assertIsNone(reason(f'.test("<t>x").expect_content("<t>x"){tools}.run()'))
        self.assertIn("without tools", reason(f'.test("<t>x").expect_content("<t>x"){tools}.tool_choice(COMMON_CHAT_TOOL_CHOICE_NONE).run()'))

    def test_a_reasoning_that_the_prompt_opened_is_content_without_a_format(self):
        def keeps(read, settings=""):
            case = one(f'.test("Hm").expect_content("Hm"){settings}.run()')
            return llama_cases.keeps_reasoning(llama_cases.Tried(case, "", read={"renders": read}))

        self.assertTrue(keeps({"thinking": "Hm"}))
        self.assertFalse(keeps({"content": "Hm"}))
        self.assertFalse(keeps({"thinking": "Hm"}, ".reasoning_format(COMMON_REASONING_FORMAT_AUTO)"))

    def test_cases_are_halved(self):
        for number in range(8):
            halves = llama_cases.halves(number, "A.jinja", 1)
            self.assertEqual((len(halves), sum(halves)), (number, number // 2))
            self.assertEqual(halves, llama_cases.halves(number, "A.jinja", 1))
        self.assertNotEqual(llama_cases.halves(8, "A.jinja", 1), llama_cases.halves(8, "A.jinja", 2))

    def test_reasons_are_told_by_the_first_pattern(self):
        reasons = [("A:7", "seven"), ("A:*", "any"), ("B:*", "none")]
        with unittest.mock.patch.object(llama_page, "reasons", lambda: reasons):
            explained = llama_page.explained(["A:7", "A:70", "C:1"])
        self.assertEqual(explained, ({"seven": ["A:7"], "any": ["A:70"]}, ["C:1"], ["B:*"]))

    def test_every_reason_is_a_pattern_and_a_sentence(self):
        for pattern, why in llama_page.reasons():
            self.assertRegex(pattern, r"^[\w.*-]+:[\d*]+$")
            self.assertGreater(len(why.split()), 5)


if __name__ == "__main__":
    unittest.main()
