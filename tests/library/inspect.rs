//! What is observed of chat templates small enough to be read here, and of real ones that nothing goes wrong.

use obverse::chat_template;
use obverse::derive::Options;
use obverse::derive::inspect::{
    After, Answers, ContentPlace, Effect, InspectError, Inspection, Lifetime, Outcome, SystemPlace,
    ToolForm, ToolsPlace, Turn, inspect, refusals,
};
use obverse::value::Value;

fn inspected(text: &str) -> Inspection {
    let source = chat_template::from_text("test", text).expect("a template");
    inspect(&source, &Options::default())
}

fn answers(text: &str) -> Answers {
    let template = inspected(text).templates.remove(0);
    template
        .answers
        .unwrap_or_else(|| panic!("{:?}", template.error))
}

/// The answers about a template whose messages are rendered by `body`, over `m`.
fn body(body: &str) -> Answers {
    answers(&format!(
        "{{%- for m in messages %}}{body}{{% endfor %}}{{%- if add_generation_prompt %}}<assistant>{{%- endif %}}"
    ))
}

const PLAIN: &str = "<{{ m.role }}>{{ m.content }}</{{ m.role }}>";

fn refused(outcome: &Outcome) -> &str {
    match outcome {
        Outcome::Refused { error } => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn roles_that_a_template_names_are_known() {
    let found = body(
        "{% if m.role == 'observation' %}<seen>{{ m.content }}</seen>{% elif m.role in ['user', 'assistant'] %}<{{ m.role }}>{{ m.content }}</{{ m.role }}>{% else %}{{ raise_exception('no ' ~ m.role) }}{% endif %}",
    )
    .roles;
    let known: Vec<(&str, bool)> = found
        .known
        .iter()
        .map(|role| (role.role.as_str(), role.later.is_rendered()))
        .collect();
    assert_eq!(
        known,
        [
            ("system", false),
            ("user", true),
            ("assistant", true),
            ("tool", false),
            ("observation", true)
        ]
    );
    assert!(refused(&found.unknown).starts_with("no "));
    // Here no role is treated in another way than any other.
    let found = body(PLAIN).roles;
    assert_eq!(found.known.len(), 4);
    assert_eq!(found.unknown, Outcome::Rendered);
}

#[test]
fn orders_are_refused_in_the_templates_own_words() {
    let found = body(
        "{% if m.role == 'system' and not loop.first %}{{ raise_exception('system first') }}{% endif %}{% if not loop.first and loop.previtem.role == m.role %}{{ raise_exception('alternate') }}{% endif %}<{{ m.role }}>{{ m.content }}",
    )
    .orders;
    let refusals = refusals(&found);
    use Turn::{Assistant, System, User};
    assert_eq!(
        refusals,
        [
            (
                "alternate",
                vec![&[User, User][..], &[User, Assistant, Assistant]]
            ),
            (
                "system first",
                vec![
                    &[System, System, User][..],
                    &[User, System],
                    &[User, Assistant, System, User]
                ]
            ),
        ]
    );
}

#[test]
fn a_message_that_is_lost_is_told() {
    let found = body("{% if not (m.role == 'system' and not loop.first) %}<{{ m.role }}>{{ m.content }}{% endif %}").orders;
    let lost: Vec<_> = found
        .iter()
        .filter(|order| order.outcome == Outcome::Dropped)
        .map(|order| order.missing.as_slice())
        .collect();
    assert_eq!(lost, [&[1][..], &[1], &[2]]);
}

#[test]
fn system_messages() {
    let own = body(PLAIN).system;
    assert_eq!(own.place, Some(SystemPlace::OwnTurn));
    assert_eq!(own.default, None);
    let within = body("{% if m.role == 'user' %}<user>{% if loop.index0 == 1 %}{{ messages[0].content }}\n\n{% endif %}{{ m.content }}{% elif m.role == 'assistant' %}<assistant>{{ m.content }}{% endif %}").system;
    assert_eq!(within.place, Some(SystemPlace::UserTurn));
    let default = answers(
        "{% if messages[0].role != 'system' %}<system>You help.{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    )
    .system;
    assert_eq!(default.default.as_deref(), Some("You help."));
    let none = body("{% if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endif %}").system;
    assert_eq!((none.outcome, none.place), (Outcome::Dropped, None));
}

#[test]
fn keys_that_are_read_are_tried() {
    let found = body(
        "<{{ m.role }}>{% if m.weight %}!{% endif %}{% if m.unused %}{% endif %}{{ m.name }}{{ m.content }}",
    )
    .message_keys;
    let user = found.iter().find(|found| found.role == "user").unwrap();
    let effect = |key: &str| {
        let found = user.keys.iter().find(|found| found.key == key);
        found.map(|found| found.effect)
    };
    assert_eq!(effect("content"), Some(Effect::Rendered));
    assert_eq!(effect("name"), Some(Effect::Rendered));
    assert_eq!(effect("weight"), Some(Effect::Changes));
    assert_eq!(effect("unused"), Some(Effect::None));
    assert_eq!(effect("thinking"), None);
}

#[test]
fn contents_in_parts() {
    let found = body(
        "<{{ m.role }}>{% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}{% if p.type == 'image' %}<image>{% elif p.type == 'text' %}{{ p.text }}\n{% endif %}{% endfor %}{% endif %}",
    )
    .content;
    assert!(found.roles.iter().all(|found| found.parts.is_rendered()));
    assert_eq!(found.roles[0].between.as_deref(), Some("\n"));
    let parts: Vec<_> = found
        .parts
        .iter()
        .map(|part| (part.kind.as_str(), part.adds.as_deref()))
        .collect();
    assert_eq!(parts, [("image", Some("<image>"))]);
    assert_eq!(found.unknown_part, Outcome::Dropped);
    let printed = body(PLAIN).content;
    assert!(
        printed
            .roles
            .iter()
            .all(|found| found.parts == Outcome::Printed)
    );
    // A template that takes nothing but parts is given them in every conversation.
    let only = body("<{{ m.role }}>{% for p in m.content %}{{ p['text'] | trim }}{% endfor %}");
    assert!(!only.content.roles[1].text.is_rendered());
    assert!(only.system.outcome.is_rendered());
    assert!(only.orders.iter().all(|order| order.outcome.is_rendered()));
}

#[test]
fn tools_and_where_they_stand() {
    let with = |tools: &str| {
        answers(&format!(
            "{tools}{{% for m in messages %}}<{{{{ m.role }}}}>{{{{ m.content }}}}{{% endfor %}}"
        ))
        .tools
    };
    let first = with("{% if tools %}{% for t in tools %}{{ t | tojson }}\n{% endfor %}{% endif %}");
    assert_eq!(
        (first.written, first.place),
        (Some(ToolForm::Json), Some(ToolsPlace::First))
    );
    assert!(first.bare.is_rendered());
    assert_eq!(first.empty_is_none, Some(true));
    assert_eq!(first.reads, ["tools[]", "tools[].*"]);
    let function = with(
        "{% if tools is not none %}<tools>{% for t in tools %}{{ t.function | tojson(indent=4) }}{% endfor %}{% endif %}",
    );
    assert_eq!(function.written, Some(ToolForm::FunctionJson));
    assert_eq!(function.empty_is_none, Some(false));
    assert!(!function.bare.is_rendered());
    let own = with(
        "{% for t in tools or [] %}{{ t.function.name }}: {{ t.function.description }}{% endfor %}",
    );
    assert_eq!(own.written, Some(ToolForm::Otherwise));
    assert!(
        own.reads
            .contains(&"tools[].function.description".to_owned())
    );
    let last = answers(
        "{% for m in messages %}{% if loop.last and tools %}{{ tools | tojson }}{% endif %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    )
    .tools;
    assert_eq!(last.place, Some(ToolsPlace::LastUser));
    assert_eq!(with("").outcome, Outcome::Dropped);
}

/// A template with calls that are written by `call`, over `c`, and results.
fn calling(call: &str) -> Answers {
    body(&format!(
        "<{{{{ m.role }}}}>{{{{ m.content }}}}{{% for c in m.tool_calls or [] %}}{call}{{% endfor %}}</{{{{ m.role }}}}>"
    ))
}

#[test]
fn calls_and_their_spelling() {
    let found = calling("<call>{{ c.function | tojson }}</call>").calls;
    let spelled = |found: &obverse::derive::inspect::Calls, arguments: &str| {
        let spelling = found
            .spellings
            .iter()
            .find(|spelling| spelling.arguments == arguments && spelling.content == "empty");
        spelling.expect("a spelling").outcome.clone()
    };
    assert_eq!(spelled(&found, "object"), Outcome::Rendered);
    assert_eq!(spelled(&found, "text"), Outcome::Printed);
    let details = found.details.expect("calls");
    assert!(details.parallel.is_rendered());
    assert_eq!(details.content_place, Some(ContentPlace::Before));
    assert!(!details.bare.is_rendered());
    assert!(details.without_tools.is_rendered());
    assert!(!details.ids.rendered);
    assert!(details.ids.absent.is_rendered());

    let text = calling("<call>{{ c.function.name }}{{ c.function.arguments + '' }}</call>").calls;
    assert!(refused(&spelled(&text, "object")).contains('+'));
    assert_eq!(spelled(&text, "text"), Outcome::Rendered);
    assert_eq!(calling("").calls.outcome, Outcome::Dropped);
}

#[test]
fn calls_that_want_an_id_of_some_shape() {
    let found = calling(
        "{% if c.id is undefined or c.id | length != 9 %}{{ raise_exception('nine') }}{% endif %}<{{ c.id }}>{{ c.function | tojson }}",
    )
    .calls;
    let ids = found.details.expect("calls").ids;
    assert!(ids.rendered);
    assert_eq!(refused(&ids.absent), "nine");
    let taken: Vec<&str> = ids
        .shapes
        .iter()
        .filter(|shape| shape.outcome.is_rendered())
        .map(|shape| shape.example.as_str())
        .collect();
    assert_eq!(taken, ["prb000000"]);
}

#[test]
fn one_call_only() {
    let found = body(
        "<{{ m.role }}>{{ m.content }}{% if m.tool_calls %}{% if m.tool_calls | length > 1 %}{{ raise_exception('one call') }}{% endif %}{{ m.tool_calls[0].function | tojson }}{% endif %}",
    )
    .calls;
    let details = found.details.expect("calls");
    assert_eq!(refused(&details.parallel), "one call");
}

#[test]
fn results() {
    let found = calling("{{ c.function | tojson }}").results;
    assert!(found.outcome.is_rendered());
    assert_eq!(found.object, Outcome::Printed);
    assert_eq!(found.between.as_deref(), Some("</tool><tool>"));
}

#[test]
fn reasoning_and_how_long_it_stays() {
    let with = |reasoning: &str| {
        body(&format!(
            "<{{{{ m.role }}}}>{reasoning}{{{{ m.content }}}}{{% for c in m.tool_calls or [] %}}{{{{ c.function | tojson }}}}{{% endfor %}}"
        ))
        .reasoning
    };
    let kept = with("{% if m.thought %}({{ m.thought }}){% endif %}");
    assert_eq!(
        (kept.lifetime, kept.keys),
        (Lifetime::Kept, vec!["thought".to_owned()])
    );
    let last = "{% if m.thinking and (loop.last or keep) %}({{ m.thinking }}){% endif %}";
    let last = with(last);
    assert_eq!(last.lifetime, Lifetime::LastMessage);
    assert_eq!(last.under.len(), 1);
    assert_eq!(last.under[0].lifetime, Lifetime::Kept);
    assert_eq!(last.under[0].kwargs.get("keep"), Some(&Value::Bool(true)));
    let calls =
        with("{% if m.reasoning_content and m.tool_calls %}({{ m.reasoning_content }}){% endif %}");
    assert_eq!(calls.lifetime, Lifetime::WithCalls);
    let both =
        with("{% if m.thinking and (loop.last or m.tool_calls) %}({{ m.thinking }}){% endif %}");
    assert_eq!(both.lifetime, Lifetime::LastMessageAndCalls);
    let asked = with(
        "{% set ns = namespace(of=-1) %}{% for n in messages %}{% if n.role == 'user' %}{% set ns.of = loop.index0 %}{% endif %}{% endfor %}\
         {% if m.thinking and loop.index0 > ns.of %}({{ m.thinking }}){% endif %}",
    );
    assert_eq!(asked.lifetime, Lifetime::UntilNextUser);
    let never = with("{% if m.thinking %}{% endif %}");
    assert_eq!((never.lifetime, never.keys.len()), (Lifetime::Never, 0));
}

#[test]
fn kwargs_and_what_they_change() {
    let found = answers(
        "{% if mode == 'short' %}Be short.\n{% endif %}{{ greeting or '' }}{% if idle %}{% endif %}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    )
    .kwargs;
    let kwarg = |name: &str| found.iter().find(|kwarg| kwarg.name == name).unwrap();
    let mode = kwarg("mode");
    assert_eq!(mode.effects.len(), 1);
    assert_eq!(mode.effects[0].values, [Value::from("short")]);
    assert_eq!(mode.effects[0].changes[0].added, "Be short.\n");
    assert!(!mode.printed);
    assert!(kwarg("greeting").printed);
    assert!(kwarg("idle").effects.is_empty());
    assert_eq!(kwarg("idle").without_effect.len(), 2);
}

#[test]
fn generation_prompts_under_every_setting() {
    let found = answers(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% if not think | default(true) %}[/R]{% endif %}{% endif %}",
    )
    .generation_prompts;
    let texts: Vec<_> = found
        .iter()
        .map(|prompt| {
            let after_user = prompt
                .places
                .iter()
                .find(|place| place.after == After::User);
            (prompt.text.as_deref(), after_user.unwrap().kwargs.len())
        })
        .collect();
    assert_eq!(
        texts,
        [(Some("<assistant>"), 0), (Some("<assistant>[/R]"), 1)]
    );
}

#[test]
fn conversations_that_do_not_only_grow() {
    let grows = body(PLAIN).growth;
    assert!(grows.prefix_preserving && grows.without_reasoning && grows.continues_prompt);
    assert!(grows.breaks.is_empty() && grows.appended > 1);
    let found = body(
        "<{{ m.role }}>{% if m.thinking and (loop.last or keep) %}({{ m.thinking }}){% endif %}{{ m.content }}</{{ m.role }}>",
    )
    .growth;
    assert!(!found.prefix_preserving && found.without_reasoning && found.continues_prompt);
    let first = &found.breaks[0];
    assert_eq!(
        (first.before.as_slice(), first.appended, first.prompt),
        (&[Turn::User, Turn::Assistant][..], Turn::User, false)
    );
    assert!(first.after.ends_with("<assistant>"), "{}", first.after);
    assert!(first.was.starts_with('('), "{}", first.was);
    assert!(found.under.iter().any(|under| under.prefix_preserving));
    let smallest = found.smallest.expect("one");
    assert_eq!(
        (smallest.messages.len(), smallest.found.appended),
        (1, Turn::User)
    );
    assert!(
        smallest.messages[0].get("thinking").is_some()
            || smallest.messages[0].get("reasoning_content").is_some()
    );
    assert!(smallest.found.was.starts_with('('), "{:?}", smallest.found);
    assert!(grows.smallest.is_none());
    let prefilled = answers(
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>[R]{% endif %}",
    )
    .growth;
    assert!(prefilled.prefix_preserving && !prefilled.continues_prompt);
    assert!(prefilled.breaks.iter().all(|found| found.prompt));
}

#[test]
fn documents_and_dates() {
    let found = answers(
        "{% for d in documents or [] %}{{ d.text }}{% endfor %}{{ strftime_now('%Y') }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}",
    );
    assert!(found.documents.is_rendered() && found.dated);
    let plain = body(PLAIN);
    assert!(!plain.documents.is_rendered() && !plain.dated);
}

#[test]
fn each_template_of_a_source_is_inspected() {
    let plain = chat_template::from_text(
        "plain",
        "{% for m in messages %}{{ m.content }}{% endfor %}",
    )
    .unwrap();
    let broken = chat_template::from_text("broken", "{{ raise_exception('never') }}").unwrap();
    let mut source = plain;
    source
        .templates
        .push(("tool_use".to_owned(), broken.templates[0].1.clone()));
    let found = inspect(&source, &Options::default()).templates;
    assert!(found[0].answers.is_some() && found[0].error.is_none());
    assert_eq!(found[1].name, "tool_use");
    assert!(matches!(found[1].error, Some(InspectError::Render(_))));
}

#[test]
#[ignore = "millions of steps; `.ci/run` runs it"]
fn a_slow_template_exhausts_the_steps_of_all_renders() {
    let endless = "{% for a in range(90000) %}{% for b in range(100) %}{% endfor %}{% endfor %}";
    let slow = inspected(&format!("{endless}{{{{ messages[0].content }}}}"))
        .templates
        .remove(0);
    assert!(
        matches!(slow.error, Some(InspectError::Exhausted { .. })),
        "{:?}",
        slow.error
    );
}

/// Whatever the corpus holds can be inspected, and what is written is a document of the keys that are described.
#[test]
fn real_templates() {
    let page = std::fs::read_to_string("docs/inspect.md").expect("the page");
    let mut keys = std::collections::BTreeSet::new();
    for (name, path) in crate::support::corpus::templates() {
        let source = chat_template::load(&path)
            .expect("a template")
            .assuming_tokens();
        let found = inspect(&source, &Options::default());
        let written = serde_json::to_value(&found).expect("JSON");
        collect(&written, &mut keys);
        for template in found.templates {
            match (template.answers, template.error) {
                (Some(answers), None) => {
                    let user = answers.roles.known.iter().find(|role| role.role == "user");
                    let first = &user.expect("user").first;
                    assert!(first.is_rendered(), "{name}: {first:?}");
                }
                // A template may want a variable that only its own caller knows.
                (None, Some(InspectError::Render(error))) => {
                    assert!(
                        error.to_string().contains("is undefined"),
                        "{name}: {error}"
                    );
                }
                other => panic!("{name}: {other:?}"),
            }
        }
    }
    for key in keys {
        assert!(
            page.contains(&format!("`{key}`")),
            "docs/inspect.md does not tell of `{key}`"
        );
    }
}

/// The keys of a document, but for those that a template or its kwargs make.
fn collect(value: &serde_json::Value, keys: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(members) => {
            for (key, member) in members {
                keys.insert(key.clone());
                // A message of a conversation has the keys that messages have, and a value of a kwarg those that the chat template asks of it.
                let is_given = match key.as_str() {
                    "values" | "without_effect" => true,
                    "kwargs" | "special_tokens" | "message" | "smallest" => !member.is_array(),
                    _ => false,
                };
                if !is_given {
                    collect(member, keys);
                }
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| collect(item, keys)),
        _ => {}
    }
}
