"""One chat template on trial: which messages it is asked, what became of them, the smallest that came back wrong."""

import json
import random
import time
from collections import Counter, defaultdict

import messages as made_up
from judging import PROBE_VALUES, Context, Judge, Verdict, read
from rendering import ChatTemplate, Manner, Refused, manners
from transformers.utils.chat_parsing import parse_response

SECONDS = 12  # of processor time for a chat template
BAD = ("wrong", "spoken")

SHOWN = "shown by the report"  # the kind of the messages with which the report shows something inexpressible


class Trial:
    def __init__(self, name, source, document, seed=0, amount=1.0, markers=(), given=(), left_alone=()):
        self.left_alone = set(left_alone)  # kwargs that the report says were left at their default
        self.name, self.amount = name, amount
        self.given = list(given)  # messages that somebody says do not come back
        self.chat = ChatTemplate(source)
        self.judge = Judge(self.chat, document, seed, name, markers)
        self.rng = random.Random(f"{seed}/{name}")
        self.contexts = made_up.histories(random.Random(f"{seed}/{name}/histories"))
        self.given_markers = list(markers)
        self.counts = defaultdict(Counter)
        self.refusals = Counter()
        self.reasons = Counter()
        self.failures = {}  # (outcome, cause) -> smallest (message, context, manner, kind)
        self.shrunk = []
        self.unjudged = []  # kwargs under which the prompt ends as no render goes on
        self.ways = {}  # kind -> (manner, kwargs, tools are offered)
        if not self.renders("asked") and self.renders("instructed"):
            system = self.contexts["instructed"][0]
            self.contexts = {name: talk if talk[0] == system else [system, *talk] for name, talk in self.contexts.items()}

    def renders(self, name):
        try:
            self.judge.cut(self.skeleton("content"), self.context(name), Manner())
        except Refused:
            return False
        return True

    def context(self, name="asked", kwargs=None, offered=()):
        return Context(name, self.contexts[name], kwargs or {}, offered)

    # ---- how the chat template takes a kind

    def skeleton(self, kind):
        parts = kind.split("+")
        count = 2 if "calls" in parts else 1 if "call" in parts else 0
        return {
            "content": "words" if "content" in parts else None,
            "reasoning": "words" if "reasoning" in parts else None,
            "calls": [{"name": "lookup" if i == 0 else "find_out", "arguments": {"city": "x"}, "id": f"abcdEFG0{i}"} for i in range(count)],
        }

    def way(self, kind):
        message = self.skeleton(kind)
        wanted = {p for p in ("content", "reasoning") if message[p]} | set(range(len(message["calls"])))
        best, most = None, 0
        for stage in (0, 1):
            for kwargs in [{}] if stage == 0 else [{}, *self.switches]:
                for history in ["asked"] if stage == 0 else ["asked", "after a result"]:
                    for offered in ([()] if stage == 0 else [(), ("find_out",)]):
                        if stage == 1 and (kwargs, history, offered) == ({}, "asked", ()):
                            continue
                        for manner in (ALL_MANNERS if stage == 0 else ALL_MANNERS[:12]):
                            if not message["calls"] and (manner.arguments, manner.empty) != ("object", "absent"):
                                continue
                            if not message["reasoning"] and manner.reasoning != "reasoning_content":
                                continue
                            context = self.context(history, kwargs, offered)
                            seen, _ = self.judge.probe(message, context, manner)
                            score = 2 * len(seen & wanted)
                            if score and self.printed(message, context, manner):
                                score = 0 if "part" in manner or "parts" in manner else score - 1
                            if score > most:
                                best, most = (manner, kwargs, offered, history), score
                            if score == 2 * len(wanted):
                                return best
        return best if most >= 2 * len(wanted) - 1 else None

    def printed(self, message, context, manner):
        """Whether the chat template prints a Python object as it is, which is no way to take it."""
        probe = {**message, "calls": [{**c, "arguments": {"city": PROBE_VALUES[0]}} for c in message["calls"]]}
        try:
            _, response, _ = self.judge.cut(probe, context, manner)
        except Refused:
            return True
        return "{'city': '" in response or "{'type': '" in response or ("parts" in manner or "part" in manner) and '"type": "t' in response

    def scout(self):
        switches = self.chat.switches()
        base = {}
        message = self.skeleton("content")
        self.switches = []
        tried = [(name, value) for name, values in switches.items() if name not in self.left_alone for value in values]
        skeletons = [self.skeleton(k) for k in ("content", "reasoning+content", "call", "reasoning+content+call")]

        def look(kwargs):
            found = []
            for skeleton in skeletons:
                for history in ("asked", "after a result"):
                    try:
                        found.append(self.judge.cut(skeleton, self.context(history, kwargs), Manner()))
                    except Refused:
                        found.append(None)
            return json.dumps(found)

        known = {look({})}
        for name, value in tried:
            try:
                seen = look({name: value})
            except Exception:  # noqa: BLE001 a switch that takes no such value
                continue
            if seen not in known and len(self.switches) < 12:
                known.add(seen)
                self.switches.append({name: value})
        for kind in made_up.KINDS:
            self.ways[kind] = self.way(kind)

    # ---- the messages

    def put(self, label, message, context, manner, chunks=()):
        if time.process_time() > self.until:
            self.counts[label]["out of time"] += 1
            return Verdict("out of time")
        verdict = self.judge.judge(message, context, manner, chunks)
        if verdict.outcome == "refused":
            # Calls of the conversation so far may have to be spelled otherwise than this message.
            for other in dict.fromkeys(manner._replace(**changed) for changed in ({"empty": "text"}, {"arguments": "text"}, {"empty": "text", "arguments": "text"}, {"arguments": "object"})):
                if other != manner:
                    second = self.judge.judge(message, context, other, chunks)
                    if second.outcome not in ("refused", "invisible", "continued"):
                        verdict, manner = second, other
                        break
        self.counts[label][verdict.outcome] += 1
        if verdict.outcome == "refused":
            self.refusals[verdict.cause] += 1
        elif verdict.outcome in BAD or verdict.outcome == "ambiguous":
            self.reasons[f"{verdict.outcome}: {verdict.cause}"] += 1
            key, size = (verdict.outcome, verdict.cause), len(json.dumps([message, context.kwargs, context.name]))
            if key not in self.failures or size < self.failures[key][0]:
                self.failures[key] = (size, message, context, manner, label)
        return verdict

    def run(self):
        began = time.time()
        self.until = time.process_time() + SECONDS * max(1, self.amount)
        self.chat.until = self.until + SECONDS  # the rest is for making failures smaller
        self.scout()
        rng = self.rng
        for kind, way in self.ways.items():
            if way is None:
                self.counts[kind]["not shown"] += 1
                continue
            manner, base, offered, history = way
            tiers = ["plain"] * 5 + ["rich"] * 5 + ["hostile"] * 5 + ["edged"] * 2 + ["long"]
            for turn in range(max(1, round(self.amount))):
                for number, tier in enumerate(tiers):
                    if self.amount < 1 and rng.random() > self.amount:
                        continue
                    message = made_up.message(rng, kind, tier)
                    if number == 0:
                        context = self.context(history, base, offered)
                    else:
                        place = rng.choice(["asked", history] + list(self.contexts))
                        kwargs = {**base, **(rng.choice(self.switches) if self.switches and rng.random() < 0.35 else {})}
                        context = self.context(place, kwargs, offered or (("find_out",) if rng.random() < 0.3 else ()))
                    chunks = (1, 5) if number % 5 == 0 and tier != "long" else (7,) if number % 5 == 2 else (61,) if tier == "long" else ()
                    self.put(f"{kind} ({tier})", message, context, manner, chunks)
            for kwargs in self.switches:
                for place in ("asked", "second turn", "after a result"):
                    self.put(f"{kind} (switches)", made_up.message(rng, kind, "plain"), self.context(place, {**base, **kwargs}, offered), manner)
        self.ask_given()
        self.calls()
        self.shapes()
        self.speak()
        self.opened()
        self.shrink()
        self.seconds = time.time() - began
        return self

    def ask_given(self):
        for spelled in self.given:
            message, _, _ = read(spelled)
            for call in message["calls"]:
                if isinstance(call["arguments"], str):
                    call["arguments"] = json.loads(call["arguments"])
            parts = [part for part in ("reasoning", "content") if message[part]]
            parts += ["calls" if len(message["calls"]) > 1 else "call"] if message["calls"] else []
            way = self.ways.get("+".join(parts))
            if way is not None:
                manner, base, offered, history = way
                self.put(SHOWN, message, self.context(history, base, offered), manner)

    def calls(self):
        """Arguments of every type, in every number, with odd names; the same function again; identifiers."""
        way, rng = self.ways["call"], self.rng
        if way is None:
            return
        manner, base, offered, history = way
        context = self.context(history, base, offered)

        def one(**how):
            call = made_up.call(rng, **how)
            call["id"] = made_up.IDS[0](rng)
            return {"content": None, "reasoning": None, "calls": [call]}

        for kind in ("string", "integer", "number", "boolean", "null", "object", "array"):
            for tier in ("plain", "rich", "hostile"):
                for _ in range(2 if kind in ("boolean", "null") or tier != "plain" else 4):
                    self.put(f"{kind} argument ({tier})", one(tier=tier, kinds=[kind]), context, manner)
        for said in ("true", "null", "12", "1.5", "{\"a\": 1}", "[1]", "None", "0012", "1e5", " ", "", "\n", "\"x\"", "x\ny\n"):
            message = one(kinds=["string"])
            key = next(iter(message["calls"][0]["arguments"]))
            message["calls"][0]["arguments"][key] = said
            self.put("string argument (like another type)", message, context, manner)
        for number in (1e22, 1e-7, 1.5e300, -0.0, 2.5e-10):
            message = one(kinds=["number"])
            key = next(iter(message["calls"][0]["arguments"]))
            message["calls"][0]["arguments"][key] = number
            self.put("number argument (odd)", message, context, manner)
        for deep in ({"a": {"b": {"c": [{"d": None}, [], {}, ""]}}}, [[], [[]], [{}]], {"": 1}, {"k": "a\nb\"c\\d"}, {"list": [{"x": 1}, {"x": 2.5, "y": [True, False, None]}]}, {"üñí": "çødé", "日本": ["語"]}):
            message = one(kinds=["object"])
            key = next(iter(message["calls"][0]["arguments"]))
            message["calls"][0]["arguments"][key] = deep
            self.put("deep argument", message, context, manner)
        for count in range(9):
            self.put("number of arguments", one(count=count), context, manner, (3,))
        for name in made_up.ODD_FUNCTIONS:
            self.put("odd function name", one(count=1, name=name, kinds=["string"]), context, manner)
        for name in made_up.ODD_KEYS:
            message = one(kinds=["string"])
            (value,) = message["calls"][0]["arguments"].values()
            message["calls"][0]["arguments"] = {name: value}
            self.put("odd argument name", message, context, manner)
        for shape in made_up.IDS:
            message = one(count=1)
            message["calls"][0]["id"] = shape(rng)
            self.put("identifiers", message, context, manner)
            message = json.loads(json.dumps(message))
            message["calls"][0]["id"] = None
        self.put("identifiers", message, context, manner)
        if self.ways["calls"] is not None:
            manner, base, offered, history = self.ways["calls"]
            context = self.context(history, base, offered)
            for count in (2, 3, 5):
                message = one(count=rng.randrange(3))
                while len(message["calls"]) < count:
                    message["calls"].append({**made_up.call_like(rng, message["calls"][0]), "id": made_up.IDS[0](rng)})
                self.put("calls of the same function", message, context, manner, (4,))
                message = json.loads(json.dumps(message))
                for call in message["calls"]:
                    call["arguments"] = message["calls"][0]["arguments"]
                self.put("calls that are the same", message, context, manner)

    def shapes(self):
        """One text after another where plain content and reasoning stand."""
        rng = self.rng
        for part in ("content", "reasoning", "reasoning+content"):
            way = self.ways[part]
            if way is None:
                continue
            manner, base, offered, history = way
            context = self.context(history, base, offered)
            for pool, label in ((made_up.HOSTILE, "signs"), (made_up.JSONISH + made_up.MARKUP, "like JSON or markup")):
                for said in pool if self.amount >= 1 else rng.sample(pool, len(pool) // 3):
                    message = {"content": None, "reasoning": None, "calls": []}
                    for each in part.split("+"):
                        message[each] = said if each == part.split("+")[-1] else "because"
                    self.put(f"{part} ({label})", message, context, manner)

    def speak(self):
        """Markers of the chat template's own, spoken of in texts."""
        rng = self.rng
        strong = [w for w in self.judge.markers() if any(c.isalpha() for c in w)] + self.given_markers
        strong = list(dict.fromkeys(strong))
        rng.shuffle(strong)
        for kind, part in (("content", "content"), ("reasoning+content", "reasoning"), ("call", "call"), ("content+call", "content")):
            way = self.ways[kind]
            if way is None:
                continue
            manner, base, offered, history = way
            for marker in strong[: round(8 * max(1, self.amount))]:
                message = made_up.message(rng, kind, "plain")
                said = rng.choice(["{}", "see {} here", "{} and", "and {}", "a\n{}\nb"]).format(marker)
                if part == "call":
                    message["calls"] = [{"name": "lookup", "arguments": {"city": said}, "id": message["calls"][0]["id"]}]
                else:
                    message[part] = said
                self.put(f"markers spoken of in {part}", message, self.context(history, base, offered), manner)

    def opened(self):
        """A reasoning that a prompt opens and no render shows: where the chat template cuts content at one of its constants, what stands
        before that is no content; a response that goes on from the prompt, with that constant, must come back with what is kept."""
        way = self.ways["content"]
        if way is None:
            return
        manner, base, offered, history = way

        for kwargs in [base, *({**base, **s} for s in self.switches)]:
            context = self.context("asked", kwargs)
            try:
                past, _, _ = self.judge.texts({"content": "Kept answer", "reasoning": None, "calls": []}, context, manner)
                _, response, _ = self.judge.cut({"content": "Kept answer", "reasoning": None, "calls": []}, context, manner)
                prompt = self.chat.render(past, None, True, kwargs, manner.engine)
            except Refused:
                continue
            if context.key() in self.judge.shown_tails or context.key() not in self.judge.unshown_tails:
                continue
            tail = self.judge.unshown_tails[context.key()]
            plain = {"content": "Kept answer", "reasoning": None, "calls": []}
            turn = self.judge.turn(plain, context, manner)
            readings = list(self.judge.readings(plain, context, manner, turn.prefix + turn.response, turn))
            if any(self.judge.attempt(plain, context, manner, {"content"}, turn, p, r, turn.prefix + turn.response, ()).outcome == "right" for p, r, _ in readings if p == prompt):
                continue  # the render's turn, written after the prompt, comes back
            closers = []
            for constant in self.chat.constants():
                constant = constant.strip()
                if not constant or any(c.isspace() for c in constant) or len(constant) > 40 or constant in tail or constant.isalnum():
                    continue
                try:
                    message = {"content": f"{tail.strip()}Thought out{constant}Kept answer", "reasoning": None, "calls": []}
                    _, cut, _ = self.judge.cut(message, context, manner)
                except Refused:
                    continue
                if "Thought out" not in cut and "Kept answer" in cut and constant not in response:
                    closers.append(constant)
            if not closers or "Kept answer" not in response:
                self.unjudged.append({"kwargs": kwargs, "tail": tail})
                continue
            end = response.split("Kept answer", 1)[1]
            for closer in dict.fromkeys(closers):
                for space in ("", "\n", "\n\n"):
                    text = f"Thought out{space[:1]}{closer}{space}Kept answer{end}"
                    evidence = {"context": "asked", "kwargs": kwargs, "manner": str(manner), "prefix": prompt, "response": text,
                                "message": {"role": "assistant", "content": "Kept answer", "thinking": "Thought out"}}
                    try:
                        parsed = parse_response(text, self.judge.response_template, prefix=prompt)
                        evidence["parsed"] = parsed
                        well = (parsed.get("content") or "").strip() == "Kept answer" and "Thought out" in json.dumps({k: v for k, v in parsed.items() if k != "content"})
                    except Exception as error:  # noqa: BLE001
                        evidence["parsed"], well = f"{type(error).__name__}: {error}"[:300], False
                    self.counts["opened by the prompt"]["right" if well else "wrong"] += 1
                    if not well:
                        self.reasons["wrong: opened by the prompt"] += 1
                        self.shrunk.append({"outcome": "wrong", "cause": "opened by the prompt", "kind": "opened by the prompt", **evidence})

    # ---- the smallest that came back wrong

    def shrink(self):
        order = sorted(self.failures.items(), key=lambda item: (item[0][0] != "wrong", item[0]))
        for number, ((outcome, cause), (_, message, context, manner, label)) in enumerate(order):
            if outcome == "spoken" and number > 8:
                continue
            message, context = self.smaller(outcome, cause, message, context, manner, 150 if outcome == "wrong" else 60)
            verdict = self.judge.judge(message, context, manner, (1, 3, 5, 7, 61) if cause.startswith("in chunks") else ())
            self.shrunk.append({"outcome": verdict.outcome, "cause": verdict.cause, "kind": label, **verdict.evidence})

    def smaller(self, outcome, cause, message, context, manner, tries):
        chunks = (1, 3, 5, 7, 61) if cause.startswith("in chunks") else ()

        def fails(m, c):
            verdict = self.judge.judge(m, c, manner, chunks)
            return (verdict.outcome, verdict.cause) == (outcome, cause)

        simpler = [Context("asked", self.contexts["asked"], {}, ()), Context("asked", self.contexts["asked"], context.kwargs, context.offered), Context(context.name, context.items, {}, ())]
        for each in simpler:
            if each.key() != context.key() and fails(message, each):
                context = each
                break
        going = True
        while going and tries > 0:
            going = False
            for candidate in steps(message):
                tries -= 1
                if tries <= 0:
                    break
                if fails(candidate, context):
                    message, going = candidate, True
                    break
        return message, context


def steps(message):
    """Messages that are a little smaller."""
    calls = message["calls"]
    for i in range(len(calls)):
        yield {**message, "calls": calls[:i] + calls[i + 1 :]}
    for part in ("reasoning", "content"):
        if message[part]:
            yield {**message, part: None}
    for i, call in enumerate(calls):
        for arguments in smaller_values(call["arguments"]):
            if isinstance(arguments, dict):
                yield {**message, "calls": [*calls[:i], {**call, "arguments": arguments}, *calls[i + 1 :]]}
        if call["name"] != "f" and len(call["name"]) > 1:
            yield {**message, "calls": [*calls[:i], {**call, "name": "f"}, *calls[i + 1 :]]}
    for part in ("reasoning", "content"):
        for text in smaller_values(message[part]):
            if isinstance(text, str) and text:
                yield {**message, part: text}


def smaller_values(value):
    if isinstance(value, str):
        size = len(value)
        if size > 1:
            yield "x"
        if size > 3:
            yield value[: size // 2]
            yield value[size // 2 :]
        if size > 8:
            yield value[size // 4 :]
            yield value[: -size // 4]
        if 1 < size <= 40:
            for i in range(size):
                yield value[:i] + value[i + 1 :]
    elif isinstance(value, dict):
        for key in value:
            yield {k: v for k, v in value.items() if k != key}
        for key in value:
            for less in smaller_values(value[key]):
                yield {**value, key: less}
    elif isinstance(value, list):
        for i in range(len(value)):
            yield value[:i] + value[i + 1 :]
        for i in range(len(value)):
            for less in smaller_values(value[i]):
                yield [*value[:i], less, *value[i + 1 :]]


ALL_MANNERS = manners()
