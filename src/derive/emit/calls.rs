//! The region of the calls: the delimiters that open and close each, and the way in which its content parser reads the body.

use super::ends::{Ends, has_within};
use super::marker::{self, Captures, Ids};
use super::written::Written;
use super::{
    AT_LINE, BEHIND_BRACKET, JSON_STRING, either_of, is_plain, listed, object_ahead, optional,
    pairs, pattern_candidate, patterns, scalar, scalar_member, tail,
};
use crate::derive::choice::{Candidate, Choices, DecisionId};
use crate::derive::compare::{pattern, slot, text};
use crate::derive::probe::{self, ArgumentsForm};
use crate::derive::read::analysis::Analysis;
use crate::derive::read::calls::ToolCalls;
use crate::derive::read::cut::{Body, Members};
use crate::derive::read::json_dialect::JsonDialect;
use crate::response_template::{Delimiter, FieldDocument};
use crate::value::{Map, Value, json};

pub(super) fn region(
    analysis: &Analysis,
    calls: &ToolCalls,
    ends: &Ends<'_>,
    choices: &Choices,
) -> FieldDocument {
    let written = Written::new(analysis, calls, ends, choices);
    let listed = listed::delimiters(&written, choices).filter(|_| {
        let in_list = [
            "in the list",
            "a call is one only where the list was opened and is not closed",
            "nothing stands before each call that only a call has",
        ];
        let apart = [
            "each apart",
            "a call is one wherever it is written as one",
            "what stands behind a call's name may tell that it is one, and what closes the list may stand in a call",
        ];
        choices.whether(DecisionId::CallsInList, [in_list, apart])
    });
    let (open, close) = match listed {
        Some((open, close)) => (Some(open), Some(close)),
        None => (opening(&written, choices), closing(&written, choices)),
    };
    let without_arguments = written.close_without_arguments();
    let close = close.map(|close| {
        // A literal takes no white space behind it. Then what closes a call without arguments takes none either.
        let space = match close {
            Delimiter::Literals(_) => "",
            Delimiter::Pattern(_) => "\\s*",
        };
        super::or(
            close,
            without_arguments.map(|close| format!("{close}{space}")),
        )
    });
    let region = FieldDocument {
        open,
        close,
        repeats: true,
        content: Some("json".to_owned()),
        ..FieldDocument::default()
    };
    match &calls.body {
        Body::Array(_) | Body::Object(_) => FieldDocument {
            open: region
                .open
                .map(|open| with_absent_id(open, &calls.body, written.ids())),
            close: region.close,
            content: region.content,
            ..transformed(calls, written.ids())
        },
        Body::Json => FieldDocument {
            content: Some(
                match analysis.dialect.arguments {
                    ArgumentsForm::Object => "json",
                    ArgumentsForm::JsonText => "text",
                }
                .to_owned(),
            ),
            transform: Some(named_call(calls)),
            ..region
        },
        // The text of the arguments is the value of a JSON string.
        Body::Text => FieldDocument {
            transform: Some(named_call(calls)),
            ..region
        },
        Body::Dialect(json) => FieldDocument {
            content_args: dialect_arguments(json),
            transform: Some(named_call(calls)),
            ..region
        },
        Body::Pairs(argument) => FieldDocument {
            content: Some("xml-inline".to_owned()),
            content_args: pairs::content_args(
                &analysis.pieces,
                argument,
                calls.space_behind().as_deref(),
                choices,
            ),
            transform: Some(named_call(calls)),
            ..region
        },
    }
}

/// Returns a field with the transform of calls that are JSON as a whole.
pub(super) fn transformed(calls: &ToolCalls, ids: &Ids) -> FieldDocument {
    match &calls.body {
        Body::Array(members) if !members.is_as_it_is() => FieldDocument {
            transform: Some(call_transform(members, "", None)),
            transform_each: true,
            ..FieldDocument::default()
        },
        Body::Object(members) => FieldDocument {
            transform: match ids {
                Ids::LeftOutOfObject if members.is_as_it_is() => None,
                Ids::LeftOutOfObject => Some(call_object(
                    place(&members.name, OF_OBJECT),
                    place(&members.arguments, OF_OBJECT),
                    Some(Value::from("{id}")),
                )),
                _ => Some(call_transform(members, OF_OBJECT, captured_id(calls))),
            },
            repeats: true,
            ..FieldDocument::default()
        },
        _ => FieldDocument::default(),
    }
}

/// Returns what opens calls, so that one of them may lack its id.
///
/// The members of a listed call stand in the scope of the transform by their own names. So an empty capture of that name counts where the
/// member is missing. Those of a call that is an object of its own do not. There what opens the call looks ahead for the id, over members
/// before it that are no objects or lists, up to the arguments: `{"type": "tool", "id": "a1", "arguments": ...}`.
fn with_absent_id(open: Delimiter, body: &Body, ids: &Ids) -> Delimiter {
    let (Body::Array(members) | Body::Object(members)) = body else {
        return open;
    };
    let key = match members.id.as_deref() {
        Some([key]) if !members.is_as_it_is() => key,
        _ => return open,
    };
    let Some(pattern) = either_of(patterns(open.clone())) else {
        return open;
    };
    match body {
        Body::Array(_) => pattern::with_absent(&pattern, key).map_or(open, Delimiter::pattern),
        _ => match members.arguments.first() {
            Some(last) if *ids == Ids::LeftOutOfObject => {
                Delimiter::pattern(format!("{pattern}{}", object_with_id(key, last)))
            }
            _ => open,
        },
    }
}

/// A look-ahead at an object that captures the text of its member `key` as the id. It captures nothing where the member `last`, which every call has, comes before
/// that, or one that is an object or a list, or where there is no other member. One of these has to have arrived, so that pieces of a response are read as the whole.
fn object_with_id(key: &str, last: &str) -> String {
    let [key, last] = [key, last].map(|key| format!("{}\\s*:", text::escape(&json::quote(key))));
    let bounded = format!("{key}\\s*\"").replace("\\s*", "\\s{0,64}");
    let before = format!("(?:{})*?", scalar_member(JSON_STRING));
    let other = format!("{JSON_STRING}\\s*:\\s*(?:[\\[{{]|{}\\s*\\}})", scalar());
    let id = format!("(?P<id>(?<={bounded})(?:[^\"\\\\]|\\\\.)+(?=\")|(?={last}|{other}))");
    format!("\\s*(?=\\{{\\s*{before}(?:{key}\\s*\")?{id})")
}

/// How `json` reads the arguments.
fn dialect_arguments(json: &JsonDialect) -> Map {
    let mut arguments = Map::new();
    if json.unquoted_keys {
        arguments.insert("unquoted_keys".to_owned(), Value::Bool(true));
    }
    let (open, close) = &json.string_delims;
    if (open.as_str(), close.as_str()) != ("\"", "\"") {
        let pair: Vec<Value> = vec![Value::from(open.as_str()), Value::from(close.as_str())];
        arguments.insert("string_delims".to_owned(), vec![Value::from(pair)].into());
    }
    arguments
}

/// A call whose name was captured by what opens it.
fn named_call(calls: &ToolCalls) -> Value {
    let id = calls.has_id().then(|| Value::from("{id}"));
    call_object(Value::from("{name}"), Value::from("{content}"), id)
}

/// Returns the delimiter that opens a region of calls: a literal if nothing but one marker opens it, else a pattern.
fn opening(written: &Written<'_>, choices: &Choices) -> Option<Delimiter> {
    let section = written.calls.section.0.trim();
    let calls_open = match section {
        "" => written.calls.call.0.as_str(),
        _ => written.calls.section.0.as_str(),
    };
    let ahead = written.ahead();
    let own = written.own().trim_end();
    let is_literal = section.is_empty() && ahead.is_empty() && is_plain(own);
    if is_literal && own.is_empty() {
        // A list of calls begins as no other text does.
        let members = match &written.calls.body {
            Body::Array(members) => object_ahead(members)?,
            _ => return None,
        };
        return Some(Delimiter::pattern(format!("(?=\\[\\s*{members})")));
    }
    let pattern = format!(
        "{}{}{ahead}",
        optional(section),
        written.open(Captures::All)
    );
    let is_named = own.contains(slot::NAME);
    let before_body = match &written.calls.body {
        Body::Json if is_named => Some(format!("{pattern}(?=\\{{\\s*[\"}}])")),
        Body::Text if is_named => Some(format!("{pattern}(?=\"\\{{)")),
        Body::Dialect(_) if is_named => Some(format!("{pattern}(?=\\{{)")),
        Body::Object(members) | Body::Array(members) => members.keys.first().map(|key| {
            let key = text::escape(&json::quote(key));
            let list = match written.calls.body {
                Body::Array(_) => "\\[\\s*",
                _ => "",
            };
            format!("{pattern}(?=\\s*{list}\\{{\\s*{key})")
        }),
        _ => None,
    };
    let before_body_pattern = before_body.clone();
    let before_body = before_body.map(|pattern| {
        let because = "what opens a call may stand in text as well, where no arguments follow";
        pattern_candidate("where arguments follow", because, pattern)
    });
    let space = text::leading(calls_open);
    let exact = (!space.is_empty()).then(|| {
        let pattern = format!("{}{pattern}", text::escape(space));
        let because =
            "what opens a call may stand in text as well, without the white space before it";
        pattern_candidate("with the white space before it", because, pattern)
    });
    let begins_line = match space {
        "" => written.begins_line,
        space => space.contains('\n'),
    };
    let at_line = begins_line.then(|| {
        let because = "what opens a call may stand in text as well, within a line";
        pattern_candidate(
            "where a line begins",
            because,
            format!("(?<![^\\n]){pattern}"),
        )
    });
    let because = "it stands before every call";
    let plain = match is_literal {
        true => Candidate::new(
            "its marker",
            json::quote(own),
            because,
            Delimiter::literal(own),
        ),
        false => pattern_candidate("its marker", because, pattern),
    };
    let both = begins_line.then_some(before_body_pattern).flatten().map(|pattern| {
        let because = "what opens a call may stand in text as well, within a line or before other things than arguments";
        let pattern = format!("(?<![^\\n]){pattern}");
        pattern_candidate("where a line begins and arguments follow", because, pattern)
    });
    let between = [&written.calls.call.1, &written.calls.separator].map(|one| one.trim());
    let is_bare = is_bare(written.calls);
    let is_apart = is_bare || between.iter().any(|one| !one.is_empty());
    let in_section = (!section.is_empty() && is_apart && !between.iter().any(|one| slot::any(one)))
        .then(|| {
            let because = "text may have the like of a call, which stands in no section";
            let [close, separator] = between.map(slot::pattern);
            let call = written.open(Captures::All);
            let section = slot::pattern(section);
            let (another, body) = match is_bare {
                true => (
                    BEHIND_BRACKET.to_owned(),
                    with_any_member(&written.calls.body),
                ),
                false => (format!("(?<={close}\\s*{separator}\\s*)"), String::new()),
            };
            let before = format!("(?:{section}\\s*|{another})");
            pattern_candidate(
                "behind what opens the section or another call",
                because,
                format!("{before}{call}{ahead}{body}"),
            )
        });
    // A marker that may be missing before a call without one of its own is found everywhere.
    let (first, last) = match is_bare {
        true => (in_section, None),
        false => (None, in_section),
    };
    let candidates = first
        .into_iter()
        .chain([plain])
        .chain(before_body)
        .chain(exact)
        .chain(at_line)
        .chain(both)
        .chain(last);
    choices.choose(DecisionId::CallOpen, candidates)
}

/// Returns the delimiter that closes a region of calls, together with the text that may stand before the next call or the end.
fn closing(written: &Written<'_>, choices: &Choices) -> Option<Delimiter> {
    let Written { calls, ends, .. } = written;
    let own = calls.call.1.trim();
    if own.is_empty() {
        let next = match &calls.body {
            Body::Array(_) => String::new(),
            _ => written.next(),
        };
        let candidate = |name, because, pattern: Option<String>| {
            let means = json::quote(pattern.as_deref().unwrap_or_default());
            Candidate::new(name, means, because, pattern.map(Delimiter::pattern))
        };
        let because = "nothing else closes a call";
        let usual = candidate(
            "where the next begins or the turn ends",
            because,
            stop(calls, ends, &next, false),
        );
        let at_line = ends_line(calls).then(|| {
            let because = "JSON that is written on one line ends with it";
            let pattern = format!("{BEHIND_BRACKET}{LINE_END}");
            candidate("at the end of its line", because, Some(pattern))
        });
        let next_at_line = (calls.parallel
            && !next.is_empty()
            && begins_line(calls, &calls.next_opening()))
        .then(|| {
            let because = "what opens a call may stand within a line of an argument as well";
            let pattern = stop(calls, ends, &next, true);
            candidate(
                "where the next begins a line or the turn ends",
                because,
                pattern,
            )
        });
        let all_at_line = stop_at_line(calls, ends, &next).map(|pattern| {
            let because = "what ends the calls may stand within a line of an argument as well";
            let name = "where the next or the end of all begins a line";
            candidate(name, because, Some(pattern))
        });
        let others = at_line.into_iter().chain(next_at_line).chain(all_at_line);
        let candidates = std::iter::once(usual).chain(others);
        return choices.choose(DecisionId::CallClose, candidates).flatten();
    }
    let (brackets, rest) = match marker::is_json(&calls.call.0) {
        true => own.split_at(own.len() - own.trim_start_matches(['}', ']', ' ', '\n']).len()),
        false => ("", own),
    };
    let close = match (brackets.trim(), rest) {
        ("", _) | (_, "") => written.behind(own, Captures::None),
        // White space between the end of a JSON value and a marker is free.
        (brackets, rest) => {
            let brackets = brackets.chars().filter(|sign| !sign.is_whitespace());
            let brackets: String = brackets.map(|sign| format!("\\{sign}\\s*")).collect();
            format!("{brackets}{}", written.behind(rest, Captures::None))
        }
    };
    let pattern = format!(
        "{close}\\s*{}{}",
        ends.optional(calls.separator.trim()),
        ends.optional(calls.section.1.trim()),
    );
    if marker::is_json(own) {
        return json_close(written, &close, choices);
    }
    let ends_in_bracket = !matches!(calls.body, Body::Pairs(_));
    let (names_call, is_bare) = (slot::any(own), !slot::any(own));
    let behind = |because| {
        let pattern = format!("{BEHIND_BRACKET}{pattern}");
        pattern_candidate("behind the arguments", because, pattern)
    };
    let names = (ends_in_bracket && names_call).then(|| {
        behind("a marker that names its call begins like many, and the arguments end before it")
    });
    let bare = (ends_in_bracket && is_bare).then(|| {
        behind("what closes a call may stand in an argument as well, where no arguments end")
    });
    let ending = ends_in_bracket.then(|| {
        let because = "what closes a call may stand in a text of the arguments as well, even behind a bracket";
        let pattern = before_the_end(written, &close);
        pattern_candidate("where the calls end or go on", because, pattern)
    });
    let behind_value = written.behind_value().filter(|_| is_bare);
    let behind_value = behind_value.map(|behind| {
        let because = "what closes a call may stand in a text of the arguments as well, where no argument ends";
        pattern_candidate("behind the end of an argument", because, format!("{behind}{pattern}"))
    });
    let literal = is_bare.then(|| {
        Candidate::new(
            "literal",
            json::quote(own),
            "what stands between two calls, and behind all of them, would be text",
            Delimiter::literal(own),
        )
    });
    let is_content = written.content_open.is_some_and(|open| open.trim() == own);
    let before_content = (ends_in_bracket && is_content).then(|| {
        let because = "what closes the calls opens the content as well";
        let pattern = format!("{BEHIND_BRACKET}(?={close})");
        pattern_candidate("before it", because, pattern)
    });
    let space = text::leading(&calls.call.1);
    let exact = (!space.is_empty()).then(|| {
        let pattern = format!("{}{close}\\s*", text::escape(space));
        let because =
            "what closes a call may stand in it as well, without the white space before it";
        pattern_candidate("with the white space before it", because, pattern)
    });
    let ends_line = matches!(&calls.body, Body::Pairs(pairs) if pairs.ends_line());
    let at_line = (space.is_empty() && ends_line).then(|| {
        let because =
            "what closes a call may stand within a line as well, and each argument ends one";
        pattern_candidate("where a line begins", because, format!("(?<=\\n){pattern}"))
    });
    let because =
        "it takes what may stand between two calls and behind all of them, white space too";
    let usual = pattern_candidate("pattern", because, pattern.clone());
    let behind_argument = Some(written.behind_argument(own)).filter(|behind| !behind.is_empty());
    let argument = behind_argument.map(|behind| {
        let because = "what closes a call closes an argument as well";
        pattern_candidate("behind an argument", because, format!("{behind}{pattern}"))
    });
    // Where text behind the close goes to no field, a literal is enough.
    let usual = match ends.is_last && is_plain(own) {
        true => literal.into_iter().chain([usual]).collect(),
        false => std::iter::once(usual).chain(literal).collect::<Vec<_>>(),
    };
    let candidates = names
        .into_iter()
        .chain(argument)
        .chain(usual)
        .chain(exact)
        .chain(at_line)
        .chain(bare)
        .chain(ending)
        .chain(before_content)
        .chain(behind_value);
    choices.choose(DecisionId::CallClose, candidates)
}

/// A pattern for what closes a call directly behind its arguments, if the section or the turn ends there, or another call begins.
fn before_the_end(written: &Written<'_>, close: &str) -> String {
    let Written { calls, ends, .. } = written;
    let next = written.next();
    let end = match calls.section.1.trim() {
        "" => stop(calls, ends, &next, false),
        section => {
            let (section, next) = (slot::pattern(section), before_next(calls, &next));
            Some(format!("{section}|{next}"))
        }
    };
    let end = end.map(|end| format!("{end}|")).unwrap_or_default();
    format!("{BEHIND_BRACKET}{close}\\s*(?={end}\\s*{})", ends.text_end)
}

/// A pattern for the end of a line.
const LINE_END: &str = "[^\\S\\n]*\\n";

/// Returns true if the text that closes a call in JSON ends its line.
fn ends_line(calls: &ToolCalls) -> bool {
    let begins_line = |text: &str| text.starts_with('\n');
    let is_followed =
        begins_line(&calls.ending()) && (!calls.parallel || begins_line(&calls.next_opening()));
    !matches!(calls.body, Body::Pairs(_)) && (calls.call.1.ends_with('\n') || is_followed)
}

/// Returns true if this text, which stands behind a call, begins a line, which the call may have ended.
fn begins_line(calls: &ToolCalls, text: &str) -> bool {
    let between = format!("{}{text}", calls.call.1);
    text::leading(&between).contains('\n')
        || matches!(&calls.body, Body::Pairs(pairs) if pairs.ends_line())
}

/// Returns the close of a call that is closed by punctuation of JSON. That may stand in the body as well, so it closes the call only where
/// the section or the turn ends or another call follows.
fn json_close(written: &Written<'_>, close: &str, choices: &Choices) -> Option<Delimiter> {
    let Written { calls, ends, .. } = written;
    let text_end = ends.text_end;
    let next = written.next();
    let own = calls.call.1.trim();
    let at_section = match stop_behind(own, calls, ends, &next, false) {
        Some(stop) => format!("(?:{stop}|{text_end})"),
        None => text_end.to_owned(),
    };
    let section = calls.section.1.trim();
    let at_turn_end = (!section.is_empty()).then(|| {
        let turn_end = either_of(
            ends.pattern_behind(own, None)
                .into_iter()
                .chain([text_end.to_owned()])
                .collect(),
        );
        let section = match has_within(section, own) {
            true => tail::optional(section, text_end),
            false => optional(section),
        };
        let last = format!("{section}{}", turn_end.unwrap_or_default());
        format!("(?:{last}|{})", before_next(calls, &next))
    });
    // White space before the first character belongs to the arguments, which are JSON and may end with it.
    let close = close.trim_start_matches("\\s*");
    let space = if close.ends_with("\\s*") { "" } else { "\\s*" };
    let candidate = |name, because, end: String| {
        let means = json::quote(&end);
        Candidate::new(name, means, because, format!("{close}{space}{end}"))
    };
    let at_section = candidate(
        "where the section does",
        "what closes the section closes its last call",
        at_section,
    );
    let at_turn_end = at_turn_end.map(|end| {
        let because =
            "what closes the section may stand in an argument as well, where no turn ends";
        candidate("where the turn does", because, end)
    });
    let at_line = ends_line(calls).then(|| {
        let because = "JSON that is written on one line ends with it";
        let pattern = format!("{}{LINE_END}", close.trim_end_matches("\\s*"));
        let means = json::quote(LINE_END);
        Candidate::new("at the end of its line", means, because, pattern)
    });
    let candidates = std::iter::once(at_section)
        .chain(at_turn_end)
        .chain(at_line);
    let closed = choices.choose(DecisionId::BareCallEnd, candidates);
    closed.map(Delimiter::pattern)
}

/// A pattern for the end of a call that nothing closes. It ends at the end of the section or of the turn, before the next call, whose
/// beginning is the pattern `next`, and before the content where that follows; `at_line` asks that these two begin a line.
fn stop(calls: &ToolCalls, ends: &Ends<'_>, next: &str, at_line: bool) -> Option<String> {
    stop_behind("", calls, ends, next, at_line)
}

/// A pattern as [`stop`] gives it, for what stands behind the text `own`, which closes a call also where the response ends.
fn stop_behind(
    own: &str,
    calls: &ToolCalls,
    ends: &Ends<'_>,
    next: &str,
    at_line: bool,
) -> Option<String> {
    let section = Some(calls.section.1.trim()).filter(|section| !section.is_empty());
    let stop = ends.pattern_behind(own, section);
    let stop = stop.map(|stop| behind_json(calls, &stop));
    let line = if at_line { AT_LINE } else { "" };
    let before_next =
        (calls.parallel && !next.is_empty()).then(|| before_next(calls, &format!("{line}{next}")));
    let all = stop.into_iter().chain(before_next);
    either_of(all.chain(ends.before_content(at_line)).collect())
}

/// A pattern for the end of a call as [`stop`] gives it, where the next call and what ends all of them begin a line; `None` where nothing that ends
/// them is known to begin one.
fn stop_at_line(calls: &ToolCalls, ends: &Ends<'_>, next: &str) -> Option<String> {
    // Behind the last call stands what closes the section, or else what ends the turn.
    if !begins_line(calls, &format!("{}{}", calls.section.1, calls.turn_end)) {
        return None;
    }
    let section = Some(calls.section.1.trim()).filter(|section| !section.is_empty());
    let turn_end = ends.pattern(None, &[]).map(|end| match section {
        Some(_) => end,
        None => format!("{AT_LINE}{end}"),
    });
    let space = if ends.is_last { "" } else { "\\s*" };
    let section = section.map(|section| format!("{AT_LINE}{}{space}", slot::pattern(section)));
    let before_next = (calls.parallel && !next.is_empty())
        .then(|| before_next(calls, &format!("{AT_LINE}{next}")));
    let all = section.into_iter().chain(turn_end).chain(before_next);
    either_of(all.chain(ends.before_content(true)).collect())
}

/// Returns the pattern, of which what closes the section is a part, with white space allowed behind the brackets with which that begins.
/// Where bodies are JSON, `]</calls>` may be written `] </calls>`.
fn behind_json(calls: &ToolCalls, pattern: &str) -> String {
    let section = calls.section.1.trim();
    let rest = section.trim_start_matches([']', '}']);
    let brackets = text::escape(&section[..section.len() - rest.len()]);
    let next = rest.chars().next().filter(|c| !c.is_whitespace());
    match next {
        Some(next) if calls.body.is_json() && !brackets.is_empty() => {
            let next = text::escape(&next.to_string());
            let spaced = format!("{brackets}\\s*{next}");
            pattern.replacen(&format!("{brackets}{next}"), &spaced, 1)
        }
        _ => pattern.to_owned(),
    }
}

/// Returns a pattern for the text before the next call, whose beginning is the pattern `next`.
fn before_next(calls: &ToolCalls, next: &str) -> String {
    match is_bare(calls) {
        true => format!("{BETWEEN_BODIES}{}", with_any_member(&calls.body)),
        false => format!("{}(?={next})", optional(calls.separator.trim())),
    }
}

/// A pattern for the white space between two bodies, before the first member of the second. What begins a body stands within one as well, but not behind a bracket
/// without a comma, and in a text its quotes are escaped. The white space is a part of the pattern, which otherwise would match where the next call has just opened.
const BETWEEN_BODIES: &str = "(?<=[\\}\\]])\\s+";

/// Returns true if a call is an object of JSON and nothing else: white space alone stands before it, behind it, and between it and the next one.
fn is_bare(calls: &ToolCalls) -> bool {
    let around = format!("{}{}{}", calls.call.0, calls.call.1, calls.separator);
    let is_space = !around.is_empty() && around.trim().is_empty();
    is_space && matches!(calls.body, Body::Object(_))
}

/// A condition that the body of a call follows, whichever of its members comes first; none for other bodies than an object.
fn with_any_member(body: &Body) -> String {
    let Body::Object(members) = body else {
        return String::new();
    };
    let keys = members
        .keys
        .iter()
        .map(|key| text::escape(&json::quote(key)));
    let keys = either_of(keys.collect()).unwrap_or_default();
    format!("(?=\\s*\\{{\\s*{keys})")
}

/// The id of a call, where what opens the call has captured it.
fn captured_id(calls: &ToolCalls) -> Option<Value> {
    calls.call.0.contains(slot::ID).then(|| Value::from("{id}"))
}

/// The scope of a transform under which the members of a call that is an object of its own stand.
const OF_OBJECT: &str = "content.";

/// The placeholder of what stands at the path under `root`.
fn place(path: &[String], root: &str) -> Value {
    Value::from(format!("{{{root}{}}}", path.join(".")))
}

/// The call as a message has it, its parts taken from the scope under `root`, and its id from there or as it was `captured`.
fn call_transform(members: &Members, root: &str, captured: Option<Value>) -> Value {
    let whole = members.keys == ["name", "arguments"]
        && members.name == ["name"]
        && members.arguments == ["arguments"];
    let place = |path: &[String]| place(path, root);
    let id = members.id.as_deref().map(place).or(captured);
    if whole && !root.is_empty() {
        return call_of(Value::from("{content}"), id);
    }
    call_object(place(&members.name), place(&members.arguments), id)
}

fn call_object(name: Value, arguments: Value, id: Option<Value>) -> Value {
    let function = [("name", name), ("arguments", arguments)];
    call_of(probe::object(function), id)
}

/// The call of a function.
fn call_of(function: Value, id: Option<Value>) -> Value {
    let kind = ("type", Value::from("function"));
    let function = ("function", function);
    match id {
        Some(id) => probe::object([kind, ("id", id), function]),
        None => probe::object([kind, function]),
    }
}
