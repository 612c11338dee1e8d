"""Record batches: the same as row by row, whatever the columns are made of; with datasets, and on several workers of Ray."""

import json
import os
import random
import unittest

import obverse
from support import CHAT_TEMPLATES, CHECKOUT, TEMPLATE

try:
    import pyarrow as pa

    from obverse import arrow
except ImportError:
    if os.environ.get("OBVERSE_DATASETS"):
        raise
    pa = None

CHAT = (CHAT_TEMPLATES / "qwen3.jinja").read_text(encoding="utf-8")
WORDS = ["", "Hello", "du bist schön", "你好 <think>", "a\nb", "{}", " ", "</call>", "<call>{\"n\": 1}</call>", "\U0001f600"]
TOOLS = [{"type": "function", "function": {"name": "find", "description": "Finds.", "parameters": {"type": "object", "properties": {"what": {"type": "string"}}}}}]


def conversations(count, seed=7):
    """Conversations of a few turns, with reasoning and calls here and there."""
    rng = random.Random(seed)
    all = []
    for _ in range(count):
        messages = []
        for _ in range(rng.randrange(1, 4)):
            messages.append({"role": "user", "content": rng.choice(WORDS)})
            answer = {"role": "assistant", "content": rng.choice(WORDS)}
            if rng.random() < 0.5:
                answer["reasoning_content"] = rng.choice(WORDS) or "Hm."
            if rng.random() < 0.3:
                answer["tool_calls"] = [{"type": "function", "function": {"name": "find", "arguments": {"what": rng.choice(WORDS)}}}]
            messages.append(answer)
        all.append(messages)
    return all


def characters(text):
    """A tokenizer: each character is a token."""
    return [[at, at + 1] for at in range(len(text))]


@unittest.skipIf(pa is None, "pyarrow is not installed")
class Parsing(unittest.TestCase):
    def setUp(self):
        rng = random.Random(3)
        self.responses = ["".join(rng.choices(WORDS, k=5)) + "</assistant>" for _ in range(49)]
        self.responses.insert(20, "<call>{oops</call>")
        self.expected = obverse.parse_many(self.responses, TEMPLATE, errors="return")

    def check(self, table, **options):
        done = pa.table(arrow.parse(table, TEMPLATE, **options))
        for message, error, expected in zip(done["message"].to_pylist(), done["error"].to_pylist(), self.expected, strict=True):
            if isinstance(expected, obverse.ParseError):
                self.assertIsNone(message)
                self.assertEqual(error, str(expected))
            else:
                self.assertIsNone(error)
                self.assertEqual(json.loads(message), expected)
        return done

    def test_a_dictionary_is_read_as_its_values(self):
        column = pa.array(self.responses).dictionary_encode()
        done = self.check(pa.table({"response": column}))
        self.assertEqual(done["response"].type, column.type)
        roles = pa.array(["user", "assistant"] * 2).dictionary_encode()
        messages = pa.StructArray.from_arrays([roles, pa.array(["Hi.", "Hello.", "Bye.", "Bye!"])], ["role", "content"])
        lists = pa.ListArray.from_arrays(pa.array([0, 2, 4], pa.int32()), messages)
        spans = pa.table(arrow.spans(pa.table({"messages": lists}), obverse.ChatTemplate(CHAT)))
        self.assertEqual(spans["error"].to_pylist(), [None, None])
        self.assertIn("Hello.", spans["text"][0].as_py())

    def test_columns_that_cannot_be_told_apart_are_refused(self):
        twice = pa.table([pa.array(["a"]), pa.array(["b"])], names=["response", "response"])
        with self.assertRaisesRegex(ValueError, 'several columns are called "response"'):
            arrow.parse(twice, TEMPLATE)
        with self.assertRaisesRegex(TypeError, 'are called "error"'):
            arrow.parse(pa.table({"response": ["a"]}), TEMPLATE, message="error")

    def test_ranges_that_are_not_in_order_are_refused(self):
        for ranges in ([[4, 6], [0, 2]], [[0, 9], [2, 3]], [[3, 1]]):
            table = pa.table({"generated": [ranges], "offset_mapping": [[[0, 1], [4, 5]]]})
            with self.assertRaisesRegex(TypeError, "row 0 of the column \"generated\": its ranges are not in order"):
                arrow.masks(table)

    def test_what_is_no_chat_template_is_told(self):
        with self.assertRaisesRegex(TypeError, "obverse.ChatTemplate"):
            arrow.spans(pa.table({"messages": ["[]"]}), "path")

    def test_a_column_gives_what_each_response_gives(self):
        done = self.check(pa.table({"id": range(50), "response": self.responses}))
        self.assertEqual(done.column_names, ["id", "response", "message", "error"])
        self.assertTrue(any(isinstance(one, obverse.ParseError) for one in self.expected))

    def test_texts_of_every_kind_are_read_sliced_and_in_chunks(self):
        for kind in [pa.string(), pa.large_string(), pa.string_view()]:
            column = pa.array(["left out", *self.responses], kind).slice(1)
            self.check(pa.table({"response": column}))
            chunks = pa.chunked_array([column.slice(0, 7), column.slice(7)])
            self.check(pa.table({"response": chunks}))
        self.check(pa.record_batch({"response": self.responses}), threads=1)

    def test_tools_and_prefixes_of_each_row(self):
        template = {
            "start_anchor": "A:",
            "fields": {
                "thinking": {"open": "<think>", "close": "</think>"},
                "tool_calls": {
                    "open_pattern": r"<f (?P<name>\w+)>",
                    "close": "</f>",
                    "repeats": True,
                    "content": "xml-inline",
                    "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</(?P=key)>"},
                    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}},
                },
                "content": {},
            },
        }
        typed = [{"name": "f", "parameters": {"type": "object", "properties": {"n": {"type": kind}}}} for kind in ["integer", "string"]]
        rows = {"response": ["<f f><n>1</n></f>"] * 3, "prompt": ["A:", "A:", "A:<think>"], "own": [[typed[0]], [typed[1]], None]}
        table = pa.table(rows)
        texts = table.set_column(2, "own", pa.array([json.dumps(one) for one in rows["own"]]))
        for given in [table, texts]:
            done = pa.table(arrow.parse(given, template, prefix="prompt", tools="own"))
            messages = [json.loads(message) for message in done["message"].to_pylist()]
            self.assertEqual(messages[0]["tool_calls"][0]["function"]["arguments"], {"n": 1})
            self.assertEqual(messages[1]["tool_calls"][0]["function"]["arguments"], {"n": "1"})
            self.assertEqual(messages[2], {"thinking": "<f f><n>1</n></f>"})

    def test_nothing_in_gives_nothing_out(self):
        done = pa.table(arrow.parse(pa.table({"response": pa.array([], pa.string())}), TEMPLATE))
        self.assertEqual((done.num_rows, done.column_names), (0, ["response", "message", "error"]))
        done = pa.table(arrow.parse(pa.table({"response": pa.array([None, None])}), TEMPLATE))
        self.assertEqual(done["message"].to_pylist(), [None, None])

    def test_what_is_wrong_is_said(self):
        with self.assertRaisesRegex(ValueError, "there is no column 'said'|there is no column \"said\""):
            arrow.parse(pa.table({"response": ["Hi"]}), TEMPLATE, response="said")
        with self.assertRaisesRegex(TypeError, "response.*must have texts, and has Int64"):
            arrow.parse(pa.table({"response": [1]}), TEMPLATE)
        with self.assertRaises(obverse.ParseError):
            arrow.parse(pa.table({"response": ["<call>{oops</call>"]}), TEMPLATE, error=None)


@unittest.skipIf(pa is None, "pyarrow is not installed")
class Spans(unittest.TestCase):
    def setUp(self):
        self.chat = obverse.ChatTemplate(CHAT)
        self.conversations = conversations(60)
        self.expected = self.chat.spans_many([{"messages": messages} for messages in self.conversations])

    def check(self, table):
        found = arrow.spans(table, self.chat)
        done = pa.table(found)
        self.assertEqual(done["text"].to_pylist(), [one.text for one in self.expected])
        ranges = [[(one["start"], one["end"]) for one in row] for row in done["generated"].to_pylist()]
        self.assertEqual(ranges, [one.ranges for one in self.expected])
        offsets = pa.array([characters(one.text) for one in self.expected])
        masks = pa.table(arrow.masks(done.append_column("offset_mapping", offsets)))["assistant_masks"].to_pylist()
        for mask, one in zip(masks, self.expected, strict=True):
            inside = [any(start <= at < end for start, end in one.ranges) for at in range(len(one.text))]
            self.assertEqual(mask, [int(is_inside) for is_inside in inside])

    def test_lists_of_structs_and_json_give_what_each_conversation_gives(self):
        self.check(pa.table({"messages": self.conversations}))
        self.check(pa.table({"messages": [json.dumps(one) for one in self.conversations]}))
        column = pa.array([[], *self.conversations]).slice(1)
        self.check(pa.table({"messages": pa.chunked_array([column.slice(0, 9), column.slice(9)])}))
        wide = pa.large_list(column.type.value_type)
        self.check(pa.table({"messages": column.cast(wide)}))

    def test_nothing_in_gives_nothing_out(self):
        found = pa.table(arrow.spans(pa.table({"messages": pa.array([], pa.string())}), self.chat))
        self.assertEqual((found.num_rows, found.column_names), (0, ["messages", "text", "generated", "error"]))
        nulls = pa.table({"generated": pa.array([None, None]), "offset_mapping": pa.array([None, None])})
        self.assertEqual(pa.table(arrow.masks(nulls))["assistant_masks"].to_pylist(), [None, None])

    def test_offsets_of_every_kind_are_read(self):
        ranges = pa.array([[{"start": 1, "end": 3}], None])
        pairs = [[[0, 1], [1, 2], [2, 4]], [[0, 1]]]
        kinds = [pa.list_(pa.list_(pa.int32())), pa.large_list(pa.list_(pa.uint32(), 2)), pa.list_(pa.large_list(pa.uint64()))]
        for kind in kinds:
            table = pa.table({"generated": ranges, "offset_mapping": pa.array(pairs, kind)})
            done = pa.table(arrow.masks(table, threads=1))["assistant_masks"]
            self.assertEqual(done.to_pylist(), [[0, 1, 1], None])
            self.assertEqual(done.type.value_type, pa.uint8())
        with self.assertRaisesRegex(TypeError, "lists of pairs"):
            broken = pa.array([[{"start": 0, "end": 1}, None]])
            arrow.masks(pa.table({"generated": broken, "offset_mapping": pa.array(pairs[:1])}))

    def test_tools_and_kwargs_are_rendered(self):
        messages = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"}]
        expected = self.chat.spans(messages, tools=TOOLS)
        for tools in [TOOLS, json.dumps(TOOLS)]:
            done = pa.table(arrow.spans(pa.table({"messages": [messages], "tools": [tools]}), self.chat, tools="tools"))
            self.assertEqual(done["text"].to_pylist(), [expected.text])

    def test_a_conversation_that_does_not_render_stops_no_other(self):
        rows = ["[]", "no JSON", "{}", json.dumps(self.conversations[0]), None]
        done = pa.table(arrow.spans(pa.table({"messages": pa.array(rows)}), self.chat))
        self.assertEqual([error is None for error in done["error"].to_pylist()][1:], [False, False, True, True])
        self.assertEqual(done["text"].to_pylist()[3:], [self.expected[0].text, None])
        self.assertIn("no JSON", done["error"].to_pylist()[1])

    def test_tokens_without_a_start_are_told_by_their_last_character(self):
        table = pa.table({"generated": [[{"start": 3, "end": 5}]], "offset_mapping": [[[0, 0], [0, 3], [4, 4], [4, 6], [5, 6]]]})
        done = pa.table(arrow.masks(table))
        spans = obverse.Spans("abcdef", [], [(3, 5)])
        try:
            expected = spans.mask(table["offset_mapping"].to_pylist()[0]).tolist()
        except ImportError:
            expected = [0, 0, 1, 1, 0]
        self.assertEqual(done["assistant_masks"].to_pylist(), [expected])

    def test_what_is_wrong_is_said(self):
        with self.assertRaisesRegex(TypeError, "must have lists, or their JSON as text, and has Int64"):
            arrow.spans(pa.table({"messages": [1]}), self.chat)
        with self.assertRaisesRegex(TypeError, "which JSON does not have"):
            arrow.spans(pa.table({"messages": [[{"content": b"bytes"}]]}), self.chat)
        with self.assertRaisesRegex(TypeError, "lists of pairs of whole numbers"):
            arrow.masks(pa.table({"generated": [[1]], "offset_mapping": [[1]]}))


def recipe(containing, **names):
    """What the example of docs/python.md with this text in it defines, with the model's path being that of a chat template."""
    blocks = (CHECKOUT / "docs" / "python.md").read_text(encoding="utf-8").split("```py\n")
    (block,) = [block.split("```")[0] for block in blocks if containing in block]
    # The last line speaks of a data set that is not here.
    text = block[: block.rstrip().rindex("\n")].replace("path/to/Qwen3-8B", str(CHAT_TEMPLATES / "qwen3.jinja"))
    namespace = {"__name__": "recipe", "pa": pa, "obverse": obverse, "arrow": arrow, **names}
    exec(compile(text, "docs/python.md", "exec"), namespace)
    return namespace


def tokenizer(texts, **_options):
    return {"offset_mapping": [characters(text) for text in texts]}


@unittest.skipUnless(os.environ.get("OBVERSE_DATASETS"), "datasets and Ray are not asked for")
class DataSets(unittest.TestCase):
    def setUp(self):
        self.conversations = conversations(40, seed=11)
        chat = obverse.ChatTemplate(CHAT)
        self.expected = chat.spans_many([{"messages": messages} for messages in self.conversations])

    def test_datasets_maps_batches(self):
        import datasets

        marked = recipe("def marked", tokenizer=tokenizer)["marked"]
        rows = [json.dumps(one) for one in self.conversations]
        given = datasets.Dataset.from_dict({"messages": [*rows, "no JSON"]}).with_format("arrow")
        done = given.map(marked, batched=True, batch_size=7).with_format(None)
        self.assertEqual(done["text"][:], [*(one.text for one in self.expected), None])
        self.assertIn("no JSON", done["error"][-1])
        self.assertIsNone(done["assistant_masks"][-1])
        for mask, one in zip(done["assistant_masks"][:-1], self.expected, strict=True):
            written = [at for at, bit in enumerate(mask) if bit]
            self.assertEqual(written, [at for start, end in one.ranges for at in range(start, end)])

    def test_workers_of_ray_map_batches(self):
        import ray

        made = recipe("class Marked")["Marked"]
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        try:
            rows = [{"id": at, "messages": json.dumps(one)} for at, one in enumerate(self.conversations)]
            data = ray.data.from_items(rows, override_num_blocks=4)
            done = data.map_batches(made, batch_format="pyarrow", compute=ray.data.ActorPoolStrategy(size=2)).take_all()
        finally:
            ray.shutdown()
        done.sort(key=lambda row: row["id"])
        self.assertEqual([row["text"] for row in done], [one.text for one in self.expected])
        ranges = [[(one["start"], one["end"]) for one in row["generated"]] for row in done]
        self.assertEqual(ranges, [one.ranges for one in self.expected])


if __name__ == "__main__":
    unittest.main()
