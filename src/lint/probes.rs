//! Responses that are put together from the delimiters of a response template, and what it makes of them. A fix is compared by them: fewer
//! findings are worth nothing if a response that was read right is not any more.

use crate::parser::parse_response;
use crate::pattern::{Pattern, facts::Facts};
use crate::response_template::{Field, ResponseTemplate, config};
use crate::value::{Map, Value, json};

use super::subject::comes_later;

/// How many responses are tried at most; a response template of three fields needs about two hundred.
const MANY: usize = 512;

/// How many of the texts that a delimiter matches are tried.
const SAMPLES: usize = 3;

/// The white space that may stand between a text and a marker, and behind the last one.
const SPACES: [&str; 3] = ["", "\n", "\n\n"];

/// Responses, and what a response template makes of each.
pub(super) struct Probes {
    responses: Vec<String>,
    markers: Vec<String>,
    read: Vec<Option<Read>>,
}

/// One message: its texts, and all of it as JSON.
struct Read {
    texts: Vec<String>,
    whole: String,
}

impl Probes {
    /// The responses for the response template in a text; `None` where it holds none.
    pub(super) fn of(text: &str) -> Option<Self> {
        let template = config::load_any(text).ok()?.template;
        let mut markers: Vec<String> = Vec::new();
        for pattern in template.fields().iter().flat_map(delimiters) {
            let samples = samples(pattern).into_iter();
            markers.extend(samples.map(|sample| sample.trim().to_owned()));
        }
        markers.retain(|marker| !marker.is_empty());
        markers.sort_unstable();
        markers.dedup();
        let responses = responses(&template);
        let read = responses.iter().map(|text| read(&template, text)).collect();
        Some(Self {
            responses,
            markers,
            read,
        })
    }

    /// Returns the first response of which the response template in `text` makes less than the one that these were made for: it fails,
    /// a word is lost, or a marker is in a text. That a text has more white space is no harm.
    pub(super) fn worse(&self, text: &str) -> Option<&str> {
        let template = config::load_any(text).ok()?.template;
        let all = self.responses.iter().zip(&self.read);
        all.filter_map(|(response, before)| Some((response, before.as_ref()?)))
            .find(|(response, before)| match read(&template, response) {
                None => true,
                Some(after) => {
                    self.leaks(before, &after)
                        || words(response).any(|word| before.loses(&after, word))
                }
            })
            .map(|(response, _)| response.as_str())
    }

    fn leaks(&self, before: &Read, after: &Read) -> bool {
        let has = |read: &Read, marker: &str| read.texts.iter().any(|text| text.contains(marker));
        let mut markers = self.markers.iter();
        markers.any(|marker| has(after, marker) && !has(before, marker))
    }
}

impl Read {
    fn loses(&self, after: &Self, word: &str) -> bool {
        self.whole.contains(word) && !after.whole.contains(word)
    }
}

/// The words of a response by which its parts are known again. Each is made of two letters and a digit.
fn words(response: &str) -> impl Iterator<Item = &str> {
    response
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 3 && word.ends_with(|c: char| c.is_ascii_digit()))
}

fn read(template: &ResponseTemplate, response: &str) -> Option<Read> {
    let message = parse_response(response, template.clone(), "", &[]).ok()?;
    let mut texts = Vec::new();
    members(&message, &mut texts);
    Some(Read {
        texts,
        whole: json::to_string(&Value::Object(message)),
    })
}

fn members(message: &Map, texts: &mut Vec<String>) {
    for (_, value) in message.iter() {
        collect(value, texts);
    }
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(object) => members(object, texts),
        _ => {}
    }
}

fn delimiters(field: &Field) -> impl Iterator<Item = &Pattern> {
    field.open.iter().chain(&field.close)
}

/// Texts that a delimiter matches as a whole.
fn samples(pattern: &Pattern) -> Vec<String> {
    let mut samples = match pattern.as_literals() {
        Some(literals) => literals.to_vec(),
        None => Facts::of(pattern).samples(pattern),
    };
    samples.truncate(SAMPLES);
    samples
}

/// The texts of an optional delimiter; where there is none, or none is known, nothing is written.
fn written(pattern: Option<&Pattern>) -> Vec<String> {
    let samples = pattern.map(samples).unwrap_or_default();
    if samples.is_empty() {
        vec![String::new()]
    } else {
        samples
    }
}

/// A text that a region of the field may have in it. The number tells regions apart.
fn body(field: &Field, number: usize) -> String {
    match field.content.name() {
        "json" => format!(r#"{{"name": "fn{number}", "arguments": {{"k": "va{number}"}}}}"#),
        "int" | "float" => number.to_string(),
        "xml-inline" => format!("<k>va{number}</k>"),
        "kv-lines" => format!("k: va{number}"),
        _ => format!("bo{number}"),
    }
}

/// The responses: text, regions, text and the end, each of which may be missing, with line feeds between them.
fn responses(template: &ResponseTemplate) -> Vec<String> {
    let implicit = template.implicit();
    let explicit = template.fields().iter().enumerate();
    // What comes first in a response, as reasoning does, has no text before it.
    let mut runs: Vec<(String, bool)> = vec![(String::new(), true)];
    let mut all = String::new();
    for (index, field) in explicit.filter(|(index, _)| Some(*index) != implicit) {
        let region = |open: &str, close: &str, number: usize| {
            format!("{open}{}{close}", body(field, number))
        };
        let opens = written(field.open.as_ref());
        let closes = written(field.close.as_ref());
        for open in &opens {
            for close in &closes {
                runs.push((region(open, close, 1), comes_later(field)));
            }
        }
        let number = (index + 2) % 10;
        all.push_str(&region(&opens[0], &closes[0], number));
        if field.repeats {
            for space in &SPACES[..2] {
                let [one, two] = [1, 2].map(|number| region(&opens[0], &closes[0], number));
                runs.push((format!("{one}{space}{two}"), comes_later(field)));
            }
        }
    }
    runs.push((all, false));
    let mut ends = written(implicit.and_then(|index| template.fields()[index].close.as_ref()));
    ends.insert(0, String::new());
    let mut responses: Vec<String> = Vec::new();
    for (run, is_later) in &runs {
        let leads = &["", "Hi1", "Hi1\n"][..if *is_later { 3 } else { 1 }];
        for lead in leads {
            for end in &ends {
                // Where no region stands in between, a second text would only make the first one longer.
                for behind in &["", "\n", "By2"][..if run.is_empty() { 1 } else { 3 }] {
                    for space in SPACES {
                        responses.push(format!("{lead}{run}{behind}{end}{space}"));
                    }
                }
            }
        }
    }
    responses.sort_by_key(String::len);
    responses.dedup();
    responses.truncate(MANY);
    responses
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worse(before: &str, after: &str) -> Option<String> {
        let probes = Probes::of(before).expect("a response template");
        probes.worse(after).map(str::to_owned)
    }

    fn content(close: &str) -> String {
        format!(
            r#"{{"start_anchor": "A:", "fields": {{"content": {{"close_pattern": {}}}}}}}"#,
            json::quote(close)
        )
    }

    #[test]
    fn a_marker_that_is_left_in_a_text_is_worse() {
        let found = worse(&content(r"</b>\s*"), &content(r"</b>\Z"));
        assert_eq!(found.as_deref(), Some("</b>\n"));
    }

    #[test]
    fn a_word_that_is_lost_is_worse() {
        let found = worse(&content(r"</b>\s*"), &content(r"</b>"));
        assert_eq!(found.as_deref(), Some("Hi1</b>\n"));
    }

    #[test]
    fn more_of_a_text_is_not_worse() {
        assert_eq!(worse(&content(r"</b>"), &content(r"</b>\s*")), None);
        assert_eq!(worse(&content(r"</b>\s*|$"), &content(r"</b>\s*|\Z")), None);
    }
}
