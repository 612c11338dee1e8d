"""Times `obverse derive --hub-list` over made-up models that a server on this machine has.

    cargo build --release                     # the binary, at the top of the repository
    python3 benches/hub.py [--models N] [--variants N] [--delay MS] [--binary FILE]

The models share the chat templates of `chat_templates/`, each of which comes in some variants that are called otherwise in a remark, since most
models of the Hub share a few hundred chat templates as well. Every third model has its chat template in a file of its own, the others in
`tokenizer_config.json`, with a list of tokens of their own for one in ten. The server waits `--delay` milliseconds before each answer, as a
server far away does. Told are the requests by what they are for, and the time of a first run, of a second one from the cache alone, and of a third
one that has nothing to do.
"""

import argparse
import collections
import hashlib
import http.server
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMIT = "89abcdef0123456789abcdef0123456789abcdef"


def tag(content):
    """The tag of a content, as git makes it."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def model(number, variants):
    """The files of a model."""
    chats = sorted((ROOT / "chat_templates").glob("*.jinja"))
    # As on the Hub, a few chat templates have most of the models.
    at = int(len(chats) * ((number * 0.6180339887) % 1) ** 2)
    chat = chats[at].read_text() + ("{# variant %d #}" % (number % variants) if number % variants else "")
    config = {"added_tokens_decoder": {"1": {"content": "<s>", "special": True}}, "bos_token": "<s>", "eos_token": "</s>"}
    if number % 10 == 0:
        config["added_tokens_decoder"]["2"] = {"content": f"<extra_{number}>", "special": True}
    files = {"generation_config.json": b'{"eos_token_id": 2}', "config.json": b"{}", "README.md": b"%d" % number}
    if number % 3:
        config["chat_template"] = chat
    else:
        files["chat_template.jinja"] = chat.encode()
    files["tokenizer_config.json"] = json.dumps(config).encode()
    return files


class Hub(http.server.BaseHTTPRequestHandler):
    """Speaks the two paths that are used."""

    protocol_version = "HTTP/1.1"
    counts = collections.Counter()
    delay = 0.0
    variants = 1

    def do_GET(self):
        time.sleep(self.delay)
        path = self.path.split("?")[0].strip("/").split("/")
        if path[:2] == ["api", "models"]:
            files = model(int(path[3][1:]), self.variants)
            siblings = [{"rfilename": name, "size": len(text), "blobId": tag(text)} for name, text in files.items()]
            told = {"id": f"{path[2]}/{path[3]}", "sha": COMMIT, "siblings": siblings}
            self.answer("the list of files", json.dumps(told).encode())
        else:
            content = model(int(path[1][1:]), self.variants)[path[4]]
            self.answer(path[4], content, {"ETag": f'"{tag(content)}"', "X-Repo-Commit": COMMIT})

    def answer(self, what, content, headers=None):
        Hub.counts[what] += 1
        self.send_response(200)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--models", type=int, default=2000)
    parser.add_argument("--variants", type=int, default=3)
    parser.add_argument("--delay", type=float, default=50)
    parser.add_argument("--binary", default=str(ROOT / "target/release/obverse"))
    args = parser.parse_args()
    Hub.delay, Hub.variants = args.delay / 1000, args.variants
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "list.txt").write_text("".join(f"org/m{number}\n" for number in range(args.models)))
        variables = {name: value for name, value in os.environ.items() if not name.upper().endswith("_PROXY")}
        variables |= {"HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}", "HF_HOME": str(folder / "hf")}
        variables.pop("HF_HUB_OFFLINE", None)
        for name, out in [("first, all fetched", "one"), ("from the cache alone", "two"), ("nothing to do", "two")]:
            Hub.counts.clear()
            before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
            command = [args.binary, "derive", "--hub-list", "list.txt", "--out-dir", out, "--format", "json"]
            ran = subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            took = time.monotonic() - begun
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            if ran.returncode > 1:
                print(ran.stderr.decode()[-2000:])
            processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            told = json.loads(ran.stdout)
            print(f"{name}: {len(told['models'])} models, {len(told['templates'])} chat templates, {took:.1f} s, {processor:.1f} s of processors,"
                  f" {args.models / took:.0f} models a second, {after.ru_maxrss // 1024} MiB at most")
            print(f"  {sum(Hub.counts.values()) / args.models:.2f} requests for each model: {dict(Hub.counts)}")


if __name__ == "__main__":
    main()
