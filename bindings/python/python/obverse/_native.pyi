"""The native part. What of it is public stands in `obverse`."""

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, overload

from ._derivation import Derivation
from .errors import ParseError

from .arrow import ArrowTable

class ResponseTemplate:
    """A response template, validated and compiled; it can be given wherever the document can, and pickled.

    Raises `TemplateError` for a document that is no response template, with everything that is wrong with it.
    """

    def __new__(cls, document: dict[str, Any]) -> ResponseTemplate: ...
    @staticmethod
    def from_json(text: str) -> ResponseTemplate:
        """The template of a JSON text: the document, or a `tokenizer_config.json` that holds it."""

    @staticmethod
    def from_file(path: str | os.PathLike[str]) -> ResponseTemplate:
        """The template of a file: the document, or a `tokenizer_config.json` that holds it."""

    @property
    def document(self) -> dict[str, Any]:
        """The document, as a new dict."""

    @property
    def fields(self) -> list[str]:
        """The names of the fields, in the document's order."""

class Parser:
    """A parser that reads a response as it arrives.

    `prefix` is the prompt that the model was given, of which what follows the last match of the template's anchor is read; `""`
    says that the response holds the whole message. `tools` are JSON schemas of tools, or functions, by which the arguments of calls
    are typed. With `on_error="keep"` a region that does not parse raises nothing: `malformed` lists it, and an event
    `region_error` stands where its `region_close` would. With `skip_json_strings` delimiters inside strings of JSON do not count.
    """

    def __new__(
        cls,
        template: dict[str, Any] | ResponseTemplate | Derivation,
        prefix: str = "",
        *,
        tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
        on_error: Literal["raise", "keep"] = "raise",
        skip_json_strings: bool = False,
    ) -> Parser: ...
    @property
    def initial_events(self) -> list[dict[str, Any]]:
        """The events of what the prefix had already written into the message."""

    def feed(self, text: str) -> list[dict[str, Any]]:
        """Reads more of the response and returns the events, in the order in which they happened.

        Each is a dict: `{"type": "region_open", "field"}`, `{"type": "region_chunk", "field", "text", "dirty"}` (`dirty` says that it
        is raw text of a structured region) or `{"type": "region_close", "field", "value"}`. The message does not depend on how the
        response was cut.

        Raises `ParseError` for a region that does not parse. It is left out, and the same call may be made again with `""` to go on
        after it; events that came before the error are returned by the next call.
        """

    def finalize(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Ends the response: closes what is open and returns the message and the last events."""

    @property
    def message(self) -> dict[str, Any]:
        """The message so far: defaults and closed regions."""

    @property
    def unclaimed(self) -> list[dict[str, Any]]:
        """The text of the response that is in no field of the message, so far: dicts of `start`, `end` (bytes of its UTF-8) and `text`; where a field took it and dropped it, with the `cause` and the `field`."""

    @property
    def malformed(self) -> list[dict[str, Any]]:
        """The regions that did not parse, with `on_error="keep"`: dicts of `kind`, `message`, `field`, `span`, `raw` and `hint`."""

class DeltaParser:
    """A parser that tells how its message grows: what a chat server sends to a client while the model writes, tool arguments included.

    `form` is `"openai"` (chunks of Chat Completions), `"responses"` (events of OpenAI's Responses), `"anthropic"` (events of Anthropic's
    Messages) or `"growth"`, the steps as they are. `prefix`, `tools` and `on_error` are as for `Parser`. With `certain` all is held
    that can still turn out otherwise. `id`, `model`, `created` (seconds since 1970) and `reasoning_key` (of Chat Completions) are what
    the events say of the reply.
    """

    def __new__(
        cls,
        template: dict[str, Any] | ResponseTemplate | Derivation,
        prefix: str = "",
        *,
        form: Literal["growth", "openai", "responses", "anthropic"] = "growth",
        tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
        on_error: Literal["raise", "keep"] = "raise",
        certain: bool = False,
        id: str = "reply",
        model: str = "model",
        created: int = 0,
        reasoning_key: str = "reasoning_content",
    ) -> DeltaParser: ...
    @property
    def initial_events(self) -> list[dict[str, Any]]:
        """What is sent before the response: how a reply begins, and what the prefix had already written into the message."""

    def feed(self, text: str) -> list[dict[str, Any]]:
        """Reads more of the response and returns the events that it brings, in the protocol's form.

        Raises `ParseError` for a region that does not parse; the same call may be made again with `""` to go on after it.
        """

    def finalize(self, ending: Literal["complete", "length"] = "complete") -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Ends the response: the message, and the last events. `ending` says whether the model had written all, or as much as it was allowed to."""

    def frame(self, event: dict[str, Any]) -> str:
        """The event as a server-sent event, with the empty line behind it."""

    @property
    def last_frame(self) -> str:
        """What is sent behind the last event, such as `data: [DONE]`; may be empty."""

    @property
    def message(self) -> dict[str, Any]:
        """The message so far: defaults and closed regions."""

class StrictReader:
    """Reads messages by a grammar, of formats that no response template can say: Python literals, escapes within texts, tags within tags.

    `document` is a grammar (a PEG): that of `Derivation.strict_reader`, which makes a reader of it already, or the text of
    `grammar(..., format="peg")` as a dict. A reader cannot be changed; it can be pickled and shared by threads.

    Raises `TemplateError` for a document that is no grammar.
    """

    def __new__(cls, document: dict[str, Any]) -> StrictReader: ...
    @property
    def document(self) -> dict[str, Any]:
        """The grammar, as a new dict: what `obverse derive --grammar` writes and `obverse parse` takes."""

    @property
    def tried(self) -> dict[str, int] | None:
        """How far the reader of a derivation was seen to read: `of` the messages that it was tried on those that it `read`, and of those that the response template
        misses `read_of_missed`. None where it was made of a document."""

    def parse(
        self,
        response: str,
        *,
        prefix: str = "",
        tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
    ) -> dict[str, Any]:
        """The message of a whole response.

        `prefix` and `tools` are as for `parse`. A value between tags is taken for what it looks like, `5` for a number, unless `tools` say
        of which type it is. Raises `ParseError` where the response does not match the grammar to its end.
        """

def parse(
    response: str,
    template: dict[str, Any] | ResponseTemplate | Derivation,
    *,
    prefix: str = "",
    tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
) -> dict[str, Any]:
    """The message of a whole response.

    `prefix` and `tools` are as for `Parser`. From 4096 bytes on the interpreter is free while it is parsed. Raises `ParseError`
    for the first region that does not parse, and for a required field that is missing.
    """

@overload
def parse_many(
    responses: Sequence[str],
    template: dict[str, Any] | ResponseTemplate | Derivation,
    *,
    prefix: str | Sequence[str] | None = None,
    tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
    errors: Literal["raise"] = "raise",
    threads: int | None = None,
) -> list[dict[str, Any]]:
    """The messages of whole responses, in their order, parsed on all cores (or `threads` of them) with the interpreter free.

    `prefix` is one for all or one for each response. With `errors="return"` the list has a `ParseError` in the place of a message
    that could not be parsed; otherwise the first is raised.
    """

@overload
def parse_many(
    responses: Sequence[str],
    template: dict[str, Any] | ResponseTemplate | Derivation,
    *,
    prefix: str | Sequence[str] | None = None,
    tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
    errors: Literal["return"],
    threads: int | None = None,
) -> list[dict[str, Any] | ParseError]: ...
class Chat:
    def __new__(
        cls, *, path: str = ..., text: str = ..., name: str = ..., special_tokens: dict[str, str] = ...
    ) -> Chat: ...
    def config(self) -> tuple[str, str]: ...
    def render(self, conversation: dict[str, Any]) -> str: ...
    def spans(
        self, conversations: list[dict[str, Any]], threads: int | None
    ) -> list[tuple[str, list[dict[str, Any]], list[tuple[int, int]]]]: ...

class Derived:
    def strict_reader(self) -> StrictReader: ...

class WrittenGrammar:
    text: str
    notes: list[str]

    def accepts(self, text: str) -> tuple[int, bool, bool, list[str]]: ...
    def sample(self, count: int, seed: int) -> list[str]: ...

def coerce(value: Any, tools: Iterable[dict[str, Any] | Callable[..., Any]]) -> Any: ...
def derive_from(
    *,
    path: str = ...,
    text: str = ...,
    name: str = ...,
    special_tokens: dict[str, str] = ...,
    engines: list[str] = ...,
    thorough: bool = False,
    prefer: list[tuple[str, str]] = ...,
) -> tuple[dict[str, Any], dict[str, Any], Derived]: ...
def grammar_from(
    *,
    template: dict[str, Any] | ResponseTemplate | Derivation | None = None,
    path: str = ...,
    text: str = ...,
    name: str = ...,
    special_tokens: dict[str, str] = ...,
    language: str,
    tools: Iterable[dict[str, Any] | Callable[..., Any]] | None = None,
    any_tool: bool = False,
    tool_choice: str = "auto",
    parallel: bool = True,
    reasoning: str = "auto",
    prefix: str | None = None,
    response_format: dict[str, Any] | None = None,
    token_ids: list[tuple[str, int]] = ...,
) -> WrittenGrammar: ...
def inspect_from(
    *, path: str = ..., text: str = ..., name: str = ..., special_tokens: dict[str, str] = ...
) -> dict[str, Any]: ...
def lint_text(
    document: str,
    *,
    path: str = ...,
    text: str = ...,
    special_tokens: dict[str, str] = ...,
    engines: list[str] = ...,
) -> list[dict[str, Any]]: ...
def main(arguments: list[str]) -> int: ...
def arrow_masks(data: Any, *, generated: str, offsets: str, mask: str, threads: int | None) -> ArrowTable: ...
def arrow_parse(
    data: Any,
    template: Any,
    *,
    response: str,
    prefix: str | None,
    tools: str | None,
    schemas: Iterable[Any] | None,
    message: str,
    error: str | None,
    threads: int | None,
) -> ArrowTable: ...
def arrow_spans(
    data: Any,
    chat: Chat,
    *,
    messages: str,
    tools: str | None,
    kwargs: dict[str, Any],
    text: str,
    generated: str,
    error: str | None,
    threads: int | None,
) -> ArrowTable: ...
