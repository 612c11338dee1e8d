"""Obverse, the workbench for response templates: derive them from chat templates, prove them, parse with them.

A *chat template* turns messages into the text that a language model reads. A *response template* turns the text that the model
writes back into a message.

>>> import obverse
>>> template = {"start_anchor": "<assistant>", "fields": {"thinking": {"open": "<think>", "close": "</think>"}, "content": {}}}
>>> obverse.parse("<think>A greeting.</think>Hello!", template)
{'thinking': 'A greeting.', 'content': 'Hello!'}
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import version as _version
from pathlib import Path
from typing import Any, Literal

from . import _native, _sources, _tools
from ._checking import Check, Result, check
from ._conversation import ChatTemplate, Span, Spans
from ._derivation import Derivation, Finding, Grammar, Held
from ._native import DeltaParser, Parser, ResponseTemplate, StrictReader, parse, parse_many
from .chat_parsing import install, uninstall
from .errors import (
    FinalizedError,
    ForeignError,
    MergeError,
    ObverseError,
    ParseError,
    PlaceholderError,
    RenderError,
    SourceError,
    TemplateError,
)

__all__ = [
    "ChatTemplate",
    "Check",
    "DeltaParser",
    "Derivation",
    "FinalizedError",
    "Finding",
    "ForeignError",
    "Grammar",
    "Held",
    "MergeError",
    "ObverseError",
    "ParseError",
    "Parser",
    "PlaceholderError",
    "RenderError",
    "ResponseTemplate",
    "Result",
    "SourceError",
    "Span",
    "Spans",
    "StrictReader",
    "TemplateError",
    "check",
    "derive",
    "grammar",
    "inspect",
    "install",
    "lint",
    "load",
    "parse",
    "parse_many",
    "uninstall",
]

__version__ = _version("obverse")


def derive(
    source: Any,
    *,
    for_: str | Iterable[str] = (),
    thorough: bool = False,
    prefer: Mapping[str, str] | None = None,
    special_tokens: dict[str, str] | None = None,
) -> Derivation:
    """Derives a response template from a chat template, and proves it by inversion.

    `source` is a tokenizer or a processor of transformers, the text of a chat template, or a path: a `.jinja` file, a
    `tokenizer_config.json`, a model folder or a `.gguf` file, or the name of a model of the Hub (`org/model`, `org/model@revision`),
    which is taken from the cache of the Hub's client or fetched into it. `for_` names the engines that are to take the response template
    (`"transformers"`, `"vllm"`, `"sglang"`): it keeps to what all of these take. `thorough` verifies at length.
    `prefer` names decisions of the report and the candidate to take for each.
    `special_tokens` are told to chat templates that come without a configuration; `<s>` and `</s>` are assumed otherwise.

    It takes from tenths of a second to a few seconds, during which the interpreter is free; Ctrl-C ends the wait.

    Raises `SourceError` when the chat template cannot be loaded or renders nothing that could be read. That a response template
    is not proved raises nothing: `Derivation.verdict` tells.
    """
    with _sources.opened(source, special_tokens) as opened:
        document, report, derived = _native.derive_from(
            **opened, engines=_sources.engines(for_), thorough=thorough, prefer=_sources.members("prefer", prefer)
        )
    return Derivation(document, report, derived)


def inspect(source: Any, *, special_tokens: dict[str, str] | None = None) -> dict[str, Any]:
    """What the chat templates of a source support: roles, message keys, tools, reasoning, kwargs, generation prompts.

    `source` is as for `derive`. The keys of the result are those of `obverse inspect --format json`.
    """
    with _sources.opened(source, special_tokens) as opened:
        return _native.inspect_from(**opened)


def grammar(
    source: Any,
    *,
    format: Literal["gbnf", "ebnf", "lark", "peg", "structural-tag"],
    tools: Iterable[dict[str, Any] | Callable[..., Any]] = (),
    any_tool: bool = False,
    tool_choice: str = "auto",
    parallel: bool = True,
    reasoning: Literal["auto", "on", "off"] = "auto",
    prefix: str | None = None,
    kwargs: Mapping[str, Any] | None = None,
    response_format: dict[str, Any] | None = None,
    token_ids: Mapping[str, int] | None = None,
    special_tokens: dict[str, str] | None = None,
) -> Grammar:
    """The grammar of what a model may write: its calls by the tools' schemas, its reasoning, its answer.

    `source` is as for `derive`; a response template is derived of it, and the grammar is made of that. It may also be a response template
    alone, as a dict, a `ResponseTemplate`, a `Derivation` or the path of a file with one: then no render shows how the format is written, and `notes` say what that leaves
    free. `format` is the language: `"gbnf"` for llama.cpp, `"ebnf"` for xgrammar where it takes no structural tag, `"lark"` for llguidance, `"structural-tag"` for xgrammar, `"peg"` for Obverse itself.
    With `any_tool` tools that are not among `tools` may be called, too, with any arguments: for a `"peg"`, with which `StrictReader` reads what a model wrote.
    `tool_choice` is `"auto"`, `"required"`, `"none"` or the name of a tool. What the prompt has opened already goes on: `prefix` is the prompt,
    and without it that of a user's message is rendered, with `kwargs`; a response template alone begins at its anchor. `response_format` is a
    JSON schema that the answer must fit. `token_ids` are the special tokens of the tokenizer with their numbers, which are then written as
    tokens where the language has a way.

    Raises `SourceError` when there is no grammar, as for a tool that is not among `tools`.
    """
    offered = _tools.schemas(tools) or []
    numbers = _sources.members("token_ids", token_ids)
    for token, number in numbers:
        if not isinstance(token, str) or not isinstance(number, int) or not 0 <= number < 2**32:
            raise ValueError(f"token_ids must have the number of each token by its text, and has {number!r} for {token!r}")
    variables = dict(_sources.members("kwargs", kwargs))

    def written(given: Any, prefix: str | None) -> Grammar:
        made = _native.grammar_from(
            **given,
            language=format,
            tools=offered,
            any_tool=any_tool,
            tool_choice=tool_choice,
            parallel=parallel,
            reasoning=reasoning,
            prefix=prefix,
            response_format=response_format,
            token_ids=numbers,
        )
        return Grammar(made.text, format, made.notes, made)

    if isinstance(source, Derivation):
        source = source.response_template
    source = _sources.response_template(source) or source
    if isinstance(source, (dict, ResponseTemplate)):
        if kwargs:
            raise ValueError("kwargs are variables of a chat template, and the source is a response template alone: give the prompt as prefix")
        return written({"template": source}, prefix)
    with _sources.opened(source, special_tokens) as opened:
        if prefix is None:
            asked = {"messages": [{"role": "user", "content": "Hello"}], "add_generation_prompt": True, "kwargs": variables}
            if offered:
                asked["tools"] = offered
            try:
                prefix = _native.Chat(**opened).render(asked)
            except RenderError:
                # A chat template that needs more than that is given it for the derivation.
                if kwargs:
                    raise
        return written(opened, prefix)


def lint(
    template: dict[str, Any] | ResponseTemplate | Derivation | str | os.PathLike[str],
    *,
    for_: str | Iterable[str] = (),
    chat_template: Any = None,
) -> list[Finding]:
    """What will go wrong with a response template, in the order of the document.

    `template` is a document, its JSON text, or a path to it or to a `tokenizer_config.json` that holds it. `for_` names the engines
    that are to take it. `chat_template`, a source as for `derive`, lets the rules look that need one. A document that is no response
    template raises nothing: what is wrong with it are findings of the severity `error`.
    """
    if isinstance(template, Derivation):
        template = template.response_template
    if isinstance(template, ResponseTemplate):
        template = template.document
    if isinstance(template, dict):
        text = json.dumps(template, ensure_ascii=False)
    elif isinstance(template, str) and template.lstrip().startswith("{"):
        text = template
    else:
        text = Path(template).read_text(encoding="utf-8")
    engines = _sources.engines(for_)
    if chat_template is None:
        found = _native.lint_text(text, engines=engines)
    else:
        with _sources.opened(chat_template) as opened:
            found = _native.lint_text(text, **_sources.unnamed(opened), engines=engines)
    return [Finding.of(members) for members in found]


def load(path: str | os.PathLike[str]) -> ResponseTemplate:
    """The response template of a file: the document, or a `tokenizer_config.json` that holds it."""
    return ResponseTemplate.from_file(path)
