"""The page that tells how recorded responses are read: `docs/recorded.md`."""

import fnmatch
from pathlib import Path

import fetch

REASONS = Path(__file__).resolve().parent / "llama_reasons.tsv"
INTRO = """\
# Recorded responses

How many raw outputs of models are read right with what `obverse derive` derives from their chat template: by what the renders alone teach,
and after half of the outputs were given with `--responses`. They are the outputs that llama.cpp's own tests expect to be understood
(`{tests}` in {package}, {cases} tests of {templates} chat templates). None of them is kept here:
`tests/corpus/llama_cases.py` reads them out of that file, by carrying out its C++, and makes a case of each: a response, the prompt before
it, the tools, and the message that must come of it. A case is named by its chat template and the line of the test.

What is compared: the content and the reasoning without white space around them, under whichever key the reasoning stands; the calls with
their names and with their arguments as data; their ids where the test expects some. The prompt is what the chat template renders for the
conversation of the test, with `enable_thinking` as the test has it, up to the beginning of the model's turn; it says itself whether a
reasoning was opened. Where a test lets the model go on with a message of its own, that message is rendered and cut behind the text that is
gone on with.

*Given* is every second case of a chat template, in an order that a seed decides ({seed}); the others are *held back*. In the columns
*messages* the given responses stand beside the messages that are expected of them; in the columns *responses* they stand alone.

This page is written by `tests/corpus/llama_cases.py --docs`; with `--check` the same script fails when the page is stale. `--wrong FILE`
writes every case that is read wrong, and `--swap` gives the half that is held back here.
"""


def share(right, number):
    return f"{right} of {number} ({100 * right / number:.1f} %)" if number else "—"


def reasons():
    """Patterns of cases' names with the reason why what they match is read wrong, in the order of the file."""
    lines = [line for line in REASONS.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return [tuple(line.split("\t")) for line in lines]


def explained(wrong):
    """The names of cases that are read wrong, by reason; those without one; and the patterns that match none."""
    groups = {why: [] for _, why in reasons()}
    used = set()
    without = []
    for name in wrong:
        found = next((one for one in reasons() if fnmatch.fnmatchcase(name, one[0])), None)
        if found:
            groups[found[1]].append(name)
            used.add(found)
        else:
            without.append(name)
    return {why: names for why, names in groups.items() if names}, without, [one[0] for one in reasons() if one not in used]


def together(names):
    """Names of cases, those of a chat template in one."""
    lines = {}
    for name in names:
        template, line = name.rsplit(":", 1)
        lines.setdefault(template, []).append(line)
    return "; ".join(f"{template} {', '.join(some)}" for template, some in lines.items())


def page(results, unusable, numbers, shares, seed, total):
    """The page; `shares` counts what is right of some tried cases, `total` is how many tests there are."""
    package = next(one for one in fetch.SOURCES if one.folder == "llamacpp")
    tests = "vendor/llama.cpp/tests/test-chat.cpp"
    lines = [INTRO.format(tests=tests, package=package, cases=total, templates=len(results), seed=seed)]
    all_tried = [one for result in results for one in result.tried]
    row = shares(all_tried)
    lines += [
        "| of all chat templates | cases | by renders | *messages* | *responses* |",
        "|---|---|---|---|---|",
        f"| held back | {row['held']} | {share(row['held_renders'], row['held'])} | {share(row['held_messages'], row['held'])} | {share(row['held_responses'], row['held'])} |",
        f"| given | {row['given']} | {share(row['given_renders'], row['given'])} | {share(row['given_messages'], row['given'])} | {share(row['given_responses'], row['given'])} |",
        "",
        "Left out:",
        "",
        *[f"- {number}: {why};" for why, number in numbers.most_common()],
        *([] if unusable else ["- none because the C++ was not understood."]),
        "",
        "## By chat template",
        "",
        "| chat template | cases | by renders | held back | by renders | *messages* | *responses* | given | *messages* | *responses* |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    columns = ["cases", "renders", "held", "held_renders", "held_messages", "held_responses", "given", "given_messages", "given_responses"]
    for result in results:
        row = shares(result.tried)
        if row["cases"]:
            lines.append(f"| {result.template.removesuffix('.jinja')} | " + " | ".join(str(row[key]) for key in columns) + " |")
    lines += ["", "## What is still wrong", "", "Read wrong although half of the responses were given with their messages, and why:", ""]
    for is_given, head in ((False, "Held back"), (True, "Given")):
        wrong = [one.case.name for one in all_tried if one.is_given == is_given and not one.right["messages"]]
        groups, without, _ = explained(wrong)
        lines += [f"### {head}: {len(wrong)}", ""]
        lines += [f"- {len(names)}: {why} ({together(names)})" for why, names in sorted(groups.items(), key=lambda group: -len(group[1]))]
        lines += [f"- {name}: not looked into" for name in without]
        lines.append("")
    worse = [(one.case.name, [name for name in ("messages", "responses") if not one.right[name]]) for one in all_tried if one.right["renders"]]
    worse = [f"{name} ({', '.join(runs)})" for name, runs in worse if runs]
    lines += ["Right by renders alone, and wrong after learning: " + ("; ".join(worse) if worse else "none") + ".", ""]
    return "\n".join(lines)
