"""Holds every invented chat template of this folder to what its NAME.json says of it.

    python check.py [NAME...]              each claim, checked with transformers' renderer and parser
    python check.py --derived DIR [NAME...] the same messages, parsed with DIR/NAME.json in the place of the hand-written one;
                                           with the verdict of DIR/NAME.report.json where there is one. --known FILE names those
                                           that are known to come out otherwise: any other one fails, and so does one that is right

NAME.json: `about`, `reads` (the kinds of KINDS below), `expressible`, and where it applies
`response_template`, `reasoning_key` (a dotted path, `part`, or a list of two), `ids`, `arguments` (object or text),
`call_content` (absent, empty or null: what a message of calls alone has), `nulls` (kept or dropped), `kwargs`, `avoid` (strings that
are markers here and so in no value), `trailer` (what stands after the last message of a finished conversation and is no part of it; TOOLS in it stands for the tools as JSON),
`system` (false where no system message is taken, `demanded` where one has to come first),
`left_out` (what the history begins a turn with and the prompt leaves out),
`one_call` (an answer has one call at most), `because`, `two_messages`, `construct`, `lost` (the kinds that no response template reads), `refused` (transformers' sandbox refuses it).
"""

import argparse
import copy
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
import jinja2.sandbox
from transformers.utils import chat_template_utils
from transformers.utils.chat_parsing import parse_response

HERE = Path(__file__).parent


def tool(name, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "description": f"Does {name}.", "parameters": parameters}}


STRING, INTEGER, NUMBER, BOOLEAN = ({"type": t} for t in ("string", "integer", "number", "boolean"))
TOOLS = [
    tool("get_weather", city=STRING, days=INTEGER),
    tool("set_light", room=STRING, level=NUMBER, on=BOOLEAN),
    tool("plan_trip", stops={"type": "array", "items": STRING}, options={"type": "object"}),
    tool("set_alarm", hour={"type": ["integer", "null"]}, label=STRING),
    tool("ping"),
    tool("move", **{"from place": STRING, "to-place": STRING, "at.time": INTEGER}),
]

TEXTS = [
    "Plain answer.",
    "Two lines of it,\nand the second one ends here.",
    "A list:\n\n- one\n- two\n\nMoreover it is overcast, indeed; that is the end of the answer I think about.",
    'With "quotes", {braces}, [brackets], a < b and café 🙂.',
    "12",
]
THOUGHTS = [
    "They want to know the weather.",
    "First this.\nThen that, on a second line.",
    "A thought.\n\n  An indented one after an empty line.",
    "It is 12 > 11, so be it.",
]


def without_beginning(text, beginning):
    """What stands behind a beginning in which white space may be otherwise; None where the text does not begin with it."""
    at = 0
    for character in beginning:
        if character.isspace():
            continue
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text) or text[at] != character:
            return None
        at += 1
    return text[at:]


def calls_of(kind):
    """The calls of a kind: lists of (name, arguments)."""
    return {
        "call": [[("get_weather", {"city": "Oslo", "days": 3})], [("get_weather", {"city": "New York", "days": -1})]],
        "calls": [
            [("get_weather", {"city": "Oslo", "days": 3}), ("set_light", {"room": "hall", "level": 0.5, "on": True})],
            [("get_weather", {"city": "Oslo", "days": 3}), ("get_weather", {"city": "Rome", "days": 4})],
            [("get_weather", {"city": f"City {n}", "days": n}) for n in range(3)],
        ],
        "numbers": [
            [("set_light", {"room": "hall", "level": 0.25, "on": False})],
            [("set_light", {"room": "hall", "level": 7, "on": True})],
        ],
        "empty": [[("ping", {})], [("ping", {}), ("ping", {})]],
        "nested": [
            [("plan_trip", {"stops": ["Oslo", "Rome, Italy"], "options": {"fast": True, "via": ["A", {"b": None}]}})],
            [("plan_trip", {"stops": [], "options": {"max": {"cost": 12.5, "note": "it's \"fine\""}}})],
        ],
        "null": [[("set_alarm", {"hour": None, "label": "tea"})]],
        "strings": [[("get_weather", {"city": c, "days": 1})] for c in ("12", "true", "null", 'the "old" town', "it's, here", "a\\b")],
        "lines": [[("get_weather", {"city": "first line\nsecond line", "days": 2})], [("get_weather", {"city": "a\n\n  b", "days": 2})]],
        "odd_names": [[("move", {"from place": "here", "to-place": "there", "at.time": 12})]],
    }[kind]


CALL_KINDS = ["call", "calls", "numbers", "empty", "nested", "null", "strings", "lines", "odd_names"]
KINDS = ["content", "reasoning", "reasoning_both", *CALL_KINDS, "content_with_calls", "reasoning_with_calls"]


class Claim:
    def __init__(self, name):
        self.name = name
        self.said = json.loads((HERE / f"{name}.json").read_text())
        self.source = (HERE / f"{name}.jinja").read_text()
        known = set("about reads reasoning_key ids arguments call_content nulls kwargs avoid trailer before_next headless expressible because two_messages "
                    "construct lost refused response_template system one_call left_out".split())
        assert set(self.said) <= known, f"unknown keys {set(self.said) - known}"
        assert set(self.said["reads"]) <= set(KINDS), f"unknown kinds {set(self.said['reads']) - set(KINDS)}"

    def get(self, key, default=None):
        return self.said.get(key, default)

    # Messages

    def reasoning_keys(self):
        key = self.get("reasoning_key", "reasoning_content")
        return key if isinstance(key, list) else [key]

    def with_reasoning(self, message, text, key):
        message = dict(message)
        if key == "part":
            message["content"] = [{"type": "thinking", "thinking": text}, {"type": "text", "text": message.get("content") or ""}]
        elif "." in key:
            outer, inner = key.split(".")
            message[outer] = {inner: text}
        else:
            message[key] = text
        return message

    def with_calls(self, message, calls, first=0):
        message = dict(message)
        made = []
        for n, (name, arguments) in enumerate(calls):
            as_text = self.get("arguments") == "text"
            call = {"type": "function", "function": {"name": name, "arguments": json.dumps(arguments) if as_text else arguments}}
            if self.get("ids"):
                call["id"] = f"{'abcdefgh'[n]}{'4k7m2x9q'[n]}Zt5{first + n}w8{n}"
            made.append(call)
        message["tool_calls"] = made
        return message

    def messages(self, kind):
        bare = {"role": "assistant"}
        silent = {"absent": {}, "empty": {"content": ""}, "null": {"content": None}}[self.get("call_content", "absent")]
        keys = self.reasoning_keys()
        if kind == "content":
            yield from (bare | {"content": t} for t in TEXTS)
        elif kind == "reasoning":
            for key in keys:
                for n, thought in enumerate(THOUGHTS):
                    yield self.with_reasoning(bare | {"content": TEXTS[n]}, thought, key)
        elif kind == "reasoning_both":
            message = self.with_reasoning(bare | {"content": TEXTS[1]}, THOUGHTS[0], keys[0])
            yield self.with_reasoning(message, THOUGHTS[1], keys[1])
        elif kind == "content_with_calls":
            for text in TEXTS[:4]:
                yield self.with_calls(bare | {"content": text}, calls_of("call")[0])
                yield self.with_calls(bare | {"content": text}, calls_of("calls")[0])
        elif kind == "reasoning_with_calls":
            for thought in THOUGHTS:
                yield self.with_calls(self.with_reasoning(bare | silent, thought, keys[0]), calls_of("calls")[0])
                if "content_with_calls" in self.said["reads"]:
                    yield self.with_calls(self.with_reasoning(bare | {"content": TEXTS[1]}, thought, keys[0]), calls_of("call")[0])
        else:
            yield from (self.with_calls(bare | silent, calls) for calls in calls_of(kind))

    def conversations(self, kind):
        """What stands before the answer."""
        before = [{"role": "system", "content": "Be brief."}] if self.get("system") == "demanded" else []
        for conversation in self.conversations_of(kind):
            yield conversation if conversation[0]["role"] == "system" else before + conversation

    def conversations_of(self, kind):
        ask = {"role": "user", "content": "What about Oslo?"}
        system = {"role": "system", "content": "Be brief."}
        yield [ask]
        if self.get("system", True):
            yield [system, ask]
        yield [ask, {"role": "assistant", "content": "Nothing yet."}, {"role": "user", "content": "And now?"}]
        if "call" in self.said["reads"]:
            silent = {"absent": {}, "empty": {"content": ""}, "null": {"content": None}}[self.get("call_content", "absent")]
            call = self.with_calls({"role": "assistant"} | silent, [("get_weather", {"city": "Bonn", "days": 1})], 7)
            result = {"role": "tool", "name": "get_weather", "content": "18 degrees"}
            if self.get("ids"):
                result["tool_call_id"] = call["tool_calls"][0]["id"]
            yield [ask, call, result]

    # Renders

    def render(self, messages, prompt, earlier=False):
        messages = copy.deepcopy(messages)
        if self.get("nulls") != "kept":
            messages = [{k: v for k, v in m.items() if v is not None} for m in messages]
        tools = TOOLS if any(k in CALL_KINDS for k in self.said["reads"]) else None
        if self.get("nulls") == "kept" or earlier:
            # What other servers do: keys that are null stay, lists may be changed.
            compiled = chat_template_utils._compile_jinja_template(self.source)
            if earlier:
                environment = jinja2.sandbox.SandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols])
                environment.filters["tojson"] = compiled.environment.filters["tojson"]
                environment.globals |= compiled.environment.globals
                compiled = environment.from_string(self.source)
            return compiled.render(messages=messages, tools=tools, documents=None, add_generation_prompt=prompt, **self.get("kwargs", {}))
        rendered, _ = chat_template_utils.render_jinja_template(
            [messages], tools=tools, chat_template=self.source, add_generation_prompt=prompt, **self.get("kwargs", {})
        )
        return rendered[0]

    def answer(self, conversation, message):
        """The prompt and what the model writes after it. A prompt that begins what this message has not ends where they part."""
        earlier = self.get("refused", False)
        prompt = self.render(conversation, True, earlier)
        whole = self.render([*conversation, message], False, earlier)
        if self.get("before_next") and message.get("tool_calls"):
            whole = self.before_next(conversation, message)
        if self.get("headless") and message.get("tool_calls") and not message.get("content"):
            said = "Something said."
            whole = "".join(self.render([*conversation, message | {"content": said}], False).rsplit(said, 1))
        if trailer := self.get("trailer"):
            trailer = trailer.replace("TOOLS", json.dumps(TOOLS, ensure_ascii=False))
            assert whole.endswith(trailer), f"no trailer at the end of {whole[-60:]!r}"
            whole = whole[: -len(trailer)]
            # What stands behind the conversation may stand before the end of the prompt as well, which then is no beginning of the whole.
            if not whole.startswith(prompt):
                before, _, behind = prompt.rpartition(trailer)
                prompt = before + behind
        if left_out := self.get("left_out"):
            shared = len(os.path.commonprefix([prompt, whole]))
            assert whole[shared:].startswith(left_out), f"no {left_out!r} where the turn begins in {whole[shared:][:60]!r}"
            whole = whole[:shared] + whole[shared + len(left_out) :]
        if not whole.startswith(prompt) and (response := without_beginning(whole, prompt)) is not None:
            return prompt, response
        shared = len(os.path.commonprefix([prompt, whole]))
        return prompt[:shared], whole[shared:]

    def before_next(self, conversation, message):
        """The conversation and the message with a question behind it, up to what begins that question behind an answer as well."""
        said, question = {"role": "assistant", "content": "Nothing yet."}, {"role": "user", "content": "And then?"}
        alone = self.render([*conversation, said], False).rpartition(said["content"])[2]
        answered = self.render([*conversation, said, question], False).rpartition(said["content"])[2].partition(question["content"])[0]
        assert answered.startswith(alone), f"an answer ends with {alone!r}, and before a question with {answered!r}"
        whole, _, _ = self.render([*conversation, message, question], False).rpartition(question["content"])
        return whole.removesuffix(answered[len(alone) :])

    # What came back

    def plain(self, message, accepted_keys=()):
        """A message without what may be written otherwise: empty values, text as one part, arguments as text."""
        seen = {}
        content = message.get("content")
        if isinstance(content, list):
            seen["part"] = "".join(p.get("thinking") or "" for p in content if p.get("type") == "thinking")
            content = "".join(p.get("text") or "" for p in content if p.get("type") == "text")
        seen["content"] = content
        for key, value in message.items():
            if key in ("role", "content", "tool_calls"):
                continue
            if isinstance(value, dict):
                seen |= {f"{key}.{inner}": v for inner, v in value.items()}
            else:
                seen[accepted_keys[0] if key in accepted_keys else key] = value
        calls = []
        for call in message.get("tool_calls") or []:
            function = call["function"]
            arguments = function.get("arguments")
            if isinstance(arguments, str) and self.get("arguments") == "text":
                arguments = json.loads(arguments)
            calls.append([function["name"], arguments] + ([call.get("id")] if self.get("ids") else []))
        seen["tool_calls"] = calls
        return {k: v for k, v in seen.items() if v not in (None, "", [], {})}

    def aliases(self, conversation, message):
        """The keys under which the chat template writes this message's reasoning alike."""
        keys = self.reasoning_keys()
        key = keys[0]
        if len(keys) > 1 or key not in message:
            return ()
        same = [key]
        text = self.render([*conversation, message], False, self.get("refused", False))
        for other in ("thinking", "reasoning_content", "reasoning"):
            if other != key and other not in message:
                renamed = {(other if k == key else k): v for k, v in message.items()}
                if self.render([*conversation, renamed], False, self.get("refused", False)) == text:
                    same.append(other)
        return same

    def avoided(self, message):
        """Whether a message has a text that is a marker here, or more calls than the chat template writes."""
        if self.get("one_call") and len(message.get("tool_calls", [])) > 1:
            return True
        text = json.dumps(message, ensure_ascii=False)
        return any(json.dumps(a, ensure_ascii=False)[1:-1] in text for a in self.get("avoid", []))

    def losses(self, template, kinds, is_part=False):
        """By kind: how many messages were tried, and the first that did not come back. With `is_part` a reasoning that was parsed is made a
        part of the content, as the report of the derivation asks for."""
        found = {}
        tools = TOOLS if any(k in CALL_KINDS for k in self.said["reads"]) else None
        for kind in kinds:
            tried, lost, first = 0, 0, None
            for message in self.messages(kind):
                if self.avoided(message):
                    continue
                for conversation in self.conversations(kind):
                    tried += 1
                    prefix, response = self.answer(conversation, message)
                    keys = self.aliases(conversation, message)
                    try:
                        parsed = parse_response(response, copy.deepcopy(template), prefix=prefix, tools=TOOLS if tools else None)
                        parsed = with_part(parsed) if is_part else parsed
                        come, want = self.plain(parsed, keys), self.plain(message, keys)
                        well = json.dumps(come, sort_keys=True) == json.dumps(want, sort_keys=True)
                    except Exception as e:
                        well, parsed = False, f"{type(e).__name__}: {e}"
                    if not well:
                        lost += 1
                        first = first or {"prefix": prefix[-80:], "response": response, "message": message, "parsed": parsed}
            found[kind] = (tried, lost, first)
        return found

    def check(self):
        """What is wrong with the claims, as a list of sentences."""
        said, wrong = self.said, []
        if self.get("refused"):
            try:
                self.render([{"role": "user", "content": "x"}, next(self.messages("call"))], False)
                wrong.append("transformers renders it")
            except Exception as e:
                if type(e).__name__ != "SecurityError":
                    wrong.append(f"refused otherwise: {e!r}")
        lost_kinds = said.get("lost", [])
        if said["expressible"]:
            if lost_kinds or "response_template" not in said:
                wrong.append("expressible, and yet no response template or something lost")
        elif not said.get("because") or not (said.get("two_messages") or said.get("construct")):
            wrong.append("inexpressible without a reason")
        for kind in said["reads"]:
            if not any(True for m in self.messages(kind) if not self.avoided(m)):
                wrong.append(f"no messages of {kind}")
        if two := said.get("two_messages"):
            ask = [{"role": "user", "content": "What about Oslo?"}]
            texts = [self.render([*ask, m], False, self.get("refused", False)) for m in two]
            if texts[0] != texts[1]:
                wrong.append(f"the two messages are rendered as {texts[0]!r} and {texts[1]!r}")
            if self.plain(two[0]) == self.plain(two[1]):
                wrong.append("the two messages say the same")
        if template := said.get("response_template"):
            kinds = [k for k in said["reads"] if k not in lost_kinds]
            for kind, (tried, lost, first) in self.losses(template, kinds).items():
                if lost:
                    wrong.append(f"{kind}: {lost} of {tried} lost, such as {json.dumps(first, ensure_ascii=False)}")
        else:
            for kind in said["reads"]:
                for message in self.messages(kind):
                    for conversation in self.conversations(kind):
                        self.answer(conversation, message)
        return wrong


def with_part(message):
    """The message with its reasoning as a part of the content, before its text."""
    thought = {"type": "thinking", "thinking": message.get("thinking") or ""}
    rest = {key: value for key, value in message.items() if key != "thinking"}
    return {**rest, "content": [thought, {"type": "text", "text": message.get("content") or ""}]}


def derived(claims, folder, known):
    wrong_verdicts, unexpected = 0, []
    for claim in claims:
        path, report = folder / f"{claim.name}.json", folder / f"{claim.name}.report.json"
        told = json.loads(report.read_text()) if report.exists() else {}
        verdict = told.get("verdict", "?")
        is_part = any(finding["code"] == "reasoning-as-part" for finding in told.get("findings", []))
        lines, expected = [], claim.said["expressible"]
        if path.exists():
            try:
                template = json.loads(path.read_text())
                losses = claim.losses(template, claim.said["reads"], is_part)
            except Exception as e:
                lines.append(f"    does not load: {e}")
                losses = {}
            for kind, (tried, lost, first) in losses.items():
                if lost:
                    lines.append(f"    {kind}: {lost} of {tried} lost, such as {json.dumps(first, ensure_ascii=False)}")
        else:
            lines.append("    no response template")
        if expected:
            ok = verdict == "proved" and not lines
        else:
            ok = verdict in ("inexpressible", "proved_in_part")
        wrong_verdicts += not ok
        if ok == (claim.name in known):
            unexpected.append(claim.name)
        lost = ",".join(line.split(":")[0].strip() for line in lines)
        print(f"{'ok   ' if ok else 'WRONG'} {claim.name}: expressible {str(expected).lower()}, {verdict}" + (f", lost: {lost}" if lost else ""))
        if not ok and VERBOSE:
            print("\n".join(lines))
    print(f"{len(claims) - wrong_verdicts} passed, {wrong_verdicts} failed, {len(unexpected)} otherwise than known")
    for name in unexpected:
        print(f"    {name} is {'right, and named as known' if name in known else 'wrong, and not named as known'}")
    return len(unexpected)


def main():
    global VERBOSE
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--derived", type=Path)
    arguments.add_argument("--known", type=Path, help="with --derived, a file with the names that are known to come out otherwise, one on a line; # begins a remark")
    arguments.add_argument("--verbose", action="store_true", help="with --derived, the first message of a kind that is lost")
    given = arguments.parse_args()
    VERBOSE = given.verbose
    names = given.names or sorted(p.stem for p in HERE.glob("*.jinja"))
    claims = [Claim(name) for name in names]
    if given.derived:
        lines = given.known.read_text().splitlines() if given.known else []
        known = {line.split("#")[0].strip() for line in lines} - {""}
        sys.exit(derived(claims, given.derived, known) > 0)
    failed = 0
    for claim in claims:
        try:
            wrong = claim.check()
        except Exception as e:
            wrong = [f"{type(e).__name__}: {e}"]
        failed += bool(wrong)
        for sentence in wrong:
            print(f"{claim.name}: {sentence}")
    print(f"{len(claims) - failed} passed, {failed} failed")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
