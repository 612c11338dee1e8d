//! What is derived from chat templates that want their input in another form.

use crate::support::deriving::{derive_text, findings};

#[test]
fn content_as_parts_only() {
    let derivation = derive_text(
        "{% for m in messages %}{{ m.role }}:{% for part in m.content %}{% if part.type == 'text' %} {{ part.text }}{% endif %}{% endfor %}<end>\n{% endfor %}{% if add_generation_prompt %}assistant:{% endif %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["assistant:"]);
    assert!(findings(&derivation).contains(&"content-as-parts"));
}

/// White space that only the answer brings is not where the prompt ends.
#[test]
fn content_as_parts_without_a_generation_prompt() {
    let derivation = derive_text(
        "{% for m in messages %}{% if m.role == 'user' %}[U] {{ m.content[0].text }} [/U]{% else %} {{ m.content[0].text }}<end> {% endif %}{% endfor %}",
    )
    .expect("derived");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.start_anchor, ["[/U]"]);
}

/// The header of the next turn follows every turn, whether or not it is asked for.
#[test]
fn variables_that_nothing_renders_without() {
    let derivation = derive_text(
        "{{ 'Tools: ' + functions + ' on ' + day }}{% for m in messages %}<to>{{ m.role }}<say>{{ m.content }}{% if m.tool_calls %}<calls>{{ m.tool_calls | map(attribute='function') | list | tojson }}{% endif %}<end>{% endfor %}<to>assistant<say>",
    )
    .expect("derived");
    let report = &derivation.report;
    assert!(report.verified, "{:#?}", report.findings);
    assert_eq!(report.content.close, "<end>");
    assert!(report.supports.parallel_calls);
    let wants = report
        .findings
        .iter()
        .find(|finding| finding.code == "wants-variables");
    let wants = &wants.expect("a finding").text;
    assert!(
        wants.contains("functions (the tools, as a text), day (the tools, as a text)"),
        "{wants}"
    );
    let word = derive_text(
        "{% if effort not in ['meek', 'bold'] %}{{ raise_exception('effort has to be meek or bold') }}{% endif %}{{ effort }}{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    );
    let word = word.expect("derived").report;
    assert!(word.verified, "{:#?}", word.findings);
    let wants = word
        .findings
        .iter()
        .find(|one| one.code == "wants-variables");
    assert!(wants.is_some_and(|one| one.text.ends_with("effort (\"meek\")")));
    let list = derive_text(
        "{% for tool in [] + functions %}{{ tool.function.name }}{% endfor %}{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}",
    );
    assert!(list.is_ok_and(|derivation| derivation.report.verified));
}
