//! Narrower delimiters, where a text of a message has the like of one in it.
//!
//! A delimiter that is read off renders lets white space vary, since models vary it: `$ ` before a call becomes `\$\s*`. A text may then have
//! a delimiter in it that the chat template would never have written so, as `$HOME` has. All places in which the delimiter stands in renders
//! tell how much narrower it can be made without losing one of them: with the very white space that stands in it, before it or behind
//! it; only where another delimiter or the end of the response follows; only outside of the strings of JSON.
//!
//! Nothing of this is better by itself, since less is read of what models write otherwise. So it is asked for only where messages do not
//! come back, each proposal changes one delimiter, and it is taken if more messages come back and none is lost. A delimiter that is a word may also be
//! asked to be no part of a longer one (`whole`), all delimiters at once.
//!
//! The cost: one parse of each response for the places, for each proposal a parse of some messages that do not come back, and a proof of
//! those proposals that bring one of them back. Where all messages come back it costs nothing.

mod beginnings;
mod places;
mod space;
mod whole;

use super::compare::pattern::{
    SPACE, alternatives, either_of, grouped, with_group, without_captures,
};
use super::compare::slot;
use super::compare::text::escape;
use crate::judge::Case;
use crate::parser::Edge;
use crate::response_template::{Delimiter, Document, FieldDocument, ResponseTemplate};
use crate::value::{Value, json};
use places::{Follows, Place, Places};
use std::sync::Arc;

/// The length in bytes that the pattern of a delimiter may have to be looked for ahead of another one or behind it.
const MAX_AHEAD: usize = 200;

/// A response template in which one delimiter is narrower, and the change in words.
#[derive(Debug)]
pub(super) struct Proposal {
    pub(super) document: Document,
    pub(super) told: String,
}

/// Returns response templates in which one delimiter each is narrower, and which every one of the responses may still be read by, as far
/// as its place and the text around it tell. Those that ask for less come first.
pub(super) fn proposals(
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
    end: End<'_>,
) -> Vec<Proposal> {
    let Some(places) = Places::of(template, cases) else {
        return Vec::new();
    };
    let mut all: Vec<(usize, Proposal)> = Vec::new();
    for (index, field) in template.fields().iter().enumerate() {
        let name = field.name.as_str();
        let Some(written) = document.fields.get(name) else {
            continue;
        };
        for (edge, delimiter) in [(Edge::Open, &written.open), (Edge::Close, &written.close)] {
            let (Some(delimiter), Some(seen)) = (delimiter, places.delimiters.get(&(index, edge)))
            else {
                continue;
            };
            let context = Context {
                document,
                template,
                field: written,
                edge,
                places: seen,
                end,
            };
            let narrowed = context.narrowed(delimiter).into_iter();
            let narrowed = narrowed.chain(context.where_it_is_closed(delimiter));
            // Text that an engine appends behind the turn is then a part of the field, so that this comes last of all.
            let last = context.at_the_end(delimiter).map(|last| (usize::MAX, last));
            let narrowed = narrowed.enumerate().chain(last);
            all.extend(narrowed.map(|(rank, (narrower, how))| {
                let mut document = document.clone();
                let verb = match edge {
                    Edge::Open => "opens",
                    Edge::Close => "closes",
                };
                let told = format!("what {verb} {name} counts only {how}");
                if let Some(field) = document.fields.get_mut(name) {
                    match edge {
                        Edge::Open => field.open = Some(narrower),
                        Edge::Close => field.close = Some(narrower),
                    }
                }
                (rank, Proposal { document, told })
            }));
        }
        if let Some(Value::String(tag)) = written.content_args.get("tag_pattern") {
            let bodies = places.bodies.get(&index).map_or(&[][..], Vec::as_slice);
            let narrower = space::exact_in_tag(tag, bodies).map(|tag| {
                let mut document = document.clone();
                if let Some(field) = document.fields.get_mut(name) {
                    let tag = Value::from(tag);
                    field.content_args.insert("tag_pattern".to_owned(), tag);
                }
                let told =
                    format!("what stands around each argument of {name} counts only {EXACT}");
                (0, Proposal { document, told })
            });
            all.extend(narrower);
        }
    }
    all.sort_by_key(|(rank, _)| *rank);
    all.into_iter().map(|(_, proposal)| proposal).collect()
}

/// Returns response templates in which what opens one field each counts only where it begins in all responses: at the beginning of a line or of the response, or with
/// markers before it that may be missing. What closes a field is left as it is: a model that writes it with other white space would say the rest of its answer within that field.
/// But a word that stands on a line of its own in all responses counts only there, since an answer is likelier to say the word than a model to leave out its line feeds.
pub(super) fn at_their_beginnings(
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
) -> Vec<Proposal> {
    let Some(places) = Places::of(template, cases) else {
        return Vec::new();
    };
    let mut all = Vec::new();
    for edge in [Edge::Open, Edge::Close] {
        for (index, field) in template.fields().iter().enumerate() {
            let name = field.name.as_str();
            let own = document.fields.get(name).and_then(|field| match edge {
                Edge::Open => field.open.as_ref(),
                Edge::Close => field.close.as_ref(),
            });
            let (Some(own), Some(seen)) = (own, places.delimiters.get(&(index, edge))) else {
                continue;
            };
            let (verb, stricter) = match edge {
                Edge::Open => ("opens", beginnings::stricter(&own.as_pattern(), seen)),
                Edge::Close => {
                    let on_its_line = beginnings::word_on_its_line(&own.as_pattern(), seen);
                    ("closes", on_its_line.into_iter().collect())
                }
            };
            all.extend(stricter.into_iter().map(|(pattern, how)| {
                let mut document = document.clone();
                if let Some(field) = document.fields.get_mut(name) {
                    let delimiter = Some(Delimiter::pattern(pattern));
                    match edge {
                        Edge::Open => field.open = delimiter,
                        Edge::Close => field.close = delimiter,
                    }
                }
                let told = format!("what {verb} {name} counts only {how}");
                Proposal { document, told }
            }));
        }
    }
    all
}

/// Returns the response template in which no delimiter is found within a longer word, or a longer run of one character, as far as that is so wherever it stands
/// in these responses; `None` where nothing would be different. It asks for nothing else, so that all of them are changed at once.
pub(super) fn at_whole_words(
    document: &Document,
    template: &Arc<ResponseTemplate>,
    cases: &[Case],
) -> Option<Document> {
    let places = Places::of(template, cases)?;
    let mut narrower = document.clone();
    for (index, field) in template.fields().iter().enumerate() {
        let Some(written) = narrower.fields.get_mut(field.name.as_str()) else {
            continue;
        };
        let sides = [
            (Edge::Open, &mut written.open),
            (Edge::Close, &mut written.close),
        ];
        for (edge, delimiter) in sides {
            let Some(own) = delimiter.as_ref() else {
                continue;
            };
            let seen = places.delimiters.get(&(index, edge));
            let seen = seen.map_or(&[][..], Vec::as_slice);
            if let Some(pattern) = whole::whole(&own.as_pattern(), seen) {
                *delimiter = Some(Delimiter::pattern(pattern));
            }
        }
    }
    (narrower != *document).then_some(narrower)
}

/// The end of a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct End<'a> {
    /// The pattern for it.
    pub(super) pattern: &'a str,
    /// The markers with which texts begin that the chat template writes behind the last turn of a conversation, where the turn does not end
    /// the text.
    pub(super) markers: &'a [String],
}

/// The change of a delimiter to the white space that renders have in it, in words.
const EXACT: &str = "with the white space that stands in it in all renders";

/// A delimiter's surroundings: the response template that it is of, and the places where it stands.
struct Context<'a> {
    document: &'a Document,
    template: &'a ResponseTemplate,
    field: &'a FieldDocument,
    edge: Edge,
    places: &'a [Place<'a>],
    end: End<'a>,
}

impl Context<'_> {
    /// Returns the narrower delimiters with what is asked of each in words, those that ask for less first.
    fn narrowed(&self, delimiter: &Delimiter) -> Vec<(Delimiter, String)> {
        let mut all = self.narrowed_where_it_takes(delimiter);
        all.extend(self.narrowed_as_one(delimiter));
        all
    }

    /// Returns narrower delimiters for one that also ends a region where something else is ahead: `(?:\)\s*|(?=<call>))` takes a bracket or nothing. The white
    /// space around what it takes is no less certain for that, so that this alone is made narrower, by those places in which it takes something.
    fn narrowed_where_it_takes(&self, delimiter: &Delimiter) -> Vec<(Delimiter, String)> {
        let ways = alternatives(&delimiter.as_pattern()).into_iter();
        let (looking, taking): (Vec<String>, Vec<String>) =
            ways.partition(|way| way.starts_with("(?="));
        let Some(taking) = either_of(taking).filter(|_| !looking.is_empty()) else {
            return Vec::new();
        };
        let takes = |place: &&Place<'_>| !place.span.is_empty();
        let places: Vec<Place<'_>> = self.places.iter().filter(takes).cloned().collect();
        let context = Context {
            places: &places,
            ..*self
        };
        let narrowed = context.narrowed_as_one(&Delimiter::pattern(taking));
        let looking = looking.join("|");
        let narrowed = narrowed.into_iter().map(|(narrower, how)| {
            let narrower = format!("(?:{}|{looking})", narrower.as_pattern());
            (Delimiter::pattern(narrower), how)
        });
        narrowed.collect()
    }

    /// Returns the narrower delimiters, each as a change of the whole pattern.
    fn narrowed_as_one(&self, delimiter: &Delimiter) -> Vec<(Delimiter, String)> {
        let source = delimiter.as_pattern();
        let before = space::before(self.places);
        let behind = space::behind(&source, self.places);
        let quoted = |text: &str| json::quote(text);
        let mut all = Vec::new();
        // White space that the delimiter before has taken is there no more for this one, which can only look back at it.
        let is_free = |place: &Place<'_>| place.free_from + before.len() <= place.span.start;
        let free = Some(before.as_str()).filter(|before| !before.is_empty());
        let free = free.filter(|_| self.places.iter().all(is_free));
        if !before.is_empty() {
            let how = format!("with {} before it", quoted(&before));
            if let Some(before) = free {
                all.push((with_space_before(delimiter, before), how.clone()));
            }
            let pattern = format!("(?<={}){}", escape(&before), grouped(&source));
            all.push((Delimiter::pattern(pattern), how));
        }
        if !behind.is_empty() {
            for (pattern, or_ends) in self.followed_by(&source, &behind) {
                let how = format!("with {} behind it{or_ends}", quoted(&behind));
                all.push((Delimiter::pattern(pattern.clone()), how));
                if let Some(before) = free {
                    let pattern = format!("{}{}", escape(before), grouped(&pattern));
                    let how = format!(
                        "with {} before it and {} behind it{or_ends}",
                        quoted(before),
                        quoted(&behind)
                    );
                    all.push((Delimiter::pattern(pattern), how));
                }
            }
        }
        let exact = space::exact(&source, self.places);
        if let Some(exact) = &exact {
            all.push((Delimiter::pattern(exact.clone()), EXACT.to_owned()));
            if let Some(before) = free {
                let pattern = format!("{}{}", escape(before), grouped(exact));
                let how = format!("{EXACT}, and with {} before it", quoted(before));
                all.push((Delimiter::pattern(pattern), how));
            }
        }
        if self.edge == Edge::Close {
            let followed = self.where_something_follows(&source);
            for (pattern, how) in &followed {
                all.push((Delimiter::pattern(pattern.clone()), (*how).to_owned()));
            }
            for (outside, told) in self.outside_strings() {
                let pattern = format!("{outside}{}", grouped(&source));
                all.push((Delimiter::pattern(pattern), told.to_owned()));
                for (pattern, how) in &followed {
                    let how = format!("{told}, {how}");
                    let pattern = format!("{outside}{}", grouped(pattern));
                    all.push((Delimiter::pattern(pattern), how));
                }
            }
        }
        all
    }

    /// Returns the close of a field where the response ends behind it, for one that ends every response; `None` for another.
    fn at_the_end(&self, delimiter: &Delimiter) -> Option<(Delimiter, String)> {
        let mut places = self.places.iter();
        if self.edge == Edge::Open || !places.all(|place| place.follows == Follows::End) {
            return None;
        }
        let source = delimiter.as_pattern();
        let own = source.strip_suffix(SPACE).unwrap_or(&source);
        let behind: String = self
            .end
            .markers
            .iter()
            .map(|text| format!("|{}", escape(text)))
            .collect();
        let end = match behind.as_str() {
            "" => self.end.pattern.to_owned(),
            behind => format!("(?:{}{behind})", self.end.pattern),
        };
        let pattern = format!("{}(?=\\s*{end})\\s*", grouped(own));
        let how = "where the response ends".to_owned();
        Some((Delimiter::pattern(pattern), how))
    }

    /// The patterns where this white space follows what it matches, each with what else it counts for, in words. What closes a region is first taken to count where the
    /// response ends as well, since engines keep back the token that ends the turn, with the white space before it; and where no response ends there, without that.
    fn followed_by(&self, source: &str, behind: &str) -> Vec<(String, &'static str)> {
        let own = grouped(source.strip_suffix(SPACE).unwrap_or(source));
        let behind = escape(behind);
        let end = format!("|\\s*{}", self.end.pattern);
        let mut places = self.places.iter();
        let ends = places.any(|place| place.follows == Follows::End);
        let or_ends = if ends { "" } else { ", or nothing" };
        let mut all = Vec::new();
        if ends || self.edge == Edge::Close {
            all.push((format!("{own}(?={behind}{end})\\s*"), or_ends));
        }
        if !ends {
            all.push((format!("{own}(?={behind})\\s*"), ""));
        }
        all
    }

    /// The patterns where one of the delimiters follows that do so in renders, with that in words; none where text follows somewhere, or nothing does. For what
    /// nothing follows in any render there is [`at_the_end`](Self::at_the_end).
    ///
    /// The first of them also counts where the response ends, since many engines keep the token back that ends the turn. It is lost where a response that arrives in pieces
    /// ends for now behind a text with the like of the delimiter; then there is the second.
    fn where_something_follows(&self, source: &str) -> Vec<(String, &'static str)> {
        let Some(next) = self.following() else {
            return Vec::new();
        };
        if source.starts_with("(?=") {
            return Vec::new();
        }
        let ends = format!("{next}|\\s*{}", self.end.pattern);
        let how = [
            (ends, "where another delimiter follows, or nothing"),
            (next, "where another delimiter follows"),
        ];
        let patterns = how
            .into_iter()
            .map(|(next, how)| (format!("{}(?={next})", grouped(source)), how));
        patterns.collect()
    }

    /// A pattern for the delimiters that follow this one, one of which does everywhere.
    fn following(&self) -> Option<String> {
        let mut next: Vec<String> = Vec::new();
        for place in self.places {
            let pattern = match place.follows {
                Follows::End | Follows::Text => return None,
                Follows::Delimiter(field, edge) => {
                    let name = self.template.fields()[field].name.as_str();
                    let field = self.document.fields.get(name)?;
                    let delimiter = match edge {
                        Edge::Open => field.open.as_ref(),
                        Edge::Close => field.close.as_ref(),
                    };
                    format!("\\s*{}", to_look_for(&delimiter?.as_pattern())?)
                }
            };
            if !next.contains(&pattern) {
                next.push(pattern);
            }
        }
        (!next.is_empty()).then(|| next.join("|"))
    }

    /// The delimiter where what closes the region follows; `None` for one that closes a region.
    ///
    /// A response that begins so is held back until that is seen, so that this is proposed last.
    fn where_it_is_closed(&self, delimiter: &Delimiter) -> Option<(Delimiter, String)> {
        let close = match self.edge {
            Edge::Open => to_look_for(&self.field.close.as_ref()?.as_pattern())?,
            Edge::Close => return None,
        };
        let pattern = format!("{}(?=.*?{close})", grouped(&delimiter.as_pattern()));
        let how = "where something closes it".to_owned();
        Some((Delimiter::pattern(pattern), how))
    }

    /// Conditions that no string of JSON is open since the region began, in a pattern and in words, for a region of JSON. A string may have in
    /// it what looks like the beginning of a region, with other characters in the place of the name.
    fn outside_strings(&self) -> Vec<(String, &'static str)> {
        let is_json = self.field.content.as_deref() == Some("json");
        let Some(open) = self.field.open.as_ref().filter(|_| is_json) else {
            return Vec::new();
        };
        let open = open.as_pattern();
        let named = with_group(&open, "name", &slot::word(""));
        let all = [
            (Some(open), "outside of strings"),
            (named, "outside of strings, behind a name that is a word"),
        ];
        let condition = |open: Option<String>| {
            let open = to_look_for(&open?)?;
            Some(format!(
                "(?<={open}(?:[^\"\\\\]|\"(?:[^\"\\\\]|\\\\.)*\")*)"
            ))
        };
        let all = all.into_iter();
        all.filter_map(|(open, told)| Some((condition(open)?, told)))
            .collect()
    }
}

/// The delimiter with white space before it, which stays a literal where it is one.
fn with_space_before(delimiter: &Delimiter, space: &str) -> Delimiter {
    match delimiter {
        Delimiter::Literals(texts) => {
            let texts = texts.iter().map(|text| format!("{space}{text}"));
            Delimiter::Literals(texts.collect())
        }
        Delimiter::Pattern(source) => {
            Delimiter::pattern(format!("{}{}", escape(space), grouped(source)))
        }
    }
}

/// The pattern without named groups, for a place where nothing can be captured; `None` where it refers to one of them, or is long.
fn to_look_for(source: &str) -> Option<String> {
    (source.len() <= MAX_AHEAD).then(|| without_captures(source))?
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(template: &str, responses: &[&str]) -> Vec<(String, String)> {
        told_before(&[], template, responses)
    }

    /// As `told`, where texts that begin with these markers may stand behind the last turn.
    fn told_before(
        markers: &[String],
        template: &str,
        responses: &[&str],
    ) -> Vec<(String, String)> {
        let document = json::parse(template).unwrap();
        let template = Arc::new(ResponseTemplate::from_value(&document).unwrap());
        let document = Document::of(&document).unwrap();
        let cases: Vec<Case> = responses
            .iter()
            .map(|response| Case {
                prefix: String::new(),
                response: (*response).to_owned(),
                tools: Vec::new(),
                message: Value::Null,
            })
            .collect();
        let end = End {
            pattern: "\\Z",
            markers,
        };
        let proposals = proposals(&document, &template, &cases, end);
        let changed = |proposal: Proposal| {
            let fields = proposal.document.fields.iter().zip(&document.fields);
            let changed = fields.flat_map(|((_, now), (_, before))| {
                [(&now.open, &before.open), (&now.close, &before.close)]
            });
            let mut changed = changed.filter(|(now, before)| now != before);
            let now = changed.next().and_then(|(now, _)| now.clone());
            let told = proposal.told.split(" only ").last().unwrap().to_owned();
            (now.map_or_else(String::new, |now| now.as_pattern()), told)
        };
        proposals.into_iter().map(changed).collect()
    }

    /// A call is opened by `$ ` at the beginning of a line, in all places.
    #[test]
    fn white_space_is_asked_for_where_it_always_stands() {
        let template = r#"{"start_anchor": ">>", "fields": {"call": {"open_pattern": "\\$\\s*", "close": ";", "repeats": true}, "content": {}}}"#;
        let found = told(template, &["It is.\n$ run;", "\n$ run;\n$ stop;"]);
        let patterns: Vec<&str> = found.iter().map(|(pattern, _)| pattern.as_str()).collect();
        assert!(patterns.contains(&"\\n\\$\\s*"), "{patterns:?}");
        assert!(patterns.contains(&"(?<=\\n)\\$\\s*"), "{patterns:?}");
        assert!(patterns.contains(&"\\$(?= )\\s*"), "{patterns:?}");
        assert!(patterns.contains(&"\\$ "), "{patterns:?}");
        // Nothing opens where the response ends.
        let mut opens = patterns.iter().filter(|pattern| pattern.starts_with("\\$"));
        assert!(
            opens.all(|pattern| !pattern.contains("\\Z")),
            "{patterns:?}"
        );
        // What opens the region takes the line feed here, and what closes it can only look back at it.
        let lines = r#"{"start_anchor": ">>", "fields": {"call": {"open_pattern": "\\$\\s*", "close_pattern": "(?:;|(?=\\$))", "repeats": true}, "content": {}}}"#;
        let of_close = |responses: &[&str]| {
            let found = told(lines, responses).into_iter();
            let mut patterns = found.map(|(pattern, _)| pattern);
            patterns.any(|pattern| pattern.starts_with("\\n(?:;"))
        };
        assert!(of_close(&["$ a\n$ b\n;"]));
        assert!(!of_close(&["$ a\n$\n;"]));
        // What it takes has a line feed behind it wherever it takes something.
        let found = told(lines, &["$ a\n$ b;\nso", "$ b;\n"]).into_iter();
        let patterns: Vec<String> = found.map(|(pattern, _)| pattern).collect();
        let narrower = "(?:;(?=\\n|\\s*\\Z)\\s*|(?=\\$))".to_owned();
        assert!(patterns.contains(&narrower), "{patterns:?}");
        // It counts where the response ends even if none does: engines keep back what follows.
        let found = told(lines, &["$ a\n$ b;\nso", "$ c;\nso"]).into_iter();
        let closes: Vec<(String, String)> = found
            .filter(|(pattern, _)| pattern.starts_with("(?:;(?="))
            .collect();
        let of_end = "with \"\\n\" behind it, or nothing".to_owned();
        let without = "with \"\\n\" behind it".to_owned();
        assert_eq!(closes[0], (narrower, of_end));
        assert_eq!(closes[1], ("(?:;(?=\\n)\\s*|(?=\\$))".to_owned(), without));
        // A second response has a call with no white space before it or in it, so that none is asked for.
        let found = told(template, &["It is.\n$ run;", "$run;"]);
        let hows: Vec<&str> = found.iter().map(|(_, how)| how.as_str()).collect();
        assert_eq!(
            hows,
            ["where something closes it", "where the response ends"]
        );
    }

    #[test]
    fn what_follows_is_asked_for_where_no_text_does() {
        let template = r##"{"start_anchor": ">>", "fields": {"call": {"open": "<", "close": ">", "repeats": true}, "content": {"close": "#"}}}"##;
        let found = told(template, &["Hi<a><b>#", "<c>#"]);
        let followed = |wanted: &str| found.iter().find(|(_, how)| how == wanted);
        let (pattern, _) = followed("where another delimiter follows").unwrap();
        assert_eq!(pattern, ">(?=\\s*<|\\s*#)");
        let (pattern, _) = followed("where another delimiter follows, or nothing").unwrap();
        assert_eq!(pattern, ">(?=\\s*<|\\s*#|\\s*\\Z)");
        for other in ["Hi<a>there#", "Hi<a>"] {
            let found = told(template, &["Hi<a><b>#", other]);
            assert!(
                found.iter().all(|(pattern, _)| !pattern.starts_with('>')),
                "{found:?}"
            );
        }
    }

    #[test]
    fn what_ends_every_response_may_be_asked_to() {
        let template =
            r#"{"start_anchor": "(me: ", "fields": {"content": {"close_pattern": "\\)\\s*"}}}"#;
        let at_the_end = |responses: &[&str]| {
            let found = told(template, responses).into_iter();
            let mut found = found.filter(|(_, how)| how == "where the response ends");
            found.next().map(|(pattern, _)| pattern)
        };
        let pattern = at_the_end(&["so)\n", "no)"]).unwrap();
        let pattern = crate::pattern::Pattern::regex(&pattern).unwrap();
        let found = pattern.search("a) b)\n", 0).unwrap();
        assert_eq!(found.map(|found| found.span), Some(4..6));
        assert_eq!(at_the_end(&["so) and", "no)"]), None);

        let listed = ["(tools:".to_owned()];
        let found = told_before(&listed, template, &["so)\n", "no)"]).into_iter();
        let mut found = found.filter(|(_, how)| how == "where the response ends");
        let pattern = found.next().map(|(pattern, _)| pattern).unwrap();
        let pattern = crate::pattern::Pattern::regex(&pattern).unwrap();
        let found = |text: &str| pattern.search(text, 0).unwrap().map(|found| found.span);
        assert_eq!(found("a) b)\n(tools: [])"), Some(4..6));
        assert_eq!(found("a) (b"), None);
    }

    #[test]
    fn a_region_of_json_may_be_closed_outside_of_its_strings() {
        let template = r#"{"start_anchor": ">>", "fields": {"call": {"open": "!", "close": "!", "content": "json"}, "content": {}}}"#;
        let found = told(template, &["!{}!then"]);
        let (pattern, _) = found
            .iter()
            .find(|(_, how)| how == "outside of strings")
            .unwrap();
        let pattern = crate::pattern::Pattern::regex(pattern).unwrap();
        let closes = |text: &str| pattern.search(text, 1).unwrap().map(|found| found.span);
        assert_eq!(closes(r#"!{"a": "}!\""}! a "!""#), Some(14..15));
        assert_eq!(closes(r#"!{"a": "!"#), None);

        let template = r#"{"start_anchor": ">>", "fields": {"call": {"open_pattern": "!(?P<name>[^\\s!]+) (?=\\{)", "close": "!", "content": "json", "transform": {"name": "{name}", "arguments": "{content}"}}, "content": {}}}"#;
        let found = told(template, &["!f {}!then"]);
        let (pattern, _) = found
            .iter()
            .find(|(_, how)| how == "outside of strings, behind a name that is a word")
            .unwrap();
        let pattern = crate::pattern::Pattern::regex(pattern).unwrap();
        let text = r#"!f {"a": "!] {\"}!"} !"#;
        let found = pattern.search(text, 4).unwrap().map(|found| found.span);
        assert_eq!(found, Some(text.len() - 1..text.len()));
    }
}
