//! Learning of calls whose arguments stand in tags, and what is told of the responses in the end.

use super::{CALL, Recorded, learn, message, moth, recorded};

/// A chat template with calls whose arguments stand in tags.
const TAGS: &str = r#"{%- for m in messages -%}<{{ m.role }}>{{ m.content or '' }}
{%- for c in m.tool_calls or [] -%}<call>{{ c.function.name }}
{%- for k, v in c.function.arguments.items() -%}<key>{{ k }}</key><value>{{ v if v is string else v | tojson }}</value>{%- endfor -%}</call>{%- endfor -%}<end>
{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}"#;

/// A text that speaks of a call is none, also where the model writes other tags.
#[test]
fn a_call_opens_only_where_its_body_begins_as_models_write_it() {
    let expected = format!("{{{CALL}}}");
    let taught = recorded(
        "<call>get_weather<k>city</k><v>Paris</v></call><end>",
        Some(&expected),
    );
    let derivation = learn(TAGS, std::slice::from_ref(&taught), &[]);
    let findings = &derivation.report.findings;
    assert!(
        findings
            .iter()
            .any(|finding| finding.code == "call-opening")
    );
    let prefix = "<assistant>";
    let said = "The sign <call> is used for that.";
    let expected = format!(r#"{{"role": "assistant", "content": "{said}"}}"#);
    assert_eq!(
        message(&derivation, prefix, &format!("{said}<end>")),
        expected
    );
    let expected = format!(r#"{{"role": "assistant", {CALL}}}"#);
    for [key, value] in [["k", "v"], ["key", "value"]] {
        let call =
            format!("<call>get_weather<{key}>city</{key}><{value}>Paris</{value}></call><end>");
        assert_eq!(message(&derivation, prefix, &call), expected);
    }
}

/// A server gives ids to calls, which stand in messages and in no response.
#[test]
fn an_id_that_stands_nowhere_in_the_response_is_not_asked_for() {
    let expected = format!(
        "{{{}}}",
        CALL.replace(r#"{"type""#, r#"{"id": "call_1", "type""#)
    );
    let taught = ["get_weather", "get_weather<k>city</k><v>Paris</v>"].map(|call| {
        let call = call.replace("get_weather", "<call>get_weather");
        match call.contains("<k>") {
            true => recorded(&format!("{call}</call><end>"), Some(&expected)),
            false => recorded(
                &format!("{call}<key>city</key><value>Paris</value></call><end>"),
                Some(&expected),
            ),
        }
    });
    let derivation = learn(TAGS, &taught, &[]);
    let report = derivation.report.responses.unwrap();
    assert_eq!((report.right_before, report.right), (1, 2), "{report:#?}");
}

/// A response counts as read, too, that is read only by what is done after learning.
#[test]
fn the_report_tells_what_is_read_in_the_end() {
    let chat = r#"{%- for m in messages -%}<{{ m.role }}>{% if m.role == 'assistant' and m.content %}<say>{{ m.content }}</say>{% else %}{{ m.content or '' }}{% endif %}<end>
{%- endfor -%}{%- if add_generation_prompt -%}<assistant>{%- endif -%}"#;
    let bare = recorded("Hello there.<end>", Some(r#"{"content": "Hello there."}"#));
    let wrong = recorded("Bye.<end>", Some(r#"{"content": "Something else."}"#));
    let derivation = learn(chat, &[bare, wrong], &[]);
    let report = derivation.report.responses.unwrap();
    let read = derivation.responses.len();
    assert_eq!(
        (report.right, report.short.len(), read),
        (1, 1, 1),
        "{report:#?}"
    );
    let shown = derivation.report.evidence.iter();
    let shown = shown.filter(|one| one.reading.contains("is not read right"));
    assert_eq!(shown.count(), 1);
}

#[test]
fn contradicting_messages_are_told() {
    let given = ["Hello there.", "Hello"].map(|content| {
        let expected = format!(r#"{{"content": "{content}"}}"#);
        Recorded {
            name: format!("the one with {content}"),
            ..recorded("Hello there.@end", Some(&expected))
        }
    });
    let (derivation, report) = moth(&given);
    assert_eq!(report.short.len(), 1, "{report:#?}");
    let why = &report.short[0].why;
    assert!(
        why.contains("the one with Hello there. has the same text and another message"),
        "{why}"
    );
    // It is shown beside the nearest render.
    let shown = derivation.report.evidence.iter();
    assert_eq!(shown.filter(|one| one.decision == "response").count(), 1);
}
