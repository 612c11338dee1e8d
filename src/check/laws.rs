//! The laws that must hold for every response, whatever message it parses to.
//!
//! - One answer for every chunking: the message, the events and the errors do not depend on how the response is cut.
//! - What a client puts together of the deltas is the message, however the response is cut.
//! - One answer for every split: they do not depend on how much of the response the prompt had already.
//! - Nothing is lost at the end: wherever the response ends, it keeps every field that was finished before.

use std::sync::Arc;

use super::cuts::Effort;
use super::replay::{Replay, Setting};
use crate::chunking::{Chunking, chunks};
use crate::deltas::{self, Assembly, DeltaParser, DeltaTemplate};
use crate::parser::{CutShort, Growing, OnError, is_kept};
use crate::value::Value;

/// A law that a response breaks, and where.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Broken {
    /// In the chunks that were recorded, the response gives this instead.
    Recorded(Box<Replay>),
    /// Cut like this, the response gives another message, other events or other errors.
    Chunking {
        /// How.
        chunking: Chunking,
        /// The outcome in that case.
        replay: Box<Replay>,
    },
    /// The message that a client puts together of the deltas is another one.
    Deltas {
        /// How the response was cut; whole without it.
        chunking: Option<Chunking>,
        /// In what it is another.
        difference: String,
    },
    /// With the first bytes of the response in the prompt, the rest gives something else.
    Split {
        /// How many bytes of the response the prompt had.
        at: usize,
        /// The outcome in that case.
        replay: Box<Replay>,
    },
    /// The response ends here, and a field that was finished is gone.
    Lost {
        /// How many bytes of the response there are.
        at: usize,
        /// The field.
        field: String,
        /// Its value before the response ended.
        finished: Value,
        /// Its value after.
        left: Option<Value>,
    },
}

/// The first law that a response breaks, if it breaks one. `whole` is what it gives when it arrives at once.
pub fn first_broken(
    setting: &Setting<'_>,
    response: &str,
    whole: &Replay,
    effort: &Effort,
) -> Option<Broken> {
    by_chunking(setting, response, whole, effort)
        .or_else(|| by_deltas(setting, response, effort))
        .or_else(|| by_split(setting, response, whole, effort))
        .or_else(|| by_end(setting, response, effort))
}

fn by_chunking(
    setting: &Setting<'_>,
    response: &str,
    whole: &Replay,
    effort: &Effort,
) -> Option<Broken> {
    effort.chunkings(response).into_iter().find_map(|chunking| {
        // Only a tokenizer could fail, and none is tried.
        let ends = chunking.ends(response, &[]).ok()?;
        let replay = setting.replay(chunks(response, &ends));
        (!replay.agrees(whole)).then(|| Broken::Chunking {
            chunking,
            replay: Box::new(replay),
        })
    })
}

/// Deltas that are passed on at once, and those that are held until they are certain.
fn by_deltas(setting: &Setting<'_>, response: &str, effort: &Effort) -> Option<Broken> {
    let template = Arc::new(DeltaTemplate::new(Arc::clone(setting.template)));
    let differs = |pieces: &[&str], chunking: Option<&Chunking>| {
        let difference = [false, true].into_iter().find_map(|certain| {
            let mut options = deltas::Options::default();
            options.parser.on_error = OnError::Keep;
            options.certain = certain;
            let template = Arc::clone(&template);
            let parser =
                DeltaParser::with_options(template, setting.prefix, setting.tools, options);
            client_differs(parser.ok()?, pieces)
        });
        difference.map(|difference| Broken::Deltas {
            chunking: chunking.cloned(),
            difference,
        })
    };
    differs(&[response], None).or_else(|| {
        effort.chunkings(response).into_iter().find_map(|chunking| {
            let ends = chunking.ends(response, &[]).ok()?;
            let pieces: Vec<&str> = chunks(response, &ends).collect();
            differs(&pieces, Some(&chunking))
        })
    })
}

/// Returns the difference between the message that a client puts together and the parser's, in words; `None` as well where a limit or a
/// missing field ends the parse.
fn client_differs(mut parser: DeltaParser, pieces: &[&str]) -> Option<String> {
    let mut client = Assembly::default();
    for growth in parser.initial_growth() {
        client.add(growth);
    }
    for piece in pieces {
        parser
            .feed_with(piece, &mut |growth| client.add(&growth))
            .ok()?;
    }
    parser
        .finalize_with(&mut |growth| client.add(&growth))
        .ok()?;
    client.difference(parser.parser().message())
}

fn by_split(
    setting: &Setting<'_>,
    response: &str,
    whole: &Replay,
    effort: &Effort,
) -> Option<Broken> {
    let begun = setting.template.after_last_anchor(setting.prefix).ok()?;
    let mut prefix = String::with_capacity(setting.prefix.len() + response.len());
    effort.splits(response).into_iter().find_map(|at| {
        let (head, rest) = response.split_at(at);
        prefix.clear();
        prefix.push_str(setting.prefix);
        prefix.push_str(head);
        // Where the anchor stands in the response too, a prompt with it in is another prompt.
        let same = setting
            .template
            .after_last_anchor(&prefix)
            .is_ok_and(|taken| taken.len() == begun.len() + head.len());
        if !same {
            return None;
        }
        let replay = setting.after(&prefix).replay([rest]);
        (!replay.agrees(whole)).then(|| Broken::Split {
            at,
            replay: Box::new(replay),
        })
    })
}

fn by_end(setting: &Setting<'_>, response: &str, effort: &Effort) -> Option<Broken> {
    let mut growing = Growing::new(setting.parser().ok()?);
    let mut fed = 0;
    let ends = effort.ends(response).into_iter().chain([response.len()]);
    ends.into_iter().find_map(|at| {
        growing.feed(&response[fed..at]);
        fed = at;
        lost_at(at, &growing.cut_short())
    })
}

/// The first value that is lost when the response ends at this byte. An error at the end leaves what was parsed before.
fn lost_at(at: usize, ended: &CutShort) -> Option<Broken> {
    // A region of the same field that the end closed may have put its own value in the place, unless that is empty.
    let overwritten = |field: &str| {
        let has_value = ended.after.get(field).is_some_and(Value::is_truthy);
        ended.closed.as_deref() == Some(field) && has_value
    };
    let (field, finished) = ended.before.iter().find(|(field, finished)| {
        !is_kept(finished, ended.after.get(field)) && !overwritten(field)
    })?;
    Some(Broken::Lost {
        at,
        field: field.to_string(),
        finished: finished.clone(),
        left: ended.after.get(field).cloned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::response_template::ResponseTemplate;

    fn broken(fields: &str, prefix: &str, response: &str) -> Option<Broken> {
        let document = format!(r#"{{"start_anchor": "A:", "fields": {fields}}}"#);
        let template = Arc::new(ResponseTemplate::from_json(&document).unwrap());
        let setting = Setting {
            template: &template,
            prefix,
            tools: &[],
        };
        let whole = setting.replay([response]);
        first_broken(&setting, response, &whole, &Effort::default())
    }

    const SOUND: &str = r#"{"thinking": {"open": "<t>", "close": "</t>"}, "content": {"close_pattern": "<e>\\s*"},
        "calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true}}"#;

    #[test]
    fn a_sound_template_breaks_no_law() {
        for prefix in ["", "A:", "A:<t>"] {
            let response = "<t>a \u{20ac}</t>Hi<c>{\"a\": 1}</c><c>[2</c><c>3</c>!<e>\n";
            assert_eq!(broken(SOUND, prefix, response), None, "{prefix:?}");
        }
    }

    #[test]
    fn a_response_that_quotes_the_anchor_is_not_split_behind_it() {
        assert_eq!(broken(SOUND, "A:", "<t>no A: </t>and A: b"), None);
    }

    #[test]
    fn a_field_that_its_own_end_overwrites_is_lost() {
        let found = broken(r#"{"content": {"close": "<e>"}}"#, "", "Hello<e>\n");
        let Some(Broken::Lost {
            at, field, left, ..
        }) = found
        else {
            panic!("{found:?}");
        };
        assert_eq!((at, field.as_str(), left), (9, "content", None));
    }
}
