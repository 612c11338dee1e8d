"""Changes of a chat template after which `obverse derive` must say the same, or the same with other names.

Each change takes a chat template and gives a `Change`, or raises `Skip` with the reason why it cannot be made. Whether it was
made rightly is not for this file to say: the changed chat template is rendered beside the original (`rendering.py`).
"""

import re
from typing import Callable, NamedTuple

import documents
import jinja2.nodes
import markers
from jinja_source import NotJinja, constant, kwargs, pieces, program, significant, texts, tree, value, with_replaced, with_texts


class Skip(Exception):
    """A change that cannot be made of a chat template."""


def same(anything):
    return anything


class Change(NamedTuple):
    """A changed chat template, and what the change makes of all else."""

    source: str
    tokens: dict  # the special tokens
    text: Callable = same  # what becomes of a text, in a message or a render
    written: Callable = same  # what becomes of what the source itself writes, where that is something else than of other text
    kwargs: dict = {}  # the names of kwargs that are others
    document: Callable = same  # what becomes of the response template
    first_signs: frozenset = frozenset()  # the first signs of markers, before and after
    names: dict = {}  # what is renamed, for people


class ChatTemplate(NamedTuple):
    """A chat template as it is given."""

    name: str
    source: str
    tokens: dict

    @property
    def pieces(self):
        return pieces(self.source)


def markers_of(chat):
    """All that looks like a marker in a chat template."""
    return markers.candidates(texts(chat.pieces), chat.tokens.values())


def renamed_markers(chat, map_name, chosen, other_texts, longer=()):
    """The chat template with the chosen markers renamed: with `brackets`, `{{ "<a>" ~ x }}` becomes `{{ "⟦a⟧" ~ x }}`."""
    names = markers.images(chosen, map_name, [chat.source, *other_texts], longer)
    renaming = markers.Renaming(names)
    return renamed(chat, renaming)


SIGN_MAPS = ("angles", "moons")


def signs_of(chat, map_name):
    """The signs in the texts of a chat template that a map renames: angle brackets, and with `moons` all others but those of prose,
    JSON and Python. Of `<|a|> §b, {"c": 1}` it takes `<`, `|`, `>` and `§`."""
    found = dict.fromkeys(sign for text in texts(chat.pieces) for sign in text)
    shape = re.compile(r"[<>]" if map_name == "angles" else rf"[<>]|(?![=\-]){markers.SIGN}")
    return [sign for sign in found if shape.fullmatch(sign)]


def renamed_signs(chat, map_name, chosen, other_texts):
    """The chat template with other signs wherever they stand in its texts, by which markers made of parts are renamed, too.

    With `angles`, `{{ "<" ~ role ~ ">" }}` becomes `{{ "‹" ~ role ~ "›" }}`."""
    everything = "\0".join([chat.source, *other_texts])
    if map_name == "angles":
        names = {sign: {"<": "‹", ">": "›"}[sign] for sign in chosen}
        if any(image in everything for image in names.values()):
            raise markers.NoImages("the images stand in it already")
    else:
        unused = (chr(code) for code in range(0x2630, 0x2700) if chr(code) not in everything)
        names = dict(zip(chosen, unused))
    return renamed(chat, markers.Signs(names))


def renamed(chat, renaming):
    tokens = {name: renaming(text) for name, text in chat.tokens.items()}
    signs = frozenset(text[0] for pair in renaming.names.items() for text in pair)
    source = with_texts(chat.source, chat.pieces, renaming)
    return Change(source, tokens, text=renaming, document=lambda d: documents.renamed(d, renaming), first_signs=signs, names=renaming.names)


KEY = re.compile(r'"([A-Za-z_]\w*)"(?=\s*:)')


def renamed_keys(chat):
    """The chat template with other keys in the JSON that it writes by hand: `{"name": "` becomes `{"zoba": "`.

    What `tojson` writes keeps its keys, and so does a key that the messages have."""
    found = dict.fromkeys(key for text in texts(chat.pieces) for key in KEY.findall(text))
    if not found:
        raise Skip("it writes no JSON keys by hand")
    names = {key: "zo" + markers.syllables(index * 5 + 1, "bdfgklmnprst", "aeiou", 2) for index, key in enumerate(found)}
    if any(name in chat.source for name in names.values()):
        raise Skip("the images stand in it already")

    def rename(text):
        return KEY.sub(lambda match: f'"{names.get(match[1], match[1])}"', text)

    return Change(with_texts(chat.source, chat.pieces, rename), chat.tokens, written=rename, document=lambda d: documents.with_keys(d, names), names=names)


def renamed_kwargs(chat):
    """The chat template with other names for what callers may pass: `{% if enable_thinking %}` becomes `{% if dial_1 %}`."""
    names = {name: f"dial_{index}" for index, name in enumerate(kwargs(chat.source), 1)}
    parameters = {argument.name for macro in tree(chat.source).find_all((jinja2.nodes.Macro, jinja2.nodes.CallBlock)) for argument in macro.args}
    names = {name: image for name, image in names.items() if name not in parameters}
    if not names:
        raise Skip("it reads no kwargs")
    found = significant(chat.pieces)
    edits = []
    for at, piece in enumerate(found):
        if piece.kind != "name" or piece.text not in names:
            continue
        before, after = found[at - 1].text if at else "", found[at + 1].text if at + 1 < len(found) else ""
        is_test = before == "is" or before == "not" and found[at - 2].text == "is"
        is_keyword = after == "=" and before != "set"
        if before not in (".", "|") and not is_test and not is_keyword:
            edits.append((piece.start, piece.end, names[piece.text]))
    return Change(with_replaced(chat.source, edits), chat.tokens, kwargs=names, names=names)


def checked(chat, edits, what):
    """The chat template with edits of how it is written; it must be the same program."""
    if not edits:
        raise Skip(f"it has no {what}")
    meant = program(chat.pieces)

    def try_out(some):
        source = with_replaced(chat.source, some)
        try:
            return source if program(pieces(source)) == meant else None
        except NotJinja:
            return None

    source = try_out(edits)
    if source is None:
        # One that goes wrong spoils all: halves are tried on their own.
        good = []

        def search(some):
            if some and try_out(good + some) is not None:
                good.extend(some)
            elif len(some) > 1:
                search(some[: len(some) // 2])
                search(some[len(some) // 2 :])

        search(edits)
        if not good:
            raise Skip(f"no {what} can be changed without changing the program")
        source = with_replaced(chat.source, good)
    return Change(source, chat.tokens)


REMARK = "{#- A remark that was added, with <angles> and 'quotes'. -#}"


def comments_added(chat):
    """The chat template with a remark behind every statement and expression: `{% if x %}` becomes `{% if x %}{# ... #}`."""
    edits = []
    for piece in chat.pieces:
        if piece.kind not in ("block_end", "variable_end"):
            continue
        sign = piece.text.rstrip()
        at = piece.start + len(sign)
        if sign.startswith("-"):
            edits.append((at, at, REMARK))
        elif not (piece.kind == "variable_end" and chat.source[at : at + 1] == "\n"):
            edits.append((at, at, REMARK.replace("#-", "#").replace("-#", "#")))
    return checked(chat, edits, "statements and expressions")


def comments_removed(chat):
    """The chat template without its remarks: `a{# b #}c` becomes `ac`."""
    edits, end, start = [], 0, None
    for piece in chat.pieces:
        if piece.kind == "comment_begin":
            start = end
        elif piece.kind == "comment_end":
            edits.append((start, piece.end, ""))
        end = piece.end
    return checked(chat, edits, "comments")


def quotes_changed(chat):
    """The chat template with the other quotes around its constants: `'a'` becomes `"a"`, and `"a"` becomes `'a'`."""
    other = {"'": '"', '"': "'"}
    edits = [(p.start, p.end, constant(value(p.text), other[p.text[0]])) for p in chat.pieces if p.kind == "string"]
    return checked(chat, edits, "constants")


# What binds tighter than the sign that puts texts together.
TIGHT = ("|", ".", "[", "(", "*", "/", "//", "%", "**", "-", "is")


def constants_joined(chat):
    """The chat template with constants that stand side by side made one: `'a' + 'b'` becomes `'ab'`, `{{ 'a' }}b` becomes `ab`."""
    source, edits = chat.source, []
    found = chat.pieces
    kept = significant(found)
    at = 0
    while at + 2 < len(kept):
        one, sign, two = kept[at : at + 3]
        before = kept[at - 1].text if at else ""
        after = kept[at + 3].text if at + 3 < len(kept) else ""
        joins = (one.kind, two.kind) == ("string", "string") and sign.text in ("+", "~")
        if joins and before not in TIGHT and after not in TIGHT:
            edits.append((one.start, two.end, constant(value(one.text) + value(two.text), one.text[0])))
            at += 3
        else:
            at += 1
    source = with_replaced(source, edits)
    joined = ChatTemplate(chat.name, source, chat.tokens)
    try:
        return checked(joined, constants_in_text(joined), "constants that stand beside text")
    except Skip:
        if not edits:
            raise Skip("it has no constants side by side") from None
        return Change(source, chat.tokens)


def constants_in_text(chat):
    """Edits that write expressions which are one constant as raw text."""
    found = chat.pieces
    edits = []
    for at, piece in enumerate(found):
        rest = [p for p in found[at : at + 5] if p.kind != "whitespace"][:3]
        if [p.kind for p in rest] == ["variable_begin", "string", "variable_end"]:
            text = value(rest[1].text)
            if text and not re.search(r"\{[{%#]|\{$", text):
                edits.append((found[at - 1].end if at else 0, rest[2].end, text))
    return edits


OTHER_LAWS = {
    "keys": renamed_keys,
    "kwargs": renamed_kwargs,
    "comments-added": comments_added,
    "comments-removed": comments_removed,
    "quotes": quotes_changed,
    "joined": constants_joined,
}

# Those that are known to be right because the pieces of the source say the same (`checked`), whatever is rendered.
SAME_PROGRAM = ("comments-added", "comments-removed", "quotes")
