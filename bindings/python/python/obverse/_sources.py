"""What can be given for a chat template: a tokenizer, a processor, a path, or the text of one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypedDict

#: The signs that open a tag of Jinja; no path has them.
_TAGS = ("{%", "{{", "{#")

_SPECIAL_TOKENS = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")


class Place(TypedDict, total=False):
    """Where a chat template is, as the native part takes it."""

    path: str
    text: str
    special_tokens: dict[str, str]


class Source(Place, total=False):
    """The same with a name for reports."""

    name: str


def engines(for_: str | Iterable[str]) -> list[str]:
    """The names of engines; a text is one of them."""
    if isinstance(for_, str):
        return [for_]
    if not isinstance(for_, Iterable):
        raise TypeError(f"for_ must be the name of an engine or a list of names, not {type(for_).__name__}")
    return list(for_)


def members(name: str, given: Any) -> list[tuple[Any, Any]]:
    """The members of an argument that is a dict, or nothing."""
    if given and not isinstance(given, Mapping):
        raise TypeError(f"{name} must be a dict, not {type(given).__name__}")
    return list(given.items()) if given else []


def unnamed(source: Source) -> Place:
    """The source without its name."""
    place: Place = {}
    if "path" in source:
        place["path"] = source["path"]
    if "text" in source:
        place["text"] = source["text"]
    if "special_tokens" in source:
        place["special_tokens"] = source["special_tokens"]
    return place


def response_template(source: Any) -> dict[str, Any] | None:
    """The response template of a file that has one, and no chat template that says more."""
    if not isinstance(source, (str, os.PathLike)) or any(tag in os.fspath(source) for tag in (*_TAGS, "\n")):
        return None
    path = Path(source)
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    if not isinstance(document, dict) or "chat_template" in document or (path.parent / "chat_template.jinja").is_file():
        return None
    found = document.get("response_template", document)
    return found if isinstance(found, dict) and "fields" in found else None


@contextlib.contextmanager
def opened(source: Any, special_tokens: dict[str, str] | None = None) -> Iterator[Source]:
    """The source for the native part; a tokenizer's is there as long as the context is."""
    given: Source = {}
    if special_tokens:
        given["special_tokens"] = special_tokens
    if isinstance(source, os.PathLike):
        given["path"] = os.fspath(source)
    elif isinstance(source, str):
        if not source:
            raise ValueError("a chat template is given by a tokenizer or a processor that has one, by a path, or by its text, not by an empty text")
        is_text = any(tag in source for tag in _TAGS) or "\n" in source
        given["text" if is_text else "path"] = source
    elif getattr(source, "chat_template", None):
        with tempfile.TemporaryDirectory(prefix="obverse-") as folder:
            _write(source, Path(folder))
            given["path"] = folder
            given["name"] = str(getattr(source, "name_or_path", "") or type(source).__name__)
            yield given
        return
    else:
        raise TypeError(
            "a chat template is given by a tokenizer or a processor that has one, by a path, or by its text, "
            f"not by {type(source).__name__}"
        )
    yield given


def _write(source: Any, folder: Path) -> None:
    """Writes the little of a tokenizer's files from which chat templates are understood."""
    tokenizer = getattr(source, "tokenizer", None) or source
    templates = source.chat_template
    if isinstance(templates, dict):
        templates = [{"name": name, "template": text} for name, text in templates.items()]
    config: dict[str, Any] = {"chat_template": templates}
    for name in _SPECIAL_TOKENS:
        token = getattr(tokenizer, name, None)
        if token is not None:
            config[name] = str(token)
    added = getattr(tokenizer, "added_tokens_decoder", None)
    if added:
        config["added_tokens_decoder"] = {
            str(number): {"content": str(token), "special": bool(getattr(token, "special", False))}
            for number, token in added.items()
        }
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    # What it says of the end of a response is no part of a tokenizer.
    generation = Path(str(getattr(tokenizer, "name_or_path", "") or "")) / "generation_config.json"
    if generation.is_file():
        shutil.copy(generation, folder)
