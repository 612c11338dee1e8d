"""Answers for patterns and texts by Python's `regex`: `{"pattern", "texts": [[text, pos], ...]}` a line in.

Out: `{"error": message}` or `{"names": [...], "answers": [{"search": match|null, "finditer": [match, ...]}, ...]}`, a match
being `{"span": [start, end], "groups": {name: [start, end]|null}}` in bytes of UTF-8. With `"classes": true`, the pattern is
asked of every character, and the answer is `{"ranges": [[first, last], ...]}`.
"""

import json
import sys
import warnings

import regex

warnings.simplefilter("ignore")


def offsets(text):
    at, result = 0, [0]
    for character in text:
        at += len(character.encode())
        result.append(at)
    return result


def described(match, bytes_at):
    def span(start, end):
        return None if start < 0 else [bytes_at[start], bytes_at[end]]

    return {
        "span": span(*match.span()),
        "groups": {name: span(*match.span(name)) for name in match.re.groupindex},
    }


# What lies between is unassigned, and behind it for private use.
EVERY = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x33500), *range(0xE0000, 0xE0200)]))


def ranges(pattern):
    result = []
    for match in pattern.finditer(EVERY):
        code = ord(match[0])
        if result and result[-1][1] == code - 1:
            result[-1][1] = code
        else:
            result.append([code, code])
    return result


def answer(request):
    try:
        pattern = regex.compile(request["pattern"], regex.DOTALL, cache_pattern=False)
    except (regex.error, ValueError, RecursionError, OverflowError, MemoryError) as error:
        return {"error": str(error)}
    if request.get("classes"):
        return {"ranges": ranges(pattern)}
    answers = []
    for text, pos in request["texts"]:
        bytes_at = offsets(text)
        try:
            found = pattern.search(text, pos, timeout=2)
            answers.append(
                {
                    "search": found and described(found, bytes_at),
                    "finditer": [described(match, bytes_at) for match in pattern.finditer(text, timeout=2)],
                }
            )
        except (TimeoutError, MemoryError):
            answers.append(None)
    return {"names": list(pattern.groupindex), "answers": answers}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
