#!/usr/bin/env python3
"""Runs transformers' own tests of its response parser with Obverse's in its place.

    tests/reference/suite.py [--file FILE] [--reference]

The Python that runs it must have transformers and the package `obverse`. The tests are those of the release that is installed, and
come from transformers' repository, since its packages leave them out; they are kept in the user's cache folder and never committed.
Where the repository cannot be reached, and FILE is not given, nothing is run, which is said and is no failure. With --reference
transformers' own parser stays where it is, to see whether the tests run at all.

The tests take two tokenizers from the Hub. What they ask of these is to turn text into ids and back, and that any tokenizer of bytes
does: tests/support/tokenizer.json stands in for both, so that no test is left out for want of a network.
"""

import argparse
import importlib.util
import os
import sys
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
    """The file with the tests of the installed release; None where the repository cannot be reached."""
    version = transformers.__version__
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "obverse-suite"
    kept = cache / f"transformers-{version}.py"
    if not kept.exists():
        try:
            with urllib.request.urlopen(ADDRESS.format(version=version, path=PATH), timeout=PATIENCE) as answer:
                text = answer.read()
        except (urllib.error.URLError, OSError) as error:
            print(f"transformers' own tests are left out: its repository cannot be reached ({error}); --file FILE gives them")
            return None
        cache.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(text)
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
    if path is None:
        return 0
    if not options.reference:
        import obverse

        obverse.install()
    suite = loaded(path)
    if not options.reference and suite.ResponseParser is not obverse.chat_parsing.ResponseParser:
        print("the tests have not got the parser that they are to try", file=sys.stderr)
        return 2
    with standing_in():
        result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(suite))
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    sys.exit(main())
