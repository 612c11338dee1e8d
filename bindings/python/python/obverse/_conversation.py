"""Conversations, and which of their characters and tokens the model wrote."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _native, _sources, _tools

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

#: A conversation as `apply_chat_template` takes it.
_KEYS = ("messages", "tools", "documents", "kwargs")


@dataclass(frozen=True)
class Span:
    """The range of a conversation's text that a message or a part of it takes."""

    #: The message: its index.
    message: int
    #: Its role.
    role: str
    #: Which part of it: `message` for all of it, `header`, `reasoning`, `content`, `call` or `end`.
    part: str
    #: Which of its calls, where the part is one.
    call: int | None
    #: Where it starts and ends in the text, in characters.
    start: int
    end: int


@dataclass(frozen=True)
class Spans:
    """Which characters of a rendered conversation belong to which message, and which of them the model wrote."""

    #: The rendered conversation.
    text: str
    #: Each message, followed by its parts.
    spans: list[Span] = field(hash=False)
    #: What the model wrote: starts and ends in characters, in order; none is empty and no two touch.
    ranges: list[tuple[int, int]] = field(default_factory=list, hash=False)

    @property
    def generated(self) -> NDArray[np.int64]:
        """What the model wrote, as an array of the shape (ranges, 2): starts and ends in characters."""
        import numpy as np

        return np.asarray(self.ranges, dtype=np.int64).reshape(-1, 2)

    def character_mask(self) -> NDArray[np.uint8]:
        """An array of the shape (characters of the text,): 1 for each that the model wrote."""
        import numpy as np

        mask = np.zeros(len(self.text), dtype=np.uint8)
        for start, end in self.ranges:
            mask[start:end] = 1
        return mask

    def mask(self, offsets: ArrayLike) -> NDArray[np.uint8]:
        """An array of the shape (tokens,): 1 for each token of which the model wrote a character.

        `offsets` are the tokens' starts and ends in characters, of the shape (tokens, 2): the `offset_mapping` of a fast tokenizer
        that was given `text` with `add_special_tokens=False`. The result is what `assistant_masks` of `apply_chat_template` is.

        Tokenizers that trim offsets tell of a token of white space only where it ends: its last character decides.
        """
        import numpy as np

        given = np.asarray(offsets)
        tokens = given.reshape(-1, 2) if given.size == 0 else given
        if tokens.ndim != 2 or tokens.shape[1] != 2 or (tokens.size and tokens.dtype.kind not in "iu"):
            raise ValueError(
                "offsets must be whole numbers of the shape (tokens, 2), those of one text: the `offset_mapping` of a fast tokenizer, "
                f"not {tokens.dtype} of the shape {given.shape}"
            )
        tokens = tokens.astype(np.int64)
        if tokens.size and (tokens.min() < 0 or tokens.max() > len(self.text)):
            raise ValueError(f"offsets must lie within the text, which has {len(self.text)} characters: these are those of another one")
        ends = tokens[:, 1]
        starts = np.where(tokens[:, 0] < ends, tokens[:, 0], ends - 1)
        generated = self.generated
        if not len(generated):
            return np.zeros(len(tokens), dtype=np.uint8)
        # The first range that ends behind the token's start is the only one that the token may begin to touch.
        nearest = np.searchsorted(generated[:, 1], starts, side="right")
        is_there = nearest < len(generated)
        touches = generated[np.minimum(nearest, len(generated) - 1), 0] < ends
        mask: NDArray[np.uint8] = (is_there & touches & (ends > 0)).astype(np.uint8)
        return mask


#: Arguments of `apply_chat_template` that are none of the chat template's.
_OF_TRANSFORMERS = ("continue_final_message", "return_assistant_tokens_mask", "return_dict", "return_tensors", "tokenize", "tokenizer_kwargs")


def _refuse(kwargs: dict[str, Any], names: Iterable[str]) -> None:
    for name in names:
        if kwargs.get(name):
            raise TypeError(f"{name} is no variable of a chat template, and is not done here")


def _plain(value: Any) -> Any:
    """An object that JSON does not have as transformers shows it to a chat template; its members are shown in their turn."""
    if isinstance(value, Mapping):
        return dict(value)
    numpy = sys.modules.get("numpy")
    if numpy is not None and isinstance(value, numpy.generic):
        return value.item()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {member.name: getattr(value, member.name) for member in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)):
        return value.model_dump()
    return f"<{type(value).__name__}>"


def _messages(messages: Any) -> list[Any]:
    if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
        raise TypeError(f"messages must be a list of dicts, not {type(messages).__name__}")
    return list(messages)


def _chosen(index: int, conversation: dict[str, Any]) -> dict[str, Any]:
    """What is read of a conversation."""
    if not isinstance(conversation, dict):
        raise TypeError(f"conversation {index}: a conversation is a dict with `messages`, not {type(conversation).__name__}")
    if conversation.get("messages") is None:
        raise TypeError(f"conversation {index}: it has no `messages`")
    chosen = {key: conversation[key] for key in _KEYS if conversation.get(key) is not None}
    chosen["messages"] = _messages(chosen["messages"])
    if "tools" in chosen:
        chosen["tools"] = _tools.schemas(chosen["tools"])
    return chosen


def _again(config: str, name: str) -> ChatTemplate:
    """The chat templates that were pickled."""
    with tempfile.TemporaryDirectory(prefix="obverse-") as folder:
        (Path(folder) / "tokenizer_config.json").write_text(config, encoding="utf-8")
        again = ChatTemplate.__new__(ChatTemplate)
        again._native = _native.Chat(path=folder, name=name)
    return again


class ChatTemplate:
    """The chat templates of a source, compiled once for many conversations.

    `source` is as for `derive`. Of several chat templates `tool_use` is taken where there are tools, and else `default`. Can be shared
    by threads.
    """

    def __init__(self, source: Any, *, special_tokens: dict[str, str] | None = None) -> None:
        with _sources.opened(source, special_tokens) as opened:
            self._native = _native.Chat(**opened)

    def __eq__(self, other: object) -> bool:
        """By the texts and the special tokens, by which it renders."""
        if not isinstance(other, ChatTemplate):
            return NotImplemented
        return self._native.config()[0] == other._native.config()[0]

    def __hash__(self) -> int:
        return hash(self._native.config()[0])

    def __copy__(self) -> ChatTemplate:
        # It cannot be changed.
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> ChatTemplate:
        return self

    def __reduce__(self) -> tuple[Any, tuple[str, str]]:
        # With its texts, so that it is the same on another machine; and the same texts are pickled alike, by which caches know it.
        return _again, self._native.config()

    def render(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: Sequence[dict[str, Any] | Callable[..., Any]] | None = None,
        documents: Sequence[dict[str, Any]] | None = None,
        add_generation_prompt: bool = False,
        **kwargs: Any,
    ) -> str:
        """What `apply_chat_template(tokenize=False)` gives, byte for byte. `tools` are JSON schemas, or functions.

        Raises `RenderError` where the chat template refuses the conversation, and `TypeError` for what `apply_chat_template` does behind
        the chat template, such as `continue_final_message`.
        """
        _refuse(kwargs, _OF_TRANSFORMERS)
        conversation = {"messages": _messages(messages), "tools": _tools.schemas(tools), "documents": documents, "kwargs": kwargs}
        return self._native.render({**conversation, "add_generation_prompt": add_generation_prompt})

    def spans(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        tools: Sequence[dict[str, Any] | Callable[..., Any]] | None = None,
        documents: Sequence[dict[str, Any]] | None = None,
        **kwargs: Any,
    ) -> Spans:
        """Which characters of a conversation belong to which message, and which the model wrote; nothing has to be marked for it."""
        _refuse(kwargs, (*_OF_TRANSFORMERS, "add_generation_prompt"))
        conversation = {"messages": _messages(messages), "tools": _tools.schemas(tools), "documents": documents, "kwargs": kwargs}
        return self.spans_many([conversation])[0]

    def spans_many(self, conversations: Iterable[dict[str, Any]], *, threads: int | None = None) -> list[Spans]:
        """The spans of many conversations, in their order, found on all cores (or `threads` of them) with the interpreter free.

        Each is a dict with `messages`, and as it wants `tools`, `documents` and `kwargs`.
        """
        chosen = [_chosen(index, one) for index, one in enumerate(conversations)]
        told = self._native.spans(chosen, threads)
        return [Spans(text, [Span(**span) for span in spans], ranges) for text, spans, ranges in told]
