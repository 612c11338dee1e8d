"""Checking fixtures, and response templates against their chat templates."""

import json
import tempfile
import unittest
from pathlib import Path

import obverse

TEMPLATE = {"start_anchor": "A:", "fields": {"thinking": {"open": "<t>", "close": "</t>"}, "content": {}}}


class Checking(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "response_template.json").write_text(json.dumps(TEMPLATE))

    def record(self, name, *fixtures):
        lines = (json.dumps(dict(zip(("name", "response", "expected"), fixture))) for fixture in fixtures)
        (self.folder / name).write_text("".join(line + "\n" for line in lines))

    def test_what_holds_holds(self):
        self.record("said.jsonl", ("plain", "Hi", {"content": "Hi"}), ("thought", "<t>Hm</t>Hi", {"thinking": "Hm", "content": "Hi"}))
        checked = obverse.check(self.folder)
        self.assertTrue(checked.ok, checked)
        self.assertEqual([result.status for result in checked.results if "said.jsonl" in result.name], ["passed", "passed"])
        self.assertEqual(checked.summary["failed"], 0)

    def test_what_does_not_hold_is_told(self):
        self.record("said.jsonl", ("plain", "Hi", {"content": "Ho"}), ("other", "Hi", {"content": "Hi"}))
        checked = obverse.check(self.folder / "said.jsonl")
        self.assertFalse(checked.ok)
        [failed] = checked.failed
        self.assertIn("said.jsonl", failed.name)
        [finding] = failed.findings
        self.assertEqual(finding.severity, "error")
        self.assertTrue(obverse.check(self.folder / "said.jsonl", filter="other").ok)

    def test_where_there_is_nothing_it_says_so(self):
        with self.assertRaisesRegex(obverse.SourceError, "nowhere"):
            obverse.check(self.folder / "nowhere")


if __name__ == "__main__":
    unittest.main()
