"""What comes of a derivation, and what comes of linting."""

from __future__ import annotations

import copy
import html
import json
from dataclasses import dataclass, field, replace
from typing import Any

from ._native import Derived, StrictReader, WrittenGrammar

#: How many findings a notebook is shown.
_SHOWN = 12


@dataclass(frozen=True, repr=False)
class Derivation:
    """A response template that was derived from a chat template, and what is known of it."""

    #: The response template, ready for a `tokenizer.response_template` or a `tokenizer_config.json`. Where the verdict is not
    #: `proved` it is the closest draft.
    response_template: dict[str, Any]
    #: The report, with the keys of `obverse derive --format json`.
    report: dict[str, Any]
    _derived: Derived | None = field(default=None, repr=False, compare=False)

    @property
    def verdict(self) -> str:
        """`proved`, `proved_in_part`, `inexpressible` or `not_proved`."""
        verdict: str = self.report["verdict"]
        return verdict

    @property
    def verified(self) -> bool:
        """True if everything that was tried came back."""
        verified: bool = self.report["verified"]
        return verified

    def strict_reader(self) -> StrictReader:
        """A reader of the format by its grammar, which brings back what no response template can say: Python literals, escapes within texts.

        It is tried on the messages of the proof, and `StrictReader.tried` tells how far it reads. Raises `SourceError` where nothing is
        known to be written in the format, and `ValueError` for a derivation that was pickled: its reader can be pickled instead.
        """
        if self._derived is None:
            raise ValueError("this derivation is its document and its report alone, as after pickling: derive anew, or pickle the reader itself")
        return self._derived.strict_reader()

    def to_json(self) -> str:
        """The response template as text, indented by two."""
        return json.dumps(self.response_template, indent=2, ensure_ascii=False) + "\n"

    def __hash__(self) -> int:
        return hash((self.report["source"], self.verdict))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_derived": None}

    def __copy__(self) -> Derivation:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Derivation:
        return Derivation(copy.deepcopy(self.response_template, memo), copy.deepcopy(self.report, memo), self._derived)

    def __repr__(self) -> str:
        rounds = self.report["rounds"]
        return f"<Derivation from {self.report['source']}: {self.verdict}, {rounds['passed']} of {_tried(rounds)} came back>"

    def _repr_html_(self) -> str:
        """What a notebook shows. All that comes from the chat template is escaped."""
        rounds = self.report["rounds"]
        modes = ((name, self.report[name]["mode"]) for name in ("content", "reasoning", "tools"))
        rows = [
            ("source", self.report["source"]),
            ("verdict", self.verdict.replace("_", " ")),
            ("messages that came back", f"{rounds['passed']} of {_tried(rounds)}"),
            *((name, str(mode).replace("_", " ")) for name, mode in modes),
        ]
        table = "".join(f"<tr><th style='text-align:left'>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in rows)
        findings = self.report.get("findings", [])
        listed = "".join(
            f"<li><b>{_text(found['severity'])}</b> <code>{_text(found['code'])}</code> {_text(found['text'])}</li>"
            for found in findings[:_SHOWN]
        )
        more = f"<li>and {len(findings) - _SHOWN} more</li>" if len(findings) > _SHOWN else ""
        notes = f"<ul>{listed}{more}</ul>" if findings else ""
        return (
            f"<table>{table}</table>{notes}"
            f"<details><summary>response template</summary><pre>{_text(self.to_json())}</pre></details>"
        )


def _tried(rounds: dict[str, Any]) -> int:
    passed: int = rounds["passed"]
    failed: int = rounds["failed"]
    return passed + failed


def _text(value: object) -> str:
    return html.escape(str(value))


@dataclass(frozen=True)
class Held:
    """A text that was held to a grammar."""

    #: True if the grammar allows all of it, though more may have to follow.
    allowed: bool
    #: True if it is allowed and may end where it does.
    complete: bool
    #: How many characters of it are allowed: all of them, or the place at which it leaves the grammar.
    at: int
    #: What may stand next, there or behind the text: texts as JSON writes them, sets of characters as in a regular expression, `text`
    #: for free text, and `the end`.
    expected: list[str] = field(hash=False)


@dataclass(frozen=True)
class Grammar:
    """What a model may write, in the language of an engine."""

    #: The grammar. A structural tag and a PEG are texts of JSON.
    text: str
    #: The language: `gbnf`, `ebnf`, `lark`, `peg` or `structural-tag`.
    format: str
    #: What the language cannot say of it, and what is not proved of the response template that it was made of.
    notes: list[str] = field(hash=False)
    _written: WrittenGrammar | None = field(default=None, repr=False, compare=False)

    def accepts(self, response: str) -> Held:
        """Holds a response to the grammar as an engine would, as it is before it is written in a language."""
        at, allowed, complete, expected = self._whole().accepts(response)
        return Held(allowed=allowed, complete=complete, at=at, expected=expected)

    def sample(self, count: int = 1, seed: int = 0) -> list[str]:
        """Texts that the grammar allows, the same ones for the same `seed`."""
        return self._whole().sample(count, seed)

    def _whole(self) -> WrittenGrammar:
        if self._written is None:
            raise ValueError("this grammar is its text alone, as after pickling: make it anew with obverse.grammar")
        return self._written

    def __copy__(self) -> Grammar:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Grammar:
        return Grammar(self.text, self.format, list(self.notes), self._written)

    def __reduce__(self) -> tuple[type[Grammar], tuple[str, str, list[str]]]:
        return Grammar, (self.text, self.format, self.notes)


@dataclass(frozen=True)
class Finding:
    """One thing that will go wrong with a response template."""

    #: A stable name; `obverse explain CODE` tells what it means.
    code: str
    #: `info`, `warning` or `error`.
    severity: str
    #: What is wrong, in a sentence.
    message: str
    #: The JSON path of the place, such as `$.fields.content.close`.
    path: str | None = None
    #: The place in the document's text: byte offsets of start and end in its UTF-8. Of a dict the text is its compact JSON.
    span: tuple[int, int] | None = None
    #: Advice on how to mend it.
    hint: str | None = None

    @classmethod
    def of(cls, members: dict[str, Any]) -> Finding:
        """The finding that the native part tells of."""
        place = members.get("place") or {}
        span = place.get("span")
        return cls(
            code=members["code"],
            severity=members["severity"],
            message=members["message"],
            path=place.get("path"),
            span=(span["start"], span["end"]) if span else None,
            hint=members.get("hint"),
        )
