//! Delimiters that count only where they begin in all renders: at the beginning of a line or of the response, on a line of their own, with the markers before them that may be missing, and
//! behind the marker of the section that they stand in.
//!
//! Models vary what stands before a marker. They write a call behind a sentence and on its line, and leave out the marker of the section that calls stand in. So a delimiter is
//! found anywhere, and markers before it may be missing. What is left may then be a text of every day: `$` within a line, or `"args": [` in a file of settings.

use super::places::Place;
use crate::derive::compare::pattern::{
    SPACE, UP_TO_TWICE, alternatives, either_of, enclosed, optional_parts,
};
use crate::derive::compare::text::{self, is_part_of_word};
use crate::pattern::Pattern;

/// The condition that a line begins.
const LINE: &str = "(?<![^\\n])";

/// The condition that a line ends, or the response.
const LINE_ENDS: &str = "(?=[^\\S\\n]*(?:\\n|\\Z))";

/// The condition that the response has begun with nothing but white space.
const RESPONSE: &str = "\\A\\s*";

/// Returns the pattern with each of the conditions that all of these places meet, with the condition in words. Those that ask for less come first.
pub(super) fn stricter(source: &str, places: &[Place<'_>]) -> Vec<(String, &'static str)> {
    let taken: Vec<&Place<'_>> = places
        .iter()
        .filter(|place| !place.span.is_empty())
        .collect();
    if taken.is_empty() {
        return Vec::new();
    }
    let mut all = Vec::new();
    if taken
        .iter()
        .map(|place| text_before(place))
        .all(begins_line)
    {
        let pattern = changed(source, |way| {
            let own = way.strip_prefix(SPACE);
            let space = own.map_or("", |_| SPACE);
            format!("{space}{LINE}{}", own.unwrap_or(way))
        });
        all.push((pattern, "where a line begins"));
        if taken.iter().all(|place| ends_line(place)) {
            all.push((on_its_line(source), ON_ITS_LINE));
        }
    }
    if taken
        .iter()
        .map(|place| text_before(place))
        .all(|text| text.trim().is_empty())
    {
        let pattern = changed(source, |way| {
            format!("{RESPONSE}{}", way.strip_prefix(SPACE).unwrap_or(way))
        });
        all.push((pattern, "where the response begins"));
    }
    let optional = alternatives(source)
        .iter()
        .map(|way| optional_groups(way).len())
        .max()
        .unwrap_or(0);
    for required in (0..optional).rev() {
        let pattern = changed(source, |way| with_groups(way, required));
        all.push((pattern, "with the marker before it that models leave out"));
    }
    if optional > 1 {
        let pattern = changed(source, |way| {
            let numbers = (0..optional).rev();
            numbers.fold(way.to_owned(), |way, number| with_groups(&way, number))
        });
        all.push((pattern, "with the markers before it that models leave out"));
    }
    if let Some(pattern) = behind_its_like(source, &taken) {
        all.push((pattern, "behind the marker of its section, or another call"));
    }
    // Of several calls only the first stands right behind the marker of their section.
    let pattern = changed(source, |way| match first_marker(way) {
        Some(marker) => format!("{way}(?<={marker}.*)"),
        None => way.to_owned(),
    });
    all.push((pattern, "behind the marker of its section"));
    all.retain(|(pattern, _)| pattern != source);
    all
}

/// Returns the pattern for a word that closes a field, where it counts only on a line of its own, with the condition in words; `None` where it is no word, or stands within a line as
/// well.
pub(super) fn word_on_its_line(
    source: &str,
    places: &[Place<'_>],
) -> Option<(String, &'static str)> {
    let mut taken = places
        .iter()
        .filter(|place| !place.span.is_empty())
        .peekable();
    taken.peek()?;
    let is_word = |place: &Place<'_>| {
        let own = place.response[place.span.clone()].trim();
        let mut characters = own.chars();
        characters.all(|c| c == ' ' || is_part_of_word(c))
    };
    let is_alone =
        taken.all(|place| is_word(place) && begins_line(text_before(place)) && ends_line(place));
    let pattern = on_its_line(source);
    (is_alone && pattern != source).then_some((pattern, ON_ITS_LINE))
}

/// The condition in words.
const ON_ITS_LINE: &str = "on a line of its own";

/// The pattern with the condition that a line begins before it and ends behind it.
fn on_its_line(source: &str) -> String {
    changed(source, |way| {
        // What only looks around has a place of its own.
        if way.starts_with("(?<=") {
            return way.to_owned();
        }
        let own = way.strip_prefix(SPACE);
        let space = own.map_or("", |_| SPACE);
        let own = own.unwrap_or(way);
        let (own, behind) = match own.strip_suffix(SPACE) {
            Some(own) => (own, SPACE),
            None => (own, ""),
        };
        format!("{space}{LINE}{own}{LINE_ENDS}{behind}")
    })
}

/// Returns true if a line begins behind the text.
fn begins_line(text: &str) -> bool {
    text.is_empty() || text.ends_with('\n')
}

/// Returns the marker at the beginning of a pattern that is missing in some places: `<c>` in `(?:<c>\\s*)?f` and in `(?:<c>|(?<=\\}),)f`.
fn first_marker(way: &str) -> Option<String> {
    let own = without_conditions(way);
    let mut ends = own.match_indices(')').map(|(at, _)| &own[..at + 1]);
    let group = ends.find(|group| enclosed(group, "(?:").is_some())?;
    let behind = &own[group.len()..];
    let is_missing = behind.starts_with('?') || behind.starts_with(UP_TO_TWICE);
    let ways = alternatives(group);
    let first = ways.first().filter(|_| is_missing || ways.len() > 1)?;
    let mut marker = first.as_str();
    while let Some(shorter) = marker.strip_suffix(SPACE) {
        marker = shorter;
    }
    (!marker.is_empty() && !marker.contains("(?")).then(|| marker.to_owned())
}

/// Returns the pattern in which the first group may be missing only behind what closes the call before, and behind that group somewhere:
/// `(?:\\[\\s*|(?<=\\}\\s{0,64},?\\s{0,64}))\\{(?<=\\[.*)` for `(?:\\[\\s*)?\\{`. `None` where it is missing elsewhere, or calls are closed by words. The last character
/// of several may be missing, as what parts calls may.
fn behind_its_like(source: &str, places: &[&Place<'_>]) -> Option<String> {
    let [way] = alternatives(source).try_into().ok()?;
    let way: String = way;
    let group = *optional_groups(&way).first()?;
    let section = first_marker(&way)?;
    let (start, _) = way.split_once(group)?;
    let required = required(group)?;
    let marker = Pattern::regex(&format!("\\A\\s*{required}")).ok()?;
    let is_marked = |place: &&&Place<'_>| {
        let own = &place.response[place.span.clone()];
        matches!(marker.search(own, 0), Ok(Some(_)))
    };
    let mut closes: Vec<Vec<char>> = Vec::new();
    for place in places.iter().filter(|place| !is_marked(place)) {
        let signs: Vec<char> = place.last.chars().filter(|c| !c.is_whitespace()).collect();
        let is_behind = place.free_from == place.span.start && !signs.is_empty();
        if !is_behind || signs.iter().any(|c| is_part_of_word(*c)) {
            return None;
        }
        if !closes.contains(&signs) {
            closes.push(signs);
        }
    }
    let [close] = closes.as_slice() else {
        return None;
    };
    let behind = close.iter().enumerate().map(|(at, sign)| {
        let is_last = at > 0 && at + 1 == close.len();
        let maybe = if is_last { "?" } else { "" };
        format!("{}{maybe}\\s{{0,64}}", text::escape(&sign.to_string()))
    });
    let behind: String = behind.collect();
    let rest = &way[start.len() + group.len()..];
    Some(format!(
        "{start}(?:{required}|(?<={behind})){rest}(?<={section}.*)"
    ))
}

/// Returns true if nothing but white space follows the delimiter in its line.
fn ends_line(place: &Place<'_>) -> bool {
    let own = place.response[place.span.clone()].trim_end();
    let behind = &place.response[place.span.start + own.len()..];
    behind.lines().next().unwrap_or_default().trim().is_empty()
}

/// The response up to the delimiter, without the white space that the delimiter begins with.
fn text_before<'c>(place: &Place<'c>) -> &'c str {
    let own = &place.response[place.span.clone()];
    &place.response[..place.span.end - own.trim_start().len()]
}

/// The pattern with each of its ways changed that does not only look ahead.
fn changed(source: &str, change: impl Fn(&str) -> String) -> String {
    let ways = alternatives(source).into_iter();
    let ways = ways.map(|way| match way.starts_with("(?=") {
        true => way,
        false => change(&way),
    });
    either_of(ways.collect()).unwrap_or_default()
}

/// The pattern without the white space and the condition that a line begins before it.
fn without_conditions(way: &str) -> &str {
    let own = way.strip_prefix(SPACE).unwrap_or(way);
    own.strip_prefix(LINE).unwrap_or(own)
}

/// Returns the group without the quantifier by which it may be missing.
fn required(group: &str) -> Option<String> {
    match group.strip_suffix(UP_TO_TWICE) {
        Some(group) => Some(format!("{group}{{1,2}}")),
        None => group.strip_suffix('?').map(str::to_owned),
    }
}

/// The groups at the beginning of a pattern that may be missing, each with its quantifier.
fn optional_groups(way: &str) -> Vec<&str> {
    optional_parts(without_conditions(way))
}

/// The pattern in which the group of that number may not be missing, of those at its beginning that may.
fn with_groups(way: &str, number: usize) -> String {
    let groups = optional_groups(way);
    let Some(group) = groups.get(number) else {
        return way.to_owned();
    };
    let start = way.len() - without_conditions(way).len();
    let at = start
        + groups[..number]
            .iter()
            .map(|group| group.len())
            .sum::<usize>();
    let Some(required) = required(group) else {
        return way.to_owned();
    };
    format!("{}{required}{}", &way[..at], &way[at + group.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::narrow::places::at_texts;

    fn asked(source: &str, places: &[(&'static str, &str)]) -> Vec<String> {
        let places = at_texts(places);
        let stricter = stricter(source, &places).into_iter();
        stricter.map(|(pattern, _)| pattern).collect()
    }

    #[test]
    fn a_line_or_the_response_is_asked_for_where_it_always_begins_there() {
        let found = asked("\\s*GO\\s*", &[("so\nGO\n", "\nGO\n"), ("GO", "GO")]);
        let expected = [
            "\\s*(?<![^\\n])GO\\s*",
            "\\s*(?<![^\\n])GO(?=[^\\S\\n]*(?:\\n|\\Z))\\s*",
        ];
        assert_eq!(found, expected);
        let found = asked("\\s*\\$\\s*", &[("so\n$ run", "\n$ "), ("$ run", "$ ")]);
        assert_eq!(found, ["\\s*(?<![^\\n])\\$\\s*"]);
        let found = asked("(?:<a>|(?=b))", &[("\n<a>", "<a>"), ("<a>", "<a>")]);
        let expected = [
            "(?:(?<![^\\n])<a>|(?=b))",
            "(?:(?<![^\\n])<a>(?=[^\\S\\n]*(?:\\n|\\Z))|(?=b))",
            "(?:\\A\\s*<a>|(?=b))",
        ];
        assert_eq!(found, expected);
        assert!(asked("<a>", &[("so <a>", "<a>"), ("\n<a>", "<a>")]).is_empty());
        assert!(asked("<a>", &[]).is_empty());
    }

    #[test]
    fn a_word_that_closes_a_field_is_asked_for_on_its_line() {
        let found = |places: &[(&'static str, &str)]| {
            word_on_its_line("\\bGO\\b\\s*", &at_texts(places)).map(|(pattern, _)| pattern)
        };
        let expected = "(?<![^\\n])\\bGO\\b(?=[^\\S\\n]*(?:\\n|\\Z))\\s*";
        assert_eq!(
            found(&[("so\nGO\n", "GO\n"), ("so\nGO", "GO")]).as_deref(),
            Some(expected)
        );
        assert_eq!(found(&[("so GO\n", "GO\n")]), None);
        assert_eq!(found(&[("so\nGO on", "GO ")]), None);
        assert_eq!(found(&[("so\n<GO>\n", "<GO>\n")]), None);
    }

    #[test]
    fn a_marker_that_may_be_missing_is_asked_for() {
        let source = "(?:<c>\\[\\s*)?(?:(?:\\{)?n:\\s*)?\"(?P<name>a)";
        let found = asked(source, &[("so \"a", "\"a")]);
        let expected = [
            "(?:<c>\\[\\s*)?(?:(?:\\{)?n:\\s*)\"(?P<name>a)",
            "(?:<c>\\[\\s*)(?:(?:\\{)?n:\\s*)?\"(?P<name>a)",
            "(?:<c>\\[\\s*)(?:(?:\\{)?n:\\s*)\"(?P<name>a)",
            "(?:<c>\\[\\s*)?(?:(?:\\{)?n:\\s*)?\"(?P<name>a)(?<=<c>\\[.*)",
        ];
        assert_eq!(found, expected);
        let found = asked(
            "(?:<c>|(?<=\\})---)a",
            &[("<c>a", "<c>a"), ("}---a", "---a")],
        );
        assert_eq!(found, ["(?:<c>|(?<=\\})---)a(?<=<c>.*)"]);
    }

    #[test]
    fn what_parts_calls_may_stand_for_the_marker_of_their_list() {
        assert_eq!(
            first_marker("(?<![^\\n])(?:<c>\\s*)?a").as_deref(),
            Some("<c>")
        );
        let source = "(?:\\[\\s*)?<";
        let mut places = at_texts(&[("so [<", "[<"), ("(a)}, <", "<"), ("[b]}, <", "<")]);
        let found =
            |places: &[Place<'_>]| behind_its_like(source, &places.iter().collect::<Vec<_>>());
        assert_eq!(found(&places), None);
        for place in &mut places[1..] {
            place.free_from = place.span.start;
            place.last = "}, ";
        }
        let expected = "(?:(?:\\[\\s*)|(?<=\\}\\s{0,64},?\\s{0,64}))<(?<=\\[.*)";
        assert_eq!(found(&places).as_deref(), Some(expected));
        places[1].last = "}";
        assert_eq!(found(&places), None);
        places[2].last = "}";
        let expected = "(?:(?:\\[\\s*)|(?<=\\}\\s{0,64}))<(?<=\\[.*)";
        assert_eq!(found(&places).as_deref(), Some(expected));
    }
}
