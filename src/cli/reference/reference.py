"""Parses responses with transformers, for `obverse check --reference`.

It begins with one line about itself: {"python": VERSION, "transformers": VERSION or null}, and, where transformers has no
response templates or cannot be imported, "missing": TEXT; then it ends. After that, one JSON line in:

    {"template": TEXT, "tools": [TOOL, ...], "runs": [{"prefix": TEXT, "chunks": [TEXT, ...]}, ...]}

and one out, with an answer for each run:

    {"runs": [{"events": [EVENT, ...], "message": {...}} or {"events": [EVENT, ...], "error": TEXT}, ...]}

The template is the text of the document. One that is refused is answered with {"refused": TEXT}.
"""

import functools
import importlib.metadata
import json
import platform
import sys

# What a library prints must not get between the answers.
answers, sys.stdout = sys.stdout, sys.stderr


def tell(answer):
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def hello():
    """What this is; ends where there is nothing to ask."""
    about = {"python": platform.python_version(), "transformers": None}
    try:
        about["transformers"] = importlib.metadata.version("transformers")
        from transformers.utils.chat_parsing import response_parser, response_templates
    except Exception as error:  # a half-installed framework raises whatever it likes
        about["missing"] = f"{type(error).__name__}: {error}"
        tell(about)
        sys.exit()
    tell(about)
    return response_parser.ResponseParser, functools.lru_cache(
        lambda text: response_templates.load_response_template(json.loads(text))
    )


def run(parser_of, template, tools, prefix, chunks):
    events = []
    try:
        parser = parser_of(template, prefix=prefix, tools=tools)
        events += parser.initial_events
        for chunk in chunks:
            events += parser.feed(chunk)
        message, last = parser.finalize()
        return {"events": events + last, "message": message}
    except Exception as error:  # whatever is raised is the answer
        return {"events": events, "error": f"{type(error).__name__}: {error}"}


def main():
    parser_of, load = hello()
    for line in sys.stdin.buffer:
        question = json.loads(line)
        try:
            template = load(question["template"])
        except Exception as error:
            tell({"refused": f"{type(error).__name__}: {error}"})
            continue
        tools = question["tools"]
        tell({"runs": [run(parser_of, template, tools, one["prefix"], one["chunks"]) for one in question["runs"]]})


if __name__ == "__main__":
    main()
