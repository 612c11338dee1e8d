#!/usr/bin/env python3
"""Takes vLLM's module that makes structural tags of response templates out of its source distribution.

    tests/reference/grammar/vllm_module.py FOLDER

FOLDER/vllm/parser gets the module and the few it imports, which run without the rest of vLLM. The package file is pinned by
version and SHA-256 and kept in the user's cache folder, as those of the corpus are.
"""

import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "corpus"))

import fetch

SOURCE = fetch.Source(
    folder="",
    package="vllm",
    version="0.33.0",
    wheel=False,
    sha256="f4c33c2503d52bb411146afa9618a4f48bed68912f617e6803ac8d76e4c74112",
    templates="",
)
MODULES = [
    "response_template_grammar.py",
    "chat_parsing/__init__.py",
    "chat_parsing/content_parsers.py",
    "chat_parsing/response_parser.py",
    "chat_parsing/response_templates.py",
]


def main():
    folder = Path(sys.argv[1]) / "vllm"
    parser = folder / "parser"
    if all((parser / module).exists() for module in MODULES):
        return
    (parser / "chat_parsing").mkdir(parents=True, exist_ok=True)
    for package in [folder, parser]:
        (package / "__init__.py").touch()
    with tarfile.open(fetch.package_file(SOURCE, fetch.cache_folder())) as archive:
        for module in MODULES:
            member = archive.extractfile(f"vllm-{SOURCE.version}/vllm/parser/{module}")
            (parser / module).write_bytes(member.read())


if __name__ == "__main__":
    try:
        main()
    except fetch.Failure as error:
        sys.exit(f"vllm_module.py: {error}")
