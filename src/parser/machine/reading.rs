//! Reading a window of text: to the next delimiter, over it, and on.

use std::borrow::Cow;
use std::ops::Range;

use super::{Machine, Sink};
use crate::content::{JsonStrings, Whereabouts};
use crate::parser::error::{ErrorKind, LimitKind, ParseError};
use crate::parser::event::Event;
use crate::parser::snapshot::{Edge, Passed};
use crate::parser::unended::Unended;
use crate::parser::watch::{Next, Watch, next_delimiter};
use crate::pattern::Window;
use crate::response_template::Sought;
use crate::value::{Value, json};

/// Delimiters that may follow each other at one place without taking any text before the parse is given up. A zero-width
/// open and close would otherwise alternate for ever, as they do in the reference.
const MAX_IDLE_DELIMITERS: usize = 64;

impl Machine {
    /// Reads as far as the text allows; with `complete`, to its end. After a limit was reached, it does nothing but return that error.
    pub(super) fn run(
        &mut self,
        text: &str,
        sink: Sink<'_>,
        complete: bool,
    ) -> Result<(), ParseError> {
        if let Some(error) = &self.rare().ended {
            return Err(error.clone());
        }
        if self.watches.is_empty() {
            // The text so far was passed over without asking any watch. Each begins its search where it is first asked.
            self.watches = self.template.plan().sought.iter().map(Watch::new).collect();
        }
        let window = Window {
            text,
            start: self.base,
            complete,
        };
        let result = self.read(&window, sink);
        // The window is gone after this call, so that the region keeps the text that is in it alone.
        let forgets = self.region.field.is_some_and(|index| self.forgets(index));
        let region = &mut self.region;
        if region.field.is_some() && region.opened {
            let rest = window.slice(region.kept_to()..region.end);
            match forgets {
                true => region.give_up(rest),
                false => region.keep(rest),
            }
        }
        if let Err(error) = &result
            && error.kind.is_limit()
        {
            self.rare_mut().ended = Some(error.clone());
        }
        result
    }

    pub(super) fn read(&mut self, window: &Window<'_>, sink: Sink<'_>) -> Result<(), ParseError> {
        while !self.stalled {
            let plan = self.template.plan();
            let counting = plan.counting(self.region.field);
            match next_delimiter(
                &mut self.watches,
                &plan.sought,
                counting,
                window,
                self.position,
            )
            .map_err(|error| self.limit(window, LimitKind::Steps, error.to_string()))?
            {
                Next::Delimiter { watch, span } => {
                    let start = span.start;
                    self.read_to(window, start, sink)?;
                    match self.place_in_strings(window, start) {
                        Whereabouts::Outside => self.pass(window, watch, span, sink)?,
                        Whereabouts::Inside(end) => self.read_to(window, end, sink)?,
                        Whereabouts::NotArrived => return self.hold(window, start, sink),
                    }
                }
                Next::None { hold } if window.complete => {
                    self.read_to(window, hold, sink)?;
                    self.note_unended(window);
                    return self.close(window, sink);
                }
                Next::None { hold } => return self.hold(window, hold, sink),
            }
        }
        Ok(())
    }

    /// Notes the open region as one that the end closes, where that does not show in its value.
    fn note_unended(&mut self, window: &Window<'_>) {
        let region = &self.region;
        let Some(index) = region.field.filter(|_| region.opened) else {
            return;
        };
        let field = &self.template.fields()[index];
        // A text that a transform takes is a piece of something, such as the arguments of a call, which JSON closes itself.
        let is_text = field.transform.is_some() && field.content.is_text();
        let shows_its_end = || is_closed_json(&region.text(window));
        let is_told = field.open.is_some()
            && field.close.is_some()
            && (field.content.is_in_parts() || is_text && !shows_its_end());
        if is_told {
            let (start, end) = (self.in_response(region.start), self.in_response(region.end));
            let field = field.name.to_string();
            let span = start..end;
            self.rare_mut().unended = Some(Unended { field, span });
        }
    }

    /// Reads the text up to `end`, and holds what follows until more text comes.
    pub(super) fn hold(
        &mut self,
        window: &Window<'_>,
        end: usize,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        self.read_to(window, end, sink)?;
        self.check_held(window)?;
        self.fast_path = self.fast_path(window, end);
        Ok(())
    }

    /// Returns where the place is, within a string of the open region or outside, if delimiters in strings do not count.
    pub(super) fn place_in_strings(&mut self, window: &Window<'_>, place: usize) -> Whereabouts {
        let region = &mut self.region;
        let Some((strings, field)) = region.strings.as_mut().zip(region.field) else {
            return Whereabouts::Outside;
        };
        let dialect = self.template.fields()[field].content.string_delims();
        strings.place(dialect.unwrap_or_default(), window, place)
    }

    /// Returns the reader of strings for a region of the field that begins at `start`, where delimiters in strings do not count.
    pub(super) fn strings(&self, field: usize, start: usize) -> Option<JsonStrings> {
        let content = &self.template.fields()[field].content;
        let count = self.options.skip_json_strings && content.string_delims().is_some();
        count.then(|| JsonStrings::new(start))
    }

    /// Takes a delimiter. The text up to it has been read.
    pub(super) fn pass(
        &mut self,
        window: &Window<'_>,
        watch: usize,
        span: Range<usize>,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        let Range { start, end } = span;
        self.position = end;
        let Sought { field, opens, .. } = self.template.plan().sought[watch];
        if self.options.keep_delimiters {
            let side = if opens { Edge::Open } else { Edge::Close };
            let span = start..end;
            self.rare_mut().passed.push(Passed { field, side, span });
        }
        self.idle = if end > start { 0 } else { self.idle + 1 };
        if self.idle > MAX_IDLE_DELIMITERS {
            let error = self.limit(window, LimitKind::IdleDelimiters, format!(
                "{MAX_IDLE_DELIMITERS} delimiters in a row match at byte {} without taking any text",
                self.in_response(end)
            ));
            return Err(ParseError {
                hint: Some("give the open or the close text to match".to_owned()),
                ..error
            });
        }
        if !opens {
            self.stalled = !self.region.opened && start == end;
            if self.stalled {
                return self.leave(end, window.slice(end..window.end()));
            }
            return self.close(window, sink);
        }
        let captures = self.watches[watch].captures(&self.template.plan().sought[watch], window);
        let closed = self.close(window, sink);
        self.region.captures = captures;
        self.open_region(field, end);
        sink.opens(field, &self.region.captures);
        sink.event(Event::RegionOpen {
            field: Cow::Borrowed(&self.template.fields()[field].name),
        });
        closed
    }

    /// Opens a region of the field. The region before it has ended.
    pub(super) fn open_region(&mut self, field: usize, start: usize) {
        if self.options.skip_json_strings {
            self.region.strings = self.strings(field, start).map(Box::new);
        }
        let region = &mut self.region;
        region.field = Some(field);
        region.opened = true;
        region.start = start;
        region.end = start;
    }

    /// Gives the text up to `end` to the open region.
    pub(super) fn read_to(
        &mut self,
        window: &Window<'_>,
        end: usize,
        sink: Sink<'_>,
    ) -> Result<(), ParseError> {
        if end <= self.position {
            return Ok(());
        }
        self.idle = 0;
        let text = window.slice(self.position..end);
        if let Some(index) = self.region.field {
            if !self.region.opened {
                self.open_region(index, self.position);
                sink.opens(index, &self.region.captures);
                sink.event(Event::RegionOpen {
                    field: Cow::Borrowed(&self.template.fields()[index].name),
                });
            }
            let field = &self.template.fields()[index];
            if end - self.region.start > self.options.limits.region_bytes {
                let most = self.options.limits.region_bytes;
                let message = format!("the region is longer than {most} bytes");
                return Err(self.limit(window, LimitKind::RegionBytes, message));
            }
            self.region.end = end;
            sink.chunk(field, text);
        } else {
            self.leave(self.position, text)?;
        }
        self.position = end;
        self.place_in_strings(window, end);
        Ok(())
    }

    /// Returns true if the text of the field's regions is told chunk by chunk and is not needed after that.
    pub(super) fn forgets(&self, field: usize) -> bool {
        self.options.forget && self.rare().markers.is_none() && {
            let field = &self.template.fields()[field];
            field.content.is_text() && field.transform.is_none()
        }
    }

    /// Adds text to the account of the text that no field takes.
    pub(super) fn leave(&mut self, start: usize, text: &str) -> Result<(), ParseError> {
        let most = self.options.limits.region_bytes;
        let unclaimed = &mut self.rare_mut().unclaimed;
        if unclaimed.length_until(start) + text.len() > most {
            let message = format!("a text that no field takes is longer than {most} bytes");
            return Err(ParseError::new(
                ErrorKind::Limit(LimitKind::RegionBytes),
                message,
            ));
        }
        let prefix_len = self.prefix_len;
        self.rare_mut().unclaimed.add(start, text, prefix_len);
        Ok(())
    }

    /// Accounts for text that comes when the parser reads no further.
    pub(super) fn leave_unread(&mut self, text: &str) -> Result<(), ParseError> {
        let rare = self.rare();
        if let Some(error) = &rare.ended {
            return Err(error.clone());
        }
        let left = self.leave(self.position.max(rare.unclaimed.end()), text);
        self.rare_mut().ended = left.clone().err();
        left
    }

    pub(super) fn check_held(&self, window: &Window<'_>) -> Result<(), ParseError> {
        let kept = self
            .position
            .saturating_sub(self.template.plan().lookbehind)
            .max(self.base);
        if window.end() - kept > self.options.limits.held_bytes {
            return Err(ParseError {
                hint: Some(
                    "let its pattern match less: one that can match any text holds all of it"
                        .to_owned(),
                ),
                ..self.limit(
                    window,
                    LimitKind::HeldBytes,
                    format!(
                        "more than {} bytes are held for a delimiter that may be under way",
                        self.options.limits.held_bytes
                    ),
                )
            });
        }
        Ok(())
    }

    /// The error of a limit that was reached in the open region.
    pub(super) fn limit(
        &self,
        window: &Window<'_>,
        kind: LimitKind,
        message: String,
    ) -> ParseError {
        let region = &self.region;
        let field = region.field.filter(|_| region.opened);
        let name = field.map(|field| self.template.fields()[field].name.to_string());
        let start = self.in_response(region.start);
        let end = self.in_response(region.end);
        ParseError {
            span: field.map(|_| start..end),
            raw: field.map(|_| region.text(window).into()),
            field: name,
            ..ParseError::new(ErrorKind::Limit(kind), message)
        }
    }
}

/// Returns true if a text is an object or a list of JSON, of which no beginning is one.
fn is_closed_json(text: &str) -> bool {
    json::parse(text).is_ok_and(|value| matches!(value, Value::Object(_) | Value::Array(_)))
}
