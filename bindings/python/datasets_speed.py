#!/usr/bin/env python3
"""Times spans, masks and parsing of a data set beside transformers, in one process, and prints the table of docs/python.md.

    datasets_speed.py [--conversations N] [--turns N]

Needs the package, transformers, tokenizers, numpy and pyarrow. The conversations are made up, the same ones each time; the tokenizer is made here, of
bytes that are put together to words, and has some 1.3 tokens a word. transformers renders and tokenizes the chat template with the marks of `obverse annotate`, which
is what `apply_chat_template(return_assistant_tokens_mask=True)` needs. What is timed is the clock's time, the best of three.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import obverse
import pyarrow as pa
from obverse import arrow

CHECKOUT = Path(__file__).resolve().parent.parent.parent
CHAT = CHECKOUT / "chat_templates" / "qwen3.jinja"
WORDS = "the tide tables say that low water is at seven so we have most of the morning to cross and nobody has to hurry".split()


def conversations(count, turns):
    rng = random.Random(1)

    def text(words):
        return " ".join(rng.choices(WORDS, k=words))

    def turn():
        return [{"role": "user", "content": text(30)}, {"role": "assistant", "content": text(120), "reasoning_content": text(60)}]

    return [[message for _ in range(turns) for message in turn()] for _ in range(count)]


def tokenizer(texts):
    """A fast tokenizer that was trained on the texts."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, initial_alphabet=alphabet, special_tokens=["<|im_start|>", "<|im_end|>"])
    made.train_from_iterator(texts, trainer)
    return PreTrainedTokenizerFast(tokenizer_object=made)


def best(work):
    times = []
    for _ in range(3):
        begun = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - begun)
    return min(times), result


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--conversations", type=int, default=2000)
    arguments.add_argument("--turns", type=int, default=3)
    given = arguments.parse_args()
    all = conversations(given.conversations, given.turns)
    table = pa.table({"messages": all})
    chat = obverse.ChatTemplate(CHAT)
    rendered = pa.table(arrow.spans(table, chat))
    tokens = tokenizer(rendered["text"].to_pylist()[:500])
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "obverse", "annotate", str(CHAT)]
        marked = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout
    tokens.chat_template = marked

    def encoded(texts):
        return tokens(texts, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]

    def masked(threads):
        done = pa.table(arrow.spans(table, chat, threads=threads))
        offsets = encoded(done["text"].to_pylist())
        return pa.table(arrow.masks(done.append_column("offset_mapping", pa.array(offsets))))

    responses = pa.table({"response": [messages[-1]["reasoning_content"].join(["<think>\n", "\n</think>\n\n"]) + messages[-1]["content"] + "<|im_end|>" for messages in all]})
    template = obverse.derive(CHAT).response_template
    reference = all[: max(given.conversations // 10, 1)]

    def applied():
        options = {"return_dict": True, "return_assistant_tokens_mask": True}
        return [tokens.apply_chat_template(one, **options)["assistant_masks"] for one in reference]

    def plain():
        return [tokens.apply_chat_template(one, tokenize=False) for one in reference]

    rows = []
    theirs, marks = best(applied)
    ours = masked(None)["assistant_masks"].to_pylist()[: len(reference)]
    if ours != marks:
        sys.exit("the masks are not the same")
    per_conversation = sum(map(len, marks)) / len(marks)
    rows.append(("transformers, `apply_chat_template` with the mask", 1, len(reference) / theirs))
    rows.append(("transformers, `apply_chat_template(tokenize=False)`", 1, len(reference) / best(plain)[0]))
    for threads in (1, 2):
        rows.append(("`arrow.spans`", threads, len(all) / best(lambda: arrow.spans(table, chat, threads=threads))[0]))
    rows.append(("`arrow.spans`, the tokenizer, `arrow.masks`", "all", len(all) / best(lambda: masked(None))[0]))
    done = masked(None)
    rows.append(("`arrow.masks` alone", 1, len(all) / best(lambda: arrow.masks(done))[0]))
    for threads in (1, 2):
        rows.append(("`arrow.parse`", threads, len(all) / best(lambda: arrow.parse(responses, template, threads=threads))[0]))
    print(f"{len(all)} conversations of {2 * given.turns} messages, {per_conversation:.0f} tokens each\n")
    print("| what | cores | conversations a second | a billion tokens |")
    print("|---|---|---|---|")
    for what, cores, rate in rows:
        minutes = 1e9 / per_conversation / rate / 60
        print(f"| {what} | {cores} | {rate:,.0f} | {minutes:,.1f} min |")


if __name__ == "__main__":
    main()
