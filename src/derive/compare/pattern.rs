//! The sources of patterns, as far as they are taken apart to write other patterns with them.
//!
//! What opens a region may be looked for ahead in another pattern, or behind, where nothing can be captured: `<call (?P<name>\w+)>` is
//! written `<call (?:\w+)>` there. A pattern is walked over as far as its groups, classes and escapes go; nothing else of its syntax has to be
//! known for that.

use crate::response_template::strict::split_group;

/// Any white space, as derived patterns write it.
pub(in crate::derive) const SPACE: &str = "\\s*";

/// How much white space a pattern that looks back sees at most. With a bound a parser can forget the text before it.
const MAX_SPACE: usize = 4;

/// How many characters of a name, a key or anything else that is repeated a pattern that looks back sees at most.
pub(in crate::derive) const MAX_RUN: usize = 64;

/// How a named group begins.
pub(in crate::derive) const NAMED: &str = "(?P<";

/// How deep within groups a place of a pattern is.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::derive) struct Depth {
    pub(in crate::derive) all: usize,
    /// How many of the groups look ahead or behind.
    pub(in crate::derive) looking: usize,
}

/// The byte at which a text of a pattern begins, the last time that it stands in no group; `None` where it does not.
pub(in crate::derive) fn outside_groups(source: &str, text: &str) -> Option<usize> {
    let mut last = None;
    walk(source, |at, depth| {
        if depth.all == 0 && source[at..].starts_with(text) {
            last = Some(at);
        }
    });
    last
}

/// Calls `visit` for each item of a pattern that stands in no class, with its byte and how deep it is. A class is one item, and so is an
/// escape: `a\|[|]` has three.
pub(in crate::derive) fn walk(source: &str, mut visit: impl FnMut(usize, Depth)) {
    // For each group that is open, whether it looks ahead or behind.
    let mut groups: Vec<bool> = Vec::new();
    let mut chars = source.char_indices().peekable();
    let mut in_class = false;
    while let Some((at, c)) = chars.next() {
        if !in_class {
            let looking = groups.iter().filter(|looks| **looks).count();
            let all = groups.len();
            visit(at, Depth { all, looking });
        }
        match c {
            '\\' => {
                chars.next();
            }
            '[' if !in_class => {
                in_class = true;
                // A bracket that comes first is one of the characters.
                let _ = chars.next_if(|(_, c)| *c == '^');
                let _ = chars.next_if(|(_, c)| *c == ']');
            }
            ']' if in_class => in_class = false,
            '(' if !in_class => {
                let rest = &source[at..];
                let looks = ["(?=", "(?!", "(?<=", "(?<!"];
                groups.push(looks.iter().any(|one| rest.starts_with(one)));
            }
            ')' if !in_class => {
                groups.pop();
            }
            _ => {}
        }
    }
}

/// The items of a pattern, each with its text and how deep within groups it is.
fn items(source: &str) -> Vec<(&str, Depth)> {
    let mut starts = Vec::new();
    walk(source, |at, depth| starts.push((at, depth)));
    let ends = starts.iter().skip(1).map(|(at, _)| *at);
    let ends = ends.chain([source.len()]);
    let items = starts.iter().zip(ends);
    items
        .map(|((start, depth), end)| (&source[*start..end], *depth))
        .collect()
}

/// Returns true if the pattern is one of several alternatives, outside of all groups.
pub(in crate::derive) fn has_alternatives(source: &str) -> bool {
    let items = items(source);
    items
        .iter()
        .any(|(item, depth)| *item == "|" && depth.all == 0)
}

/// Returns true if a part of the pattern looks ahead or behind.
pub(in crate::derive) fn looks_around(source: &str) -> bool {
    let mut looks = false;
    walk(source, |_, depth| looks |= depth.looking > 0);
    looks
}

/// The pattern in two: all of it, and the look-ahead that captures an id and nothing else with what is behind it, which is empty where there is none. `<c>(?=.*#(?P<id>\\d))` is
/// `<c>` and the rest.
pub(in crate::derive) fn split_id_ahead(source: &str) -> (&str, &str) {
    let mut begins = source.match_indices("(?=").map(|(at, _)| at);
    let at = begins.find(|at| {
        let ahead = enclosed(&source[*at..], "(?=");
        ahead.is_some_and(|ahead| ahead.contains("(?P<id>") && ahead.matches(NAMED).count() == 1)
    });
    source.split_at(at.unwrap_or(source.len()))
}

/// The pattern without what it only looks for, ahead or behind: `a(?=b)c` becomes `a(?:)c`. It has all that a match takes.
pub(in crate::derive) fn takes(source: &str) -> String {
    let mut at = 0;
    let mut taken = String::new();
    for (item, depth) in items(source) {
        let looks = ["(?=", "(?!", "(?<=", "(?<!"];
        let begins_look = looks.iter().any(|look| source[at..].starts_with(look));
        at += item.len();
        if depth.looking == 0 {
            taken.push_str(if begins_look { "(?:)" } else { item });
        }
    }
    taken
}

/// The pattern as one part of a longer one.
pub(in crate::derive) fn grouped(source: &str) -> String {
    match has_alternatives(source) {
        true => format!("(?:{source})"),
        false => source.to_owned(),
    }
}

/// The pattern without named groups, for a place where nothing can be captured; `None` where it refers to a group.
pub(in crate::derive) fn without_captures(source: &str) -> Option<String> {
    let refers = source.contains("(?P=") || source.contains("\\1");
    (!refers).then(|| {
        let mut rest = source;
        let mut without = String::new();
        while let Some((before, behind)) = rest.split_once(NAMED) {
            without.push_str(before);
            without.push_str("(?:");
            rest = behind.split_once('>').map_or("", |(_, rest)| rest);
        }
        without.push_str(rest);
        grouped(&without)
    })
}

/// The pattern with the group itself in the place of each reference to it, so that it asks for less: `(?P<n>\w)=(?P=n)` becomes
/// `(?P<n>\w)=(?:\w)`. The groups are those of `whole`, of which the pattern is a part. Returns `None` where one of them is not there.
pub(in crate::derive) fn without_references(source: &str, whole: &str) -> Option<String> {
    let mut without = String::new();
    let mut rest = source;
    while let Some((before, behind)) = rest.split_once("(?P=") {
        let (name, behind) = behind.split_once(')')?;
        without.push_str(before);
        let (_, within, _) = split_group(whole, name)?;
        without.push_str(&format!("(?:{within})"));
        rest = behind;
    }
    without.push_str(rest);
    Some(without)
}

/// Returns a pattern that matches the same, with an empty group of that name before it; `None` where no group may be called so, or where
/// the pattern refers to a group by its number, which the new one would change.
///
/// Models leave out members that their chat templates ask for, and a transform that names what is not there fails, so that all calls of a
/// list would be lost. In its scope the members of a call stand over the groups of the pattern that opened the list (`process_field` of
/// transformers), so the group counts for the calls without that member alone, which get an empty one: `[{"name": "f", "arguments": {}}]`
/// where `, "id": "..."` is expected.
pub(in crate::derive) fn with_absent(source: &str, name: &str) -> Option<String> {
    let is_first = |sign: char| sign.is_ascii_alphabetic() || sign == '_';
    let mut signs = name.chars();
    let is_name = signs.next().is_some_and(is_first)
        && signs.all(|sign| is_first(sign) || sign.is_ascii_digit());
    let refers = source.contains("\\1");
    (is_name && !refers).then(|| format!("{NAMED}{name}>){}", grouped(source)))
}

/// The pattern with another one within the first group of that name; `None` where there is none: `<(?P<n>[^>]+)>` becomes `<(?P<n>\w+)>`.
pub(in crate::derive) fn with_group(source: &str, name: &str, inner: &str) -> Option<String> {
    let (before, _, behind) = split_group(source, name)?;
    Some(format!("{before}{NAMED}{name}>{inner}){behind}"))
}

/// The pattern without captures, white space at its ends and the alternatives that look around; `None` where nothing is left: `(?:<(?P<n>a)>\s*|(?=b))` becomes
/// `<(?:a)>`.
pub(in crate::derive) fn plain(source: &str) -> Option<String> {
    let source = without_captures(&without_references(source, source)?)?;
    let ways = alternatives(&source).into_iter();
    let ways = ways.filter(|way| !looks_around(way)).map(|way| {
        let way = way.strip_suffix(SPACE).unwrap_or(&way);
        let way = way.strip_prefix(SPACE).unwrap_or(way);
        way.to_owned()
    });
    let ways: Vec<String> = ways.filter(|way| !way.is_empty()).collect();
    (!ways.is_empty()).then(|| grouped(&ways.join("|")))
}

/// Returns the rest of the pattern behind each group of that name: `(?:<(?P<v>a)>|(?P<v>b));` has `>;` and `;`. Returns `None`
/// where such a group, or one around it, is repeated or may be missing.
pub(in crate::derive) fn behind_groups(source: &str, name: &str) -> Option<Vec<String>> {
    let opener = format!("{NAMED}{name}>");
    let starts = source.match_indices(&opener).map(|(at, _)| at);
    starts.map(|start| behind_group(source, start)).collect()
}

/// Returns the rest of the pattern behind the group that begins at this byte.
fn behind_group(source: &str, start: usize) -> Option<String> {
    let mut level = None;
    walk(source, |at, depth| {
        if at == start {
            level = Some(depth.all);
        }
    });
    let mut level = level?;
    let (mut at, mut is_within, mut is_passed) = (0, true, false);
    let mut was_closed = false;
    let mut behind = String::new();
    for (text, Depth { all: depth, .. }) in items(source) {
        let from = at;
        at += text.len();
        if from <= start {
            continue;
        }
        if is_within {
            is_within = (text, depth) != (")", level + 1);
            was_closed = !is_within;
            continue;
        }
        if was_closed && ["?", "*", "+", "{"].contains(&text) {
            return None;
        }
        was_closed = false;
        match text {
            "|" if depth == level => is_passed = true,
            ")" if depth == level => {
                (is_passed, was_closed) = (false, true);
                level = level.checked_sub(1)?;
            }
            _ if !is_passed => behind.push_str(text),
            _ => {}
        }
    }
    Some(behind)
}

/// A pattern for what any of the patterns matches; `None` for none.
pub(in crate::derive) fn either_of(patterns: Vec<String>) -> Option<String> {
    match patterns.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => Some(format!("(?:{})", several.join("|"))),
    }
}

/// The alternatives of a pattern, also of one that stands in a group as a whole: `(?:a|b)` has `a` and `b`, and `ab` has itself.
pub(in crate::derive) fn alternatives(source: &str) -> Vec<String> {
    let source = enclosed(source, "(?:").unwrap_or(source);
    let mut all = vec![String::new()];
    for (text, depth) in items(source) {
        match (text, depth.all) {
            ("|", 0) => all.push(String::new()),
            _ => all
                .last_mut()
                .into_iter()
                .for_each(|last| last.push_str(text)),
        }
    }
    all
}

/// Returns the pattern within a group of that sort which is the whole pattern: `a` in `(?=a)`; `None` for `(?=a)b`.
pub(in crate::derive) fn enclosed<'p>(source: &'p str, opener: &str) -> Option<&'p str> {
    let inner = source.strip_prefix(opener)?.strip_suffix(')')?;
    let mut closed = Vec::new();
    walk(source, |at, depth| {
        if depth.all == 1 && source[at..].starts_with(')') {
            closed.push(at);
        }
    });
    (closed == [source.len() - 1]).then_some(inner)
}

/// How a part is repeated that may be missing and may be written twice.
pub(in crate::derive) const UP_TO_TWICE: &str = "{0,2}";

/// A pattern as what may be missing at its beginning, and the rest: `(?:a)?(?:b|c)?d` is `(?:a)?(?:b|c)?` and `d`.
pub(in crate::derive) fn optional_beginning(source: &str) -> (&str, &str) {
    let parts = optional_parts(source).into_iter();
    source.split_at(parts.map(str::len).sum())
}

/// Returns the groups at the beginning of a pattern that may be missing, each with how it is repeated. A group of a name that is empty is the first of
/// them: it takes nothing, and is there for the name alone.
pub(in crate::derive) fn optional_parts(source: &str) -> Vec<&str> {
    let named = source.starts_with("(?P<").then(|| source.find(">)"));
    let (named, source) = match named.flatten() {
        Some(at) if !source[..at].contains(')') => source.split_at(at + ">)".len()),
        _ => ("", source),
    };
    let (mut at, mut end) = (0, 0);
    let (mut is_first, mut was_closed) = (true, false);
    let mut parts = Vec::new();
    parts.extend((!named.is_empty()).then_some(named));
    for (text, Depth { all: depth, .. }) in items(source) {
        let repeated = ["?", UP_TO_TWICE].into_iter();
        let mut repeated = repeated.filter(|one| was_closed && source[at..].starts_with(one));
        match (text, repeated.next()) {
            _ if at < end => {}
            (_, Some(repeated)) => {
                let next = at + repeated.len();
                parts.push(&source[end..next]);
                end = next;
            }
            // Whatever else stands outside of groups has to be there.
            ("(", _) if depth == 0 && (is_first || end == at) => {}
            _ if depth == 0 => break,
            _ => {}
        }
        (is_first, was_closed) = (false, (text, depth) == (")", 1));
        at += text.len();
    }
    parts
}

/// Returns true if the pattern stands for one text, in which nothing but white space may vary: `<a\s*b>`, and not `<\w>`.
pub(in crate::derive) fn is_constant(source: &str) -> bool {
    let mut last = "";
    items(source).into_iter().all(|(text, _)| {
        let is_space = std::mem::replace(&mut last, text) == "\\s";
        let is_one = match text.strip_prefix('\\') {
            Some(escaped) => escaped == "s" || !escaped.starts_with(char::is_alphanumeric),
            None => !text.starts_with(['[', '(', ')', '|', '.', '?', '{', '^', '$']),
        };
        is_one && (is_space || !["*", "+"].contains(&text))
    })
}

/// Returns the pattern with a group that is its last part, and in which the text may end, as one that is missing or stands there whole: `a(?:b|b?\Z)` becomes
/// `a(?:b)?`. Returns `None` where it has no such group.
pub(in crate::derive) fn whole_or_missing(source: &str) -> Option<String> {
    let source = source.strip_suffix(SPACE).unwrap_or(source);
    let source = source.strip_suffix('?').unwrap_or(source);
    let mut start = None;
    walk(source, |at, depth| {
        if depth.all == 0 && source[at..].starts_with("(?:") {
            start = Some(at);
        }
    });
    let (before, group) = source.split_at(start?);
    let mut ways = alternatives(enclosed(group, "(?:")?);
    ways.retain(|way| !way.contains("\\Z"));
    let is_whole = !ways.is_empty() && !before.contains("\\Z") && !before.is_empty();
    is_whole.then(|| format!("{before}(?:{})?", ways.join("|")))
}

/// The pattern with a bound on each repetition, so that what looks back with it sees no more than so much: `\s*<\w+>` becomes
/// `\s{0,4}<\w{1,64}>`.
pub(in crate::derive) fn bounded(source: &str) -> String {
    bounded_by(source, MAX_SPACE, MAX_RUN)
}

/// As [`bounded`], with these bounds on white space and on other repetitions.
pub(in crate::derive) fn bounded_by(source: &str, of_space: usize, of_others: usize) -> String {
    let mut bounded = String::new();
    let mut last = "";
    for (text, _) in items(source) {
        let is_repeated_already = ["*", "+", "?", "}", "("].contains(&last) || last.is_empty();
        let most = match last {
            "\\s" => of_space,
            _ => of_others,
        };
        match text {
            "*" if !is_repeated_already => bounded.push_str(&format!("{{0,{most}}}")),
            "+" if !is_repeated_already => bounded.push_str(&format!("{{1,{most}}}")),
            _ => bounded.push_str(text),
        }
        last = text;
    }
    bounded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_stand_outside_of_groups() {
        assert!(has_alternatives("a|b"));
        assert!(!has_alternatives("(?:a|b)[|]\\|"));
        assert!(!has_alternatives("[]|][^]|]"));
        assert!(looks_around("a(?<!b)"));
        assert!(!looks_around("(?:a)[(?=b)]"));
        for (pattern, expected) in [
            (r"<\|end\|>", r"<\|end\|>"),
            ("a|b", "(?:a|b)"),
            ("(?:a|b)", "(?:a|b)"),
            ("(?:a)|(?:b)", "(?:(?:a)|(?:b))"),
            ("[a|b]", "[a|b]"),
        ] {
            assert_eq!(grouped(pattern), expected, "{pattern}");
        }
    }

    #[test]
    fn captures_are_left_out_of_what_is_looked_for() {
        let without = |source| without_captures(source);
        assert_eq!(without("<(?P<name>a)>").as_deref(), Some("<(?:a)>"));
        assert_eq!(without("a|b").as_deref(), Some("(?:a|b)"));
        assert_eq!(without("(?P<k>a)(?P=k)"), None);
    }

    #[test]
    fn a_reference_is_written_as_the_group_that_it_refers_to() {
        let whole = "<(?P<k>[^)>](?:a|b)\\))>(?P<v>.*?)</(?P=k)>";
        let without = without_references("</(?P=k)>", whole);
        assert_eq!(without.as_deref(), Some("</(?:[^)>](?:a|b)\\))>"));
        assert_eq!(without_references("a", "").as_deref(), Some("a"));
        assert_eq!(without_references("(?P=x)", whole), None);
    }

    #[test]
    fn what_is_plain_matches_a_text_and_captures_nothing() {
        for (source, expected) in [
            (r"(?:<(?P<n>a)>\s*|(?=b))", Some("<(?:a)>")),
            (r"\s*a\s*|b(?=c)|d", Some("(?:a|d)")),
            (r"(?=a)|\s*", None),
        ] {
            assert_eq!(plain(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn what_stands_behind_a_group_is_found_in_each_alternative() {
        let behind = |source| behind_groups(source, "v");
        let both = "a(?:<(?P<v>.)\\)[)|]>|(?P<v>(?:x|y)))(?:;|,)";
        let expected = ["\\)[)|]>(?:;|,)", "(?:;|,)"].map(str::to_owned);
        assert_eq!(behind(both), Some(expected.to_vec()));
        assert_eq!(behind("(?P<v>a)|b"), Some(vec![String::new()]));
        assert_eq!(behind("(?:(?P<v>a);)*b"), None);
        assert_eq!(behind("(?P<v>a)?b"), None);
        assert_eq!(behind("a"), Some(Vec::new()));
    }

    #[test]
    fn alternatives_are_parted_where_they_are_all_there_is() {
        assert_eq!(
            alternatives("(?:(?=a|b)|c\\||[|)])"),
            ["(?=a|b)", "c\\|", "[|)]"]
        );
        assert_eq!(alternatives("(?:a|b)(?:c|d)"), ["(?:a|b)(?:c|d)"]);
        assert_eq!(alternatives("a|(?:b)"), ["a", "(?:b)"]);
        assert_eq!(enclosed("(?=a(?:b)\\))", "(?="), Some("a(?:b)\\)"));
        assert_eq!(enclosed("(?=a)(?=b)", "(?="), None);
    }

    #[test]
    fn what_may_be_missing_is_told_from_what_may_not() {
        for (source, before) in [
            ("(?:a\\s*)?(?:b|c)?d(?:e)?", "(?:a\\s*)?(?:b|c)?"),
            ("(?:a(?:b)?)c", ""),
            ("(?:a)?(?:b)c", "(?:a)?"),
            ("(?:a)?b?", "(?:a)?"),
            ("(?:a){0,2}(?:b)?c{0,2}", "(?:a){0,2}(?:b)?"),
            ("(?:a){2}b", ""),
            ("a", ""),
            ("(?P<id>)(?:a)?b", "(?P<id>)(?:a)?"),
            ("(?P<id>)b", "(?P<id>)"),
        ] {
            let expected = source.split_at(before.len());
            assert_eq!(optional_beginning(source), expected, "{source}");
        }
        assert_eq!(
            optional_parts("(?:a(?:b)?){0,2}(?:c)?d"),
            ["(?:a(?:b)?){0,2}", "(?:c)?"]
        );
    }

    #[test]
    fn a_constant_is_one_text() {
        for (source, expected) in [
            (r"<\|a\s*b\|>\s*", true),
            (r"\[A\]", true),
            (r"a\s+b", true),
            ("a+", false),
            (r"\w+", false),
            ("[ab]", false),
            ("a|b", false),
            ("(?P<name>a)", false),
        ] {
            assert_eq!(is_constant(source), expected, "{source}");
        }
    }

    #[test]
    fn a_last_part_in_which_the_text_may_end_is_there_or_not() {
        for (source, expected) in [
            (
                r"<end>\s*(?:</s>\s*|(?:<(?:/)?)?\s*\Z)\s*",
                Some(r"<end>\s*(?:</s>\s*)?"),
            ),
            (r"<end>(?:</s>|<\s*\Z)?", Some("<end>(?:</s>)?")),
            (r"(?:</s>|\Z)", None),
            ("<end>", None),
        ] {
            assert_eq!(whole_or_missing(source).as_deref(), expected, "{source}");
        }
    }

    #[test]
    fn repetitions_are_bounded() {
        let of = |source| bounded_by(source, 4, 9);
        assert_eq!(of("\\s*<[^*]+?>\\*x"), "\\s{0,4}<[^*]{1,9}?>\\*x");
        assert_eq!(of("(?:a\\s*)?b{2}"), "(?:a\\s{0,4})?b{2}");
    }

    #[test]
    fn a_group_stands_in_for_what_is_absent() {
        let with = |source, name| with_absent(source, name);
        assert_eq!(with(r"\[", "id").as_deref(), Some(r"(?P<id>)\["));
        assert_eq!(with("a|b", "no_1").as_deref(), Some("(?P<no_1>)(?:a|b)"));
        assert_eq!(with("a", "call-id"), None, "no name of a group");
        assert_eq!(with("a", ""), None);
        assert_eq!(
            with(r"(a)\1", "id"),
            None,
            "the first group would be the second"
        );
    }

    #[test]
    fn what_is_looked_for_is_not_taken() {
        assert_eq!(takes("a(?=b(?:c|d))e"), "a(?:)e");
        assert_eq!(takes(r"(?<=x)(?:a|\(b)(?!y)"), r"(?:)(?:a|\(b)(?:)");
        assert_eq!(takes("a|b"), "a|b");
    }
}
