"""Functions as tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def schema(tool: Callable[..., Any]) -> dict[str, Any]:
    """The JSON schema of a function, as transformers makes it of its types and its docstring."""
    from transformers.utils.chat_template_utils import get_json_schema

    made: dict[str, Any] = get_json_schema(tool)
    return made
