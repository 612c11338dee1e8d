"""Prints the tables of docs/performance.md: the best of several runs for each parser, one after the other.

    cargo build --release
    python3 table.py

Every input, size and shape, with every parser that takes it. Criterion's estimates are means; on a machine that does other
work the best of several runs is steadier. What transformers takes is read from `target/transformers.jsonl`, which
`reference.py` writes; these too are best runs.
"""

import json
import pathlib
import re
import subprocess

TARGET = pathlib.Path(__file__).parent / "target"
SIZES = {1 << 10: "1KB", 10 << 10: "10KB", 100 << 10: "100KB", 1 << 20: "1MB"}
INPUTS = ["prose", "regex", "look-ahead", "argument", "calls", "regex calls", "named calls", "tagged", "derived"]
PARSERS = ["obverse", "obverse owned", "transformers", "smg", "dynamo-v2", "dynamo"]
FLOORS = {"whole": ["serde_json", "serde_json message", "memmem"], "chunks": ["append"], "bytes": ["append"]}
PIECES = {"whole": None, "chunks": 4, "bytes": 1}
TITLES = {
    "whole": "Whole responses, in MB/s (more is better):",
    "chunks": "In pieces of 4 bytes, in ns a piece (less is better):",
    "bytes": "Byte by byte, in ns a byte (less is better):",
}
# Each cell is measured for so long, in seconds; a parser whose single run takes longer than the patience is not shown, nor
# asked for larger sizes.
SECONDS = 0.3
TIMES = 1_000_000
PATIENCE = 4


def of_transformers():
    path = TARGET / "transformers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(row["input"], row["shape"], row["size"]): row["seconds"] for row in rows}


def measure(name, size, shape, parser):
    """The seconds of the best run; nothing where the input is not taken or takes too long."""
    command = [TARGET / "release/one", name, str(size), shape, parser, str(TIMES), str(SECONDS)]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return None
    found = re.search(r"([\d.]+) ns in all", output)
    return float(found[1]) / 1e9 if found else None


def cell(seconds, size, shape):
    if seconds is None:
        return ""
    piece = PIECES[shape]
    value = size / seconds / 1e6 if piece is None else seconds / (size / piece) * 1e9
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(shape, transformers):
    parsers = PARSERS + FLOORS[shape]
    print(f"{TITLES[shape]}\n\n| input | size | {' | '.join(parsers)} |\n|---|---|{'---:|' * len(parsers)}")
    for name in INPUTS:
        given_up = set()
        for size, label in SIZES.items():
            cells = []
            for parser in parsers:
                seconds = None
                if parser == "transformers":
                    seconds = transformers.get((name, shape, label))
                elif parser not in given_up:
                    seconds = measure(name, size, shape, parser)
                    if seconds is None:
                        given_up.add(parser)
                cells.append(cell(seconds, size, shape))
            print(f"| {name} | {label} | {' | '.join(cells)} |", flush=True)
    print()


def main():
    transformers = of_transformers()
    for shape in PIECES:
        table(shape, transformers)


main()
