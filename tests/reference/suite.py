#!/usr/bin/env python3
"""Runs transformers' own tests of its response parser with Obverse's in its place.

    tests/reference/suite.py [--file FILE] [--reference]

The Python that runs it must have transformers and the package `obverse`. The tests are those of the release that is installed, and
come from transformers' repository, since its packages leave them out; they are kept in the user's cache folder and never committed.
Where the repository cannot be reached, and FILE is not given, the copy of them is run that vLLM's source distribution has, which takes
the parser from a module of vLLM's own by another name and leaves out the three tests of tokenizers. With --reference transformers' own parser stays
where it is, to see whether the tests run at all.

The tests take two tokenizers from the Hub. What they ask of these is to turn text into ids and back, and that any tokenizer of bytes
does: tests/support/tokenizer.json stands in for both, so that no test is left out for want of a network.
"""

import argparse
import importlib.util
import os
import sys
import tarfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path
from unittest import mock

import transformers

CHECKOUT = Path(__file__).resolve().parent.parent.parent
TOKENIZER = CHECKOUT / "tests" / "support" / "tokenizer.json"
PATH = "tests/utils/test_chat_parsing.py"
ADDRESS = "https://raw.githubusercontent.com/huggingface/transformers/v{version}/{path}"

#: How long, in seconds, the repository may take to answer.
PATIENCE = 20


def fetched():
    """The file with the tests of the installed release, or with vLLM's copy of them."""
    version = transformers.__version__
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obverse-suite"
    kept = cache / f"transformers-{version}.py"
    if not kept.exists():
        try:
            with urllib.request.urlopen(ADDRESS.format(version=version, path=PATH), timeout=PATIENCE) as answer:
                text = answer.read()
        except (urllib.error.URLError, OSError) as error:
            print(f"transformers' repository cannot be reached ({error}): vLLM's copy of its tests is run; --file FILE gives another one")
            return copied(cache)
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(text)
    return kept


def copied(cache):
    """The copy of the tests in vLLM's source distribution, with transformers' name for the parser."""
    sys.path[:0] = [str(CHECKOUT / "tests" / folder) for folder in ("corpus", "reference/grammar")]
    import fetch
    import sources

    source = sources.VLLM
    kept = cache / f"vllm-{source.version}.py"
    if not kept.exists():
        with tarfile.open(fetch.package_file(source, fetch.cache_folder())) as archive:
            text = archive.extractfile(f"vllm-{source.version}/tests/parser/test_chat_parsing.py").read().decode()
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_text(text.replace("vllm.parser.chat_parsing", "transformers.utils.chat_parsing"), encoding="utf-8")
    return kept


def standing_in():
    """Has every tokenizer of the Hub be the one that stands in; those of folders are what they are."""
    whole = transformers.AutoTokenizer.from_pretrained

    def from_pretrained(name, *arguments, **others):
        if Path(name).is_dir():
            return whole(name, *arguments, **others)
        return transformers.PreTrainedTokenizerFast(tokenizer_file=str(TOKENIZER))

    return mock.patch.object(transformers.AutoTokenizer, "from_pretrained", from_pretrained)


def loaded(path):
    """The tests as a module."""
    spec = importlib.util.spec_from_file_location("transformers_suite", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--file", type=Path, help="the file with the tests, instead of the repository's")
    parser.add_argument("--reference", action="store_true", help="leave transformers' own parser in its place")
    options = parser.parse_args()
    path = options.file or fetched()
    with standing_in():
        reference = run(loaded(path))
        if options.reference:
            return 0 if reference.wasSuccessful() and reference.testsRun else 1
        import obverse

        obverse.install()
        suite = loaded(path)
        if suite.ResponseParser is not obverse.chat_parsing.ResponseParser:
            print("the tests have not got the parser that they are to try", file=sys.stderr)
            return 2
        ours = run(suite)
    # A copy may be of another release than the one that is installed.
    failed = sorted(failing(ours) - failing(reference))
    known = sorted(failing(reference))
    print(f"{ours.testsRun} tests, of which {len(known)} fail with transformers' own parser{''.join(f', {name}' for name in known)}")
    for name in failed:
        print(f"{name} passes with transformers' own parser, and not with Obverse's", file=sys.stderr)
    return 0 if ours.testsRun and not failed else 1


def run(suite):
    """Runs the tests of a module."""
    return unittest.TextTestRunner(verbosity=0).run(unittest.defaultTestLoader.loadTestsFromModule(suite))


def failing(result):
    """The names of the tests that did not pass."""
    return {test.id().split(".", 1)[1] for test, _ in [*result.failures, *result.errors]}


if __name__ == "__main__":
    sys.exit(main())
