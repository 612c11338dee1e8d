"""The law's harness is judged: what is renamed must be renamed everywhere and consistently, and what differs must be told.

    python -m unittest discover -s tests/metamorphic
"""

import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import changes  # noqa: E402
import documents  # noqa: E402
import law  # noqa: E402
import markers  # noqa: E402
import rendering  # noqa: E402
from changes import ChatTemplate, Skip  # noqa: E402
from jinja_source import NotJinja, constant, kwargs, pieces, program, value, with_texts  # noqa: E402

SOURCE = """\
{#- A remark. -#}
{%- for m in messages %}
  {{- '<|' ~ m.role ~ '|>' }}
  {%- if '</think>' in m.content and think is defined %}
    {{- m.content.split("</think>")[0].replace("<think>", "") + "\\n" + "</think>" }}
  {%- endif %}
  {{- "<call>{\\"name\\": \\"" ~ m.name ~ "\\"}" }}<end>
{%- endfor %}
"""


def chat(source, tokens=law.TOKENS):
    return ChatTemplate("x.jinja", source, tokens)


class Source(unittest.TestCase):
    def test_pieces_are_where_they_say(self):
        for piece in pieces(SOURCE):
            self.assertEqual(SOURCE[piece.start : piece.end], piece.text)

    def test_a_constant_is_what_it_stands_for(self):
        for text in ("a", "a\"b'c", "\\", "\n\t", "ü⟦", "\x00"):
            for quote in "'\"":
                self.assertEqual(value(constant(text, quote)), text)

    def test_text_and_constants_are_changed_and_nothing_else(self):
        source = "a{{ 'a' ~ a.a }}{# a #}{% if a %}a{% endif %}"
        self.assertEqual(with_texts(source, pieces(source), str.upper), "A{{ 'A' ~ a.a }}{# a #}{% if a %}A{% endif %}")

    def test_a_change_that_makes_jinja_of_a_text_is_refused(self):
        with self.assertRaises(NotJinja):
            with_texts("{a}", pieces("{a}"), lambda text: text.replace("a", "% b %"))

    def test_programs_are_alike_however_they_are_written(self):
        one = program(pieces("a{{ 'b' }}c{# d #}{%- if x %}{{ 'y' ~ z }}{% endif %}"))
        self.assertEqual(one, program(pieces("abc{% if  x -%} {{ \"y\" ~ z }}{% endif %}")))
        self.assertNotEqual(one, program(pieces("abc {% if x %}{{ 'y' ~ z }}{% endif %}")))

    def test_kwargs_are_what_a_source_reads_and_does_not_set(self):
        self.assertEqual(kwargs("{% set a = b %}{{ a ~ eos_token ~ messages }}{% for c in d %}{{ c }}{% endfor %}"), ["b", "d"])


class Markers(unittest.TestCase):
    def test_markers_that_nothing_but_their_likeness_tells_apart(self):
        every = ["<bot>", "<think>", "</think>", "<end>"]
        self.assertEqual(markers.told_by_likeness(every, ["<bot><think>", "</think>", "<end>"]), {"<bot>", "<think>", "</think>"} - {"<bot>"})
        self.assertEqual(markers.told_by_likeness(every, ["<bot><think>", "<think>", "</think>", "<end>"]), set())
        self.assertTrue(markers.are_alike("<think>", "</think>"))
        self.assertFalse(markers.are_alike("<think>", "<end>"))

    def test_markers_beside_something_else(self):
        self.assertEqual(markers.beside_others(["<a>", "<b>", "<c>"], ["<a>user<b>", "\n<c>\n"]), {"<a>", "<b>"})

    def test_no_word_is_like_another(self):
        for name in ("words", "script"):
            words = [markers.MAPS[name]("", index) for index in range(150)]
            self.assertEqual(len(set(words)), len(words))
            self.assertFalse(any(markers.are_alike(one, other) for one in words[:40] for other in words[:40]))

    def test_some_markers_have_three_signs(self):
        images = markers.images(["<a>", "<b>"], "signs", [], {"<b>"})
        self.assertEqual([len(image) for image in images.values()], [1, 3])

    def test_shapes(self):
        for text, found in {
            "a <b> c </b> <|d e|> <｜f｜>": ["<b>", "</b>", "<|d e|>", "<｜f｜>"],
            "[INST] x [/INST] [[end]] «fin» 【終】 {halt}": ["[INST]", "[/INST]", "[[end]]", "«fin»", "【終】", "{halt}"],
            "<function=": ["<function="],
            '<invoke name="': ["<invoke name="],
            "§over§ %%x%% #~y~# **b**": ["§over§", "%%x%%", "#~y~#", "**b**"],
            'if a < b and c > d: f(x), [1], ["a"], {"a": 1}, {}': [],
            "well-known": [],
        }.items():
            self.assertEqual(markers.found_in(text), found, text)

    def test_images_are_told_apart(self):
        found = ["<s>", "</s>", "<|s|>", "<tool>", "<tool_call>", "<f=", '<|"|>', *(f"<m{n}>" for n in range(120))]
        for name in markers.MAPS:
            images = markers.images(found, name, ["⟦s⟧ K", *found])
            self.assertEqual(list(images), found)
            for image in images.values():
                self.assertEqual(sum(image in other for other in images.values()), 1, image)
                self.assertNotIn(image, "⟦s⟧ K")

    def test_a_longer_marker_is_not_taken_for_a_shorter_one(self):
        renaming = markers.Renaming({"<a": "1", "<a>": "2"})
        self.assertEqual(renaming("<a><a =<b>"), "21 =<b>")

    def test_what_is_made_of_parts(self):
        self.assertEqual(markers.made_of_parts(["<|user|>x<end><f=g>"], ["<|", "|>", "<end>", "<f="], ["<end>", "<f="]), ["<|user|>"])


class Changes(unittest.TestCase):
    def test_markers_are_renamed_in_text_and_in_constants(self):
        change = changes.renamed_markers(chat(SOURCE), "brackets", ["<think>", "</think>", "<end>"], [])
        for expected in ("'⟦/think⟧' in m.content", 'split("⟦/think⟧")', 'replace("⟦think⟧", "")', "}⟦end⟧\n", "'<|' ~ m.role"):
            self.assertIn(expected, change.source)

    def test_special_tokens_are_renamed(self):
        change = changes.renamed_markers(chat("{{ eos_token }}", {"eos_token": "<e>"}), "words", ["<e>"], [])
        self.assertEqual(list(change.names), ["<e>"])
        self.assertEqual(change.tokens["eos_token"], change.names["<e>"])

    def test_signs_are_renamed_in_parts_too(self):
        given = chat("{{ '<' ~ a ~ '>§' if 1 < 2 }}")
        for map_name, signs, expected in (("angles", ["<", ">"], "{{ '‹' ~ a ~ '›§' if 1 < 2 }}"), ("moons", ["<", ">", "§"], "{{ '☰' ~ a ~ '☱☲' if 1 < 2 }}")):
            self.assertEqual(changes.signs_of(given, map_name), signs)
            self.assertEqual(changes.renamed_signs(given, map_name, signs, []).source, expected)
        self.assertEqual(changes.signs_of(chat('{"a": [1], b = c.d - 1!}'), "moons"), [])

    def test_keys_that_are_written_by_hand_are_renamed(self):
        change = changes.renamed_keys(chat("""{"name": {{ {"name": m.name} | tojson }}, {{ "\\"name\\": " }}"""))
        image = change.names["name"]
        self.assertEqual(change.source, f"""{{"{image}": {{{{ {{"name": m.name}} | tojson }}}}, {{{{ "\\"{image}\\": " }}}}""")
        with self.assertRaises(Skip):
            changes.renamed_keys(chat("{{ messages | tojson }}"))

    def test_kwargs_are_renamed_where_they_are_variables(self):
        change = changes.renamed_kwargs(chat("{% set x = namespace(b=b) %}{{ tools.b | b if b is defined and 1 is b }}{% set b = b %}"))
        self.assertEqual(change.kwargs, {"b": "dial_1"})
        self.assertEqual(change.source, "{% set x = namespace(b=dial_1) %}{{ tools.b | b if dial_1 is defined and 1 is b }}{% set dial_1 = dial_1 %}")

    def test_remarks_change_no_program(self):
        for source in (SOURCE, "a{{ b }}\nc{% if d %}\ne{% endif %} f", "{% if a -%}  b{% endif %}\n"):
            change = changes.comments_added(chat(source))
            self.assertGreater(change.source.count("{#"), source.count("{#"))
            self.assertEqual(program(pieces(change.source)), program(pieces(source)))
        self.assertNotIn("{#", changes.comments_removed(chat(SOURCE)).source)

    def test_the_other_quotes(self):
        self.assertEqual(changes.quotes_changed(chat("""{{ 'a"' ~ "b" }}""")).source, """{{ "a\\"" ~ 'b' }}""")

    def test_constants_side_by_side_become_one(self):
        for source, expected in {
            "{{ 'a' + 'b' ~ c }}": "{{ 'ab' ~ c }}",
            "{{ 'a' + 'b' | trim + 'c' + 'd' }}": "{{ 'a' + 'b' | trim + 'cd' }}",
            "{{ c ~ 'a' ~ 'b' }}": "{{ c ~ 'ab' }}",
            "x {{- 'a' -}} b{{ c }}": "xab{{ c }}",
            "x{{ 'a\n' }}{%- if c %}{% endif %}y{{ 'z' }}": "x{{ 'a\n' }}{%- if c %}{% endif %}yz",
        }.items():
            try:
                found = changes.constants_joined(chat(source)).source
            except Skip:
                found = source
            self.assertEqual(found, expected)


class Documents(unittest.TestCase):
    renaming = markers.Renaming({"<|a b|>": "{!a!}", "<name>": "{!n!}"})

    def test_markers_are_renamed_in_literals_and_patterns(self):
        document = {
            "start_anchor": ["<|a b|>x", "<name>"],
            "fields": {"f": {"open_pattern": r"<\|a\s*b\|>(?P<name>[^\s<]+)<name>", "close": "<name>", "transform": {"function": "<name>{name}"}}},
        }
        self.assertEqual(
            documents.renamed(document, self.renaming),
            {
                "start_anchor": ["{!a!}x", "{!n!}"],
                "fields": {"f": {"open_pattern": r"\{!a!\}(?P<name>[^\s<]+)\{!n!\}", "close": "{!n!}", "transform": {"function": "<name>{name}"}}},
            },
        )

    def test_signs_are_renamed_but_for_syntax(self):
        renaming = markers.Signs({"<": "‹", ">": "›"})
        document = {"open_pattern": r"(?<=<)(?P<name>[^>]+)>(?P=name)"}
        self.assertEqual(documents.renamed(document, renaming), {"open_pattern": r"(?<=‹)(?P<name>[^›]+)›(?P=name)"})

    def test_what_a_marker_is_cut_down_to_is_left_out(self):
        for pattern, expected in {
            r"</c>\s*(?:</s>\s*|<(?:/(?:s)?)?\s*\Z)?": r"</c>\s*(?:</s>\s*)?",
            r"(?:</s>|<(?:/(?:s)?)?\s*$)?\s*": r"(?:</s>)?\s*",
            r"(?:<\|e\|>\s*|(?:<(?:\|.{0,2})?)?\s*\Z)": r"(?:<\|e\|>\s*|\s*\Z)",
            r"(?:%\s*|%\s*\Z)?": r"(?:%\s*)?",
            r"(?:a|b\s*\Z)": r"(?:a|b\s*\Z)",
            r"(?:x|\]<y>\s*|\](?:<.{0,22})?\s*\Z)?": r"(?:x|\]<y>\s*)?",
        }.items():
            self.assertEqual(documents.without_beginnings(pattern), expected)

    def test_sets_say_nothing_of_first_signs(self):
        self.assertEqual(documents.without_first_signs(r"[^\s<]+[^>][^\]<>]", {"<", "]"}), r"[^\s·]+[^>][^>·]")
        self.assertEqual(documents.without_first_signs(r"[^\s<]", {"s"}), r"[^\s<]")
        self.assertEqual(documents.without_first_signs(r"[^\s<]", {"<", "K"}), r"[^\s]")

    def test_keys_are_renamed_in_patterns_and_transforms(self):
        names = {"name": "n1", "arguments": "a1"}
        whole = {"fields": {"f": {"open_pattern": r'"name":\s*"(?P<name>x)', "transform": {"type": "function", "function": "{content}"}}}}
        named = documents.with_keys(whole, names)["fields"]["f"]
        self.assertEqual(named["open_pattern"], r'"n1":\s*"(?P<name>x)')
        self.assertEqual(named["transform"]["function"], {"name": "{content.n1}", "arguments": "{content.a1}"})
        either = {"fields": {"f": {"open_pattern": r'\{\s*(?:"name"|"arguments")\s*:|"name"'}}}
        self.assertEqual(documents.with_keys(either, names)["fields"]["f"]["open_pattern"], r'\{\s*(?:"n1"|"a1")\s*:|"name"')
        each = {"fields": {"f": {"transform": {"function": {"name": "{name}"}}, "transform_each": True}}}
        self.assertEqual(documents.with_keys(each, names)["fields"]["f"]["transform"], {"function": {"name": "{n1}"}})
        absent = {"fields": {"f": {**each["fields"]["f"], "open_pattern": r"(?P<name>)\[(?P<kind>x)"}}}
        self.assertEqual(documents.with_keys(absent, names)["fields"]["f"]["open_pattern"], r"(?P<n1>)\[(?P<kind>x)")

    def test_differences(self):
        self.assertEqual(list(documents.differences({"a": [1, {"b": 2}], "c": 3}, {"a": [1, {"b": 4}], "d": 5})), [(("a", 1, "b"), 2, 4), (("c",), 3, None), (("d",), None, 5)])
        self.assertEqual([path for path, _, _ in documents.differences({"a": 1, "b": 2}, {"b": 2, "a": 1})], [("order",)])


class Compared(unittest.TestCase):
    report = {
        "verdict": "proved",
        "rounds": {"passed": 3, "cut": 9},
        "kinds": [{"kind": "content", "rendered": True, "tried": 3, "came_back": 3, "alike": 0, "manner": "as usual", "left_out": []}],
    }
    document = {"start_anchor": "<a>", "fields": {"content": {"close_pattern": "<e>\\s*"}}}
    change = changes.Change("", {})

    def compared(self, report=None, document=None, status=0, change=None):
        original, other = (0, self.report, self.document), (status, {**self.report, **(report or {})}, document or self.document)
        return [(d.part, d.what) for d in law.compared(original, other, change or self.change)]

    def test_the_same_differs_in_nothing(self):
        self.assertEqual(self.compared(), [])

    def test_everything_that_differs_is_told(self):
        self.assertEqual(self.compared({"verdict": "not_proved"}, status=1), [("status", "status 0 becomes 1"), ("verdict", "verdict proved becomes not_proved")])
        self.assertEqual(self.compared({"kinds": [{**self.report["kinds"][0], "came_back": 2}]}), [("kinds", "kinds: came_back")])
        self.assertEqual(self.compared({"rounds": {"passed": 2, "cut": 9}}), [("rounds", "rounds: passed")])
        self.assertEqual(self.compared(document={**self.document, "start_anchor": "<b>"}), [("template", "start_anchor: is another")])
        literal = {**self.document, "fields": {"content": {"close": "<e>"}}}
        self.assertEqual(self.compared(document=literal), [("template", "fields.content.close_pattern becomes close")])

    def test_what_the_report_says_in_its_own_words_stays(self):
        row = {**self.report["kinds"][0], "manner": "under `x`", "left_out": [{"count": 1, "why": "it raised: no <a>"}]}
        change = changes.Change("", {}, text=lambda text: text.replace("`", "☰").replace("<a>", "⟦a⟧"))
        other = {**row, "left_out": [{"count": 1, "why": "it raised: no ⟦a⟧"}]}
        self.assertEqual(list(law.compared_kinds([row], [other], change)), [])
        self.assertEqual([d.what for d in law.compared_kinds([row], [{**other, "manner": "under `y`"}], change)], ["kinds: manner"])

    def test_how_often_a_response_is_cut_short_follows_from_lengths(self):
        cut = {"rounds": {"passed": 3, "cut": 8}}
        self.assertEqual(self.compared(cut), [("rounds", "rounds: cut")])
        self.assertEqual(self.compared(cut, change=changes.Change("", {}, text=lambda text: text)), [])

    def test_the_renamed_is_the_same(self):
        renaming = markers.Renaming({"<a>": "⟦a⟧", "<e>": "⟦e⟧"})
        change = changes.Change("", {}, text=renaming, document=lambda d: documents.renamed(d, renaming))
        other = {"start_anchor": "⟦a⟧", "fields": {"content": {"close_pattern": "⟦e⟧\\s*"}}}
        self.assertEqual(self.compared(document=other, change=change), [])
        self.assertEqual(self.compared(change=change), [("template", "start_anchor: is another"), ("template", "fields.content.close_pattern: is another")])


class Known(unittest.TestCase):
    def test_a_list_is_read_as_it_was_written(self):
        difference = law.Difference("kinds", "kinds: tried", 1, 2)
        outcomes = [law.Outcome("x", name, differences=(difference, difference._replace(part="rounds"))) for name in ("words", "script")]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "known.txt"
            law.write_known(path, {("y", "keys", "template"), ("x", "words", "verdict")}, outcomes)
            known = law.read_known(path)
        self.assertEqual(known, {("y", "keys", "template"), *(("x", name, part) for name in ("words", "script") for part in ("kinds", "rounds"))})
        self.assertEqual(law.entry_for(known, "x", "words", "kinds"), ("x", "words", "kinds"))
        self.assertIsNone(law.entry_for(known, "x", "words", "verdict"))
        self.assertEqual(law.entry_for({("*", "words", "*")}, "x", "words", "verdict"), ("*", "words", "*"))


class FakeRenders:
    """Renders of a chat template that writes a text before each message's content: `<m>` gives `<m>A question`."""

    def __init__(self, lines, before):
        self.texts = [before + line["messages"][-1]["content"] if isinstance(line["messages"][-1].get("content"), str) else None for line in lines]


class Rendered(unittest.TestCase):
    def test_a_renaming_that_is_not_consistent_is_found(self):
        renaming = markers.Renaming({"<m>": "⟦m⟧"})
        change = changes.Change("", {}, text=renaming)
        lines = [*rendering.lines(["a"]), *rendering.spoken_lines(["<m>"])]
        changed = [rendering.changed_line(line, change) for line in lines]
        before = FakeRenders(lines, "<m>")
        self.assertIsNone(rendering.disagreement(before, FakeRenders(changed, "⟦m⟧"), change, False))
        self.assertEqual(rendering.disagreement(before, FakeRenders(changed, "<m>"), change, False)[:2], ("⟦m⟧A question", "<m>A question"))

    def test_what_speaks_of_markers_is_renamed_with_them(self):
        change = changes.Change("", {}, text=markers.Renaming({"<m>": "⟦m⟧"}), kwargs={"a": "b"})
        line = {"messages": [{"role": "user", "content": "x<m>"}], "kwargs": {"a": "<m>"}}
        self.assertEqual(rendering.changed_line(line, change), {"messages": [{"role": "user", "content": "x⟦m⟧"}], "kwargs": {"b": "<m>"}})


if __name__ == "__main__":
    unittest.main()
