//! The reason why a message does not come back, as far as it and its render tell.

use super::difference::difference;
use super::trial::Counterexample;
use crate::text::apart;
use crate::value::json::quote;
use crate::value::{Path, Step, Value};

/// How many characters are shown of a text that ends a field too early, or comes back as another.
const STOP: usize = 12;

impl Counterexample {
    /// The reason why the message does not come back, in a sentence, as far as it and its render tell.
    pub fn why(&self) -> String {
        why(self)
    }

    /// The first place where the message that came back differs from the one that had to, and what is there in each; `None` where parsing
    /// failed and nothing else is wrong.
    pub fn difference(&self) -> Option<(Path, Option<&Value>, Option<&Value>)> {
        difference(&self.expected, &self.parsed, &Path::default())
    }
}

fn why(found: &Counterexample) -> String {
    if let Some(error) = &found.error {
        return format!("the response does not parse: {error}");
    }
    let Some((path, expected, parsed)) = found.difference() else {
        return "the message comes back as another one".to_owned();
    };
    let place = place(&path);
    match (expected, parsed) {
        // A default stands where a text went elsewhere.
        (Some(wanted @ Value::String(text)), Some(Value::String(read)))
            if read.is_empty() && !text.is_empty() =>
        {
            of_lost(wanted, &path, &place, found)
        }
        (Some(Value::String(text)), Some(Value::String(read))) => {
            of_texts(text, read, &place, &found.response)
        }
        (Some(wanted), Some(read)) => {
            let (wanted, read) = (kind(wanted), kind(read));
            format!(
                "{place} that is {wanted} comes back as {read}: the chat template writes both alike"
            )
        }
        (Some(_), None) if place == "a call" => {
            "a call is not recognised, and what stands for it is read as other text".to_owned()
        }
        (Some(wanted), None) => of_lost(wanted, &path, &place, found),
        (None, _) => format!("{place} comes back that the message does not have"),
    }
}

/// The reason where a member of the message does not come back, as far as what does come back in its place tells it.
fn of_lost(wanted: &Value, path: &Path, place: &str, found: &Counterexample) -> String {
    let (steps, key) = match path.steps() {
        [steps @ .., Step::Key(key)] => (steps, key.as_str()),
        _ => return format!("{place} is lost"),
    };
    let (Some(Value::Object(whole)), Some(Value::Object(read))) =
        (at(&found.expected, steps), at(&found.parsed, steps))
    else {
        return format!("{place} is lost");
    };
    let others = || read.iter().filter(|(name, _)| !whole.contains_key(name));
    if place == "an argument" {
        let cut = others().find(|(name, _)| !name.is_empty() && key.starts_with(name.as_str()));
        let Some((name, _)) = cut else {
            return format!("{place} is lost");
        };
        // In quotes a name has an end, and something else is the matter.
        let begin = found.response.find(key);
        let before = begin.map(|begin| found.response[..begin].chars().next_back());
        let how = match before {
            Some(before) if !before.is_some_and(is_quote) => {
                ": the chat template writes names without quotes, so nothing tells where one ends"
            }
            _ => "",
        };
        return format!(
            "the argument {} comes back as {}{how}",
            quote(key),
            quote(name)
        );
    }
    let Value::String(text) = wanted else {
        return format!("{place} is lost");
    };
    let taker = read.iter().find_map(|(name, value)| match value {
        Value::String(taken) if !text.is_empty() && taken.contains(text.as_str()) => {
            Some((name, taken == text))
        }
        _ => None,
    });
    let Some((name, is_all)) = taker else {
        return format!("{place} is lost");
    };
    let part = if is_all { "" } else { "a part of " };
    let before = match found.response.trim_start().starts_with(text.as_str()) {
        true => ", since nothing stands before it in the response that tells the two apart",
        false => "",
    };
    format!(
        "{place} comes back as {part}the {}{before}",
        name.replace('_', " ")
    )
}

/// The part of a value at a place; `None` where there is none.
fn at<'v>(value: &'v Value, steps: &[Step]) -> Option<&'v Value> {
    steps.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get(key.as_str()),
        Step::Index(index) => value.as_array()?.get(*index),
    })
}

/// Returns true for the signs that texts are quoted by.
fn is_quote(sign: char) -> bool {
    matches!(sign, '"' | '\'' | '`')
}

/// The reason where a text comes back as another text.
fn of_texts(text: &str, read: &str, place: &str, response: &str) -> String {
    if text.trim() == read.trim() {
        return format!("white space at the ends of {place} does not come back as it was");
    }
    if let Some(rest) = text.strip_prefix(read) {
        let stop: String = rest.chars().take(STOP).collect();
        let begin = response.find(text).unwrap_or_default();
        let before = response[..begin].chars().next_back();
        let how = match before.filter(|before| is_quote(*before)) {
            Some(quote) if stop.starts_with(quote) => "without escaping them",
            // The quotes would tell.
            Some(_) => return format!("{} in {place} is taken for the end of it", quote(&stop)),
            None => "without quotes",
        };
        return format!(
            "{} in {place} is taken for the end of it: the chat template writes texts {how}, so nothing tells the two apart",
            quote(&stop)
        );
    }
    if let Some(rest) = read.strip_prefix(text) {
        let rest: String = rest.chars().take(STOP).collect();
        return format!(
            "what follows {place} is read as a part of it: {}",
            quote(&rest)
        );
    }
    if text.ends_with(read) {
        return format!("the beginning of {place} is lost");
    }
    // A character or two stand in nearly every response.
    let is_nowhere = !response.contains(text) || text.chars().nth(2).is_none();
    if response.contains(read) && is_nowhere {
        let (own, other) = apart(text, read);
        let [own_start, other_start] = [own, other].map(begin);
        return match (own, other) {
            ("", _) => format!(
                "the chat template writes {other_start} into {place}, which is read as a part of it"
            ),
            (_, "") => format!("the chat template leaves {own_start} out of {place}"),
            _ => format!(
                "the chat template writes {own_start} in {place} as {other_start}, which is read as it stands"
            ),
        };
    }
    format!("another text comes back for {place}")
}

/// The beginning of a text, in quotes.
fn begin(text: &str) -> String {
    let start: String = text.chars().take(STOP).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("{}{more}", quote(&start))
}

/// The place of a message in words.
fn place(path: &Path) -> String {
    let keys: Vec<&str> = path
        .steps()
        .iter()
        .filter_map(|step| match step {
            Step::Key(key) => Some(key.as_str()),
            Step::Index(_) => None,
        })
        .collect();
    match keys.as_slice() {
        [.., "arguments"] => "the arguments of a call".to_owned(),
        keys if keys.contains(&"arguments") => "an argument".to_owned(),
        ["tool_calls", .., "name"] => "the name of a call".to_owned(),
        ["tool_calls", ..] => "a call".to_owned(),
        [key, ..] => format!("the {}", key.replace('_', " ")),
        [] => "the message".to_owned(),
    }
}

/// A few words that say what a value is.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
        _ => "a number",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::json::parse;

    fn found(expected: &str, parsed: &str, response: &str) -> Counterexample {
        Counterexample {
            response: response.to_owned(),
            expected: parse(expected).unwrap(),
            parsed: parse(parsed).unwrap(),
            ..Counterexample::default()
        }
    }

    fn call(argument: &str) -> String {
        format!(
            r#"{{"tool_calls": [{{"function": {{"name": "f", "arguments": {{"x": {argument}}}}}}}]}}"#
        )
    }

    #[test]
    fn a_cause_is_told_from_a_message() {
        let why =
            |expected: &str, parsed: &str, response: &str| why(&found(expected, parsed, response));
        assert_eq!(
            why(&call(r#""a, b""#), &call(r#""a""#), "f(x=a, b)"),
            "\", b\" in an argument is taken for the end of it: the chat template writes texts without quotes, so nothing tells the two apart"
        );
        assert!(
            why(&call(r#""a\" b""#), &call(r#""a""#), "f(x=\"a\" b\")")
                .contains("without escaping them")
        );
        assert_eq!(
            why(&call(r#""a);""#), &call(r#""a""#), r#"f({"x": "a);"});"#),
            r#"");" in an argument is taken for the end of it"#
        );
        assert_eq!(
            why(&call("1"), &call(r#""1""#), "f(x=1)"),
            "an argument that is a number comes back as a text: the chat template writes both alike"
        );
        assert_eq!(
            why(r#"{"content": "a "}"#, r#"{"content": "a"}"#, "a "),
            "white space at the ends of the content does not come back as it was"
        );
        assert!(
            why(&call("1"), r#"{"content": "f(x=1)"}"#, "f(x=1)")
                .starts_with("a call is not recognised")
        );
    }

    /// In each of them the headline was the symptom: that something is lost, or another.
    #[test]
    fn a_cause_is_told_in_terms_of_the_chat_template() {
        let why =
            |expected: &str, parsed: &str, response: &str| why(&found(expected, parsed, response));
        let named = |name: &str, text: &str| {
            format!(
                r#"{{"tool_calls": [{{"function": {{"name": "f", "arguments": {{"{name}": "{text}"}}}}}}]}}"#
            )
        };
        let (wanted, read) = (named("orchard gate", "teal"), named("orchard", "gate teal"));
        assert_eq!(
            why(&wanted, &read, "(f :orchard gate teal)"),
            r#"the argument "orchard gate" comes back as "orchard": the chat template writes names without quotes, so nothing tells where one ends"#
        );
        assert_eq!(
            why(&wanted, &read, r#"(f "orchard gate" teal)"#),
            r#"the argument "orchard gate" comes back as "orchard""#
        );
        assert_eq!(
            why(&wanted, &named("b", "c"), "(f :orchard gate teal)"),
            "an argument is lost"
        );
        assert_eq!(
            why(r#"{"thinking": "A"}"#, r#"{"content": "A"}"#, "A\n\n</>"),
            "the thinking comes back as the content, since nothing stands before it in the response that tells the two apart"
        );
        assert_eq!(
            why(
                r#"{"content": "A", "tool_calls": []}"#,
                r#"{"content": "", "thinking": "A", "tool_calls": []}"#,
                "<p>A"
            ),
            "the content comes back as the thinking"
        );
        assert_eq!(
            why(
                r#"{"reasoning_content": "A", "content": "B"}"#,
                r#"{"content": "A~B"}"#,
                "<p>A~B"
            ),
            "the reasoning content comes back as a part of the content"
        );
        assert_eq!(
            why(r#"{"thinking": "A"}"#, r#"{"content": "B"}"#, "B"),
            "the thinking is lost"
        );
        assert_eq!(
            why(r#"{"content": "a\nb"}"#, r#"{"content": "a\\nb"}"#, r"a\nb"),
            r#"the chat template writes "\n" in the content as "\\n", which is read as it stands"#
        );
        assert_eq!(
            why(
                r#"{"thinking": "A"}"#,
                r#"{"thinking": "A</p>"}"#,
                "<p>A</p>"
            ),
            r#"what follows the thinking is read as a part of it: "</p>""#
        );
    }

    /// Of an escaped text and one in capitals the headline was that another text comes back.
    #[test]
    fn a_text_that_is_written_otherwise_is_told_as_it_is_written() {
        let why = |own: &str, read: &str, response: &str| {
            let message = |text: &str| format!(r#"{{"content": {}}}"#, quote(text));
            why(&found(&message(own), &message(read), response))
        };
        assert_eq!(
            why(">", "&gt;", "&gt;<end>"),
            r#"the chat template writes ">" in the content as "&gt;", which is read as it stands"#
        );
        assert_eq!(
            why(
                "so it is said here",
                "SO IT IS SAID HERE",
                "SO IT IS SAID HERE<end>"
            ),
            r#"the chat template writes "so it is sai"… in the content as "SO IT IS SAI"…, which is read as it stands"#
        );
        assert_eq!(
            why("say \"a\" b", "say \\\"a\" b", "say \\\"a\" b<end>"),
            r#"the chat template writes "\\" into the content, which is read as a part of it"#
        );
        assert_eq!(
            why("a *b* c", "a b* c", "a b* c<end>"),
            r#"the chat template leaves "*" out of the content"#
        );
        assert_eq!(
            why("one two", "two one", "one two<end>"),
            "another text comes back for the content"
        );
    }
}
