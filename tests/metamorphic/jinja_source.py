"""The source of a chat template as pieces that can be replaced one by one.

Jinja2's own lexer says where text, constants and names stand. For example `a{{ "b" }}` is the text `a`, the beginning of an
expression, white space, the constant `"b"`, white space, and the end of the expression.
"""

from typing import NamedTuple

import jinja2
import jinja2.ext
import jinja2.meta
import jinja2.nodes

ENVIRONMENT = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
EXPRESSION = ("variable_begin", "variable_end")
COMMENT = ("comment_begin", "comment", "comment_end")


class NotJinja(Exception):
    """The source cannot be cut into pieces, or a changed source is another program."""


class Piece(NamedTuple):
    """A piece of the source: what it is, its text, and where it stands. What the lexer strips stands between two pieces."""

    kind: str  # as Jinja2 names it: data, string, name, operator, block_begin, ...
    text: str
    start: int
    end: int


class Generation(jinja2.ext.Extension):
    """`{% generation %}`, which transformers knows and Jinja2 does not."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.Scope(body).set_lineno(line)


def unified(source):
    """The source with one sort of line end, which is how Jinja2 reads it: `a\\r\\nb` is read as `a\\nb`."""
    return source.replace("\r\n", "\n").replace("\r", "\n")


def pieces(source):
    """All pieces of a source, in order."""
    found, at = [], 0
    try:
        for _, kind, text in ENVIRONMENT.lexer.tokeniter(source, None):
            start = source.find(text, at)
            if start < 0 or source[at:start].strip():
                raise NotJinja("the lexer's pieces are not found in the source")
            found.append(Piece(kind, text, start, start + len(text)))
            at = start + len(text)
    except jinja2.TemplateSyntaxError as error:
        raise NotJinja(f"Jinja2 does not read it: {error}") from error
    return found


def with_replaced(source, changes):
    """The source with spans replaced: `[(0, 1, "x")]` makes `xbc` of `abc`. Spans do not overlap."""
    result, at = [], 0
    for start, end, text in sorted(changes):
        result += [source[at:start], text]
        at = end
    return "".join(result) + source[at:]


def value(literal):
    """The text that a constant stands for, by Jinja2's rules: `'a\\n'` is an a and a line end."""
    return literal[1:-1].encode("ascii", "backslashreplace").decode("unicode-escape")


def constant(text, quote='"'):
    """A constant that stands for the text: `a"b` is written `"a\\"b"`."""
    escaped = text.replace("\\", "\\\\").replace(quote, "\\" + quote)
    for sign, written in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        escaped = escaped.replace(sign, written)
    return quote + "".join(c if c.isprintable() else c.encode("unicode-escape").decode() for c in escaped) + quote


def texts(found):
    """What the pieces write or compare with: raw text as it is, constants as what they stand for."""
    for piece in found:
        if piece.kind == "data":
            yield piece.text
        elif piece.kind == "string":
            yield value(piece.text)


def with_texts(source, found, change):
    """The source with `change` applied to raw text and to what constants stand for; all else stays as it is.

    With `str.upper`, `a{{ "b" ~ c }}` becomes `A{{ "B" ~ c }}`."""
    changes = []
    for piece in found:
        if piece.kind == "data":
            changed = change(piece.text)
            if changed != piece.text:
                changes.append((piece.start, piece.end, changed))
        elif piece.kind == "string":
            old = value(piece.text)
            new = change(old)
            if new != old:
                changes.append((piece.start, piece.end, constant(new, piece.text[0])))
    result = with_replaced(source, changes)
    if [p.kind for p in pieces(result)] != [p.kind for p in found]:
        raise NotJinja("the renamed source is another program, since an image makes signs of Jinja with its neighbours")
    return result


def significant(found):
    """The pieces without white space and comments."""
    return [p for p in found if p.kind not in ("whitespace", *COMMENT)]


def program(found):
    """What the pieces mean, without how they are written: text that stands together is one text, `{{ "a" }}` is the text a,
    comments are nothing, and white space in expressions is nothing. `a{{ 'b' }}` and `ab{# note #}` are the same program."""
    result, kept = [], significant(found)
    at = 0
    while at < len(kept):
        kind, text = kept[at].kind, kept[at].text
        if [p.kind for p in kept[at : at + 3]] == ["variable_begin", "string", "variable_end"]:
            kind, text = "data", value(kept[at + 1].text)
            at += 2
        elif kind == "string":
            text = value(text)
        elif kind.endswith(("_begin", "_end")):
            text = ""
        if kind == "data" and result and result[-1][0] == "data":
            result[-1] = ("data", result[-1][1] + text)
        elif kind != "data" or text:
            result.append((kind, text))
        at += 1
    return result


def tree(source):
    """The parsed source."""
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    try:
        return environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise NotJinja(f"Jinja2 does not read it: {error}") from error


# Names that every caller gives a value or a meaning; all others that a source reads and does not set are kwargs.
GIVEN = {"messages", "tools", "add_generation_prompt", "documents", "continue_final_message", "raise_exception", "strftime_now", "namespace", "range",
         "dict", "lipsum", "cycler", "joiner", "loop", "caller", "bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"}  # fmt: skip


def kwargs(source):
    """The names of a source that a caller may give a value, such as `enable_thinking`."""
    return sorted(jinja2.meta.find_undeclared_variables(tree(source)) - GIVEN)
