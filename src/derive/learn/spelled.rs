//! Calls that responses spell otherwise than renders: with other constants, in another order, with their object taken apart.
//!
//! What a response has otherwise between the parts of its message ([`super::changes`]) can be taken into the patterns of a response template
//! where these patterns have the constants. Where a region takes a call's whole object, the names of its members are in no pattern. Then
//! the object is taken apart first ([`taken_apart`]): what opens the region captures the name and goes on up to the arguments, in whichever
//! order the members stand. Where only the name comes behind the arguments in a response, what opens the region looks ahead for it ([`Turned`]).

use super::changes::Change;
use super::gaps::{Gap, Part};
use super::places;
use super::several::Several;
use super::split::{Split, source};
use crate::derive::compare::pattern::{SPACE, grouped};
use crate::derive::compare::text::{common_suffix, escape, escape_loosely};
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document};
use crate::value::{Map, Value, python};

/// How many changes of one response are tried in all their combinations.
const MAX_COMBINED: usize = 4;

/// A member of an object with a plain value, and the comma behind it.
const PLAIN: &str = r#"(?:"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^\s"{}\[\],]+)\s*,\s*)*?"#;

/// A comma and a member of an object with a plain value, behind the arguments.
const PLAIN_BEHIND: &str = r#"(?:,\s*"[^"\\]*"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[^\s"{}\[\],]+)\s*)*"#;

/// A call whose arguments stand before its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Turned {
    /// The text before the arguments.
    lead: String,
    /// The text between the arguments and the name.
    between: String,
    /// The text behind the name, without what stands behind the arguments elsewhere.
    behind: String,
}

/// How calls are spelled otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spelling {
    /// True if the object of a call is taken apart: the keys of the name and of the arguments.
    pub(super) apart: Option<[String; 2]>,
    pub(super) turned: Option<Turned>,
    pub(super) several: Option<Several>,
    pub(super) changes: Vec<Change>,
}

impl Spelling {
    /// Says in words what is different.
    pub(super) fn told(&self) -> String {
        let mut told: Vec<String> = Vec::new();
        // The same marker may stand in several places of a call.
        for change in self.changes.iter().map(Change::told) {
            if !told.contains(&change) {
                told.push(change);
            }
        }
        if self.turned.is_some() {
            told.push("a call's name may stand behind its arguments".to_owned());
        }
        told.extend(self.several.as_ref().map(Several::told));
        told.join("; ")
    }

    /// Returns true if something within a call is spelled otherwise, or right beside its parts.
    pub(super) fn is_of_calls(&self) -> bool {
        self.apart.is_some()
            || self.turned.is_some()
            || self.several.is_some()
            || self.changes.iter().any(Change::is_beside_call)
    }

    /// Returns true if several things are otherwise; the same change in several places is one.
    pub(super) fn is_compound(&self) -> bool {
        let mut changes = self.changes.iter();
        let first = changes.next();
        let is_other = |change: &Change| first.is_some_and(|first| !first.is_like(change));
        let is_moved = self.turned.is_some() || self.several.is_some();
        is_moved && first.is_some() || changes.any(is_other)
    }

    pub(super) fn has(&self, text: &str) -> bool {
        let turned = self.turned.iter();
        let mut turned = turned.flat_map(|turned| [&turned.lead, &turned.between, &turned.behind]);
        let mut several = self.several.iter();
        self.changes.iter().any(|change| change.now.contains(text))
            || several.any(|several| several.has(text))
            || turned.any(|one| one.contains(text))
    }

    pub(super) fn size(&self) -> usize {
        let changes = self.changes.iter().map(|change| change.now.len() + 1);
        let turned = self.turned.as_ref();
        let turned = turned.map_or(0, |turned| turned.lead.len() + turned.between.len());
        let several = self.several.as_ref().map_or(0, Several::size);
        changes.sum::<usize>() + turned + several + 4 * usize::from(self.apart.is_some())
    }
}

/// The ways to spell calls and texts that the gaps of a response suggest.
pub(super) fn spellings(
    document: &Document,
    gaps: &[Gap],
    known: &[Gap],
    changes: &[Change],
    several: Option<Several>,
) -> Vec<Spelling> {
    let mut found: Vec<Spelling> = Vec::new();
    let keys = keys(document, known);
    let apart = keys
        .as_ref()
        .and_then(|keys| Some((taken_apart(document, keys)?, keys)));
    found.extend(combined(document, changes, None));
    if let Some((apart, keys)) = &apart {
        let with = combined(apart, changes, Some(keys));
        // Where the patterns have the constants, the object stays whole.
        let is_new = |one: &Spelling| found.iter().all(|other| other.changes != one.changes);
        let with: Vec<Spelling> = with.into_iter().filter(is_new).collect();
        found.extend(with);
    }
    let turned = turned(gaps, known).map(|turned| Spelling {
        turned: Some(turned),
        ..Spelling::default()
    });
    found.extend(turned.filter(|_| apart.is_none()));
    if let Some(several) = several {
        // Behind the markers of a list the calls of it are several.
        let alone = Spelling::default();
        let most = found.iter().max_by_key(|one| one.changes.len()).cloned();
        let within = [Some(alone), most].into_iter().flatten();
        let with: Vec<Spelling> = within
            .map(|one| Spelling {
                several: Some(several.clone()),
                ..one
            })
            .collect();
        found.extend(with);
    }
    found
}

/// The combinations of those changes that have a place in the document.
fn combined(document: &Document, all: &[Change], apart: Option<&[String; 2]>) -> Vec<Spelling> {
    let placed = all
        .iter()
        .filter(|change| places::apply(document, &[change]).is_some());
    let placed: Vec<&Change> = placed.collect();
    let of = |chosen: Vec<&Change>| Spelling {
        apart: apart.cloned(),
        turned: None,
        several: None,
        changes: chosen.into_iter().cloned().collect(),
    };
    let count = placed.len();
    if count <= MAX_COMBINED {
        let masks = 1_usize..1 << count;
        let chosen = masks.map(|mask| {
            let all = placed.iter().enumerate();
            let chosen = all.filter(|(at, _)| mask & 1 << at != 0);
            chosen.map(|(_, change)| *change).collect()
        });
        return chosen.map(of).collect();
    }
    let single = placed.iter().map(|change| vec![*change]);
    let others = (0..count).map(|left_out| {
        let all = placed.iter().enumerate();
        let kept = all.filter(|(at, _)| *at != left_out);
        kept.map(|(_, change)| *change).collect()
    });
    let all = single.chain(others).chain([placed.clone()]);
    all.map(of).collect()
}

/// The document with all these spellings.
pub(super) fn apply(base: &Document, spellings: &[&Spelling]) -> Option<Document> {
    let mut document = base.clone();
    if let Some(keys) = spellings.iter().find_map(|one| one.apart.as_ref()) {
        document = taken_apart(&document, keys)?;
    }
    let changes: Vec<&Change> = spellings.iter().flat_map(|one| &one.changes).collect();
    if !changes.is_empty() {
        document = places::apply(&document, &changes)?;
    }
    if let Some(turned) = spellings.iter().find_map(|one| one.turned.as_ref()) {
        document = turned.apply(&document)?;
    }
    if let Some(several) = spellings.iter().find_map(|one| one.several.as_ref()) {
        document = several.apply(&document)?;
    }
    Some(document)
}

/// The keys of the name and of the arguments in the object of a call, as renders have them.
fn keys(document: &Document, known: &[Gap]) -> Option<[String; 2]> {
    let field = document.fields.get(CALLS_KEY)?;
    let function = field.transform.as_ref()?.get("function")?;
    let is_plain = |value: &Value, text: &str| value.as_str() == Some(text);
    let key_of = |part: Part| {
        let mut gaps = known.iter().filter(|gap| gap.behind == part);
        let key = gaps.find_map(|gap| key_at_end(&gap.text))?;
        Some(key.to_owned())
    };
    let (name, arguments) = (key_of(Part::Name)?, key_of(Part::Arguments)?);
    let member = |key: &str| format!("{{content.{key}}}");
    let is_members = function.as_object().is_some_and(|members| {
        let is_of = |key: &str, from: &str| {
            members
                .get(key)
                .is_some_and(|value| is_plain(value, &member(from)))
        };
        members.len() == 2 && is_of("name", &name) && is_of("arguments", &arguments)
    });
    let is_whole = is_plain(function, "{content}") && name == "name" && arguments == "arguments";
    (is_members || is_whole).then_some([name, arguments])
}

/// The key whose value begins behind the text; that of a string within its quotes.
fn key_at_end(text: &str) -> Option<&str> {
    let text = text.trim_end_matches(python::is_space);
    let text = text.strip_suffix('"').unwrap_or(text);
    let text = text.trim_end_matches(python::is_space).strip_suffix(':')?;
    let text = text.trim_end_matches(python::is_space).strip_suffix('"')?;
    Some(&text[text.rfind('"')? + 1..])
}

/// The document with calls whose region has the arguments alone: what opens it has the beginning of the object with the name, and what closes
/// it the end. `None` where the region does not have the whole object.
fn taken_apart(document: &Document, [name, arguments]: &[String; 2]) -> Option<Document> {
    let mut changed = document.clone();
    let field = changed.fields.get_mut(CALLS_KEY)?;
    let open = source(field.open.as_ref()?);
    let close = source(field.close.as_ref()?);
    let is_whole = field.content.as_deref() == Some("json")
        && !field.transform_each
        && !open.contains("(?P<")
        && field.transform.as_ref()?.as_object()?.get("id").is_none();
    if !is_whole {
        return None;
    }
    let key = |key: &str| format!("\"{}\"{SPACE}:{SPACE}", escape(key));
    let (name, arguments) = (key(name), key(arguments));
    let open = format!(
        "{open}{SPACE}\\{{{SPACE}(?={PLAIN}(?:{arguments}\\{{.*?\\}}{SPACE},{SPACE}{PLAIN})?{name}\"(?P<name>[^\\s\"\\\\]+)\"){PLAIN}{arguments}(?=[\\{{\"])"
    );
    let close = format!("{PLAIN_BEHIND}\\}}{SPACE}{}", grouped(&close));
    Pattern::regex(&open).ok()?;
    Pattern::regex(&close).ok()?;
    field.open = Some(Delimiter::pattern(open));
    field.close = Some(Delimiter::pattern(close));
    let mut members = Map::new();
    for (key, text) in [("name", "{name}"), ("arguments", "{content}")] {
        members.insert(key.to_owned(), Value::from(text));
    }
    let mut transform = field.transform.as_ref()?.as_object()?.clone();
    transform.insert("function", Value::Object(members));
    field.transform = Some(Value::Object(transform));
    Some(changed)
}

/// The call of a response whose arguments stand before its name, where renders have them behind it.
fn turned(gaps: &[Gap], known: &[Gap]) -> Option<Turned> {
    let is_known = |gap: &&Gap| gap.before == Part::Arguments && gap.behind == Part::Name;
    let first = gaps.iter().position(|gap| gap.behind == Part::Arguments)?;
    let [lead, between, behind] = gaps.get(first..first + 3)? else {
        return None;
    };
    let is_turned = lead.before != Part::Name && between.behind == Part::Name;
    // Between two calls the name follows the arguments of the call before it.
    let ends = known.iter().filter(|gap| gap.before == Part::Arguments);
    let has_name_first = known
        .iter()
        .any(|gap| gap.before == Part::Name && gap.behind == Part::Arguments);
    if !is_turned || !has_name_first || known.iter().filter(is_known).any(|gap| gap == between) {
        return None;
    }
    let trimmed = |text: &str| text.trim_matches(python::is_space).to_owned();
    let text = behind.text.trim_end_matches(python::is_space);
    let shared = ends.map(|gap| common_suffix(text, gap.text.trim_end_matches(python::is_space)));
    let shared = shared.max().unwrap_or(0);
    Some(Turned {
        lead: trimmed(&lead.text),
        between: trimmed(&between.text),
        behind: trimmed(&text[..text.len() - shared]),
    })
}

impl Turned {
    fn apply(&self, document: &Document) -> Option<Document> {
        let mut changed = document.clone();
        let field = changed.fields.get_mut(CALLS_KEY)?;
        if field.content.as_deref() != Some("json") || self.lead.is_empty() {
            return None;
        }
        let open = source(field.open.as_ref()?);
        let close = source(field.close.as_ref()?);
        let Split {
            before,
            group,
            behind,
        } = Split::of(&open)?;
        let inner = group.strip_prefix("(?P<name>")?.strip_suffix(')')?;
        let loosely = |text: &str| match text {
            "" => String::new(),
            text => format!("{}{SPACE}", escape_loosely(text)),
        };
        let [lead, between, end] =
            [&self.lead, &self.between, &self.behind].map(|text| loosely(text));
        let open = format!(
            "(?=(?:{before}|{lead}\\{{.*?\\}}{SPACE}{between}){group}{SPACE}(?:{behind}|{end}))(?:{before}(?:{inner}){behind}|{lead}(?=\\{{))"
        );
        let close = format!(
            "(?:(?<=\\}}\\s{{0,4}}){between}(?:{inner}){SPACE}{end})?{}",
            grouped(&close)
        );
        Pattern::regex(&open).ok()?;
        Pattern::regex(&close).ok()?;
        field.open = Some(Delimiter::pattern(open));
        field.close = Some(Delimiter::pattern(close));
        Some(changed)
    }
}
