"""Measures derived grammars beside hand-written ones, and how their size grows with the tools.

Run with the environment of the grammar tests, from the root of the repository, with a built `obverse`:

    .venv-grammar/bin/python benches/grammars.py [PATH OF OBVERSE]

The first table is the size of the grammars of 1, 10 and 100 tools, for every way in which calls are written. The second is the time that making them
takes, beside xgrammar's own structural tags; for it `benches/` is built, unless this is left out with `--no-making`. The third is the time that an engine
takes to compile a grammar, and to read a response with it, byte by byte, which is to say token by token of a vocabulary of bytes: ours and one that
was written by hand, in turn, in the same run. Times are the fastest of several runs; a ratio above one means that ours takes longer.
"""

import hashlib
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARGUMENTS = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
OBVERSE = ARGUMENTS[0] if ARGUMENTS else str(ROOT / "target/debug/obverse")
COUNTS = [1, 10, 100]
RUNS = 5

spec = importlib.util.spec_from_file_location("engines", ROOT / "tests/reference/grammar/engines.py")
engines = importlib.util.module_from_spec(spec)
spec.loader.exec_module(engines)

# Chat templates that write calls as JSON, in tags, in sections, as JSON of a dialect, in blocks of code.
SIZES = ["qwen3", "qwen3_coder", "kimi_k2", "gemma4", "deepseek_v3", "mistral_nemo", "minimax_m2", "lfm2_5"]
# Chat templates with a structural tag of xgrammar's own, and its name.
BUILTIN = [("qwen3", "qwen_3"), ("qwen3_coder", "qwen_3_coder"), ("deepseek_v3_1", "deepseek_v3_1"), ("kimi_k2", "kimi"), ("llama3_1", "llama")]


def name_of(i):
    """Names with nothing in common."""
    return f"{hashlib.sha256(str(i).encode()).hexdigest()[:8]}_{i}"


def tools(count):
    """Tools that differ in their names and in one of their parameters."""
    def tool(i):
        properties = {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "unit": {"type": "string", "enum": ["C", "F"]},
            f"option_{i}": {"type": "boolean"},
        }
        parameters = {"type": "object", "properties": properties, "required": ["city", "days"], "additionalProperties": False}
        return {"type": "function", "function": {"name": name_of(i), "description": "It.", "parameters": parameters}}

    return [tool(i) for i in range(count)]


def obverse(*arguments):
    return subprocess.run([OBVERSE, *arguments], check=True, capture_output=True, text=True).stdout


def grammars(name, count, *arguments):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tools(count), file)
        file.flush()
        return json.loads(obverse("grammar", f"chat_templates/{name}.jinja", "--tools", file.name, "--format", "json", *arguments))


def text_of(grammar):
    return grammar if isinstance(grammar, str) else json.dumps(grammar, ensure_ascii=False, separators=(",", ":"))


def sizes():
    print("| chat template | language | 1 tool, bytes | 10 tools | 100 tools | bytes for one more tool, 1 to 10 | 10 to 100 |")
    print("|---|---|---|---|---|---|---|")
    for name in SIZES:
        of = {count: grammars(name, count) for count in COUNTS}
        for language in ["gbnf", "lark", "structural_tag", "peg"]:
            one, ten, hundred = (len(text_of(of[count][language]["grammar"]).encode()) for count in COUNTS)
            print(f"| {name} | {language} | {one} | {ten} | {hundred} | {(ten - one) / 9:.0f} | {(hundred - ten) / 90:.0f} |", flush=True)


def making():
    """Times of making grammars, ours in a process of its own, and xgrammar's structural tags in this one, one after the other."""
    command = ["cargo", "build", "--release", "--no-default-features", "--bin", "writing", "--quiet"]
    subprocess.run(command, check=True, cwd=ROOT / "benches")
    builtin = {name: model for name, model in BUILTIN}
    names = list(dict.fromkeys([*SIZES, *builtin]))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for count in COUNTS:
            paths.append(f"{folder}/{count}.json")
            pathlib.Path(paths[-1]).write_text(json.dumps(tools(count)))
        templates = [f"chat_templates/{name}.jinja" for name in names]
        out = subprocess.run([str(ROOT / "benches/target/release/writing"), *paths, "--", *templates], check=True, capture_output=True, text=True).stdout
    languages = ["gbnf", "ebnf", "lark", "structural_tag", "peg"]
    print("| chat template | the format, once | " + " | ".join(languages) + " | xgrammar's own structural tag | ratio |")
    print("|---|" + "---|" * (len(languages) + 3))
    for line, name in zip(out.splitlines(), names):
        times = json.loads(line)
        cells = [" / ".join(f"{time:.2f}" for time in times[language]) for language in languages]
        theirs = []
        if name in builtin:
            for count in COUNTS:
                theirs.append(timed(lambda: engines.get_model_structural_tag(builtin[name], tools=tools(count), tool_choice="auto", reasoning="auto").model_dump_json())[0] * 1000)
        cells.append(" / ".join(f"{time:.2f}" for time in theirs) or "-")
        cells.append(" / ".join(f"{ours / time:.2f}" for ours, time in zip(times["structural_tag"], theirs)) or "-")
        print(f"| {name} | {times['read']:.1f} | {' | '.join(cells)} |", flush=True)


def response(name, count):
    """A response with a call of the last tool, as the chat template renders it."""
    call = {"type": "function", "id": "call00001", "function": {"name": name_of(count - 1), "arguments": {"city": "Rome " * 20, "days": 3}}}
    user = {"role": "user", "content": "Hello"}
    said = {"role": "assistant", "content": "", "tool_calls": [call]}
    with tempfile.TemporaryDirectory() as folder:
        def render(messages, *arguments):
            path = pathlib.Path(folder) / "messages.json"
            path.write_text(json.dumps(messages))
            (pathlib.Path(folder) / "tools.json").write_text(json.dumps(tools(count)))
            return obverse("render", f"chat_templates/{name}.jinja", "--messages", str(path), "--tools", f"{folder}/tools.json", *arguments)

        prompt = render([user], "--add-generation-prompt")
        return prompt, render([user, said])[len(prompt):]


def timed(run):
    best, result = float("inf"), None
    for _ in range(RUNS):
        begun = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - begun)
    return best, result


def measured(kind, grammar, text):
    case = {"format": kind, "grammar": grammar}
    compiled, engine = timed(lambda: engines.ENGINES[kind](case, engines.Vocabulary(case)))
    matched, (read, whole) = timed(lambda: engine.run(text))
    # A response that is refused takes no time that could be compared.
    return compiled * 1000, matched / read * 1e6 if whole else None


def schema_rule(i):
    """The arguments of a tool, as one writes them by hand in GBNF."""
    return r'"{" ws "\"city\"" ws ":" ws string ws "," ws "\"days\"" ws ":" ws integer (ws "," ws "\"unit\"" ws ":" ws ("\"C\"" | "\"F\""))? ' + (
        f'(ws "," ws "\\"option_{i}\\"" ws ":" ws ("true" | "false"))? ws "}}"'
    )


def gbnf_by_hand(count):
    """Qwen3's calls, as one writes them by hand."""
    calls = " | ".join(f'"{name_of(i)}\\", \\"arguments\\": " args-{i}' for i in range(count))
    rules = "\n".join(f"args-{i} ::= {schema_rule(i)}" for i in range(count))
    return f"""root ::= ("<think>" text "</think>")? text ("<tool_call>\\n{{\\"name\\": \\"" ({calls}) "}}\\n</tool_call>" "\\n"?)* "<|im_end|>"? "\\n"?
text ::= [^<]*
ws ::= [ \\n\\t]?
string ::= "\\"" ([^"\\\\\\x00-\\x1f] | "\\\\" (["\\\\/bfnrt] | "u" [0-9a-fA-F]{{4}}))* "\\""
integer ::= "-"? ("0" | [1-9] [0-9]{{0,18}})
{rules}
"""


def lark_by_hand(count):
    calls = "\n     | ".join(f'"{name_of(i)}\\", \\"arguments\\": " args_{i}' for i in range(count))
    rules = "\n".join(f"args_{i}: %json {json.dumps(t['function']['parameters'])}" for i, t in enumerate(tools(count)))
    return f"""start: ("<think>" TEXT "</think>")? TEXT ("<tool_call>\\n{{\\"name\\": \\"" call "}}\\n</tool_call>" "\\n"?)* "<|im_end|>"? "\\n"?
TEXT: /[^<]*/
call: {calls}
{rules}
"""


def times():
    print("| chat template | language | tools | compile, ours, ms | by hand, ms | ratio | a byte, ours, µs | by hand, µs | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")

    def row(name, language, count, ours, theirs):
        cells = [f"{ours[0]:.1f}", f"{theirs[0]:.1f}", f"{ours[0] / theirs[0]:.2f}"]
        by_byte = [ours[1], theirs[1]]
        cells += ["refused" if time is None else f"{time:.2f}" for time in by_byte]
        cells.append("-" if None in by_byte else f"{ours[1] / theirs[1]:.2f}")
        print(f"| {name} | {language} | {count} | {' | '.join(cells)} |", flush=True)

    for count in COUNTS:
        for name, model in BUILTIN:
            prompt, text = response(name, count)
            ours = grammars(name, count, "--prefix", prompt)
            tag = text_of(ours["structural_tag"]["grammar"])
            asked = {"model": model, "tools": tools(count), "reasoning": "auto", "force": False}
            row(name, "structural tag", count, measured("structural-tag", tag, text), measured("builtin", asked, text))
            if name != "qwen3":
                continue
            for language, engine in [("GBNF, llama.cpp", "gbnf"), ("EBNF, xgrammar", "ebnf")]:
                grammar = text_of(ours["gbnf"]["grammar"])
                row(name, language, count, measured(engine, grammar, text), measured(engine, gbnf_by_hand(count), text))
            row(name, "Lark", count, measured("lark", text_of(ours["lark"]["grammar"]), text), measured("lark", lark_by_hand(count), text))


if __name__ == "__main__":
    sizes()
    print()
    if "--no-making" not in sys.argv:
        making()
        print()
    times()
