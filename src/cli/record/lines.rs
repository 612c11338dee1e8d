//! A response that arrives on lines: JSON lines, or server-sent events, each with a piece of the text.
//!
//! Server-sent events are read as the HTML standard says (WHATWG, 9.2.6): a line ends with a line feed, a carriage return or both, the
//! `data` lines of an event are joined by line feeds, one space behind the colon belongs to the format, and an empty line ends the event.
//! Three things are taken that the standard drops, since they are recordings of what did arrive: the last event where the stream ends
//! without an empty line; events of several lines that are JSON each and not together, which is what is left of a stream whose empty
//! lines were filtered out; and lines that are no fields, which are JSON lines. The crates that read such events (`eventsource-stream`,
//! `sseer`) read asynchronous streams and know of none of the three.

use std::io::{self, Read};

use obverse::value::{Value, json};

use super::{PIECE, Recording, excerpt, server_error};
use crate::cli::input;

/// No line may be longer.
const LONGEST_LINE: usize = 16 << 20;

/// The piece that a line or an event brings.
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
    /// There is no more.
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
    /// The line before ended with a carriage return, to which a line feed would belong.
    is_after_return: bool,
    /// The line is not the first, which may begin with a byte order mark.
    is_begun: bool,
    /// The `data` lines of the event that has begun.
    data: Vec<String>,
    pub(super) recording: Recording,
    /// True if the stream has said that it is at its end.
    pub(super) is_ended: bool,
}

impl Stream {
    /// Takes more bytes. Returns whether more are wanted.
    pub(super) fn feed(&mut self, bytes: &[u8]) -> bool {
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (end, rest) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), rest)) => (Some(*end), rest),
                _ => (None, part),
            };
            let is_second_half = self.is_after_return && part == b"\n";
            self.is_after_return = end == Some(b'\r');
            if is_second_half {
                continue;
            }
            let held: usize = self.data.iter().map(String::len).sum();
            if self.line.len() + rest.len() + held > LONGEST_LINE {
                let message = format!("a line is longer than {} MiB", LONGEST_LINE >> 20);
                self.recording.broken = Some(message);
                return false;
            }
            self.line.extend_from_slice(rest);
            if end.is_some() && !self.take_line() {
                return false;
            }
        }
        true
    }

    /// Takes the last line, which need not end, and the last event.
    pub(super) fn last(&mut self) {
        if self.line.is_empty() || self.take_line() {
            self.dispatch();
        }
    }

    fn take_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let Ok(text) = std::str::from_utf8(&line) else {
            self.recording.broken = Some("a line is not UTF-8".to_owned());
            return false;
        };
        let text = match self.is_begun {
            true => text,
            false => text.strip_prefix('\u{feff}').unwrap_or(text),
        };
        self.is_begun = true;
        match field(text) {
            Field::Data(data) => {
                self.data.push(data.to_owned());
                true
            }
            Field::Other => true,
            Field::End => self.dispatch(),
            Field::None => self.dispatch() && self.take(brought(text)),
        }
    }

    /// Takes the event whose `data` lines are there, if there are any. Returns whether more are wanted.
    fn dispatch(&mut self) -> bool {
        let lines = std::mem::take(&mut self.data);
        let joined = lines.join("\n");
        match lines.len() {
            0 => true,
            1 => self.take(brought(&joined)),
            _ if json::parse(&joined).is_ok() => self.take(brought(&joined)),
            _ => lines.iter().all(|line| self.take(brought(line))),
        }
    }

    fn take(&mut self, brought: Result<Brought, String>) -> bool {
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

/// A line, as a part of a server-sent event.
enum Field<'l> {
    /// A line of the event's data.
    Data(&'l str),
    /// A comment, which keeps the connection open, or another field.
    Other,
    /// The end of the event.
    End,
    /// No part of one.
    None,
}

fn field(line: &str) -> Field<'_> {
    let (name, value) = line.split_once(':').unwrap_or((line, ""));
    match name {
        "" if line.is_empty() => Field::End,
        "" | "event" | "id" | "retry" => Field::Other,
        "data" => Field::Data(value.strip_prefix(' ').unwrap_or(value)),
        _ => Field::None,
    }
}

/// Reads the data of an event, or a JSON line.
fn brought(data: &str) -> Result<Brought, String> {
    let data = data.trim();
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
    fn the_data_lines_of_an_event_are_joined() {
        let text = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let several = "data: {\"choices\":\ndata: [{\"text\":\ndata:\"a\"}]}\n\ndata: \"b\"\n\n";
        assert_eq!(streamed(several), (text(&["a", "b"]), None, false));
        let returns = "\u{feff}data: \"a\"\r\rid: 1\rdata\rdata: \"b\"\r\r\ndata: [DONE]\r\r";
        assert_eq!(streamed(returns), (text(&["a", "b"]), None, true));
    }

    #[test]
    fn events_without_the_lines_between_them_are_read() {
        let filtered = "data: \"a\"\ndata: \"b\"\ndata: [DONE]\n";
        let chunks = vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(streamed(filtered), (chunks, None, true));
    }

    #[test]
    fn an_event_without_an_end_is_held_until_the_stream_ends() {
        let mut stream = Stream::default();
        assert!(stream.feed(b"data: \"a\"\n"));
        assert!(stream.recording.chunks.is_empty());
        stream.last();
        assert_eq!(stream.recording.chunks, ["a"]);
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
