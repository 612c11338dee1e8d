//! A recorded parse as a page has it: all steps at once, so that nothing needs to be parsed where it is shown.
//!
//! Values are told as texts of JSON. JavaScript would change them: its numbers are doubles, and it puts keys that look like numbers first.

use serde::Serialize;

use super::utf16::Units;
use crate::parser::Status;
use crate::pattern::Pattern;
use crate::replay::{Entry, EntryKind, Region, Timeline, spelled};
use crate::response_template::Field;
use crate::value::json::{self, Format};
use crate::value::{Map, Value};

/// A recorded parse. Offsets count UTF-16 code units of [`PageReplay::text`].
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct PageReplay {
    /// The parsed text: the part of the prefix that stands behind its last start anchor, then the response.
    pub text: String,
    /// The offset at which the response begins.
    pub prefix: usize,
    /// The fields of the response template, in its order. Everything else names a field by its index here.
    pub fields: Vec<ReplayField>,
    /// The steps: before any chunk, after each chunk, and after the end.
    pub steps: Steps,
    /// The events with their places, the pieces of one region's text joined.
    pub entries: Vec<ReplayEntry>,
    /// The regions, in their order.
    pub regions: Vec<ReplayRegion>,
    /// The delimiters that were under way, step by step.
    pub watches: Vec<ReplayWatch>,
    /// The message before any region, a member each.
    pub defaults: Vec<Member>,
    /// The message after the last step, a member each.
    pub message: Vec<Member>,
    /// The reason why the parse failed as a whole, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// A field of the response template.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReplayField {
    /// The key of the message that it fills.
    pub name: String,
    /// The delimiter that opens its region, for people; absent for the implicit field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// The delimiter that closes its region, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<String>,
}

/// The steps, a list for each of their numbers. The lists are equally long.
#[derive(Debug, Clone, Default, Serialize)]
#[non_exhaustive]
pub struct Steps {
    /// The offset up to which the text had arrived.
    pub arrived: Vec<usize>,
    /// The offset from which on the text was held; the same as `arrived` where nothing was.
    pub held: Vec<usize>,
    /// The offset up to which the text of entries had been told.
    pub told: Vec<usize>,
    /// The number of entries that had happened.
    pub entries: Vec<usize>,
    /// The number of regions that had been closed.
    pub closed: Vec<usize>,
    /// The number of watches up to and with this step; those of the step before are not its own.
    pub watches: Vec<usize>,
    /// The open region, counted from one; none is zero.
    pub open: Vec<usize>,
    /// The state of the parser: `reading`, `stalled`, `ended` (by a limit) or `over`; only where it changes, as step and state.
    pub states: Vec<(usize, &'static str)>,
}

/// An event, or what no event tells of.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReplayEntry {
    /// `open`, `text`, `close`, `error`, `stray` (a close where no region was open), `unclaimed` (text that no field takes) or `failure`.
    pub kind: &'static str,
    /// The field that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<usize>,
    /// The region that it speaks of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<usize>,
    /// The text: of a delimiter, of the region's text, or of the whole region.
    pub span: [usize; 2],
    /// The step at which it first happened.
    pub first: usize,
    /// The step at which it last happened; a text grows.
    pub last: usize,
}

/// A stretch of text that was given to a field.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReplayRegion {
    /// The field.
    pub field: usize,
    /// The delimiter that opens it; absent for the implicit field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<[usize; 2]>,
    /// The text between the delimiters.
    pub text: [usize; 2],
    /// The delimiter that closes it; absent where the response ends before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<[usize; 2]>,
    /// The named captures of its delimiters, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub captures: Option<String>,
    /// The value that was made of it, as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// The reason why it does not parse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The region whose value was replaced by this one's, and is lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<usize>,
    /// The change of the message when it was closed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// A change of one member of the message.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Change {
    /// The member becomes another text.
    Text([String; 2]),
    /// The member, which is a text, grows by another one.
    Append([String; 2]),
    /// The member becomes another value, given as JSON.
    Json([String; 2]),
    /// The member, which is a list, grows by an item, given as JSON.
    Push([String; 2]),
}

/// A member of the message.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct Member {
    /// The key.
    pub key: String,
    /// The value, as JSON.
    pub json: String,
}

/// A delimiter that was under way.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct ReplayWatch {
    /// The field whose delimiter it is.
    pub field: usize,
    /// The side of the region: `open` or `close`.
    pub side: &'static str,
    /// The text that may be it, or that it matched.
    pub span: [usize; 2],
    /// True if it matched, and is not taken yet.
    pub matched: bool,
    /// The reason why the parser waits, in a sentence.
    pub reason: &'static str,
}

impl PageReplay {
    pub(super) fn of(timeline: &Timeline) -> Self {
        let units = Units::of(timeline.text());
        let template = timeline.template();
        let watches = (0..timeline.len()).flat_map(|step| timeline.at(step).watches());
        let watches = watches.map(|watch| ReplayWatch {
            field: watch.field,
            side: watch.side.name(),
            span: units.span(&watch.span),
            matched: watch.matched,
            reason: watch.reason,
        });
        let mut message = template.defaults().clone();
        let regions = timeline.regions().iter().map(|region| {
            let change = timeline.take(&mut message, region);
            ReplayRegion::of(region, change, &units)
        });
        Self {
            text: timeline.text().to_owned(),
            prefix: units.at(timeline.prefix()),
            fields: template.fields().iter().map(ReplayField::of).collect(),
            regions: regions.collect(),
            steps: Steps::of(timeline, &units),
            entries: timeline
                .entries()
                .iter()
                .map(|entry| ReplayEntry::of(timeline, entry, &units))
                .collect(),
            watches: watches.collect(),
            defaults: members(template.defaults()),
            message: members(&timeline.at(timeline.len() - 1).message()),
            failure: timeline.failure().map(ToString::to_string),
        }
    }
}

impl ReplayField {
    fn of(field: &Field) -> Self {
        let told = |pattern: &Option<Pattern>| pattern.as_ref().map(spelled);
        Self {
            name: field.name.to_string(),
            open: told(&field.open),
            close: told(&field.close),
        }
    }
}

impl Steps {
    fn of(timeline: &Timeline, units: &Units) -> Self {
        let mut steps = Self::default();
        let mut watches = 0;
        for number in 0..timeline.len() {
            let now = timeline.at(number);
            let arrived = units.at(now.fed());
            let held = now.held();
            watches += now.watches().len();
            steps.arrived.push(arrived);
            steps.held.push(match held.is_empty() {
                true => arrived,
                false => units.at(held.start),
            });
            steps.told.push(units.at(now.told_until()));
            steps.entries.push(now.entries().len());
            steps.closed.push(now.closed());
            steps.watches.push(watches);
            steps
                .open
                .push(now.open_index().map_or(0, |index| index + 1));
            let state = match now.status() {
                Status::Reading => "reading",
                Status::Stalled => "stalled",
                Status::Ended => "ended",
                Status::Finalized => "over",
            };
            if steps.states.last().is_none_or(|(_, last)| *last != state) {
                steps.states.push((number, state));
            }
        }
        steps
    }
}

impl ReplayEntry {
    fn of(timeline: &Timeline, entry: &Entry, units: &Units) -> Self {
        let of_region = !matches!(
            entry.kind,
            EntryKind::Failure | EntryKind::Unclaimed | EntryKind::Stray
        );
        Self {
            kind: match entry.kind {
                EntryKind::Open => "open",
                EntryKind::Text => "text",
                EntryKind::Close => "close",
                EntryKind::Error => "error",
                EntryKind::Stray => "stray",
                EntryKind::Unclaimed => "unclaimed",
                EntryKind::Failure => "failure",
            },
            field: timeline.entry_field(entry),
            region: of_region.then_some(entry.region),
            span: units.span(&entry.span),
            first: entry.first,
            last: entry.last,
        }
    }
}

impl ReplayRegion {
    fn of(region: &Region, change: Option<Change>, units: &Units) -> Self {
        let captures = (!region.captures.is_empty())
            .then(|| json::to_string(&Value::Object(region.captures.clone())));
        Self {
            field: region.field,
            open: region.open.as_ref().map(|span| units.span(span)),
            text: units.span(&region.text),
            close: region.close.as_ref().map(|span| units.span(span)),
            captures,
            value: region.value.as_ref().map(json::to_string),
            error: region.error.as_ref().map(ToString::to_string),
            replaces: region.replaces,
            change,
        }
    }
}

impl Timeline {
    /// Adds the value of a region to the message, and tells how that changed it.
    fn take(&self, message: &mut Map, region: &Region) -> Option<Change> {
        let field = self.template().fields().get(region.field)?;
        let before = match message.get(&field.name) {
            Some(Value::Array(items)) if field.repeats => Some(items.len()),
            Some(Value::String(text)) if field.join.is_some() => Some(text.len()),
            _ => None,
        };
        self.add(message, region);
        region.value.as_ref()?;
        let key = field.name.to_string();
        Some(match (message.get(&field.name)?, before) {
            (Value::Array(items), Some(before)) if items.len() == before + 1 => {
                Change::Push([key, pretty(items.last()?)])
            }
            (Value::String(text), Some(before)) if field.join.is_some() => {
                Change::Append([key, text.get(before..)?.to_owned()])
            }
            (Value::String(text), _) => Change::Text([key, text.clone()]),
            (value, _) => Change::Json([key, pretty(value)]),
        })
    }
}

fn members(message: &Map) -> Vec<Member> {
    let members = message.iter().map(|(key, value)| Member {
        key: key.to_string(),
        json: pretty(value),
    });
    members.collect()
}

fn pretty(value: &Value) -> String {
    Format::indented(2).write(value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::parser::Options;
    use crate::response_template::ResponseTemplate;

    fn replay(fields: &str, response: &str, ends: &[usize]) -> PageReplay {
        let text = format!(r#"{{"start_anchor": "A:", "fields": {fields}}}"#);
        let template = Arc::new(ResponseTemplate::from_json(&text).expect("a template"));
        let options = Options::default();
        PageReplay::of(&Timeline::record(
            &template,
            "",
            &[],
            options,
            response,
            ends,
        ))
    }

    #[test]
    fn places_count_units_and_steps_tell_what_is_held() {
        let replay = replay(
            r#"{"thinking": {"open": "<t>", "close": "</t>"}, "content": {}}"#,
            "<t>😀</t>é",
            &[2, 7, 11, 13],
        );
        assert_eq!(replay.steps.arrived, [0, 2, 5, 9, 10, 10]);
        assert_eq!(replay.steps.held[1], 0, "the beginning of a delimiter");
        assert_eq!(replay.regions[0].text, [3, 5]);
        assert_eq!(replay.regions[0].close, Some([5, 9]));
        assert_eq!(replay.steps.states, [(0, "reading"), (5, "over")]);
        let told: Vec<_> = replay.watches.iter().map(|watch| watch.side).collect();
        assert_eq!(told, ["open"]);
    }

    #[test]
    fn the_message_grows_by_changes() {
        let replay = replay(
            r#"{"calls": {"open": "<c>", "close": "</c>", "repeats": true, "content": "json"},
                "text": {"open": "<s>", "close": "</s>", "repeats": true, "join": ", "}}"#,
            "<c>1</c><c>[NaN]</c><s>a</s><s>b</s>",
            &[36],
        );
        let changes = replay
            .regions
            .iter()
            .filter_map(|region| region.change.as_ref());
        let changes: Vec<String> = changes.map(|change| format!("{change:?}")).collect();
        assert_eq!(
            changes,
            [
                r#"Json(["calls", "[\n  1\n]"])"#,
                r#"Push(["calls", "[\n  NaN\n]"])"#,
                r#"Text(["text", "a"])"#,
                r#"Append(["text", ", b"])"#
            ]
        );
    }
}
