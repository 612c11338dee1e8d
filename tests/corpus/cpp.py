"""Reads as much C++ as tests are written in that are tables of data: string literals, constants, functions that put a value
together, chains of calls, loops over lists.

A program is cut into tokens, its functions and global variables are found, and one function is carried out. What is not understood
is never guessed: an expression of which any part is unknown is `Unknown`, with the place and the reason, and a statement that
cannot be read is passed over and told to `Program.passed_over`.

Strings are bytes, as they are there. Types are read only to tell a declaration from an expression, and for structures whose members
the caller names.
"""

import dataclasses

from cpp_tokens import NotRead, tokens_of

KEYWORDS_OF_TYPES = {"static", "const", "constexpr", "auto", "unsigned", "inline"}
# From the loosest to the tightest.
BINARY = [["||"], ["&&"], ["==", "!="], ["<", ">", "<=", ">="], ["<<", ">>"], ["+", "-"], ["*", "/", "%"]]


@dataclasses.dataclass(frozen=True)
class Unknown:
    """A value that is not known, and why."""

    line: int
    why: str


@dataclasses.dataclass
class Struct:
    """A structure: the name of its type and its members."""

    type: str
    members: dict

    def copy(self):
        return Struct(self.type, {key: copied(value) for key, value in self.members.items()})


@dataclasses.dataclass(frozen=True)
class Function:
    name: str
    parameters: list  # of (name, default expression or None)
    body: int  # the index of the token behind its opening brace


class Returned(Exception):
    def __init__(self, value):
        super().__init__()
        self.value = value


def copied(value):
    """A value of its own, as C++ assigns."""
    if isinstance(value, Struct):
        return value.copy()
    return [copied(one) for one in value] if isinstance(value, list) else value


class Program:
    """A source whose functions can be carried out.

    `structs` has the members of each structure by their place, `builtins` Python functions by name, which are given the line and the
    arguments. An object with `member(name, line, arguments)` may stand for a C++ object; `arguments` is None where a member is read.
    """

    def __init__(self, source, structs=None, builtins=None):
        self.tokens = tokens_of(source)
        self.structs = structs or {}
        self.builtins = builtins or {}
        self.functions = {}
        self.passed_over = []
        self.scope = {}
        self._closing = {}
        self._match()
        self._top_level()

    def _match(self):
        """Where each bracket closes."""
        open_ones = []
        for at, token in enumerate(self.tokens):
            if token.kind == "mark" and token.text in "([{":
                open_ones.append(at)
            elif token.kind == "mark" and token.text in ")]}":
                if not open_ones:
                    raise NotRead(token.line, f"{token.text} closes nothing")
                self._closing[open_ones.pop()] = at
        if open_ones:
            raise NotRead(self.tokens[open_ones[-1]].line, "a bracket is not closed")

    def lines_of_method(self, name):
        """Where a method of that name is called, of whatever object."""
        tokens = self.tokens
        named = [at for at, token in enumerate(tokens) if token.kind == "name" and token.text == name]
        return [tokens[at].line for at in named if tokens[at - 1].text == "." and tokens[at + 1].text == "("]

    def closing(self, at):
        return self._closing[at]

    def _top_level(self):
        at = 0
        while self.tokens[at].kind != "end":
            start = at
            head = []
            while self.tokens[at].kind != "end" and self.tokens[at].text not in (";", "{"):
                at = self.closing(at) if self.tokens[at].text in ("(", "[") else at
                head.append(self.tokens[at])
                at += 1
            if self.tokens[at].kind == "end":
                break
            is_function = self.tokens[at].text == "{" and head and (head[-1].text == ")" or head[-1].text in ("const", "override"))
            first = self.tokens[start].text
            if is_function:
                self._function(start, at)
                at = self.closing(at) + 1
            elif first in ("struct", "class", "template", "namespace", "enum", "using", "typedef", "extern"):
                at = self.closing(at) + 1 if self.tokens[at].text == "{" else at
                while first != "namespace" and self.tokens[at].text != ";" and not is_function:
                    if self.tokens[at].text == "{":
                        break
                    at += 1
                at += 1
            else:
                reader = Reader(self, start, [self.scope])
                at = reader.statement_or_pass_over()

    def _function(self, start, body):
        opening = next(at for at in range(start, body) if self.tokens[at].text == "(" and self.closing(at) < body)
        name = self.tokens[opening - 1]
        parameters = []
        at = opening + 1
        end = self.closing(opening)
        while at < end:
            # Up to the comma that ends the parameter; brackets of types are no brackets of tokens.
            depth = 0
            stop = at
            while stop < end and not (self.tokens[stop].text == "," and depth == 0):
                stop = self.closing(stop) if self.tokens[stop].text in ("(", "{", "[") else stop
                depth += {"<": 1, ">": -1, ">>": -2}.get(self.tokens[stop].text, 0)
                stop += 1
            equals = next((here for here in range(at, stop) if self.tokens[here].text == "="), stop)
            named = [token for token in self.tokens[at:equals] if token.kind == "name"]
            if named:
                parameters.append((named[-1].text, equals + 1 if equals < stop else None))
            at = stop + 1
        if name.kind == "name":
            self.functions[name.text] = Function(name.text, parameters, body + 1)

    def call(self, name, *arguments, line=0):
        """Carries out a function; what it returns."""
        function = self.functions[name]
        scope = {}
        for at, (parameter, default) in enumerate(function.parameters):
            if at < len(arguments):
                scope[parameter] = copied(arguments[at])
            elif default is not None:
                scope[parameter] = Reader(self, default, [self.scope]).expression()
            else:
                return Unknown(line, f"{name} is given too little")
        try:
            Reader(self, function.body, [self.scope, scope]).block()
        except Returned as returned:
            return returned.value
        return None


class Reader:
    """Carries out statements from a place on."""

    def __init__(self, program, at, scopes):
        self.program = program
        self.at = at
        self.scopes = scopes

    # -- tokens

    @property
    def token(self):
        return self.program.tokens[self.at]

    def is_next(self, *texts):
        return self.token.kind in ("mark", "name") and self.token.text in texts

    def take(self, text=None):
        token = self.token
        if text is not None and not (token.kind in ("mark", "name") and token.text == text):
            raise NotRead(token.line, f"{token.text!r} stands where {text!r} was expected")
        self.at += 1
        return token

    def skipped(self, at):
        """Behind the bracket that opens at a place."""
        return self.program.closing(at) + 1

    # -- statements

    def block(self):
        """Up to the closing brace, which is taken."""
        while not self.is_next("}"):
            self.at = self.statement_or_pass_over()
        self.take("}")

    def statement_or_pass_over(self):
        """Carries out a statement, or tells that it is not understood; where the next begins."""
        start = self.at
        end = self.end_of_statement(start)
        try:
            self.statement()
            return self.at
        except NotRead as error:
            self.program.passed_over.append((start, end, error))
            return end

    def end_of_statement(self, start):
        at = start
        tokens = self.program.tokens
        while tokens[at].kind != "end" and tokens[at].text != ";":
            is_block = tokens[at].text == "{" and tokens[at - 1].text in (")", "else", "{", "}", ";", "try", "do")
            at = self.program.closing(at) if tokens[at].text in ("(", "[", "{") and tokens[at].kind == "mark" else at
            at += 1
            if is_block and tokens[at].text not in ("else", "catch", "while", ";", ")", ",", "."):
                return at
        return at + 1

    def inner(self, at, scope):
        return Reader(self.program, at, [*self.scopes, scope])

    def statement(self):
        token = self.token
        if self.is_next(";"):
            self.take()
        elif self.is_next("{"):
            self.take()
            inside = self.inner(self.at, {})
            inside.block()
            self.at = inside.at
        elif self.is_next("return"):
            self.take()
            value = None if self.is_next(";") else self.expression()
            raise Returned(value)
        elif self.is_next("if"):
            self.branch()
        elif self.is_next("for"):
            self.loop()
        elif self.is_next("while", "do", "switch", "try", "throw", "goto", "break", "continue", "case", "delete"):
            raise NotRead(token.line, f"`{token.text}` is not read")
        elif self.is_next("using", "typedef"):
            self.at = self.end_of_statement(self.at)
        else:
            name_at = self.declared()
            if name_at is None:
                self.expression()
                self.take(";")
            else:
                self.declaration(name_at)

    def branch(self):
        self.take("if")
        line = self.token.line
        self.take("(")
        value = self.expression()
        self.take(")")
        then = self.at
        other = self.end_of_one(then)
        if isinstance(value, Unknown):
            raise NotRead(line, f"a condition is not known: {value.why}")
        has_other = self.program.tokens[other].text == "else"
        end = self.end_of_one(other + 1) if has_other else other
        if value or has_other:
            inside = self.inner(then if value else other + 1, {})
            inside.statement()
        self.at = end

    def end_of_one(self, at):
        """Behind the one statement that begins at a place."""
        tokens = self.program.tokens
        if tokens[at].text == "{":
            return self.skipped(at)
        if tokens[at].text in ("if", "for", "while"):
            end = self.end_of_one(self.skipped(at + 1))
            if tokens[at].text == "if" and tokens[end].text == "else":
                return self.end_of_one(end + 1)
            return end
        return self.end_of_statement(at)

    def loop(self):
        """A loop over the members of a list."""
        self.take("for")
        line = self.token.line
        head = self.at
        closing = self.program.closing(head)
        body = closing + 1
        colon = next((at for at in range(head, closing) if self.program.tokens[at].text == ":" and self.program.tokens[at].kind == "mark"), None)
        if colon is None:
            raise NotRead(line, "only loops over lists are read")
        before = self.program.tokens[head + 1 : colon]
        if before[-1].text == "]":
            opening = max(at for at, token in enumerate(before) if token.text == "[")
            names = [token.text for token in before[opening:] if token.kind == "name"]
        else:
            names = [before[-1].text]
        over = self.inner(colon + 1, {}).expression()
        if not isinstance(over, list):
            raise NotRead(line, f"what a loop goes over is not known: {over}")
        for value in over:
            if len(names) == 1:
                scope = {names[0]: value}
            else:
                scope = dict(zip(names, value.members.values() if isinstance(value, Struct) else value))
            self.inner(body, scope).statement()
        self.at = self.end_of_one(body)

    def declared(self):
        """Where the name stands that is declared here; None where this is no declaration."""
        at = self.at
        tokens = self.program.tokens
        words = 0
        while True:
            if tokens[at].kind == "name" and tokens[at].text in KEYWORDS_OF_TYPES:
                at += 1
                words += tokens[at - 1].text in ("auto", "unsigned")
                continue
            if tokens[at].kind == "name" and words == 0:
                words += 1
                at += 1
                while tokens[at].text == "::":
                    at += 2
                if tokens[at].text == "<":
                    at = self.end_of_angles(at)
                    if at is None:
                        return None
                continue
            if tokens[at].kind == "mark" and tokens[at].text in ("*", "&", "&&"):
                at += 1
                continue
            break
        is_named = tokens[at].kind == "name" and words > 0
        is_followed = tokens[at + 1].text in ("=", "{", ";", "(", ",", "[") and tokens[at + 1].kind == "mark"
        return at if is_named and is_followed else None

    def end_of_angles(self, at):
        depth = 0
        tokens = self.program.tokens
        while True:
            text = tokens[at].text
            if tokens[at].kind not in ("name", "mark", "number") or text in (";", "{", "}", "("):
                return None
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            at += 1
            if depth <= 0:
                return at

    def declaration(self, name_at):
        tokens = self.program.tokens
        words = [token.text for token in tokens[self.at : name_at] if token.kind == "name" and token.text not in ("std", *KEYWORDS_OF_TYPES)]
        kind = words[0] if words else "auto"
        self.at = name_at
        name = self.take()
        if self.is_next("="):
            self.take()
            value = self.expression()
        elif self.is_next("{"):
            value = self.braces()
        elif self.is_next("("):
            self.take()
            given = self.arguments(")")
            value = given[0] if len(given) == 1 else Unknown(name.line, "a constructor is called")
        elif self.is_next(";"):
            value = None
        else:
            raise NotRead(name.line, "a declaration of several names or of an array")
        self.take(";")
        self.scopes[-1][name.text] = self.of_type(kind, copied(value), name.line)

    def of_type(self, kind, value, line):
        if kind in self.program.structs:
            return self.struct(kind, value, line)
        if value is None:
            return {"string": b"", "vector": []}.get(kind, Unknown(line, f"a {kind} without a value"))
        if kind == "string" and isinstance(value, list) and not value:
            return b""
        return value

    def struct(self, kind, value, line):
        """A structure from the values of its members by place."""
        if isinstance(value, (Struct, Unknown)):
            return value
        members = self.program.structs[kind]
        given = value or []
        if not isinstance(given, list) or len(given) > len(members):
            return Unknown(line, f"this is no {kind}")
        filled = [*given, *[None] * (len(members) - len(given))]
        return Struct(kind, {name: default() if one in (None, []) else one for (name, default), one in zip(members.items(), filled)})

    # -- expressions

    def expression(self):
        value = self.binary(0)
        if self.is_next("?"):
            self.take()
            yes = self.expression()
            self.take(":")
            no = self.expression()
            return value if isinstance(value, Unknown) else (yes if value else no)
        if self.is_next("=", "+="):
            raise NotRead(self.token.line, "only names and members can be assigned")
        return value

    def binary(self, level):
        if level == len(BINARY):
            return self.unary()
        left = self.binary(level + 1)
        while self.token.kind == "mark" and self.token.text in BINARY[level]:
            operator = self.take()
            right = self.binary(level + 1)
            left = self.applied(operator, left, right)
        return left

    def applied(self, operator, left, right):
        for side in (left, right):
            if isinstance(side, Unknown):
                return side
        if operator.text == "+" and type(left) is type(right) and isinstance(left, (bytes, int)):
            return left + right
        if operator.text in ("==", "!="):
            return (left == right) == (operator.text == "==")
        if operator.text == "&&":
            return bool(left) and bool(right)
        if operator.text == "||":
            return bool(left) or bool(right)
        return Unknown(operator.line, f"`{operator.text}` of {type(left).__name__} and {type(right).__name__}")

    def unary(self):
        if self.is_next("!", "-", "*", "&", "+"):
            operator = self.take()
            value = self.unary()
            if isinstance(value, Unknown) or operator.text in ("*", "&", "+"):
                return value
            return not value if operator.text == "!" else -value
        return self.postfix()

    def postfix(self):
        value = self.primary()
        while True:
            if self.is_next(".", "->"):
                self.take()
                name = self.take()
                if self.is_next("("):
                    self.take()
                    value = self.method(value, name, self.arguments(")"))
                elif self.is_next("="):
                    self.take()
                    assigned = copied(self.expression())
                    if not isinstance(value, Struct):
                        raise NotRead(name.line, f"`{name.text}` of something unknown is assigned")
                    value.members[name.text] = assigned
                    return assigned
                else:
                    value = self.member(value, name)
            elif self.is_next("["):
                line = self.take().line
                index = self.expression()
                self.take("]")
                is_there = isinstance(value, list) and isinstance(index, int) and index < len(value)
                value = value[index] if is_there else Unknown(line, "an index into something unknown")
            else:
                return value

    def member(self, value, name):
        if isinstance(value, Unknown):
            return value
        if isinstance(value, Struct) and name.text in value.members:
            return value.members[name.text]
        return Unknown(name.line, f"the member `{name.text}`")

    def method(self, value, name, arguments):
        if isinstance(value, Unknown):
            return value
        if hasattr(value, "member"):
            return value.member(name.text, name.line, arguments)
        if isinstance(value, list) and name.text in ("push_back", "emplace_back") and len(arguments) == 1:
            value.append(copied(arguments[0]))
            return None
        if isinstance(value, (list, bytes)) and name.text in ("empty", "size", "c_str", "length"):
            return {"empty": not value, "c_str": value}.get(name.text, len(value))
        return Unknown(name.line, f"the method `{name.text}`")

    def arguments(self, closing):
        """What stands between brackets, up to the closing one, which is taken."""
        values = []
        while not self.is_next(closing):
            values.append(self.expression())
            if not self.is_next(closing):
                self.take(",")
        self.take(closing)
        return values

    def braces(self):
        self.take("{")
        return self.arguments("}")

    def primary(self):
        token = self.token
        if token.kind in ("text", "char"):
            return self.take().value
        if token.kind == "number":
            self.take()
            return int(token.text) if token.text.isdigit() else Unknown(token.line, "a number")
        if self.is_next("("):
            self.take()
            value = self.expression()
            self.take(")")
            return value
        if self.is_next("{"):
            return self.braces()
        if self.is_next("["):
            return self.function_without_name()
        if token.kind != "name":
            raise NotRead(token.line, f"{token.text!r} begins no expression")
        return self.named()

    def function_without_name(self):
        """A lambda, which is not carried out."""
        line = self.token.line
        self.at = self.skipped(self.at)
        if self.is_next("("):
            self.at = self.skipped(self.at)
        while not self.is_next("{"):
            self.take()
        self.at = self.skipped(self.at)
        return Unknown(line, "a function without a name")

    def named(self):
        token = self.take()
        name = token.text
        while self.is_next("::"):
            self.take()
            name = self.take().text
        if self.is_next("<"):
            end = self.end_of_angles(self.at)
            if end is not None and self.program.tokens[end].text in ("(", "{"):
                self.at = end
        if self.is_next("("):
            self.take()
            return self.called(name, token.line, self.arguments(")"))
        if self.is_next("{"):
            given = self.braces()
            if name in self.program.structs:
                return self.struct(name, given, token.line)
            return given if name in ("vector", "set", "pair") else given[0] if len(given) == 1 else Unknown(token.line, f"a {name}")
        if name in ("true", "false"):
            return name == "true"
        for scope in reversed(self.scopes):
            if name in scope:
                if self.is_next("=", "+="):
                    return self.assigned(scope, name)
                return scope[name]
        # A constant of another file is known by its name.
        return Constant(name) if name.isupper() else Unknown(token.line, f"the name `{name}`")

    def assigned(self, scope, name):
        operator = self.take()
        value = copied(self.expression())
        scope[name] = value if operator.text == "=" else self.applied(dataclasses.replace(operator, text="+"), scope[name], value)
        return scope[name]

    def called(self, name, line, arguments):
        if name in self.program.builtins:
            return self.program.builtins[name](line, arguments)
        if name in ("string", "move") and len(arguments) == 1:
            return arguments[0]
        if name in self.program.functions:
            return self.program.call(name, *arguments, line=line)
        return Unknown(line, f"the function `{name}`")


class Constant(str):
    """A constant that another file defines, by its name."""
