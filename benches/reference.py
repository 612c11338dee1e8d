"""Times transformers' ResponseParser on the inputs of the benches.

    cargo run --release --bin inputs -- FOLDER
    python reference.py FOLDER > target/transformers.jsonl

FOLDER holds for each input `NAME.json`, its response template, and `NAME.SIZE.txt`, a response. One JSON line for each
input, size and shape, with the seconds that the fastest of several runs took. What takes longer than `PATIENCE` seconds
is run once, and not with the next size.
"""

import json
import pathlib
import sys
import time

from transformers.utils.chat_parsing.response_parser import ResponseParser
from transformers.utils.chat_parsing.response_templates import load_response_template

SIZES = {"1KB": 1 << 10, "10KB": 10 << 10, "100KB": 100 << 10, "1MB": 1 << 20}
SHAPES = {"whole": None, "chunks": 4, "bytes": 1}
PATIENCE = 0.3
ENOUGH = 0.1


def run(template, chunks):
    start = time.perf_counter()
    parser = ResponseParser(template, prefix="")
    for chunk in chunks:
        parser.feed(chunk)
    parser.finalize()
    return time.perf_counter() - start


def main(folder):
    for document in sorted(folder.glob("*.json")):
        template = load_response_template(json.loads(document.read_text()))
        for shape, length in SHAPES.items():
            for size in SIZES:
                text = (folder / f"{document.stem}.{size}.txt").read_text()
                step = length or len(text)
                chunks = [text[at : at + step] for at in range(0, len(text), step)]
                times = [run(template, chunks)]
                while sum(times) < ENOUGH and len(times) < 1000:
                    times.append(run(template, chunks))
                line = {"input": document.stem, "shape": shape, "size": size, "parser": "transformers", "seconds": min(times)}
                print(json.dumps(line), flush=True)
                if times[0] > PATIENCE:
                    break


main(pathlib.Path(sys.argv[1]))
