//! The tags of a source, without its syntax: what is a tag, where it starts and ends, and how it treats the white space around it.

use std::ops::Range;

/// The kind of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `{{ ... }}`.
    Expression,
    /// `{% ... %}`.
    Block,
    /// `{# ... #}`.
    Comment,
}

/// A tag of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    pub(crate) kind: Kind,
    /// Where it stands, with its braces; of a raw block all of it, up to the end of the tag that closes it.
    pub(crate) range: Range<usize>,
    /// Where the first word of a block stands; empty for other tags.
    pub(crate) name: Range<usize>,
}

impl Tag {
    /// Returns the range between its braces, without the dash or plus at either of them.
    pub(crate) fn inner(&self, source: &str) -> Range<usize> {
        let text = &source[self.range.clone()];
        let start = 2 + usize::from(matches!(text.as_bytes().get(2), Some(b'-' | b'+')));
        let end = text.len().saturating_sub(2);
        let end = end
            - usize::from(end > start && matches!(text.as_bytes().get(end - 1), Some(b'-' | b'+')));
        self.range.start + start..self.range.start + end.max(start)
    }
}

/// The tags of a source, in order. An opening brace whose tag never ends is text.
pub(crate) fn tags(source: &str) -> Vec<Tag> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(found) = source[at..].find('{') {
        let start = at + found;
        let from = &source[start..];
        let (kind, end) = match from.as_bytes().get(1) {
            Some(b'#') => (Kind::Comment, from.find("#}").map(|at| at + 2)),
            Some(b'{') => (Kind::Expression, Some(tag_end(from, "}}"))),
            Some(b'%') => (Kind::Block, Some(tag_end(from, "%}"))),
            _ => {
                at = start + 1;
                continue;
            }
        };
        let mut end = end.unwrap_or(from.len());
        let mut name = start..start;
        if kind == Kind::Block
            && let Some((at, word)) = tag_name(&from[..end])
        {
            name = start + at..start + at + word.len();
            if word == "raw" {
                end = raw_end(from, end);
            }
        }
        tags.push(Tag {
            kind,
            range: start..start + end,
            name,
        });
        at = start + end;
    }
    tags
}

/// The end of a tag that starts at the beginning of `text`: behind its closing `close` outside string literals.
fn tag_end(text: &str, close: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 2;
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < bytes.len() && bytes[at] != quote {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            _ if bytes[at..].starts_with(close.as_bytes()) => return at + close.len(),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The first word of a block tag, and where it starts.
fn tag_name(tag: &str) -> Option<(usize, &str)> {
    let inner = tag.strip_prefix("{%")?;
    let inner = inner.strip_prefix(['-', '+']).unwrap_or(inner).trim_start();
    let at = tag.len() - inner.len();
    let end = inner
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(inner.len());
    Some((at, &inner[..end]))
}

/// The end of a raw block: behind the tag that closes it.
fn raw_end(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(found) = text[at..].find("{%") {
        let tag = &text[at + found..];
        let end = tag_end(tag, "%}");
        if matches!(tag_name(&tag[..end]), Some((_, "endraw"))) {
            return at + found + end;
        }
        at += found + 2;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_found_with_what_they_hold() {
        let source = "a{{- '}}' -}}{# x #}{%+ raw %}{{ y }}{% endraw %}{%-if b-%}{";
        let found = tags(source);
        let told: Vec<_> = found
            .iter()
            .map(|tag| (&source[tag.inner(source)], &source[tag.name.clone()]))
            .collect();
        assert_eq!(
            told,
            [
                (" '}}' ", ""),
                (" x ", ""),
                (" raw %}{{ y }}{% endraw ", "raw"),
                ("if b", "if")
            ]
        );
    }
}
