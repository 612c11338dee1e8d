"""Checking fixtures, and response templates against their chat templates."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from . import _sources
from ._derivation import Finding
from .errors import SourceError


@dataclass(frozen=True)
class Result:
    """What came of one fixture, or of one response template."""

    #: Its path, with the line of a `.jsonl` file or the file of a fixture's folder.
    name: str
    #: `passed` or `failed`.
    status: str
    #: What does not hold.
    findings: list[Finding] = field(hash=False)


@dataclass(frozen=True)
class Check:
    """What came of checking."""

    results: list[Result] = field(hash=False)
    #: How many there are of everything, by the keys of `obverse check --format json`.
    summary: dict[str, int] = field(hash=False)

    @property
    def ok(self) -> bool:
        """True if everything holds."""
        return not self.failed

    @property
    def failed(self) -> list[Result]:
        """Those that do not hold."""
        return [result for result in self.results if result.status == "failed"]


def check(
    *paths: str | os.PathLike[str],
    filter: str | None = None,
    derive: bool = True,
    thorough: bool = False,
    for_: str | Iterable[str] = (),
    config: str | os.PathLike[str] | None = None,
) -> Check:
    """Checks recorded responses, and response templates against the chat templates that they were derived from.

    `paths` are fixtures, `.jsonl` files of them, response templates, or folders of any; without any it is everything that
    `obverse.toml` names, or that lies below the current folder. `filter` keeps the names that match a glob, or have a text in them. Without
    `derive` no response template is derived again. `thorough` tries every size of chunk and every end. `for_` names engines, as for
    `obverse.derive`, and `config` an `obverse.toml`.

    It runs `obverse check` in a process of its own, on all cores. Raises `SourceError` when nothing can be checked.
    """
    arguments = ["--format", "json", *(f"--for={engine}" for engine in _sources.engines(for_))]
    arguments += [f"--filter={filter}"] if filter is not None else []
    arguments += [] if derive else ["--no-derive"]
    arguments += ["--thorough"] if thorough else []
    arguments += [f"--config={os.fspath(config)}"] if config is not None else []
    command = [sys.executable, "-m", "obverse", "check", "--quiet", *arguments, "--", *(os.fspath(path) for path in paths)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    if done.returncode not in (0, 1):
        code = re.match(r"error\[([\w-]+)\]", done.stderr)
        raise SourceError(done.stderr.strip(), code[1] if code else "failed")
    told: dict[str, Any] = json.loads(done.stdout)
    results = [
        Result(
            name=result["name"],
            status=result["status"],
            findings=[Finding.of(members) for members in result["diagnostics"]],
        )
        for result in told["results"]
    ]
    return Check(results=results, summary=told["summary"])
