"""Functions as tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


def schema(tool: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a function, as transformers makes it of its types and its docstring."""
    from transformers.utils.chat_template_utils import get_json_schema

    made: dict[str, Any] = get_json_schema(tool)
    return made


def schemas(tools: Iterable[dict[str, Any] | Callable[..., Any]] | None) -> list[Any] | None:
    """Tools as JSON schemas, those of functions made."""
    if tools is None:
        return None
    return [schema(tool) if callable(tool) else tool for tool in tools]
