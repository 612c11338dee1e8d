"""Prints what the benches measured as tables for docs/performance.md.

    python table.py

Reads `target/criterion`, `target/slow.jsonl` and `target/transformers.jsonl`. A whole response is given in MB/s, one in
pieces in nanoseconds a piece.
"""

import collections
import json
import pathlib

TARGET = pathlib.Path(__file__).parent / "target"
SIZES = {"1KB": 1 << 10, "10KB": 10 << 10, "100KB": 100 << 10, "1MB": 1 << 20}
PARSERS = ["obverse", "obverse owned", "transformers", "smg", "dynamo-v2", "dynamo", "serde_json", "memmem", "append"]


def measured():
    seconds = {}
    for estimates in TARGET.glob("criterion/*/*/new/estimates.json"):
        benchmark = json.loads((estimates.parent / "benchmark.json").read_text())
        key = (*benchmark["group_id"].split(", "), benchmark["value_str"])
        seconds[key] = json.loads(estimates.read_text())["median"]["point_estimate"] / 1e9, benchmark["throughput"]["Bytes"]
    for name in ["slow.jsonl", "transformers.jsonl"]:
        path = TARGET / name
        for line in path.read_text().splitlines() if path.exists() else []:
            row = json.loads(line)
            seconds[row["input"], row["shape"], row["size"], row["parser"]] = row["seconds"], SIZES[row["size"]]
    return seconds


def main():
    tables = collections.defaultdict(dict)
    for (name, shape, size, parser), (seconds, length) in measured().items():
        pieces = {"whole": 1, "chunks": length / 4, "bytes": length}[shape]
        value = length / seconds / 1e6 if shape == "whole" else seconds / pieces * 1e9
        tables[shape][name, size, parser] = value
    titles = {
        "whole": "Whole, in MB/s (more is better)",
        "chunks": "In pieces of 4 bytes, in ns a piece (less is better)",
        "bytes": "Byte by byte, in ns a byte (less is better)",
    }
    for shape, title in titles.items():
        table = tables[shape]
        parsers = [parser for parser in PARSERS if any(key[2] == parser for key in table)]
        print(f"### {title}\n\n| input | size | {' | '.join(parsers)} |\n|---|---|{'---:|' * len(parsers)}")
        for name in dict.fromkeys(key[0] for key in sorted(table)):
            for size in SIZES:
                cells = [table.get((name, size, parser)) for parser in parsers]
                if any(cell is not None for cell in cells):
                    text = ["" if cell is None else f"{cell:,.0f}" if cell >= 100 else f"{cell:.3g}" for cell in cells]
                    print(f"| {name} | {size} | {' | '.join(text)} |")
        print()


main()
