//! The tokens of a pattern's source with their places, as far as edits and advice about dialects need them.

use std::ops::Range;

/// One token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind,
    pub(crate) text: &'s str,
    /// Byte offsets into the source.
    pub(crate) span: Range<usize>,
}

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A character, or a backslash with the one behind it, outside sets.
    Outside,
    /// A character or escape within a set, the inner `[` of a nested one included.
    InSet,
    /// `(?P<name>` or `(?<name>`.
    NamedGroup,
}

impl Token<'_> {
    /// Returns true if it is this token, outside sets.
    pub(crate) fn is_outside(&self, text: &str) -> bool {
        self.kind == Kind::Outside && self.text == text
    }
}

/// All tokens of a source that compiles without the flag `x`; together they are the source.
pub(crate) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut at = 0;
    // Where the members of the open set begin: a `]` there is one of them.
    let mut set: Option<usize> = None;
    while let Some(c) = source[at..].chars().next() {
        let rest = &source[at..];
        let mut kind = if set.is_some() {
            Kind::InSet
        } else {
            Kind::Outside
        };
        let mut length = c.len_utf8();
        match c {
            '\\' => length += rest[1..].chars().next().map_or(0, char::len_utf8),
            '[' if set.is_none() => {
                if rest[1..].starts_with('^') {
                    length += 1;
                }
                set = Some(at + length);
            }
            '[' if rest.starts_with("[:") => {
                if let Some(end) = rest.find(":]") {
                    length = end + 2;
                }
            }
            ']' if set.is_some_and(|start| at > start) => set = None,
            '(' if set.is_none() => {
                let name = rest
                    .strip_prefix("(?P<")
                    .or_else(|| rest.strip_prefix("(?<"))
                    .filter(|name| !name.starts_with(['=', '!']));
                if let Some(name) = name
                    && let Some(end) = name.find('>')
                {
                    length = rest.len() - name.len() + end + 1;
                    kind = Kind::NamedGroup;
                }
            }
            _ => {}
        }
        found.push(Token {
            kind,
            text: &source[at..at + length],
            span: at..at + length,
        });
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_escapes_and_names_are_told_apart() {
        let source = r"\$[]$\]x]$(?P<n>a)(?<=b)[^]é]";
        let found = tokens(source);
        let joined: String = found.iter().map(|token| token.text).collect();
        assert_eq!(joined, source);
        let dollars: Vec<_> = found
            .iter()
            .filter(|token| token.is_outside("$"))
            .map(|token| token.span.start)
            .collect();
        assert_eq!(dollars, [9]);
        let names = found.iter().filter(|token| token.kind == Kind::NamedGroup);
        assert_eq!(
            names.map(|token| token.text).collect::<Vec<_>>(),
            ["(?P<n>"]
        );
        assert_eq!(
            found.last().map(|token| token.kind),
            Some(Kind::InSet),
            "the bracket that closes a set belongs to it"
        );
    }
}
