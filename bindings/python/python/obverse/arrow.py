"""Data sets: parsing, spans and masks from Arrow record batches to Arrow record batches.

Each function takes record batches or a table, of any library that speaks the Arrow PyCapsule interface (pyarrow, polars, datasets, Ray Data), and gives a
`Table` of that interface with the columns that it was given and those that it adds. Nothing of a row becomes an object of Python, the work is
done on all cores (or on `threads` of them), and the interpreter is free meanwhile. `pyarrow.table(result)` makes a table of pyarrow of it, without a copy.

A column of the name of one that is added is replaced by it. A row that fails has null in what is added, and the column `error` says why; with `error=None` there is no such column, and the first failure is raised.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Protocol

from . import _native
from ._conversation import ChatTemplate

__all__ = ["ArrowTable", "masks", "parse", "spans"]


class ArrowTable(Protocol):
    """Record batches as the Arrow PyCapsule interface hands them over."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


def parse(
    data: Any,
    template: Any,
    *,
    response: str = "response",
    prefix: str | None = None,
    tools: str | Iterable[Any] | None = None,
    message: str = "message",
    error: str | None = "error",
    threads: int | None = None,
) -> ArrowTable:
    """Parses the responses of a column, and adds the column `message`: the message of each as JSON.

    `template` is as for `obverse.parse`. `prefix` names a column of prompts. `tools` are the tools of all rows, or the name of a column that has those of each, as
    lists or as JSON. A response that is null has the message null.
    """
    column = tools if isinstance(tools, str) else None
    return _native.arrow_parse(
        data,
        template,
        response=response,
        prefix=prefix,
        tools=column,
        schemas=None if column else tools,
        message=message,
        error=error,
        threads=threads,
    )


def spans(
    data: Any,
    chat: ChatTemplate,
    *,
    messages: str = "messages",
    tools: str | None = None,
    text: str = "text",
    generated: str = "generated",
    error: str | None = "error",
    threads: int | None = None,
    **kwargs: Any,
) -> ArrowTable:
    """Renders the conversations of a column and adds the columns `text` and `generated`: the rendered text, and which of it the model wrote.

    `messages` names a column with lists of messages, or their JSON; `tools` one with lists of tools, or their JSON. `kwargs` are told to the chat template. `generated`
    has lists of structs of `start` and `end`, in characters, as `Spans.ranges`.

    A member of a message that is null is as one that is not there: Arrow gives each message all the members that any has, and cannot tell the two apart.
    """
    if not isinstance(chat, ChatTemplate):
        raise TypeError(f"chat must be an obverse.ChatTemplate, as ChatTemplate(tokenizer) makes one, not {type(chat).__name__}")
    return _native.arrow_spans(
        data,
        chat._native,
        messages=messages,
        tools=tools,
        kwargs=kwargs,
        text=text,
        generated=generated,
        error=error,
        threads=threads,
    )


def masks(
    data: Any,
    *,
    generated: str = "generated",
    offsets: str = "offset_mapping",
    mask: str = "assistant_masks",
    threads: int | None = None,
) -> ArrowTable:
    """Adds the column `mask`: for each token 1 where the model wrote a character of it, else 0, as `Spans.mask`.

    `generated` is the column that `spans` makes. `offsets` has for each row the tokens' starts and ends in characters, lists of lists of two numbers: the
    `offset_mapping` of a fast tokenizer that was given `text` with `add_special_tokens=False`. Where either is null the mask is.
    """
    return _native.arrow_masks(data, generated=generated, offsets=offsets, mask=mask, threads=threads)
