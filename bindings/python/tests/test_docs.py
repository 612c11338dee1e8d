"""The examples of docs/python.md and of the docstrings."""

import doctest
import unittest

import obverse
from support import CHECKOUT


def load_tests(_loader, tests, _pattern):
    page = CHECKOUT / "docs" / "python.md"
    text = page.read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    if len(examples.examples) < 10:
        raise AssertionError("the examples of the page are not found")
    tests.addTest(doctest.DocTestCase(examples))
    tests.addTests(doctest.DocTestSuite(obverse))
    return tests


if __name__ == "__main__":
    unittest.main()
