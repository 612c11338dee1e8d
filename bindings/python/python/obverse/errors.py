"""The exceptions. Each is also one of Python's own, the one that transformers raises in its place."""

from __future__ import annotations

import re
from typing import Any

#: Characters that a terminal would act upon, or that turn text around.
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def _shown(message: str) -> str:
    """A message that may quote what a model or a chat template wrote."""
    return _UNSEEN.sub(lambda found: found.group().encode("unicode_escape").decode(), message)


__all__ = [
    "FinalizedError",
    "ForeignError",
    "MergeError",
    "ObverseError",
    "ParseError",
    "PlaceholderError",
    "RenderError",
    "SourceError",
    "TemplateError",
]


class ObverseError(Exception):
    """What all exceptions of Obverse are. Its `code` is a stable name for what is wrong, the one that the `obverse` command gives it."""

    code: str = "failed"

    def __str__(self) -> str:
        # A `KeyError` would quote its message.
        return _shown(str(self.args[0])) if self.args else ""


class TemplateError(ObverseError, ValueError):
    """A document that is no response template.

    `diagnostics` has everything that is wrong with it: dicts with `code`, `severity`, `message`, `place` and `hint`.
    """

    def __init__(self, message: str, diagnostics: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message)
        self.diagnostics: list[dict[str, Any]] = diagnostics or []
        #: The code of the first of them.
        self.code = str(self.diagnostics[0]["code"]) if self.diagnostics else "invalid"


class ForeignError(TemplateError, TypeError):
    """A document with a value that JSON does not have; the message tells where."""


class SourceError(ObverseError, ValueError):
    """A chat template that cannot be loaded, or from which nothing can be derived.

    Its `code` tells why, such as `unreadable`, `no-chat-template`, `not-rendered`, `not-derived` or `no-grammar`.
    """

    def __init__(self, message: str, code: str = "not-derived") -> None:
        super().__init__(message)
        self.code = code


class RenderError(ObverseError, ValueError):
    """A conversation that a chat template does not render."""

    code = "not-rendered"


class ParseError(ObverseError, ValueError):
    """A response, or one region of it, that does not parse.

    The parser keeps the message so far, and the next call goes on after the region.
    """

    def __init__(self, message: str, members: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        members = members or {}
        #: The kind of the error, a stable name such as `json` or `required`.
        self.kind: str = members.get("kind", "")
        #: Its kind, under the name that all exceptions have for it.
        self.code = self.kind or "failed"
        #: The field whose region it is, if it is of one.
        self.field: str | None = members.get("field")
        #: The region's text: byte offsets of start and end in the response's UTF-8.
        self.span: tuple[int, int] | None = tuple(members["span"]) if "span" in members else None
        #: The region's text as the model wrote it.
        self.raw: str | None = members.get("raw")
        #: Advice on how to mend it.
        self.hint: str | None = members.get("hint")
        #: Which one of several responses it is, counted from 0; nothing for one that was given alone.
        self.index: int | None = None

    def _is_of(self, index: int, is_raised: bool) -> None:
        self.index = index
        if is_raised:
            self.args = (f"response {index}: {self.args[0]}", *self.args[1:])


class PlaceholderError(ParseError, KeyError):
    """A placeholder of a transform that stands for nothing."""


class MergeError(ParseError, AttributeError, TypeError):
    """A value that cannot be added to those that the message has already."""


class FinalizedError(ObverseError, RuntimeError):
    """A parser that is used after its end."""

    code = "finalized"


_CLASSES: dict[str, type[ParseError]] = {"transform": PlaceholderError, "merge": MergeError}


def of_response(members: dict[str, Any]) -> ObverseError:
    """The exception for what the native part tells of a response."""
    kind, message = members["kind"], members["message"]
    if kind == "finalized":
        return FinalizedError(message)
    return _CLASSES.get(kind, ParseError)(message, members)


def of_template(message: str, diagnostics: list[dict[str, Any]]) -> TemplateError:
    """The exception for what the native part tells of a document."""
    return TemplateError(message, diagnostics)


def of_foreign(message: str) -> ForeignError:
    """The exception for a document that the native part cannot take."""
    return ForeignError(message, [{"code": "wrong-type", "severity": "error", "message": message}])


def of_source(message: str, code: str) -> SourceError:
    """The exception for what the native part tells of a chat template."""
    return SourceError(message, code)


def of_render(message: str) -> RenderError:
    """The exception for what the native part tells of a conversation."""
    return RenderError(message)
