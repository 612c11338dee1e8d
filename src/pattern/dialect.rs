//! How other regular expression engines read a pattern.

use super::syntax::ast::{Node, RepeatKind};
use super::syntax::parse;
use super::tokens::{Kind, tokens};

/// The parts of a source that compiles which other engines read differently or refuse, each in a few words; in no particular order and
/// without repetitions.
pub fn foreign(source: &str) -> Vec<&'static str> {
    let mut notes = Vec::new();
    let mut note = |text: &'static str| {
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    let mut braces = false;
    for token in tokens(source) {
        match (token.kind, token.text) {
            (Kind::Outside, r"\Z") => note(
                r"`\Z` is the very end to Python, may be before a final line feed to PCRE, Java and Ruby, and is unknown to Rust and Go, which write `\z`",
            ),
            (Kind::Outside, "$") => note(
                "`$` is also the place before a final line feed to Python, PCRE and Java, but not to Rust, Go and JavaScript",
            ),
            (Kind::Outside, r"\m" | r"\M") => note(r"`\m` and `\M` are known to few engines"),
            (Kind::Outside, r"\h") => {
                note(r"`\h` is a hexadecimal digit to Ruby and unknown to Rust and Go")
            }
            (Kind::InSet, "[") => {
                note("`[` in a set opens a nested set to Rust, Java and Ruby; write `\\[`")
            }
            (Kind::InSet, text) if text.starts_with("[:") => {
                note("a POSIX class such as `[:alpha:]` is unknown to JavaScript");
            }
            (Kind::Outside, "{") => braces = true,
            _ => {}
        }
        if token.kind == Kind::InSet
            && ["&&", "--", "~~"]
                .iter()
                .any(|operator| source[token.span.start..].starts_with(operator))
        {
            note("`&&`, `--` and `~~` in a set are operators to Rust and Java");
        }
    }
    if let Ok(parsed) = parse(source) {
        walk(&parsed.node, &mut note);
        if braces && !has_counts(source) {
            note("a `{` that begins no count is refused by Rust; write `\\{`");
        }
    }
    notes
}

/// Returns true if each `{` outside sets begins a count.
fn has_counts(source: &str) -> bool {
    tokens(source)
        .iter()
        .filter(|token| token.is_outside("{"))
        .all(|token| {
            let rest = &source[token.span.end..];
            rest.find('}').is_some_and(|end| {
                let count = &rest[..end];
                count.starts_with(|c: char| c.is_ascii_digit())
                    && count.chars().all(|c| c.is_ascii_digit() || c == ',')
            })
        })
}

fn walk(node: &Node, note: &mut impl FnMut(&'static str)) {
    match node {
        Node::Look(_) => note("look-around is refused by Rust's `regex` and by Go"),
        Node::Backreference { .. } => {
            note("back-references are refused by Rust's `regex` and by Go")
        }
        Node::Atomic(_) => note("atomic groups are refused by Rust's `regex`, Go and JavaScript"),
        Node::Conditional(_) => note("conditionals are known to few engines"),
        Node::Repeat(repeat) if repeat.kind == RepeatKind::Possessive => {
            note("possessive quantifiers are refused by Rust's `regex`, Go and JavaScript");
        }
        _ => {}
    }
    for child in node.children() {
        walk(child, note);
    }
}

#[cfg(test)]
mod tests {
    use super::foreign;

    #[test]
    fn what_differs_is_named_and_nothing_else() {
        for (source, count) in [
            (r"</x>\s*", 0),
            (r"<f=(?P<n>[^\s>]+)>\d{2,3}\[x\]\{", 0),
            (r"a|\Z", 1),
            ("a$", 1),
            ("[$]", 0),
            ("[[a]b", 1),
            ("[[:alpha:]]", 1),
            ("[a&&b]", 1),
            ("a{b", 1),
            ("(?=a)(?!b)", 1),
            ("a++(?>b)", 2),
        ] {
            assert_eq!(
                foreign(source).len(),
                count,
                "{source}: {:?}",
                foreign(source)
            );
        }
    }
}
