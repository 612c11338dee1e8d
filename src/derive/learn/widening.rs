//! Widening: edits with which a field takes more than before.

use super::report::Widening;
use super::spelled::Spelling;
use super::split::{Split, either, source, without};
use crate::derive::compare::pattern::{
    self, SPACE, alternatives, grouped, looks_around, without_captures,
};
use crate::derive::compare::slot;
use crate::derive::compare::text::escape_loosely;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, FieldDocument};
use crate::value::{Map, Value, json, python};

/// A change to a field, most often to one of its delimiters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) field: String,
    side: Side,
    /// The text that was seen.
    pub(super) text: String,
    how: How,
    /// How far-fetched the edit is, from 0 up. Of edits that come to the same the least is taken.
    pub(super) rank: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Open,
    Close,
}

/// The way in which the edit uses the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum How {
    /// The text is an alternative to the delimiter.
    Also,
    /// The text may stand before the delimiter that opens, or behind the one that closes.
    Beside,
    /// The text stands before the name in the delimiter that opens a call, and `between` stands between the name and the arguments.
    Head {
        /// The text between the name and the arguments.
        between: String,
    },
    /// The text closes the field where the response ends with it. It is the beginning of the delimiter that closes the field.
    AtEnd,
    /// The field is also opened by the part of its delimiter that begins with the text.
    From,
    /// The region also ends before the delimiter that opens the field of that name.
    Before(String),
    /// The region also ends before the delimiter that opens the field of that name, if nothing closes it later. A text that is closed later may speak of
    /// that delimiter.
    BeforeUnclosed(String),
    /// Calls and texts are spelled otherwise, in all patterns.
    Spelled(Box<Spelling>),
    /// Values that are no JSON are texts, which the tools' schemas type.
    Lax,
    /// The region may as well stand between the text and this one.
    Around {
        /// The text that closes the region; the edit's own text opens it.
        close: String,
    },
    /// The call's id is a member of its object.
    IdMember,
    /// The call's id is its name and some text around that.
    IdAround {
        /// The text behind the name; the edit's own text stands before it.
        behind: String,
    },
}

impl Edit {
    pub(super) fn open(field: &str, text: &str, how: How) -> Self {
        Self::new(field, Side::Open, text, how)
    }

    pub(super) fn close(field: &str, text: &str, how: How) -> Self {
        Self::new(field, Side::Close, text, how)
    }

    fn new(field: &str, side: Side, text: &str, how: How) -> Self {
        Self {
            field: field.to_owned(),
            side,
            text: text.to_owned(),
            how,
            rank: 0,
        }
    }

    pub(super) fn ranked(self, rank: usize) -> Self {
        Self { rank, ..self }
    }

    /// Returns true if the outcome of the edit depends on another delimiter.
    pub(super) fn refers(&self) -> bool {
        matches!(self.how, How::Before(_) | How::BeforeUnclosed(_))
    }

    /// Returns the texts before and behind a call's name, where these are the change.
    pub(super) fn head(&self) -> Option<(&str, &str)> {
        match &self.how {
            How::Head { between } => Some((&self.text, between)),
            _ => None,
        }
    }

    /// Returns true if `text` stands in the text that is new to the delimiter.
    pub(super) fn has(&self, text: &str) -> bool {
        match &self.how {
            How::Head { between } if between.contains(text) => true,
            How::Around { close } if close.contains(text) => true,
            How::Spelled(spelling) => spelling.has(text),
            _ => self.text.contains(text),
        }
    }

    /// Returns the spelling, where that is the change.
    pub(super) fn spelling(&self) -> Option<&Spelling> {
        match &self.how {
            How::Spelled(spelling) => Some(spelling),
            _ => None,
        }
    }

    /// Returns how much the edit adds, which is about its length in bytes; less is better.
    pub(super) fn size(&self) -> usize {
        let more = match &self.how {
            How::Also => 0,
            How::Beside | How::AtEnd | How::From => 1,
            How::Head { between } => between.len(),
            How::Around { close } => close.len(),
            How::Spelled(spelling) => spelling.size(),
            How::Before(_)
            | How::BeforeUnclosed(_)
            | How::Lax
            | How::IdMember
            | How::IdAround { .. } => 8,
        };
        self.text.len() + more
    }

    /// The document with the change; `None` where it cannot be made.
    pub(super) fn apply(&self, document: &Document) -> Option<Document> {
        if let How::Around { close } = &self.how {
            let open = Self::open(&self.field, &self.text, How::Also);
            let close = Self::close(&self.field, close, How::Also);
            let changed = close.apply(&open.apply(document)?)?;
            return Some(close.unless_closed(document, changed));
        }
        let before = match &self.how {
            How::Before(other) | How::BeforeUnclosed(other) => {
                Some(source(document.fields.get(other)?.open.as_ref()?))
            }
            _ => None,
        };
        let mut changed = document.clone();
        let field = changed.fields.get_mut(&self.field)?;
        match &self.how {
            How::Lax => {
                allow_non_json(field)?;
                return Some(changed);
            }
            How::IdMember => {
                identify(field, &self.text)?;
                if field.transform_each {
                    let open = field.open.as_ref().map(source);
                    let absent = open.and_then(|open| pattern::with_absent(&open, &self.text));
                    field.open = absent.map(Delimiter::pattern).or(field.open.take());
                }
                return Some(changed);
            }
            How::IdAround { behind } => {
                let source = source(field.open.as_ref()?);
                let open = Split::of(&source)?.with_id(&self.text, behind)?;
                field.open = Some(Delimiter::pattern(open));
                identify(field, ID)?;
                return Some(changed);
            }
            _ => {}
        }
        let delimiter = self.delimiter_mut(field);
        let now = self.widened(delimiter.as_ref()?, before.as_deref())?;
        *delimiter = Some(now);
        Some(changed)
    }

    /// Lets the text of the edit close the field, too, wherever a pattern looks ahead over text in which nothing closes it.
    fn unless_closed(&self, was: &Document, mut document: Document) -> Document {
        let close = self.delimiter(was).map(source).unwrap_or_default();
        let first = alternatives(&close).into_iter().next().unwrap_or_default();
        let marker = first.trim_end_matches("\\s*");
        let also = slot::pattern(&slot::of_made_up(&self.text));
        let (unless, either) = (format!("(?!{marker})"), format!("(?!{marker}|{also})"));
        for field in document.fields.values_mut() {
            for delimiter in [&mut field.open, &mut field.close].into_iter().flatten() {
                if let Delimiter::Pattern(pattern) = delimiter {
                    *pattern = pattern.replace(&unless, &either);
                }
            }
        }
        document
    }

    fn delimiter_mut<'f>(&self, field: &'f mut FieldDocument) -> &'f mut Option<Delimiter> {
        match self.side {
            Side::Open => &mut field.open,
            Side::Close => &mut field.close,
        }
    }

    fn delimiter<'f>(&self, document: &'f Document) -> Option<&'f Delimiter> {
        let field = document.fields.get(&self.field)?;
        match self.side {
            Side::Open => field.open.as_ref(),
            Side::Close => field.close.as_ref(),
        }
    }

    fn widened(&self, delimiter: &Delimiter, before: Option<&str>) -> Option<Delimiter> {
        // Where a kwarg writes a part of the text, any value may stand there; but nothing tells where a text begins that it writes first.
        let text = slot::of_made_up(&self.text);
        let text = text.as_str();
        if text.trim_start().starts_with(slot::GIVEN) {
            return None;
        }
        let written = slot::pattern(text);
        let is_literal = !text.contains(python::is_space) && !slot::any(text);
        match &self.how {
            How::Also if text.is_empty() => None,
            How::Also => Some(match delimiter {
                Delimiter::Literals(literals) if is_literal => {
                    if literals.iter().any(|one| one == text) {
                        return None;
                    }
                    let literals = literals.iter().cloned();
                    Delimiter::Literals(literals.chain([text.to_owned()]).collect())
                }
                // The pattern captures something that the new text would not give.
                Delimiter::Pattern(pattern) if pattern.contains("(?P<") => return None,
                other => {
                    let source = source(other);
                    // Where white space behind one marker belongs to it, white space behind another one would be a text of its own.
                    let takes_space =
                        source.contains("\\s*|") || source.trim_end_matches(')').ends_with("\\s*");
                    let end = match self.side == Side::Close && takes_space {
                        true => "\\s*",
                        false => "",
                    };
                    Delimiter::pattern(either(&source, &format!("{written}{end}")))
                }
            }),
            How::Beside if text.is_empty() => None,
            How::Beside => {
                let own = grouped(&source(delimiter));
                Some(Delimiter::pattern(match self.side {
                    Side::Open => format!("(?:{written}\\s*)?{own}"),
                    Side::Close => format!("{own}(?:\\s*{written})*"),
                }))
            }
            How::Head { between } => {
                let source = source(delimiter);
                let split = Split::of(&source)?;
                split.widened(text, between).map(Delimiter::pattern)
            }
            How::AtEnd => {
                let end = format!("{written}(?=\\s*\\Z)");
                Some(Delimiter::pattern(either(&source(delimiter), &end)))
            }
            How::From => {
                let source = source(delimiter);
                let at = source.find(&written).filter(|at| *at > 0)?;
                let (lead, rest) = source.split_at(at);
                let is_whole = |part: &str| Pattern::regex(part).is_ok() && !part.contains("(?P<");
                let is_rest = Pattern::regex(rest).is_ok() && is_whole(lead);
                is_rest.then(|| Delimiter::pattern(format!("(?:{lead})?{rest}")))
            }
            How::Spelled(_)
            | How::Lax
            | How::IdMember
            | How::IdAround { .. }
            | How::Around { .. } => None,
            How::Before(_) => {
                let next = format!("(?={})", without_captures(before?)?);
                Some(Delimiter::pattern(either(&source(delimiter), &next)))
            }
            How::BeforeUnclosed(_) => {
                let own = source(delimiter);
                let close = alternatives(&own).into_iter().next()?;
                let close = without_captures(&close).filter(|close| !looks_around(close))?;
                let open = without_captures(before?)?;
                let next = format!("(?={open}(?:(?!{close}).)*\\Z)");
                Some(Delimiter::pattern(either(&own, &next)))
            }
        }
    }

    /// Returns true if the edit makes its text open the field, by itself or with what opens it already.
    pub(super) fn opens(&self) -> bool {
        self.side == Side::Open && matches!(self.how, How::Also | How::Beside)
    }

    /// Returns the report on the edit, without the responses that taught it.
    pub(super) fn told(&self, was: &Document, now: &Document) -> Widening {
        if let How::Spelled(spelling) = &self.how {
            return Widening {
                text: spelling.told(),
                ..first_difference(was, now)
            };
        }
        let spelled = |document: &Document| {
            let field = document.fields.get(&self.field);
            let value = match &self.how {
                How::Lax => field.map(|field| Value::Object(field.content_args.clone())),
                How::IdMember => field.and_then(|field| field.transform.clone()),
                _ => return self.delimiter(document).map(source).unwrap_or_default(),
            };
            value.as_ref().map(json::to_string).unwrap_or_default()
        };
        let shown = json::quote(&slot::show(&slot::of_made_up(&self.text)));
        let side = match (&self.how, self.side) {
            (How::Lax, _) => "content_args",
            (How::IdMember, _) => "transform",
            (_, Side::Open) => "open",
            (_, Side::Close) => "close",
        };
        let verb = match self.side {
            Side::Open => "opens",
            Side::Close => "closes",
        };
        Widening {
            field: self.field.clone(),
            side,
            text: match &self.how {
                How::Also => format!("{shown} {verb} it as well"),
                How::Beside if self.side == Side::Open => {
                    format!("{shown} may stand before what opens it")
                }
                How::Beside => format!("{shown} may stand behind what closes it"),
                How::Head { between } if between.trim().is_empty() => {
                    format!("a call's name may follow {shown}, and the arguments directly the name")
                }
                How::Head { between } => format!(
                    "a call's name may follow {shown}, and {} the name",
                    json::quote(between.trim_matches(python::is_space))
                ),
                How::AtEnd => format!("{shown} at the very end closes it as well"),
                How::From => format!("it may begin with {shown}"),
                How::Before(next) => format!("it ends, too, where {next} is opened"),
                How::BeforeUnclosed(next) => {
                    format!("it ends, too, where {next} is opened and nothing closes it later")
                }
                How::Spelled(spelling) => spelling.told(),
                How::Lax => {
                    "values that are no JSON are texts, which the tools' schemas type".to_owned()
                }
                How::Around { close } => format!(
                    "{shown} opens it as well, and {} closes it",
                    json::quote(close)
                ),
                How::IdMember => format!("a call's member {shown} is its id"),
                How::IdAround { behind } => format!(
                    "a call's id is its name with {shown} before it and {} behind it",
                    json::quote(behind)
                ),
            },
            was: spelled(was),
            now: spelled(now),
            taught_by: Vec::new(),
        }
    }
}

/// The first part of a field in which two documents differ.
fn first_difference(was: &Document, now: &Document) -> Widening {
    let parts = |document: &Document, name: &str| {
        let field = document.fields.get(name);
        let of = |delimiter: Option<&Delimiter>| delimiter.map(source).unwrap_or_default();
        let args = field.map(|field| Value::Object(field.content_args.clone()));
        [
            ("open", of(field.and_then(|field| field.open.as_ref()))),
            (
                "content_args",
                args.as_ref().map(json::to_string).unwrap_or_default(),
            ),
            ("close", of(field.and_then(|field| field.close.as_ref()))),
        ]
    };
    let names = now.fields.keys();
    let mut all = names.flat_map(|name| {
        let both = parts(was, name).into_iter().zip(parts(now, name));
        both.map(|(was, now)| (name.clone(), was, now))
    });
    let found = all.find(|(_, was, now)| was != now);
    let (field, (side, was), (_, now)) = found.unwrap_or_default();
    Widening {
        field,
        side,
        text: String::new(),
        was,
        now,
        taught_by: Vec::new(),
    }
}

/// Returns true if a delimiter of the document has the text in it.
pub(in crate::derive) fn is_spoken_for(document: &Document, text: &str) -> bool {
    let fields = document.fields.values();
    let mut delimiters = fields.flat_map(|field| field.open.iter().chain(&field.close));
    delimiters.any(|delimiter| has(delimiter, text))
}

/// Returns true if a delimiter of the document takes the text, and does not look for it alone.
pub(super) fn is_taken(document: &Document, text: &str) -> bool {
    let fields = document.fields.values();
    let mut delimiters = fields.flat_map(|field| field.open.iter().chain(&field.close));
    delimiters.any(|delimiter| match delimiter {
        Delimiter::Literals(_) => has(delimiter, text),
        Delimiter::Pattern(source) => pattern::takes(source).contains(&escape_loosely(text)),
    })
}

/// Returns true if a delimiter that closes the field begins with the text.
pub(super) fn begins_close(document: &Document, name: &str, text: &str) -> bool {
    let close = document
        .fields
        .get(name)
        .and_then(|field| field.close.as_ref());
    let escaped = escape_loosely(text);
    !text.is_empty()
        && close.is_some_and(|close| match close {
            Delimiter::Literals(literals) => literals.iter().any(|one| one.starts_with(text)),
            Delimiter::Pattern(pattern) => {
                pattern
                    .trim_start_matches(['(', '?', ':'])
                    .starts_with(&escaped)
                    || pattern.contains(&format!("|{escaped}"))
            }
        })
}

/// The fields in whose opening delimiter the text is.
pub(super) fn opened_with<'d>(document: &'d Document, text: &str) -> Vec<&'d str> {
    let fields = document.fields.iter();
    let opened = fields.filter(|(_, field)| field.open.iter().any(|open| has(open, text)));
    opened.map(|(name, _)| name.as_str()).collect()
}

fn has(delimiter: &Delimiter, text: &str) -> bool {
    match delimiter {
        Delimiter::Literals(literals) => literals.iter().any(|one| one.contains(text)),
        Delimiter::Pattern(pattern) => pattern.contains(&escape_loosely(text)),
    }
}

impl Split<'_> {
    /// The pattern with a group for an id: the name with these texts before and behind it.
    fn with_id(&self, before: &str, behind: &str) -> Option<String> {
        let is_cut = |part: &str| Pattern::regex(part).is_ok();
        let starts = self.before.char_indices().map(|(at, _)| at);
        let mut starts = starts.chain([self.before.len()]).rev();
        let start =
            starts.find(|at| is_cut(&self.before[..*at]) && whole(&self.before[*at..], before))?;
        let ends = self.behind.char_indices().map(|(at, _)| at);
        let mut ends = ends.chain([self.behind.len()]).rev();
        let end =
            ends.find(|at| is_cut(&self.behind[*at..]) && whole(&self.behind[..*at], behind))?;
        let (lead, inner) = self.before.split_at(start);
        let (outer, rest) = self.behind.split_at(end);
        // White space between the id and the markers around it is no part of it.
        let [before, behind] = [lead.ends_with(SPACE), rest.starts_with(SPACE)]
            .map(|is_there| if is_there { "" } else { SPACE });
        let before = if lead.is_empty() { "" } else { before };
        let behind = if rest.is_empty() { "" } else { behind };
        Some(format!(
            "{lead}{before}(?P<{ID}>{inner}{}{outer}){behind}{rest}",
            self.group
        ))
    }

    /// The pattern with other texts around the name.
    fn widened(&self, before: &str, between: &str) -> Option<String> {
        let lead = match whole(self.before, before) {
            true => self.before.to_owned(),
            // The old delimiter may be the end of the new one.
            false => match ends_with(self.before, before) {
                Some("") => return None,
                Some(more) => format!("(?:{}\\s*)?{}", escape_loosely(more), self.before),
                None if before.is_empty() => self.before.to_owned(),
                None => {
                    let own = self.before.strip_suffix(SPACE).unwrap_or(self.before);
                    let other = escape_loosely(before.trim_end());
                    // If one of two delimiters begins with the other, the longer one is tried first. Otherwise its rest would be taken for
                    // the name.
                    let ways = match begins(own, before) {
                        true => either(&other, own),
                        false => either(own, &other),
                    };
                    format!("{ways}{SPACE}")
                }
            },
        };
        let text = between.trim_matches(python::is_space);
        let own = self.behind.strip_prefix(SPACE).unwrap_or(self.behind);
        let own = own.strip_suffix(SPACE).unwrap_or(own);
        let behind = match whole(self.behind, between) {
            true => self.behind.to_owned(),
            // Without a marker the object that follows tells where the name ends.
            false if text.is_empty() => format!("{SPACE}{}{SPACE}", either(own, "(?=\\{)")),
            false => format!("{SPACE}{}{SPACE}", either(own, &escape_loosely(text))),
        };
        let group = without(self.group, text);
        Some(format!("{lead}{group}{behind}"))
    }
}

/// The key of a call's id, and the name of a group that captures it.
const ID: &str = "id";

/// Lets the parser of the values take what is no JSON; `None` where it has no parser of JSON, or takes it already.
fn allow_non_json(field: &mut FieldDocument) -> Option<()> {
    let mut parser = field.content_args.get("value_parser")?.as_object()?.clone();
    if parser.get("name")?.as_str()? != "json" {
        return None;
    }
    let args = parser.get("args").and_then(Value::as_object).cloned();
    let mut args = args.unwrap_or_default();
    let before = args.insert("allow_non_json", Value::Bool(true));
    parser.insert("args", Value::Object(args));
    field
        .content_args
        .insert("value_parser", Value::Object(parser));
    (before != Some(Value::Bool(true))).then_some(())
}

/// Has each call get its id from a capture or a member of that name; `None` where it has one.
fn identify(field: &mut FieldDocument, from: &str) -> Option<()> {
    let transform = field.transform.as_ref()?.as_object()?;
    if transform.contains_key(ID) {
        return None;
    }
    let mut members = Map::new();
    for (key, value) in transform {
        if key.as_str() == "function" {
            members.insert(ID, Value::from(format!("{{{from}}}")));
        }
        members.insert(key.clone(), value.clone());
    }
    if !members.contains_key(ID) {
        return None;
    }
    field.transform = Some(Value::Object(members));
    Some(())
}

/// Returns true if the pattern matches the whole text.
fn whole(pattern: &str, text: &str) -> bool {
    let full = Pattern::regex(&format!("\\A(?:{pattern})\\Z"));
    full.is_ok_and(|full| matches!(full.search(text, 0), Ok(Some(_))))
}

/// Returns true if the text begins with a match of the pattern.
fn begins(pattern: &str, text: &str) -> bool {
    let start = Pattern::regex(&format!("\\A(?:{pattern})"));
    start.is_ok_and(|start| matches!(start.search(text, 0), Ok(Some(_))))
}

/// Returns the text before a match of the pattern at its end, without the white space around it; `None` if there is no such match, or
/// nothing before it.
fn ends_with<'t>(pattern: &str, text: &'t str) -> Option<&'t str> {
    let end = Pattern::regex(&format!("(?:{pattern})\\Z")).ok()?;
    let found = end.search(text, 0).ok()??;
    let more = text[..found.span.start].trim_matches(python::is_space);
    (!more.is_empty() && found.span.start < text.len()).then_some(more)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(open: &str) -> Document {
        let text = format!(
            r#"{{"start_anchor": "A", "fields": {{"tool_calls": {{"open_pattern": {}, "close": "</c>", "content": "json"}}}}}}"#,
            json::quote(open)
        );
        Document::of(&json::parse(&text).unwrap()).unwrap()
    }

    fn opened(open: &str, edit: &Edit) -> Option<String> {
        let changed = edit.apply(&document(open))?;
        match changed.fields["tool_calls"].open.clone()? {
            Delimiter::Pattern(pattern) => Some(pattern),
            Delimiter::Literals(_) => None,
        }
    }

    #[test]
    fn a_head_is_widened_on_both_sides_of_the_name() {
        let open = "to=(?P<name>[^\\s<]+)\\s*<go>\\s*";
        let head = |before: &str, between: &str| {
            let between = between.to_owned();
            opened(
                open,
                &Edit::open("tool_calls", before, How::Head { between }),
            )
        };
        // Something may stand before what it was.
        assert_eq!(
            head("<c> to=", "<go>").as_deref(),
            Some("(?:<c>\\s*)?to=(?P<name>[^\\s<]+)\\s*<go>\\s*")
        );
        // Or in its place; and what ends the name is no part of it.
        assert_eq!(
            head("call ", ": go").as_deref(),
            Some("(?:to=|call)\\s*(?P<name>[^\\s<:]+)\\s*(?:<go>|:\\s*go)\\s*")
        );
    }

    #[test]
    fn a_name_inside_another_group_is_left_alone() {
        assert_eq!(Split::of("(?:to=(?P<name>\\w+))?x"), None);
        assert_eq!(Split::of("to=\\w+"), None);
        let split = Split::of("a\\)(?P<name>[^)]+)b").unwrap();
        assert_eq!((split.before, split.behind), ("a\\)", "b"));
    }

    #[test]
    fn a_choice_gets_another_way() {
        assert_eq!(either("(?:a|b)", "c"), "(?:a|b|c)");
        assert_eq!(either("(?:a)(?:b)", "c"), "(?:(?:a)(?:b)|c)");
    }

    #[test]
    fn literals_stay_literals() {
        let edit = Edit::close("tool_calls", "<end>", How::Also);
        let changed = edit.apply(&document("x")).unwrap();
        let close = changed.fields["tool_calls"].close.clone();
        let both = vec!["</c>".to_owned(), "<end>".to_owned()];
        assert_eq!(close, Some(Delimiter::Literals(both)));
        assert_eq!(edit.apply(&changed), None);
    }
}
