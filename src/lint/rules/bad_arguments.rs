//! Arguments that a content parser cannot use.

use crate::diagnostic::{Diagnostic, Severity};
use crate::lint::subject::Subject;
use crate::lint::{Example, Rule, Shows};
use crate::pattern::Pattern;
use crate::value::Value;

pub(super) static RULE: Rule = Rule {
    code: "bad-arguments",
    severity: Severity::Error,
    summary: "a content parser cannot use its `content_args`",
    why: "Nothing looks at `content_args` before a region is parsed. Arguments of the wrong type, a pattern that does not compile, \
          or one without the groups `key` and `value`, show only then, as an error of every region.",
    remedy: "Give the content parser what it needs.",
    example: Example {
        bad: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "close": "</call>", "content": "xml-inline",
  "content_args": {"tag_pattern": "<(\\w+)>(.*?)</"}}}}"#,
        good: r#"{"start_anchor": "<bot>", "fields": {"call": {"open": "<call>", "close": "</call>", "content": "xml-inline",
  "content_args": {"tag_pattern": "<(?P<key>\\w+)>(?P<value>.*?)</"}}}}"#,
        chat: None,
        shows: Shows::Message {
            response: "<call><a>1</a></call>",
            bad: "error: field 'call': tag_pattern matched without its group `key`",
            good: r#"{"call": {"a": "1"}}"#,
        },
    },
    check,
};

fn check(subject: &Subject<'_>, found: &mut Vec<Diagnostic>) {
    for view in subject.fields() {
        let path = subject.path(view);
        let arguments = view.members.get("content_args");
        if let Some(error) = view.field.content.fault() {
            let message = format!("{}: every region fails", error.message());
            let mut diagnostic = match arguments {
                Some(_) => subject.at(&RULE, &path.key("content_args"), message),
                None => subject.at_key(&RULE, &path.key("content"), message),
            };
            diagnostic.hint = error.hint().map(str::to_owned);
            found.push(diagnostic);
            continue;
        }
        if view.field.content.name() != "xml-inline" {
            continue;
        }
        let tag = arguments.and_then(|arguments| arguments.get("tag_pattern"));
        let Some(Ok(tag)) = tag.and_then(Value::as_str).map(Pattern::regex) else {
            continue;
        };
        for (name, message, severity) in [
            (
                "key",
                "without a group `key` every region fails",
                Severity::Error,
            ),
            (
                "value",
                "without a group `value` every value is empty",
                Severity::Warning,
            ),
        ] {
            if !tag.group_names().iter().any(|group| group == name) {
                let path = path.key("content_args").key("tag_pattern");
                let mut diagnostic = subject
                    .at(&RULE, &path, message)
                    .with_hint(format!("name one with (?P<{name}>...)"));
                diagnostic.severity = severity;
                found.push(diagnostic);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::found;

    #[test]
    fn whatever_fails_every_region_is_found() {
        for (content, count) in [
            (r#""content": "xml-inline""#, 1),
            (
                r#""content": "xml-inline", "content_args": {"tag_pattern": "("}"#,
                1,
            ),
            (
                r#""content": "xml-inline", "content_args": {"tag_pattern": "(?P<key>a)"}"#,
                1,
            ),
            (
                r#""content": "json", "content_args": {"string_delims": 5}"#,
                1,
            ),
            (
                r#""content": "kv-lines", "content_args": {"kv_sep": ""}"#,
                1,
            ),
            (
                r#""content": "kv-lines", "content_args": {"value_parser": {"name": "jsn"}}"#,
                1,
            ),
            (
                r#""content": "kv-lines", "content_args": {"value_parser": {"name": "xml-inline"}}"#,
                1,
            ),
            (r#""content": "kv-lines""#, 0),
        ] {
            let text = format!(r#"{{"start_anchor": "a", "fields": {{"f": {{{content}}}}}}}"#);
            assert_eq!(found("bad-arguments", &text).len(), count, "{text}");
        }
    }
}
