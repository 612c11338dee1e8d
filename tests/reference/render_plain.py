"""Renders chat templates with Jinja2's own sandbox, which lets templates change lists and dictionaries and keeps null keys.

Lines in and out are those of render.py. Messages are handed on as they are.
"""

import json
import sys

import jinja2.ext
from jinja2.sandbox import SandboxedEnvironment

ENVIRONMENT = SandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
)
ENVIRONMENT.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


ENVIRONMENT.globals["raise_exception"] = raise_exception


def render(template, case):
    try:
        text = ENVIRONMENT.from_string(template).render(
            messages=case["messages"],
            tools=case.get("tools"),
            documents=case.get("documents"),
            add_generation_prompt=case.get("add_generation_prompt", False),
            **case.get("kwargs", {}),
        )
        text.encode()
        return {"text": text}
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"[:300]}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        results = [render(request["template"], case) for case in request["inputs"]]
        print(json.dumps({"results": results}), flush=True)


main()
