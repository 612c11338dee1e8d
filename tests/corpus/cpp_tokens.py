"""The tokens of C++: names, numbers, marks, and literals as the bytes that they stand for."""

import dataclasses
import re

ESCAPES = {"n": b"\n", "t": b"\t", "r": b"\r", "0": b"\0", "a": b"\a", "b": b"\b", "f": b"\f", "v": b"\v"}
PUNCTUATION = ["->*", "<<=", ">>=", "...", "->", "::", "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=", "/=", "|=", "&="]
TOKEN = re.compile(
    r"""
    (?P<space>\s+|//[^\n]*|/\*.*?\*/)
    |(?P<directive>\#(?:[^\n\\]|\\\n|\\.)*)
    |(?P<raw>(?:u8|u|U|L)?R"(?P<tag>[^()\\\s]{0,16})\((?P<body>.*?)\)(?P=tag)")
    |(?P<text>(?:u8|u|U|L)?"(?:[^"\\\n]|\\.)*")
    |(?P<char>'(?:[^'\\\n]|\\.)+')
    |(?P<number>\.?\d(?:[\w.]|[eEpP][+-])*)
    |(?P<name>[A-Za-z_]\w*)
    |(?P<mark>"""
    + "|".join(map(re.escape, PUNCTUATION))
    + r"""|[-+*/%=<>!&|^~?:;,.(){}\[\]@$\\])
    """,
    re.VERBOSE | re.DOTALL,
)
ESCAPE = re.compile(rb"\\(?:x([0-9A-Fa-f]+)|([0-7]{1,3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)

class NotRead(Exception):
    """Text that is not understood, with its line."""

    def __init__(self, line, why):
        super().__init__(f"line {line}: {why}")
        self.line = line
        self.why = why


@dataclasses.dataclass(frozen=True)
class Token:
    kind: str  # name, number, text, char, mark, end
    text: str
    line: int
    value: object = None


def unescaped(literal):
    """The bytes of the inside of a string literal."""

    def one(found):
        by_hex, octal, short, long, single = found.groups()
        if by_hex:
            return bytes([int(by_hex, 16) & 0xFF])
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if short or long:
            return chr(int(short or long, 16)).encode()
        return ESCAPES.get(single.decode(), single)

    return ESCAPE.sub(one, literal.encode())


def tokens_of(source):
    """The tokens of a text; adjacent string literals are one, at the line of the first."""
    tokens = []
    at = 0
    line = 1
    while at < len(source):
        found = TOKEN.match(source, at)
        if not found:
            raise NotRead(line, f"no token begins with {source[at]!r}")
        kind, text = found.lastgroup, found.group()
        if found.group("raw") is not None:
            kind = "raw"
        if kind in ("raw", "text"):
            value = found.group("body").encode() if kind == "raw" else unescaped(text[text.index('"') + 1 : -1])
            if tokens and tokens[-1].kind == "text":
                value = tokens[-1].value + value
                tokens[-1] = dataclasses.replace(tokens[-1], value=value)
            else:
                tokens.append(Token("text", text, line, value))
        elif kind == "char":
            tokens.append(Token("char", text, line, unescaped(text[1:-1])))
        elif kind not in ("space", "directive"):
            tokens.append(Token(kind, text, line))
        line += text.count("\n")
        at = found.end()
    tokens.append(Token("end", "", line))
    return tokens
