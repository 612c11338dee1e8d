//! The difference between two messages that render to the same text.

use super::message::{CALLS_KEY, function_name};
use crate::text::apart;
use crate::value::{Map, Value, json, python};

/// Returns true if two lists of calls are the same but for values of arguments: the same calls, keys and argument names.
pub(super) fn same_but_arguments(a: &Value, b: &Value) -> bool {
    without_values(a, false) == without_values(b, false)
}

fn without_values(value: &Value, inside: bool) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .map(|(key, member)| {
                let blank = if inside {
                    Value::Null
                } else {
                    without_values(member, key == "arguments")
                };
                (key.clone(), blank)
            })
            .collect::<Map>()
            .into(),
        Value::Array(items) => items
            .iter()
            .map(|item| without_values(item, false))
            .collect::<Vec<_>>()
            .into(),
        other => other.clone(),
    }
}

/// Returns true if `other` is a message that somebody could have meant in the place of `message`: its texts are made of the message's own,
/// and it calls nothing but the functions that there are.
///
/// A content that has the chat template's own markers in it renders like nearly any message. Such a content is no other message that
/// somebody meant: it is text of this one that was not read. Nor is a call of `>search` one, where `search` is the function.
pub(super) fn could_be_meant<'t>(
    message: &Value,
    other: &Value,
    tools: impl Iterator<Item = &'t Value> + Clone,
) -> bool {
    let own: String = texts(message).concat();
    let others = texts(other);
    let is_there = |call: &Value| {
        let mut names = tools.clone().map(function_name);
        names.any(|name| name == function_name(call))
    };
    let calls = other.get(CALLS_KEY).and_then(Value::as_array);
    others.iter().all(|text| own.contains(text.as_str()))
        && calls.unwrap_or_default().iter().all(is_there)
}

/// Returns true if `other` is the message but for a stretch of one of its texts, in the place of which it has another: the chat template writes both alike, as
/// one that writes a line feed as `\n` does with that.
///
/// A stretch in the place of none is no other message that somebody meant. A chat template that cuts markers out of a text renders it with them as without.
pub(super) fn is_spelled_otherwise(message: &Value, other: &Value) -> bool {
    let (Some(message), Some(other)) = (message.as_object(), other.as_object()) else {
        return false;
    };
    let mut differing = message
        .iter()
        .filter(|(key, value)| other.get(key.as_str()) != Some(*value));
    let (Some((key, own)), None) = (differing.next(), differing.next()) else {
        return false;
    };
    let texts = (
        own.as_str(),
        other.get(key.as_str()).and_then(Value::as_str),
    );
    let (Some(own), Some(theirs)) = texts else {
        return false;
    };
    let same = |(a, b): &(char, char)| a == b;
    let begin = own.chars().zip(theirs.chars()).take_while(same).count();
    let end = own.chars().rev().zip(theirs.chars().rev());
    let end = end.take_while(same).count();
    let shorter = own.chars().count().min(theirs.chars().count());
    message.len() == other.len() && begin + end < shorter
}

/// Returns true if `other` has the message's texts and calls, but ends a text earlier, where the message has in it what stands between two of them: with
/// `%%` behind the reasoning, `a%%b` and `c` are written as `a` and `b%%c` are.
///
/// Only where the other text stands in one piece within the message is it taken for text that was not read, as [`could_be_meant`] has it: here the two
/// markers have changed places, and nobody can tell which of them is one.
pub(super) fn is_divided_otherwise(message: &Value, other: &Value) -> bool {
    let (Some(own), Some(theirs)) = (message.as_object(), other.as_object()) else {
        return false;
    };
    let mut pairs = Vec::new();
    for (key, value) in own {
        let Some(other) = theirs.get(key.as_str()) else {
            return false;
        };
        match (value.as_str(), other.as_str()) {
            (Some(own), Some(other)) => pairs.push((dense(own), dense(other))),
            _ if value == other => {}
            _ => return false,
        }
    }
    let joined = |pairs: &[(String, String)]| -> (String, String) { pairs.iter().cloned().unzip() };
    let forwards = joined(&pairs);
    pairs.reverse();
    let backwards = joined(&pairs);
    own.len() == theirs.len()
        && [forwards, backwards]
            .iter()
            .any(|(own, other)| own != other && are_parts_exchanged(own, other))
}

/// Returns true if the two are the same but for two stretches, one behind the other, that have changed places.
fn are_parts_exchanged(a: &str, b: &str) -> bool {
    let (a, b) = apart(a, b);
    a.len() == b.len() && a.repeat(2).contains(b)
}

/// The texts of a message, without white space: its fields first, then what its calls say, with the names of their arguments, as it is written in JSON.
fn texts(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(message, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(dense(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => {
            for (key, member) in members {
                match (key.as_str(), member) {
                    ("type" | "role", _) => {}
                    // The name of an argument is a text of the message, too.
                    ("arguments", Value::Object(arguments)) => {
                        for (name, value) in arguments {
                            found.push(dense(name));
                            collect(value, found);
                        }
                    }
                    _ => collect(member, found),
                }
            }
        }
        other => found.push(json::to_string(other)),
    }
}

/// A text without its white space.
pub(super) fn dense(text: &str) -> String {
    text.chars().filter(|c| !python::is_space(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(text: &str) -> Value {
        json::parse(text).unwrap()
    }

    #[test]
    fn arguments_may_differ_in_value_only() {
        let seven = calls(r#"[{"function": {"name": "f", "arguments": {"a": 7}}}]"#);
        let text = calls(r#"[{"function": {"name": "f", "arguments": {"a": "7"}}}]"#);
        let other = calls(r#"[{"function": {"name": "f", "arguments": {"b": 7}}}]"#);
        let content = calls("null");
        assert!(same_but_arguments(&seven, &text));
        assert!(!same_but_arguments(&seven, &other));
        assert!(!same_but_arguments(&seven, &content));
    }

    #[test]
    fn a_text_with_markers_in_it_is_no_other_message() {
        let message = |text: &str| json::parse(text).unwrap();
        let meant = message(r#"{"thinking": "a b", "content": "c"}"#);
        for (other, could_be) in [
            (r#"{"role": "assistant", "content": "a b\n\nc"}"#, true),
            (r#"{"content": "a b", "thinking": "c"}"#, true),
            (r#"{"content": "<t>a b</t>c"}"#, false),
        ] {
            let answer = could_be_meant(&meant, &message(other), std::iter::empty());
            assert_eq!(answer, could_be, "{other}");
        }
    }

    /// A name with white space in it, written without quotes, may be a shorter name with a longer text.
    #[test]
    fn the_name_of_an_argument_may_be_a_text() {
        let call = |arguments: &str| {
            let function = format!(r#"{{"name": "f", "arguments": {arguments}}}"#);
            calls(&format!(
                r#"{{"tool_calls": [{{"function": {function}}}]}}"#
            ))
        };
        let tools = [calls(r#"{"type": "function", "function": {"name": "f"}}"#)];
        let meant = call(r#"{"old gate": "a b"}"#);
        for (other, could_be) in [
            (r#"{"old": "gate a b"}"#, true),
            (r#"{"old": "gate", "a": "b"}"#, true),
            (r#"{"old": "gate: a b"}"#, false),
            (r#"{"old": "a b", "new": "gate"}"#, false),
        ] {
            let answer = could_be_meant(&meant, &call(other), tools.iter());
            assert_eq!(answer, could_be, "{other}");
        }
    }

    #[test]
    fn a_text_is_spelled_otherwise_where_a_stretch_of_it_is_another() {
        let message = |content: &str| {
            calls(&format!(
                r#"{{"role": "assistant", "content": {}}}"#,
                json::quote(content)
            ))
        };
        for (own, other, is_so) in [
            ("a\nb", "a\\nb", true),
            ("said", "SAID", true),
            ("a b", "a <i>b", false),
            ("a b", "a", false),
            ("aa", "aaa", false),
            ("a", "a", false),
        ] {
            let answer = is_spelled_otherwise(&message(own), &message(other));
            assert_eq!(answer, is_so, "{own} {other}");
        }
        let thinking = calls(r#"{"role": "assistant", "thinking": "b"}"#);
        assert!(!is_spelled_otherwise(&message("a"), &thinking));
    }

    #[test]
    fn texts_are_divided_otherwise_where_a_marker_and_its_like_change_places() {
        let message = |thinking: &str, content: &str| {
            let (thinking, content) = (json::quote(thinking), json::quote(content));
            calls(&format!(
                r#"{{"role": "assistant", "thinking": {thinking}, "content": {content}}}"#
            ))
        };
        for (own, other, is_so) in [
            (("$%%a b", "c"), ("$", "a b%%c"), true),
            (("a%%b%", "c"), ("a", "b%%%c"), true),
            // A content that stands before the reasoning.
            (("c", "a%%b"), ("b%%c", "a"), true),
            (("a", "c"), ("a", "c"), false),
            (("a", "c"), ("a", "b%%c"), false),
            (("a%%b", "c"), ("b", "a%c"), false),
        ] {
            let answer = is_divided_otherwise(&message(own.0, own.1), &message(other.0, other.1));
            assert_eq!(answer, is_so, "{own:?} {other:?}");
        }
        let alone = calls(r#"{"role": "assistant", "content": "$%%a b%%c"}"#);
        assert!(!is_divided_otherwise(&message("$%%a b", "c"), &alone));
    }

    #[test]
    fn a_call_of_no_function_that_there_is_is_no_other_message() {
        let calling = |name: &str| {
            let function = format!(r#"{{"function": {{"name": "{name}", "arguments": {{}}}}}}"#);
            calls(&format!(
                r#"{{"content": "a>", "tool_calls": [{function}]}}"#
            ))
        };
        let tools = [calls(r#"{"type": "function", "function": {"name": "f"}}"#)];
        let could_be = |name: &str| could_be_meant(&calling("f"), &calling(name), tools.iter());
        assert!(could_be("f"));
        assert!(!could_be(">f"));
    }
}
