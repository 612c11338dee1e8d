"""`transformers.utils.chat_parsing` of 5.23, with Obverse's parser inside: the same names, arguments, events and exceptions.

Import from here instead, or have `install` put it in the other's place, so that `tokenizer.parse_response` and everything else
that parses responses with transformers uses it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from .. import _native
from .._native import ResponseTemplate
from ..errors import ObverseError, ParseError

__all__ = ["ResponseParser", "ResponseTemplate", "install", "load_response_template", "parse_response", "uninstall"]

_Tools = Iterable["dict[str, Any] | Callable[..., Any]"]

#: The module of transformers that has the parser.
_REFERENCE = "transformers.utils.chat_parsing.response_parser"

_NO_PREFIX = (
    "`prefix` is needed: the chat prompt that the model was given, of which a part may belong to the message. "
    'Where the response holds the whole message, `prefix=""` says so.'
)


def load_response_template(spec: Any) -> ResponseTemplate:
    """The response template, validated and compiled. Takes a document, and what `load_response_template` of either has made."""
    if isinstance(spec, ResponseTemplate):
        return spec
    try:
        return ResponseTemplate(_document(spec))
    except ObverseError as error:
        raise _worded(error, lambda reference: reference.load_response_template(spec)) from None


def parse_response(text: str, response_template: Any, *, prefix: str | None = None, tools: _Tools | None = None) -> dict[str, Any]:
    """The message of a whole response.

    `prefix` is the prompt that the model was given, or `""` when the response holds the whole message. `tools`, in the form that
    `apply_chat_template` takes, type the arguments of calls.
    """
    template = load_response_template(response_template)
    if prefix is None:
        raise _no_prefix(response_template)
    tools = list(tools) if tools else None
    prefix = prefix or ""
    try:
        return _native.parse(text or "", template, prefix=prefix, tools=tools)
    except ObverseError:
        # Once more, by the way on which it is known what the reference would have said.
        parser = ResponseParser(response_template, prefix, tools=tools)
        parser.feed(text)
        return parser.finalize()[0]


class ResponseParser:
    """Parses a response as it arrives.

    `initial_events` has the events of what `prefix` had already written into the message; `feed` and `finalize` return those of the
    response: dicts with `type` (`region_open`, `region_chunk` or `region_close`), `field`, and `text` with `dirty`, or `value`.
    """

    def __init__(self, response_template: Any, prefix: str | None = None, *, tools: _Tools | None = None) -> None:
        template = load_response_template(response_template)
        if prefix is None:
            raise _no_prefix(response_template)
        self._given = response_template
        # Anything that is false is nothing to the reference: no tools, no prefix, no text.
        self._tools = list(tools) if tools else None
        self._parser = _native.Parser(template, prefix or "", tools=self._tools)
        self._message: dict[str, Any] | None = None
        self.initial_events: list[dict[str, Any]] = self._parser.initial_events

    def feed(self, text: str) -> list[dict[str, Any]]:
        """Reads more of the response and returns what happened."""
        try:
            return self._parser.feed(text or "")
        except ObverseError as error:
            raise self._worded(error) from None

    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Ends the response and returns the message and the last events."""
        try:
            self._message, events = self._parser.finalize()
        except ObverseError as error:
            raise self._worded(error) from None
        return self._message, events

    def __copy__(self) -> ResponseParser:
        raise TypeError("a parser is in the middle of one response and cannot be copied: feed the text so far to another one")

    def __deepcopy__(self, memo: dict[int, Any]) -> ResponseParser:
        return self.__copy__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        self.__copy__()

    @property
    def _output(self) -> dict[str, Any]:
        """The message so far, under the name that it has in the reference."""
        return self._parser.message if self._message is None else self._message

    def _coerce_tool_calls(self, value: Any) -> Any:
        """The value with the arguments of calls typed, in place as in the reference."""
        if isinstance(value, list):
            return [self._coerce_tool_calls(item) for item in value]
        function = value.get("function") if isinstance(value, dict) else None
        arguments = function.get("arguments") if isinstance(function, dict) else None
        if function is not None and isinstance(arguments, dict):
            arguments.update(_native.coerce(value, self._tools or [])["function"]["arguments"])
        return value

    def _worded(self, error: ObverseError) -> ObverseError:
        return _worded(error, lambda reference: self._replay(error, reference))

    def _replay(self, error: ObverseError, reference: ModuleType) -> None:
        """Brings a parser of the reference to where this one failed, and lets it fail as well."""
        parser = _original("ResponseParser", reference)(self._given, prefix="", tools=self._tools)
        parser._output = self._parser.message
        if not isinstance(error, ParseError):
            parser._finalized = True
        elif error.field is not None and error.raw is not None and error.kind != "limit":
            field = parser._spec.fields[error.field]
            groups = field.open_re.groupindex if field.open_re is not None else ()
            # Which of the groups took part is not known. Where none is missing, one must have been that did not.
            for captures in (dict.fromkeys(groups, ""), {}):
                parser._current, parser._body, parser._opened = error.field, error.raw, True
                parser._captures = captures
                parser._close_current([])
            return
        elif error.kind != "required":
            return
        parser.finalize()


def _document(spec: Any) -> Any:
    """The document of what `load_response_template` of transformers has made; anything else as it is."""
    if isinstance(spec, dict) or not hasattr(spec, "start_anchor_re"):
        return spec

    def delimiter(key: str, literals: list[str] | None, pattern: Any) -> dict[str, Any]:
        if literals is not None:
            return {key: literals}
        return {} if pattern is None else {f"{key}_pattern": pattern.pattern}

    def field(spec: Any) -> dict[str, Any]:
        kept = {name: getattr(spec, name) for name in ("content", "content_args", "repeats", "optional", "transform_each")}
        optional = {name: getattr(spec, name) for name in ("join", "transform") if getattr(spec, name) is not None}
        return {
            **delimiter("open", spec.open_literals, spec.open_re),
            **delimiter("close", spec.close_literals, spec.close_re),
            **kept,
            **optional,
        }

    return {
        "defaults": spec.defaults,
        **delimiter("start_anchor", spec.start_anchor_literals, spec.start_anchor_re),
        "fields": {name: field(one) for name, one in spec.fields.items()},
    }


def _no_prefix(spec: Any) -> ObverseError:
    return _worded(ParseError(_NO_PREFIX, {"kind": "no-prefix"}), lambda reference: _original("ResponseParser", reference)(spec, prefix=None))


def _worded(error: ObverseError, replay: Callable[[ModuleType], object]) -> ObverseError:
    """The exception with the words of the one that the reference raises in its place, and of its class, where that is at hand."""
    reference = sys.modules.get(_REFERENCE)
    if reference is None:
        return error
    try:
        replay(reference)
    except Exception as theirs:  # whatever it is, it is what callers expect
        return _joined(error, theirs)
    return error


def _joined(error: ObverseError, theirs: Exception) -> ObverseError:
    words = str(theirs.args[0]) if isinstance(theirs, KeyError) and theirs.args else str(theirs)
    message = str(error) if words in str(error) else f"{words}\n{error}"
    joined = _of_both(type(error), type(theirs), message)
    joined.__dict__.update(error.__dict__)
    return joined


def _of_both(ours: type[ObverseError], theirs: type[Exception], message: str) -> ObverseError:
    """An exception of both classes, where one can be."""
    try:
        return _class_of_both(ours, theirs)(message)
    except TypeError:  # two classes that cannot be one
        return ours(message)


#: The classes that were made, so that errors of a kind are of one class.
_classes: dict[tuple[type, type], type[ObverseError]] = {}


def _class_of_both(ours: type[ObverseError], theirs: type[Exception]) -> type[ObverseError]:
    if issubclass(ours, theirs):
        return ours
    if (ours, theirs) in _classes:
        return _classes[ours, theirs]

    def reduced(self: ObverseError) -> tuple[Any, ...]:
        # No module has the class: whoever reads the pickle makes it anew.
        return _of_both, (ours, theirs, *self.args[:1]), dict(self.__dict__)

    members = {"__module__": ours.__module__, "__doc__": ours.__doc__, "__reduce__": reduced}
    return _classes.setdefault((ours, theirs), type(ours.__name__, (ours, theirs), members))


#: What stood in the places that `install` has taken, by its name.
_originals: dict[str, Any] = {}

_OURS: dict[str, Any] = {"ResponseParser": ResponseParser, "parse_response": parse_response}


def _original(name: str, reference: ModuleType) -> Any:
    return _originals.get(name) or getattr(reference, name)


def install() -> None:
    """Puts this parser in the place of transformers', in every module that has taken the other's; `uninstall` takes it back.

    Raises `ImportError` where there is no transformers, or one without response templates.
    """
    from transformers.utils.chat_parsing import response_parser

    if _originals:
        return
    _originals.update({name: getattr(response_parser, name) for name in _OURS})
    _replace({name: (_originals[name], ours) for name, ours in _OURS.items()})


def uninstall() -> None:
    """Takes back what `install` has done."""
    _replace({name: (ours, _originals[name]) for name, ours in _OURS.items() if name in _originals})
    _originals.clear()


def _replace(pairs: dict[str, tuple[Any, Any]]) -> None:
    """Replaces the first of each pair by the second in the modules that are loaded; those to come take what these have."""
    for name, module in list(sys.modules.items()):
        members = getattr(module, "__dict__", None)
        if name == __name__ or name.partition(".")[0] == __name__.partition(".")[0] or not isinstance(members, dict):
            continue
        for key, value in list(members.items()):
            for old, new in pairs.values():
                if value is old:
                    members[key] = new
