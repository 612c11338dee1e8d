"""Conversations: renders, spans and masks."""

import pickle
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
