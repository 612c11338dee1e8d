//! How well a response template reads a recorded response.
//!
//! Nobody says what the message of a recorded response is, so that it cannot be compared with one. What can be told is what a reading
//! lacks: text that is in no field of the message, markers that stay in a text, regions that do not parse, and calls that stand in the response (an object
//! with the name of a tool) and are not in the message. These are counted, the worst first, and two readings are compared count by count. A
//! reading is better only if no count is greater, so that text which is no longer lost may not be leaked into another field instead. Where
//! the recorded response comes with its message, the distance to that counts alone. One parse, and one search for the markers.

use std::ops::{Add, Range};
use std::sync::Arc;

use super::calls::{self, Spotted};
use super::constants::Constants;
use super::recorded::Recorded;
use super::spot::Spot;
use crate::derive::probe::CALLS_KEY;
use crate::parser::{Edge, Markers, OnError, Options, ParseError, Passed, ResponseParser};
use crate::pattern::fixed_texts;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json, python};

/// How much of a marker has to stand there, in bytes, to be its beginning.
const BROKEN_OFF: usize = 4;

/// The shortcomings in the reading of one response, the worst first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shortfall {
    /// How far the message is from the one that it must be, where that is known; then nothing else counts but regions that do not
    /// parse.
    wrong: usize,
    /// Calls that stand in text that is not understood.
    missed: usize,
    /// Calls of functions that there are not, or with arguments that they do not take.
    unfit: usize,
    /// Regions that do not parse.
    malformed: usize,
    /// Bytes of text that is in no field of the message; what is a constant of the chat template is none.
    lost: usize,
    /// Markers that stand in texts.
    leaked: usize,
    /// Constants that no field takes. They are no loss, but it is better if they are read.
    constants: usize,
}

/// A response as it is read.
#[derive(Debug, Clone)]
pub(super) struct Appraised {
    pub(super) shortfall: Shortfall,
    pub(super) message: Map,
    /// The stretches that are not understood, in bytes of the response: that are in no field, markers in texts, regions that do not
    /// parse.
    pub(super) spots: Vec<Spot>,
    /// The stretches that are constants of the chat template, and in no field.
    pub(super) known_spots: Vec<Spot>,
    /// The calls that are not read, of those that stand in such a stretch.
    pub(super) missed: Vec<Spotted>,
    /// The calls that stand in such a stretch, or stood in one before more was read.
    pub(super) calls: Vec<Spotted>,
}

impl Add for Shortfall {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wrong: self.wrong + other.wrong,
            missed: self.missed + other.missed,
            unfit: self.unfit + other.unfit,
            malformed: self.malformed + other.malformed,
            lost: self.lost + other.lost,
            leaked: self.leaked + other.leaked,
            constants: self.constants + other.constants,
        }
    }
}

impl Shortfall {
    /// Returns true if no count is greater than the other's, so that text which is no longer lost may not be leaked into another field
    /// instead.
    pub(super) fn is_within(&self, other: &Self) -> bool {
        self.wrong <= other.wrong
            && self.missed <= other.missed
            && self.unfit <= other.unfit
            && self.malformed <= other.malformed
            && self.lost <= other.lost
            && self.leaked <= other.leaked
    }

    pub(super) fn without_constants(self) -> Self {
        Self {
            constants: 0,
            ..self
        }
    }
}

impl Appraised {
    /// Returns true if the message is the one that the response stands for, as far as that can be told.
    pub(super) fn is_right(&self) -> bool {
        self.shortfall.without_constants() == Shortfall::default()
    }

    /// Takes constants of the chat template in no field for some of the stretches that are not understood.
    pub(super) fn with_constants(mut self) -> Self {
        self.spots.append(&mut self.known_spots);
        self.spots
            .sort_by_key(|spot| (spot.span.start, spot.span.end));
        self
    }

    /// How many calls are not read, and how many regions do not parse.
    pub(super) fn lacks_calls(&self) -> usize {
        self.shortfall.missed + self.shortfall.malformed
    }

    /// Returns true if nothing stands in the response that is read as no part of anything.
    pub(super) fn is_read_whole(&self) -> bool {
        self.shortfall == Shortfall::default()
    }

    /// Says in a sentence why the response is not read right; `None` where it is.
    pub(super) fn why(&self, recorded: &Recorded) -> Option<String> {
        if self.is_right() {
            return None;
        }
        let Shortfall {
            missed,
            unfit,
            malformed,
            lost,
            leaked,
            ..
        } = self.shortfall;
        let shown = |spots: &mut dyn Iterator<Item = &Spot>| {
            let texts: Vec<String> = spots
                .filter_map(|spot| recorded.response.get(spot.span.clone()))
                .map(json::quote)
                .take(3)
                .collect();
            texts.join(", ")
        };
        let reasons = [
            (missed > 0, format!("{missed} calls are not read")),
            (
                unfit > 0,
                format!(
                    "{unfit} calls are of no tool that is given, or have arguments that it does not take"
                ),
            ),
            (
                malformed > 0,
                format!(
                    "a region does not parse: {}",
                    shown(&mut self.spots.iter().filter(|spot| spot.is_malformed))
                ),
            ),
            (
                lost > 0,
                format!(
                    "no field has {}",
                    shown(&mut self.spots.iter().filter(|spot| spot.field.is_none()))
                ),
            ),
            (
                leaked > 0,
                format!(
                    "markers stay in texts: {}",
                    shown(
                        &mut self
                            .spots
                            .iter()
                            .filter(|spot| spot.field.is_some() && !spot.is_malformed)
                    )
                ),
            ),
        ];
        let reasons: Vec<String> = reasons
            .into_iter()
            .filter_map(|(is, text)| is.then_some(text))
            .collect();
        Some(match reasons.is_empty() {
            true => format!(
                "another message comes of it: {}",
                json::to_string(&Value::Object(self.message.clone()))
            ),
            false => reasons.join("; "),
        })
    }
}

/// Reads a response behind a prompt.
pub(super) fn appraise(
    template: &Arc<ResponseTemplate>,
    recorded: &Recorded,
    prompt: &str,
    constants: &Constants<'_>,
    wanted: &[Spotted],
) -> Appraised {
    let response = recorded.response.as_str();
    let options = Options {
        on_error: OnError::Keep,
        keep_delimiters: true,
        ..Options::default()
    };
    let markers = Markers::of(template).and(constants.special_tokens.iter().cloned());
    let parsed = parse(
        template,
        response,
        prompt,
        &recorded.tools,
        options,
        markers,
    );
    let (parser, failed) = match parsed {
        Ok(parser) => (*parser, false),
        Err(Some(parser)) => (*parser, true),
        Err(None) => {
            return Appraised {
                shortfall: Shortfall {
                    wrong: usize::MAX / 2,
                    malformed: 1,
                    ..Shortfall::default()
                },
                message: Map::new(),
                spots: Vec::new(),
                known_spots: Vec::new(),
                missed: wanted.to_vec(),
                calls: wanted.to_vec(),
            };
        }
    };
    let mut parser = parser;
    let prefix = parser.snapshot().prefix_bytes;
    let passed = parser.take_delimiters();
    let message = parser.message().clone();
    let (mut spots, mut known_spots) = (Vec::new(), Vec::new());
    let mut shortfall = Shortfall {
        malformed: parser.malformed().len() + usize::from(failed),
        ..Shortfall::default()
    };
    for unclaimed in parser.unclaimed() {
        if unclaimed.is_white_space() {
            continue;
        }
        let span = unclaimed.visible_span();
        let (lost, known) = constants.weigh(&response[span.clone()]);
        shortfall.lost += lost;
        shortfall.constants += known;
        let stretches = match lost {
            0 => &mut known_spots,
            _ => &mut spots,
        };
        if lost + known > 0 {
            stretches.push(Spot {
                span,
                field: None,
                is_malformed: false,
            });
        }
    }
    for error in parser.malformed() {
        if let (Some(span), Some(field)) = (&error.span, &error.field) {
            spots.push(Spot {
                span: whole_constants(within(span, response.len()), response, constants),
                field: Some(field.clone()),
                is_malformed: true,
            });
        }
    }
    for leaked in parser.leaked() {
        // In a region that its own delimiter closes, a marker that opens another one is a part of what the model says.
        let at = leaked.span.end + prefix;
        let is_field = |index: usize| {
            let fields = template.fields();
            fields
                .get(index)
                .is_some_and(|field| field.name == leaked.field.as_str())
        };
        let is_closed = passed.iter().any(|one| {
            let is_close = one.side == Edge::Close && !one.span.is_empty();
            is_field(one.field) && is_close && one.span.start >= at
        });
        let field = template.field(&leaked.field);
        let own = field
            .into_iter()
            .flat_map(|field| field.open.iter().chain(&field.close));
        let is_own = own
            .flat_map(fixed_texts)
            .any(|text| text.contains(&leaked.text));
        let is_explicit = field.is_some_and(|field| field.open.is_some());
        let is_special = constants.special_tokens.contains(&leaked.text);
        if is_explicit && is_closed && !is_own && !is_special {
            continue;
        }
        shortfall.leaked += 1;
        spots.push(Spot {
            span: leaked.span.clone(),
            field: Some(leaked.field.clone()),
            is_malformed: false,
        });
    }
    let malformed = parser.malformed().iter();
    let malformed: Vec<&str> = malformed
        .filter_map(|error| error.field.as_deref())
        .collect();
    if let Some(spot) = broken_off(template, response, &message, &malformed) {
        shortfall.leaked += 1;
        spots.push(spot);
    }
    spots.sort_by_key(|spot| (spot.span.start, spot.span.end));
    // A call that stood in text which was not understood has to be read as a call, and not to be taken into a text.
    let mut calls: Vec<Spotted> = wanted.to_vec();
    let found = calls::spotted(template, recorded, &spots, &message, constants);
    calls.extend(found.into_iter().filter(|call| !wanted.contains(call)));
    let is_missed = |call: &&Spotted| !call.is_in(message.get(CALLS_KEY));
    let missed: Vec<Spotted> = calls.iter().filter(is_missed).cloned().collect();
    shortfall.missed = missed.len();
    shortfall.unfit = calls::unfit(message.get(CALLS_KEY), &recorded.tools);
    if let Some(expected) = &recorded.expected {
        match calls::is_same(&message, expected) {
            // The texts of a message that is right may have markers in them.
            true => {
                shortfall = Shortfall {
                    constants: shortfall.lost + shortfall.constants,
                    ..Shortfall::default()
                }
            }
            false => {
                shortfall = Shortfall {
                    wrong: calls::distance(&message, expected),
                    malformed: shortfall.malformed,
                    ..Shortfall::default()
                };
                spots.extend(beside(response, &message, expected, &passed, prefix));
            }
        }
    }
    Appraised {
        shortfall,
        message,
        spots,
        known_spots,
        missed,
        calls,
    }
}

/// Returns the stretches of text that the message's texts have beyond the texts that must stand there. Where another text that the message must have
/// stands in such a stretch, it parts it.
fn beside(
    response: &str,
    message: &Map,
    expected: &Value,
    passed: &[Passed],
    prefix: usize,
) -> Vec<Spot> {
    let texts = expected.as_object().into_iter().flatten();
    let texts: Vec<&str> = texts
        .filter(|(key, _)| *key != "role")
        .filter_map(|(_, value)| value.as_str())
        .filter(|text| !text.trim_matches(python::is_space).is_empty())
        .collect();
    let mut spots = Vec::new();
    for (key, value) in message {
        let Some(text) = value.as_str().filter(|_| *key != "role") else {
            continue;
        };
        let wanted = expected.get(key.as_str()).and_then(Value::as_str);
        let spans = match wanted.map(|wanted| (wanted, text.find(wanted))) {
            Some((wanted, Some(at))) => around(response, text, at, wanted.len()),
            _ => outside(response, text, passed, prefix),
        };
        let spans = spans
            .into_iter()
            .flat_map(|span| parted(response, span, &texts));
        spots.extend(spans.filter(|span| !span.is_empty()).map(|span| Spot {
            span,
            field: Some(key.to_string()),
            is_malformed: false,
        }));
    }
    spots
}

/// The stretches of a response before and behind so many bytes of a text that it has.
fn around(response: &str, text: &str, at: usize, len: usize) -> Vec<Range<usize>> {
    let (surplus, rest) = (&text[..at], &text[at + len..]);
    if let Some(start) = response.find(text) {
        return vec![start..start + at, start + at + len..start + text.len()];
    }
    // Another region stands within the text.
    let before = response.find(surplus).map(|at| at..at + surplus.len());
    let behind = response.rfind(rest).map(|at| at..at + rest.len());
    before.into_iter().chain(behind).collect()
}

/// The stretches of a response outside of all regions that something opened, of which the text is made.
fn outside(response: &str, text: &str, passed: &[Passed], prefix: usize) -> Vec<Range<usize>> {
    let mut stretches = Vec::new();
    let mut begin = Some(0);
    for one in passed {
        let [start, end] = [one.span.start, one.span.end].map(|at| at.saturating_sub(prefix));
        if let Some(begin) = begin {
            stretches.push(begin..start.max(begin));
        }
        begin = (one.side == Edge::Close).then_some(end);
    }
    stretches.extend(begin.map(|begin| begin..response.len()));
    let is_of_text = |span: &Range<usize>| {
        let shown = response.get(span.clone()).unwrap_or_default();
        let shown = shown.trim_matches(python::is_space);
        !shown.is_empty() && text.contains(shown)
    };
    stretches.into_iter().filter(is_of_text).collect()
}

/// The parts of a stretch of the response between those of these texts that stand in it, each without the white space at its ends.
fn parted(response: &str, span: Range<usize>, texts: &[&str]) -> Vec<Range<usize>> {
    let shown = &response[span.clone()];
    let Some((at, text)) = texts
        .iter()
        .find_map(|text| Some((shown.find(text)?, text)))
    else {
        return vec![span];
    };
    let trimmed = |span: Range<usize>| {
        let shown = &response[span.clone()];
        let begin = shown.len() - shown.trim_start_matches(python::is_space).len();
        let end = shown.trim_end_matches(python::is_space).len().max(begin);
        span.start + begin..span.start + end
    };
    let mut parts = vec![trimmed(span.start..span.start + at)];
    let behind = trimmed(span.start + at + text.len()..span.end);
    parts.extend(parted(response, behind, texts));
    parts
}

/// Returns the beginning of a closing marker with which the response ends, where it stands at the end of a text, or of a region that does
/// not parse: the engine stopped within the marker.
fn broken_off(
    template: &ResponseTemplate,
    response: &str,
    message: &Map,
    malformed: &[&str],
) -> Option<Spot> {
    let end = response.trim_end_matches(python::is_space);
    template.fields().iter().find_map(|field| {
        let text = message
            .get(field.name.as_str())
            .and_then(Value::as_str)
            .or_else(|| malformed.contains(&field.name.as_str()).then_some(end))?;
        let closes = field.close.iter().flat_map(fixed_texts);
        let cut = closes.filter_map(|close| {
            let close = close.trim_matches(python::is_space);
            let lengths = (BROKEN_OFF..close.len()).rev();
            let beginnings = lengths.filter_map(|length| close.get(..length));
            beginnings
                .map(|part| part.trim_end_matches(python::is_space))
                .find(|part| end.ends_with(part) && text.ends_with(part))
                .map(str::len)
        });
        let length = cut.max()?;
        Some(Spot {
            span: end.len() - length..end.len(),
            field: Some(field.name.to_string()),
            is_malformed: false,
        })
    })
}

fn within(span: &Range<usize>, len: usize) -> Range<usize> {
    span.start.min(len)..span.end.min(len)
}

/// The stretch up to the end of the constant within which it ends. The text that closes a region may be a part of a constant that was not
/// understood: where `}` closes a region, it is found at the end of `{stop}` as well.
fn whole_constants(span: Range<usize>, response: &str, constants: &Constants<'_>) -> Range<usize> {
    let found = constants.find(response);
    let mut ends = found.into_iter().filter(|one| one.start < span.end);
    let end = ends
        .next_back()
        .map_or(span.end, |one| one.end.max(span.end));
    span.start..end
}

/// The parser behind the response; the one that gave up where it did.
fn parse(
    template: &Arc<ResponseTemplate>,
    response: &str,
    prompt: &str,
    tools: &[Value],
    options: Options,
    markers: Markers,
) -> Result<Box<ResponseParser>, Option<Box<ResponseParser>>> {
    let opened = ResponseParser::with_options(template.clone(), prompt, tools, options);
    let mut parser = opened.map_err(|_: ParseError| None)?;
    parser.find_leaked(markers);
    let mut ignore = |_: crate::parser::Event<'_>| ();
    let fed = parser.feed_with(response, &mut ignore);
    let ended = fed.and_then(|()| parser.finalize_with(&mut ignore));
    match ended {
        Ok(()) => Ok(Box::new(parser)),
        Err(_) => Err(Some(Box::new(parser))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::compare::pieces::Pieces;

    #[test]
    fn a_region_that_a_part_of_a_constant_closes_is_looked_at_with_all_of_it() {
        let shown = |stop: &str| {
            let document = r#"{"start_anchor": "A:", "fields": {
                "tool_calls": {
                    "open_pattern": "\\{\"do\": \"(?P<name>[^\"]+)\", \"with\": ",
                    "close_pattern": "\\}\\s*(?:!end|\\Z)",
                    "content": "json",
                    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
                },
                "content": {}
            }}"#;
            let template = ResponseTemplate::from_json(document).unwrap();
            let pieces = Pieces::of([], [stop, "!end"]);
            let recorded = Recorded {
                name: "one".to_owned(),
                response: format!(r#"{{"do": "f", "with": {{}}}}{stop}"#),
                prefix: None,
                tools: Vec::new(),
                expected: None,
            };
            let constants = Constants::new(&pieces, Vec::new());
            let read = appraise(&Arc::new(template), &recorded, "", &constants, &[]);
            let malformed = read.spots.iter().filter(|spot| spot.is_malformed);
            let shown = malformed.map(|spot| recorded.response[spot.span.clone()].to_owned());
            shown.collect::<Vec<_>>()
        };
        assert_eq!(shown("<stop>"), ["{}}<stop>"]);
        assert_eq!(shown("{stop}"), ["{}}{stop}"]);
    }
}
