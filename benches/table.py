"""Prints the tables of docs/performance.md: the best of several runs for each parser, one after the other.

    cargo build --release
    python3 table.py

Criterion's estimates are means; on a machine that does other work the best of several runs is steadier. What transformers
takes is read from `target/transformers.jsonl`, which `reference.py` writes; these too are best runs.
"""

import json
import pathlib
import re
import subprocess

TARGET = pathlib.Path(__file__).parent / "target"
SIZES = {1 << 10: "1KB", 10 << 10: "10KB", 100 << 10: "100KB", 1 << 20: "1MB"}
TIMES = {1 << 10: 300, 10 << 10: 100, 100 << 10: 10, 1 << 20: 3}
INPUTS = ["prose", "regex", "look-ahead", "argument", "calls", "regex calls", "named calls", "tagged"]
PARSERS = ["obverse", "obverse owned", "transformers", "smg", "dynamo-v2", "dynamo"]
FLOORS = {"whole": ["serde_json", "memmem"], "chunks": ["append"]}
PATIENCE = 20


def of_transformers():
    path = TARGET / "transformers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {(row["input"], row["shape"], row["size"]): row["seconds"] for row in rows}


def measure(name, size, shape, parser, seconds):
    """MB/s for a whole response, ns a piece for one in pieces; nothing where it is not taken or takes too long."""
    if parser == "transformers":
        if seconds is None:
            return None
        return size / seconds / 1e6 if shape == "whole" else seconds / (size / 4) * 1e9
    command = [TARGET / "release/one", name, str(size), shape, parser, str(TIMES[size])]
    try:
        output = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE).stdout
    except subprocess.TimeoutExpired:
        return None
    found = re.match(r"([\d.]+) GB/s, ([\d.]+) ns", output)
    return found and (float(found[1]) * 1000 if shape == "whole" else float(found[2]))


def table(title, shape, sizes, inputs, transformers):
    parsers = PARSERS + FLOORS[shape]
    print(f"{title}\n\n| input | size | {' | '.join(parsers)} |\n|---|---|{'---:|' * len(parsers)}")
    for name in inputs:
        for size in sizes:
            seconds = transformers.get((name, shape, SIZES[size]))
            values = [measure(name, size, shape, parser, seconds) for parser in parsers]
            cells = ["" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:.3g}" for value in values]
            print(f"| {name} | {SIZES[size]} | {' | '.join(cells)} |", flush=True)
    print()


def main():
    transformers = of_transformers()
    table("Whole responses, in MB/s (more is better):", "whole", [1 << 10, 100 << 10], INPUTS, transformers)
    table("In pieces of 4 bytes, in ns a piece (less is better):", "chunks", [100 << 10], INPUTS, transformers)
    table("The same pieces at every size, in ns a piece:", "chunks", list(SIZES), ["prose", "argument"], transformers)


main()
