//! A chat template's beginning that writes parts of messages into their content.

use super::parts::{Body, Calls, Member, Pairs, Parts, Quoting};
use crate::derive::probe::CALLS_KEY;
use crate::value::json;

/// Returns the Jinja source that is put before a chat template: it takes each message of the assistant that has such parts for one whose
/// content has them written in it. The chat template then treats these as its messages.
pub(super) fn prelude(parts: &Parts) -> String {
    let mut written = String::new();
    let mut keys: Vec<&str> = Vec::new();
    for text in &parts.texts {
        keys.push(&text.key);
        written.push_str(&format!(
            "{{%- if m[{key}] -%}}{}{{{{ m[{key}] }}}}{}{{%- endif -%}}",
            constant(&text.before),
            constant(&text.behind),
            key = literal(&text.key)
        ));
    }
    written.push_str("{{ m['content'] or '' }}");
    if let Some(calls) = &parts.calls {
        keys.push(CALLS_KEY);
        written.push_str(&of_calls(calls));
    }
    let any: Vec<String> = keys
        .iter()
        .map(|key| format!("m[{}]", literal(key)))
        .collect();
    format!(
        "{{%- macro obverse_content(m) -%}}{written}{{%- endmacro -%}}\
         {{%- set obverse = namespace(messages=[]) -%}}\
         {{%- for m in messages -%}}\
         {{%- if m['role'] == 'assistant' and ({}) -%}}\
         {{%- set obverse.messages = obverse.messages + [dict(m, content=obverse_content(m))] -%}}\
         {{%- else -%}}{{%- set obverse.messages = obverse.messages + [m] -%}}{{%- endif -%}}\
         {{%- endfor -%}}\
         {{%- set messages = obverse.messages -%}}",
        any.join(" or ")
    )
}

fn of_calls(calls: &Calls) -> String {
    let body = match &calls.body {
        Body::Object(members) => object(members),
        Body::Named(between) => format!(
            "{{{{ call['function']['name'] }}}}{}{{{{ call['function']['arguments']|tojson }}}}",
            constant(between)
        ),
        Body::Pairs(pairs) => of_pairs(pairs),
    };
    format!(
        "{{%- if m['{CALLS_KEY}'] -%}}{}{{%- for call in m['{CALLS_KEY}'] -%}}{}{body}{}{}{{%- endfor -%}}{}{{%- endif -%}}",
        constant(&calls.open),
        constant(&calls.head),
        constant(&calls.tail),
        between(&calls.between),
        constant(&calls.close)
    )
}

fn object(members: &[(String, Member)]) -> String {
    let members = members.iter().map(|(key, member)| {
        let value = match member {
            Member::Name => "{{ call['function']['name']|tojson }}".to_owned(),
            Member::Arguments => "{{ call['function']['arguments']|tojson }}".to_owned(),
            Member::ArgumentsText => "{{ call['function']['arguments']|tojson|tojson }}".to_owned(),
            Member::Id => "{{ call['id']|tojson }}".to_owned(),
            Member::Constant(value) => constant(&json::to_string(value)),
        };
        format!("{}{value}", constant(&format!("{}: ", json::quote(key))))
    });
    let members: Vec<String> = members.collect();
    format!(
        "{}{}{}",
        constant("{"),
        members.join(&constant(", ")),
        constant("}")
    )
}

fn of_pairs(pairs: &Pairs) -> String {
    let text = match &pairs.texts {
        Quoting::Json => "{{ v|tojson }}".to_owned(),
        Quoting::Plain => "{{ v }}".to_owned(),
        Quoting::Quoted(quote) => {
            let quote = constant(&quote.to_string());
            format!("{quote}{{{{ v }}}}{quote}")
        }
    };
    let other = match pairs.is_python {
        true => "{{ v }}",
        false => "{{ v|tojson }}",
    };
    let value = match text == other {
        true => text,
        false => format!("{{%- if v is string -%}}{text}{{%- else -%}}{other}{{%- endif -%}}"),
    };
    format!(
        "{{{{ call['function']['name'] }}}}{}{{%- for k, v in call['function']['arguments'].items() -%}}{}{{{{ k }}}}{}{value}{}{}{{%- endfor -%}}",
        constant(&pairs.open),
        constant(&pairs.before_key),
        constant(&pairs.behind_key),
        constant(&pairs.behind_value),
        between(&pairs.between)
    )
}

/// Returns the Jinja source that writes the text between two turns of a loop.
fn between(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!(
            "{{%- if not loop.last -%}}{}{{%- endif -%}}",
            constant(text)
        ),
    }
}

/// A text that is printed as it is.
fn constant(text: &str) -> String {
    match text.is_empty() {
        true => String::new(),
        false => format!("{{{{ {} }}}}", literal(text)),
    }
}

/// A text as Jinja writes it in quotes.
fn literal(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            other => out.push(other),
        }
    }
    out.push('"');
    out
}
