#!/usr/bin/env python3
"""Takes what grammars are tried with out of source distributions that nobody can install here as a whole.

    tests/reference/grammar/sources.py FOLDER

FOLDER/vllm/parser gets vLLM's module that makes structural tags of response templates, and the few it imports, which run without the
rest of vLLM. FOLDER/llama gets llama.cpp's reader of grammars, compiled with what `llama.cpp` beside this file stands in for; that
needs a C++ compiler, `c++` or what CXX names. The package files are pinned by version and SHA-256 and kept in the user's cache folder,
as those of the corpus are.
"""

import hashlib
import os
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "corpus"))

import fetch

VLLM = fetch.Source(
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

LLAMA = next(source for source in fetch.SOURCES if source.folder == "llamacpp")
LLAMA_FILES = [f"src/llama-{name}" for name in ["grammar.cpp", "grammar.h", "impl.h", "sampler.h", "vocab.h"]]
LLAMA_HEADERS = [
    "include/llama.h",
    *(f"ggml/include/{name}" for name in ["ggml.h", "ggml-alloc.h", "ggml-backend.h", "ggml-cpu.h", "ggml-opt.h", "gguf.h"]),
]
OURS = Path(__file__).resolve().with_name("llama.cpp")


def take(source, folder, names):
    """Writes files of a source distribution; `names` are their paths in it below its first folder, and those in the folder."""
    if all((folder / to).exists() for to in names.values()):
        return
    with tarfile.open(fetch.package_file(source, fetch.cache_folder())) as archive:
        # One walk: the archive is compressed as a whole.
        for member in archive:
            to = names.get(member.name.split("/", 1)[-1])
            if to is not None:
                (folder / to).parent.mkdir(parents=True, exist_ok=True)
                (folder / to).write_bytes(archive.extractfile(member).read())
    missing = [name for name, to in names.items() if not (folder / to).exists()]
    if missing:
        raise fetch.Failure(f"{source} has no {missing[0]}")


def vllm(folder):
    take(VLLM, folder, {f"vllm/parser/{name}": f"vllm/parser/{name}" for name in MODULES})
    for package in ["vllm", "vllm/parser"]:
        (folder / package / "__init__.py").touch()


def llama(folder):
    take(LLAMA, folder, {f"vendor/llama.cpp/{name}": name for name in LLAMA_FILES + LLAMA_HEADERS})
    library, stamp = folder / "grammar.so", folder / "grammar.sha256"
    ours = hashlib.sha256(OURS.read_bytes()).hexdigest()
    if library.exists() and stamp.exists() and stamp.read_text() == ours:
        return
    compiler = os.environ.get("CXX", "c++")
    command = [compiler, "-std=c++17", "-O2", "-shared", "-fPIC", "-w", "-o", str(library), str(OURS), str(folder / "src/llama-grammar.cpp")]
    command += [f"-I{folder / include}" for include in ["src", "include", "ggml/include"]]
    try:
        subprocess.run(command, check=True)
    except FileNotFoundError:
        raise fetch.Failure(f"llama.cpp's reader of grammars needs a C++ compiler, and there is no {compiler}; CXX names another")
    except subprocess.CalledProcessError:
        raise fetch.Failure(f"{compiler} does not compile llama.cpp's reader of grammars")
    stamp.write_text(ours)


def main():
    folder = Path(sys.argv[1])
    vllm(folder / "vllm")
    llama(folder / "llama")


if __name__ == "__main__":
    try:
        main()
    except fetch.Failure as error:
        sys.exit(f"sources.py: {error}")
