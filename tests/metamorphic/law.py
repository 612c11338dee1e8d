"""Holds `obverse derive` to the metamorphic law: a chat template with other markers gives the same result with other markers.

    python tests/metamorphic/law.py                            every chat template under every map and every other law
    python tests/metamorphic/law.py --map brackets --map keys  under these alone
    python tests/metamorphic/law.py --filter '*qwen3*'         those chat templates alone
    python tests/metamorphic/law.py path/to/x.jinja --verbose

See README.md beside this file. The exit status is 1 if anything differs that known.txt does not list.
"""

import argparse
import fnmatch
import functools
import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import changes  # noqa: E402
import documents  # noqa: E402
import markers  # noqa: E402
import rendering  # noqa: E402
from changes import ChatTemplate, Skip  # noqa: E402
from jinja_source import NotJinja, kwargs, texts, unified  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
KNOWN = Path(__file__).resolve().parent / "known.txt"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>"}
LAWS = [*markers.MAPS, *changes.SIGN_MAPS, *changes.OTHER_LAWS]
HEADING = """\
# Where the law is known not to hold: the source, the laws, and what differs (status, verdict, kinds, rounds, template), with tabs
# between them; * stands for all. To be emptied. `law.py --update-known` writes it anew.
"""


# Texts of every day have signs and words in them that some markers have too, and are not renamed with the markers. So the law is that of what renders alone tell.
AS_RENDERED = ("--prefer", "ordinary text=may be a marker")


class Difference(NamedTuple):
    """Something that a derivation of the changed chat template says otherwise."""

    part: str  # status, verdict, kinds, rounds or template
    what: str  # the same for differences of the same sort
    expected: Any
    found: Any


class Outcome(NamedTuple):
    """What became of a chat template under a law: differences, or why it was skipped, and what was left as it is."""

    name: str
    law: str
    skipped: str = ""
    differences: tuple = ()
    left: tuple = ()  # markers that were not renamed, with the reason
    renamed: int = 0


def arguments():
    parser = argparse.ArgumentParser(prog="law.py", description="Holds `obverse derive` to the metamorphic law; see README.md beside this file.")
    parser.add_argument("sources", nargs="*", type=Path, help="chat templates, tokenizer_config.json files, or folders of chat templates; else all that are at hand")
    parser.add_argument("--map", action="append", choices=LAWS, metavar="NAME", help=f"one of {', '.join(LAWS)}; may be given several times")
    parser.add_argument("--filter", default="*", metavar="GLOB", help="only sources whose path matches")
    parser.add_argument("--sample", type=int, metavar="N", help="only N sources, the same each time")
    parser.add_argument("--obverse", type=Path, metavar="PATH", help="the binary; else $OBVERSE, target/release/obverse or target/debug/obverse")
    parser.add_argument("--known", type=Path, default=KNOWN, metavar="FILE", help="the list of known differences")
    parser.add_argument("--update-known", action="store_true", help="write that list anew; what was not tried stays in it")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all outcomes there")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write changed chat templates and what is derived from them there")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="how many chat templates are tried at the same time")
    parser.add_argument("--verbose", action="store_true", help="tell what was skipped as well")
    return parser.parse_args()


def binary(given):
    for path in (given, os.environ.get("OBVERSE"), ROOT / "target/release/obverse", ROOT / "target/debug/obverse"):
        if path and Path(path).exists():
            return [str(Path(path).resolve())]
    sys.exit("no obverse binary: build it, or name it with --obverse")


def sources(given):
    """The paths of all chat templates."""
    if not given:
        given = [ROOT / "chat_templates", ROOT / "tests/invented", *sorted((ROOT / "corpus").glob("*/"))]
    for path in given:
        yield from sorted(path.glob("*.jinja")) if path.is_dir() else [path]


def label(path):
    path = Path(os.path.abspath(path))
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def load(path):
    """The chat template of a file, with the special tokens of a tokenizer_config.json: `"eos_token": {"content": "<e>"}` gives `<e>`."""
    if path.suffix != ".json":
        return ChatTemplate(label(path), unified(path.read_bytes().decode()), TOKENS)
    config = json.loads(path.read_text(encoding="utf-8"))
    found = {name: config.get(name) for name in TOKENS}
    tokens = {name: token["content"] if isinstance(token, dict) else token for name, token in found.items() if token}
    return ChatTemplate(label(path), unified(config["chat_template"]), {**TOKENS, **tokens})


class Bench:
    """A chat template on trial: its renders, what is derived from it, and which of its markers cannot be renamed."""

    def __init__(self, obverse, chat, folder):
        self.obverse, self.chat, self.folder = obverse, chat, folder
        self.own_texts = list(texts(chat.pieces))
        self.all_markers = changes.markers_of(chat)
        self.kwargs = kwargs(chat.source)
        plain = list(rendering.lines(self.kwargs))
        self.lines = plain + list(rendering.spoken_lines(self.all_markers))
        self.before = self.renders(chat.source, chat.tokens, self.lines)
        self.seen = list(dict.fromkeys(text for text in self.before.texts if text))
        self.shown = [text for text in dict.fromkeys(self.before.texts[: len(plain)]) if text]
        self.parts = markers.made_of_parts(self.shown[:40], self.own_texts, self.all_markers)
        self.unfit = {}
        self.origins = None
        self.derived = None

    def path(self, law, suffix=".jinja"):
        folder = self.folder / law
        folder.mkdir(parents=True, exist_ok=True)
        return folder / (self.chat.name.replace("/", "@").removesuffix(".jinja") + suffix)

    def renders(self, source, tokens, asked, law="original", origins=False):
        path = self.path(law)
        path.write_text(source, encoding="utf-8", newline="")
        return rendering.Renders(self.obverse, path, tokens, asked, origins)

    def disagreement(self, change, law):
        """Why a change was not made rightly, as its renders show; None if they are as they should be."""
        by_origins = change.written is not changes.same
        if by_origins and self.origins is None:
            self.origins = self.renders(self.chat.source, self.chat.tokens, self.lines, origins=True)
        before = self.origins if by_origins else self.before
        asked = [rendering.changed_line(line, change) for line in self.lines]
        return rendering.disagreement(before, self.renders(change.source, change.tokens, asked, law), change, by_origins)

    def change(self, law, kept=(), longer=()):
        """The changed chat template, whose renders are as they should be, with the markers `kept` as they are and three signs for each of
        those in `longer`."""
        if not self.seen and law not in changes.SAME_PROGRAM:
            raise Skip("it refuses every conversation, so that no render shows whether the change is right")
        if law in markers.MAPS:
            make = functools.partial(changes.renamed_markers, longer=longer)
            return self.with_renamed(law, [marker for marker in self.all_markers if marker not in kept], make)
        if law in changes.SIGN_MAPS:
            return self.with_renamed(law, changes.signs_of(self.chat, law), changes.renamed_signs)
        change = changes.OTHER_LAWS[law](self.chat)
        if self.disagreement(change, law):
            raise Skip("the changed chat template renders otherwise")
        return change

    def with_renamed(self, law, candidates, make):
        """The chat template with as many markers or signs renamed as can be. One that cannot be renamed alone is left as it is."""
        chosen = [marker for marker in candidates if marker not in self.unfit]
        for attempt in range(2):
            if not any(marker in text for marker in chosen for text in (*self.own_texts, *self.shown)):
                raise Skip("nothing can be renamed on its own" if set(candidates) & set(self.unfit) else "there is nothing to rename")
            try:
                change = make(self.chat, law, chosen, self.seen)
                if not self.disagreement(change, law):
                    return change
            except NotJinja:
                pass
            if not attempt:
                self.unfit.update({marker: reason for marker in chosen if (reason := self.unfitness(law, marker, make))})
                chosen = [marker for marker in chosen if marker not in self.unfit]
        raise Skip("each marker can be renamed, but not all together")

    def unfitness(self, law, marker, make):
        """Why a marker cannot be renamed on its own; nothing if it can."""
        try:
            change = make(self.chat, law, [marker], self.seen)
        except NotJinja:
            return "its image makes signs of Jinja with its neighbours"
        found = self.disagreement(change, law)
        if not found:
            return ""
        _, new, index = found
        if new and marker in new and marker not in json.dumps(self.lines[index], ensure_ascii=False):
            return "it is also made of parts"
        return "the source also looks at a part of it or at its length, or treats it otherwise than other text"

    def derive(self, source, tokens, law):
        """What `obverse derive` says: exit status, report and response template."""
        path = self.path(law)
        path.write_text(source, encoding="utf-8", newline="")
        tokens = rendering.token_options(tokens)
        command = [*self.obverse, "derive", "--color=never", *tokens, *AS_RENDERED, "--out-dir", str(path.parent), str(path)]
        report, document = self.path(law, ".report.json"), self.path(law, ".json")
        for old in (report, document):
            old.unlink(missing_ok=True)
        try:
            status = subprocess.run(command, capture_output=True, timeout=300).returncode
        except subprocess.TimeoutExpired:
            status = "no end"
        return status, *(json.loads(file.read_text(encoding="utf-8")) if file.exists() else None for file in (report, document))

    def try_law(self, law):
        """The outcome under a law. If the result is another one, it is tried whether what the renaming takes away besides names is why:
        markers that are alike are so no longer, and a single sign may be a part of a longer marker."""
        outcome = self.try_with(law)
        others = []
        if outcome.differences and law in markers.UNLIKE:
            others.append((markers.told_by_likeness(self.all_markers, self.own_texts), ()))
        if outcome.differences and law == "signs":
            others.append(((), markers.beside_others(self.all_markers, self.own_texts)))
        for kept, longer in others:
            if kept or longer:
                other = self.try_with(law, kept, longer)
                if not other.skipped and not other.differences:
                    return other
        return outcome

    def try_with(self, law, kept=(), longer=()):
        try:
            change = self.change(law, kept, longer)
        except (Skip, NotJinja, markers.NoImages, rendering.Failed) as reason:
            return Outcome(self.chat.name, law, skipped=str(reason))
        if self.derived is None:
            self.derived = self.derive(self.chat.source, self.chat.tokens, "original")
        found = self.derive(change.source, change.tokens, law)
        candidates, parts = (self.all_markers, self.parts) if law in markers.MAPS else ((), ())
        left = [(marker, self.unfit[marker]) for marker in candidates if marker in self.unfit] + [(marker, "it is made of parts") for marker in parts]
        left += [(marker, "nothing but its likeness to another one tells where it ends") for marker in kept]
        left += [(marker, "it has three signs, since one may be a part of a longer marker") for marker in longer]
        return Outcome(
            self.chat.name,
            law,
            differences=tuple(compared(self.derived, found, change)),
            left=tuple(left),
            renamed=sum(any(name in text for text in (*self.own_texts, *self.shown)) for name in change.names),
        )


def compared(original, other, change):
    """How the derivation of a changed chat template differs from what the change makes of the original's."""
    for part, expected, found in zip(("status",), original, other):
        if expected != found:
            yield Difference(part, f"status {expected} becomes {found}", expected, found)
    if original[1] is None or other[1] is None:
        return
    expected, found = original[1], other[1]
    if expected["verdict"] != found["verdict"]:
        yield Difference("verdict", f"verdict {expected['verdict']} becomes {found['verdict']}", expected["verdict"], found["verdict"])
    yield from compared_kinds(expected["kinds"], found["kinds"], change)
    # How often a response is cut short follows from its length, and so from the length of the markers in it.
    other_lengths = change.text is not changes.same or change.written is not changes.same
    for name in dict.fromkeys([*expected["rounds"], *found["rounds"]]):
        if name in ("cut", "passed", "injected", "skipped", "alike") and other_lengths:
            continue
        one, two = expected["rounds"].get(name), found["rounds"].get(name)
        if other_lengths:
            # With other signs beside texts other texts are tried, as many as there are signs: whether some fail counts, not how many.
            one, two = bool(one), bool(two)
        if one != two:
            yield Difference("rounds", f"rounds: {name}", one, two)
    if original[2] != other[2] or change.document is not changes.same:
        yield from compared_documents(original[2], other[2], change)


def compared_kinds(expected, found, change):
    one, two = ({row["kind"]: row for row in rows} for rows in (expected, found))
    for kind in dict.fromkeys([*one, *two]):
        rows = [row.get(kind, {}) for row in (one, two)]
        if change.text is not changes.same or change.written is not changes.same:
            rows = [in_whole(row) for row in rows]
        for key in ("rendered", "tried", "came_back", "alike", "manner"):
            was, now = (row.get(key) for row in rows)
            if now not in (was, words(was, change)):
                yield Difference("kinds", f"kinds: {key}", {kind: was}, {kind: now})
        was, now = ([(reason["count"], reason["why"]) for reason in row.get("left_out", [])] for row in rows)
        if now not in (was, [(count, words(why, change)) for count, why in was]):
            yield Difference("kinds", "kinds: left out", {kind: was}, {kind: now})


def in_whole(row):
    """A kind's row without numbers: whether it was tried, and whether all of it came back, or stood for another message. The judge tries
    texts with the signs in them that stand beside texts, so that other signs make other numbers."""
    back = row.get("came_back", 0) + row.get("alike", 0) >= row.get("tried", 0)
    reasons = sorted({reason["why"] for reason in row.get("left_out", [])})
    return {
        **row,
        "tried": row.get("tried", 0) > 0,
        "came_back": back,
        "alike": None,
        "left_out": [{"count": 0, "why": why} for why in reasons],
    }


def words(said, change):
    """What a report says, if it quotes the chat template; its own words may hold the same signs and stay as they are."""
    return change.text(said) if isinstance(said, str) else said


def compared_documents(original, other, change):
    if original is None or other is None:
        if original is not other:
            yield Difference("template", "a response template is missing", original is not None, other is not None)
        return
    original, other = documents.shortened(original), documents.shortened(other)
    expected = documents.normal(change.document(original), change.first_signs)
    found = documents.normal(documents.with_keys(other, {}) if change.written is not changes.same else other, change.first_signs)
    differing = list(documents.differences(expected, found))
    by_path = {path: (was, now) for path, was, now in differing}
    for path, (was, now) in by_path.items():
        place = ".".join(str(step) for step in path if not isinstance(step, int))
        twin = other_sort(path)
        if was is None and twin in by_path:
            continue  # it takes the place of the other one, with which it is told
        if now is None and twin in by_path:
            yield Difference("template", f"{place} becomes {twin[-1]}", was, by_path[twin][1])
        else:
            yield Difference("template", f"{place}: {manner(was, now)}", was, now)


def other_sort(path):
    """The path of the same delimiter as the other sort, a pattern or a literal: `close_pattern` for `close`."""
    if not path or not isinstance(path[-1], str):
        return None
    last = path[-1]
    return (*path[:-1], last.removesuffix("_pattern") if last.endswith("_pattern") else last + "_pattern")


def manner(was, now):
    """In which way two parts of a response template differ."""
    if was is None:
        return "is new"
    if now is None:
        return "is gone"
    if isinstance(was, str) and isinstance(now, str):
        if loose(was) == loose(now):
            return "white space alone"
        if loose(documents.without_sets(was)) == loose(documents.without_sets(now)):
            return "the signs of a set"
        if loose(was) in loose(now):
            return "has more"
        if loose(now) in loose(was):
            return "has less"
    return "is another"


def loose(pattern):
    return pattern.replace("\\s*", "").replace("\\n", "").replace("?", "").replace(" ", "").replace("\n", "")


def shown(value, limit=300):
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= limit else text[: limit // 2] + " … " + text[-limit // 2 :]


def read_known(path):
    """The known differences of a file, each as (source, law, part). A line has a source, laws and parts, with tabs between them
    and spaces within: `x.jinja`, `words script`, `kinds rounds` stands for four."""
    known = set()
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        if line.strip() and not line.startswith("#"):
            source, laws, parts = line.split("\t")
            known |= {(source, law, part) for law in laws.split() for part in parts.split()}
    return known


def entry_for(known, name, law, part):
    """The entry of a list that speaks of a difference: `*` stands for every source, law or part."""
    for entry in ((a, b, c) for a in (name, "*") for b in (law, "*") for c in (part, "*")):
        if entry in known:
            return entry
    return None


def write_known(path, known, outcomes):
    """Writes the list anew. Entries for what was not tried stay."""
    tried = {(outcome.name, outcome.law) for outcome in outcomes}
    kept = {entry for entry in known if entry[:2] not in tried}
    new = {(o.name, o.law, d.part) for o in outcomes for d in o.differences if not entry_for(kept, o.name, o.law, d.part)}
    parts = defaultdict(set)
    for name, law, part in kept | new:
        parts[name, law].add(part)
    laws = defaultdict(list)
    for (name, law), some in sorted(parts.items()):
        laws[name, " ".join(sorted(some))].append(law)
    lines = sorted(f"{name}\t{' '.join(some)}\t{alike}\n" for (name, alike), some in laws.items())
    path.write_text(HEADING + "".join(lines), encoding="utf-8")


def tell(outcome, known, used, verbose):
    """Prints a line for each difference; how many are not known."""
    new = 0
    if outcome.skipped and verbose:
        print(f"skipped  {outcome.name}  {outcome.law}: {outcome.skipped}")
    for difference in outcome.differences:
        entry = entry_for(known, outcome.name, outcome.law, difference.part)
        used.add(entry)
        new += entry is None
        word = "differs" if entry is None else "known  "
        expected, found = (shown(json.dumps(value, ensure_ascii=False)) for value in (difference.expected, difference.found))
        print(f"{word}  {outcome.name}  {outcome.law}: {difference.what}: expected {expected}, found {found}", flush=True)
    return new


def counted(reasons):
    return "; ".join(f"{count} {reason}" for reason, count in Counter(reasons).most_common()) or "none"


def summary(outcomes, laws, sources_count):
    for law in laws:
        mine = [outcome for outcome in outcomes if outcome.law == law]
        skips = [outcome.skipped for outcome in mine if outcome.skipped]
        differ = sum(bool(outcome.differences) for outcome in mine)
        parts = [part for outcome in mine for part in {difference.part for difference in outcome.differences}]
        line = f"{law:17} {len(mine) - differ - len(skips):4} hold, {differ:4} differ, {len(skips):4} skipped"
        line += f"; in {', '.join(f'{part} {count}' for part, count in Counter(parts).most_common())}" if parts else ""
        print(line + (f" ({counted(skips)})" if skips else ""))
    left = [reason for outcome in outcomes for _, reason in outcome.left]
    print(f"markers renamed: {sum(o.renamed for o in outcomes if o.law in markers.MAPS)}; left as they are: {counted(left)}")
    print("the most frequent differences, by chat templates and laws:")
    kinds = Counter(what for outcome in outcomes for what in {d.what for d in outcome.differences})
    for what, count in kinds.most_common(10):
        examples = [f"{o.name} ({o.law})" for o in outcomes if any(d.what == what for d in o.differences)]
        print(f"  {count:5}  {what}: {', '.join(examples[:3])}{' …' if len(examples) > 3 else ''}")
    skips = [outcome.skipped for outcome in outcomes if outcome.skipped]
    differ = sum(bool(outcome.differences) for outcome in outcomes)
    hold = len(outcomes) - differ - len(skips)
    print(f"{sources_count} templates x {len(laws)} maps: {hold} hold, {differ} differ, {len(skips)} skipped ({counted(skips)})")


def try_laws(task):
    """The outcomes of a chat template under each of the laws."""
    obverse, path, folder, laws = task
    try:
        bench = Bench(obverse, load(path), folder)
    except (NotJinja, rendering.Failed, KeyError) as reason:
        return [Outcome(label(path), law, skipped=f"it cannot be tried: {reason}") for law in laws]
    return [bench.try_law(law) for law in laws]


def main():
    options = arguments()
    obverse, laws = binary(options.obverse), options.map or LAWS
    paths = [path for path in sources(options.sources) if fnmatch.fnmatch(label(path), options.filter)]
    if options.sample and options.sample < len(paths):
        paths = sorted(random.Random(1).sample(paths, options.sample))
    known, used, outcomes, new = read_known(options.known), set(), [], 0
    began = time.time()
    with tempfile.TemporaryDirectory() as temporary, multiprocessing.Pool(options.jobs) as pool:
        tasks = [(obverse, path, options.keep or Path(temporary), laws) for path in paths]
        for some in pool.imap(try_laws, tasks):
            outcomes += some
            for outcome in some:
                new += tell(outcome, set() if options.update_known else known, used, options.verbose)
    print()
    summary(outcomes, laws, len(paths))
    print(f"{time.time() - began:.0f} s")
    if options.json:
        everything = [{**outcome._asdict(), "differences": [difference._asdict() for difference in outcome.differences]} for outcome in outcomes]
        options.json.write_text(json.dumps(everything, ensure_ascii=False, indent=1), encoding="utf-8")
    if options.update_known:
        write_known(options.known, known, outcomes)
        return 0
    tried = {(outcome.name, outcome.law) for outcome in outcomes}
    if stale := sorted(entry for entry in known - used if entry[:2] in tried):
        print(f"known differences that were not seen: {len(stale)}")
        for entry in stale:
            print("  " + "\t".join(entry))
    print(f"{new} differences that are not known")
    return 1 if new else 0


if __name__ == "__main__":
    sys.exit(main())
