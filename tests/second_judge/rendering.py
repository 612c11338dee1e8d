"""Chat templates as programs that turn messages into text: rendering in several manners, and what a source tells of its kwargs."""

import json
import signal
import time
from datetime import datetime
from typing import NamedTuple

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.nodes
import jinja2.sandbox
from transformers.utils.chat_template_utils import render_jinja_template

TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
REASONING_KEYS = ("reasoning_content", "thinking", "reasoning")
# Variables that every caller gives, or that mean something else than a switch.
GIVEN = {"messages", "tools", "add_generation_prompt", "documents", "bos_token", "eos_token", "unk_token", "pad_token",
         "continue_final_message", "raise_exception", "strftime_now", "namespace", "range", "dict", "lipsum", "cycler", "joiner", "loop", "caller"}


SECONDS = 3  # of processor time for one render; after three that take longer the chat template is not asked any more


class TooSlow(Exception):
    pass


def too_slow(*_):
    raise TooSlow(f"a render takes more than {SECONDS} s")


class Refused(Exception):
    """The chat template takes no such conversation."""


class Manner(NamedTuple):
    """How a message is spelled and rendered."""

    engine: str = "transformers"  # or "plain": null keys are kept, lists may be changed, as servers and earlier releases do
    reasoning: str = "reasoning_content"  # another key, or "part": a part of the content
    arguments: str = "object"  # or "text": JSON in a string
    empty: str = "absent"  # content that is not there: "absent", "text" (""), "null"
    content: str = "text"  # or "parts"

    def __str__(self):
        changed = [f"{k}={v}" for k, v in self._asdict().items() if v != Manner._field_defaults[k]]
        return ", ".join(changed) or "as transformers renders"


def manners():
    """All manners, the nearest to transformers' own first."""
    found = [
        Manner(engine, reasoning, arguments, empty, content)
        for engine in ("transformers", "plain")
        for content in ("text", "parts")
        for arguments in ("object", "text")
        for empty in (("absent", "text") if engine == "transformers" else ("absent", "text", "null"))
        for reasoning in (("reasoning_content", "part") if engine == "transformers" else (*REASONING_KEYS, "part"))
    ]
    return sorted(found, key=lambda m: (m.engine != "transformers", sum(a != b for a, b in zip(m, Manner()))))


class Generation(jinja2.ext.Extension):
    """`{% generation %}`, whose body is rendered as it is."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


def plain_environment():
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.SandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols]
    )
    environment.filters["tojson"] = tojson
    environment.globals["raise_exception"] = raise_exception
    environment.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return environment


class ChatTemplate:
    def __init__(self, source):
        self.source = source
        self.environment = plain_environment()
        self.tree = self.environment.parse(source)
        self.plain = self.environment.from_string(source)
        self.cache = {}
        self.slow = 0
        self.until = float("inf")  # of the process's time; later nothing is rendered

    def render(self, messages, tools, prompt, kwargs, engine):
        key = json.dumps([messages, tools, prompt, kwargs, engine], ensure_ascii=True)
        if key not in self.cache:
            if len(self.cache) > 4000:
                self.cache.clear()
            self.cache[key] = self._render(messages, tools, prompt, kwargs, engine)
        text, refusal = self.cache[key]
        if refusal is not None:
            raise Refused(refusal)
        return text

    def _render(self, messages, tools, prompt, kwargs, engine):
        values = {**TOKENS, **kwargs}
        if self.slow == 3 or time.process_time() > self.until:
            return None, "TooSlow: not asked any more"
        before = signal.signal(signal.SIGPROF, too_slow)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            if engine == "transformers":
                messages = [{k: v for k, v in m.items() if v is not None} for m in messages]
                texts, _ = render_jinja_template(
                    conversations=[messages], tools=tools, chat_template=self.source, add_generation_prompt=prompt, **values
                )
                return texts[0], None
            copy = json.loads(json.dumps([messages, tools]))
            return self.plain.render(messages=copy[0], tools=copy[1], add_generation_prompt=prompt, **values), None
        except Exception as error:  # noqa: BLE001 whatever a chat template does with what it does not expect
            self.slow += isinstance(error, TooSlow)
            return None, f"{type(error).__name__}: {error}"[:160]
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)

    def switches(self):
        """Kwargs that the source reads, each with the values that it may be given: true, false, what it is compared with."""
        names = jinja2.meta.find_undeclared_variables(self.tree) - GIVEN
        values = {name: [True, False] for name in sorted(names)}
        for compare in self.tree.find_all(jinja2.nodes.Compare):
            sides = [compare.expr, *(operand.expr for operand in compare.ops)]
            seen = {node.name for side in sides for node in named(side)} & names
            for side in sides:
                for constant in [side, *side.find_all(jinja2.nodes.Const)]:
                    if isinstance(constant, jinja2.nodes.Const) and isinstance(constant.value, (str, int)):
                        for name in seen:
                            if not any(constant.value is v or (constant.value == v and type(v) is type(constant.value)) for v in values[name]):
                                values[name].append(constant.value)
        return values

    def constants(self):
        """All strings that the source holds, in and outside of tags."""
        found = [node.data for node in self.tree.find_all(jinja2.nodes.TemplateData)]
        found += [node.value for node in self.tree.find_all(jinja2.nodes.Const) if isinstance(node.value, str)]
        return list(dict.fromkeys(found))


def named(node):
    if isinstance(node, jinja2.nodes.Name):
        yield node
    yield from node.find_all(jinja2.nodes.Name)


def spell(message, manner, reasoning_key=None):
    """The message (`content`, `reasoning`, `calls`) as the chat template is given it."""
    spelled = {"role": "assistant"}
    text, reasoning, calls = message.get("content"), message.get("reasoning"), message.get("calls") or []
    if manner.reasoning == "part" and reasoning:
        spelled["content"] = [{"type": "thinking", "thinking": reasoning}] + ([{"type": "text", "text": text}] if text else [])
    elif text:
        spelled["content"] = [{"type": "text", "text": text}] if manner.content == "parts" else text
    elif manner.empty == "text" or not calls and not reasoning:
        spelled["content"] = ""
    elif manner.empty == "null":
        spelled["content"] = None
    if manner.reasoning != "part" and reasoning:
        spelled[reasoning_key or manner.reasoning] = reasoning
    if calls:
        spelled["tool_calls"] = []
        for call in calls:
            arguments = call["arguments"]
            if manner.arguments == "text" and not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            spoken = {"type": "function", "function": {"name": call["name"], "arguments": arguments}}
            if call.get("id") is not None:
                spoken["id"] = call["id"]
            spelled["tool_calls"].append(spoken)
    return spelled


def schema_type(value):
    if value is None:
        return "null"
    return {bool: "boolean", int: "integer", float: "number", str: "string", dict: "object", list: "array"}[type(value)]


def tools_for(messages, further=()):
    """Tools whose schemas name the type of every argument that the messages' calls have."""
    functions = {name: {"city": "string"} for name in further}
    for message in messages:
        for call in message.get("calls") or []:
            types = functions.setdefault(call["name"], {})
            for key, value in call["arguments"].items():
                types[key] = schema_type(value)
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": "Does what it is called for.",
                "parameters": {
                    "type": "object",
                    "properties": {key: {"type": kind, "description": "A value."} for key, kind in types.items()},
                    "required": list(types),
                },
            },
        }
        for name, types in functions.items()
    ] or None
