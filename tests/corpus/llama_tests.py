"""The cases of llama.cpp's tests of chat templates: what a model wrote, and the message that it stands for.

The tests are C++ (`tests/test-chat.cpp` in the source distribution of llama-cpp-python that `fetch.py` pins). They are chains such as

    tst.test("<think>A</think>B").reasoning_format(...).tools({ ... }).expect_content("B").run();

under a tester that is made with the path of a chat template. `cpp.py` carries the C++ out; here is what the names in it mean.
"""

import collections
import dataclasses
import json
import tarfile

import fetch
from cpp import Constant, Program, Struct, Unknown, copied

TESTS = "vendor/llama.cpp/tests/test-chat.cpp"
# The function that has the tests.
ENTRY = "test_template_output_peg_parsers"
# The members by place, as `common/chat.h` of the same package declares them, each with what it is made of without a value.
STRUCTS = {
    "common_chat_tool": {"name": bytes, "description": bytes, "parameters": bytes},
    "common_chat_tool_call": {"name": bytes, "arguments": bytes, "id": bytes},
    "common_chat_msg": {
        "role": bytes,
        "content": bytes,
        "content_parts": list,
        "tool_calls": list,
        "reasoning_content": bytes,
        "tool_name": bytes,
        "tool_call_id": bytes,
    },
}
SETTINGS = {
    "reasoning_format": Constant("COMMON_REASONING_FORMAT_NONE"),
    "enable_thinking": True,
    "tools": (),
    "parallel_tool_calls": False,
    "add_generation_prompt": True,
    "continue_final_message": Constant("COMMON_CHAT_CONTINUATION_NONE"),
    "json_schema": b"",
    "tool_choice": Constant("COMMON_CHAT_TOOL_CHOICE_AUTO"),
    "messages": (),
    "is_partial": False,
    "expect_reconstruction": False,
}
# The message that a test asks with that names none.
QUESTION = "message_user"


class Unusable(Exception):
    """Why a test is no case."""


@dataclasses.dataclass(frozen=True)
class Case:
    """One test: a response, in what situation, and the message that llama.cpp makes of it."""

    name: str  # the chat template and the line of the test
    template: str  # the file name of the chat template
    line: int
    response: str
    messages: list  # the conversation; the last one is the model's own where it goes on with it
    tools: list
    kwargs: dict
    reasoning_format: str  # none, auto, deepseek
    continues: str  # content or reasoning, or nothing where the message is a new one
    tool_choice: str  # auto, required, none
    has_schema: bool  # the response must follow a JSON schema
    is_partial: bool
    expected: dict  # the message in OpenAI's style, the reasoning as `reasoning_content`


class Tester:
    """`peg_tester`: makes tests for a chat template."""

    def __init__(self, path, found):
        self.path = path
        self.found = found

    def member(self, name, line, arguments):
        if name == "test" and arguments and len(arguments) == 1:
            return Test(self.path, line, arguments[0], self.found)
        return Unknown(line, f"the tester's `{name}`")


class Test:
    """`peg_test_builder`: collects what a test is about; `run` ends it."""

    def __init__(self, path, line, response, found):
        self.path = path
        self.line = line
        self.response = response
        self.found = found
        self.settings = dict(SETTINGS)
        self.expected = Struct("common_chat_msg", {name: default() for name, default in STRUCTS["common_chat_msg"].items()})
        self.problem = None

    def member(self, name, line, arguments):
        arguments = [True] if name == "expect_reconstruction" and not arguments else arguments
        if name == "run":
            self.found.append(self)
        elif not arguments or len(arguments) != 1:
            self.problem = Unknown(line, f"the setting `{name}`")
        elif name == "expect":
            self.expected = copied(arguments[0])
        elif name in ("expect_content", "expect_reasoning", "expect_tool_calls") and isinstance(self.expected, Struct):
            key = {"expect_content": "content", "expect_reasoning": "reasoning_content", "expect_tool_calls": "tool_calls"}[name]
            self.expected.members[key] = arguments[0]
        elif name in self.settings:
            self.settings[name] = arguments[0]
        else:
            self.problem = Unknown(line, f"the setting `{name}`")
        return self

    def case(self, question):
        """The case that the test is, asked with `question` where it says nothing else; `Unusable` where a part of it is not known."""
        if self.problem:
            raise Unusable(self.problem.why)
        settings = {name: plain(value) for name, value in self.settings.items()}
        template = plain(self.path).rsplit("/", 1)[-1]
        messages = [message(one) for one in settings["messages"] or [plain(question)]]
        return Case(
            name=f"{template.removesuffix('.jinja')}:{self.line}",
            template=template,
            line=self.line,
            response=plain(self.response),
            messages=messages,
            tools=[tool(one) for one in settings["tools"]],
            kwargs={"enable_thinking": settings["enable_thinking"]},
            reasoning_format=settings["reasoning_format"].rsplit("_", 1)[-1].lower(),
            continues=settings["continue_final_message"].rsplit("_", 1)[-1].lower().replace("none", ""),
            tool_choice=settings["tool_choice"].rsplit("_", 1)[-1].lower(),
            has_schema=bool(settings["json_schema"]),
            is_partial=settings["is_partial"],
            expected=message(plain(self.expected), arguments_may_be_cut=settings["is_partial"]),
        )


def plain(value):
    """A value as Python has it."""
    if isinstance(value, Unknown):
        raise Unusable(value.why)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError as error:
            raise Unusable("a text is no UTF-8") from error
    if isinstance(value, Struct):
        return {name: plain(one) for name, one in value.members.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


def members(value, kind):
    """The members of a structure that may be written as a list in braces."""
    if isinstance(value, list):
        names = STRUCTS[kind]
        value = {name: value[at] if at < len(value) and value[at] != [] else default() for at, (name, default) in enumerate(names.items())}
    return {name: one.decode() if isinstance(one, bytes) else one for name, one in value.items()}


def message(value, arguments_may_be_cut=False):
    """A message in OpenAI's style, without what is empty; the content is always there."""
    value = members(value, "common_chat_msg")
    made = {"role": value["role"] or "assistant", "content": value["content"]}
    if value["content_parts"]:
        made["content"] = [{"type": kind, "text": text} for kind, text in value["content_parts"]]
    if value["reasoning_content"]:
        made["reasoning_content"] = value["reasoning_content"]
    if value["tool_calls"]:
        made["tool_calls"] = [call(members(one, "common_chat_tool_call"), arguments_may_be_cut) for one in value["tool_calls"]]
    for key, name in (("name", "tool_name"), ("tool_call_id", "tool_call_id")):
        if value[name]:
            made[key] = value[name]
    return made


def call(value, arguments_may_be_cut):
    try:
        arguments = json.loads(value["arguments"] or "{}")
    except ValueError as error:
        if not arguments_may_be_cut:
            raise Unusable("expected arguments are no JSON") from error
        arguments = value["arguments"]
    made = {"type": "function", "function": {"name": value["name"], "arguments": arguments}}
    return {"id": value["id"], **made} if value["id"] else made


def tool(value):
    value = members(value, "common_chat_tool")
    try:
        parameters = json.loads(value["parameters"] or "{}")
    except ValueError as error:
        raise Unusable("the parameters of a tool are no JSON") from error
    function = {"name": value["name"], "description": value["description"], "parameters": parameters}
    return {"type": "function", "function": function}


def cases_of(source, entry=ENTRY):
    """The cases of a source, and how many tests are none, by the reason."""
    found = []
    builtins = {"peg_tester": lambda line, arguments: Tester(arguments[0], found)}
    program = Program(source, STRUCTS, builtins)
    program.call(entry, False)
    question = program.scope.get(QUESTION, Unknown(0, f"there is no `{QUESTION}`"))
    cases = []
    unusable = collections.Counter()
    for test in found:
        try:
            cases.append(test.case(question))
        except Unusable as why:
            unusable[str(why)] += 1
    names = {}
    for at, case in enumerate(cases):
        # A loop runs a test at one line several times.
        names.setdefault(case.name, []).append(at)
    for name, places in names.items():
        for number, at in enumerate(places[1:], 2):
            cases[at] = dataclasses.replace(cases[at], name=f"{name}.{number}")
    # What no chain began at was not carried out: it stands in a statement that is not read, or in a branch that is not taken.
    begun = {test.line for test in found}
    passed_over = [(program.tokens[start].line, program.tokens[end - 1].line, error.why) for start, end, error in program.passed_over]
    for line in program.lines_of_method("test"):
        if line not in begun:
            unusable[next((why for first, last, why in passed_over if first <= line <= last), "it is never carried out")] += 1
    return cases, unusable


def source():
    """The text of llama.cpp's tests, out of the package file that `fetch.py` pins."""
    package = next(one for one in fetch.SOURCES if one.folder == "llamacpp")
    path = fetch.package_file(package, fetch.cache_folder())
    with tarfile.open(path) as archive:
        for member in archive:
            if member.isfile() and member.name.split("/", 1)[-1] == TESTS:
                return archive.extractfile(member).read().decode()
    raise fetch.Failure(f"{package} has no {TESTS}")
