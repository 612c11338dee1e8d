//! A response that arrives on lines: JSON lines, or server-sent events, each with a piece of the text.

use std::io::{self, Read};

use obverse::value::{Value, json};

use super::{PIECE, Recording, excerpt, server_error};
use crate::cli::input;

/// No line may be longer.
const LONGEST_LINE: usize = 16 << 20;

/// What a line brings.
#[derive(Debug, PartialEq, Eq)]
enum Brought {
    /// A piece of the text, which may be empty, whether it is the last, and whether it is for the limit of tokens.
    Text {
        text: String,
        is_last: bool,
        is_limited: bool,
    },
    /// Nothing: a comment, or what is not about the text.
    Nothing,
    /// That there is no more.
    End,
}

/// Reads to the end. What is not understood ends it.
pub(super) fn read(reading: &mut dyn Read) -> io::Result<Recording> {
    let mut stream = Stream::default();
    let mut buffer = vec![0; PIECE];
    loop {
        let piece = input::read_piece(reading, &mut buffer)?;
        if piece.is_empty() {
            stream.last();
            return Ok(stream.recording);
        }
        if !stream.feed(piece) {
            return Ok(stream.recording);
        }
    }
}

/// A response of which bytes arrive.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// The line that has begun.
    line: Vec<u8>,
    pub(super) recording: Recording,
    /// Whether the stream has said that it is at its end.
    pub(super) is_ended: bool,
}

impl Stream {
    /// Takes more bytes. Returns whether more are wanted.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.line.len() + part.len() > LONGEST_LINE {
                let message = format!("a line is longer than {} MiB", LONGEST_LINE >> 20);
                self.recording.broken = Some(message);
                return false;
            }
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") && !self.take_line() {
                return false;
            }
        }
        true
    }

    /// Takes the last line, which need not end.
    pub(super) fn last(&mut self) {
        if !self.line.is_empty() {
            self.take_line();
        }
    }

    fn take_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let brought = match std::str::from_utf8(&line) {
            Ok(text) => brought(text),
            Err(_) => Err("a line is not UTF-8".to_owned()),
        };
        match brought {
            Ok(Brought::Text {
                text,
                is_last,
                is_limited,
            }) => {
                self.is_ended |= is_last;
                self.recording.is_limited |= is_limited;
                self.recording.push(text)
            }
            Ok(Brought::Nothing) => true,
            Ok(Brought::End) => {
                self.is_ended = true;
                false
            }
            Err(why) => {
                self.recording.broken = Some(why);
                false
            }
        }
    }
}

fn brought(line: &str) -> Result<Brought, String> {
    let line = line.trim();
    let data = match line.split_once(':') {
        // A comment, which keeps the connection open, and the other fields of an event.
        Some(("" | "event" | "id" | "retry", _)) => return Ok(Brought::Nothing),
        Some(("data", data)) => data.trim_start(),
        _ => line,
    };
    match data {
        "" => return Ok(Brought::Nothing),
        "[DONE]" => return Ok(Brought::End),
        _ => {}
    }
    let not_understood = |why: &str| format!("{why}: {}", excerpt(data));
    let value = json::parse(data).map_err(|_| not_understood("a line is not JSON"))?;
    if let Value::String(text) = value {
        return Ok(Brought::Text {
            text,
            is_last: false,
            is_limited: false,
        });
    }
    if let Some(error) = server_error(&value) {
        return Err(format!("the server says: {error}"));
    }
    let text_of =
        |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    if let Some(choices) = value.get("choices").and_then(Value::as_array) {
        // An event without a choice tells the usage.
        let Some(choice) = choices.first() else {
            return Ok(Brought::Nothing);
        };
        if choice
            .get("delta")
            .or_else(|| choice.get("message"))
            .is_some()
        {
            return Err("these are chat completions, whose text the server has parsed already; record raw completions".to_owned());
        }
        let reason = choice
            .get("finish_reason")
            .filter(|reason| **reason != Value::Null);
        return Ok(Brought::Text {
            text: text_of(choice.get("text")),
            is_last: reason.is_some(),
            is_limited: reason.and_then(Value::as_str) == Some("length"),
        });
    }
    match value.get("content") {
        // As llama.cpp's server writes by itself.
        Some(content @ Value::String(_)) => Ok(Brought::Text {
            text: text_of(Some(content)),
            is_last: value.get("stop").is_some_and(Value::is_truthy),
            is_limited: value.get("stopped_limit").is_some_and(Value::is_truthy),
        }),
        _ => Err(not_understood("a line is neither a text nor a completion")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The chunks, why the stream broke off, and whether it told its end, for bytes that arrive one by one.
    fn streamed(bytes: &str) -> (Vec<String>, Option<String>, bool) {
        let mut stream = Stream::default();
        if bytes.as_bytes().chunks(1).all(|byte| stream.feed(byte)) {
            stream.last();
        }
        (
            stream.recording.chunks,
            stream.recording.broken,
            stream.is_ended,
        )
    }

    #[test]
    fn completions_are_read_up_to_their_end() {
        let events = ": hello\r\nevent: x\r\ndata: {\"choices\": [{\"text\": \"\u{20ac} \\ud83d\\ude00\"}]}\r\n\r\n\
            data:{\"choices\": [{\"text\": \"!\", \"finish_reason\": \"stop\"}]}\n\ndata: {\"choices\": []}\n\ndata: [DONE]\n\ndata: x\n";
        let chunks = vec!["\u{20ac} \u{1f600}".to_owned(), "!".to_owned()];
        assert_eq!(streamed(events), (chunks, None, true));
    }

    #[test]
    fn texts_and_other_servers_forms_are_read() {
        let lines =
            "\"a\\n\"\n{\"content\": \"b\", \"stop\": false}\n{\"content\": \"\", \"stop\": true}";
        assert_eq!(
            streamed(lines),
            (vec!["a\n".to_owned(), "b".to_owned()], None, true)
        );
        assert_eq!(streamed("\"a\"\n"), (vec!["a".to_owned()], None, false));
    }

    #[test]
    fn what_is_not_understood_ends_it_and_keeps_what_came_before() {
        for (line, told) in [
            (
                "data: {\"error\": {\"message\": \"out of memory\"}}",
                "the server says: out of memory",
            ),
            (
                "{\"choices\": [{\"delta\": {\"content\": \"x\"}}]}",
                "chat completions",
            ),
            ("<html>", "a line is not JSON: <html>"),
            ("{\"text\": 1}", "neither a text nor a completion"),
        ] {
            let (chunks, broken, ended) = streamed(&format!("\"a\"\n{line}\n\"b\"\n"));
            assert_eq!((chunks, ended), (vec!["a".to_owned()], false), "{line}");
            assert!(
                broken.as_ref().is_some_and(|why| why.contains(told)),
                "{broken:?}"
            );
        }
    }
}
