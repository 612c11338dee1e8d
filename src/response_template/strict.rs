//! The question whether vLLM can hold a model to the calls of a response template.
//!
//! `vllm/parser/response_template_grammar.py` of vLLM 0.33 makes a structural tag of a response template, so that a model writes nothing but
//! valid calls in its own format. It takes the delimiters apart into the texts that they stand for, and gives up where that is not possible.
//! The rules here are its rules, so far as they ask about the response template alone; a tool's schema may still defeat it. Which of
//! vLLM's parsers ask it for a tag is another matter: in 0.33 the one for Beam checkpoints does, and none else.
//!
//! For example, `</call>\n?` stands for two texts and `</call>\s*` for more than anybody can list.

use regex_automata::hybrid::dfa;
use regex_automata::{Anchored, Input};

use super::{Delimiter, Document, FieldDocument};
use crate::diagnostic::Diagnostic;
use crate::value::{Path, Value};

/// How many texts a pattern may stand for.
pub(crate) const MAX_TEXTS: usize = 16;

/// Stands for `^` in an expanded pattern.
const START: char = '\0';

/// Stands before the text of a look-ahead in an expanded pattern.
const AHEAD: char = '\u{1}';

/// The characters that JSON writes outside of strings, as vLLM has them.
const JSON_SIGNS: &str = " \t\n\r{}[],:\"-+.0123456789eEtrufalsn";

/// Everything for which vLLM makes no structural tag for the calls of a response template, each with its JSON path; nothing for a response
/// template without calls.
pub(super) fn refusals(document: &Document) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let fields = Path::default().key("fields");
    let Some(calls) = document.fields.get("tool_calls") else {
        return found;
    };
    check_calls(calls, &fields.key("tool_calls"), &mut found);
    if let Some(thinking) = document.fields.get("thinking") {
        let path = fields.key("thinking");
        check_ends(&thinking.open, "open", true, &path, &mut found);
        check_ends(&thinking.close, "close", true, &path, &mut found);
    }
    found
}

fn refusal(path: &Path, message: &str) -> Diagnostic {
    Diagnostic::info("no-strict-calls", message).with_path(path.to_string())
}

fn check_calls(field: &FieldDocument, path: &Path, found: &mut Vec<Diagnostic>) {
    if !is_named_by_open(field) {
        let message = "the function's name and its arguments are not the group `name` of open_pattern and the whole content";
        found.push(refusal(&path.key("transform"), message));
    } else if let Some(Delimiter::Pattern(open)) = &field.open
        && let Some((before, _, after)) = split_group(open, "name")
        && [before, after].iter().any(|part| has_special_group(part))
    {
        let message =
            "xgrammar's regular expressions have no other groups with names and no look-around";
        found.push(refusal(&path.key("open_pattern"), message));
    }
    let closes = check_ends(&field.close, "close", false, path, found);
    check_arguments(field, &closes.unwrap_or_default(), path, found);
}

/// Returns true if the name is a group of the opening and the arguments are the content.
fn is_named_by_open(field: &FieldDocument) -> bool {
    let function = field
        .transform
        .as_ref()
        .and_then(|some| some.get("function"));
    let is = |key: &str, wanted: &str| {
        let value = function.and_then(|function| function.get(key));
        value.and_then(Value::as_str) == Some(wanted)
    };
    let is_in_open =
        matches!(&field.open, Some(Delimiter::Pattern(open)) if open.contains("(?P<name>"));
    is_in_open && !field.transform_each && is("name", "{name}") && is("arguments", "{content}")
}

/// Returns true if a part of a pattern has a group that is not plain, such as a named one or a look-ahead.
fn has_special_group(part: &str) -> bool {
    part.match_indices("(?")
        .any(|(at, _)| !part[at..].starts_with("(?:") && !part[..at].ends_with('\\'))
}

/// The texts of a delimiter; `None` after a finding. `is_needed` says that there has to be one.
fn check_ends(
    delimiter: &Option<Delimiter>,
    key: &str,
    is_needed: bool,
    path: &Path,
    found: &mut Vec<Diagnostic>,
) -> Option<Vec<String>> {
    let texts = match delimiter {
        None if is_needed => {
            found.push(refusal(path, &format!("there is no {key}")));
            return None;
        }
        None => return Some(Vec::new()),
        Some(Delimiter::Literals(texts)) => return Some(texts.clone()),
        Some(Delimiter::Pattern(source)) => texts_of(source, false),
    };
    if texts.is_none() {
        let key = format!("{key}_pattern");
        let message = format!("{key} does not come apart into at most {MAX_TEXTS} texts");
        found.push(refusal(&path.key(&key), &message));
    }
    texts
}

fn check_arguments(
    field: &FieldDocument,
    closes: &[String],
    path: &Path,
    found: &mut Vec<Diagnostic>,
) {
    let args = path.key("content_args");
    match field.content.as_deref() {
        Some("json") if field.content_args.is_empty() => {
            let is_json = |text: &String| text.chars().all(|c| JSON_SIGNS.contains(c));
            if closes
                .iter()
                .any(|close| is_json(close) || overlaps(close, closes))
            {
                let message = "what closes a call may stand within its JSON";
                found.push(refusal(path, message));
            }
        }
        Some("json") => {
            let message = "the content is JSON with arguments of its own for its parser";
            found.push(refusal(&args, message));
        }
        Some("xml-inline") => {
            if let Some((key, message)) = tags_refusal(field, closes) {
                let path = key.map_or(args.clone(), |key| args.key(key));
                found.push(refusal(&path, message));
            }
        }
        _ => {
            let message = "the content is neither json nor xml-inline";
            found.push(refusal(&path.key("content"), message));
        }
    }
}

/// Returns true if a close may begin before another close does, in what JSON ends with.
fn overlaps(close: &str, closes: &[String]) -> bool {
    let splits = close
        .char_indices()
        .skip(1)
        .map(|(at, _)| close.split_at(at));
    splits
        .filter(|(head, _)| head.ends_with(|c| JSON_SIGNS.contains(c)))
        .any(|(_, rest)| {
            closes
                .iter()
                .any(|one| one.starts_with(rest) || rest.starts_with(one.as_str()))
        })
}

/// Why vLLM cannot say how arguments in tags are written: the key of `content_args`, where it is one, and the reason.
fn tags_refusal(
    field: &FieldDocument,
    closes: &[String],
) -> Option<(Option<&'static str>, &'static str)> {
    let known = ["tag_pattern", "value_parser", "merge_duplicates"];
    if field
        .content_args
        .keys()
        .any(|key| !known.contains(&&**key))
    {
        return Some((None, "the parser has arguments that vLLM does not know"));
    }
    if let Some(parser) = field.content_args.get("value_parser") {
        let name = parser.get("name").and_then(Value::as_str);
        let has_args = parser.get("args").is_some_and(Value::is_truthy);
        if !matches!((name, has_args), (Some("text"), _) | (Some("json"), false)) {
            return Some((
                Some("value_parser"),
                "values are neither text nor plain JSON",
            ));
        }
    }
    let tag = field
        .content_args
        .get("tag_pattern")
        .and_then(Value::as_str)?;
    let parts = split_group(tag, "key").and_then(|(before, key, rest)| {
        let (middle, _, after) = split_group(rest, "value")?;
        Some(([before, middle, after], key))
    });
    let Some(([before, middle, after], key)) = parts else {
        return Some((
            Some("tag_pattern"),
            "tag_pattern does not have the group `value` behind the group `key`",
        ));
    };
    let texts = |part: &str, ahead: bool| texts_of(part, ahead).filter(|texts| !texts.is_empty());
    let (Some(begins), Some(middles), Some(ends)) = (
        texts(before, false),
        texts(middle, false),
        texts(after, true),
    ) else {
        return Some((
            Some("tag_pattern"),
            "what stands around the key and the value does not come apart into at most 16 texts",
        ));
    };
    let (aheads, ends): (Vec<String>, Vec<String>) =
        ends.into_iter().partition(|end| end.contains(AHEAD));
    let opens_next = |end: &String| end.split(AHEAD).nth(1) == begins.first().map(String::as_str);
    if ends.is_empty() || !aheads.is_empty() && (begins.len() > 1 || !aheads.iter().all(opens_next))
    {
        return Some((
            Some("tag_pattern"),
            "a value ends where something else begins than the next key",
        ));
    }
    let frame = Frame {
        begins,
        key,
        middles,
        ends,
    };
    frame.spells_any(closes)?.then_some((
        Some("tag_pattern"),
        "what stands around keys and values may spell what closes a call",
    ))
}

/// The texts around the keys and values of arguments in tags.
struct Frame<'a> {
    begins: Vec<String>,
    /// The pattern of a key.
    key: &'a str,
    middles: Vec<String>,
    ends: Vec<String>,
}

impl Frame<'_> {
    /// Returns true if some arguments, with what may follow the call, might have a close in them that does not close the call; `None` where the
    /// key's pattern is none that can be looked at.
    ///
    /// A close is cut in two at each place. Its first part has to be the end of one of the pieces, and its rest the beginning of what may follow the
    /// piece. Since a value is any text, each first part may be the end of one.
    fn spells_any(&self, closes: &[String]) -> Option<bool> {
        let any = |texts: &[String]| {
            let texts = texts.iter().map(|text| regex_syntax::escape(text));
            format!("(?:{})", texts.collect::<Vec<_>>().join("|"))
        };
        let pieces = [
            format!("\\n?{}", any(&self.begins)),
            format!("(?:{})", self.key),
            any(&self.middles),
            "[\\s\\S]*".to_owned(),
            any(&self.ends),
        ];
        let all = pieces.concat();
        let closed = format!("(?:{all})*{}[\\s\\S]*", any(closes));
        let opened: Vec<String> = self.begins.iter().map(|text| format!("\n{text}")).collect();
        let opened = [opened, self.begins.clone()].concat();
        for (index, texts) in [
            (0, Some(&opened)),
            (2, Some(&self.middles)),
            (3, None),
            (4, Some(&self.ends)),
        ] {
            let follows = Beginnings::of(&format!("{}{closed}", pieces[index + 1..].concat()))?;
            let is_end = |part: &str| {
                texts.is_none_or(|texts| texts.iter().any(|text| text.ends_with(part)))
            };
            for close in closes {
                let holds = |text: &String| text.contains(close.as_str());
                let mut cuts = close
                    .char_indices()
                    .skip(1)
                    .map(|(at, _)| close.split_at(at));
                if texts.is_some_and(|texts| texts.iter().any(holds))
                    || cuts.any(|(head, rest)| is_end(head) && follows.has(rest))
                {
                    return Some(true);
                }
            }
        }
        Some(false)
    }
}

/// The beginnings of the texts that a regular expression matches.
struct Beginnings(dfa::DFA);

impl Beginnings {
    fn of(source: &str) -> Option<Self> {
        dfa::DFA::new(source).ok().map(Self)
    }

    /// Returns true if a text that is matched as a whole begins with this one.
    fn has(&self, text: &str) -> bool {
        let mut cache = self.0.create_cache();
        let input = Input::new(text).anchored(Anchored::Yes);
        let Ok(mut state) = self.0.start_state_forward(&mut cache, &input) else {
            return true;
        };
        for byte in text.bytes() {
            match self.0.next_state(&mut cache, state, byte) {
                Ok(next) if next.is_dead() => return false,
                Ok(next) => state = next,
                Err(_) => return true,
            }
        }
        true
    }
}

/// A pattern as three: what stands before a named group, in it, and behind it.
pub(crate) fn split_group<'p>(pattern: &'p str, name: &str) -> Option<(&'p str, &'p str, &'p str)> {
    let opener = format!("(?P<{name}>");
    let start = pattern.find(&opener)?;
    let (mut depth, mut is_escaped, mut is_in_set) = (0, false, false);
    for (at, c) in pattern[start..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if is_in_set => is_in_set = c != ']',
            '[' => is_in_set = true,
            '(' => depth += 1,
            ')' if depth == 1 => {
                let end = start + at;
                return Some((
                    &pattern[..start],
                    &pattern[start + opener.len()..end],
                    &pattern[end + 1..],
                ));
            }
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// The texts that a pattern stands for, as vLLM takes it apart: characters, escapes of punctuation and of `\n`, `\r` and `\t`, groups without a
/// name, alternatives, `?`, and with `ahead` a look-ahead at the end, whose text stands behind [`AHEAD`]. `None` where there is anything else,
/// or more than [`MAX_TEXTS`] on the way.
pub(crate) fn texts_of(pattern: &str, ahead: bool) -> Option<Vec<String>> {
    let mut rest = pattern;
    let texts = alternatives(&mut rest)?;
    let is_allowed =
        |text: &String| !text.contains(START) && text.matches(AHEAD).count() <= usize::from(ahead);
    (rest.is_empty() && texts.iter().all(is_allowed)).then_some(texts)
}

fn alternatives(rest: &mut &str) -> Option<Vec<String>> {
    let mut texts: Vec<String> = Vec::new();
    loop {
        for text in concatenation(rest)? {
            if !texts.contains(&text) {
                texts.push(text);
            }
        }
        match rest.strip_prefix('|') {
            Some(behind) => *rest = behind,
            None => break,
        }
    }
    (texts.len() <= MAX_TEXTS).then_some(texts)
}

fn concatenation(rest: &mut &str) -> Option<Vec<String>> {
    let mut texts = vec![String::new()];
    while !rest.is_empty() && !rest.starts_with(['|', ')']) {
        let mut atoms = atom(rest)?;
        if let Some(behind) = rest.strip_prefix('?') {
            *rest = behind;
            atoms.insert(0, String::new());
        }
        // A look-ahead says nothing of what is read behind it.
        if texts.iter().any(|text| text.contains(AHEAD)) {
            return None;
        }
        texts = texts
            .iter()
            .flat_map(|text| atoms.iter().map(move |atom| format!("{text}{atom}")))
            .collect();
        if texts.len() > MAX_TEXTS {
            return None;
        }
    }
    Some(texts)
}

fn atom(rest: &mut &str) -> Option<Vec<String>> {
    for (opener, mark) in [("(?:", ""), ("(?=", "\u{1}")] {
        if let Some(behind) = rest.strip_prefix(opener) {
            *rest = behind;
            let texts = alternatives(rest)?;
            *rest = rest.strip_prefix(')')?;
            return Some(texts.iter().map(|text| format!("{mark}{text}")).collect());
        }
    }
    let mut signs = rest.chars();
    let text = match (signs.next()?, signs.clone().next()) {
        ('\\', Some(escaped)) => {
            signs.next();
            match escaped {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                other if other.is_alphanumeric() => return None,
                other => other,
            }
        }
        ('^', _) => START,
        ('.' | '$' | '*' | '+' | '?' | '{' | '}' | '[' | ']' | '\\' | '(' | ')', _) => return None,
        (plain, _) => plain,
    };
    *rest = signs.as_str();
    Some(vec![text.to_string()])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pattern: &str) -> Option<Vec<String>> {
        texts_of(pattern, false)
    }

    #[test]
    fn a_pattern_comes_apart_into_its_texts() {
        let is = |pattern: &str, wanted: &[&str]| {
            assert_eq!(texts(pattern).unwrap(), wanted, "{pattern}");
        };
        is("</c>\\n?", &["</c>", "</c>\n"]);
        is("(?:<a>|<b>)\\|x", &["<a>|x", "<b>|x"]);
        is("a|b|a", &["a", "b"]);
        is("(?:a(?:b)?)?c", &["c", "ac", "abc"]);
        for pattern in [
            "</c>\\s*",
            "[ab]",
            "a{2}",
            "a+",
            "(a)",
            "(?:a",
            "a)",
            "^a",
            "a$",
            "a(?=b)",
            "\\d",
            "a?b?c?d?e?",
        ] {
            assert_eq!(texts(pattern), None, "{pattern}");
        }
        assert_eq!(texts_of("a(?=b)", true).unwrap(), ["a\u{1}b"]);
        assert_eq!(texts_of("(?=b)a", true), None);
    }

    #[test]
    fn a_group_is_found_with_its_end() {
        let split = split_group("<(?:f|g)=(?P<name>[^)\\]]+(?:x))>\\)", "name");
        assert_eq!(split, Some(("<(?:f|g)=", "[^)\\]]+(?:x)", ">\\)")));
        assert_eq!(split_group("<f>", "name"), None);
        assert_eq!(split_group("(?P<name>x", "name"), None);
    }

    fn told(fields: &str) -> Vec<String> {
        let text = format!(r#"{{"start_anchor": "<b>", "fields": {fields}}}"#);
        let value = crate::value::json::parse(&text).unwrap();
        let document = Document::of(&value).unwrap();
        let place = |found: Diagnostic| found.place.path.unwrap_or_default();
        refusals(&document).into_iter().map(place).collect()
    }

    fn call(open: &str, close: &str, content: &str) -> String {
        format!(
            r#"{{"tool_calls": {{"open_pattern": "{open}", {close}, {content}, "repeats": true,
            "transform": {{"type": "function", "function": {{"name": "{{name}}", "arguments": "{{content}}"}}}}}}}}"#
        )
    }

    #[test]
    fn each_part_has_to_come_apart() {
        let (open, close, json) = (
            "<c>(?P<name>\\\\w+)\\\\s*",
            r#""close": "</c>""#,
            r#""content": "json""#,
        );
        assert_eq!(told(&call(open, close, json)), Vec::<String>::new());
        let free = r#""close_pattern": "</c>\\s*""#;
        assert_eq!(
            told(&call(open, free, json)),
            ["$.fields.tool_calls.close_pattern"]
        );
        let two = "(?P<id>x)(?P<name>\\\\w+)";
        assert_eq!(
            told(&call(two, close, json)),
            ["$.fields.tool_calls.open_pattern"]
        );
        let own = r#""content": "json", "content_args": {"unquoted_keys": true}"#;
        assert_eq!(
            told(&call(open, close, own)),
            ["$.fields.tool_calls.content_args"]
        );
        assert_eq!(
            told(&call(open, r#""close": "}}""#, json)),
            ["$.fields.tool_calls"]
        );
        let tags = |pattern: &str| {
            format!(r#""content": "xml-inline", "content_args": {{"tag_pattern": "{pattern}"}}"#)
        };
        let right = tags("<p=(?P<key>\\\\w+)>\\\\n?(?P<value>.*?)\\\\n?</p>");
        assert_eq!(told(&call(open, close, &right)), Vec::<String>::new());
        let wrong = tags("<p=(?P<key>\\\\w+)>\\\\s*(?P<value>.*?)</p>");
        assert_eq!(
            told(&call(open, close, &wrong)),
            ["$.fields.tool_calls.content_args.tag_pattern"]
        );
        assert_eq!(
            told(&call(open, close, r#""content": "text""#)),
            ["$.fields.tool_calls.content"]
        );
        let inside = r#"{"tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "transform": {"type": "function", "function": "{content}"}}}"#;
        assert_eq!(told(inside), ["$.fields.tool_calls.transform"]);
        let reasoning =
            r#"{"thinking": {"open": "<t>", "close_pattern": "</t>\\s*"}, "tool_calls": "#;
        let both = format!(
            "{reasoning}{}}}",
            &call(open, close, json)
                .strip_prefix(r#"{"tool_calls": "#)
                .unwrap()
                .strip_suffix('}')
                .unwrap()
        );
        assert_eq!(told(&both), ["$.fields.thinking.close_pattern"]);
    }
}
