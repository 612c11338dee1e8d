"""Renders chat templates with Jinja2's own sandbox, which lets templates change lists and dictionaries and keeps null keys.

Lines in and out are those of render.py. Messages are handed on as they are.
"""

import json

import jinja2.ext
import renders
from jinja2.sandbox import SandboxedEnvironment

ENVIRONMENT = SandboxedEnvironment(
    trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols]
)
ENVIRONMENT.filters["tojson"] = lambda value, **options: json.dumps(value, ensure_ascii=False, **options)


def raise_exception(message):
    raise jinja2.exceptions.TemplateError(message)


ENVIRONMENT.globals["raise_exception"] = raise_exception


def render(template, case):
    text = ENVIRONMENT.from_string(template).render(
        messages=case["messages"],
        tools=case.get("tools"),
        documents=case.get("documents"),
        add_generation_prompt=case.get("add_generation_prompt", False),
        **case.get("kwargs", {}),
    )
    return {"text": text}


renders.answer(render)
