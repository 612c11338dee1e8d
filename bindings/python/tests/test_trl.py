"""TRL's own use of the parser, with the drop-in in its place. Left out where TRL is not installed, unless OBVERSE_TRL is set."""

import os
import unittest
from unittest import mock

import obverse
from obverse import chat_parsing
from support import CHECKOUT

try:
    from trl import chat_template_utils as trl
except ImportError:
    if os.environ.get("OBVERSE_TRL"):
        raise
    trl = None


def multiply(a: int, b: str):
    """
    Multiplies.

    Args:
        a: One.
        b: The other.
    """


RESPONSES = [
    '<think>\nHm.\n</think>\n\nHi<tool_call>\n{"name": "multiply", "arguments": {"a": "7", "b": "8"}}\n</tool_call><|im_end|>',
    "Hm.\n</think>\n\n<tool_call>\n<function=multiply>\n<parameter=a>\n7\n</parameter>\n<parameter=b>\n8\n</parameter>\n</function>\n</tool_call><|im_end|>",
    '<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.multiply <|constrain|>json<|message|>{"a": 7}<|call|>',
    '{"name": "multiply", "parameters": {"a": "7", "b": 8}}<|eot_id|>',
    "<|tool_call_start|>[multiply(a=7, b='8')]<|tool_call_end|><|im_end|>",
    '<|tool_call>call:multiply{a:7,b:<|"|>8<|"|>}<tool_call|>',
    '<tool_call>\n{"name": \n</tool_call><|im_end|>',
    "Hello<|im_end|>",
]


@unittest.skipIf(trl is None, "trl is not installed")
class Trl(unittest.TestCase):
    def tearDown(self):
        obverse.uninstall()

    def told(self, tokenizer, tools):
        """The messages that TRL makes of the responses, for each chat template that it knows."""
        told = {}
        for name, text in sorted(vars(trl).items()):
            if not name.endswith("_chat_template") or not isinstance(text, str):
                continue
            tokenizer.chat_template = text
            try:
                trl.add_response_schema(tokenizer)
                prompt = tokenizer.apply_chat_template([{"role": "user", "content": "Hi"}], add_generation_prompt=True, tokenize=False)
            except ValueError:
                continue
            prefix = tokenizer(prompt, add_special_tokens=False)["input_ids"]
            for response in RESPONSES:
                ids = tokenizer(response, add_special_tokens=False)["input_ids"]
                told[name, response] = trl.parse_response(tokenizer, ids, prefix=prefix, tools=tools)
        return told

    def test_messages_are_the_same_with_and_without(self):
        from tokenizers import Tokenizer
        from transformers import PreTrainedTokenizerFast

        bytes_alone = Tokenizer.from_file(str(CHECKOUT / "tests" / "support" / "tokenizer.json"))
        tokenizer = PreTrainedTokenizerFast(tokenizer_object=bytes_alone, eos_token="<|im_end|>")
        for tools in (None, [multiply]):
            theirs = self.told(tokenizer, tools)
            self.assertGreater(len(theirs), 100)
            self.assertTrue(any("tool_calls" in message for message in theirs.values()))
            obverse.install()
            with mock.patch.object(chat_parsing._native, "parse", wraps=chat_parsing._native.parse) as parse:
                ours = self.told(tokenizer, tools)
            obverse.uninstall()
            self.assertEqual(ours, theirs)
            self.assertEqual(parse.call_count, len(ours))


if __name__ == "__main__":
    unittest.main()
