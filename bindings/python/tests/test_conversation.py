"""Conversations: renders, spans and masks."""

import collections
import dataclasses
import functools
import pickle
import types
import unittest

import obverse
from support import CHAT_TEMPLATES, needs_reference

PLAIN = (
    "{% for m in messages %}[{{ m.role }}]{{ m.content }}[/]{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{% endif %}"
)

MESSAGES = [
    {"role": "user", "content": "Grüße, 世界!"},
    {"role": "assistant", "content": "Hallo 😀"},
    {"role": "user", "content": "Tschüss"},
    {"role": "assistant", "content": "Bis bald"},
]


class Rendering(unittest.TestCase):
    def test_a_conversation_is_rendered(self):
        chat = obverse.ChatTemplate(PLAIN)
        self.assertEqual(chat.render(MESSAGES[:1], add_generation_prompt=True), "[user]Grüße, 世界![/][assistant]")
        named = obverse.ChatTemplate("{{ word }}{{ bos_token }}", special_tokens={"bos_token": "<b>"})
        self.assertEqual(named.render([], word="Hi"), "Hi<b>")

    def test_it_is_pickled_with_its_texts(self):
        chat = obverse.ChatTemplate(CHAT_TEMPLATES / "qwen3.jinja", special_tokens={"eos_token": "<e>"})
        again = pickle.loads(pickle.dumps(chat))
        self.assertEqual(again.render(MESSAGES), chat.render(MESSAGES))
        self.assertEqual(again.spans(MESSAGES).spans, chat.spans(MESSAGES).spans)
        # Caches know it by that.
        self.assertEqual(pickle.dumps(again), pickle.dumps(chat))

    def test_what_is_done_behind_a_chat_template_is_refused(self):
        chat = obverse.ChatTemplate(PLAIN)
        with self.assertRaisesRegex(TypeError, "continue_final_message"):
            chat.render(MESSAGES, continue_final_message=True)
        with self.assertRaisesRegex(TypeError, "add_generation_prompt"):
            chat.spans(MESSAGES, add_generation_prompt=True)

    def test_the_conversation_that_fails_is_named(self):
        chat = obverse.ChatTemplate("{% for m in messages %}{{ raise_exception('no ' ~ m.role) if m.role == 'tool' else m.content }}{% endfor %}")
        right = {"messages": MESSAGES}
        with self.assertRaisesRegex(obverse.RenderError, "^conversation 2: .*no tool"):
            chat.spans_many([right, right, {"messages": [{"role": "tool", "content": ""}]}])
        with self.assertRaisesRegex(TypeError, "conversation 1: a conversation is a dict"):
            chat.spans_many([right, []])

    def test_what_is_refused_raises(self):
        chat = obverse.ChatTemplate("{{ raise_exception('no roles') }}")
        with self.assertRaisesRegex(obverse.RenderError, "no roles"):
            chat.render(MESSAGES)
        with self.assertRaises(obverse.RenderError):
            chat.spans(MESSAGES)
        with self.assertRaises(obverse.SourceError):
            obverse.ChatTemplate("{% if %}")
        with self.assertRaises(TypeError):
            chat.render("Hi")

    @needs_reference
    def test_renders_are_transformers(self):
        from transformers import PreTrainedTokenizerFast

        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(CHAT_TEMPLATES.parent / "tests" / "support" / "tokenizer.json"))
        for path in sorted(CHAT_TEMPLATES.glob("q*.jinja")):
            tokenizer.chat_template = path.read_text(encoding="utf-8")
            expected = tokenizer.apply_chat_template(MESSAGES, tokenize=False)
            self.assertEqual(obverse.ChatTemplate(path).render(MESSAGES), expected)


    def tokenizer(self, text):
        from transformers import PreTrainedTokenizerFast

        path = CHAT_TEMPLATES.parent / "tests" / "support" / "tokenizer.json"
        return PreTrainedTokenizerFast(tokenizer_file=str(path), chat_template=text)

    @needs_reference
    def test_objects_are_shown_as_transformers_shows_them(self):
        import numpy

        @dataclasses.dataclass
        class Message:
            role: str
            content: object

        class Dumped:
            def model_dump(self):
                return {"role": "user", "content": collections.UserDict({"a": (1, 2)})}

        text = "{% for m in messages %}{{ m | tojson }}{% endfor %}{{ tools | tojson }}{{ documents | tojson }}{{ odd | tojson }}"
        tokenizer, chat = self.tokenizer(text), obverse.ChatTemplate(text)
        media = [{"type": "image", "image": numpy.zeros(3)}, {"type": "text", "text": "Hi"}, {"n": numpy.int64(3), "is": numpy.bool_(False)}]
        messages = [
            collections.UserDict({"role": "user", "content": "Hi"}),
            types.MappingProxyType({"role": "user", "content": media}),
            {"role": "user", "content": Message("nested", None), "more": Dumped()},
        ]
        given = {"documents": [{"title": "T", "text": object()}], "tools": [{"name": "f", "parameters": collections.UserDict(a=1)}], "odd": {3}}
        self.assertEqual(chat.render(messages, **given), tokenizer.apply_chat_template(messages, tokenize=False, **given))
        self.assertEqual(chat.spans(messages, **given).text, chat.render(messages, **given))
        # These the tokenizer's method refuses as messages, for want of `items`.
        plain = obverse.ChatTemplate("{{ messages | tojson }}")
        self.assertEqual(plain.render([Message("user", "Hi")]), plain.render([{"role": "user", "content": "Hi"}]))
        self.assertEqual(plain.render([Dumped()]), plain.render([{"role": "user", "content": {"a": [1, 2]}}]))

    @needs_reference
    def test_what_is_no_conversation_is_refused_alike(self):
        chat, tokenizer = obverse.ChatTemplate(PLAIN), self.tokenizer(PLAIN)
        user = {"role": "user", "content": "Hi"}
        for messages, given, said in (
            ([user, "Hi"], {}, r"messages\[1\] must be an object"),
            ([user, 3], {}, r"messages\[1\] must be an object"),
            ([user], {"documents": ["x"]}, r"documents\[0\] must be an object"),
            ([user], {"tools": [functools.partial(print)]}, "partial is neither"),
            ([user], {"tools": [Spans]}, "type is neither"),
            ([user], {"tools": ["x"]}, "str is neither"),
        ):
            with self.subTest(said):
                with self.assertRaises((TypeError, ValueError, AttributeError)) as theirs:
                    tokenizer.apply_chat_template(messages, tokenize=False, **given)
                # That a text has no `items` would say little.
                kind = TypeError if isinstance(theirs.exception, AttributeError) else type(theirs.exception)
                with self.assertRaisesRegex(kind, said):
                    chat.render(messages, **given)
        for messages in ("Hi", None, 3, user):
            with self.assertRaisesRegex(TypeError, "messages must be a list of dicts, not"):
                chat.render(messages)
        with self.assertRaisesRegex(TypeError, "conversation 1: it has no `messages`"):
            chat.spans_many([{"messages": [user]}, {"message": [user]}])
        with self.assertRaisesRegex(TypeError, r"\$\.messages\[0\]\.content: the keys of a dict must be strings, not int"):
            chat.render([{"role": "user", "content": {1: 2}}])
        self.assertEqual(chat.render(iter([user])), chat.render([user]))


class Spans(unittest.TestCase):
    def test_ranges_are_in_characters(self):
        found = obverse.ChatTemplate(PLAIN).spans(MESSAGES)
        self.assertEqual([found.text[start:end] for start, end in found.ranges], ["Hallo 😀[/]", "Bis bald[/]"])
        contents = [span for span in found.spans if span.part == "content"]
        self.assertEqual([found.text[span.start : span.end] for span in contents], [one["content"] for one in MESSAGES])
        self.assertEqual([(span.message, span.role) for span in contents][:2], [(0, "user"), (1, "assistant")])

    def test_many_keep_their_order(self):
        chat = obverse.ChatTemplate(PLAIN)
        conversations = [{"messages": MESSAGES[: 2 * count], "tools": None} for count in (1, 2)] * 20
        found = chat.spans_many(conversations, threads=3)
        self.assertEqual([len(one.ranges) for one in found], [1, 2] * 20)


@needs_reference
class Masks(unittest.TestCase):
    def setUp(self):
        self.found = obverse.ChatTemplate(PLAIN).spans(MESSAGES)

    def test_arrays_have_their_shapes(self):
        self.assertEqual((self.found.generated.shape, str(self.found.generated.dtype)), ((2, 2), "int64"))
        mask = self.found.character_mask()
        self.assertEqual((mask.shape, str(mask.dtype)), ((len(self.found.text),), "uint8"))
        kept = "".join(character for character, is_own in zip(self.found.text, mask) if is_own)
        self.assertEqual(kept, "Hallo 😀[/]Bis bald[/]")
        nothing = obverse.ChatTemplate(PLAIN).spans(MESSAGES[:1])
        self.assertEqual(nothing.generated.shape, (0, 2))
        self.assertEqual(nothing.mask([(0, 1), (1, 2)]).tolist(), [0, 0])

    def test_a_token_counts_if_one_of_its_characters_does(self):
        (start, end), _ = self.found.ranges
        offsets = [(start - 2, start), (start - 1, start + 1), (start, end), (end - 1, end + 1), (end, end + 1)]
        self.assertEqual(self.found.mask(offsets).tolist(), [0, 1, 1, 1, 0])

    def test_a_token_without_a_start_counts_by_where_it_ends(self):
        (start, end), _ = self.found.ranges
        offsets = [(0, 0), (start, start), (start + 1, start + 1), (end, end), (end + 1, end + 1)]
        self.assertEqual(self.found.mask(offsets).tolist(), [0, 0, 1, 1, 0])

    def test_the_mask_of_every_cut_agrees_with_the_characters(self):
        characters = self.found.character_mask()
        for size in (1, 2, 3, 7, 50):
            offsets = [(at, min(at + size, len(self.found.text))) for at in range(0, len(self.found.text), size)]
            expected = [int(characters[start:end].any()) for start, end in offsets]
            self.assertEqual(self.found.mask(offsets).tolist(), expected)

    def test_offsets_that_are_none_of_the_text_are_refused(self):
        own = [(0, 1), (1, 2)]
        self.assertEqual(self.found.mask([]).tolist(), [])
        for wrong, why in [([own, own], "shape"), ([1, 2], "shape"), ([(0.5, 1.0)], "whole numbers"), ([(0, 10**6)], "another one"), ([(-3, 2)], "another one")]:
            with self.assertRaisesRegex(ValueError, why):
                self.found.mask(wrong)

    def test_the_mask_is_that_of_marked_chat_templates(self):
        from transformers import PreTrainedTokenizerFast

        tokenizer = PreTrainedTokenizerFast(tokenizer_file=str(CHAT_TEMPLATES.parent / "tests" / "support" / "tokenizer.json"))
        tokenizer.chat_template = (
            "{% for m in messages %}[{{ m.role }}]{% if m.role == 'assistant' %}{% generation %}{{ m.content }}[/]{% endgeneration %}"
            "{% else %}{{ m.content }}[/]{% endif %}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
        )
        theirs = tokenizer.apply_chat_template(MESSAGES, return_dict=True, return_assistant_tokens_mask=True)
        found = obverse.ChatTemplate(tokenizer).spans(MESSAGES)
        ours = tokenizer(found.text, return_offsets_mapping=True, add_special_tokens=False)
        self.assertEqual(ours["input_ids"], theirs["input_ids"])
        self.assertEqual(found.mask(ours["offset_mapping"]).tolist(), theirs["assistant_masks"])


if __name__ == "__main__":
    unittest.main()
