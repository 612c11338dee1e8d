//! The events that an upstream streams, read as the HTML standard says (WHATWG, 9.2.6): a line ends with a line feed, a carriage return or
//! both, the `data` lines of an event are joined by line feeds, and an empty line ends the event. An event that a stream breaks off
//! in is none. `obverse record` has a reader of its own, which takes recordings that were filtered, too.
//!
//! No crate is used for it: those that read such events (`eventsource-stream`, `sseer`) wrap an asynchronous stream, where here bytes are
//! fed as an exchange gets them, no event may be longer than [`LONGEST`], and whoever takes an event may want no more.

/// No event may be longer, in bytes.
const LONGEST: usize = 16 << 20;

/// An event that is too long, or no UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(super) enum Broken {
    #[error("an event is longer than {} MiB", LONGEST >> 20)]
    TooLong,
    #[error("an event is not UTF-8")]
    NotUtf8,
}

/// Reads events out of bytes that arrive in any pieces.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// The line that has begun.
    line: Vec<u8>,
    /// The line before ended with a carriage return, to which a line feed would belong.
    after_return: bool,
    /// The data of the event that has begun.
    data: Option<String>,
}

impl Events {
    /// Takes more bytes, and gives each event that they end to `take`, which says whether it wants more.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        take: &mut dyn FnMut(&str) -> bool,
    ) -> Result<(), Broken> {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (end, rest) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), rest)) => (Some(*end), rest),
                _ => (None, part),
            };
            let second_half = self.after_return && part == b"\n";
            self.after_return = end == Some(b'\r');
            if second_half {
                continue;
            }
            let held = self.data.as_ref().map_or(0, String::len);
            if self.line.len() + rest.len() + held > LONGEST {
                return Err(Broken::TooLong);
            }
            self.line.extend_from_slice(rest);
            if end.is_some() && !self.end_line(take)? {
                return Ok(());
            }
        }
        Ok(())
    }

    fn end_line(&mut self, take: &mut dyn FnMut(&str) -> bool) -> Result<bool, Broken> {
        let line = std::mem::take(&mut self.line);
        if line.is_empty() {
            return Ok(self.data.take().is_none_or(|data| take(&data)));
        }
        let text = std::str::from_utf8(&line).map_err(|_| Broken::NotUtf8)?;
        let (name, value) = text.split_once(':').unwrap_or((text, ""));
        if name.trim_start_matches('\u{feff}') == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        // The line's memory is used again.
        self.line = line;
        self.line.clear();
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, size: usize) -> Vec<String> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in text.as_bytes().chunks(size) {
            let take = &mut |data: &str| {
                found.push(data.to_owned());
                true
            };
            events.feed(piece, take).unwrap();
        }
        found
    }

    #[test]
    fn events_are_the_same_however_they_arrive() {
        let text = "\u{feff}data: a\u{20ac}\r\n\r\n: note\nevent: x\ndata: b\ndata:c\n\n\ndata\r\rid: 1\n\ndata: cut";
        for size in [1, 2, 3, 7, 100] {
            assert_eq!(read(text, size), ["a\u{20ac}", "b\nc", ""], "{size}");
        }
    }

    #[test]
    fn what_is_too_long_or_no_text_is_broken() {
        let mut none = |_: &str| true;
        let feed =
            |bytes: &[u8], none: &mut dyn FnMut(&str) -> bool| Events::default().feed(bytes, none);
        assert_eq!(feed(b"data: \xff\n", &mut none), Err(Broken::NotUtf8));
        assert_eq!(
            feed(&vec![b'a'; LONGEST + 1], &mut none),
            Err(Broken::TooLong)
        );
    }

    #[test]
    fn nothing_is_read_behind_the_last_event_that_is_wanted() {
        let mut found = Vec::new();
        let take = &mut |data: &str| {
            found.push(data.to_owned());
            false
        };
        Events::default()
            .feed(b"data: a\n\ndata: \xff\n\n", take)
            .unwrap();
        assert_eq!(found, ["a"]);
    }
}
