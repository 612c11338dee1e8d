"""A chat template with other markers: what looks like a marker among its constants is renamed, everywhere and to different names."""

import re

import jinja2
from rendering import ChatTemplate, Manner, Refused, spell, tools_for

SHAPES = re.compile(r"<\|[^|<>\s\"'\\]{1,40}\|>|<｜[^｜<>\s\"'\\]{1,40}｜>|</?[A-Za-z_][\w:.\-]{0,40}/?>|<[A-Za-z_][\w:.\-]{0,40}=|\[/?[A-Z][A-Z_ ]{1,30}\]")
STYLES = {
    "brackets": lambda i, inner: f"⟦{inner}⟧",
    "bangs": lambda i, inner: f"(!{inner}!)",
    "tildes": lambda i, inner: f"#~{inner}~#",
    "words": lambda i, inner: "Kra" + "".join("bdfgklmnprst"[int(d)] + "aeiou"[int(d) % 5] for d in f"{i:03}") + "x",
}


def lexemes(source):
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    return [(kind, text) for _, kind, text in environment.lexer.tokeniter(source, None)]


def renamed(source, style):
    """The source with markers renamed, and the new names; None where there is nothing to rename or the program would be another.

    Markers that the chat template also makes out of pieces cannot be renamed by their constants alone. They are left as they are: what is renamed
    must render to the renamed text."""
    try:
        before = lexemes(source)
        original = ChatTemplate(source)
    except jinja2.TemplateSyntaxError:
        return None
    markers = dict.fromkeys(m for kind, text in before if kind in ("data", "string") for m in SHAPES.findall(text))
    seen = renders(original)
    for _ in range(len(markers)):
        if not markers:
            return None
        names = named(list(markers), style, source)
        result = replaced(source, before, names)
        if result is None:
            return None
        differing = next(((names_in(old, names), new) for old, new in zip(seen, renders(ChatTemplate(result))) if names_in(old, names) != new), None)
        if differing is None:
            return result, list(names.values())
        expected, found = differing
        at = next((i for i, (a, b) in enumerate(zip(expected, found)) if a != b), min(len(expected), len(found)))
        # The name that stands nearest before or at the place where the texts part is not this marker's alone.
        places = [(expected.rfind(name, 0, at + len(name)), marker) for marker, name in names.items()]
        places += [(found.rfind(name, 0, at + len(name)), marker) for marker, name in names.items()]
        del markers[max(places)[1]]
    return None


def names_in(text, names):
    return SHAPES.sub(lambda m: names.get(m[0], m[0]), text)


def named(markers, style, source):
    names, taken = {}, set()
    for i, marker in enumerate(markers):
        inner = re.sub(r"[^\w]", "", marker.strip("<>|[]/=｜")) or "x"
        inner = ("end_" if "/" in marker[:2] else "") + inner + ("_is" if marker.endswith("=") else "")
        name = STYLES[style](i, inner)
        while name in taken or name in source:
            inner += "x"
            name = name + "o" if style == "words" else STYLES[style](i, inner)
        taken.add(name)
        names[marker] = name
    return names


def replaced(source, before, names):
    pieces, at = [], 0
    for kind, text in before:
        place = source.find(text, at)
        if place < 0:
            return None
        pieces.append(source[at:place])
        pieces.append(names_in(text, names) if kind in ("data", "string") else text)
        at = place + len(text)
    result = "".join(pieces) + source[at:]
    try:
        after = lexemes(result)
    except jinja2.TemplateSyntaxError:
        return None
    return result if [kind for kind, _ in after] == [kind for kind, _ in before] else None


def renders(chat):
    """Renders of conversations that show most of what a chat template writes."""
    found = []
    ask = {"role": "user", "content": "A question"}
    call = {"content": None, "reasoning": "thoughts", "calls": [{"name": "lookup", "arguments": {"city": "there", "n": [1]}, "id": "abcdEFG01"}]}
    both = {"content": "An answer", "reasoning": "thoughts", "calls": []}
    for manner in (Manner(), Manner(arguments="text", empty="text"), Manner(reasoning="part"), Manner(engine="plain"), Manner(engine="plain", arguments="text", empty="null")):
        result = {"role": "tool", "tool_call_id": "abcdEFG01", "name": "lookup", "content": "a result"}
        for messages in ([ask], [{"role": "system", "content": "Rules"}, ask], [ask, spell(both, manner)], [ask, spell(both, manner), ask, spell(both, manner)], [ask, spell(call, manner)],
                         [ask, spell({**call, "reasoning": None}, manner)], [ask, spell(call, manner), result, spell(both, manner)], [ask, spell(call, manner), result]):
            for kwargs in ({}, {"enable_thinking": True}, {"enable_thinking": False}):
                for prompt in (False, True):
                    for tools in (None, tools_for([call])):
                        try:
                            found.append(chat.render(messages, tools, prompt, kwargs, manner.engine))
                        except Refused:
                            found.append("")
    return found
