"""How the package looks to a type checker: nothing here is run, `mypy --strict` reads it."""

from typing import Any

import obverse
from obverse import arrow, chat_parsing

template: dict[str, Any] = {"start_anchor": "<assistant>", "fields": {"content": {}}}


def whole() -> dict[str, Any]:
    return obverse.parse("Hi", template, prefix="", tools=[{"name": "f"}])


def many() -> list[dict[str, Any]]:
    return obverse.parse_many(["Hi"], obverse.ResponseTemplate(template), threads=2)


def many_with_errors() -> list[dict[str, Any] | obverse.ParseError]:
    return obverse.parse_many(["Hi"], template, prefix=["<assistant>"], errors="return")


def streamed() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    parser = obverse.Parser(template, on_error="keep")
    events = parser.initial_events + parser.feed("Hi")
    message, last = parser.finalize()
    return events + last, message


def sent() -> tuple[list[str], dict[str, Any]]:
    parser = obverse.DeltaParser(template, form="openai", tools=[{"name": "f"}], model="m")
    frames = [parser.frame(event) for event in parser.initial_events + parser.feed("Hi")]
    message, events = parser.finalize("length")
    return [*frames, *map(parser.frame, events), parser.last_frame], message


def constrained(tokenizer: object) -> tuple[str, list[str]]:
    grammar = obverse.grammar(tokenizer, format="gbnf", tools=[template], tool_choice="required", token_ids={"<call>": 7})
    return grammar.text, grammar.notes


def held() -> tuple[list[str], list[str]]:
    grammar = obverse.grammar(obverse.ResponseTemplate(template), format="peg", tools=[template])
    held: obverse.Held = grammar.accepts("Hi")
    return held.expected, grammar.sample(2)


def checked() -> list[tuple[str, list[obverse.Finding]]]:
    return [(result.name, result.findings) for result in obverse.check("fixtures", derive=False).failed]


def derived(tokenizer: object) -> str:
    derivation = obverse.derive(tokenizer, for_=["vllm"], prefer={"white space of delimiters": "spelled out"})
    verdict: str = derivation.verdict
    return verdict


def linted() -> list[tuple[str, tuple[int, int] | None]]:
    return [(finding.code, finding.span) for finding in obverse.lint(template)]


def dropped_in() -> dict[str, Any]:
    obverse.install()
    parser = chat_parsing.ResponseParser(template, prefix="")
    parser.feed("Hi")
    obverse.uninstall()
    return chat_parsing.parse_response("Hi", template, prefix="")


def batches(table: Any, chat: obverse.ChatTemplate) -> list[arrow.ArrowTable]:
    found = arrow.spans(table, chat, tools="tools", error=None, enable_thinking=False)
    return [arrow.parse(table, template, prefix="prompt", tools=[{"name": "f"}]), found, arrow.masks(found)]


def strictly(tokenizer: object) -> tuple[dict[str, Any], dict[str, Any], dict[str, int] | None]:
    reader: obverse.StrictReader = obverse.derive(tokenizer).strict_reader()
    again = obverse.StrictReader(reader.document)
    grammar = obverse.grammar(template, format="peg", any_tool=True)
    return again.parse(grammar.text, prefix="", tools=[{"name": "f"}]), reader.document, reader.tried


def coded() -> str:
    try:
        obverse.derive("nowhere")
    except obverse.SourceError as error:
        return error.code
    except obverse.ForeignError as error:
        return error.code
    return obverse.ObverseError.code
