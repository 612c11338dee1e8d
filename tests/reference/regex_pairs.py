"""Answers for patterns and texts by Python's `regex`: `{"pattern", "texts": [[text, pos], ...]}` a line in.

Out: `{"error": message}` or `{"names": [...], "answers": [{"search": match|null, "finditer": [match, ...]}, ...]}`, a match
being `{"span": [start, end], "groups": {name: [start, end]|null}}` in bytes of UTF-8. With `"classes": true`, the pattern is
asked of every character, and the answer is `{"ranges": [[first, last], ...]}`. With `"module": "re"` the answers are by Python's `re`, and an
unnamed group has its number for a name. `{"assigned": true}` asks for the characters that this Python knows.
"""

import json
import re
import sys
import unicodedata
import warnings

import regex

warnings.simplefilter("ignore")


def offsets(text):
    at, result = 0, [0]
    for character in text:
        at += len(character.encode())
        result.append(at)
    return result


def names(pattern):
    if isinstance(pattern, re.Pattern):
        named = {number: name for name, number in pattern.groupindex.items()}
        return {named.get(number, str(number)): number for number in range(1, pattern.groups + 1)}
    return pattern.groupindex


def described(match, bytes_at):
    def span(start, end):
        return None if start < 0 else [bytes_at[start], bytes_at[end]]

    return {
        "span": span(*match.span()),
        "groups": {name: span(*match.span(number)) for name, number in names(match.re).items()},
    }


# What lies between is unassigned, and behind it for private use.
EVERY = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x33500), *range(0xE0000, 0xE0200)]))


def ranges(characters):
    result = []
    for code in map(ord, characters):
        if result and result[-1][1] == code - 1:
            result[-1][1] = code
        else:
            result.append([code, code])
    return result


def answer(request):
    if request.get("assigned"):
        return {"ranges": ranges(c for c in EVERY if unicodedata.category(c) != "Cn")}
    try:
        if request.get("module") == "re":
            pattern, options = re.compile(request["pattern"], re.DOTALL), {}
        else:
            pattern, options = regex.compile(request["pattern"], regex.DOTALL, cache_pattern=False), {"timeout": 2}
    except (re.error, regex.error, IndexError, ValueError, RecursionError, OverflowError, MemoryError) as error:
        return {"error": str(error)}
    if request.get("classes"):
        return {"ranges": ranges(match[0] for match in pattern.finditer(EVERY))}
    answers = []
    for text, pos in request["texts"]:
        bytes_at = offsets(text)
        try:
            found = pattern.search(text, pos, **options)
            answers.append(
                {
                    "search": found and described(found, bytes_at),
                    "finditer": [described(match, bytes_at) for match in pattern.finditer(text, **options)],
                }
            )
        except (TimeoutError, MemoryError):
            answers.append(None)
    return {"names": list(names(pattern)), "answers": answers}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
