"""Times `obverse check` over ten thousand fixtures, and transformers over the same responses.

    cargo build --release                       # the binary, at the top of the repository
    .venv/bin/python benches/check.py [--fixtures N] [--sample N] [--binary FILE] [--keep FOLDER]

The fixtures are made of those in `fixtures/`: of each that parses, variants with longer texts, so that responses of all formats and of many
lengths are among them. Each is parsed whole and in sixteen chunkings, by both. Obverse also splits each between prompt and response
and cuts it short, at every byte of a short one; transformers does not, and does `--sample` fixtures alone, of which the time for all
is worked out. Processor time is told beside the time on the clock, which other work on the machine makes longer.
"""

import argparse
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
# What the probes of the fixtures say, in the place of which longer texts are put.
WORDS = ["Zephyr wold", "Brindle oxbow", "violet mast", "opal drift", "saffron reef", "hazel dune"]
LETTERS = (
    "the model answers and then it thinks again about what was asked of it while rain falls on the roof of a house that nobody "
    "has seen for years and a caf\u00e9 at the corner sells 12 kinds of tea"
).split()
# A response has so many words in the place of each text: mostly few, sometimes very many.
LENGTHS = [1, 3, 8, 20, 20, 40, 80, 150, 300]


def sources():
    """Every fixture of the project that parses: its response template's name and its line."""
    found = []
    for suite in sorted((ROOT / "fixtures").glob("*.jsonl")):
        found += [(suite.stem, json.loads(line)) for line in suite.read_text().splitlines()]
    for folder in sorted(path for path in (ROOT / "fixtures").glob("*/*") if path.is_dir()):
        line = {"name": folder.name, "response": (folder / "response.txt").read_bytes().decode()}
        for key, file in (("prefix", "prefix.txt"),):
            if (folder / file).exists():
                line[key] = (folder / file).read_bytes().decode()
        for key in ("expected", "tools", "error"):
            if (folder / f"{key}.json").exists():
                line[key] = json.loads((folder / f"{key}.json").read_text())
        found.append((folder.parent.name, line))
    return [(name, line) for name, line in found if "error" not in line and line["name"] != "truncated"]


def variant(line, rng):
    """The fixture with other, longer texts."""
    text = json.dumps({"response": line["response"], "expected": line["expected"]}, ensure_ascii=False)
    for word in WORDS:
        longer = " ".join(rng.choices(LETTERS, k=rng.choice(LENGTHS)))
        text = text.replace(word, longer)
    return {**line, **json.loads(text)}


def make(folder, count):
    """A project with so many fixtures; returns their response templates and lines."""
    rng = random.Random(7)
    known = sources()
    suites = {}
    for number in range(count):
        name, line = known[number % len(known)]
        suites.setdefault(name, []).append({**variant(line, rng), "name": f"{line['name']} {number}"})
    (folder / "derived").mkdir(parents=True, exist_ok=True)
    (folder / "fixtures").mkdir(exist_ok=True)
    (folder / "obverse.toml").write_text(
        '[[template]]\nfiles = ["derived/*.json"]\nfixtures = ["fixtures/{name}.jsonl"]\n'
    )
    for name, lines in suites.items():
        (folder / f"derived/{name}.json").write_text((ROOT / f"derived/{name}.json").read_text())
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (folder / f"fixtures/{name}.jsonl").write_text(text)
    return [(name, line) for name, lines in suites.items() for line in lines]


def chunkings(response, rng):
    """Sixteen ways to cut a response: eight small sizes, four larger ones, four random ones. As `obverse check` does it."""
    size = len(response)
    sizes = list(range(1, 9)) + [rng.randint(9, max(9, size - 1)) for _ in range(4)]
    for step in sizes:
        yield [response[at : at + step] for at in range(0, size, step)]
    for _ in range(4):
        chunks, at = [], 0
        while at < size:
            step = rng.randint(1, 32)
            chunks.append(response[at : at + step])
            at += step
        yield chunks


def transformers_seconds(cases, sample):
    """The processor time that transformers takes for that many of the cases, how many they are, and how many parses of them give another
    message than expected."""
    from transformers.utils.chat_parsing.response_parser import ResponseParser
    from transformers.utils.chat_parsing.response_templates import load_response_template

    rng = random.Random(8)
    chosen = rng.sample(cases, min(sample, len(cases)))
    templates = {
        name: load_response_template(json.loads((ROOT / f"derived/{name}.json").read_text()))
        for name in {name for name, _ in chosen}
    }
    other = 0
    start = time.process_time()
    for name, line in chosen:
        for chunks in [[line["response"]], *chunkings(line["response"], rng)]:
            parser = ResponseParser(templates[name], prefix=line.get("prefix", ""), tools=line.get("tools"))
            for chunk in chunks:
                parser.feed(chunk)
            message, _ = parser.finalize()
            other += message != line["expected"]
    return time.process_time() - start, len(chosen), other


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--fixtures", type=int, default=10_000)
    arguments.add_argument("--sample", type=int, default=200)
    arguments.add_argument("--binary", default=str(ROOT / "target/release/obverse"))
    arguments.add_argument("--keep", type=pathlib.Path)
    given = arguments.parse_args()
    folder = given.keep or pathlib.Path(tempfile.mkdtemp())
    cases = make(folder, given.fixtures)
    lengths = sorted(len(line["response"].encode()) for _, line in cases)
    print(
        f"{len(cases)} fixtures of {len({name for name, _ in cases})} response templates: {sum(lengths) / 1e6:.1f} MB, "
        f"half of them above {lengths[len(lengths) // 2]} bytes, the longest {lengths[-1]}"
    )
    best, clock = None, None
    for _ in range(3):
        start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        run = subprocess.run([given.binary, "check"], cwd=folder, capture_output=True, text=True)
        took = time.perf_counter() - start
        if run.returncode != 0:
            sys.exit(run.stdout[-2000:] + run.stderr[-2000:])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if best is None or used < best:
            best, clock = used, took
    print(f"obverse       {best:8.2f} s of processor time, {clock:.2f} s on the clock   {run.stderr.strip()}")
    seconds, tried, other = transformers_seconds(cases, given.sample)
    whole = seconds * len(cases) / tried
    print(f"transformers  {whole:8.2f} s of processor time, worked out from {seconds:.2f} s for {tried} of them, drawn at random")
    print(f"              {whole / best:8.1f} times as much; {other} of its {17 * tried} parses gave another message than expected")


main()
