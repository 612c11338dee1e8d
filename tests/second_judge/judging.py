"""The judge of one chat template and its response template. README.md has the rules."""

import html
import json
import random
import re
from collections import Counter, defaultdict

import messages as made_up
from rendering import REASONING_KEYS, Manner, Refused, manners, spell, tools_for
from transformers.utils.chat_parsing import ResponseParser, parse_response
from transformers.utils.chat_parsing.response_templates import load_response_template

PROBES = {"content": "Quzcontentqa", "reasoning": "Quzreasonqb"}
PROBE_NAMES = ["quzfunctionqc", "quzfunctionqd", "quzfunctionqe", "quzfunctionqf", "quzfunctionqg"]
PROBE_VALUES = ["quzvalueqh", "quzvalueqi", "quzvalueqj", "quzvalueqk", "quzvalueql"]
BRACKETED = re.compile(r"<[^<>]+>|\[[^\[\]]+\]|⟦[^⟦⟧]+⟧|\(![^()]+!\)|#~[^#~]+~#|<[^<>=]+=")
SHIFTED = str.maketrans("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", "bcdefghijklmnopqrstuvwxyzaBCDEFGHIJKLMNOPQRSTUVWXYZA1234567890")
ORDINARY = re.compile(r"\w+")
PROBE = re.compile("Quz[a-z]+q[a-z]|quz[a-z]+q[a-z]")


def forms(text):
    """The ways in which a chat template may write a string: as it is, as JSON, as Python, for HTML."""
    found = []
    for t in dict.fromkeys((text, text.strip())):
        inner = json.dumps(t)[1:-1]
        found += [t, json.dumps(t, ensure_ascii=False)[1:-1], inner, json.dumps(inner)[1:-1], json.dumps(json.dumps(t, ensure_ascii=False)[1:-1], ensure_ascii=False)[1:-1],
                  repr(t)[1:-1], html.escape(t), inner.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026").replace("'", "\\u0027")]
    return [f for f in dict.fromkeys(found) if f.strip()]


def shown(value, text):
    """Whether all of a value is to be seen in a text."""
    if isinstance(value, str):
        return not value.strip() or any(f in text for f in forms(value))
    if isinstance(value, dict):
        return all(shown(k, text) and shown(v, text) for k, v in value.items())
    if isinstance(value, list):
        return all(shown(v, text) for v in value)
    return any(f in text for f in (json.dumps(value), repr(value), str(value)))


def same(a, b):
    """Whether two JSON values are the same with their types: "same", "edges" (but for white space at the ends of texts), or None."""
    if isinstance(a, str) and isinstance(b, str):
        return "same" if a == b else "edges" if a.strip() == b.strip() else None
    if isinstance(a, dict) and isinstance(b, dict):
        if list(sorted(a)) != list(sorted(b)):
            return None
        found = {same(a[k], b[k]) for k in a}
    elif isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return None
        found = {same(x, y) for x, y in zip(a, b)}
    elif isinstance(a, bool) or isinstance(b, bool) or a is None or b is None:
        return "same" if a is b else None
    elif isinstance(a, (int, float)) and isinstance(b, (int, float)):
        # JSON has one kind of number; a whole one that was given must be whole.
        return "same" if a == b and (isinstance(b, int) or isinstance(a, float)) else None
    else:
        return None
    return None if None in found else "edges" if "edges" in found else "same"


def scalars(value):
    """What is no text in a value."""
    if isinstance(value, dict):
        for v in value.values():
            yield from scalars(v)
    elif isinstance(value, list):
        for v in value:
            yield from scalars(v)
    elif not isinstance(value, str):
        yield value


def leaves(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for k, v in value.items():
            yield k
            yield from leaves(v)
    elif isinstance(value, list):
        for v in value:
            yield from leaves(v)


def read(parsed):
    """A parsed message in the form of those that were made up, the key of its reasoning, and what else it has."""
    message, key, further = {"content": None, "reasoning": None, "calls": []}, None, []
    for name, value in parsed.items():
        if name == "role":
            if value != "assistant":
                further.append(name)
        elif name == "content":
            if isinstance(value, list):
                for part in value:
                    if isinstance(part, dict) and part.get("type") == "text":
                        message["content"] = (message["content"] or "") + part.get("text", "")
                    elif isinstance(part, dict) and part.get("type") == "thinking":
                        message["reasoning"], key = part.get("thinking"), "part"
                    else:
                        further.append("content part")
            elif value is None or isinstance(value, str):
                message["content"] = value or None
            else:
                further.append("content that is no text")
        elif name in REASONING_KEYS:
            if message["reasoning"] not in (None, value):
                further.append(name)
            elif not isinstance(value, str):
                further.append("reasoning that is no text")
            else:
                message["reasoning"], key = value or None, name
        elif name == "tool_calls" and isinstance(value, list):
            for one in value:
                inner = one.get("function", one) if isinstance(one, dict) else None
                if not isinstance(inner, dict) or not isinstance(inner.get("name"), str):
                    further.append("a call without a name")
                    continue
                arguments = inner.get("arguments")
                if isinstance(arguments, str):
                    try:
                        arguments = json.loads(arguments)
                    except ValueError:
                        pass
                message["calls"].append({"name": inner["name"], "arguments": {} if arguments is None else arguments, "id": one.get("id")})
                further += [f"call.{k}" for k in one if k not in ("type", "id", "function", "name", "arguments")]
                further += [f"function.{k}" for k in inner if k not in ("type", "id", "name", "arguments")]
        elif value not in (None, "", [], {}):
            further.append(name)
    return message, key, further


class Verdict:
    """What became of one message."""

    def __init__(self, outcome, cause="", **evidence):
        self.outcome, self.cause, self.evidence = outcome, cause, evidence


class Context:
    """A conversation that a message answers, under kwargs."""

    def __init__(self, name, items, kwargs, offered=()):
        self.name, self.items, self.kwargs, self.offered = name, items, kwargs, tuple(offered)

    def key(self):
        return json.dumps([self.name, self.kwargs, self.offered])

    def history(self, manner):
        spelled, spoken = [], []
        for item in self.items:
            if isinstance(item, tuple):
                for each in item[1]["calls"]:
                    spelled.append({"role": "tool", "tool_call_id": each["id"], "name": each["name"], "content": "It is " + each["arguments"]["city"]})
            elif "role" in item:
                spelled.append(dict(item, content=[{"type": "text", "text": item["content"]}]) if manner.content == "parts" else item)
            else:
                spelled.append(spell(item, manner))
                spoken.append(item)
        return spelled, spoken


def pieces(text, whole):
    """Of how many pieces of another text this text can be put together at least."""
    count, at = 0, 0
    while at < len(text):
        size = shared_piece(text[at:], whole)
        if not size:
            return 1000
        at, count = at + size, count + 1
    return count


def shared_piece(text, whole):
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if text[:middle] in whole:
            low = middle
        else:
            high = middle - 1
    return low


class Turn:
    """A message's render, cut where the model begins to write."""

    def __init__(self, prefix, response, tools, prompt, anchor=None, continued=False, whole=None):
        self.prefix, self.response, self.tools, self.prompt = prefix, response, tools, prompt
        self.whole = prefix + response if whole is None else whole  # the message's render itself
        self.anchor = anchor  # where the turn begins in the prompt too, if the prompt goes on otherwise
        self.continued = continued


def shared(a, b):
    """The length of what two texts begin with."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[:middle] == b[:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def rank(verdict):
    """How far a verdict is from right, to choose between readings of one render."""
    slight = verdict.cause.startswith(SPACE), verdict.cause in ("renders otherwise", NUMBER), "argument" in verdict.cause, True
    return ("right", "ambiguous", "slight", "spoken", "wrong").index(verdict.outcome), slight.index(True)


SPACE = "white space at the ends"
NUMBER = "number written otherwise"


def is_slight(cause):
    """Whether the reference itself makes the difference, for every response template: its parser of texts takes white space off their ends, and
    its typing by schema makes a whole number of one that is written with an exponent."""
    return cause.startswith(SPACE) or cause == NUMBER


class Judge:
    def __init__(self, chat, document, seed=0, name="", markers=()):
        self.chat, self.document = chat, document
        self.response_template = load_response_template(document)
        self.rng = random.Random(f"{seed} {name}")
        self.given = set(markers)  # markers that are known, which need not look like any
        self.words = set(markers)  # what the chat template writes of its own accord
        self.probed, self.leads = {}, {}
        self.unshown_tails = {}  # contexts whose prompt ends as no render goes on
        self.shown_tails = set()
        self.ends = set()
        self.asked = {}  # prefix, response and tools of all that was parsed, with the message or None

    # ---- one message in one context

    def texts(self, message, context, manner, key=None):
        history, spoken = context.history(manner)
        tools = tools_for([*spoken, message], context.offered)
        return history, tools, self.chat.render(history + [spell(message, manner, key)], tools, False, context.kwargs, manner.engine)

    def cut(self, message, context, manner):
        """Prefix and response of a message's render, and the tools that the parser is given."""
        turn = self.turn(message, context, manner)
        return turn.prefix, turn.response, turn.tools

    def turn(self, message, context, manner):
        history, tools, whole = self.texts(message, context, manner)
        prompt = self.chat.render(history, tools, True, context.kwargs, manner.engine)
        if whole.startswith(prompt):
            self.shown_tails.add(context.key())
            return Turn(prompt, whole[len(prompt):], tools, prompt)
        response = self.headed(message, context, manner, history, tools, whole, prompt)
        if response is not None:
            return Turn(prompt, response, tools, prompt, whole=whole)
        common = shared(whole, prompt)
        if prompt[common:].strip():
            self.unshown_tails.setdefault(context.key(), prompt[common:])
        anchors = [m.end() for m in self.response_template.start_anchor_re.finditer(prompt)]
        if anchors and anchors[-1] <= common:
            return Turn(whole[: anchors[-1]], whole[anchors[-1]:], tools, prompt, anchors[-1])
        # The turn begins otherwise than the prompt ends: behind the last anchor before what is said first.
        said = [message["content"], message["reasoning"], *(c["name"] for c in message["calls"])]
        places = [whole.find(f, max(0, common - 1)) for s in said if s and s.strip() for f in forms(s)]
        first = min((p for p in places if p >= 0), default=len(whole))
        anchors = [m.end() for m in self.response_template.start_anchor_re.finditer(whole)]
        lead = self.leads.get(self.structure(message, context, manner))
        if lead is not None:  # as in the render of probes, which stand nowhere else
            fitting = [a + len(lead) for a in anchors if whole.startswith(lead, a) and any(whole.startswith(f, a + len(lead)) for s in said if s for f in forms(s))]
            first = fitting[-1] if fitting else first
        anchors = [a for a in anchors if a <= first]
        at = anchors[-1] if anchors else common
        # What stands between that anchor and the message may be another message, whose turn this one goes on with.
        before = whole[at:first]
        old = [t for item in context.items if not isinstance(item, tuple) for t in leaves(item) if len(t) > 6]
        old += [c["arguments"]["city"] for item in context.items if isinstance(item, tuple) for c in item[1]["calls"]]
        return Turn(whole[:at], whole[at:], tools, prompt, continued=any(f in before for t in old for f in forms(t)))

    def headed(self, message, context, manner, history, tools, whole, prompt):
        """What a model writes of calls before which no header stands, where one stands before the very same calls with a content beside them."""
        if not message["calls"] or message["content"] or message["reasoning"]:
            return None
        before = self.chat.render(history, tools, False, context.kwargs, manner.engine)
        beside = self.texts({**message, "content": PROBES["content"]}, context, manner)[2]
        if not whole.startswith(before) or not beside.startswith(prompt) or beside.count(PROBES["content"]) != 1:
            return None
        response = beside[len(prompt):].replace(PROBES["content"], "")
        return response if response.strip() == whole[len(before):].strip() else None

    def structure(self, message, context, manner):
        return (context.key(), manner, bool(message["content"]), bool(message["reasoning"]), tuple(bool(c["arguments"]) for c in message["calls"]), any(c["id"] for c in message["calls"]))

    def probe(self, message, context, manner):
        """Which parts of a message of this structure are to be seen: the structure is rendered with texts that are nowhere else."""
        key = self.structure(message, context, manner)
        if key not in self.probed:
            probe = {
                "content": PROBES["content"] if message["content"] else None,
                "reasoning": PROBES["reasoning"] if message["reasoning"] else None,
                "calls": [{"name": PROBE_NAMES[i % 5], "arguments": {"city": PROBE_VALUES[i % 5]} if c["arguments"] else {}, "id": c["id"]} for i, c in enumerate(message["calls"])],
            }
            try:
                prefix, response, _ = self.cut(probe, context, manner)
                seen = {part for part in PROBES if probe[part] and PROBES[part] in response}
                listed = self.without_calls(probe, context, manner) if probe["calls"] else ""
                seen |= {i for i, c in enumerate(probe["calls"]) if c["name"] in response and (prefix + response).count(c["name"]) > listed.count(c["name"])}
                if any(c["id"] for c in probe["calls"]) and self.writes_ids(probe, context, manner):
                    seen.add("ids")
                for c in probe["calls"]:
                    if c["id"]:
                        response = response.replace(c["id"], PROBE_NAMES[0])
                if seen:
                    self.leads[key] = response[: PROBE.search(response).start()]
                    pieces = PROBE.split(response)
                    pieces.append(prefix[len(prefix) - len(self.response_template.truncate_past_last_anchor(prefix)):])
                    written = [w for piece in pieces for w in piece.split()]
                    self.words.update(written, (part for w in written for part in BRACKETED.findall(w)))
                    if seen == {"content"} and not message["calls"] and not message["reasoning"] and pieces[-2].strip():
                        self.ends.add(pieces[-2].strip())
                self.probed[key] = (seen, None)
            except Refused as refusal:
                self.probed[key] = (set(), str(refusal))
        return self.probed[key]

    def without_calls(self, probe, context, manner):
        """The text with the same tools and no call: a list of the tools that stands behind the message has the calls' names, too."""
        history, spoken = context.history(manner)
        tools = tools_for([*spoken, probe], context.offered)
        said = {**probe, "calls": [], "content": probe["content"] or PROBES["content"]}
        try:
            return self.chat.render(history + [spell(said, manner)], tools, False, context.kwargs, manner.engine)
        except Refused:
            return ""

    def writes_ids(self, probe, context, manner):
        """Whether other identifiers of the same shape make another text."""
        other = {**probe, "calls": [{**c, "id": c["id"] and c["id"].translate(SHIFTED)} for c in probe["calls"]]}
        try:
            return self.texts(other, context, manner)[2] != self.texts(probe, context, manner)[2]
        except Refused:
            return False

    def markers(self):
        """What the chat template writes that could be taken for a marker, the longest first."""
        return sorted((w for w in self.words if w in self.given or len(w) > 1 and not w.isalnum()), key=lambda w: (-len(w), w))

    def judge(self, message, context, manner, chunks=()):
        try:
            seen, refusal = self.probe(message, context, manner)
            if refusal:
                return Verdict("refused", refusal)
            turn = self.turn(message, context, manner)
        except Refused as refused:
            return Verdict("refused", str(refused))
        if not seen:
            return Verdict("invisible")
        if turn.continued:
            return Verdict("continued")
        whole = turn.whole
        best = None
        for prefix, response, lenient in self.readings(message, context, manner, whole, turn):
            verdict = self.attempt(message, context, manner, seen, turn, prefix, response, whole, () if lenient else chunks)
            if lenient and verdict.outcome == "ambiguous":
                continue
            if best is None or rank(verdict) < rank(best):
                best = verdict
            if best.outcome in ("right", "ambiguous", "slight"):
                break
        return best

    def readings(self, message, context, manner, whole, turn):
        """The ways to cut a render into prefix and response that it allows, the plain one first; it is enough that one of them holds."""
        yield turn.prefix, turn.response, False
        if turn.anchor is not None and turn.prompt[turn.anchor :].strip():
            # The prompt says more than the render does where the turn begins: the model goes on from the prompt.
            yield turn.prompt, turn.response, False
            # What the prompt ends with may be what the render's turn begins with.
            for size in range(min(len(turn.response), len(turn.prompt) - turn.anchor), 0, -1):
                if turn.prompt.endswith(turn.response[:size]):
                    yield turn.prompt, turn.response[size:], False
                    break
        lead = self.leads.get(self.structure(message, context, manner), "")
        if turn.anchor is None and turn.prefix == turn.prompt and turn.response.startswith(lead):
            # A prompt that does not begin the turn: the model's part begins behind the anchor that the render has then.
            anchors = [m.end() for m in self.response_template.start_anchor_re.finditer(whole)]
            at = [a for a in anchors if len(turn.prefix) < a <= len(turn.prefix) + len(lead)]
            if at:
                yield whole[: at[-1]], whole[at[-1] :], False
        for short in self.without_trailer(message, context, manner, whole, turn):
            yield turn.prefix, short, True

    def without_trailer(self, message, context, manner, whole, turn):
        """Responses without what the chat template writes at the end of every conversation: where a further question takes the place of
        the end of the text, the message had ended before."""
        history, spoken = context.history(manner)
        tools = tools_for([*spoken, message], context.offered)
        question = "And then?" if manner.content == "text" else [{"type": "text", "text": "And then?"}]
        try:
            longer = self.chat.render(history + [spell(message, manner), {"role": "user", "content": question}], tools, False, context.kwargs, manner.engine)
            common = shared(whole, longer)
        except Refused:
            common = 0
        if common == len(whole):
            return
        texts = [message["content"] or "", message["reasoning"] or "", *(t for c in message["calls"] for t in (c["name"], *leaves(c["arguments"])))]
        last = max([len(turn.prefix)] + [len(turn.prefix) + turn.response.find(f) + len(f) for t in texts for f in forms(t) if f in turn.response])
        if common <= last:
            # What follows the message changes it. Another turn that is begun behind it is not its own in any case.
            common = next((m.start() for m in self.response_template.start_anchor_re.finditer(whole, last)), last)
        for at in range(common, max(last, common - 200) - 1, -1):
            yield whole[len(turn.prefix) : at]

    def attempt(self, message, context, manner, seen, turn, prefix, response, whole, chunks):
        tools = turn.tools
        evidence = {"context": context.name, "kwargs": context.kwargs, "manner": str(manner), "message": spell(message, manner), "prefix": prefix, "response": response}
        try:
            parsed = parse_response(response, self.response_template, prefix=prefix, tools=tools)
            evidence["parsed"] = parsed
            self.asked[prefix, response] = tools, parsed
        except Exception as error:  # noqa: BLE001 whatever stops the parser
            self.asked[prefix, response] = tools, None
            evidence["parsed"] = f"{type(error).__name__}: {error}"[:400]
            return self.excuse(message, None, "no message: " + type(error).__name__, context, manner, prefix, response, tools, evidence, whole)
        got, key, further = read(parsed)
        causes, edges = self.compare(message, got, seen, response, context, manner)
        causes += [f"more than was said: {f}" for f in further]
        again = self.again(message, got, key, context, manner, seen)
        evidence["again"] = again
        if not causes and again != whole:
            numbers = [[repr(n) for n in scalars([c["arguments"] for c in m["calls"]])] for m in (message, got)]
            causes = [f"{SPACE} of {edges}" if edges else NUMBER if numbers[0] != numbers[1] else "renders otherwise"]
        if causes:
            return self.excuse(message, got, causes[0], context, manner, prefix, response, tools, evidence, whole, again)
        for size in chunks:
            try:
                parser = ResponseParser(self.response_template, prefix=prefix, tools=tools)
                for at in range(0, len(response), size):
                    parser.feed(response[at : at + size])
                streamed, _ = parser.finalize()
            except Exception as error:  # noqa: BLE001
                streamed = f"{type(error).__name__}: {error}"[:400]
            if streamed != parsed:
                return Verdict("wrong", "in chunks another message", **evidence, streamed=streamed, size=size)
        return Verdict("right")

    def again(self, message, got, key, context, manner, seen=()):
        """The render of the parsed message in the place of the message, or why there is none."""
        calls = []
        for i, call in enumerate(got["calls"]):
            # An identifier that is not written cannot come back; chat templates may want one all the same.
            given = message["calls"][i]["id"] if i < len(message["calls"]) and "ids" not in seen else None
            calls.append({**call, "id": call["id"] if call["id"] is not None else given})
        history, spoken = context.history(manner)
        tools = tools_for([*spoken, message], context.offered)
        key = key if key in REASONING_KEYS and manner.reasoning != "part" else None
        try:
            return self.chat.render(history + [spell({**got, "calls": calls}, manner, key)], tools, False, context.kwargs, manner.engine)
        except Refused as refused:
            return f"refused: {refused}"
        except TypeError as error:
            return f"cannot be given: {error}"

    def compare(self, message, got, seen, response, context, manner):
        """What did not come back, and whether white space at the ends of a text differs."""
        causes, edges = [], ""
        for part in ("reasoning", "content"):
            said, heard = message[part] or "", got[part] or ""
            if part in seen and said.strip():
                if not any(f in response for f in forms(said)):
                    continue  # written as another text: only the second render can tell
                if said.strip() != heard.strip():
                    causes.append(f"{part} lost" if not heard.strip() else f"{part} changed")
                edges = edges or ("a text" if said != heard else "")
            elif heard.strip() and heard.strip() != said.strip():
                causes.append(f"{part} that was not said")
        expected = [c for i, c in enumerate(message["calls"]) if i in seen]
        if len(got["calls"]) != len(expected):
            causes.append("calls lost" if len(got["calls"]) < len(expected) else "calls that were not made")
            return causes, edges
        for call, heard in zip(expected, got["calls"]):
            if call["name"] != heard["name"]:
                causes.append("name of a call")
            if call["id"] and "ids" in seen and call["id"] in response and heard["id"] != call["id"]:
                causes.append("identifier of a call")
            elif heard["id"] not in (None, "") and heard["id"] != call["id"] and str(heard["id"]) not in response:
                causes.append("identifier that is not written")
            if not isinstance(heard["arguments"], dict):
                causes.append("arguments that are no object")
                continue
            for name, value in call["arguments"].items():
                if value in (None, "", [], {}) and not isinstance(value, bool) and not self.told(message, call, name, context, manner):
                    continue
                if not any(f in response for f in forms(name)) or not shown(value, response):
                    continue
                if name not in heard["arguments"]:
                    causes.append("argument lost" if ORDINARY.fullmatch(name) else "argument with an odd name lost")
                    continue
                how = same(value, heard["arguments"][name])
                if how is None:
                    back = heard["arguments"][name]
                    kind = made_up_type(value)
                    causes.append(f"{kind} argument comes back as {made_up_type(back)}" if made_up_type(back) != kind else f"{kind} argument changed")
                edges = "an argument" if how == "edges" else edges
            if set(heard["arguments"]) - set(call["arguments"]):
                causes.append("argument that was not given")
        return causes, edges

    def told(self, message, call, name, context, manner):
        """Whether an argument without text is told from another without text."""
        mine = self.texts(message, context, manner)[2]
        for other in ("", None, [], {}):
            if other != call["arguments"][name] or type(other) is not type(call["arguments"][name]):
                changed = [{**c, "arguments": {**c["arguments"], name: other}} if c is call else c for c in message["calls"]]
                history, spoken = context.history(manner)
                tools = tools_for([*spoken, message], context.offered)
                try:
                    if self.chat.render(history + [spell({**message, "calls": changed}, manner)], tools, False, context.kwargs, manner.engine) == mine:
                        return False
                except Refused:
                    pass
        return True

    # ---- the excuse

    def excuse(self, message, got, cause, context, manner, prefix, response, tools, evidence, whole, again=None):
        texts = list(leaves([message["content"] or "", message["reasoning"] or "", *(c["arguments"] for c in message["calls"])]))
        texts += [t for c in message["calls"] for t in (c["name"], c["id"] or "")]
        if got is not None and again == whole and self.another(got, texts, tools):
            return Verdict("ambiguous", "two messages render to this text", **evidence)
        if self.ends_early(texts, message, context, manner, prefix, response, tools):
            return Verdict("ambiguous", "a text ends the turn", **evidence)
        spoken = [w for w in self.markers() if any(w in t for t in texts)]
        if spoken:
            calm = self.calm(message, spoken)
            if calm != message:
                still = self.judge(calm, context, manner)
                if still.outcome in ("right", "ambiguous", "slight"):
                    return Verdict("spoken", cause, **evidence, markers=spoken)
                if still.outcome == "wrong" and still.cause != cause:
                    return still  # wrong without its markers, too: for that reason then
        if got is not None and "".join(again.split()) == "".join(whole.split()) and self.another(got, texts, tools):
            cause = f"{SPACE} of a text"  # told apart by white space alone
        return Verdict("slight" if is_slight(cause) else "wrong", cause, **evidence)

    def another(self, got, texts, tools):
        """Whether what was parsed is another message that could be meant: of functions that there are, with arguments of their types, and
        with texts that the message has as well. What the chat template wrote itself is in none of them, unless the message's texts have it."""
        types = {t["function"]["name"]: t["function"]["parameters"]["properties"] for t in tools or ()}
        for call in got["calls"]:
            if call["name"] not in types or not isinstance(call["arguments"], dict):
                return False
            for name, value in call["arguments"].items():
                if name in types[call["name"]] and types[call["name"]][name]["type"] not in (made_up_type(value), {"integer": "number"}.get(made_up_type(value))):
                    return False
        heard = list(leaves([got["content"] or "", got["reasoning"] or "", *(c["arguments"] for c in got["calls"])]))
        if any(sum(t.count(w) for t in heard) > sum(t.count(w) for t in texts) for w in self.words if not w.isalnum() or len(w) > 3):
            return False
        whole = "\n".join("".join(t.split()) for t in texts)
        return all(pieces("".join(t.split()), whole) <= 3 for t in heard)

    def ends_early(self, texts, message, context, manner, prefix, response, tools):
        """Whether a text of the message holds what ends a turn, and the response up to there is another message's."""
        for end in self.ends:
            if any(end in t for t in texts) and end in response:
                short = response[: response.index(end) + len(end)]
                try:
                    got, key, further = read(parse_response(short, self.response_template, prefix=prefix, tools=tools))
                except Exception:  # noqa: BLE001
                    continue
                if further or not self.another(got, texts, tools):
                    continue
                if "".join(self.again(message, got, key, context, manner).split()) == "".join((prefix + short).split()):
                    return True
        return False

    def calm(self, message, spoken):
        """The same message with words in the place of markers."""
        def still(value):
            if isinstance(value, str):
                for i, marker in enumerate(spoken):
                    value = value.replace(marker, "word" + "abcdefghij"[i % 10])
                return value
            if isinstance(value, dict):
                return {still(k): still(v) for k, v in value.items()}
            if isinstance(value, list):
                return [still(v) for v in value]
            return value

        return {"content": still(message["content"]), "reasoning": still(message["reasoning"]),
                "calls": [{**c, "arguments": still(c["arguments"])} for c in message["calls"]]}


def made_up_type(value):
    from rendering import schema_type

    return schema_type(value)
