"""Runs grammars in the engines that they are written for: xgrammar (structural tags, and EBNF for GBNF) and llguidance (Lark).

Reads one JSON object a line, {"format", "grammar", "texts": [...], "special": [...]}, and writes one a line: {"error"} where the
engine does not take the grammar, or {"compiled_ms", "texts": [[accepted bytes, whole], ...]}: how many bytes of each text are a live
prefix, and true where the text may end there. A text that xgrammar refuses has a third item: true where it may end with those bytes.

With the format "builtin" the grammar is xgrammar's own structural tag for the calls of "model", with "tools", "reasoning" and "force".

With the format "vllm" the grammar is what vLLM's module makes of the response template "template" for the calls of "functions", with the
reasoning if "reasoning" is true, at the beginning of a message if "start" is.

With the format "schema" it says of each of "values", a pair of a schema and a value, whether the value is valid: {"valid": [...]}.
"""

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

# Where `install-grammar` puts vLLM's module.
sys.path.append(str(pathlib.Path(sys.executable).parent.parent / "vllm"))

import jsonschema
import llguidance
import xgrammar
from vllm.parser import response_template_grammar
from vllm.parser.chat_parsing.response_templates import load_response_template
from xgrammar.builtin_structural_tag import get_model_structural_tag

EOS = 256
FIRST_SPECIAL = 257


def tokens_of(text, special):
    """The text as bytes and special tokens: each token with the bytes that it stands for."""
    at = 0
    data = text.encode()
    spelled = sorted(((s.encode(), FIRST_SPECIAL + i) for i, s in enumerate(special)), key=lambda s: -len(s[0]))
    while at < len(data):
        token = next(((s, i) for s, i in spelled if data.startswith(s, at)), None)
        if token is None:
            token = (data[at : at + 1], data[at])
        yield token[1], len(token[0])
        at += len(token[0])


class Xgrammar:
    def __init__(self, kind, grammar, special):
        vocab = [bytes([b]) for b in range(256)] + [b"</eos>"] + [s.encode() for s in special]
        # The tokens are given as the bytes that they are.
        metadata = json.dumps({"vocab_type": 0, "vocab_size": len(vocab), "add_prefix_space": False, "stop_token_ids": [EOS]})
        info = xgrammar.TokenizerInfo.from_vocab_and_metadata(vocab, metadata)
        compiler = xgrammar.GrammarCompiler(info, max_threads=1, cache_enabled=False)
        if kind == "structural-tag":
            tag = grammar if isinstance(grammar, dict) else json.loads(grammar)
            self.compiled = compiler.compile_structural_tag(json.dumps(tag))
        else:
            self.compiled = compiler.compile_grammar(grammar)

    def run(self, text, special):
        matcher = xgrammar.GrammarMatcher(self.compiled, terminate_without_stop_token=False)
        read = 0
        for token, length in tokens_of(text, special):
            if not matcher.accept_token(token):
                return [read, False, bool(matcher.accept_token(EOS))]
            read += length
        return [read, bool(matcher.accept_token(EOS))]


class Tokens:
    """Bytes and special tokens as llguidance wants a tokenizer."""

    def __init__(self, special):
        self.eos_token_id = EOS
        self.bos_token_id = None
        self.tokens = [bytes([b]) for b in range(256)] + [b"</eos>"] + [s.encode() for s in special]
        self.special_token_ids = [EOS] + [FIRST_SPECIAL + i for i in range(len(special))]

    def __call__(self, text):
        return list(text if isinstance(text, bytes) else text.encode())


class Llguidance:
    def __init__(self, _kind, grammar, special):
        self.tokenizer = llguidance.LLTokenizer(llguidance.TokenizerWrapper(Tokens(special)), slices=[])
        self.grammar = llguidance.LLMatcher.grammar_from_lark(grammar)
        error = llguidance.LLMatcher.validate_grammar(self.grammar, self.tokenizer)
        if error:
            raise ValueError(error)

    def run(self, text, special):
        matcher = llguidance.LLMatcher(self.tokenizer, self.grammar, log_level=0)
        if matcher.is_error():
            raise ValueError(matcher.get_error())
        read = 0
        for token, length in tokens_of(text, special):
            if matcher.is_stopped() or not matcher.try_consume_tokens([token]):
                return [read, False]
            read += length
        return [read, bool(matcher.is_accepting())]


class Builtin(Xgrammar):
    """xgrammar's hand-written structural tags."""

    def __init__(self, _kind, asked, special):
        tag = get_model_structural_tag(
            asked["model"], tools=asked["tools"], tool_choice="auto", reasoning=asked["reasoning"], force_reasoning=asked["force"]
        )
        super().__init__("structural-tag", tag.model_dump(), special)


class Vllm(Xgrammar):
    """The structural tag that vLLM makes of a response template, where the model has to call."""

    def __init__(self, _kind, asked, special):
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
        super().__init__("structural-tag", tag, special)


ENGINES = {"vllm": Vllm, "builtin": Builtin, "structural-tag": Xgrammar, "gbnf": Xgrammar, "lark": Llguidance}


def is_valid(schema, value):
    return jsonschema.Draft202012Validator(schema).is_valid(value)


def answer(case):
    if case["format"] == "schema":
        return {"valid": [is_valid(schema, value) for schema, value in case["values"]]}
    special = case.get("special", [])
    begun = time.perf_counter()
    try:
        engine = ENGINES[case["format"]](case["format"], case["grammar"], special)
        compiled = (time.perf_counter() - begun) * 1000
        return {"compiled_ms": compiled, "texts": [engine.run(text, special) for text in case["texts"]]}
    except Exception as error:  # noqa: BLE001  whatever an engine raises is its answer
        return {"error": f"{type(error).__name__}: {error}"[:2000]}


def main():
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
