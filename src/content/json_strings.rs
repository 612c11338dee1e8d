//! Where in a JSON text the strings are, as the text arrives, for callers that must not take what stands in a string for something else.
//!
//! A scanner with five states reads the text once, whatever the chunks: it is asked for places in their order, goes on from where it stood,
//! and says of a place that has not arrived that it cannot tell yet. It does not check the JSON; it stops at what no string may hold, since
//! the text is then no JSON and has no strings.

use crate::pattern::Window;

/// How far a text has been read.
///
/// Only what could be JSON has strings: a text that begins with neither a bracket nor a string has none, nor has what
/// follows the end of the value. A string in double quotes ends where JSON does not let it go on, at a control character or
/// an escape that is none, and the text with it is JSON no longer.
#[derive(Debug, Clone)]
pub(crate) struct JsonStrings {
    at: usize,
    state: State,
    /// Where the text of the open string begins.
    text: usize,
    /// How many lists and objects are open.
    depth: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the value.
    Before,
    /// Between strings.
    Between,
    /// In a string in double quotes.
    Quoted,
    /// In a string of the dialect: the number of its delimiters.
    Within(usize),
    /// There are no more strings.
    Over,
}

/// Where a place is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// In no string: before, between or behind them, or in what opens or closes one.
    Outside,
    /// In a string, whose text goes on up to here at least.
    Inside(usize),
    /// The text that has arrived does not decide it.
    NotArrived,
}

/// How a string ends.
enum End {
    /// Its text ends here. What closes it has the length that is given; without a length, the text is no JSON.
    At(usize, Option<usize>),
    /// Its text goes on up to here, and what follows, if anything does, has not arrived.
    Open(usize),
}

impl JsonStrings {
    /// For a text that begins at this byte offset.
    pub(crate) fn new(start: usize) -> Self {
        Self {
            at: start,
            state: State::Before,
            text: start,
            depth: 0,
        }
    }

    /// The offset up to which the text was read. Text before it is not looked at again.
    pub(crate) fn read(&self) -> usize {
        self.at
    }

    /// Reads on and says where the byte offset `place` is; none comes before an earlier one. `dialect` are the pairs that open and
    /// close strings beside double quotes. The window begins no later than [`read`](Self::read).
    pub(crate) fn place(
        &mut self,
        dialect: &[(String, String)],
        window: &Window<'_>,
        place: usize,
    ) -> Whereabouts {
        loop {
            match self.state {
                State::Over => {
                    self.at = self.at.max(place);
                    return Whereabouts::Outside;
                }
                State::Before | State::Between => {
                    if place <= self.at {
                        return Whereabouts::Outside;
                    }
                    if !self.go_on(dialect, window) {
                        return if window.complete {
                            Whereabouts::Outside
                        } else {
                            Whereabouts::NotArrived
                        };
                    }
                }
                State::Quoted | State::Within(_) if place < self.text => {
                    return Whereabouts::Outside;
                }
                State::Quoted | State::Within(_) if place < self.at => {
                    return Whereabouts::Inside(self.at);
                }
                State::Quoted | State::Within(_) => match self.end(dialect, window) {
                    End::At(end, _) | End::Open(end) if place < end => {
                        self.at = end;
                        return Whereabouts::Inside(end);
                    }
                    End::At(end, Some(length)) => {
                        self.at = end;
                        if place < end + length {
                            return Whereabouts::Outside;
                        }
                        self.at += length;
                        self.state = if self.depth == 0 {
                            State::Over
                        } else {
                            State::Between
                        };
                    }
                    End::At(_, None) => self.state = State::Over,
                    End::Open(end) => {
                        self.at = end;
                        return if window.complete {
                            Whereabouts::Outside
                        } else {
                            Whereabouts::NotArrived
                        };
                    }
                },
            }
        }
    }

    /// Reads what comes between strings, or what opens one, and returns true if that has arrived.
    fn go_on(&mut self, dialect: &[(String, String)], window: &Window<'_>) -> bool {
        let rest = &window.text.as_bytes()[self.at - window.start..];
        for (number, (open, close)) in dialect.iter().enumerate() {
            if open.is_empty() || close.is_empty() {
                continue;
            }
            if rest.starts_with(open.as_bytes()) {
                self.at += open.len();
                self.text = self.at;
                self.state = State::Within(number);
                return true;
            }
            if open.as_bytes().starts_with(rest) && !window.complete {
                return false;
            }
        }
        let Some(byte) = rest.first() else {
            return false;
        };
        self.at += 1;
        match byte {
            b'"' => (self.text, self.state) = (self.at, State::Quoted),
            b'{' | b'[' => {
                self.depth += 1;
                self.state = State::Between;
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.state = State::Over;
                }
            }
            b' ' | b'\t' | b'\n' | b'\r' => {}
            _ if self.state == State::Before => self.state = State::Over,
            _ => {}
        }
        true
    }

    /// Where the open string ends.
    fn end(&self, dialect: &[(String, String)], window: &Window<'_>) -> End {
        let rest = &window.text.as_bytes()[self.at - window.start..];
        if let State::Within(number) = self.state {
            let close = dialect[number].1.as_bytes();
            if let Some(found) = memchr::memmem::find(rest, close) {
                return End::At(self.at + found, Some(close.len()));
            }
            let begun = (1..close.len().min(rest.len() + 1))
                .rev()
                .find(|length| !window.complete && rest.ends_with(&close[..*length]));
            return End::Open(window.end() - begun.unwrap_or(0));
        }
        let mut at = 0;
        while let Some(byte) = rest.get(at) {
            match byte {
                b'"' => return End::At(self.at + at, Some(1)),
                0..0x20 => return End::At(self.at + at, None),
                b'\\' => match rest.get(at + 1) {
                    Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u') => at += 2,
                    Some(_) => return End::At(self.at + at, None),
                    None if window.complete => at += 1,
                    None => return End::Open(self.at + at),
                },
                _ => at += 1,
            }
        }
        End::Open(self.at + at)
    }
}

#[cfg(test)]
mod tests {
    use super::{JsonStrings, Whereabouts, Window};

    /// Marks each byte of the text with `x` where it is inside a string, as a reader finds that gets the text in pieces of
    /// this many bytes.
    fn marked(dialect: &[(String, String)], text: &str, piece: usize) -> String {
        let mut strings = JsonStrings::new(0);
        let mut end = 0;
        (0..text.len())
            .map(|place| {
                loop {
                    let window = Window {
                        text: &text[..end],
                        start: 0,
                        complete: end == text.len(),
                    };
                    // A reader is asked again at each place: one that went ahead is of no use for the next.
                    let mut ahead = strings.clone();
                    match ahead.place(dialect, &window, place) {
                        Whereabouts::NotArrived => end = text.len().min(end + piece),
                        _ if place >= end && end < text.len() => end = text.len().min(end + piece),
                        Whereabouts::Outside => {
                            strings = ahead;
                            return '.';
                        }
                        Whereabouts::Inside(to) => {
                            assert!(place < to && to <= end);
                            return 'x';
                        }
                    }
                }
            })
            .collect()
    }

    #[test]
    fn strings_are_found_however_the_text_is_cut() {
        let dialect = [("<s>".to_owned(), "</s>".to_owned())];
        for (text, expected) in [
            (r#"{"ab": "c"}"#, "..xx....x.."),
            (r#" ["a\"b", "\\"]"#, "...xxxx....xx.."),
            (r#""a" "b""#, ".x....."),
            (r#"a "b""#, "....."),
            (r#"{}"a""#, "....."),
            ("[\"a\nb\"]", "..x...."),
            (r#"["a\xb"]"#, "..x....."),
            (r#"["a"#, "..x"),
            ("[<s>a\"</s>,\"b\"]", "....xx......x.."),
            ("{k:<s>a\n</", "......xxxx"),
        ] {
            for piece in [1, 2, 3, 100] {
                assert_eq!(
                    marked(&dialect, text, piece),
                    expected,
                    "{text:?} by {piece}"
                );
            }
        }
    }
}
