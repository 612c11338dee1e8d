"""The page that tells how recorded responses are read: `docs/recorded.md`."""

import fnmatch
from pathlib import Path

import fetch

REASONS = Path(__file__).resolve().parent / "llama_reasons.tsv"
COLUMNS = {
    "renders": "by renders",
    "held messages": "held back, *messages*",
    "held responses": "held back, *responses*",
    "given messages": "given, *messages*",
    "given responses": "given, *responses*",
}
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
reasoning was opened. If the model is to continue an assistant message, that message is rendered and cut after the text
to be continued.

The cases of a chat template are halved: every second one in an order that a seed decides ({seed}) is in the other half. Each half
is used for learning once. Every case is then read twice: with what the other half taught (*held back*), and with what its own half taught (*given*). In the columns *messages*
the given responses stand beside the messages that are expected of them; in the columns *responses* they stand alone. The last row is all
cases, those of the half that was given and those of the half that was held back, as the mean of giving either half.

This page is written by `tests/corpus/llama_cases.py --docs`; with `--check` the same script fails when the page is stale, and where
something is wrong of which `llama_reasons.tsv` does not say why. `--wrong FILE` writes every case that is read wrong.
"""


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


def together(names, also):
    """Names of cases, those of a chat template in one; those that are in `also` in italics."""
    lines = {}
    for name in names:
        template, line = name.rsplit(":", 1)
        lines.setdefault(template, []).append(f"*{line}*" if name in also else line)
    return "; ".join(f"{template} {', '.join(some)}" for template, some in lines.items())


def both(row):
    """The row of all cases where half of them are given: the mean of the two ways to halve them."""
    right = (row["held messages"] + row["given messages"]) / 2
    return f"| all, half of them given and half of them held back, *messages* | {right:g} of {row['cases']} | {100 * right / row['cases']:.1f} % |"


def page(results, unusable, left_out, shares, seed, total):
    """The page; `shares` counts what is right of some tried cases, `total` is how many tests there are."""
    package = next(one for one in fetch.SOURCES if one.folder == "llamacpp")
    tests = "vendor/llama.cpp/tests/test-chat.cpp"
    lines = [INTRO.format(tests=tests, package=package, cases=total, templates=len(results), seed=seed)]
    all_tried = [one for result in results for one in result.tried]
    row = shares(all_tried)
    lines += [
        "| of all chat templates | right | |",
        "|---|---|---|",
        *[f"| {name} | {row[key]} of {row['cases']} | {100 * row[key] / row['cases']:.1f} % |" for key, name in COLUMNS.items()],
        both(row),
        "",
        "Left out:",
        "",
        *[f"- {number}: {why};" for why, number in left_out.most_common()],
        "- none because the C++ was not understood." if not unusable else f"- {unusable.total()} of them because the C++ was not understood.",
        "",
        "## By chat template",
        "",
        f"| chat template | cases | {' | '.join(COLUMNS.values())} |",
        "|---" * (2 + len(COLUMNS)) + "|",
    ]
    for result in results:
        row = shares(result.tried)
        if row["cases"]:
            lines.append(f"| {result.template.removesuffix('.jinja')} | {row['cases']} | " + " | ".join(str(row[key]) for key in COLUMNS) + " |")
    wrong = [one for one in all_tried if not one.right["held messages"]]
    groups, without, _ = explained([one.case.name for one in wrong])
    also = {one.case.name for one in wrong if not one.right["given messages"]}
    lines += [
        "",
        "## What is still wrong",
        "",
        f"Held back, and read wrong after the other half was given with its messages: {len(wrong)}. Those in italics are wrong, too, where they are given themselves.",
        "",
    ]
    lines += [f"- {len(names)}: {why} ({together(names, also)})" for why, names in sorted(groups.items(), key=lambda group: -len(group[1]))]
    lines += [f"- {together(without, also)}: not looked into"] if without else []
    worse = {one.case.name: [COLUMNS[key] for key in COLUMNS if not one.right[key]] for one in all_tried if one.right["renders"]}
    worse = [f"{name} ({', '.join(readings)})" for name, readings in worse.items() if readings]
    lines += ["", "Right by renders alone, and wrong after learning: " + ("; ".join(worse) if worse else "none") + ".", ""]
    return "\n".join(lines)
