//! Just enough of Rust's syntax to tell code from comments and literals.

/// A Rust file taken apart.
#[derive(Debug, Default)]
pub struct Source {
    /// The text with everything in comments and in literals blanked out; of the length of the text.
    pub code: String,
    /// Every string literal as it is written, quotes left off, and where it starts in bytes.
    pub strings: Vec<(usize, String)>,
}

/// Takes a Rust file apart.
pub fn scan(text: &str) -> Source {
    let bytes = text.as_bytes();
    let mut source = Source::default();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let (end, string) = if rest.starts_with("//") {
            (
                rest.find('\n').map_or(text.len(), |length| at + length),
                None,
            )
        } else if rest.starts_with("/*") {
            (block_comment(text, at), None)
        } else if let Some((body, end)) = raw_string(text, at) {
            (end, Some(body))
        } else if rest.starts_with('"') {
            let end = quoted(bytes, at, b'"');
            (end, Some((at + 1, end - 1)))
        } else if let Some(end) = character(text, at) {
            (end, None)
        } else {
            // A whole identifier at once: the `r` of `for"` begins no raw string.
            let word = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            at += word.max(rest.chars().next().map_or(1, char::len_utf8));
            continue;
        };
        if let Some((start, end)) = string {
            source.strings.push((at, text[start..end].to_owned()));
        }
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    source.code = String::from_utf8(code).expect("whole literals were blanked");
    source
}

impl Source {
    /// Where the code is that only tests are built with: the items after `#[cfg(test)]`, in bytes.
    pub fn test_only(&self) -> Vec<std::ops::Range<usize>> {
        let mut found = Vec::new();
        for (start, _) in self.code.match_indices("#[cfg(test)]") {
            // To the end of the first block, or to a semicolon before one.
            let mut depth = 0;
            let end = self.code[start..].char_indices().find_map(|(offset, c)| {
                match c {
                    '{' => depth += 1,
                    '}' => depth -= 1,
                    _ => {}
                }
                (depth == 0 && matches!(c, '}' | ';')).then_some(start + offset + 1)
            });
            found.push(start..end.unwrap_or(self.code.len()));
        }
        found
    }
}

/// The end of the block comment at `start`; they nest.
fn block_comment(text: &str, start: usize) -> usize {
    let mut depth = 0;
    let mut at = start;
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The body and the end of the raw string at `start`, if one starts there.
fn raw_string(text: &str, start: usize) -> Option<((usize, usize), usize)> {
    let rest = &text[start..];
    let hashes_at = rest
        .strip_prefix("br")
        .or_else(|| rest.strip_prefix("cr"))
        .or_else(|| rest.strip_prefix('r'))?;
    let hashes = hashes_at.len() - hashes_at.trim_start_matches('#').len();
    let body = text.len() - hashes_at.len() + hashes;
    text[body..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = text[body + 1..].find(&close)?;
    let end = body + 1 + length;
    Some(((body + 1, end), end + close.len()))
}

/// The end of the literal at `start`, up to the first `quote` that no backslash escapes.
fn quoted(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of the character literal at `start`, if it is one and not a lifetime.
fn character(text: &str, start: usize) -> Option<usize> {
    let rest = text[start..].strip_prefix('\'')?;
    let mut characters = rest.chars();
    let first = characters.next()?;
    if first == '\\' {
        return Some(quoted(text.as_bytes(), start, b'\''));
    }
    (characters.next() == Some('\'')).then_some(start + first.len_utf8() + 2)
}
