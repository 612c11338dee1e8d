"""Functions as tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from inspect import isfunction, ismethod
from typing import Any


def schema(tool: Callable[..., Any]) -> dict[str, Any] | None:
    """The JSON schema of a function, as transformers makes it of its types and its docstring.

    There is none of what else can be called: classes, objects with `__call__`, `functools.partial`, built-in functions. A parser of
    transformers types no arguments by these.
    """
    if not (isfunction(tool) or ismethod(tool)):
        return None
    from transformers.utils.chat_template_utils import get_json_schema

    made: dict[str, Any] = get_json_schema(tool)
    return made


def schemas(tools: Iterable[dict[str, Any] | Callable[..., Any]] | None) -> list[Any] | None:
    """Tools as JSON schemas, those of functions made.

    Raises `ValueError` for what is neither, as `apply_chat_template` does: the model would not be told of it.
    """
    if tools is None:
        return None
    if isinstance(tools, (str, Mapping)) or not isinstance(tools, Iterable):
        raise TypeError(f"tools must be a list of JSON schemas or functions, not {type(tools).__name__}")
    return [_shown(tool) for tool in tools]


def _shown(tool: Any) -> dict[str, Any]:
    made = tool if isinstance(tool, dict) else schema(tool)
    if made is None:
        raise ValueError(
            "Tools should either be a JSON schema, or a callable function with type hints and a docstring suitable for auto-conversion "
            f"to a schema: {type(tool).__name__} is neither. Give its schema as a dict, or a function that calls it"
        )
    return made
