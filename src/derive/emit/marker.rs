//! Markers with slots as patterns: what opens a call captures what stands in its slots.

use super::loose;
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::slot::{self, Beside};
use crate::derive::compare::text;

/// The slots of a marker that a pattern captures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Captures {
    /// None of them. A pattern that closes a region, or looks ahead for its end, has no use for captures, since no transform sees them.
    None,
    /// The name.
    Name,
    /// The name and the id.
    All,
}

/// The pattern for what may stand before and behind a name within an id. Servers make such ids of the namespace that functions have in the published harmony
/// format, the name, and the number of the call: `functions.get_weather:0`.
const AROUND_NAME_IN_ID: [&str; 2] = ["(?:functions\\.)?", "(?::\\d+)?"];

/// The words and characters that cannot be a name, or cannot be in one.
#[derive(Debug, Default)]
pub(super) struct Names {
    /// A condition, as a look-ahead, that no word follows that opens another field in the place of a name.
    pub(super) taken: String,
    /// The characters with which the calls' own markers begin. A name that had them in it could begin in the text before its call.
    pub(super) signs: Vec<char>,
    /// How names of functions are read.
    pub(super) functions: Functions,
    /// The first character of what closes a call, which an id at the end of the call's marker does not have in it, as a part of a character
    /// class. Empty where a call does not end behind its id.
    pub(super) end_of_id: String,
    /// How the place of an id is read.
    pub(super) ids: Ids,
    /// True if a name is a part of the call's id, or all of it.
    pub(super) within_ids: bool,
}

/// How the place of an id is read that no text ends which stands in every call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum Ids {
    /// As one that has an id.
    #[default]
    There,
    /// As one that may be empty.
    LeftOut,
    /// As one that may be empty, where these texts before and behind it are missing as well.
    LeftOutWith(String, String),
    /// As a member of the call's object that may be missing.
    LeftOutOfObject,
}

/// How the name of a function is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Functions {
    /// It has any character in it but the first of what follows it.
    #[default]
    BeforeSign,
    /// It is a word, with dots, dashes, colons and slashes in it.
    Words,
    /// It has any character in it, and ends where all of what follows it stands: `to-do` in `to-do->`.
    BeforeMarker,
}

impl Names {
    /// A pattern for a name before `end`. It has none of the characters of `stop` in it, nor those with which a call begins, but a dot, a dash or
    /// an underscore may stand behind its first character.
    fn word(&self, stop: &str, end: &str) -> String {
        let (stop, not_end) = match (self.functions, long_end(end)) {
            (Functions::Words, _) => return slot::word(stop),
            (Functions::BeforeMarker, Some(marker)) => {
                ("", format!("(?!{})", text::escape(marker)))
            }
            _ => (stop, String::new()),
        };
        let others = |is_taken: fn(char) -> bool| -> String {
            let taken = self.signs.iter().filter(|sign| is_taken(**sign));
            let signs = taken.map(|sign| slot::stop(&sign.to_string()));
            signs.filter(|sign| sign != stop).collect()
        };
        let (first, others) = (
            others(|_| true),
            others(|sign| !matches!(sign, '.' | '-' | '_')),
        );
        let [first, other] = [first, others].map(|signs| format!("{not_end}[^\\s{stop}{signs}]"));
        let any = match not_end.is_empty() {
            true => other.clone(),
            false => format!("(?:{other})"),
        };
        match first == other {
            true => format!("{any}+"),
            false => format!("{first}{any}*"),
        }
    }
}

/// A pattern for a marker that stands before `after`, and for the white space behind the marker. `names` says which words and characters are
/// not in a name.
pub(super) fn opening(
    pieces: &Pieces,
    marker: &str,
    after: &str,
    captures: Captures,
    names: &Names,
) -> String {
    let own = marker.split(slot::is_one).next().unwrap_or_default().trim();
    let longer = pieces.go_on(own);
    let mut pattern = written(pieces, marker, after, captures, names);
    if let Some(sign) = longer
        && let Some(rest) = pattern.strip_prefix(&text::escape(own))
    {
        // Where `~~~~` is another marker, `~~~` is not to be found within it.
        let (own, sign) = (text::escape(own), text::escape(&sign.to_string()));
        pattern = format!("(?<!{sign}){own}(?!{sign}){rest}");
    }
    let is_last_slot = marker.ends_with(slot::NAME) || marker.ends_with(slot::ID);
    // A literal needs no white space behind it in the pattern, since content parsers pass over it.
    if slot::any(marker) && (is_last_slot || !marker.is_empty()) {
        loose::push_space(&mut pattern);
    }
    pattern
}

/// A pattern for a marker that stands behind a body, and before `after`.
pub(super) fn behind(
    pieces: &Pieces,
    marker: &str,
    after: &str,
    captures: Captures,
    ids: Ids,
) -> String {
    let names = Names {
        ids,
        ..Names::default()
    };
    written(pieces, marker, after, captures, &names)
}

/// Returns true if an id in the marker is ended by white space alone, so that nothing tells where there is none.
pub(super) fn ends_id_nowhere(marker: &str) -> bool {
    let mut rests = marker.split(slot::ID).skip(1);
    rests.any(is_ended_nowhere)
}

/// Returns true if nothing but white space ends the id behind which this text stands.
fn is_ended_nowhere(rest: &str) -> bool {
    let is_slot = rest.starts_with(slot::is_one);
    (is_slot || slot::stop(rest).is_empty()) && !slot::begins_apart(rest)
}

/// Returns the text that ends a name or an id, where only all of it does: ids have the character in them that it begins with, as in `f:0` before
/// `:>`, and names, as in `to-do` before `->`.
pub(super) fn long_end(end: &str) -> Option<&str> {
    let end = end.split(slot::is_one).next().unwrap_or_default();
    let end = end.split(char::is_whitespace).next().unwrap_or_default();
    let is_in_ids = end.starts_with(['.', ':', '/', '-', '_']);
    (is_in_ids && end.chars().nth(1).is_some()).then_some(end)
}

/// Returns true if a marker is made of the characters of JSON, between which white space may stand: `{"name": "NAME", "arguments": `.
pub(super) fn is_json(marker: &str) -> bool {
    let mut signs = marker.trim().chars();
    marker.contains("\":") && signs.any(|c| matches!(c, '{' | ','))
        || (!marker.trim().is_empty()
            && marker
                .trim()
                .chars()
                .all(|c| matches!(c, '{' | '}' | '[' | ']' | ',') || c.is_whitespace()))
}

fn written(
    pieces: &Pieces,
    marker: &str,
    after: &str,
    captures: Captures,
    names: &Names,
) -> String {
    let is_json = is_json(marker);
    let spaced = match is_json {
        true => marker.trim().to_owned(),
        false => loose::spaced(pieces, marker),
    };
    let count = spaced.matches(slot::NAME).count();
    let mut pattern = String::new();
    let mut quoted = false;
    let mut rest = spaced.as_str();
    let mut named = false;
    let mut beside = Beside::default();
    while let Some(at) = rest.find(slot::is_one) {
        let (literal, from) = rest.split_at(at);
        let Some(found) = from.chars().next() else {
            break;
        };
        rest = &from[found.len_utf8()..];
        let end = match rest {
            "" => after,
            rest => rest,
        };
        // White space alone parts two slots, of which the first may be empty.
        let is_gap = beside.behind_slot && !literal.is_empty() && literal.trim().is_empty();
        // White space ends an id that may be left out. What stands before it is then exactly what is written: any white space would take
        // what ends the id as well, and an empty id would be found as soon as the first white space arrives.
        let left_out = names.ids == Ids::LeftOut;
        let may_be_empty = found == slot::ID && left_out && is_ended_nowhere(end);
        let own = match &names.ids {
            Ids::LeftOutWith(before, behind) if found == slot::ID && !is_json => {
                let literal = literal.strip_suffix(before.as_str());
                let parts = literal.zip(rest.strip_prefix(behind.as_str()));
                parts.map(|(literal, rest)| (literal, before.as_str(), behind.trim(), rest))
            }
            _ => None,
        };
        if let Some((literal, before, ..)) = own {
            push(&mut pattern, literal, is_json, &mut quoted, beside);
            if before.starts_with(char::is_whitespace) {
                loose::push_space(&mut pattern);
            }
            pattern.push_str(&format!("(?:{}\\s*)?", slot::pattern(before.trim())));
        } else if is_json || !(is_gap || may_be_empty) {
            beside.before_slot = true;
            push(&mut pattern, literal, is_json, &mut quoted, beside);
        } else if is_gap && !may_be_empty {
            pattern.push_str("\\s+");
        } else {
            let (literal, space) = literal.split_at(literal.trim_end().len());
            push(&mut pattern, literal, is_json, &mut quoted, beside);
            pattern.push_str(&text::escape(space));
        }
        beside = Beside {
            behind_slot: true,
            before_slot: false,
        };
        // White space ends a name and an id as well, so that both may have the character in it that follows that: in `get-time --zone UTC` the
        // dash of `--` does not end the name.
        let is_apart = end.starts_with(char::is_whitespace);
        let stop = match end.trim_start().chars().next() {
            Some('-' | '.' | ':' | '/') if is_apart => String::new(),
            Some(sign) if slot::is_one(sign) && !is_apart => String::new(),
            _ => slot::stop(end),
        };
        let word = format!("[^\\s{stop}]+");
        match found {
            slot::NAME => {
                if !pattern.is_empty() && !is_json && !quoted {
                    loose::push_space(&mut pattern);
                }
                let word = names.word(&stop, end);
                let again = std::mem::replace(&mut named, true);
                match captures {
                    Captures::None if again => pattern.push_str("\\1"),
                    Captures::None if count > 1 => pattern.push_str(&format!("({word})")),
                    Captures::None => pattern.push_str(&format!("(?:{word})")),
                    _ if again => pattern.push_str(slot::SAME_NAME),
                    Captures::All if names.within_ids => {
                        let [before, behind] = AROUND_NAME_IN_ID;
                        let name = format!("(?P<name>(?:{word}?)?)");
                        let id = format!("(?P<id>{before}{name}{behind})");
                        pattern.push_str(&format!("{}{id}", names.taken));
                    }
                    _ => pattern.push_str(&format!("{}(?P<name>{word})", names.taken)),
                }
                let is_apart = pieces
                    .tokens(rest)
                    .first()
                    .is_some_and(|next| rest.starts_with(next) && pieces.is_one(next) && !is_json);
                if is_apart {
                    loose::push_space(&mut pattern);
                }
            }
            slot::ID => {
                // A call need not have an id. If a text ends the id, that text tells where there is none.
                let some = match is_ended_nowhere(end) && !left_out {
                    true => "+",
                    false => "*",
                };
                let id = if captures == Captures::All {
                    "(?P<id>"
                } else {
                    "(?:"
                };
                let sign = match long_end(end) {
                    Some(end) => format!("(?:(?!{})[^\\s])", text::escape(end)),
                    None if rest.is_empty() => format!("[^\\s{stop}{}]", names.end_of_id),
                    None => format!("[^\\s{stop}]"),
                };
                let Some((_, before, behind, others)) = own else {
                    pattern.push_str(&format!("{id}{sign}{some})"));
                    continue;
                };
                // The place of the id has to be found even where there is none, since what a call is made of names it.
                let before = slot::pattern(before.trim());
                pattern.push_str(&format!("{id}(?:(?<={before}\\s{{0,4}}){sign}+)?)\\s*"));
                if !behind.is_empty() {
                    pattern.push_str(&format!("(?:{}\\s*)?", slot::pattern(behind)));
                }
                rest = others;
            }
            slot::NUMBER => pattern.push_str("\\d+"),
            slot::WORD => pattern.push_str(slot::ANY_WORD),
            slot::GIVEN => pattern.push_str(&slot::given(&stop)),
            _ => pattern.push_str(&word),
        }
    }
    push(&mut pattern, rest, is_json, &mut quoted, beside);
    pattern
}

/// Adds a literal to the pattern. White space in it may vary. In a marker of JSON, white space may also stand beside punctuation that is
/// not in quotes; `quoted` tells if the pattern ends within quotes, from one literal to the next.
fn push(pattern: &mut String, literal: &str, is_json: bool, quoted: &mut bool, beside: Beside) {
    if !is_json {
        pattern.push_str(&slot::literal(literal, beside));
        return;
    }
    for c in literal.chars() {
        match c {
            '"' => {
                *quoted = !*quoted;
                pattern.push(c);
            }
            '{' | '}' | '[' | ']' | ':' | ',' if !*quoted => {
                if !matches!(c, '{' | '[') || !pattern.is_empty() {
                    loose::push_space(pattern);
                }
                pattern.push_str(&text::escape(&c.to_string()));
                loose::push_space(pattern);
            }
            c if c.is_whitespace() && !*quoted => loose::push_space(pattern),
            c => pattern.push_str(&text::escape(&c.to_string())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;

    fn open(marker: &str, captures: Captures) -> String {
        opening(&Pieces::default(), marker, "{", captures, &Names::default())
    }

    #[test]
    fn json_punctuation_lets_space_vary() {
        let marker = format!("{{\"name\": \"{}\", \"x y\": ", slot::NAME);
        assert_eq!(
            open(&marker, Captures::All),
            "\\{\\s*\"name\"\\s*:\\s*\"(?P<name>[^\\s\"]+)\"\\s*,\\s*\"x y\"\\s*:\\s*"
        );
        assert_eq!(
            behind(&Pieces::default(), "}", "", Captures::None, Ids::There),
            "\\s*\\}\\s*"
        );
    }

    #[test]
    fn a_name_ends_where_the_rest_of_its_marker_begins() {
        let name = slot::NAME;
        assert_eq!(
            open(&format!("<f={name}>\n"), Captures::All),
            "<f=\\s*(?P<name>[^\\s>]+)>\\s*"
        );
        assert_eq!(
            open(&format!("{name}\n```json\n"), Captures::None),
            "(?:[^\\s`]+)\\s*```json\\s*"
        );
        assert_eq!(
            open(&format!("call {name}"), Captures::All),
            "call\\s+(?P<name>[^\\s{]+)\\s*"
        );
    }

    /// Where white space alone ends an id, nothing tells by itself that there is none.
    #[test]
    fn an_id_ends_where_all_that_follows_it_begins() {
        let marker = |behind: &str| format!("({}{behind}", slot::ID);
        assert!(open(&marker(":>"), Captures::All).starts_with("\\((?P<id>(?:(?!:>)[^\\s])*)"));
        assert!(open(&marker(": "), Captures::All).starts_with("\\((?P<id>[^\\s:]*)"));
        assert!(open(&marker("|>"), Captures::All).starts_with("\\((?P<id>[^\\s|]*)"));
        // White space ends it before that.
        assert!(open(&marker("\n-----"), Captures::All).starts_with("\\((?P<id>[^\\s]*)"));
        assert!(open(&marker("\n|>"), Captures::All).starts_with("\\((?P<id>[^\\s|]*)"));
    }

    /// A call without arguments ends behind its id, before what closes every call.
    #[test]
    fn the_last_id_ends_where_its_call_may() {
        let open = |marker: &str| {
            let names = Names {
                end_of_id: ">".to_owned(),
                ..Names::default()
            };
            opening(&Pieces::default(), marker, " x", Captures::All, &names)
        };
        assert!(open(&format!("f #{}", slot::ID)).ends_with("(?P<id>[^\\s>]*)\\s*"));
        assert!(open(&format!("#{} f", slot::ID)).starts_with("#(?P<id>[^\\s]*)"));
    }

    #[test]
    fn a_name_may_have_the_first_sign_in_it_of_what_ends_it() {
        let named = |functions, signs: &[char]| {
            let names = Names {
                functions,
                signs: signs.to_vec(),
                ..Names::default()
            };
            let marker = format!("<{}->", slot::NAME);
            opening(&Pieces::default(), &marker, "{", Captures::All, &names)
        };
        let before_sign = named(Functions::BeforeSign, &[]);
        assert_eq!(before_sign, "<\\s*(?P<name>[^\\s\\-]+)->\\s*");
        let whole = named(Functions::BeforeMarker, &[]);
        assert_eq!(whole, "<\\s*(?P<name>(?:(?!->)[^\\s])+)->\\s*");
        let apart = named(Functions::BeforeMarker, &['<', '-']);
        let expected = "<\\s*(?P<name>(?!->)[^\\s<\\-](?:(?!->)[^\\s<])*)->\\s*";
        assert_eq!(apart, expected);
    }

    #[test]
    fn an_id_may_be_left_out() {
        let marker = format!("({} {} ", slot::ID, slot::NAME);
        assert!(ends_id_nowhere(&marker));
        assert!(!ends_id_nowhere(&format!("({}) {}", slot::ID, slot::NAME)));
        let open = |ids| {
            let names = Names {
                ids,
                ..Names::default()
            };
            opening(&Pieces::default(), &marker, "{", Captures::All, &names)
        };
        assert!(open(Ids::There).starts_with("\\((?P<id>[^\\s]+)"));
        assert!(open(Ids::LeftOut).starts_with("\\((?P<id>[^\\s]*)\\s+"));
        // The white space before it is exactly what is written.
        let marker = format!("... # {}", slot::ID);
        let close = |ids| behind(&Pieces::default(), &marker, "", Captures::All, ids);
        assert_eq!(close(Ids::There), "\\.\\.\\.\\s*#\\s*(?P<id>[^\\s]+)");
        assert_eq!(close(Ids::LeftOut), "\\.\\.\\.\\s*# (?P<id>[^\\s]*)");
        // The texts around it may be missing together with it.
        let ids = Ids::LeftOutWith("Ref: ".to_owned(), "\n".to_owned());
        let marker = format!("Use {}\nRef: {}\nNow:", slot::NAME, slot::ID);
        let names = Names {
            ids,
            ..Names::default()
        };
        let open = opening(&Pieces::default(), &marker, "{", Captures::All, &names);
        let id = "(?:Ref:\\s*)?(?P<id>(?:(?<=Ref:\\s{0,4})[^\\s]+)?)\\s*Now:";
        assert!(open.contains(id), "{open}");
        // White space before them is there with them, and is missing without.
        let names = Names {
            ids: Ids::LeftOutWith(" id=\"".to_owned(), "\"".to_owned()),
            ..Names::default()
        };
        let marker = format!("<call name=\"{}\" id=\"{}\">", slot::NAME, slot::ID);
        let open = opening(&Pieces::default(), &marker, "{", Captures::All, &names);
        let open = Pattern::regex(&open).unwrap();
        for (text, expected) in [
            (r#"<call name="f" id="a1">"#, "a1"),
            (r#"<call name="f">"#, ""),
        ] {
            let found = open.search(text, 0).unwrap().unwrap();
            let id = found.group("id").map(|span| &text[span]);
            assert_eq!(
                (found.span.clone(), id),
                (0..text.len(), Some(expected)),
                "{text}"
            );
        }
    }

    #[test]
    fn a_name_that_is_said_again_is_the_same() {
        let name = slot::NAME;
        let marker = format!("{name}|{name}|");
        assert_eq!(
            open(&marker, Captures::All),
            "(?P<name>[^\\s|]+)\\|\\s*(?P=name)\\|\\s*"
        );
        assert_eq!(open(&marker, Captures::None), "([^\\s|]+)\\|\\s*\\1\\|\\s*");
    }
}
