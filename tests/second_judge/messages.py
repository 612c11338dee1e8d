"""Messages to judge by: what is said in them, and how they are made up. Nothing here knows a chat template."""

import string

PLAIN = """the river bends slowly past seven old mills and nobody remembers who built them first although many claim it was
a miller named Osric who liked rye bread more than company then winter came early bridges froze traders left their carts by
the road children learned to skate before they could read""".split()

SCRIPTS = [
    "今天天气很好，我们去公园散步吧。", "東京は日本の首都です。「はい」と答えた。", "서울은 한국의 수도입니다.", "مرحبا بالعالم، كيف حالك اليوم؟", "שלום עולם",
    "Привет, мир! Ёлка стоит.", "नमस्ते दुनिया", "สวัสดีชาวโลก", "Z̷a̸l̶g̵o t̴e̷x̶t", "e\u0301 a\u0308 n\u0303 combining", "👩‍👩‍👧‍👦 family 🏳️‍🌈 flag 👍🏽", "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒎𝒂𝒕𝒉 𐍈",
    "Straße, naïve café, Ærø, İstanbul", "zero\u200bwidth and soft\u00adhyphen", "no\u00a0break\u2009thin", "x\u2028y line separator",
]
MARKDOWN = [
    "# Title\n\nSome *emphasis*, **strong** and `code`.\n\n- one\n- two\n  - nested\n\n1. first\n2. second",
    "| a | b |\n|---|---|\n| 1 | 2 |", "> quoted\n> again\n\n---\n\n[link](https://example.org/a?b=c&d=e#f)", "~~struck~~ and ![image](x.png)\n\n***",
    "```python\ndef f(x):\n    return {'a': [x, \"y\"]}\n```\n\nThat is all.", "    indented code\n\nText with trailing backslash\\",
]
CODE = [
    "for (int i = 0; i < n && a[i] > 0; i++) { s += a[i] << 2; }", "SELECT * FROM t WHERE a <> 'it''s' AND b >= 3;", "fn main() { println!(\"{:?}\", vec![1, 2]); }",
    "if a < b and c > d:\n\tprint(f\"{a!r} \\n {b}\")\nelse:\n\tpass", "grep -E '^[a-z]+\\.(py|rs)$' | sed 's/a\\/b/c/g' && echo \"$HOME\" #!", "x = y ? z : w; // comment /* here */",
    "let s = `template ${literal}`;", "{{ jinja }} {% if x %} {# comment #} {% endif %}", "C:\\Users\\name\\new\\table", "\\frac{1}{2} \\begin{align} x &= y \\\\ \\end{align}",
]
MARKUP = [
    "<p class=\"a\">Hello <b>world</b> &amp; all</p>", "<!DOCTYPE html>\n<html><body><br/></body></html>", "<note to='x'><body>text</body></note>",
    "<?xml version=\"1.0\"?>\n<a:b xmlns:a=\"u\">1 &lt; 2</a:b>", "<![CDATA[ raw ]]>", "a <b> c </b> d <unclosed", "<div>\n  <span>nested</span>\n</div>", "<!-- a comment -->",
]
JSONISH = [
    "{\"a\": 1, \"b\": [true, null, \"x\"]}", "[1, 2, {\"k\": \"v\"}]", "{\"city\": \"Paris\"", "{}", "[]", "[[1, 2], [3]]", "null", "true", "42", "-1.5e3", "\"quoted\"",
    "{'python': 'dict', 'n': None}", "[not json]", "{not: json}", "[{\"type\": \"text\", \"text\": \"part\"}]", "key: value\nother: [1, 2]", "None", "False",
    "Use {\"x\": {\"y\": {}}} for that.",
]
HOSTILE = [
    "\"", "'", "\\", "{", "}", "[", "]", "<", ">", "|", "it's \"quoted\" and \\escaped\\ and \\\"both\\\"", "{\"broken\": ", "}}", "]]", "{{", "}}}}", "\\n is not a line", "tab\there\tand\tthere",
    "line\n\n\n\nfour breaks", "a\nb", "a \n b", "ends with quote\"", "\"begins with quote", "ends with backslash\\", "ends with brace}", "ends with bracket]", "begins\n\nwith\nlines", "a\r\nb", "a\rb",
    "<<>>", "<|", "|>", "<||>", "</", "/>", "[/", "``` unclosed", "%s %d {0} $1 \\1 \\g<0>", "\\u0041 \\x41", "a;b,c:d=e&f", "(a=1, b='2')", "-->", "...", "?", "::", "=", "==", "~", "^", "$", "*", "+",
    "ends with newline char \\n", "semi; colon: comma, period. dash- under_ at@ hash# per% amp& star*",
]
EDGES = [" x", "x ", "\nx", "x\n", "\n\nx\n\n", "\tx\t", "  two  ", "\n  \nx", "x\n \n", " \n x \n ", "x\n\n", "\u00a0x\u00a0", "\u3000x"]

FUNCTIONS = ["lookup", "send_mail", "getWeather", "a", "compute_the_very_long_named_quantity_of_interest", "f2", "list_files", "Plan", "run_query"]
ODD_FUNCTIONS = ["get-weather", "fs.read", "ns.sub.call", "tool_1-b", "v2", "_private", "UPPER", "functions", "call", "name", "a.b-c_d", "7zip"]
KEYS = ["city", "x", "max_results", "queryText", "unit", "path", "when", "options", "items", "limit", "note"]
ODD_KEYS = ["user-id", "a.b", "two words", "1st", "naïve", "键", "@type", "$ref", "name", "arguments", "content", "type", "id", "parameters", "function", "value", "key", "_", "X-Y.Z", "a:b", "a/b", "role", "items[]"]
IDS = [
    lambda rng: "".join(rng.choices(string.ascii_letters + string.digits, k=9)),
    lambda rng: "call_" + "".join(rng.choices(string.ascii_letters + string.digits, k=24)),
    lambda rng: "-".join("".join(rng.choices("0123456789abcdef", k=k)) for k in (8, 4, 4, 4, 12)),
    lambda rng: f"functions.{rng.choice(FUNCTIONS)}:{rng.randrange(4)}",
    lambda rng: "chatcmpl-tool-" + "".join(rng.choices("0123456789abcdef", k=32)),
    lambda rng: str(rng.randrange(10)),
]


def words(rng, count):
    return " ".join(rng.choice(PLAIN) for _ in range(count))


def plain_text(rng):
    size = rng.choice([1, 1, 2, 3, 5, 9, 15, 30, 60])
    text = words(rng, size)
    if rng.random() < 0.5:
        text = text[0].upper() + text[1:] + rng.choice([".", "!", "?"])
    if size > 9 and rng.random() < 0.3:
        cut = rng.randrange(len(text))
        text = text[:cut].strip() + "\n\n" + text[cut:].strip()
    return text.strip()


def long_text(rng):
    paragraphs = [rich_text(rng) if rng.random() < 0.3 else words(rng, rng.randrange(20, 120)) for _ in range(rng.randrange(4, 9))]
    return "\n\n".join(paragraphs)


def rich_text(rng):
    piece = rng.choice(rng.choice([SCRIPTS, MARKDOWN, CODE, MARKUP, JSONISH]))
    if rng.random() < 0.4:
        return piece
    before, after = words(rng, rng.randrange(1, 6)), words(rng, rng.randrange(1, 6))
    between = rng.choice([" ", "\n", "\n\n"])
    return rng.choice([f"{before}{between}{piece}", f"{piece}{between}{after}", f"{before}{between}{piece}{between}{after}"])


def hostile_text(rng):
    piece = rng.choice(HOSTILE)
    if rng.random() < 0.4:
        return piece
    return rng.choice([piece + words(rng, 2), words(rng, 2) + piece, words(rng, 2) + piece + words(rng, 1), words(rng, 1) + " " + piece + "\n" + words(rng, 1)])


def edged_text(rng):
    edge = rng.choice(EDGES)
    return edge.replace("x", words(rng, rng.randrange(1, 4))).replace("two", words(rng, 2))


TEXTS = {"plain": plain_text, "rich": rich_text, "hostile": hostile_text, "edged": edged_text, "long": long_text}


def value(rng, tier="plain", depth=0, kind=None):
    """An argument: of a type that is asked for, or of any."""
    kind = kind or rng.choices(
        ["string", "integer", "number", "boolean", "null", "object", "array"], [10, 3, 3, 2, 1, 2, 2] if depth < 3 else [8, 2, 2, 1, 1, 0.2, 0.2]
    )[0]
    text = TEXTS[tier if tier in ("rich", "hostile", "edged") else "plain"]
    if kind == "string":
        return text(rng)
    if kind == "integer":
        return rng.choice([0, 1, -1, 7, 42, -360, 1000000, rng.randrange(10**6), 2**53, 2**63, 10**30])
    if kind == "number":
        return rng.choice([0.5, -0.25, 3.0, 2.75, 3.141592653589793, 99.95, -17.5, 100.0, round(rng.uniform(-1000, 1000), 3), rng.random()])
    if kind == "boolean":
        return rng.random() < 0.5
    if kind == "null":
        return None
    size = rng.choice([0, 1, 1, 2, 3])
    if kind == "array":
        return [value(rng, tier, depth + 1) for _ in range(size)]
    keys = rng.sample(KEYS if tier == "plain" else KEYS + ODD_KEYS, size)
    return {key: value(rng, tier, depth + 1) for key in keys}


def call(rng, tier="plain", count=None, name=None, kinds=None, odd=False):
    count = rng.choice([0, 1, 1, 1, 2, 2, 3, 4]) if count is None else count
    if kinds is not None:
        count = len(kinds)
    keys = rng.sample(KEYS + (ODD_KEYS if odd else []), count)
    arguments = {key: value(rng, tier, kind=kinds[i] if kinds else None) for i, key in enumerate(keys)}
    return {"name": name or rng.choice(ODD_FUNCTIONS if odd and rng.random() < 0.5 else FUNCTIONS), "arguments": arguments, "id": None}


def call_like(rng, first, tier="plain"):
    """A further call of the same function, whose arguments have the same types."""
    from rendering import schema_type

    arguments = {key: value(rng, tier, kind=schema_type(old)) for key, old in first["arguments"].items()}
    return {"name": first["name"], "arguments": arguments, "id": None}


def calls(rng, tier, how_many):
    made = []
    for _ in range(how_many):
        if made and rng.random() < 0.4:
            made.append(call_like(rng, rng.choice(made), tier))
        else:
            name = rng.choice([n for n in FUNCTIONS if n not in {c["name"] for c in made}])
            made.append(call(rng, tier, name=name))
    return made


KINDS = ("content", "reasoning", "call", "calls", "reasoning+content", "content+call", "content+calls", "reasoning+call", "reasoning+calls", "reasoning+content+call", "reasoning+content+calls")


def message(rng, kind, tier):
    """A message of a kind; `tier` names what its texts are like."""
    parts = kind.split("+")
    inner = "plain" if tier == "long" else tier
    made = {"content": None, "reasoning": None, "calls": []}
    for part in ("content", "reasoning"):
        if part in parts:
            made[part] = TEXTS[tier](rng)
    if "call" in parts:
        made["calls"] = [call(rng, inner)]
    if "calls" in parts:
        made["calls"] = calls(rng, inner, rng.choice([2, 2, 3, 4]))
    shape = rng.choice(IDS)
    used = set()
    for each in made["calls"]:
        while each["id"] is None or each["id"] in used:
            each["id"] = shape(rng)
            shape = shape if each["id"] not in used else IDS[0]
        used.add(each["id"])
    return made


def histories(rng):
    """Conversations that a message may answer, by name; calls and results stand in them as messages of the same form."""
    def said(n=4):
        return words(rng, rng.randrange(2, 2 + n))

    def asked():
        return {"role": "user", "content": said(9).capitalize() + "?"}

    one = {"content": None, "reasoning": None, "calls": [{"name": "lookup", "arguments": {"city": said()}, "id": IDS[0](rng)}]}
    two = {"content": None, "reasoning": None, "calls": [{"name": n, "arguments": {"city": said()}, "id": IDS[0](rng)} for n in ("lookup", "find_out")]}
    answer = {"content": said(12).capitalize() + ".", "reasoning": None, "calls": []}
    thought = {"content": said(6), "reasoning": said(9), "calls": []}
    system = {"role": "system", "content": said(9)}
    return {
        "asked": [asked()],
        "instructed": [system, asked()],
        "second turn": [asked(), answer, asked()],
        "after a result": [asked(), one, ("results", one)],
        "after two results": [system, asked(), two, ("results", two)],
        "after a called turn": [asked(), one, ("results", one), answer, asked()],
        "long": [system, asked(), thought, asked(), one, ("results", one), answer, asked()],
    }
