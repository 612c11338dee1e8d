//! Texts come back as far as they can be seen; two messages that render alike are told from one that is lost.

use super::*;

#[test]
fn a_text_comes_back_as_far_as_it_can_be_seen() {
    let json = CONTENT.replace(r#""close""#, r#""content": "json", "close""#);
    let shown = |how: &str| chat(&format!("<t>{{{{ m.content{how} }}}}</t>"), "");
    let quoted = chat(
        "<t>{% for line in m.content.split('\n') %}> {{ line }}\n{% endfor %}</t>",
        "",
    );
    let one_quoted = CONTENT.replace(r#""open": "<t>""#, r#""open": "<t>> ""#);
    for (chat, response, holds) in [
        (shown(""), CONTENT, true),
        (shown(" | trim"), CONTENT, true),
        (shown(".split(' |')[0]"), CONTENT, true),
        (shown("[:4]"), CONTENT, true),
        (shown(" | upper"), CONTENT, false),
        (shown(" | tojson"), CONTENT, false),
        (shown(" | tojson"), &json, true),
        (shown(".replace('\n', ' ')"), CONTENT, false),
        (quoted, &one_quoted, false),
    ] {
        let judgement = judged(&chat, &fields(&[response]));
        assert_eq!(
            judgement.failures.is_empty(),
            holds,
            "{chat}: {:#?}",
            judgement.failures.first()
        );
        let rounds = judgement.rounds;
        assert!(rounds.passed + rounds.failed + rounds.inexpressible > 10);
    }
}

/// A chat template that writes a marker between two texts, which code in a text may have as well.
fn divided(mark: &str) -> (String, String) {
    let answer =
        format!("{{% if m.thinking %}}{{{{ m.thinking }}}}{mark}{{% endif %}}{{{{ m.content }}}}");
    let thinking = format!(
        r#""thinking": {{"open_pattern": "^(?=.*{})", "close": "{mark}"}}"#,
        mark.replace('[', r"\\[")
    );
    (chat(&answer, ""), fields(&[&thinking, REST]))
}

/// A text with a marker in it that makes another message render alike is excused, and shown; a plain text never is.
#[test]
fn what_makes_two_messages_alike_is_excused_where_it_is_no_plain_text() {
    // The markup of one text has this in it.
    let (chat, response) = divided("</p>");
    let judgement = judged(&chat, &response);
    assert!(
        judgement.failures.is_empty(),
        "{:#?}",
        judgement.failures.first()
    );
    let excused = judgement
        .excused
        .as_ref()
        .expect("a text has the marker in it");
    assert!(excused.parsed.get("thinking").is_some() && excused.expected != excused.parsed);
    assert!(judgement.rounds.alike > 0 && judgement.rounds.inexpressible == 0);
    let row_of = row(&judgement, Kind::Content).unwrap();
    assert!(row_of.alike > 0 && row_of.came_back + row_of.alike == row_of.tried);

    // Of several the smallest is shown.
    let (chat, response) = divided(": [");
    let judgement = judged(&chat, &response);
    let excused = judgement.excused.as_ref().unwrap();
    assert!(
        excused.response.starts_with(r#"{"marigold": ["#),
        "{}",
        excused.response
    );

    // A sentence has this in a word.
    let (chat, response) = divided("hree");
    let judgement = judged(&chat, &response);
    assert!(
        judgement.rounds.inexpressible > 0,
        "{:#?}",
        judgement.rounds
    );
    let alike = judgement.failures.iter().filter(|failure| failure.alike);
    assert!(alike.clone().count() > 0 && alike.clone().all(|failure| failure.plain));
    // A thought has the word as well. Nobody can tell which of the two ends it.
    let thought =
        |failure: &crate::judge::Failure| failure.found.expected.get("thinking").is_some();
    assert!(judgement.failures.iter().any(thought));
    assert!(judgement.failures.iter().all(|failure| failure.alike));
    assert_kinds(&judgement, &[Kind::Content], &[]);
    assert!(row(&judgement, Kind::Content).unwrap().smallest.is_some());
}

/// The functions that the message calls are there, and a call of them could be meant.
#[test]
fn what_makes_two_messages_alike_is_excused_beside_a_call_too() {
    let (chat, response) = divided("</p>");
    let chat = chat.replace(
        "{{ m.content }}<end>",
        &format!("{{{{ m.content }}}}{CALLED}<end>"),
    );
    let response = response.replace(REST, &[REST, CALLS].join(", "));
    let judgement = judged(&chat, &response);
    let failure = judgement.failures.first();
    assert!(failure.is_none(), "{failure:#?}");
    let row_of = row(&judgement, Kind::ContentWithCalls).unwrap();
    assert!(row_of.alike > 0 && row_of.came_back + row_of.alike == row_of.tried);
}

/// A loss is not excused, however odd the text is: only another message that renders alike excuses.
#[test]
fn a_loss_is_no_likeness() {
    // Content that ends at markup loses the rest of it.
    let response = fields(&[r#""content": {"open": "<t>", "close": ["<p class", "</t>"]}"#]);
    let judgement = judged(&chat(SAID, ""), &response);
    assert!(judgement.rounds.failed > 0 && judgement.rounds.alike == 0);
    assert!(
        judgement
            .failures
            .iter()
            .all(|failure| !failure.alike && !failure.plain)
    );
    assert!(judgement.excused.is_none());
    // A text that takes the markers in renders alike, and yet nobody meant it.
    let greedy = fields(&[r#""content": {"close_pattern": "</t><end>"}"#]);
    let bare = chat(
        "{% if m.content %}{{ '<t>' + m.content + '</t>' if m.content[:3] != '<t>' else m.content + '</t>' }}{% endif %}",
        "",
    );
    let judgement = judged(&bare, &greedy);
    assert!(
        judgement.rounds.passed == 0 && judgement.rounds.alike == 0,
        "{:#?}",
        judgement.rounds
    );
    assert_eq!(judgement.rounds.inexpressible, 0);
    assert!(judgement.rounds.failed > 0);
}

#[test]
fn the_words_of_the_constants_are_said_in_prose() {
    // A constant that no turn has.
    let chat = chat("{{ '[answer]' if m.title }}{{ m.content }}", "");
    assert_all_back(&judged(&chat, &fields(&[REST])));
    let wordy = fields(&[r#""content": {"close": ["<end>", " answer"]}"#]);
    let judgement = judged(&chat, &wordy);
    let said = |text: &str| {
        judgement
            .failures
            .iter()
            .any(|failure| failure.found.response.contains(text))
    };
    assert!(said("answer "), "{:#?}", judgement.failures.first());
    // And in a thought.
    let thought = [THOUGHT, SAID, "{{ '[answer]' if m.title }}"].concat();
    let wordy = THINKING.replace(r#""</r>""#, r#"["</r>", " answer"]"#);
    let judgement = judged(&super::chat(&thought, ""), &fields(&[&wordy, CONTENT]));
    assert_kinds(&judgement, &[Kind::Reasoning], &[Kind::Content]);
}

/// A word that turns are marked with is no plain prose, as a marker with punctuation is none.
#[test]
fn words_of_turns_are_not_said() {
    let chat = chat("quoth {{ m.content }} voila", "");
    let wordy = fields(&[r#""content": {"open": "quoth", "close": "voila<end>"}"#]);
    assert_all_back(&judged(&chat, &wordy));
    let other = fields(&[r#""content": {"open": "quoth", "close": "voila"}"#]);
    assert_all_back(&judged(&chat, &other));
}

/// Nor is a word in which such a word stands, as `namespace<end>` is none.
#[test]
fn words_that_have_a_marker_in_them_are_not_said() {
    let chat = chat(
        "{{ 'namespacevoila' if m.title }}{{ m.content }}{{ 'voila' }}",
        "",
    );
    let wordy = fields(&[r#""content": {"close_pattern": "voila(?:<end>| )"}"#]);
    assert_all_back(&judged(&chat, &wordy));
}

/// A marker that is written under another setting of a kwarg alone is a marker as well.
#[test]
fn words_of_turns_under_other_settings_are_not_said() {
    let chat = chat("{{ 'quoth' if loud is true }}{{ m.content }}", "");
    let wordy = fields(&[r#""content": {"close": ["quoth", "<end>"]}"#]);
    assert_all_back(&judged(&chat, &wordy));
}

/// Common words stand in every prose, though.
#[test]
fn common_words_are_said() {
    let chat = chat("{{ m.content }} end", "");
    let bare = fields(&[r#""content": {"close": " end"}"#]);
    assert_kinds(&judged(&chat, &bare), &[Kind::Content], &[]);
    assert_all_back(&judged(
        &chat,
        &fields(&[r#""content": {"close": " end<end>"}"#]),
    ));
}

/// Punctuation that ends a sentence or a part of one is no marker where the chat template has none, nor is a line feed.
#[test]
fn punctuation_is_prose() {
    for character in [".", ",", ";", ":", "!", "(", "\n", "-", "1"] {
        let character = crate::value::json::quote(character);
        for (field, kind) in [(CONTENT, Kind::Content), (THINKING, Kind::Reasoning)] {
            let other = if kind == Kind::Content {
                THINKING
            } else {
                CONTENT
            };
            let closed = field
                .replace(r#"close": "#, &format!(r#"close": [{character}, "#))
                .replace('}', "]}");
            let judgement = judged(
                &chat(&[THOUGHT, SAID].concat(), ""),
                &fields(&[&closed, other]),
            );
            let is_plain = judgement.failures.iter().any(|failure| failure.plain);
            assert!(is_plain && fails(&judgement, kind), "{character} {kind:?}");
        }
    }
}

/// A response with an error is lost, whatever was read before the error, and although that renders as the message did.
#[test]
fn a_response_that_does_not_parse_is_like_no_message() {
    let broken = r#""odd": {"open_pattern": "<(?=end>)", "close": ">", "content": "json"}"#;
    let judgement = judged(&chat(SAID, ""), &fields(&[CONTENT, broken]));
    assert!(judgement.rounds.failed > 0);
    let others = [
        judgement.rounds.passed,
        judgement.rounds.alike,
        judgement.rounds.inexpressible,
    ];
    assert_eq!(others, [0, 0, 0]);
    assert!(
        first_error(&judgement).contains("odd"),
        "{}",
        first_error(&judgement)
    );
}

/// The other message is looked for where the parse is no message that was meant.
#[test]
fn another_message_that_renders_alike_is_looked_for() {
    // The rounds that do not come back, by what their messages have, and whether another message renders alike.
    let twins = |answer: &str, response: &str| -> Vec<(bool, bool, bool)> {
        Setting::default().ask(&chat(answer, ""), response, |judge, subject| {
            let judgement = judge.judge(subject);
            let failures = judgement.failures.iter().filter(|failure| !failure.alike);
            let mut found: Vec<_> = failures
                .map(|failure| {
                    let message = judge.message(failure.round);
                    let has =
                        |text: &Option<String>| text.as_ref().is_some_and(|text| !text.is_empty());
                    let parts = (has(&message.reasoning), has(&message.content));
                    (parts.0, parts.1, judge.twin(failure.round).is_some())
                })
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        })
    };
    let nothing = fields(&[r#""content": {"open": "<never>", "close": "</never>"}"#]);
    let (thought, said, both) = ((true, false), (false, true), (true, true));
    let told = |parts: (bool, bool), twin: bool| (parts.0, parts.1, twin);
    // Alone either part may be the other; both together cannot.
    let alike = "{% if m.thinking %}<p>{{ m.thinking }}</p>{% endif %}{% if m.content %}<p>{{ m.content }}</p>{% endif %}";
    let expected = [told(said, true), told(thought, true), told(both, false)];
    assert_eq!(twins(alike, &nothing), expected);
    // Nothing but white space stands between, which may be a part of either.
    let joined = "{{ m.thinking + '\n\n' if m.thinking }}{{ m.content }}";
    let expected = [told(said, false), told(thought, true), told(both, true)];
    assert_eq!(twins(joined, &nothing), expected);
    let expected = [told(said, false), told(thought, false), told(both, false)];
    assert_eq!(twins(&[THOUGHT, SAID].concat(), &nothing), expected);
    // White space that is cut off makes no other message.
    let expected = [told(said, false)];
    assert_eq!(twins("{{ m.content | trim }}\n", &nothing), expected);
}

/// A text that is written in capitals, in part or not at all is another one in another message, which renders alike.
#[test]
fn a_text_that_the_render_does_not_tell_is_another_one_elsewhere() {
    let twins = |call: &str| -> Vec<String> {
        let call = format!("{{{{ m.content }}}}{{% for c in m.tool_calls %}}{call}{{% endfor %}}");
        let nothing = fields(&[r#""content": {"open": "<never>", "close": "</never>"}"#]);
        Setting::default().ask(&chat(&call, ""), &nothing, |judge, subject| {
            let judgement = judge.judge(subject);
            let failures = judgement.failures.iter();
            let is_plain_call = |failure: &&crate::judge::Failure| {
                let message = judge.message(failure.round);
                message.content.is_none() && message.reasoning.is_none() && message.calls.len() == 1
            };
            let mut lost = failures.filter(is_plain_call);
            let twin = lost.find_map(|failure| judge.twin(failure.round));
            let calls = twin
                .iter()
                .flat_map(|twin| twin.get("tool_calls")?.as_array());
            let functions = calls.flatten().filter_map(|call| call.get("function"));
            functions.map(crate::value::json::to_string).collect()
        })
    };
    let call = |name: &str, arguments: &str| {
        Some(format!(r#"{{"name": "{name}", "arguments": {arguments}}}"#))
    };
    let of = |name: &str, arguments: &str| {
        format!(
            "<{{{{ c.function.name{name} }}}}>{{{{ c.function.arguments{arguments} | tojson }}}}</>"
        )
    };
    // The smallest message with a call has no arguments, whose names could be others.
    for (written, twin) in [
        (of("", ""), None),
        (of(" | upper", ""), call("COUNT_SPARROWS", "{}")),
        (
            of("", ".values() | list"),
            call("count_sparrows", r#"{"ORCHARD": "teal ribbon"}"#),
        ),
        (of("[:6]", ""), call("count_sparrowsx", "{}")),
    ] {
        assert_eq!(twins(&written), Vec::from_iter(twin), "{written}");
    }
}

/// Two texts that the chat template writes alike are two messages, however odd they are.
#[test]
fn texts_that_are_written_alike_are_not_excused() {
    let escaped = chat("<t>{{ m.content.replace('\n', '+') }}</t>", "");
    let judgement = judged(&escaped, &fields(&[CONTENT]));
    assert!(judgement.rounds.inexpressible > 0 && judgement.rounds.alike == 0);
    assert_eq!(
        judgement.rounds.failed,
        0,
        "{:#?}",
        judgement.failures.first()
    );
}

/// Changes that a chat template makes to few messages are seen: to line ends of other systems, to a number alone, to a text that begins with a
/// character that it asks for, to the digits of a float, to the order of the calls, and to a marker by the value of a kwarg.
#[test]
fn what_is_lost_of_few_messages_is_seen() {
    let said = |how: &str| chat(&format!("<t>{how}</t>"), "");
    let calls = |each: &str| chat(&format!("{SAID}{each}"), "");
    let thought = format!(
        "{{% if m.thinking %}}<r{{{{ effort | default('low') }}}}>{{{{ m.thinking }}}}</r>{{% endif %}}{SAID}"
    );
    let low = THINKING.replace("<r>", "<rlow>");
    let any = THINKING.replace(r#""open": "<r>""#, r#""open_pattern": "<r[^>]*>""#);
    let sorted = CALLED.replace(
        "m.tool_calls or []",
        "(m.tool_calls or []) | sort(attribute='function.name')",
    );
    let short = "{% for c in m.tool_calls or [] %}<c>{\"name\": {{ c.function.name | tojson }}, \"arguments\": { \
        {% for k, v in c.function.arguments.items() %}{{ k | tojson }}: {{ '%g' | format(v) if v is float else v | tojson }}\
        {{ ', ' if not loop.last }}{% endfor %}}}</c>{% endfor %}";
    for (name, chat, response, holds) in [
        (
            "as it is",
            said("{{ m.content }}"),
            fields(&[CONTENT]),
            true,
        ),
        (
            "lines",
            said("{{ m.content.splitlines() | join('\n') }}"),
            fields(&[CONTENT]),
            false,
        ),
        (
            "a number",
            said("{{ '{:,}'.format(m.content | int) if m.content.isdigit() else m.content }}"),
            fields(&[CONTENT]),
            false,
        ),
        (
            "a sign",
            said("{{ '~' if m.content[0] in '%&' }}{{ m.content }}"),
            fields(&[CONTENT]),
            false,
        ),
        ("calls", calls(CALLED), fields(&[CONTENT, CALLS]), true),
        (
            "their order",
            calls(&sorted),
            fields(&[CONTENT, CALLS]),
            false,
        ),
        ("digits", calls(short), fields(&[CONTENT, CALLS]), false),
        (
            "a kwarg",
            chat(&thought, ""),
            fields(&[&any, CONTENT]),
            true,
        ),
        (
            "another kwarg",
            chat(&thought, ""),
            fields(&[&low, CONTENT]),
            false,
        ),
    ] {
        let judgement = judged(&chat, &response);
        let first = judgement.failures.first();
        assert_eq!(first.is_none(), holds, "{name}: {first:#?}");
    }
}

/// The string of a JSON text ends where its quote does, and not where what closes it stands in the text as well.
#[test]
fn a_text_of_json_may_have_its_own_end_in_it() {
    let chat = chat("{\"say\": {{ m.content | tojson }}}", "");
    let close = |pattern: &str| {
        format!(
            r#""content": {{"open": "{{\"say\": ", "close_pattern": "{pattern}", "content": "json"}}"#
        )
    };
    for (pattern, holds) in [
        (r#"(?<=\")\\}"#, false),
        (r#"(?<=say\": \"(?:[^\"\\\\]|\\\\.)*\")\\}"#, true),
    ] {
        let judgement = judged(&chat, &fields(&[&close(pattern)]));
        let first = judgement.failures.first();
        assert_eq!(first.is_none(), holds, "{pattern}: {first:#?}");
    }
}

/// A line feed parts two arguments, and none stands behind the last: one that does is the text's own.
#[test]
fn the_last_argument_may_end_with_white_space() {
    let called = "{% for c in m.tool_calls or [] %}<c:{{ c.function.name }}>\
        {% for k, v in c.function.arguments.items() %}<a:{{ k }}>{{ v if v is string else v | tojson }}\
        {{ '\n' if not loop.last }}{% endfor %}</c>{% endfor %}";
    let chat = chat(&[SAID, called].concat(), "");
    for (end, holds) in [(r"\\Z", true), (r"\\s*\\Z", false)] {
        let tags = TAGS.replace("</a>", &format!(r"(?=\\n<a:[^>]*>|{end})"));
        let judgement = judged(&chat, &fields(&[CONTENT, &tags]));
        let first = judgement.failures.first();
        assert_eq!(first.is_none(), holds, "{end}: {first:#?}");
    }
}

/// Files have the words in them that close something elsewhere, within longer words, and its punctuation within a line.
#[test]
fn what_closes_a_call_on_a_line_of_its_own_stands_in_files() {
    for marker in ["end", "stop", "\"\"\"", "<"] {
        let called = format!(
            "{{% for c in m.tool_calls or [] %}}<c:{{{{ c.function.name }}}}>\
            {{% for k, v in c.function.arguments.items() %}}<a:{{{{ k }}}}>{{{{ v if v is string else v | tojson }}}}</a>{{% endfor %}}\
            {{{{ '\n{marker}\n' }}}}{{% endfor %}}"
        );
        let chat = chat(&[SAID, &called].concat(), "");
        let quoted = marker.replace('"', "\\\"");
        for (close, holds) in [
            (format!("(?<=</a>|<c:[^>]*>)\\\\n{quoted}\\\\n"), true),
            (format!("\\\\s*{quoted}\\\\s*"), false),
        ] {
            let tags = TAGS.replace(
                r#""close": "</c>""#,
                &format!(r#""close_pattern": "{close}""#),
            );
            assert!(tags.contains(&close), "{tags}");
            let judgement = judged(&chat, &fields(&[CONTENT, &tags]));
            let first = judgement.failures.first();
            assert_eq!(first.is_none(), holds, "{close}: {first:#?}");
        }
    }
}

/// A template may find the second of two calls by how the first one ends, which its last argument may say.
#[test]
fn the_last_argument_of_a_call_may_end_with_what_opens_a_text() {
    let called = "{% if m.tool_calls %}<c:[{% for c in m.tool_calls %}{{ c.function.name }}(\
        {% for k, v in c.function.arguments.items() %}{{ k }}={% if v is string %}'{{ v }}'{% else %}{{ v | tojson }}{% endif %}\
        {{ ', ' if not loop.last }}{% endfor %}){{ ', ' if not loop.last }}{% endfor %}]</c>{% endif %}";
    let chat = chat(&[SAID, called].concat(), "");
    let lost = |opened: &str| {
        let open = r#""<c:(?P<name>[^>]*)>""#;
        let close = format!(
            r#""close_pattern": "\\)(?:\\]</c>|(?=, [^(, ]*\\((?:[^=,(]*='?|\\)))(?<!{opened}[^']*))""#
        );
        let tags = TAGS
            .replace(
                open,
                r#""(?:<c:\\[|(?<=\\)), (?<=<c:\\[.*))(?P<name>[^(]*)\\(""#,
            )
            .replace(r#""close": "</c>""#, &close)
            .replace("<a:(?P<key>[^>]*)>", "(?P<key>[^=,' ]+)='?")
            .replace("</a>", "'?(?=, [^=,' ]+=|\\\\Z)");
        let judgement = judged(&chat, &fields(&[CONTENT, &tags]));
        let failures = judgement.failures.into_iter();
        let responses: Vec<String> = failures.map(|failure| failure.found.response).collect();
        responses.iter().any(|response| response.contains("='), "))
    };
    assert!(lost("='"));
    assert!(!lost("(?:(?:\\\\[|\\\\), )[^(=,' ]*\\\\(|, )[^(=,']*='"));
}

/// A marker on a line of its own is no marker within a line, where texts of every day have the same word or character.
#[test]
fn texts_of_every_day_have_markers_without_their_lines() {
    for marker in ["over", "STOP", "==", "--"] {
        let answer = format!("{{{{ m.content }}}}{{{{ '\n{marker}\n' }}}}");
        let chat = chat(&answer, "");
        for (close, holds) in [
            (format!("\\\\n{marker}\\\\n<end>"), true),
            (format!("\\\\s*{marker}\\\\s*(?:<end>)?"), false),
        ] {
            let content = format!(r#""content": {{"close_pattern": "{close}"}}"#);
            let judgement = judged(&chat, &fields(&[&content]));
            let first = judgement.failures.first();
            assert_eq!(first.is_none(), holds, "{close}: {first:#?}");
        }
    }
    // A text that says a marker as it is written is not tried.
    let chat = chat("{{ m.content }}{{ '-> int<end>' }}", "");
    let judgement = judged(
        &chat,
        &fields(&[r#""content": {"close": "-> int<end><end>"}"#]),
    );
    assert_all_back(&judgement);
}

/// A word, or a run of one character, is no marker where it is a part of a longer one. No verdict is given on such texts.
#[test]
fn longer_words_and_runs_than_a_marker_are_tried_beside_the_rest() {
    let markers = [
        ("quorum", "\\\\bquorum\\\\b"),
        ("~~~~", "(?<!~)~~~~(?!~)"),
        ("^stop", "\\\\^stop\\\\b"),
    ];
    for (marker, whole) in markers {
        let chat = chat(&format!("{{{{ m.content }}}}{{{{ '\n{marker}\n' }}}}"), "");
        let plain = marker.replace('^', "\\\\^");
        for (close, holds) in [(whole, true), (&plain, false)] {
            let content = format!(r#""content": {{"close_pattern": "\\s*{close}\\s*(?:<end>)?"}}"#);
            let template = fields(&[&content]);
            let (lost, failures) = Setting::default().ask(&chat, &template, |judge, subject| {
                let scrutiny = Scrutiny::Whole;
                let whole = Subject {
                    scrutiny,
                    ..subject
                };
                (judge.lost_beside(whole).len(), judge.judge(whole).failures)
            });
            assert_eq!(lost == 0, holds, "{close}");
            assert!(failures.is_empty(), "{close}: {failures:#?}");
        }
    }
}
