#!/usr/bin/env python3
"""Times the package beside transformers' parser, in one process, and prints the tables of docs/python.md.

    speed.py [--most BYTES] [--seconds SECONDS]

Both are given the same response template as a dict and the same text. What is timed is repeated, the two in turns, and the best of the
times counts, since what else the machine does makes times longer and never shorter. Times are the process's own, but for what runs on
all cores, which is timed by the clock.
"""

import argparse
import itertools
import os
import time

import obverse
from transformers.utils import chat_parsing as reference

TEMPLATE = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*"},
    },
}

WORDS = "The tide tables say that low water is at seven, so we have most of the morning to cross. "
CALL = '<tool_call>\n{"name": "tide", "arguments": {"place": "Husum", "day": 12, "units": "metres"}}\n</tool_call>\n'

SIZES = (1 << 10, 10 << 10, 100 << 10, 1 << 20)


def prose(size):
    """A response of about so many bytes: reasoning, then content."""
    half = WORDS * (size // 2 // len(WORDS) + 1)
    return f"<think>\n{half[: size // 2]}\n</think>\n\n{half[: size // 2]}<|im_end|>"


def calls(size):
    """A response of about so many bytes: one call after the other."""
    return "<think>\nWhich days?\n</think>\n\n" + CALL * max(size // len(CALL), 1) + "<|im_end|>"


def whole(module, text):
    return module.parse_response(text, TEMPLATE, prefix="")


def streamed(module, text, chunks):
    parser = module.ResponseParser(TEMPLATE, prefix="")
    for chunk in chunks:
        parser.feed(chunk)
    return parser.finalize()[0]


def timed(works, seconds, clock=time.process_time):
    """The best time of each, in seconds, trying them in turns for about so long, and three times at least: the first is slower."""
    best = [float("inf")] * len(works)
    began = time.perf_counter()
    for turn in itertools.count(1):
        for index, work in enumerate(works):
            start = clock()
            work()
            best[index] = min(best[index], clock() - start)
        if turn >= 3 and time.perf_counter() - began > seconds:
            return best


def shown(seconds):
    for unit, factor in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.2g} µs"


def size_name(size):
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size >> 10} KB"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--most", type=int, default=SIZES[-1], help="the longest response, in bytes")
    parser.add_argument("--seconds", type=float, default=2.0, help="how long each figure may take")
    options = parser.parse_args()
    ours = obverse.chat_parsing

    print("| response | fed | transformers | Obverse | times as fast |")
    print("|---|---|---|---|---|")
    for name, made in (("prose", prose), ("calls", calls)):
        for size in (size for size in SIZES if size <= options.most):
            text = made(size)
            chunks = [text[start : start + 4] for start in range(0, len(text), 4)]
            assert whole(ours, text) == whole(reference, text) == streamed(ours, text, chunks)
            for fed, works in (
                ("whole", [lambda: whole(reference, text), lambda: whole(ours, text)]),
                ("4 bytes", [lambda: streamed(reference, text, chunks), lambda: streamed(ours, text, chunks)]),
            ):
                theirs, best = timed(works, options.seconds)
                print(f"| {name}, {size_name(size)} | {fed} | {shown(theirs)} | {shown(best)} | {theirs / best:.1f} |", flush=True)

    print()
    print("| 2000 responses of | transformers | `parse` | `parse_many`, one thread | `parse_many`, all cores | times as fast |")
    print("|---|---|---|---|---|---|")
    for name, made in (("prose", prose), ("calls", calls)):
        texts = [made(4 << 10)] * 2000
        template = obverse.ResponseTemplate(TEMPLATE)
        works = [
            lambda: [whole(reference, text) for text in texts],
            lambda: [obverse.parse(text, template) for text in texts],
            lambda: obverse.parse_many(texts, template, threads=1),
        ]
        theirs, one_by_one, one_thread = timed(works, options.seconds)
        (all_cores,) = timed([lambda: obverse.parse_many(texts, template)], options.seconds, time.perf_counter)
        figures = " | ".join(shown(figure) for figure in (theirs, one_by_one, one_thread, all_cores))
        print(f"| {name}, 4 KB | {figures} | {theirs / all_cores:.1f} |", flush=True)
    print(f"\n{os.cpu_count()} cores, transformers {__import__('transformers').__version__}, obverse {obverse.__version__}")


if __name__ == "__main__":
    main()
