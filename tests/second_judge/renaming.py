"""A chat template with other markers: what looks like a marker among its constants is renamed, everywhere and to different names."""

import re

import jinja2

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
    """The source with markers renamed, and the new names; None where there is nothing to rename or the program would be another."""
    try:
        before = lexemes(source)
    except jinja2.TemplateSyntaxError:
        return None
    if "".join(text for _, text in before) not in (source, source.rstrip("\n"), source + "\n"):
        # The lexer leaves out what white space control takes away; tokens are then found in the source in their order.
        pass
    found = {}
    for kind, text in before:
        if kind in ("data", "string"):
            for marker in SHAPES.findall(text):
                found.setdefault(marker, None)
    if not found:
        return None
    taken = set()
    for i, marker in enumerate(found):
        inner = re.sub(r"[^\w]", "", marker.strip("<>|[]/=｜")) or "x"
        name = STYLES[style](i, ("end_" if "/" in marker[:2] else "") + inner + ("_is" if marker.endswith("=") else ""))
        while name in taken or name in source:
            inner += "x"
            name = STYLES[style](i, inner) if style != "words" else name + "o"
        taken.add(name)
        found[marker] = name
    pieces, at = [], 0
    for kind, text in before:
        place = source.find(text, at)
        if place < 0:
            return None
        pieces.append(source[at:place])
        pieces.append(SHAPES.sub(lambda m: found[m[0]], text) if kind in ("data", "string") else text)
        at = place + len(text)
    result = "".join(pieces) + source[at:]
    try:
        after = lexemes(result)
    except jinja2.TemplateSyntaxError:
        return None
    if [kind for kind, _ in after] != [kind for kind, _ in before]:
        return None
    return result, list(found.values())
