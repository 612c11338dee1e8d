#!/usr/bin/env python3
"""Fetches the corpus: chat templates of real models, which the tests are tried on.

    tests/corpus/fetch.py [FOLDER]

FOLDER is `corpus/` at the top of the checkout unless given. The templates come out of two packages of the Python
package index, each pinned by version and SHA-256. Package files are kept in the user's cache folder, so that fetching
again is quick and needs no network. Nothing of the packages is installed or run, but for assignments of response
templates, which see nothing but each other; Python 3.9 with pip is enough.

TRL has response templates too, written by hand, each for some of its chat templates. They go to
`trl/response_templates.json`: `templates` has the documents by name, `chat_templates` the name for each chat template.

The templates are the work of the models' authors: they are read by tests and never committed.
"""

import argparse
import ast
import dataclasses
import hashlib
import json
import os
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

CHECKOUT = Path(__file__).resolve().parent.parent.parent


@dataclasses.dataclass(frozen=True)
class Source:
    """A package file and the templates in it."""

    folder: str  # the folder of the corpus that takes the templates
    package: str
    version: str
    wheel: bool  # or else the source distribution
    sha256: str
    templates: str  # the path inside the package file, below its first folder for a source distribution

    def __str__(self):
        return f"{self.package} {self.version}"


SOURCES = [
    Source(
        folder="llamacpp",
        package="llama-cpp-python",
        version="0.3.36",
        wheel=False,
        sha256="832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e",
        templates="vendor/llama.cpp/models/templates",
    ),
    Source(
        folder="trl",
        package="trl",
        version="1.16.0",
        wheel=True,
        sha256="c4726e139dd40e1a41661511c639c8a68416782b2e3e8c0befebd77bb7ba0396",
        templates="trl/chat_templates",
    ),
]


class Failure(Exception):
    """Why there is no corpus, for the user."""


def digest(data):
    return hashlib.sha256(data).hexdigest()


def cache_folder():
    """Where package files are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obverse-corpus"


def download(source):
    """The package file's bytes, from the index that pip is configured with."""
    # pip's own `download` builds the metadata of a source distribution, which would run the package's code; its finder
    # and its session do not.
    from pip._internal.cli.cmdoptions import make_target_python
    from pip._internal.commands.download import DownloadCommand

    command = DownloadCommand("download", "fetches a package file")
    options, _ = command.parse_args(["--no-deps", *([] if source.wheel else ["--no-binary", ":all:"]), source.package])
    with command.main_context():
        session = command.get_default_session(options)
        finder = command._build_package_finder(
            options=options,
            session=session,
            target_python=make_target_python(options),
            ignore_requires_python=True,
        )
        for candidate in finder.find_all_candidates(source.package):
            if str(candidate.version) == source.version and candidate.link.is_wheel == source.wheel:
                # Else the server may send the archive packed once more.
                answer = session.get(candidate.link.url_without_fragment, headers={"Accept-Encoding": "identity"})
                answer.raise_for_status()
                return answer.content
    raise Failure(f"the package index cannot be reached or has no {source} as a {'wheel' if source.wheel else 'source distribution'}")


def package_file(source, cache):
    """The path of the package file, whose bytes are the pinned ones."""
    kept = cache / f"{source.package}-{source.version}{'.whl' if source.wheel else '.tar.gz'}"
    if kept.exists() and digest(kept.read_bytes()) == source.sha256:
        return kept
    data = download(source)
    if digest(data) != source.sha256:
        raise Failure(f"{source} has the SHA-256 {digest(data)}, not {source.sha256} as pinned")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=cache, delete=False) as part:
        part.write(data)
    os.replace(part.name, kept)
    return kept


def templates(source, path):
    """Name and bytes of every chat template in a package file."""
    if source.wheel:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                inside = PurePosixPath(name)
                if inside.suffix == ".jinja" and str(inside.parent) == source.templates:
                    yield inside.name, archive.read(name)
    else:
        with tarfile.open(path) as archive:
            for member in archive:
                inside = PurePosixPath(member.name)
                if member.isfile() and inside.suffix == ".jinja" and "/".join(inside.parts[1:-1]) == source.templates:
                    yield inside.name, archive.extractfile(member).read()


def response_templates(source, path):
    """TRL's response templates by name, and the name of that for each chat template."""
    with zipfile.ZipFile(path) as archive:
        tree = ast.parse(archive.read("trl/chat_template_utils.py").decode())
    files = {}
    kept = []
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            name = statement.targets[0].id
            names = [node.value for node in ast.walk(statement) if isinstance(node, ast.Constant)]
            if name.endswith("_chat_template"):
                files[name] = next(text for text in names if isinstance(text, str) and text.endswith(".jinja"))
            elif name.endswith("_template") or (name.startswith("_") and not any(calls(statement))):
                kept.append(statement)
        elif isinstance(statement, ast.For) and all(call == "range" for call in calls(statement)):
            kept.append(statement)
    # With transformers as new as the reference.
    scope = {"__builtins__": {"range": range}, "_SUPPORTS_PARSE_RESPONSE_TOOLS": True}
    for statement in kept:
        if any(calls(statement)) and not isinstance(statement, ast.For):
            raise Failure(f"{source} computes a response template by more than an expression")
        exec(compile(ast.Module([statement], []), str(path), "exec"), scope)
    chosen = {}
    for node in ast.walk(next(node for node in tree.body if getattr(node, "name", "") == "add_response_schema")):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Compare) and isinstance(node.body[-1], ast.Assign):
            value = node.body[-1].value
            if isinstance(value, ast.Tuple) and isinstance(value.elts[-1], ast.Name):
                known = [name.id for name in ast.walk(node.test.comparators[0]) if isinstance(name, ast.Name)]
                chosen.update({files[name]: value.elts[-1].id for name in known})
    templates = {name: scope[name] for name in sorted(set(chosen.values()))}
    if not templates:
        raise Failure(f"{source} has no response templates where they were expected")
    return {"templates": templates, "chat_templates": dict(sorted(chosen.items()))}


def calls(statement):
    """What a statement calls, by name."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Call):
            yield getattr(node.func, "id", "")


def write(folder, cache):
    """Writes the corpus into the empty `folder`; the number of its templates."""
    index = []
    for source in SOURCES:
        target = folder / source.folder
        target.mkdir()
        before = len(index)
        for name, data in templates(source, package_file(source, cache)):
            (target / name).write_bytes(data)
            index.append("\t".join([source.folder, name, str(source), digest(data)[:16]]))
        if source.folder == "trl":
            document = response_templates(source, package_file(source, cache))
            (target / "response_templates.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
        if len(index) == before:
            raise Failure(f"{source} has no chat templates in {source.templates}")
    (folder / "INDEX.tsv").write_text("".join(f"{line}\n" for line in sorted(index)), encoding="utf-8")
    return len(index)


def main():
    usage = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    usage.add_argument("folder", nargs="?", type=Path, default=CHECKOUT / "corpus", metavar="FOLDER")
    folder = usage.parse_args().folder
    if folder.exists() and any(folder.iterdir()) and not (folder / "INDEX.tsv").exists():
        raise Failure(f"{folder} holds something that is not a corpus")
    cache = cache_folder()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written beside its place and moved there whole: what is there is always complete.
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}-") as work:
        fresh = Path(work) / "fresh"
        fresh.mkdir()
        count = write(fresh, cache)
        if folder.exists():
            folder.rename(Path(work) / "old")
        fresh.rename(folder)
    print(f"{count} chat templates in {folder}")


if __name__ == "__main__":
    try:
        main()
    except ModuleNotFoundError as error:
        sys.exit(f"fetch.py: this Python lacks pip: {error}")
    except (Failure, OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        sys.exit(f"fetch.py: {error}")
