//! The judge is tested with chat templates and response templates that are written here by hand, right ones and broken ones: what
//! is right must not be accused, and what is broken must not pass. Each rule of the judge has a test that fails without it.

mod characters;
mod comparison;
mod conditions;
mod counterexamples;
mod fields;
mod manners;
mod parts;
mod texts;
mod turns;
mod unproved;

use std::cell::Cell;
use std::sync::Arc;

use super::{Judge, Judgement, Kind, KindVerdict, Scrutiny, Setup, Subject};
use crate::chat_template;
use crate::response_template::ResponseTemplate;
use crate::value::Map;

/// A chat template that writes `answer` for an answer before its end, and `behind` after the conversation.
fn turns(answer: &str, behind: &str) -> String {
    format!(
        "{{% for m in messages %}}{{% if m.role == 'assistant' %}}{answer}<end>\
         {{% else %}}<{{{{ m.role }}}}>{{{{ m.content }}}}<end>{{% endif %}}{{% endfor %}}{behind}"
    )
}

/// Jinja source that writes `prompt` behind the conversation where a prompt is asked for.
fn asked(prompt: &str) -> String {
    format!("{{% if add_generation_prompt %}}{prompt}{{% endif %}}")
}

/// A chat template with turns of this kind of answer, after a prompt that ends with `prompt`.
fn chat(answer: &str, prompt: &str) -> String {
    turns(&format!("<bot>{answer}"), &asked(&format!("<bot>{prompt}")))
}

/// Answers in which each part stands between markers of its own.
const THOUGHT: &str = "{% if m.thinking %}<r>{{ m.thinking }}</r>{% endif %}";
const SAID: &str = "{% if m.content %}<t>{{ m.content }}</t>{% endif %}";
const CALLED: &str =
    "{% for c in m.tool_calls or [] %}<c>{{ c.function | tojson }}</c>{% endfor %}";
/// Calls whose arguments stand between markers.
const TAGGED: &str = "{% for c in m.tool_calls or [] %}<c:{{ c.function.name }}>\
    {% for k, v in c.function.arguments.items() %}<a:{{ k }}>{{ v if v is string else v | tojson }}</a>{% endfor %}\
    <z:done>yes</a></c>{% endfor %}";

/// The fields that bring them back.
const THINKING: &str = r#""thinking": {"open": "<r>", "close": "</r>"}"#;
const CONTENT: &str = r#""content": {"open": "<t>", "close": "</t>"}"#;
const CALLS: &str = r#""tool_calls": {"open": "<c>", "close": "</c>", "content": "json", "repeats": true,
    "transform": {"type": "function", "function": "{content}"}}"#;
const TAGS: &str = r#""tool_calls": {"open_pattern": "<c:(?P<name>[^>]*)>", "close": "</c>", "content": "xml-inline", "repeats": true,
    "content_args": {"tag_pattern": "<a:(?P<key>[^>]*)>(?P<value>.*?)</a>"},
    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}}"#;
/// Calls whose name stands before a `|`, with arguments behind it that this parser reads.
fn named_calls(parser: &str) -> String {
    CALLS
        .replace(
            r#""open": "<c>""#,
            r#""open_pattern": "<c>(?P<name>[^|]*)\\|""#,
        )
        .replace(r#""content": "json""#, &format!(r#""content": "{parser}""#))
        .replace(
            r#""{content}""#,
            r#"{"name": "{name}", "arguments": "{content}"}"#,
        )
}

/// Content that takes what no other field does, up to the end of the turn.
const REST: &str = r#""content": {"close": "<end>"}"#;

/// A response template with these fields. Without its role no message could be appended to a conversation.
fn fields(fields: &[&str]) -> String {
    with_defaults("", fields)
}

fn with_defaults(defaults: &str, fields: &[&str]) -> String {
    let fields = fields.join(", ");
    format!(
        r#"{{"defaults": {{"role": "assistant"{defaults}}}, "start_anchor": "<bot>", "fields": {{{fields}}}}}"#
    )
}

/// The settings of rendering and judging that differ from the usual ones.
#[derive(Default)]
struct Setting<'a> {
    parts: bool,
    thorough: bool,
    reasoning_field: Option<&'a str>,
    /// The variables without which the chat template does not render.
    variables: Map,
}

impl Setting<'_> {
    /// Lets `ask` ask the judge something of the two templates.
    fn ask<T>(
        &self,
        chat: &str,
        response: &str,
        ask: impl FnOnce(&Judge<'_>, Subject<'_>) -> T,
    ) -> T {
        let source = chat_template::from_text("test", chat).expect("a chat template");
        let template = ResponseTemplate::from_json(response).expect("a response template");
        let steps = Cell::new(u64::MAX);
        let setup = Setup {
            clock: None,
            steps: &steps,
            parts: self.parts,
            opening: None,
            variables: &|_| self.variables.clone(),
            thorough: self.thorough,
            extent: crate::judge::Extent::ALL,
        };
        let subject = Subject {
            template: &Arc::new(template),
            reasoning_field: self.reasoning_field,
            scrutiny: match self.thorough {
                true => Scrutiny::EverySize,
                false => Scrutiny::Pieces,
            },
        };
        ask(&Judge::new(&source, &setup), subject)
    }

    fn judge(&self, chat: &str, response: &str) -> Judgement {
        self.ask(chat, response, |judge, subject| judge.judge(subject))
    }
}

fn judged(chat: &str, response: &str) -> Judgement {
    Setting::default().judge(chat, response)
}

fn row(judgement: &Judgement, kind: Kind) -> Option<&KindVerdict> {
    judgement.kinds.iter().find(|row| row.kind == kind)
}

/// Returns true if messages of the kind are rendered and all come back.
fn holds(judgement: &Judgement, kind: Kind) -> bool {
    row(judgement, kind).is_some_and(|row| row.rendered && row.came_back == row.tried)
}

/// Returns true if messages of the kind are rendered and not all come back.
fn fails(judgement: &Judgement, kind: Kind) -> bool {
    row(judgement, kind).is_some_and(|row| row.came_back + row.alike < row.tried)
}

/// Asserts that these kinds fail and those hold.
#[track_caller]
fn assert_kinds(judgement: &Judgement, failing: &[Kind], holding: &[Kind]) {
    for kind in failing {
        assert!(
            fails(judgement, *kind),
            "{kind:?} must fail: {:#?}",
            judgement.kinds
        );
    }
    for kind in holding {
        assert!(
            holds(judgement, *kind),
            "{kind:?} must hold: {:#?}",
            row(judgement, *kind)
        );
    }
}

/// Asserts that all messages come back, and some do.
#[track_caller]
fn assert_all_back(judgement: &Judgement) {
    let failure = judgement.failures.first();
    assert!(
        failure.is_none(),
        "{:#?}",
        failure.map(|failure| &failure.found)
    );
    assert!(judgement.rounds.passed > 0 && judgement.excused.is_none());
}

/// The error of the first message that fails.
fn first_error(judgement: &Judgement) -> &str {
    let first = judgement.failures.first();
    first
        .and_then(|first| first.found.error.as_deref())
        .unwrap_or_default()
}
