//! How the values of arguments that stand apart are written: the text around each type of value, and the forms of the values themselves.

use super::anchor::Anchor;
use super::arguments::{Around, Pairs, Style};
use super::escaped::Escaped;
use super::unread::Unread;
use crate::content;
use crate::derive::choice::{Candidate, DecisionId};
use crate::derive::probe::{self, Dialect};
use crate::derive::render::conversation::Context;
use crate::derive::render::renderer::Renderer;
use crate::value::{Value, json};

/// Texts with characters that some templates escape, or because of which they quote the text.
const SIGNS: &str = "opal \\ ' \" \n drift";
const MARKUP: &str = "opal <b> & </b> drift";

pub(in crate::derive) const ODD_TEXTS: [&str; 2] = [SIGNS, MARKUP];

/// Texts with a quote in them, or all of several, which some templates write between other quotes.
const QUOTES: [&str; 3] = ["opal \" drift", "opal ' drift", "opal \" ' ` drift"];

/// Looks at arguments that are no texts: some templates write the type beside the key, or write only texts in quotes.
pub(in crate::derive) fn learn(
    renderer: &Renderer<'_>,
    context: &Context,
    anchor: &Anchor,
    dialect: &Dialect,
    pairs: &mut Pairs,
) {
    let call = probe::call_with(0, 1);
    let Some((key, Value::String(text))) = call.arguments.iter().next() else {
        return;
    };
    let turn_with = |value: &Value| {
        let mut call = call.clone();
        call.arguments.insert(key.clone(), value.clone());
        anchor.turn_calling(renderer, context, dialect, call)
    };
    let of_text = turn_with(&Value::from(text.as_str())).unwrap_or_default();
    let mut frame = pairs.frame(&of_text, key, text);
    if frame.is_none() {
        // The arguments of several calls, by which they were cut, may be indented otherwise than those of one.
        let bare = pairs.open.trim_start().to_owned();
        let spaced = std::mem::replace(&mut pairs.open, bare);
        frame = pairs.frame(&of_text, key, text);
        if frame.is_none() {
            pairs.open = spaced;
        }
    }
    let Some(frame) = frame else {
        return;
    };
    for value in of_each_kind() {
        if let Some(turn) = turn_with(&value) {
            pairs.learn(&turn, key, &json::to_string(&value), frame);
        }
    }
    // Some texts are quoted as a whole.
    for text in ODD_TEXTS.into_iter().chain(QUOTES) {
        if let Some(turn) = turn_with(&Value::from(text)) {
            pairs.learn(&turn, key, text, frame);
        }
    }
    let any = pairs.around_any();
    let is_written = |around: &Around, value: &Value| {
        turn_with(value).is_some_and(|turn| {
            let written = pairs.written_in(around, &turn, key, frame);
            written.is_some_and(|written| {
                json::parse(written.trim()).is_ok_and(|parsed| parsed == *value)
            })
        })
    };
    let are_texts_json = |around: &Around| {
        let mut texts = [text.as_str()].into_iter().chain(ODD_TEXTS);
        texts.all(|text| is_written(around, &Value::from(text)))
    };
    // Some templates write the members of an object as arguments of their own, and all else as JSON.
    let is_whole = |around: &Around| {
        let mut values = of_each_kind().into_iter();
        values.all(|value| value.as_object().is_some() || is_written(around, &value))
    };
    let json = any.filter(are_texts_json).map(|around| Style::Json {
        is_whole: is_whole(&around),
        around,
    });
    let quotes = pairs.quotes();
    let written = |value: &Value| {
        let turn = turn_with(value)?;
        pairs.written(&turn, key, frame).map(str::to_owned)
    };
    let texts = ["opal", "drift"].map(Value::from).to_vec().into();
    let quoted = quotes.and_then(|quotes| {
        let list = written(&texts)?;
        let is_read = json_in_quotes(&list, &quotes) == Some(texts);
        Some(candidates(quotes, &list, is_read))
    });
    let json = json.map(|style| match style {
        Style::Json {
            is_whole: false, ..
        } => Candidate::new(
            "as JSON, where it is",
            "JSON, and text where it is none, which the tools' schemas type",
            "texts are written as JSON, in quotes, and some values of other types are not",
            style,
        ),
        _ => Candidate::new(
            "as JSON, each",
            "JSON",
            "values of every type are written as JSON, texts in quotes",
            style,
        ),
    });
    let text = Candidate::new(
        "as text",
        "text, which the tools' schemas type",
        "whatever is written comes back at least as text",
        Style::Text,
    );
    let candidates = json.into_iter().chain(quoted.unwrap_or_else(|| vec![text]));
    let style = renderer
        .choices
        .choose(DecisionId::ArgumentValues, candidates)
        .unwrap_or(Style::Text);
    let unread = |value: Value| {
        if let Style::Json { around, .. } = &style {
            // It is shown with its name, which may be written otherwise than other names are.
            let turn = turn_with(&value).filter(|_| !is_written(around, &value))?;
            return pairs.argument(&turn, frame).map(str::to_owned);
        }
        let written = written(&value)?;
        let is_read = match (value.as_str(), &style) {
            (Some(text), _) => written == text,
            (None, Style::Quoted(open, close)) => {
                json_in_quotes(&written, &(open.clone(), close.clone())) == Some(value)
            }
            (None, _) => json::parse(&written).is_ok_and(|parsed| parsed == value),
        };
        (!is_read).then_some(written)
    };
    let untyped = |value: Value| {
        let written = written(&value)?;
        (!content::is_coerced(&written, &value)).then_some(written)
    };
    let array = Value::Array(vec![Value::from("opal"), Value::Bool(true), Value::Null]);
    let signs = match &style {
        Style::Text => Escaped::find(["opal", "drift"], |text| written(&Value::from(text))),
        Style::Json { .. } | Style::Quoted(..) => None,
    };
    let texts = unread(Value::from(SIGNS));
    let quote = match &style {
        Style::Quoted(_, close) => Some(close.clone()).filter(|_| texts.is_none()),
        _ => None,
    };
    pairs.unread = Unread {
        texts,
        quote,
        signs,
        objects: unread(probe::object([("violet", array.clone())])),
        arrays: unread(array),
        booleans: untyped(Value::Bool(true)),
        nulls: untyped(Value::Null),
    };
    pairs.style = style;
}

/// A value of each kind that is no text.
pub(in crate::derive) fn of_each_kind() -> [Value; 6] {
    let number = Value::from(8_675_309);
    [
        number.clone(),
        Value::from(867.5309),
        Value::Array(vec![number.clone()]),
        probe::object([("violet", number)]),
        Value::Bool(true),
        Value::Null,
    ]
}

/// The candidates for how values are read of which texts stand in quotes, where a list of texts is written as `list`.
fn candidates(quotes: (String, String), list: &str, is_read: bool) -> Vec<Candidate<Style>> {
    let (open, close) = &quotes;
    let is_plain = json::parse(list).is_ok();
    let json = is_read.then(|| {
        let because = if is_plain {
            format!("a list of texts is written as {list}, which the tools' schemas type as well")
        } else {
            format!("a list of texts is written as {list}, which is JSON but for the quotes")
        };
        Candidate::new(
            "as JSON",
            format!("JSON with texts between {open} and {close}, and as text where that is none"),
            because,
            Style::Quoted(open.clone(), close.clone()),
        )
    });
    let text = Candidate::new(
        "as text",
        "text, which the tools' schemas type",
        "whatever is written comes back at least as text",
        Style::Text,
    );
    let mut candidates: Vec<_> = json.into_iter().chain([text]).collect();
    if is_plain {
        candidates.reverse();
    }
    candidates
}

/// Parses a text as JSON with strings between these quotes.
fn json_in_quotes(text: &str, (open, close): &(String, String)) -> Option<Value> {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open.as_str()) {
        let Some((string, after)) = after.split_once(close.as_str()) else {
            break;
        };
        plain.push_str(before);
        plain.push_str(&json::quote(string));
        rest = after;
    }
    plain.push_str(rest);
    json::parse(&plain).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_may_have_other_quotes() {
        let quotes = |open: &str, close: &str| (open.to_owned(), close.to_owned());
        let read =
            |text: &str| json_in_quotes(text, &quotes("'", "'")).map(|v| json::to_string(&v));
        assert_eq!(
            read("['a', 1, '\"']").as_deref(),
            Some("[\"a\", 1, \"\\\"\"]")
        );
        assert_eq!(read("[\"it's\"]").as_deref(), Some("[\"it's\"]"));
        assert_eq!(read("['a', None]"), None);
        let found = json_in_quotes("{\"a\": <q>b</q>}", &quotes("<q>", "</q>"));
        assert_eq!(json::to_string(&found.unwrap()), "{\"a\": \"b\"}");
    }
}
