//! `{% generation %}`: a tag of transformers that prints its body. Here it becomes a `{% with %}` that sets nothing, padded so that
//! every byte after it keeps its place.

/// The source with each `generation` tag replaced by one of the same length that only prints its body.
pub(super) fn neutralize(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(start) = rest.find('{') {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let end = match from.as_bytes().get(1) {
            Some(b'#') => from.find("#}").map(|at| at + 2),
            Some(b'{') => Some(tag_end(from, "}}")),
            Some(b'%') => Some(tag_end(from, "%}")),
            _ => Some(1),
        };
        let end = end.unwrap_or(from.len());
        let tag = &from[..end];
        match from.as_bytes().get(1) {
            Some(b'%') => match tag_name(tag) {
                Some((at, "generation")) => {
                    out.push_str(&tag[..at]);
                    out.push_str("with      ");
                    out.push_str(&tag[at + "generation".len()..]);
                }
                Some((at, "endgeneration")) => {
                    out.push_str(&tag[..at]);
                    out.push_str("endwith      ");
                    out.push_str(&tag[at + "endgeneration".len()..]);
                }
                Some((_, "raw")) => {
                    let end = raw_end(from, end);
                    out.push_str(&from[..end]);
                    rest = &from[end..];
                    continue;
                }
                _ => out.push_str(tag),
            },
            _ => out.push_str(tag),
        }
        rest = &from[end..];
    }
    out.push_str(rest);
    out
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
