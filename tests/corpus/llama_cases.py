#!/usr/bin/env python3
"""Tries derived response templates on the raw outputs that llama.cpp's own tests expect to be understood.

    tests/corpus/llama_cases.py --obverse target/debug/obverse            # the score
    tests/corpus/llama_cases.py --obverse target/debug/obverse --docs     # writes docs/recorded.md
    tests/corpus/llama_cases.py --obverse target/debug/obverse --check    # fails if docs/recorded.md is not what is measured
    tests/corpus/llama_cases.py --obverse target/debug/obverse --wrong -  # every case that is read wrong, as JSON, one a line
    tests/corpus/llama_cases.py --cases                                   # the cases themselves, as JSON, one a line

Needs the corpus (`fetch.py`) and Python 3.10. The tests are read out of the package file that `fetch.py` pins; nothing of them is
kept.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import json
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import fetch  # noqa: E402
import llama_page  # noqa: E402
import llama_tests  # noqa: E402
from cpp_tokens import NotRead  # noqa: E402
from llama_tests import Case  # noqa: E402

PAGE = fetch.CHECKOUT / "docs" / "recorded.md"
TEMPLATES = fetch.CHECKOUT / "corpus" / "llamacpp"
SEED = 14
DATE = "2026-01-15"
REASONING = ["reasoning_content", "reasoning", "thinking"]
# What is taken for a marker in a chat template's source, to tell whether an expected text has markers left in it.
MARKER = re.compile(r"<[^<>\s{}'\"]{1,40}>|\[/?[A-Z_]{3,20}\]|<\|[^|<>]{1,40}\|?>")
NO_REASONING = "with the reasoning format `none` a reasoning stays in the content"
# What a case is read with: what the renders teach, and what responses teach beside them, with the messages that are expected or without;
# those of the other half, so that the case itself was held back, or those of its own.
READINGS = ["renders", "held messages", "held responses", "given messages", "given responses"]


class Failed(Exception):
    """Why nothing could be measured."""


@dataclasses.dataclass
class Tried:
    """A case and what came of it."""

    case: Case
    prefix: str
    half: int = 0
    read: dict = dataclasses.field(default_factory=dict)  # by reading: the message, or the error
    right: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Result:
    """What came of one chat template."""

    template: str
    tried: list
    left_out: collections.Counter
    derived: dict = dataclasses.field(default_factory=dict)  # the response template and the report, by what was given


# -- what is asked


def markers_of(template):
    return set(MARKER.findall((TEMPLATES / template).read_text(encoding="utf-8")))


def reason_to_leave_out(case, markers):
    """Why a case is not scored; None where it is."""
    if case.is_partial:
        return "the response is incomplete"
    if case.has_schema:
        return "a JSON schema decides how the response is read"
    content = case.expected["content"]
    has_markers = any(marker in content for marker in markers)
    if case.reasoning_format == "none" and has_markers:
        return NO_REASONING
    if has_markers and (not case.tools or case.tool_choice == "none"):
        return "without tools the markers of a call stay in the content"
    return None


def without(message, *keys):
    return {key: value for key, value in message.items() if key not in keys}


def renders(obverse, template, conversations):
    """The texts of conversations, each (messages, tools, kwargs, whether the model's turn begins); None where it cannot be rendered."""
    lines = []
    for messages, tools, kwargs, begins in conversations:
        line = {"messages": messages, "add_generation_prompt": begins, "kwargs": kwargs}
        lines.append(json.dumps({**line, "tools": tools} if tools is not None else line))
    done = run([obverse, "render", TEMPLATES / template, "--jsonl", "--date", DATE], "\n".join(lines))
    return [json.loads(line).get("text") for line in done.stdout.splitlines()]


def prefixes(obverse, template, cases):
    """What each response follows, None where that cannot be told.

    llama.cpp parses the generation prompt and the response as one text: the prompt says whether it opened a reasoning. Where the
    response goes on with a message of the model, that message is rendered as the last one and cut behind the text that is gone on
    with, which is what transformers does for `continue_final_message`.
    """
    wanted = []
    for at, case in enumerate(cases):
        if not case.continues:
            wanted.append((at, None, (case.messages, case.tools or None, case.kwargs, True)))
            continue
        *before, last = case.messages
        text = last["content"] if case.continues == "content" else last["reasoning_content"]
        for key in REASONING:
            renamed = {key if name == "reasoning_content" else name: value for name, value in last.items()}
            wanted.append((at, text, ([*before, renamed], case.tools or None, case.kwargs, False)))
    found = [None] * len(cases)
    # llama.cpp leaves `tools` undefined where there are none, and some chat templates cannot bear that they are none.
    wanted += [(at, text, (messages, tools or [], kwargs, begins)) for at, text, (messages, tools, kwargs, begins) in wanted]
    for (at, text, _), rendered in zip(wanted, renders(obverse, template, [one for *_, one in wanted])):
        if rendered is None or found[at] is not None:
            continue
        if text is None:
            found[at] = rendered
        elif text.strip() in rendered:
            end = rendered.rindex(text.strip()) + len(text.strip())
            # A reasoning before it is to be read as well, where the test says so.
            before = cases[at].expected.get("reasoning_content", "") if cases[at].continues == "content" else ""
            is_whole = before.strip() in rendered
            found[at] = rendered[:end] + text[len(text.rstrip()) :] if is_whole else None
    return found


def halves(number, template, seed):
    """In which half each of so many cases is: every second one in the other, in an order that the seed tells."""
    order = list(range(number))
    random.Random(f"{seed} {template}").shuffle(order)
    return [order.index(at) % 2 for at in range(number)]


# -- what is done


def run(command, given=""):
    done = subprocess.run([str(one) for one in command], input=given, capture_output=True, encoding="utf-8", check=False)
    if done.returncode not in (0, 1):
        raise Failed(f"{' '.join(str(one) for one in command)}: {done.stderr.strip()[-600:]}")
    return done


def derive(obverse, template, responses):
    """The response template and the report of a chat template, with the responses given."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [obverse, "derive", "--quiet", "--date", DATE, "--report", report, TEMPLATES / template]
        if responses:
            path = Path(folder) / "responses.jsonl"
            path.write_text("".join(json.dumps(one) + "\n" for one in responses), encoding="utf-8")
            command += ["--responses", path]
        done = run(command)
        return json.loads(done.stdout), json.loads(report.read_text(encoding="utf-8"))


def parsed(obverse, document, tried):
    """The message of each response, or {"error": ...}."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "template.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        lines = [json.dumps({"response": one.case.response, "prefix": one.prefix, "tools": one.case.tools}) for one in tried]
        done = run([obverse, "parse", "--quiet", "--jsonl", path], "\n".join(lines))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [answer if answer.get("error") else answer["message"] for answer in answers]


def recorded(one, key, with_message):
    """A line of a `.jsonl` of recorded responses."""
    case = one.case
    line = {"response": case.response, "prefix": one.prefix, "tools": case.tools, "id": case.name}
    if with_message:
        # The tests do not tell what white space stands around the texts.
        texts = {"content": case.expected["content"].strip(), key: case.expected.get("reasoning_content", "").strip()}
        rest = without(case.expected, "content", "reasoning_content")
        line["message"] = {**rest, **{name: text for name, text in texts.items() if text}}
    return line


def normal(message, has_ids):
    """A message as it is compared: white space around texts does not count, arguments are data, ids where they are expected."""

    def call(one):
        function = one.get("function", one)
        arguments = function.get("arguments") or {}
        if isinstance(arguments, str):
            try:
                arguments = json.loads(arguments)
            except ValueError:
                pass
        return [function.get("name"), arguments, one.get("id") if has_ids else None]

    reasoning = next((message[key] for key in REASONING if message.get(key)), "")
    content = message.get("content") or ""
    texts = [text.strip() if isinstance(text, str) else text for text in (content, reasoning)]
    return [*texts, [call(one) for one in message.get("tool_calls") or []]]


def is_right(message, expected, with_ids=True):
    if message.get("error"):
        return False
    has_ids = with_ids and any(call.get("id") for call in expected.get("tool_calls", []))
    return same(normal(message, has_ids), normal(expected, has_ids))


def same(left, right):
    """Equality of JSON, in which `true` is not 1, and the order of members does not count."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def result_of(obverse, template, cases, seed):
    """Derives a chat template's response template in all ways, and reads all of its cases."""
    markers = markers_of(template)
    result = Result(template, [], collections.Counter())
    kept = []
    for case in cases:
        reason = reason_to_leave_out(case, markers)
        if reason:
            result.left_out[reason] += 1
        else:
            kept.append(case)
    scored = []
    for case, prefix in zip(kept, prefixes(obverse, template, kept) if kept else []):
        if prefix is None:
            why = "the chat template does not render what the response goes on with" if case.continues else "the chat template does not render the conversation"
            result.left_out[why] += 1
        else:
            scored.append((case, prefix))
    result.tried = [Tried(case, prefix) for case, prefix in scored]
    if not scored:
        return result
    document, _ = result.derived["renders"] = derive(obverse, template, [])
    read(obverse, document, result.tried, lambda one: "renders")
    keeps = [not keeps_reasoning(one) for one in result.tried]
    result.left_out[NO_REASONING] += keeps.count(False)
    result.left_out = +result.left_out
    result.tried = [one for one, is_kept in zip(result.tried, keeps) if is_kept]
    for one, one_half in zip(result.tried, halves(len(result.tried), template, seed)):
        one.half = one_half
    key = key_of(document)
    for half in (0, 1):
        for name in ("messages", "responses"):
            lines = [recorded(one, key, name == "messages") for one in result.tried if one.half == half]
            if lines:
                result.derived[f"{name}.{half}"] = derive(obverse, template, lines)
            learnt, _ = result.derived.get(f"{name}.{half}", result.derived["renders"])
            read(obverse, learnt, result.tried, lambda one: f"{'given' if one.half == half else 'held'} {name}")
    return result


def read(obverse, document, tried, reading):
    """Reads all cases with a response template; `reading` says for each as what."""
    for one, message in zip(tried, parsed(obverse, document, tried)):
        one.read[reading(one)] = message
        one.right[reading(one)] = is_right(message, one.case.expected)


def keeps_reasoning(one):
    """Whether the test wants a reasoning that the prompt opened to be the content: the response begins with the content that is
    expected, and the renders read that as reasoning."""
    read = one.read["renders"]
    content = one.case.expected["content"].strip()
    begins = [text for text in (one.case.response, *map(read.get("message", read).get, REASONING)) if text and text.strip().startswith(content)]
    return one.case.reasoning_format == "none" and bool(content) and len(begins) == 2


def key_of(document):
    """What the field of the reasoning is called."""
    return next((one for one in REASONING if one in document.get("fields", {})), REASONING[0])


def results(obverse, cases, seed, workers=2):
    by_template = collections.defaultdict(list)
    for case in cases:
        by_template[case.template].append(case)
    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        done = pool.map(lambda template: result_of(obverse, template, by_template[template], seed), sorted(by_template, key=str.lower))
        return list(done)


# -- what is told


def shares(tried):
    """Of how many cases how many each reading has right."""
    return {"cases": len(tried), **{name: sum(one.right[name] for one in tried) for name in READINGS}}


def wrong(all_results):
    """Every case that a reading has wrong, with what there is to see."""
    for one in (one for result in all_results for one in result.tried):
        readings = [name for name in READINGS if not one.right[name]]
        if readings:
            yield {
                "name": one.case.name,
                "half": one.half,
                "wrong": readings,
                "wrong_by_ids_alone": [name for name in readings if is_right(one.read[name], one.case.expected, with_ids=False)],
                "prompt_ends": one.prefix[-60:],
                "response": one.case.response,
                "expected": one.case.expected,
                "read": {name: one.read[name] for name in readings},
            }


def table(found):
    """The score as people read it."""
    for name, tried in [*((result.template, result.tried) for result in found), ("all", [one for result in found for one in result.tried])]:
        row = shares(tried)
        numbers = ", ".join(f"{reading} {row[reading]:3}" for reading in READINGS)
        print(f"{name.removesuffix('.jinja'):50} {row['cases']:4} cases: {numbers}")


def keep(found, folder):
    """Writes the response templates and the reports of all runs."""
    folder.mkdir(parents=True, exist_ok=True)
    for result in found:
        for name, (document, report) in result.derived.items():
            stem = f"{result.template.removesuffix('.jinja')}.{name}"
            (folder / f"{stem}.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
            (folder / f"{stem}.report.json").write_text(json.dumps(report, indent=1), encoding="utf-8")


def checked(text, found):
    """What is not as it must be: the page, and the reasons of what is wrong."""
    names = [one.case.name for result in found for one in result.tried if not one.right["held messages"]]
    _, without, unused = llama_page.explained(names)
    for name in without:
        yield f"{name} is read wrong, and {llama_page.REASONS.name} has no reason"
    for pattern in unused:
        yield f"{llama_page.REASONS.name} has a reason for {pattern}, of which nothing is read wrong"
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        yield f"{PAGE.relative_to(fetch.CHECKOUT)} is stale: write it anew with --docs, and read the difference"


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("--obverse", type=Path, default=fetch.CHECKOUT / "target" / "debug" / "obverse")
    usage.add_argument("--seed", type=int, default=SEED, help="decides how the cases are halved")
    usage.add_argument("--only", default="", help="a part of the name of chat templates")
    usage.add_argument("--cases", action="store_true", help="write the cases as JSON, one a line, and end")
    usage.add_argument("--wrong", type=argparse.FileType("w", encoding="utf-8"), help="where to write what is read wrong; - for standard output")
    usage.add_argument("--keep", type=Path, help="a folder for the response templates and reports")
    usage.add_argument("--docs", action="store_true", help="write the page")
    usage.add_argument("--check", action="store_true", help="fail if the page is stale, or something is wrong without a reason")
    given = usage.parse_args()
    if (given.docs or given.check) and (given.only or given.seed != SEED):
        usage.error("the page is about all cases, halved by the default seed")
    cases, unusable = llama_tests.cases_of(llama_tests.source())
    cases = [case for case in cases if given.only.lower() in case.template.lower()]
    if given.cases:
        for case in cases:
            print(json.dumps(dataclasses.asdict(case), ensure_ascii=False))
        return 0
    if not TEMPLATES.is_dir():
        raise Failed(f"{TEMPLATES} is not there: fetch it with tests/corpus/fetch.py")
    found = results(given.obverse.resolve(), cases, given.seed)
    if given.wrong:
        for one in wrong(found):
            given.wrong.write(json.dumps(one, ensure_ascii=False) + "\n")
    if given.keep:
        keep(found, given.keep)
    table(found)
    left_out = sum((result.left_out for result in found), collections.Counter(unusable))
    for reason, number in left_out.most_common():
        print(f"left out: {number}, {reason}")
    text = llama_page.page(found, unusable, left_out, shares, given.seed, len(cases) + unusable.total())
    if given.docs:
        PAGE.write_text(text, encoding="utf-8")
    problems = list(checked(text, found)) if given.check else []
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Failed, fetch.Failure, NotRead, OSError) as error:
        sys.exit(f"llama_cases.py: {error}")
