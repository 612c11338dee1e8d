//! Arguments with keys and values apart, as `xml-inline` reads them.

use super::loose::{self, optional_space};
use super::tokens::Tokens;
use super::value_end::{BLANK, Between, Close, ends_nowhere, white_close};
use super::{value_beginning, value_first};
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::{slot, text};
use crate::derive::probe;
use crate::derive::read::arguments::{Around, Order, Pairs, Style};
use crate::value::{Map, Value};

/// How `xml-inline` reads the arguments. Unless every value is JSON or texts stand in quotes, values stay text, since the look of a text
/// does not tell its type. A text can still be typed by the tool's schema; a value that was read as a number cannot be made the text again
/// that the schema may ask for. `behind` is the white space behind the last argument, where that is always the same.
pub(super) fn content_args(
    pieces: &Pieces,
    argument: &Pairs,
    behind: Option<&str>,
    choices: &Choices,
) -> Map {
    let spaced = loose::spaced_argument(pieces, argument);
    let pattern = match argument.order {
        Order::KeyFirst => {
            let reading = Reading {
                keys: keys(argument, choices),
                between: Between::decided(argument, behind, choices),
                are_others_whole: are_others_whole(argument, choices),
                close: Close::decided(&spaced, choices),
            };
            pattern(&spaced, reading)
        }
        Order::ValueFirst => value_first::pattern(&spaced),
    };
    let mut args = Map::from_iter([("tag_pattern".to_owned(), Value::from(pattern))]);
    let parser = match &argument.style {
        Style::Text => None,
        Style::Json { is_whole: true, .. } => Some(probe::object([("name", Value::from("json"))])),
        Style::Json { .. } => Some(json_parser([("allow_non_json", Value::Bool(true))])),
        Style::Quoted(open, close) => {
            let pair = vec![Value::from(open.as_str()), Value::from(close.as_str())];
            Some(json_parser([
                ("string_delims", vec![Value::from(pair)].into()),
                ("allow_non_json", Value::Bool(true)),
            ]))
        }
    };
    if let Some(parser) = parser {
        args.insert("value_parser".to_owned(), parser);
    }
    args
}

/// `json` as the parser of a value, with these arguments.
fn json_parser<const N: usize>(args: [(&str, Value); N]) -> Value {
    probe::object([("name", Value::from("json")), ("args", probe::object(args))])
}

/// How the parts of arguments are read.
#[derive(Debug, Clone, Copy)]
struct Reading<'s> {
    keys: Keys,
    between: Between<'s>,
    /// True if lists and objects are taken as a whole, among values that are no texts and that something else closes than texts.
    are_others_whole: bool,
    close: Close<'s>,
}

/// The text that ends the name of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Keys {
    /// The first character of the text behind the name, which no name has in it.
    BeforeSign,
    /// The whole text behind the name. A name may have the first character of that text in it: the name is `a:b` in `a:b := 1`.
    BeforeMarker,
}

/// How the names of arguments end.
fn keys(argument: &Pairs, choices: &Choices) -> Keys {
    let between = behind_key(argument).trim_start();
    let before_sign = Candidate::new(
        "before a character",
        "names without the first character of what follows them",
        "names of arguments are words in most tools",
        Keys::BeforeSign,
    );
    let may_differ = argument.are_json()
        || between.chars().count() > 1
        || !brackets_in_values(argument).is_empty();
    let before_marker = may_differ.then(|| {
        Candidate::new(
            "before all of it",
            "names that end where all of what follows them stands",
            "the name of an argument may have such a character in it",
            Keys::BeforeMarker,
        )
    });
    let candidates = std::iter::once(before_sign).chain(before_marker);
    let keys = choices.choose(DecisionId::ArgumentNames, candidates);
    keys.unwrap_or(Keys::BeforeSign)
}

/// Decides how values that are no texts end where something closes them that closes no text, and returns true if lists and objects are taken as a
/// whole. For example, a comma closes `[1, 2],` beside `<text>`.
fn are_others_whole(argument: &Pairs, choices: &Choices) -> bool {
    let is_closed = |around: &Around| !around.close.trim().is_empty();
    let mut others = argument.value.iter().skip(1);
    let is_asked = matches!(argument.style, Style::Text)
        && others.any(|around| is_closed(around) && around.close != argument.value[0].close);
    if !is_asked {
        return false;
    }
    let first = [
        "up to what closes them",
        "values of other types than text, up to what closes them",
        "what closes them is there",
    ];
    let whole = [
        "lists and objects whole",
        "values of other types than text as JSON, of which a list or an object may have in it what closes a value",
        "what closes a value may stand in a list or an object",
    ];
    !choices.whether(DecisionId::OtherValues, [first, whole])
}

/// Returns the text between the name of an argument and its value.
fn behind_key(argument: &Pairs) -> &str {
    match &argument.style {
        Style::Json { around, .. } => &around.between,
        _ => argument.value.first().map_or("", |around| &around.between),
    }
}

/// Returns true if the text behind a JSON value repeats the argument's name, and the character that ends the name cannot begin such a
/// value.
fn is_said_again(argument: &Pairs) -> bool {
    let begins_json = |sign| matches!(sign, '[' | '{' | '"' | '-');
    let ends_name = behind_key(argument).trim().chars().next();
    matches!(&argument.style, Style::Json { around, .. } if around.close.contains(slot::KEY))
        && ends_name.is_some_and(|sign| !sign.is_alphanumeric() && !begins_json(sign))
}

/// A pattern for the key of an argument with the quotes that it may stand in, and what stands before it. `group` opens the group that takes
/// the key.
fn key(argument: &Pairs, group: &str, keys: Keys) -> String {
    let Some((open, close)) = &argument.name_quotes else {
        return bare_key(argument, group, keys);
    };
    let [open, close] = [open, close].map(|quote| text::escape(quote));
    let group = format!("(?:{open})?{group}");
    format!("{}(?:{close})?", bare_key(argument, &group, keys))
}

/// A pattern for the key of an argument without quotes, and what stands before it.
fn bare_key(argument: &Pairs, group: &str, keys: Keys) -> String {
    let open = slot::pattern_before(argument.open.trim_start());
    let is_whole = keys == Keys::BeforeMarker;
    let marker = behind_key(argument).trim();
    if is_whole && is_said_again(argument) {
        // Of several such characters the last one ends the name: no value of JSON begins with one.
        let sign = slot::stop(marker);
        let name = format!("[^\\r\\n\"{sign}]|[{sign}](?=[{sign}])");
        return format!("{open}{group}(?=\\S)(?:{name})+)");
    }
    let first = argument.value.first().map_or("", |around| &around.between);
    let between = match is_whole {
        true => "",
        false => first,
    };
    let others = argument.value.iter().filter(|_| !is_whole);
    let others = others.map(|around| slot::stop(&around.between));
    let mut stop = slot::stop(between);
    // A separator that is a word, such as `AND`, shares its letters with names.
    let separator = Some(argument.separator.trim_start());
    let separator = separator.filter(|it| !it.starts_with(char::is_alphanumeric));
    for sign in others.chain(separator.map(slot::stop)) {
        if !stop.contains(&sign) {
            stop.push_str(&sign);
        }
    }
    if let Some((_, quote)) = &argument.name_quotes {
        stop.push_str(&slot::stop(quote));
    }
    if ends_nowhere(argument) {
        // What looks like a key may stand in a value, behind a bracket or a quote.
        let brackets: &[&str] = match keys {
            Keys::BeforeSign => brackets_in_values(argument),
            Keys::BeforeMarker => &[],
        };
        let signs = ["\"", "'"].iter().chain(brackets).copied();
        stop.extend(signs.filter(|sign| !first.starts_with(sign.trim_start_matches('\\'))));
    }
    if ends_with_line(argument) {
        return format!(
            "{open}{group}[^\\s{stop}](?:[^\\r\\n{stop}]*[^\\s{stop}])?)(?=[^\\S\\n]*\\n)"
        );
    }
    if is_apart(argument) && is_whole {
        // `--a b 1` is an argument of the name `a b`.
        let end = format!("(?!\\s+{})", value_beginning(argument));
        return format!("{open}{group}(?=\\S)(?:{end}[^\\r\\n{stop}])+)");
    }
    if is_apart(argument) {
        return format!("{open}{group}[^\\s{stop}]+)");
    }
    if is_whole && argument.are_json() {
        // `a:b:1` is an argument of the name `a:b`, whose value begins as JSON does.
        let marker = slot::pattern(marker);
        let end = format!("(?!\\s*{marker}\\s*{})", value_beginning(argument));
        return format!("{open}{group}(?=\\S)(?:{end}[^\\r\\n{stop}])+)");
    }
    if is_whole {
        // `a:b: 1` is an argument of the name `a:b`.
        let (end, last) = end_of_key(argument);
        return format!("{open}{group}(?=\\S)(?:(?!\\s*{end})[^\\r\\n{stop}])+{last})");
    }
    // A name may have spaces in it, but neither begins nor ends with one.
    format!("{open}{group}[^\\s{stop}](?:[^\\r\\n{stop}]*[^\\s{stop}])?)")
}

/// A pattern for what ends a name that may have the first character of that in it, and a condition on the last character of the name.
///
/// Of `:` and `:'` the longer one tells more: the name is `a:b` in `a:b:'c'`. White space behind the shorter one tells as much: `a:b: 1`.
fn end_of_key(argument: &Pairs) -> (String, &'static str) {
    let betweens = argument.value.iter().map(|around| around.between.as_str());
    let betweens: Vec<&str> = betweens.collect();
    let is_spaced = |one: &str| one.ends_with(char::is_whitespace);
    let begins_another = |one: &str| {
        let one = one.trim();
        let mut others = betweens.iter().map(|other| other.trim());
        others.any(|other| other != one && other.starts_with(one))
    };
    let telling = betweens.iter().copied();
    let telling: Vec<&str> = telling
        .filter(|one| is_spaced(one) || !begins_another(one))
        .collect();
    // Where a value follows that has the shorter one before it, nothing else tells that white space before that is not the name's.
    let is_after_space = behind_key(argument).starts_with(char::is_whitespace);
    let last = match is_after_space && telling.len() < betweens.len() {
        true => "(?<!\\s)",
        false => "",
    };
    let (spaced, bare): (Vec<&str>, Vec<&str>) = telling.iter().partition(|one| is_spaced(one));
    let ends = [(bare, ""), (spaced, "\\s")]
        .into_iter()
        .filter_map(|(ends, space)| {
            let ends: Vec<&str> = ends.into_iter().map(str::trim).collect();
            (!ends.is_empty()).then(|| format!("{}{space}", any_of(&ends)))
        });
    (super::either_of(ends.collect()).unwrap_or_default(), last)
}

/// The brackets behind which something in a value may look like a key. Lists and objects of JSON are taken as a whole, and where a marker stands before each
/// key, nothing behind a bracket looks like one.
fn brackets_in_values(argument: &Pairs) -> &'static [&'static str] {
    let is_marked = !argument.open.trim().is_empty();
    match argument.are_json() || is_marked || !ends_nowhere(argument) {
        true => &[],
        false => &["(", ")", "{", "}", "\\[", "\\]"],
    }
}

/// Returns true if nothing but white space stands between a key and a value.
fn is_apart(argument: &Pairs) -> bool {
    let mut around = argument.around().iter();
    around.any(|around| around.between.trim().is_empty())
}

/// Returns true if the key of an argument ends with its line, and nothing else stands between it and a value.
fn ends_with_line(argument: &Pairs) -> bool {
    let mut betweens = argument.around().iter().map(|around| &around.between);
    betweens.all(|between| between.trim().is_empty() && between.contains('\n'))
}

/// A pattern for what an argument begins with, up to its value, that captures nothing.
pub(super) fn beginning(argument: &Pairs, choices: &Choices) -> String {
    match argument.order {
        Order::KeyFirst => key_and_between(argument, keys(argument, choices)),
        Order::ValueFirst => value_first::beginning(argument),
    }
}

/// A pattern for the key of an argument, what stands before it, and the text up to its value.
fn key_and_between(argument: &Pairs, keys: Keys) -> String {
    let between: Vec<&str> = argument
        .value
        .iter()
        .map(|a| a.between.trim_end())
        .collect();
    let between = match between.iter().any(|between| between.is_empty()) {
        // Nothing but white space stands between a key and a value.
        true => "\\s".to_owned(),
        false => any_of(&between),
    };
    format!("{}{between}", key(argument, "(?:", keys))
}

/// A pattern for the beginning of an argument that begins with its name: the name, up to the text behind it; `None` where nothing but white space stands there.
pub(super) fn named_beginning(argument: &Pairs) -> Option<String> {
    let mut values = argument.value.iter();
    let is_marked = values.all(|around| !around.between.trim().is_empty());
    let is_first = argument.order == Order::KeyFirst;
    (is_marked && is_first).then(|| key_and_between(argument, Keys::BeforeSign))
}

/// A pattern for one argument.
fn pattern(argument: &Pairs, reading: Reading<'_>) -> String {
    let separator = argument.separator.trim();
    // A name has the separator's first character nowhere in it. A longer separator is taken as a whole, or the name would begin with the rest
    // of it: with `|,|>` behind the `<` of `<|,|>`.
    let separated = match separator.chars().count() {
        0 | 1 => String::new(),
        _ => format!("(?:{}\\s*)?", slot::pattern(separator)),
    };
    let key = key(argument, "(?P<key>", reading.keys);
    let next = key_and_between(argument, reading.keys);
    let spaced = match separator {
        "" => next.clone(),
        separator => format!("{}\\s*{next}", slot::pattern(separator)),
    };
    if let Close::SameWord(before, behind) = reading.close {
        let key = key.replacen(slot::ANY_WORD, SOME_WORD, 1);
        let between = argument.value.first().map_or("", |one| &one.between);
        let (between, lead) = split_space(between, Edge::End);
        let (before, trail) = split_space(before, Edge::Start);
        let close = [before, behind.trim_end()]
            .map(slot::pattern)
            .join(SAME_WORD);
        let end = format!("{}{close}", optional_space(trail));
        let value = value(&slot::pattern(between), lead, ".*?", &end);
        return format!("{separated}{key}{value}");
    }
    let mut pattern = format!("{separated}{key}{}", values(argument, &spaced, reading));
    if ends_nowhere(argument) {
        pattern.push_str(&reading.between.end(argument, &next, &spaced));
    }
    pattern
}

/// A pattern for the word with which an argument begins, and for that word again.
const SOME_WORD: &str = "(?P<word>\\w+)";
const SAME_WORD: &str = "(?P=word)";

/// A pattern for the value and the text around it. White space that the template writes around a value may be missing; all other white
/// space belongs to the value.
///
/// Where texts stand in quotes, these are taken as a part of the value, since they tell that it is a text. The quotes around a text that
/// has such a quote in it are not taken. Where nothing but white space closes some of the values, they end with their line, or else before
/// `next`, the beginning of another argument.
fn values(argument: &Pairs, next: &str, reading: Reading<'_>) -> String {
    let around = argument.value.as_slice();
    if let Style::Json {
        around: Around { between, close },
        ..
    } = &argument.style
    {
        let (between, lead) = split_space(between, Edge::End);
        let (close, trail) = split_space(close, Edge::Start);
        // A text of the value may have in it what closes the value, and a list or an object what looks like the next argument, or ends as
        // the value is closed: `{{"a": 1}}` is an object in braces.
        let any = match ends_nowhere(argument) || close.starts_with([']', '}', ',']) {
            true => Tokens::json().any(),
            false => Tokens::json().flat(),
        };
        return format!(
            "{}{}(?P<value>(?:{any})+?){}{}",
            slot::pattern(between),
            if between.is_empty() {
                "\\s+".to_owned()
            } else {
                optional_space(lead)
            },
            optional_space(trail),
            slot::pattern(close.trim_end())
        );
    }
    let quotes = match &argument.style {
        Style::Quoted(open, close) => Some((open, close)),
        _ => None,
    };
    let Some((first, others)) = around.split_first() else {
        return String::new();
    };
    if others.iter().all(|other| other.close == first.close) {
        let (_, lead) = split_space(&first.between, Edge::End);
        let between: Vec<&str> = around.iter().map(|a| a.between.trim_end()).collect();
        // White space that has to be there is told with what follows it.
        let close = match reading.between {
            Between::AsWritten | Between::Whole(_) if white_close(argument).is_some() => "",
            _ => first.close.as_str(),
        };
        return value(
            &any_of(&between),
            lead,
            ".*?",
            &reading.close.end(close, next),
        );
    }
    // Of two alternatives that begin alike the longer one is tried first.
    let mut around: Vec<&Around> = around.iter().collect();
    around.sort_by_key(|alternative| std::cmp::Reverse(alternative.between.trim_end().len()));
    let all = around.clone();
    around.retain(|one| !all.iter().any(|other| other.spaces_out(one)));
    let quoted = quotes.and_then(|(open, close)| {
        let between = first.between.strip_suffix(open.as_str())?;
        let [open, inner] = [open, close].map(|quote| text::escape(quote));
        let after = first.close.strip_prefix(close.as_str())?;
        Some(format!(
            "{}(?P<value>{open}(?:(?!{inner}).)*{inner}){}",
            slot::pattern(between),
            slot::pattern(after)
        ))
    });
    // A value that does not begin with a quote, such as a list, may have texts in it, and these may say anything.
    let any_quotes = argument.quotes().filter(|_| ends_nowhere(argument));
    let outside = any_quotes.and_then(|quotes| {
        let bare = around
            .iter()
            .find(|alternative| alternative.close.trim().is_empty())?;
        let (between, lead) = split_space(&bare.between, Edge::End);
        let any = Tokens::between(quotes.0.trim(), quotes.1.trim()).any();
        Some(format!(
            "{}{}(?!{})(?P<value>(?:{any})*?)",
            slot::pattern(between),
            optional_space(lead),
            text::escape(quotes.0.trim()),
        ))
    });
    // A text that begins the next argument needs no white space before it.
    let is_marked = !argument.separator.trim().is_empty()
        || argument.open.starts_with(|c: char| !c.is_whitespace());
    let gap = if is_marked { "\\s*" } else { BLANK };
    let alternatives = around.into_iter().map(|Around { between, close }| {
        let (between, lead) = split_space(between, Edge::End);
        let is_text = *close == first.close;
        let taken = match reading.are_others_whole && !is_text {
            true => format!("(?:{})*?", Tokens::json().any()),
            false => ".*?".to_owned(),
        };
        let end = reading.close.end(close, next);
        let value = value(&slot::pattern(between), lead, &taken, &end);
        match close.trim() {
            "" if ends_nowhere(argument) => value,
            "" if close.contains('\n') => format!("{value}(?=[^\\S\\n]*(?:\\n|\\Z))"),
            "" => format!("{value}(?={gap}{next}|\\s*\\Z)"),
            _ => value,
        }
    });
    let alternatives: Vec<String> = quoted
        .into_iter()
        .chain(outside)
        .chain(alternatives)
        .collect();
    format!("(?:{})", alternatives.join("|"))
}

/// A pattern for a value with what stands before it and `end` behind it, of which the pattern `taken` takes the characters.
fn value(between: &str, lead: &str, taken: &str, end: &str) -> String {
    let lead = optional_space(lead);
    format!("{between}{lead}(?P<value>{taken}){end}")
}

/// A pattern for any of the literals. If they differ in one word only, the words are the alternatives and the rest is written once.
fn any_of(literals: &[&str]) -> String {
    text::differing_words(literals)
        .map(|(before, words, after)| {
            let [before, after] = [before, after].map(slot::pattern);
            format!("{before}(?:{}){after}", words.join("|"))
        })
        .or_else(|| super::any_of(literals))
        .unwrap_or_default()
}

/// Which edge of a literal touches the value.
enum Edge {
    Start,
    End,
}

/// A literal and the white space at its edge.
fn split_space(literal: &str, edge: Edge) -> (&str, &str) {
    match edge {
        Edge::Start => (literal.trim_start(), text::leading(literal)),
        Edge::End => {
            let rest = literal.trim_end();
            (rest, &literal[rest.len()..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::read::unread::Unread;
    use crate::pattern::Pattern;

    fn around(between: &str, close: &str) -> Around {
        Around {
            between: between.to_owned(),
            close: close.to_owned(),
        }
    }

    /// The keys and values that are found in the text, where arguments are written with these texts around their values.
    fn found(style: Style, value: Vec<Around>, keys: Keys, text: &str) -> Vec<(String, String)> {
        let reading = Reading { keys, ..READING };
        found_so(" ", style, value, reading, text)
    }

    const READING: Reading<'_> = Reading {
        keys: Keys::BeforeSign,
        between: Between::AnySpace,
        are_others_whole: false,
        close: Close::AnySpace,
    };

    /// Those that are found where `open` stands before each argument, with this reading.
    fn found_so(
        open: &str,
        style: Style,
        value: Vec<Around>,
        reading: Reading<'_>,
        text: &str,
    ) -> Vec<(String, String)> {
        let argument = Pairs {
            open: open.to_owned(),
            order: Order::KeyFirst,
            value,
            separator: String::new(),
            name_quotes: None,
            style,
            unread: Unread::default(),
        };
        let pattern = Pattern::regex(&pattern(&argument, reading)).unwrap();
        let all = pattern.find_iter(text).map(|found| {
            let found = found.unwrap();
            let group = |name: &str| text[found.group(name).unwrap()].to_owned();
            (group("key"), group("value"))
        });
        all.collect()
    }

    fn pairs<const N: usize>(pairs: [(&str, &str); N]) -> Vec<(String, String)> {
        let pairs = pairs.into_iter();
        pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect()
    }

    #[test]
    fn an_object_in_braces_ends_with_the_second_of_two() {
        let json = |text: &str| {
            let style = Style::Json {
                around: around("={", "}"),
                is_whole: true,
            };
            found(style, vec![around("={", "}")], Keys::BeforeSign, text)
        };
        assert_eq!(
            json(r#"a={{"b": {"c": 1}}} d={"}"} e={[1]}"#),
            pairs([("a", r#"{"b": {"c": 1}}"#), ("d", r#""}""#), ("e", "[1]")])
        );
    }

    /// Texts stand in quotes, and only the line or the next argument ends what is none.
    #[test]
    fn values_that_nothing_closes_end_with_their_line_or_before_the_next() {
        let lines = vec![around(": «", "»\n"), around(": ", "\n")];
        let text = " a: 1\n b: «x\ny»\n c: [2]\n";
        let expected = pairs([("a", "1"), ("b", "x\ny"), ("c", "[2]")]);
        assert_eq!(found(Style::Text, lines, Keys::BeforeSign, text), expected);
        let apart = vec![around("=«", "»"), around("=", "")];
        let expected = pairs([("a", "1"), ("b", "x y"), ("c", "[2]")]);
        let text = " a=1 b=«x y» c=[2]";
        assert_eq!(found(Style::Text, apart, Keys::BeforeSign, text), expected);
    }

    #[test]
    fn a_name_before_the_shorter_of_two_markers_has_no_white_space_at_its_end() {
        let either = |text: &str| {
            let value = vec![around(" => '", "',"), around(" => ", ",")];
            found(Style::Text, value, Keys::BeforeMarker, text)
        };
        assert_eq!(
            either("a[] => 'b', c d => 2,"),
            pairs([("a[]", "b"), ("c d", "2")])
        );
    }

    /// Each argument has its line, and a text may end with a line feed, or have the like of an argument in it.
    #[test]
    fn a_line_feed_that_closes_a_value_has_to_be_there() {
        let lines = |between, text: &str| {
            let value = vec![around("=", "\n")];
            let reading = Reading { between, ..READING };
            found_so("- ", Style::Text, value, reading, text)
        };
        let text = "- a=x - c=y\n\n- b= all\n\n";
        let whole = pairs([("a", "x - c=y\n"), ("b", " all\n")]);
        assert_eq!(lines(Between::Whole(""), text), whole);
        let unended = lines(Between::Whole(""), "- a=x\n- b=y");
        assert_eq!(unended, pairs([("a", "x"), ("b", "y")]));
        let written = pairs([("a", "x - c=y\n"), ("b", " all")]);
        assert_eq!(lines(Between::AsWritten, text), written);
    }

    /// Texts stand in quotes, and a comma begins every argument.
    #[test]
    fn a_value_that_nothing_closes_ends_where_a_text_begins_the_next_argument() {
        let value = vec![around(": «", "»"), around(": ", "")];
        let text = ",\na: 1,\nb: «x,\nc: 2»,\nd: [3]";
        let found = found_so(",\n", Style::Text, value, READING, text);
        let expected = pairs([("a", "1"), ("b", "x,\nc: 2"), ("d", "[3]")]);
        assert_eq!(found, expected);
    }

    #[test]
    fn a_word_before_a_name_stands_apart_from_it() {
        let set = |text: &str| {
            let value = vec![around("=", ";")];
            found_so("set ", Style::Text, value, READING, text)
        };
        assert_eq!(set("set a=1;set\nb=2;"), pairs([("a", "1"), ("b", "2")]));
        assert_eq!(set("settle=1;"), []);
    }

    #[test]
    fn a_value_may_have_in_it_what_closes_it_where_nothing_follows_that() {
        let quoted = |close, text: &str| {
            let value = vec![around("=<<", ">>\n")];
            let reading = Reading { close, ..READING };
            found_so("- ", Style::Text, value, reading, text)
        };
        let text = "- a=<<b >> c>>>\n- d=<<e>>>";
        let whole = pairs([("a", "b >> c>"), ("d", "e>")]);
        assert_eq!(quoted(Close::BeforeNext, text), whole);
        let first = pairs([("a", "b "), ("d", "e")]);
        assert_eq!(quoted(Close::AnySpace, text), first);
        let spaced = |close, text: &str| {
            let value = vec![around(":", "\nend\n")];
            let reading = Reading { close, ..READING };
            found_so("- ", Style::Text, value, reading, text)
        };
        let weekend = spaced(Close::WithSpace, "- a:weekend\nend\n");
        assert_eq!(weekend, pairs([("a", "weekend")]));
        let week = spaced(Close::AnySpace, "- a:weekend\nend\n");
        assert_eq!(week, pairs([("a", "week")]));
    }

    /// The word with which an argument begins closes it as well, on a line of its own.
    #[test]
    fn a_value_may_be_closed_by_the_word_that_opens_it() {
        let typed = |close| {
            let value = ["text", "json"].map(|word| around(" ", &format!("\n</{word}>\n")));
            let reading = Reading { close, ..READING };
            let text = "<json c 1\n</json>\n<text a b </json>\n</text>\n";
            let open = format!("<{} ", slot::WORD);
            found_so(&open, Style::Text, value.to_vec(), reading, text)
        };
        let same = typed(Close::SameWord("\n</", ">\n"));
        assert_eq!(same, pairs([("c", "1"), ("a", "b </json>")]));
        let any = pairs([("c", "1\n</json>\n<text a b </json>")]);
        assert_eq!(typed(Close::AnySpace), any);
    }

    #[test]
    fn literals_that_differ_in_a_word_share_the_rest() {
        let types = [
            "\" type=\"string\">",
            "\" type=\"strings\">",
            "\" type=\"null\">",
        ];
        assert_eq!(any_of(&types), r#""\s*type="(?:string|strings|null)">"#);
        assert_eq!(any_of(&["\">", "\"><["]), r#"(?:">|"><\[)"#);
        assert_eq!(any_of(&["<a>", "<a>"]), "(?:<a>|<a>)");
        assert_eq!(any_of(&["<a>"]), "<a>");
        assert_eq!(any_of(&[]), "");
    }
}
