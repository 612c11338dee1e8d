//! Tests of the manners in which a chat template takes a message, and of those that it refuses.

use super::*;

fn manner(judgement: &Judgement, kind: Kind) -> &str {
    row(judgement, kind).map_or("", |row| row.manner.as_str())
}

#[test]
fn arguments_that_are_taken_as_text_alone_come_back_as_either() {
    let called = "{% for c in m.tool_calls or [] %}<c>{{ c.function.name }}|{{ c.function.arguments + '' }}</c>{% endfor %}";
    let chat = chat(&[SAID, called].concat(), "");
    let text = judged(&chat, &fields(&[CONTENT, &named_calls("text")]));
    assert_all_back(&text);
    assert_eq!(manner(&text, Kind::Call), "arguments as text");
    // An object cannot be appended to the conversation.
    let object = judged(&chat, &fields(&[CONTENT, &named_calls("json")]));
    assert_kinds(&object, &[Kind::Call], &[Kind::Content]);
    assert!(
        first_error(&object).contains("does not render"),
        "{:#?}",
        object.failures.first()
    );
    // Where a chat template takes objects, a text is none.
    let objects = chat.replace("c.function.arguments + ''", "c.function.arguments | tojson");
    assert_all_back(&judged(&objects, &fields(&[CONTENT, &named_calls("json")])));
    let text = judged(&objects, &fields(&[CONTENT, &named_calls("text")]));
    assert_kinds(&text, &[Kind::Call], &[Kind::Content]);
    // A chat template that takes both as they are, but a text as it stands: a text that is no JSON of the arguments is another.
    let cut = named_calls("text").replace(r#""close": "</c>""#, r#""close": "}</c>""#);
    assert_kinds(
        &judged(&chat, &fields(&[CONTENT, &cut])),
        &[Kind::Call],
        &[],
    );
}

/// A chat template that writes a text as JSON once more takes objects: a response template that reads JSON within JSON alone loses them.
#[test]
fn arguments_are_objects_where_a_text_is_written_once_more() {
    let called = "{% for c in m.tool_calls or [] %}<c>{{ c.function.name }}|{{ c.function.arguments | tojson }}</c>{% endfor %}";
    let chat = chat(&[SAID, called].concat(), "");
    let calls = |close: &str| named_calls("json").replace(r#""close": "</c>""#, close);
    let object = judged(&chat, &fields(&[CONTENT, &calls(r#""close": "</c>""#)]));
    assert_all_back(&object);
    assert_eq!(manner(&object, Kind::Call), "as usual");
    let text = judged(
        &chat,
        &fields(&[CONTENT, &calls(r#""close_pattern": "(?<=\")</c>""#)]),
    );
    assert_eq!(manner(&text, Kind::Call), "as usual");
    assert_kinds(&text, &[Kind::Call], &[Kind::Content]);
}

#[test]
fn a_content_beside_calls_is_handed_over_as_the_chat_template_needs_it() {
    let null = format!(
        "{{% if m.content is none %}}{CALLED}{{% else %}}<t>{{{{ m.content }}}}</t>{{% endif %}}"
    );
    let empty = format!(
        "{{{{ '<t>' + m.content + '</t>' if m.content | trim or not m.tool_calls else '' + m.content }}}}{CALLED}"
    );
    let usual = [SAID, CALLED].concat();
    let changing = format!(
        "{{% set ns = [] %}}{{% for c in m.tool_calls or [] %}}{{% set _ = ns.append(c) %}}{{% endfor %}}{SAID}\
         {{% for c in ns %}}<c>{{{{ c.function | tojson }}}}</c>{{% endfor %}}"
    );
    for (answer, told) in [
        (usual.as_str(), "as usual"),
        (&empty, "an empty content beside calls"),
        (&null, "a null content beside calls, kept"),
        (&changing, "methods that change lists allowed"),
    ] {
        let judgement = judged(&chat(answer, ""), &fields(&[CONTENT, CALLS]));
        assert_all_back(&judgement);
        assert_eq!(
            manner(&judgement, Kind::Call),
            told,
            "{:#?}",
            judgement.kinds
        );
        assert_kinds(
            &judgement,
            &[],
            &[Kind::Call, Kind::Calls, Kind::ObjectArgument],
        );
        let response = fields(&[CONTENT]);
        assert_kinds(
            &judged(&chat(answer, ""), &response),
            &[Kind::Call],
            &[Kind::Content],
        );
    }
}

#[test]
fn content_as_parts_comes_back_as_text() {
    let parts = chat(
        "{% for p in m.content %}<t>{{ p.text }}</t>{% endfor %}",
        "",
    )
    .replace("{{ m.content }}", "{{ m.content[0].text }}");
    let setting = Setting {
        parts: true,
        ..Setting::default()
    };
    let judgement = setting.judge(&parts, &fields(&[CONTENT]));
    assert_all_back(&judgement);
    assert_eq!(manner(&judgement, Kind::Content), "content as parts");
    let lost = setting.judge(
        &parts,
        &fields(&[r#""content": {"open": "<t>", "close": "thicket</t>"}"#]),
    );
    assert_kinds(&lost, &[Kind::Content], &[]);
}

/// A part of another type that is written just as the content is, and nothing else, is the content by another name: no text of its own.
#[test]
fn a_part_that_is_written_as_the_content_is_no_further_text() {
    let chat = |other: &str| {
        chat(
            &format!("{{% for p in m.content %}}{{% if p.type == 'text' %}}{{{{ p.text }}}}{other}{{% endif %}}{{% endfor %}}"),
            "",
        )
        .replace("{{ m.content }}", "{{ m.content[0].text }}")
    };
    let setting = Setting {
        parts: true,
        ..Setting::default()
    };
    let response = fields(&[r#""content": {"close": "<end>"}"#]);
    let has_another =
        |judgement: &Judgement| row(judgement, Kind::Reasoning).is_some_and(|row| row.rendered);
    let alike = "{% elif p.type == 'output_text' %}{{ p.text }}";
    let judgement = setting.judge(&chat(alike), &response);
    assert_all_back(&judgement);
    assert!(!has_another(&judgement));
    let marked = "{% elif p.type == 'output_text' %}<o>{{ p.text }}";
    assert!(has_another(&setting.judge(&chat(marked), &response)));
}

#[test]
fn calls_are_judged_in_the_manner_in_which_least_fails() {
    // Both manners are shown; with an object the key is lost among quotes, with a text it is not.
    let called = "{% for c in m.tool_calls or [] %}<c>{{ c.function.name }}|\
        {{ c.function.arguments if c.function.arguments is string else c.function.arguments | string }}</c>{% endfor %}";
    let chat = chat(&[SAID, called].concat(), "");
    let judgement = judged(&chat, &fields(&[CONTENT, &named_calls("text")]));
    assert_all_back(&judgement);
    assert_eq!(manner(&judgement, Kind::Call), "arguments as text");
}

#[test]
fn what_is_refused_is_counted_by_kind_with_the_words() {
    let refusing = format!(
        "{{% if m.tool_calls and m.tool_calls | length > 1 %}}{{{{ raise_exception('One call at a time.') }}}}{{% endif %}}{SAID}{CALLED}"
    );
    let judgement = judged(&chat(&refusing, ""), &fields(&[CONTENT, CALLS]));
    assert_all_back(&judgement);
    let row = row(&judgement, Kind::Calls).expect("they were tried");
    assert!(!row.rendered);
    assert!(
        row.left_out[0].why.contains("One call at a time."),
        "{row:?}"
    );
    let all: usize = judgement
        .kinds
        .iter()
        .flat_map(|row| &row.left_out)
        .map(|left| left.count)
        .sum();
    assert_eq!(judgement.rounds.skipped, all);
    assert!(row.left_out[0].count > 1);
}

#[test]
fn settings_of_kwargs_are_tried_and_what_is_left_out_is_counted() {
    let broken = chat(
        "{% if style == 'odd' %}<o>{{ m.content }}</o>{% else %}<t>{{ m.content }}</t>{% endif %}",
        "",
    );
    let judgement = judged(&broken, &fields(&[CONTENT]));
    assert_kinds(&judgement, &[Kind::Content], &[]);
    let places: Vec<&str> = judgement
        .failures
        .iter()
        .map(|failure| failure.place.as_str())
        .collect();
    assert!(
        places
            .iter()
            .all(|place| place.ends_with(", style=\"odd\"")),
        "{places:?}"
    );
    assert_eq!(judgement.settings_left_out, 0);
    // One under which nothing differs but an answer with reasoning.
    let thought = "{% if m.reasoning and style == 'loud' %}<r>{{ m.reasoning }}</r>{% endif %}";
    let thinking = THINKING.replace("thinking", "reasoning");
    let judgement = judged(
        &chat(&[thought, SAID].concat(), ""),
        &fields(&[&thinking, CONTENT]),
    );
    assert_all_back(&judgement);
    assert!(holds(&judgement, Kind::Reasoning));

    let many: String = (0..10)
        .map(|n| format!("{{% if style == 's{n}' %}}<s>{n}{{% endif %}}"))
        .collect();
    let judgement = judged(&chat(&format!("{many}{SAID}"), ""), &fields(&[CONTENT]));
    assert_all_back(&judgement);
    assert_eq!(judgement.settings_left_out, 3);
    let same = judged(
        &chat(
            &format!("{{% if style == 'same' %}}{{% endif %}}{SAID}"),
            "",
        ),
        &fields(&[CONTENT]),
    );
    assert_eq!(
        same.rounds,
        judged(&chat(SAID, ""), &fields(&[CONTENT])).rounds
    );
}

/// Variables without which nothing renders are in every render; a setting of the same name goes before them.
#[test]
fn a_chat_template_is_given_the_variables_that_it_needs() {
    let needy = "{% if not town is defined %}{{ raise_exception('Where?') }}{% endif %}";
    let chat = [needy, &chat(SAID, "")].concat();
    let response = fields(&[CONTENT]);
    let nowhere = judged(&chat, &response);
    assert_eq!(nowhere.rounds.passed + nowhere.rounds.failed, 0);
    let setting = Setting {
        variables: Map::from_iter([("town".to_owned(), "Arles".into())]),
        ..Setting::default()
    };
    let somewhere = setting.judge(&chat, &response);
    assert_all_back(&somewhere);
    assert!(holds(&somewhere, Kind::Content));
    let other = "{% if town == 'Nantes' %}<o>{% endif %}";
    let judgement = setting.judge(&chat.replace("<bot>", &format!("<bot>{other}")), &response);
    assert_all_back(&judgement);
    assert!(judgement.rounds.passed > somewhere.rounds.passed);
}

/// A delimiter that is whatever the caller gives cannot be told from text, so that it is read as it is by default. Between texts of the chat template's own a
/// kwarg can be read.
#[test]
fn a_kwarg_that_stands_alone_in_a_turn_is_left_at_its_default() {
    let ended = chat(SAID, "").replace("<end>{% else", "{{ mark or '<end>' }}{% else");
    let judgement = judged(&ended, &fields(&[CONTENT]));
    assert_all_back(&judgement);
    assert_eq!(judgement.unset, ["mark"]);
    let within = chat(&format!("<s {{{{ mark or 'plain' }}}}>{SAID}"), "");
    let judgement = judged(&within, &fields(&[CONTENT]));
    assert_eq!(judgement.unset, [""; 0]);
}
