// llama.cpp's own reader of grammars, for Python: https://github.com/ggml-org/llama.cpp, `src/llama-grammar.cpp`.
//
// The reader needs of the rest of llama.cpp a vocabulary and a log. Both are here: a vocabulary of tokens that are given as the bytes
// that they stand for, of which the first behind the 256 bytes ends a generation; and a log that throws, so that a grammar that is
// not taken says why. `engines.py` calls the functions at the end.

#include "llama-grammar.h"
#include "llama-impl.h"
#include "llama-vocab.h"

#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const llama_token END = 256;

std::string told(const char * format, va_list values) {
    char text[1024];
    vsnprintf(text, sizeof text, format, values);
    return text;
}

}  // namespace

struct llama_vocab::impl {
    std::vector<std::string> pieces;
};

llama_vocab::llama_vocab() : pimpl(new impl) {}
llama_vocab::~llama_vocab() = default;

// `token_get_text` and the like are not defined: what the reader does not call, nothing needs.
const std::string & llama_vocab::token_to_piece(llama_token token) const { return pimpl->pieces.at(token); }

bool llama_vocab::is_eog(llama_token token) const { return token == END; }

int32_t llama_vocab::tokenize(
        const char * text, int32_t length, llama_token * tokens, int32_t, bool, bool) const {
    for (size_t id = 0; id < pimpl->pieces.size(); id++) {
        if (pimpl->pieces[id] == std::string(text, length)) {
            tokens[0] = static_cast<llama_token>(id);
            return 1;
        }
    }
    return length;
}

// Tokens are put into a vocabulary through the model's loader, of which there is none here: this one holds them.
struct llama_model_loader {
    std::vector<std::string> pieces;
};

void llama_vocab::load(llama_model_loader & loader, const LLM_KV &) { pimpl->pieces = loader.pieces; }

// A reference to one is passed on and never read.
struct LLM_KV {};

void llama_log_internal(ggml_log_level level, const char * format, ...) {
    if (level == GGML_LOG_LEVEL_ERROR) {
        va_list values;
        va_start(values, format);
        std::string text = told(format, values);
        va_end(values);
        throw std::runtime_error(text);
    }
}

extern "C" void ggml_abort(const char *, int line, const char * format, ...) {
    va_list values;
    va_start(values, format);
    std::string text = told(format, values);
    va_end(values);
    throw std::runtime_error("line " + std::to_string(line) + ": " + text);
}

namespace {

// A grammar with its vocabulary.
struct Reader {
    llama_vocab     vocab;
    llama_grammar * grammar = nullptr;
    llama_grammar * fresh   = nullptr;
};

}  // namespace

extern "C" {

// A reader of a grammar, or null with the reason in `error`. With triggers, which are regular expressions, the grammar is lazy.
Reader * reader_new(
        const char * text, const char ** pieces, const size_t * lengths, size_t count, const char ** triggers, size_t trigger_count,
        char * error, size_t error_size) {
    auto * reader = new Reader;
    try {
        llama_model_loader loader;
        for (size_t at = 0; at < count; at++) {
            loader.pieces.emplace_back(pieces[at], lengths[at]);
        }
        reader->vocab.load(loader, LLM_KV());
        reader->fresh =
            llama_grammar_init_impl(&reader->vocab, text, "root", trigger_count > 0, triggers, trigger_count, nullptr, 0);
        if (reader->fresh == nullptr) {
            throw std::runtime_error("no grammar");
        }
        return reader;
    } catch (const std::exception & failure) {
        snprintf(error, error_size, "%s", failure.what());
        delete reader;
        return nullptr;
    }
}

// Begins a text.
void reader_begin(Reader * reader) {
    if (reader->grammar != nullptr) {
        llama_grammar_free_impl(reader->grammar);
    }
    reader->grammar = llama_grammar_clone_impl(*reader->fresh);
}

// Whether the token may come next, as sampling asks; if so it is taken.
bool reader_accept(Reader * reader, llama_token token) {
    llama_token_data       one  = {token, 0.0f, 0.0f};
    llama_token_data_array list = {&one, 1, -1, false};
    try {
        llama_grammar_apply_impl(*reader->grammar, &list);
        if (std::isinf(one.logit)) {
            return false;
        }
        if (token != END) {
            llama_grammar_accept_impl(*reader->grammar, token);
        }
        return true;
    } catch (const std::exception &) {
        return false;
    }
}

// How many of the tokens are taken, one after the other.
size_t reader_read(Reader * reader, const llama_token * tokens, size_t count) {
    size_t taken = 0;
    while (taken < count && reader_accept(reader, tokens[taken])) {
        taken++;
    }
    return taken;
}

// True while a lazy grammar waits for its trigger.
bool reader_waits(const Reader * reader) { return reader->grammar->awaiting_trigger; }

void reader_free(Reader * reader) {
    if (reader->grammar != nullptr) {
        llama_grammar_free_impl(reader->grammar);
    }
    if (reader->fresh != nullptr) {
        llama_grammar_free_impl(reader->fresh);
    }
    delete reader;
}

}  // extern "C"
