//! What the linter, at its strictest, still finds in everything that is derived, and why it stays: `docs/traps.md`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use obverse::chat_template::ChatTemplateSource;
use obverse::derive::{Derivation, History, Options, derive};
use obverse::diagnostic::Severity;
use obverse::lint;
use obverse::response_template::Engine;

use crate::support::derived::{self, Derived};

/// A finding that is no mistake of a derivation's.
struct Meant {
    code: &'static str,
    severity: Severity,
    why: &'static str,
    /// Whether that is so for this derivation.
    holds: fn(&Derivation) -> bool,
}

const MEANT: &[Meant] = &[
    Meant {
        code: "close-in-string",
        severity: Severity::Info,
        why: "The close is what the chat template writes, and it writes it into strings unescaped. No response template can tell the \
              two apart; the report says so (`marker-in-text`), and a parser that skips JSON strings (`--skip-json-strings`) does.",
        holds: |derivation| says(derivation, "marker-in-text"),
    },
    Meant {
        code: "dialect",
        severity: Severity::Info,
        why: "The pattern is written for Python's `regex`, in which transformers compiles it: a bare object ends where its own end \
              and the end of the text tell, a call in a list begins where the list was opened, a closing tag says its key again. \
              `--for vllm` and `--for sglang` write what those take, or say why there is nothing.",
        holds: |_| true,
    },
    Meant {
        code: "arguments-wait",
        severity: Severity::Info,
        why: "The format is the chat template's: it writes the `id` or the name behind the arguments, or a call has \
              to be put together out of parts that stand on both sides of its arguments.",
        holds: |_| true,
    },
    Meant {
        code: "key-not-read-back",
        severity: Severity::Info,
        why: "The chat template drops reasoning, or renders it under a kwarg alone. It still has to go somewhere, and goes to the key \
              that the chat template reads, or else to the one that every engine knows.",
        holds: |derivation| {
            let history = derivation.report.reasoning.history;
            history == Some(History::Dropped) || says(derivation, "not-rendered")
        },
    },
    Meant {
        code: "key-not-read-back",
        severity: Severity::Warning,
        why: "The chat template reads content as a list of parts only, which the linter's text is not. The report says so \
              (`content-as-parts`).",
        holds: |derivation| says(derivation, "content-as-parts"),
    },
    Meant {
        code: "key-not-read-back",
        severity: Severity::Info,
        why: "The chat template reads the reasoning from a part of the content, into which no field of a response template goes. The \
              report says so (`reasoning-as-part`).",
        holds: |derivation| says(derivation, "reasoning-as-part"),
    },
    Meant {
        code: "key-not-read-back",
        severity: Severity::Warning,
        why: "The chat template renders calls only where null keys are kept or lists may be changed, as servers other than transformers \
              render; the linter renders as transformers does. The report says so (`wants-nulls`, `wants-list-methods`).",
        holds: wants_other_rules,
    },
    Meant {
        code: "dollar",
        severity: Severity::Warning,
        why: "Of vLLM's two parsers the one in Rust knows no `\\Z`. The pattern takes all white space before the `$`, so that no final line \
              feed is left for it to stand before.",
        holds: |derivation| {
            let document = derivation.document.to_json();
            let before_others = match document.contains(r"\\}\\s*(?:") {
                true => document.matches("|$)").count(),
                false => 0,
            };
            before_others + document.matches(r"\\s*$)").count() == document.matches('$').count()
        },
    },
    Meant {
        code: "loses-text",
        severity: Severity::Warning,
        why: "The chat template writes a marker before every text, and each field is derived with that for its open. What a model writes \
              without the marker no field takes; `obverse parse` and `obverse check` tell of it (`unclaimed`).",
        holds: |_| true,
    },
    Meant {
        code: "last-text-only",
        severity: Severity::Info,
        why: "The servers put no texts together, so that of text before and after a call only the last can be kept.",
        holds: |_| true,
    },
];

/// Whether calls are rendered by other rules than transformers'.
fn wants_other_rules(derivation: &Derivation) -> bool {
    says(derivation, "wants-nulls") || says(derivation, "wants-list-methods")
}

fn says(derivation: &Derivation, code: &str) -> bool {
    derivation
        .report
        .findings
        .iter()
        .any(|finding| finding.code == code)
}

/// What is found, by code and severity, and where: the chat template and the path in the response template.
type Found = BTreeMap<(&'static str, Severity), Vec<String>>;

/// What is derived for some engines, and what is found in it.
struct Linted {
    derived: usize,
    found: Found,
    /// What is found and not meant.
    mistakes: Vec<String>,
}

impl Linted {
    fn none() -> Self {
        Self {
            derived: 0,
            found: Found::new(),
            mistakes: Vec::new(),
        }
    }

    fn lint(&mut self, name: &str, source: &ChatTemplateSource, derivation: &Derivation) {
        self.derived += 1;
        let options = lint::Options::default().chat(Some(source));
        for diagnostic in lint::lint(&derivation.document.to_json(), &options) {
            let is_meant = MEANT.iter().any(|meant| {
                (meant.code, meant.severity) == (diagnostic.code, diagnostic.severity)
                    && (meant.holds)(derivation)
            });
            if !is_meant {
                self.mistakes.push(format!("{name}: {diagnostic}"));
            }
            let path = diagnostic.place.path.unwrap_or_default();
            let place = format!("{name} `{}`", path.trim_start_matches("$."));
            let key = (diagnostic.code, diagnostic.severity);
            self.found.entry(key).or_default().push(place);
        }
    }
}

/// The name by which the page calls a chat template: the project's own by the file's stem.
fn name_of(derived: &Derived) -> &str {
    match derived.is_own() {
        true => derived.stem(),
        false => &derived.name,
    }
}

/// What is derived for transformers, from these chat templates.
fn lint_all(all: &[Derived]) -> Linted {
    let mut linted = Linted::none();
    let mut sorted: Vec<_> = all.iter().collect();
    sorted.sort_by_key(|derived| name_of(derived));
    for derived in sorted {
        if let Ok(derivation) = &derived.outcome {
            linted.lint(name_of(derived), &derived.source, derivation);
        }
    }
    linted
}

/// What is derived for servers, from the project's own chat templates among these.
fn lint_served(all: &[Derived]) -> Linted {
    let mut linted = Linted::none();
    for derived in all.iter().filter(|derived| derived.is_own()) {
        let options = Options::default().engines(vec![Engine::Vllm, Engine::Sglang]);
        if let Ok(derivation) = derive(&derived.source, &options) {
            linted.lint(name_of(derived), &derived.source, &derivation);
        }
    }
    linted
}

/// Lints what is derived from these chat templates, for transformers and for servers.
///
/// # Panics
///
/// When something is found that is not meant.
fn linted(all: &[Derived]) -> [Linted; 2] {
    let own = all.iter().filter(|derived| derived.is_own()).count();
    let both = [lint_all(all), lint_served(all)];
    for linted in &both {
        assert!(linted.derived >= own);
        assert!(
            linted.mistakes.is_empty(),
            "what is derived falls into traps:\n{}",
            linted.mistakes.join("\n")
        );
    }
    both
}

#[test]
fn what_is_left_is_meant() {
    linted(derived::few());
}

#[test]
#[ignore = "derives the whole corpus; `.ci/run` runs it"]
fn what_is_left_is_meant_everywhere() {
    let has_corpus = !derived::all().iter().all(Derived::is_own);
    let [all, served] = linted(derived::all());
    for meant in MEANT {
        let key = (meant.code, meant.severity);
        // Some are found in the corpus alone.
        let is_needed = !has_corpus
            || [&all, &served]
                .iter()
                .any(|linted| linted.found.contains_key(&key));
        assert!(is_needed, "{key:?} is not found any more");
    }
    if !has_corpus {
        return;
    }
    let page = page(&all, &served);
    let path = Path::new("docs/traps.md");
    if std::env::var_os("OBVERSE_UPDATE").is_some() {
        std::fs::write(path, &page).expect("written");
    }
    assert!(
        std::fs::read_to_string(path).ok().as_deref() == Some(&page),
        "docs/traps.md is stale; run `OBVERSE_UPDATE=1 cargo test --test reference traps -- --ignored` and read the difference"
    );
}

fn page(all: &Linted, served: &Linted) -> String {
    let mut out = format!(
        "# Traps that derived response templates keep out of\n\n\
         A response template is derived from every chat template at hand for transformers ({} of them), and from each of the project's own for vLLM and \
         SGLang ({} of them). Each is linted here with every rule at its strictest, with its chat template beside it, and the table says how often each rule finds \
         something.\n\nThis page is written by `OBVERSE_UPDATE=1 cargo test --test reference traps -- --ignored`; the same test without it fails when the page is \
         stale, and when anything is found that is not meant.\n\n\
         | rule | finds | for transformers | for servers |\n|---|---|---|---|\n",
        all.derived, served.derived
    );
    for rule in lint::rules() {
        let count = |linted: &Linted| -> usize {
            let found = linted.found.iter();
            found
                .filter(|((code, _), _)| *code == rule.code)
                .map(|(_, places)| places.len())
                .sum()
        };
        let _ = writeln!(
            out,
            "| [`{0}`](lint.md#{0}) | {1} | {2} | {3} |",
            rule.code,
            rule.summary.replace('|', "\\|"),
            count(all),
            count(served)
        );
    }
    out.push_str("\n## What is left, and why\n");
    for meant in MEANT {
        let severity = format!("{:?}", meant.severity).to_lowercase();
        let _ = write!(out, "\n### {}, {severity}\n\n{}\n", meant.code, meant.why);
        for (engines, linted) in [("transformers", all), ("servers", served)] {
            if let Some(places) = linted.found.get(&(meant.code, meant.severity)) {
                let _ = write!(out, "\nFor {engines}: {}.\n", places.join(", "));
            }
        }
    }
    out
}
