//! Chat templates that write messages otherwise under a condition of which few messages are an example.

use super::*;

/// The responses that do not come back.
fn lost(chat: &str, response: &str) -> Vec<String> {
    let judgement = judged(chat, response);
    let failures = judgement.failures.iter();
    failures
        .map(|failure| failure.found.response.clone())
        .collect()
}

#[test]
fn calls_of_all_lengths_are_tried() {
    let response = fields(&[CONTENT, CALLS]);
    let called = |condition: &str| {
        let odd = format!("{{% if {condition} %}}<odd>{{% else %}}<c>{{% endif %}}");
        chat(&[SAID, &CALLED.replace("<c>", &odd)].concat(), "")
    };
    assert_eq!(lost(&called("false"), &response), [""; 0]);
    for condition in [
        "c.function.name | length == 1",
        "c.function.name | length > 30",
        "c.function.name[0] | upper == c.function.name[0]",
        "c.function.arguments | length > 5",
        "'_' in c.function.arguments | join",
        "c.function.arguments | map('length') | list | max | default(0) > 30",
    ] {
        let condition = condition.replace(" | max", " | sort | last");
        let lost = lost(&called(&condition), &response);
        let is_odd = |response: &String| response.contains("<odd>");
        assert!(!lost.is_empty() && lost.iter().all(is_odd), "{condition}");
    }
}

#[test]
fn answers_with_a_text_that_is_asked_for_are_tried() {
    let response = fields(&[CONTENT]);
    let answered = |condition: &str| {
        let odd = format!("{SAID}{{% if {condition} %}}<odd>{{% endif %}}");
        chat(
            &odd.replace("<t>{{", "{% if CONDITION %}<odd>{% else %}<t>{% endif %}{{")
                .replace("CONDITION", condition),
            "",
        )
    };
    assert_eq!(lost(&answered("m.content is none"), &response), [""; 0]);
    for condition in [
        "m.content == 'Yes'",
        "m.content.startswith('https://')",
        "m.content and m.content.endswith('?')",
        "'<answer>' in m.content",
    ] {
        assert!(
            !lost(&answered(condition), &response).is_empty(),
            "{condition}"
        );
    }
    // A text of the chat template's own markers is none that an answer is tried with.
    assert_eq!(lost(&answered("'</t>' in m.content"), &response), [""; 0]);
}

#[test]
fn answers_beside_few_tools_are_tried() {
    let response = fields(&[CONTENT, CALLS]);
    let answered = |condition: &str| {
        let odd = format!("<t>{{% if tools and {condition} %}}<odd>{{% endif %}}");
        let listed = "{% if tools %}<tools>{{ tools | tojson }}</tools>{% endif %}";
        let answer = [&SAID.replace("<t>", &odd), CALLED].concat();
        [listed, &chat(&answer, "")].concat()
    };
    let odd = |condition: &str| {
        let judgement = judged(&answered(condition), &response);
        let told = format!("{:?}", judgement.failures.first().map(|one| &one.found));
        told.contains("<odd>")
    };
    assert!(!odd("tools | length > 99"));
    assert!(odd("tools | length == 2"));
    assert!(odd("not tools[0].function.parameters.properties"));
}
