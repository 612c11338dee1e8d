//! String literals, read again from the source: Jinja decodes them with Python's `unicode_escape`, the parser does not.

/// The text of one or more adjacent string literals that `source` begins with; `Err` says what is wrong.
pub(super) fn decode(source: &str) -> Result<String, String> {
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
        unescape(&body[..end], &mut out)?;
        rest = body[end + 1..].trim_start();
    }
    Ok(out)
}

fn unescape(text: &str, out: &mut String) -> Result<(), String> {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
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
                    let Some(digit) = chars.peek().and_then(|c| c.to_digit(8)) else {
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
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::decode;

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
