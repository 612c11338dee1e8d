"""Models of the Hub as sources, from a server on this machine."""

import hashlib
import http.server
import json
import os
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

import obverse

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
FILES = {"tokenizer_config.json": json.dumps({"chat_template": CHAT}).encode()}


def tag(content):
    """The tag of a content, as git makes it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


class Hub(http.server.BaseHTTPRequestHandler):
    """Has the model `acme/kite`, and no other one."""

    asked: list[str] = []

    def do_GET(self):
        Hub.asked.append(self.path)
        path = self.path.split("?")[0].strip("/").split("/")
        listed = path[:4] == ["api", "models", "acme", "kite"]
        if listed:
            siblings = [{"rfilename": name, "size": len(text), "blobId": tag(text)} for name, text in FILES.items()]
            self.answer(200, json.dumps({"id": "acme/kite", "sha": COMMIT, "siblings": siblings}).encode())
        elif path[:3] == ["acme", "kite", "resolve"] and path[4] in FILES:
            content = FILES[path[4]]
            self.answer(200, content, {"ETag": f'"{tag(content)}"', "X-Repo-Commit": COMMIT})
        else:
            self.answer(401, b"", {"X-Error-Code": "RepoNotFound"})

    def answer(self, status, content, headers=None):
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


class Models(unittest.TestCase):
    def setUp(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        variables = {"HF_HOME": folder.name, "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}"}
        named = mock.patch.dict(os.environ, variables)
        named.start()
        self.addCleanup(named.stop)
        for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_CACHE", "HF_TOKEN"):
            os.environ.pop(name, None)
        Hub.asked.clear()
        self.home = Path(folder.name)

    def test_a_model_is_fetched_once(self):
        derivation = obverse.derive("acme/kite")
        self.assertEqual(derivation.verdict, "proved")
        self.assertEqual(derivation.report["source"], "acme/kite")
        self.assertTrue((self.home / "hub/models--acme--kite/snapshots" / COMMIT / "tokenizer_config.json").exists())
        asked = list(Hub.asked)
        self.assertTrue(asked)
        self.assertEqual(obverse.ChatTemplate("acme/kite").render([{"role": "user", "content": "Hi"}]), "<user>Hi</>")
        self.assertEqual(Hub.asked, asked)

    def test_a_model_that_is_not_there_is_told(self):
        with self.assertRaisesRegex(obverse.SourceError, "acme/none"):
            obverse.derive("acme/none")

    def test_the_address_of_a_page_names_its_model(self):
        self.assertEqual(obverse.derive("https://huggingface.co/acme/kite").verdict, "proved")
        with self.assertRaisesRegex(obverse.SourceError, "(?s)cannot read .*named ORG/MODEL or ORG/MODEL@REVISION"):
            obverse.derive("https://huggingface.co/datasets/acme/kite")

    def test_a_name_without_its_owner_is_told_so(self):
        for call in (obverse.derive, obverse.inspect, obverse.ChatTemplate):
            with self.assertRaisesRegex(obverse.SourceError, "(?s)cannot read gpt2.*ORG/gpt2") as raised:
                call("gpt2")
            self.assertEqual(raised.exception.code, "unreadable")
        self.assertEqual(Hub.asked, [])

    def test_offline_nothing_is_asked(self):
        with mock.patch.dict(os.environ, {"HF_HUB_OFFLINE": "1"}):
            with self.assertRaisesRegex(obverse.SourceError, "HF_HUB_OFFLINE"):
                obverse.derive("acme/kite")
        self.assertEqual(Hub.asked, [])


if __name__ == "__main__":
    unittest.main()
