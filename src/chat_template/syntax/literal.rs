//! String literals, read again from the source: Jinja decodes them with Python's `unicode_escape`, the parser does not.

use std::ops::Range;

/// The text of one or more adjacent string literals that `source` begins with; `Err` says what is wrong. Each character is
/// told to `place`: how many bytes of the text it has, and which bytes of the source write it.
pub(super) fn decode(
    source: &str,
    mut place: impl FnMut(usize, Range<usize>),
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = source.trim_start();
    while let Some(quote @ ('"' | '\'')) = rest.chars().next() {
        let body = &rest[1..];
        let mut end = None;
        let mut escaped = false;
        for (at, c) in body.char_indices() {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                c if c == quote => {
                    end = Some(at);
                    break;
                }
                _ => {}
            }
        }
        let end = end.ok_or("a string literal without an end")?;
        let offset = source.len() - body.len();
        unescape(&body[..end], &mut out, &mut |len, written| {
            place(len, offset + written.start..offset + written.end);
        })?;
        rest = body[end + 1..].trim_start();
    }
    Ok(out)
}

fn unescape(
    text: &str,
    out: &mut String,
    place: &mut dyn FnMut(usize, Range<usize>),
) -> Result<(), String> {
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest.find('\\').unwrap_or(rest.len());
        let at = text.len() - rest.len();
        for (start, c) in rest[..plain].char_indices() {
            place(c.len_utf8(), at + start..at + start + c.len_utf8());
        }
        out.push_str(&rest[..plain]);
        rest = &rest[plain..];
        if rest.is_empty() {
            break;
        }
        let (before, start) = (out.len(), text.len() - rest.len());
        rest = escape(&rest[1..], out)?;
        place(out.len() - before, start..text.len() - rest.len());
    }
    Ok(())
}

/// Decodes the escape whose backslash stands before `text`; what comes after it.
fn escape<'t>(text: &'t str, out: &mut String) -> Result<&'t str, String> {
    let mut chars = text.chars();
    let Some(code) = chars.next() else {
        return Err("`\\` at the end of a string literal".to_owned());
    };
    match code {
        '\n' => {}
        '\\' | '\'' | '"' => out.push(code),
        'a' => out.push('\x07'),
        'b' => out.push('\x08'),
        'f' => out.push('\x0c'),
        'n' => out.push('\n'),
        'r' => out.push('\r'),
        't' => out.push('\t'),
        'v' => out.push('\x0b'),
        'x' | 'u' | 'U' => {
            let width = match code {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let digits: String = chars.by_ref().take(width).collect();
            let value = (digits.len() == width)
                .then(|| u32::from_str_radix(&digits, 16).ok())
                .flatten()
                .ok_or_else(|| format!("`\\{code}` needs {width} hexadecimal digits"))?;
            out.push(
                char::from_u32(value)
                    .ok_or_else(|| format!("`\\{code}{digits}` is not a character"))?,
            );
        }
        '0'..='7' => {
            let mut value = code.to_digit(8).unwrap_or(0);
            for _ in 0..2 {
                let Some(digit) = chars.as_str().chars().next().and_then(|c| c.to_digit(8)) else {
                    break;
                };
                value = value * 8 + digit;
                chars.next();
            }
            out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
        }
        'N' => return Err("`\\N{...}` in a string literal is not supported".to_owned()),
        other => {
            out.push('\\');
            out.push(other);
        }
    }
    Ok(chars.as_str())
}

#[cfg(test)]
mod tests {
    fn decode(source: &str) -> Result<String, String> {
        super::decode(source, |_, _| {})
    }

    #[test]
    fn escapes_are_pythons() {
        assert_eq!(
            decode(r#""a\n\x41\u2581\101\q\/""#).as_deref(),
            Ok("a\nA\u{2581}A\\q\\/")
        );
        assert_eq!(decode(r#"'a' "b\'""#).as_deref(), Ok("ab'"));
        assert!(decode(r"'\x4'").is_err());
        assert!(decode(r"'\ud800'").is_err());
    }
}
