//! Reading a pattern's source character by character, with the blanks and comments of verbose mode skipped.

/// A place in a source.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'s> {
    pub(crate) source: &'s str,
    /// Byte offset of what is read next.
    pub(crate) at: usize,
    /// True if blanks and comments are skipped.
    pub(crate) verbose: bool,
}

impl<'s> Cursor<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self {
            source,
            at: 0,
            verbose: false,
        }
    }

    /// The next character as it stands, nothing skipped.
    pub(crate) fn raw_next(&mut self) -> Option<char> {
        let next = self.source[self.at..].chars().next()?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Looks at the next character, nothing skipped.
    pub(crate) fn raw_peek(&self) -> Option<char> {
        self.source[self.at..].chars().next()
    }

    /// The next character that counts.
    pub(crate) fn next(&mut self) -> Option<char> {
        self.skip();
        self.raw_next()
    }

    /// Looks at the next character that counts.
    pub(crate) fn peek(&self) -> Option<char> {
        self.clone().next()
    }

    /// Reads `text` if it comes next.
    pub(crate) fn eat(&mut self, text: &str) -> bool {
        let mut ahead = self.clone();
        if text.chars().all(|wanted| ahead.next() == Some(wanted)) {
            self.at = ahead.at;
            return true;
        }
        false
    }

    /// Reads characters for as long as they are `wanted`.
    pub(crate) fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> String {
        let mut taken = String::new();
        loop {
            self.skip();
            match self.raw_peek() {
                Some(next) if wanted(next) => {
                    taken.push(next);
                    self.at += next.len_utf8();
                }
                _ => return taken,
            }
        }
    }

    fn skip(&mut self) {
        if !self.verbose {
            return;
        }
        while let Some(next) = self.raw_peek() {
            if super::class::is_python_space(next) {
                self.at += next.len_utf8();
            } else if next == '#' {
                // The newline itself is skipped as a blank.
                let rest = &self.source[self.at..];
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cursor;

    #[test]
    fn verbose_mode_skips_blanks_and_comments_but_for_raw_reading() {
        let mut cursor = Cursor::new(" a # b\n c1 2 \u{1f}d#");
        cursor.verbose = true;
        assert_eq!((cursor.raw_peek(), cursor.peek()), (Some(' '), Some('a')));
        assert!(cursor.eat("ac") && !cursor.eat("2"));
        assert_eq!(cursor.take_while(|c| c.is_ascii_digit()), "12");
        assert_eq!((cursor.next(), cursor.next()), (Some('d'), None));
        assert_eq!(cursor.at, cursor.source.len());
    }
}
