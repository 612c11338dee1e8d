"""Runs the steps of action.yml as GitHub runs them, as far as that can be had without it.

    action.py FOLDER [NAME=VALUE ...]

FOLDER is the checked-out repository; each NAME=VALUE is an input, or, with a dot in its name as in github.action_ref, what GitHub says. Every `run` step is run by bash with the options, the environment and
the files that GitHub gives; a step that `uses` another action is told and left out. Last comes one line of JSON:

    {"failed": NAME or null, "skipped": [...], "used": [{"uses": ..., "with": {...}}, ...], "outputs": {...}, "summary": TEXT,
     "log": TEXT, "path": [...]}
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]


def evaluate(expression, context):
    """An expression of the few kinds that the action has: names, strings, `==`, `!=`, `&&` and `always()`."""
    parts = [part.strip() for part in expression.split("&&")]
    if len(parts) > 1:
        return all(evaluate(part, context) for part in parts)
    for sign, holds in (("!=", lambda a, b: a != b), ("==", lambda a, b: a == b)):
        left, found, right = expression.partition(sign)
        if found:
            return holds(evaluate(left, context), evaluate(right, context))
    expression = expression.strip()
    if expression == "always()":
        return True
    if expression.startswith("'"):
        return expression.strip("'")
    value = context
    for key in expression.split("."):
        # A name that is not there is the empty string, as on GitHub.
        value = value.get(key, "") if isinstance(value, dict) else ""
    return value


def fill(text, context):
    return re.sub(r"\$\{\{(.*?)\}\}", lambda found: str(evaluate(found[1], context)), str(text))


def read_outputs(path):
    lines = path.read_text().splitlines()
    return dict(line.split("=", 1) for line in lines)


def main(folder, given):
    said = {name: given.pop(name) for name in list(given) if "." in name}
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    unknown = set(given) - set(action["inputs"])
    assert not unknown, f"no such inputs: {unknown}"
    temporary = pathlib.Path(tempfile.mkdtemp())
    inputs = {name: str(of.get("default", "")) for name, of in action["inputs"].items()}
    context = {
        "inputs": inputs | given,
        "github": {
            "action_path": str(ROOT),
            "action_repository": "owner/obverse",
            "action_ref": "",
            "server_url": "https://github.com",
            "workspace": str(folder),
        },
        "runner": {"os": "Linux", "arch": "X64"},
        "steps": {},
    }
    for name, value in said.items():
        room, _, key = name.partition(".")
        context[room][key] = value
    answer = {"failed": None, "skipped": [], "used": [], "summary": "", "log": "", "path": []}
    for number, step in enumerate(action["runs"]["steps"]):
        condition = step.get("if", "")
        goes_on = answer["failed"] is None or "always()" in condition
        if not goes_on or (condition and not evaluate(condition, context)):
            answer["skipped"].append(step["name"])
            continue
        if "uses" in step:
            with_ = {key: fill(value, context) for key, value in step.get("with", {}).items()}
            answer["used"].append({"uses": step["uses"], "with": with_})
            continue
        assert step["shell"] == "bash", step
        assert "${{" not in step["run"], "what an input says would be run as a part of the script"
        files = {}
        for name in ("OUTPUT", "STEP_SUMMARY", "PATH", "ENV"):
            files[name] = temporary / f"{name}-{number}"
            files[name].touch()
        script = temporary / f"{number}.sh"
        script.write_text(step["run"])
        environment = {
            **os.environ,
            **{f"GITHUB_{name}": str(path) for name, path in files.items()},
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(folder),
            "RUNNER_TEMP": str(temporary),
            **{key: fill(value, context) for key, value in step.get("env", {}).items()},
            "PATH": os.pathsep.join([*reversed(answer["path"]), os.environ["PATH"]]),
        }
        run = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", str(script)],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        answer["log"] += run.stdout
        answer["summary"] += files["STEP_SUMMARY"].read_text()
        answer["path"] += files["PATH"].read_text().splitlines()
        if "id" in step:
            context["steps"][step["id"]] = {"outputs": read_outputs(files["OUTPUT"])}
        if run.returncode != 0:
            answer["failed"] = step["name"]
    answer["outputs"] = {
        name: fill(of["value"], context) for name, of in action.get("outputs", {}).items()
    }
    print(json.dumps(answer))


main(pathlib.Path(sys.argv[1]), dict(argument.split("=", 1) for argument in sys.argv[2:]))
