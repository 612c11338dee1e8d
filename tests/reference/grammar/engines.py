"""Runs grammars in the engines that they are written for: llama.cpp's reader and xgrammar (GBNF, of which xgrammar's EBNF is nearly
the same language; "ebnf"), xgrammar (structural tags) and llguidance (Lark).

Reads one JSON object a line, {"format", "grammar", "texts": [...], "special": [...], "added": [...], "spelled": true}, and writes one
a line: {"error"} where the engine does not take the grammar, or {"compiled_ms", "texts": [[accepted bytes, whole], ...]}: how many bytes
of each text are a live prefix, and true where the text may end there. A text that xgrammar refuses has a third item: true where it may
end with those bytes.

The vocabulary is the 256 bytes, the end of a generation, and then the special tokens ("special", the first of them 257) and other tokens
of more than a byte ("added"). A text is fed in the longest of them that stand in it; with "spelled" byte by byte.

With the format "gbnf" and "lazy" the grammar is held from the first of "triggers" (regular expressions) on, and a text that ends
before is accepted.

With the format "builtin" the grammar is xgrammar's own structural tag for the calls of "model", with "tools", "reasoning" and "force".

With the format "vllm" the grammar is what vLLM's module makes of the response template "template" for the calls of "functions", with the
reasoning if "reasoning" is true, at the beginning of a message if "start" is.

With the format "schema" it says of each of "values", a pair of a schema and a value, whether the value is valid: {"valid": [...]}.
"""

import ctypes
import json
import pathlib
import sys
import time
import types

import tvm_ffi  # noqa: F401  before the stand-in below, which it would take for the real one


def stand_in(name, **members):
    """A module that is imported and never used: xgrammar needs torch for its kernels alone."""
    module = types.ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    sys.modules[name] = module


def empty(name):
    return type(name, (), {})


try:
    import torch  # noqa: F401
except ImportError:
    stand_in("torch", Tensor=empty("Tensor"), dtype=empty("dtype"), device=empty("device"), int32="int32", tensor=lambda *a, **k: None,
             LongTensor=empty("LongTensor"), FloatTensor=empty("FloatTensor"))
    stand_in("transformers", PreTrainedTokenizerBase=empty("Base"), PreTrainedTokenizerFast=empty("Fast"), LogitsProcessor=empty("Processor"))

# Where `sources.py` puts what it takes.
ENVIRONMENT = pathlib.Path(sys.executable).parent.parent
sys.path.append(str(ENVIRONMENT / "vllm"))

import jsonschema
import llguidance
import xgrammar
from vllm.parser import response_template_grammar
from vllm.parser.chat_parsing.response_templates import load_response_template
from xgrammar.builtin_structural_tag import get_model_structural_tag

EOS = 256
FIRST_SPECIAL = 257


class Vocabulary:
    """Bytes, the end, and tokens of more than a byte."""

    def __init__(self, case):
        self.special = [text.encode() for text in case.get("special", [])]
        self.added = [text.encode() for text in case.get("added", [])]
        self.tokens = [bytes([b]) for b in range(256)] + [b"</eos>"] + self.special + self.added
        longer = [] if case.get("spelled") else enumerate(self.tokens[FIRST_SPECIAL:], FIRST_SPECIAL)
        self.longer = sorted(longer, key=lambda token: -len(token[1]))

    def tokenized(self, text):
        """The tokens of a text, and how many bytes each of them stands for."""
        data = text.encode()
        if not self.longer:
            return list(data), [1] * len(data)
        at = 0
        tokens, lengths = [], []
        while at < len(data):
            token = next(((i, s) for i, s in self.longer if data.startswith(s, at)), None)
            if token is None:
                token = (data[at], data[at : at + 1])
            tokens.append(token[0])
            lengths.append(len(token[1]))
            at += lengths[-1]
        return tokens, lengths


class Xgrammar:
    def __init__(self, case, vocabulary):
        self.vocabulary = vocabulary
        # The tokens are given as the bytes that they are.
        size = len(vocabulary.tokens)
        metadata = json.dumps({"vocab_type": 0, "vocab_size": size, "add_prefix_space": False, "stop_token_ids": [EOS]})
        info = xgrammar.TokenizerInfo.from_vocab_and_metadata(vocabulary.tokens, metadata)
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        if case["format"] == "ebnf":
            self.compiled = compiler.compile_grammar(case["grammar"])
        else:
            self.compiled = compiler.compile_structural_tag(self.structural_tag(case))

    def structural_tag(self, case):
        grammar = case["grammar"]
        return grammar if isinstance(grammar, str) else json.dumps(grammar)

    def run(self, text):
        matcher = xgrammar.GrammarMatcher(self.compiled, terminate_without_stop_token=False)
        read = 0
        for token, length in zip(*self.vocabulary.tokenized(text)):
            if not matcher.accept_token(token):
                return [read, False, bool(matcher.accept_token(EOS))]
            read += length
        return [read, bool(matcher.accept_token(EOS))]


class Tokens:
    """A vocabulary as llguidance wants a tokenizer."""

    def __init__(self, vocabulary):
        self.eos_token_id = EOS
        self.bos_token_id = None
        self.tokens = vocabulary.tokens
        self.special_token_ids = [EOS] + [FIRST_SPECIAL + i for i in range(len(vocabulary.special))]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


class Llguidance:
    def __init__(self, case, vocabulary):
        self.vocabulary = vocabulary
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens(vocabulary)), slices=[])
        grammar = llguidance.LLMatcher.grammar_from_lark(case["grammar"])
        # Each text begins with a copy of it: to read the grammar again for each takes longer than most texts do.
        self.fresh = llguidance.LLMatcher(self.tokenizer, grammar, log_level=0)
        if self.fresh.is_error():
            raise ValueError(self.fresh.get_error())

    def run(self, text):
        matcher = self.fresh.deep_copy()
        tokens, lengths = self.vocabulary.tokenized(text)
        taken = matcher.try_consume_tokens(tokens)
        return [sum(lengths[:taken]), taken == len(tokens) and bool(matcher.is_accepting())]


class Llama:
    """llama.cpp's reader, which `sources.py` compiles."""

    library = None

    def __init__(self, case, vocabulary):
        self.vocabulary = vocabulary
        if Llama.library is None:
            Llama.library = ctypes.CDLL(str(ENVIRONMENT / "llama" / "grammar.so"))
            Llama.library.reader_new.restype = ctypes.c_void_p
            Llama.library.reader_accept.restype = ctypes.c_bool
            Llama.library.reader_read.restype = ctypes.c_size_t
            Llama.library.reader_waits.restype = ctypes.c_bool
        tokens = vocabulary.tokens
        triggers = [pattern.encode() for pattern in case.get("triggers", [])]
        error = ctypes.create_string_buffer(2000)
        reader = self.library.reader_new(
            case["grammar"].encode(),
            (ctypes.c_char_p * len(tokens))(*tokens),
            (ctypes.c_size_t * len(tokens))(*map(len, tokens)),
            ctypes.c_size_t(len(tokens)),
            (ctypes.c_char_p * len(triggers))(*triggers),
            ctypes.c_size_t(len(triggers)),
            error,
            ctypes.c_size_t(len(error)),
        )
        if reader is None:
            raise ValueError(error.value.decode(errors="replace"))
        self.reader = ctypes.c_void_p(reader)

    def run(self, text):
        self.library.reader_begin(self.reader)
        tokens, lengths = self.vocabulary.tokenized(text)
        taken = self.library.reader_read(self.reader, (ctypes.c_int32 * len(tokens))(*tokens), ctypes.c_size_t(len(tokens)))
        may_end = taken == len(tokens) and (self.library.reader_waits(self.reader) or self.library.reader_accept(self.reader, EOS))
        return [sum(lengths[:taken]), may_end]

    def __del__(self):
        if hasattr(self, "reader"):
            self.library.reader_free(self.reader)


class Builtin(Xgrammar):
    """xgrammar's hand-written structural tags."""

    def structural_tag(self, case):
        asked = case["grammar"]
        tag = get_model_structural_tag(
            asked["model"], tools=asked["tools"], tool_choice="auto", reasoning=asked["reasoning"], force_reasoning=asked["force"]
        )
        return json.dumps(tag.model_dump())


class Vllm(Xgrammar):
    """The structural tag that vLLM makes of a response template, where the model has to call."""

    def structural_tag(self, case):
        asked = case["grammar"]
        template = load_response_template(asked["template"])
        functions = [{**function, "strict": True} for function in asked["functions"]]
        tag = response_template_grammar.tool_call_structural_tag(
            template.fields["tool_calls"],
            functions,
            parallel_tool_calls=True,
            thinking=template.fields.get("thinking") if asked["reasoning"] else None,
            message_start=response_template_grammar.message_start_anchors(template) if asked["start"] else None,
        )
        if tag is None:
            raise ValueError("no structural tag")
        return json.dumps(tag)


ENGINES = {"vllm": Vllm, "builtin": Builtin, "structural-tag": Xgrammar, "ebnf": Xgrammar, "gbnf": Llama, "lark": Llguidance}


def is_valid(schema, value):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def answer(case):
    if case["format"] == "schema":
        return {"valid": [is_valid(schema, value) for schema, value in case["values"]]}
    begun = time.perf_counter()
    try:
        engine = ENGINES[case["format"]](case, Vocabulary(case))
        compiled = (time.perf_counter() - begun) * 1000
        return {"compiled_ms": compiled, "texts": [engine.run(text) for text in case["texts"]]}
    except Exception as error:  # noqa: BLE001  whatever an engine raises is its answer
        return {"error": f"{type(error).__name__}: {error}"[:2000]}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
