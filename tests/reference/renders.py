"""What the scripts that render share: a clock that stands still, and an answer for each line."""

import datetime
import json
import sys

CLOCK = datetime.datetime(2025, 1, 5, 14, 3, 9)


class StoppedClock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return CLOCK


def answer(render):
    """Answers each line, {"template": text, "inputs": [...]}, with {"results": [...]}: what `render` makes of each input, or its error."""
    for line in sys.stdin:
        request = json.loads(line)
        results = [tried(render, request["template"], case) for case in request["inputs"]]
        print(json.dumps({"results": results}), flush=True)


def tried(render, template, case):
    try:
        result = render(template, case)
        # A lone surrogate is no text.
        result["text"].encode()
        return result
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}
