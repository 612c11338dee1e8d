# What one types daily; `just` lists it.

default:
    @just --list --unsorted

# the tests, or those whose names contain WORDS
test *WORDS:
    cargo test {{ WORDS }}

# format and lint
fix:
    cargo fmt
    cargo clippy --all-targets --all-features --fix --allow-dirty --allow-staged

# everything that must hold before a change is taken
ci:
    .ci/run

# the reference and the corpus, without which tests are skipped
setup:
    tests/reference/install
    tests/reference/install-schema
    .venv/bin/python tests/corpus/fetch.py

# write docs/formats.md anew; needs the reference and the corpus
formats:
    OBVERSE_UPDATE=1 cargo test --test reference formats -- --ignored

# write docs/recorded.md anew; needs the corpus and a release build
recorded:
    cargo build --release
    .venv/bin/python tests/corpus/llama_cases.py --obverse target/release/obverse --docs --check

# check the parser's cases against the reference
cases *FILES="tests/cases/parser/*.json":
    .venv/bin/python tests/reference/check_cases.py {{ FILES }}

# faults put into the parser, which its tests must find; needs cargo-mutants. An hour; `just mutants src/parser/watch.rs` is quicker
mutants *FILES="src/parser/**":
    cargo mutants $(printf -- '--file %s ' {{ FILES }})

# the crate's documentation, in the browser
doc:
    cargo doc --no-deps --all-features --open

# the binary: `just run derive chat_templates/qwen3.jinja`
run *ARGUMENTS:
    cargo run --release -- {{ ARGUMENTS }}

# licences, advisories and bans; needs cargo-deny
deny:
    cargo deny check
