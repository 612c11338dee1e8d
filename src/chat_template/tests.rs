//! Tests of the errors in which hostile templates end, and of the places of errors.

use super::{ChatTemplate, Limit, MAX_STEPS, RenderError, RenderInput};
use crate::value::{Value, json};

fn input(messages: &str) -> RenderInput {
    let messages = json::parse(messages).expect("JSON");
    RenderInput {
        messages: messages.as_array().expect("a list").to_vec(),
        ..RenderInput::default()
    }
}

fn render(source: &str) -> Result<String, RenderError> {
    let template =
        ChatTemplate::new(source).unwrap_or_else(|error| panic!("{source:.80}: {error}"));
    template.render(&input(r#"[{"role": "user", "content": "Hi"}]"#))
}

fn limit(source: &str) -> Limit {
    match render(source) {
        Err(RenderError::Limit { which, limit }) if limit > 0 => which,
        other => panic!("{source:.80}: {other:.200?}"),
    }
}

fn syntax(source: &str) -> super::TemplateError {
    ChatTemplate::new(source).expect_err("a syntax error")
}

#[test]
fn bombs_of_one_value_hit_the_memory_limit() {
    for source in [
        "{{ 'x' * 10**9 }}",
        "{{ ['x'] * 10**9 }}",
        "{{ (1,) * 10**12 }}",
        "{{ 'x' * 10**18 }}",
        "{{ 'x'.ljust(10**9) }}",
        "{{ '%999999999d' % 1 }}",
        "{{ '{:999999999}'.format(1) }}",
        "{{ ('x' * 10**6).replace('x', 'y' * 10**6) }}",
        "{{ ('x' * 10**6)|replace('x', 'y' * 10**6) }}",
        "{{ ('x' * 10**5)|list|join('y' * 10**5) }}",
        "{{ ('y' * 10**6).join('x' * 10**5) }}",
        "{{ '\\n'.join('x' * 10**5)|indent('y' * 10**5) }}",
        "{{ ('\\t' * 1000).expandtabs(10**9) }}",
        "{{ ('x' * 10**5)|wordwrap(1, wrapstring='y' * 10**5) }}",
    ] {
        assert_eq!(limit(source), Limit::Memory, "{source}");
    }
    assert_eq!(limit("{{ range(10**9)|list }}"), Limit::Range);
}

#[test]
fn a_render_has_so_many_steps() {
    let source = "{% set s = 'x' * 10**6 %}{% for a in range(99999) %}{{ s|length }}{% endfor %}";
    match render(source) {
        Err(RenderError::Limit { which, limit }) => {
            assert_eq!((which, limit), (Limit::Fuel, MAX_STEPS));
        }
        other => panic!("{other:.200?}"),
    }
}

/// With a tenth of the steps that a render has: steps that do nothing else are as dear here as those that work.
#[test]
fn work_without_end_runs_out_of_fuel() {
    for source in [
        "{% for a in range(9999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
        "{% for a in range(9999) %}{{ ('x' * 10**6) is string }}{% endfor %}",
        "{% set ns = namespace(x='ab') %}{% for a in range(9999) %}{% set ns.x = ns.x ~ 'abcdefgh' * 1000 %}{% endfor %}",
        "{% set ns = namespace(x=[1]) %}{% for a in range(9999) %}{% set ns.x = ns.x + range(1000)|list %}{% endfor %}",
        "{% for a in range(9999) %}{{ range(99999)|list is string }}{% endfor %}",
        "{% for a in range(9999) %}{{ 'x' in range(99999) }}{% endfor %}",
        "{% set s = 'x' * 10**6 %}{% for a in range(9999) %}{{ s.upper() is string }}{% endfor %}",
        "{% set s = 'x' * 10**6 %}{% for a in range(9999) %}{{ s|length }}{% endfor %}",
        "{% set s = 'x' * 10**6 %}{% for a in range(9999) %}{{ 'y' in s }}{% endfor %}",
        "{% set s = 'x' * 10**6 %}{% for a in range(9999) %}{{ s == s ~ '' }}{% endfor %}",
        "{% set s = 'x' * 10**6 %}{% for a in range(9999) %}{{ s[-1] }}{% endfor %}",
        "{% set l = range(99999)|list %}{% for a in l[:9999] %}{{ l == l + [] }}{% endfor %}",
        "{% set l = range(99999)|list %}{% for a in l[:9999] %}{{ l|sort|first }}{{ l|unique|first }}{{ l|sum }}{% endfor %}",
        "{% set l = range(99999)|list %}{% for a in l[:9999] %}{{ l|groupby(none)|length }}{% endfor %}",
        "{% set s = '<' * 10**6 %}{% for a in range(9999) %}{{ s|striptags is string }}{{ s|wordwrap(1) is string }}{% endfor %}",
        "{% set l = range(99999)|list %}{% for a in l[:9999] %}{{ l|tojson is string }}{% endfor %}",
        "{% set l = range(99999)|list %}{% for a in l[:9999] %}{{ l|string is string }}{% endfor %}",
    ] {
        let template = ChatTemplate::new(source).expect("a chat template");
        let mut steps = MAX_STEPS / 10;
        match template.render_within(&RenderInput::default(), &mut steps) {
            Err(RenderError::Limit { which, .. }) => assert_eq!(which, Limit::Fuel, "{source}"),
            other => panic!("{source}: {other:.200?}"),
        }
    }
}

#[test]
fn output_without_end_is_cut_off() {
    assert_eq!(
        limit("{% set s = 'x' * 10**6 %}{% for a in range(99999) %}{{ s }}{% endfor %}"),
        Limit::Output
    );
}

#[test]
fn nesting_without_end_is_cut_off() {
    assert_eq!(
        limit("{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}"),
        Limit::Recursion
    );
    assert_eq!(
        limit(
            "{% macro f(n) %}{% if true %}{% for x in [1] %}{{ '' ~ (f(n + 1)|trim) }}{% endfor %}{% endif %}{% endmacro %}{{ f(0) }}"
        ),
        Limit::Recursion
    );
    assert_eq!(
        limit("{% macro f(n=f()) %}{% endmacro %}{{ f() }}"),
        Limit::Recursion
    );
    assert_eq!(
        limit(
            "{% macro f() %}{% call f() %}x{% endcall %}{{ caller() if caller }}{% endmacro %}{{ f() }}"
        ),
        Limit::Recursion
    );
    assert_eq!(
        limit("{% for x in [[1]] recursive %}{{ loop([[x]]) }}{% endfor %}"),
        Limit::Recursion
    );
    let grown = "{% set ns = namespace(x=[]) %}{% for a in range(9999) %}{% set ns.x = [ns.x] %}{% endfor %}";
    for using in [
        "{{ ns.x }}",
        "{{ ns.x|tojson }}",
        "{{ ns.x == [ns.x] }}",
        "{{ ns.x < [ns.x] }}",
        "{{ ns.x|string }}",
    ] {
        assert_eq!(
            limit(&format!("{grown}{using}")),
            Limit::Recursion,
            "{using}"
        );
    }
    // A namespace that holds itself is printed by nobody.
    assert_eq!(
        limit("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}"),
        Limit::Recursion
    );
}

#[test]
fn values_nested_deep_are_dropped_without_harm() {
    let grown = "{% set ns = namespace(x=[]) %}{% for a in range(99999) %}{% set ns.x = [ns.x] %}{% endfor %}ok";
    assert_eq!(limit(grown), Limit::Recursion);
}

#[test]
fn sources_that_nest_without_end_do_not_compile() {
    let many = 100_000;
    for source in [
        format!("{{{{ {}1{} }}}}", "(".repeat(many), ")".repeat(many)),
        format!("{{{{ {}1{} }}}}", "[".repeat(many), "]".repeat(many)),
        format!("{{{{ {}1 }}}}", "not ".repeat(many)),
        format!("{{{{ {}1 }}}}", "-".repeat(many)),
        format!("{{{{ 1{} }}}}", " + 1".repeat(many)),
        format!("{{{{ x{} }}}}", ".a".repeat(many)),
        format!("{{{{ x{} }}}}", "[0]".repeat(many)),
        format!("{{{{ x{} }}}}", "()".repeat(many)),
        format!("{{{{ x{} }}}}", "|e".repeat(many)),
        format!("{{{{ x{} }}}}", " is a".repeat(many)),
        format!("{{{{ {}1 }}}}", "1 if 1 else ".repeat(many)),
        format!("{{{{ 1{} }}}}", " if 1".repeat(many)),
        format!("{{% if x %}}{}{{% endif %}}", "{% elif x %}".repeat(many)),
        "{% if x %}".repeat(many),
        "{% for x in y %}".repeat(many),
        "{% set x %}".repeat(many),
        format!(
            "{}{}",
            "{% if x %}".repeat(1000),
            "{% endif %}".repeat(1000)
        ),
        format!("{{% set {}x{} = 1 %}}", "(".repeat(many), ")".repeat(many)),
        format!(
            "{{% for {}x{} in y %}}{{% endfor %}}",
            "(".repeat(many),
            ")".repeat(many)
        ),
        "x".repeat(5 << 20),
    ] {
        let error = syntax(&source);
        assert!(error.to_string().contains("limit"), "{source:.40}: {error}");
    }
    // A template that is long without being deep is taken.
    let list = format!("{{{{ [{}]|length }}}}", "1, ".repeat(20_000));
    assert_eq!(render(&list).as_deref(), Ok("20000"));
    let sum = format!("{{{{ 0{} }}}}", " + 1".repeat(500));
    assert_eq!(render(&sum).as_deref(), Ok("500"));
    let branches = format!(
        "{{% if nope %}}{}{{% else %}}e{{% endif %}}",
        "{% elif nope %}".repeat(500)
    );
    assert_eq!(render(&branches).as_deref(), Ok("e"));
}

#[test]
fn deep_input_is_refused() {
    let mut value = Value::Array(Vec::new());
    for _ in 0..5_000 {
        value = Value::Array(vec![value]);
    }
    let template = ChatTemplate::new("{{ messages|length }}").expect("a template");
    let input = RenderInput {
        messages: vec![value],
        ..RenderInput::default()
    };
    assert!(matches!(
        template.render(&input),
        Err(RenderError::Limit {
            which: Limit::Recursion,
            ..
        })
    ));
    // Dropping it by hand: the value type itself recurses.
    let mut rest = input.messages;
    while let Some(Value::Array(items)) = rest.pop() {
        rest.extend(items);
    }
}

#[test]
fn errors_have_their_place() {
    let error = syntax("line\r\n{{ a }}\r\n{% if %}");
    assert_eq!(error.diagnostic.code, "chat-template-syntax");
    let span = error.diagnostic.place.span.clone().expect("a span");
    assert!((16..=23).contains(&span.start), "{span:?}");
    let source = "{{ f(a= b ''é}";
    let span = syntax(source).diagnostic.place.span.expect("a span");
    assert!(
        source.get(span.clone()).is_some(),
        "{span:?} cuts a character"
    );
    let error = syntax("{% if x %}");
    assert!(error.diagnostic.hint.is_some(), "{error}");

    let source = "é\r\n{{ messages[0].nope.deeper }}";
    let Err(RenderError::Template { diagnostic }) = render(source) else {
        panic!("it must fail")
    };
    let span = diagnostic.place.span.expect("a span");
    assert_eq!(&source[span], "messages[0].nope.deeper");
    assert_eq!(
        diagnostic.message,
        "a `dict` has no attribute or item `nope`"
    );

    let source = "{% generation %}{{ 'a' + 1 }}{% endgeneration %}";
    let Err(RenderError::Template { diagnostic }) = render(source) else {
        panic!("it must fail")
    };
    assert_eq!(&source[diagnostic.place.span.expect("a span")], "'a' + 1");
}

#[test]
fn what_a_template_raises_is_its_own_message() {
    let raised = render("{{ raise_exception('only ' ~ messages|length) }}");
    assert_eq!(
        raised,
        Err(RenderError::Raised {
            message: "only 1".to_owned()
        })
    );
}

#[test]
fn reads_are_told_by_role_and_by_what_was_there() {
    let template = ChatTemplate::new(
        "{% for m in messages %}{% if m.role == 'assistant' and m.reasoning_content %}{{ m.content }}{% for c in m.tool_calls or [] %}{{ c.function.arguments|tojson }}{% endfor %}{% endif %}{% endfor %}{% if enable_thinking %}{% endif %}{{ tools|length if tools }}",
    )
    .expect("a template");
    let input = input(
        r#"[{"role": "user", "content": "x"}, {"role": "assistant", "content": "y", "reasoning": "r", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}]}]"#,
    );
    let (text, reads) = template.render_observed(&input).expect("a render");
    assert_eq!(text, "y{\"a\": 1}");
    assert!(reads.has_for("assistant", "messages[].reasoning_content"));
    assert!(!reads.has_for("user", "messages[].reasoning_content"));
    assert!(reads.has_for("assistant", "messages[].tool_calls[].function.arguments.*"));
    assert!(!reads.has("messages[].tool_calls[].function.name"));
    assert_eq!(
        reads.undefined.iter().collect::<Vec<_>>(),
        ["enable_thinking"]
    );
}

#[test]
fn a_survey_tells_variables_constants_and_candidates() {
    let template = ChatTemplate::new(
        "<|a|>{% set x = 'b' ~ y %}{% if effort == 'high' or effort in ['low', 'mid'] %}{{ x }}{% endif %}{% if thinking is defined and thinking is false %}{% endif %}{% for m in messages %}{{ '<' + m.role + '>' }}{% endfor %}<|a|>",
    )
    .expect("a template");
    assert_eq!(
        template.variables(),
        ["y", "effort", "thinking", "messages"]
    );
    assert_eq!(
        template.constants(),
        ["<|a|>", "b", "high", "low", "mid", "<", ">"]
    );
    assert_eq!(
        template.candidates("effort"),
        ["high", "low", "mid"].map(Value::from)
    );
    assert_eq!(
        template.candidates("thinking"),
        [true, false].map(Value::from)
    );
    assert!(template.candidates("y").is_empty());
    let bounded = ChatTemplate::new("{% if budget > 20 and 3 <= depth %}{% endif %}").unwrap();
    assert_eq!(bounded.candidates("budget"), [21, 19].map(Value::from));
    assert_eq!(bounded.candidates("depth"), [4, 2].map(Value::from));
}

/// A constant that is only written is sought nowhere and compared with nothing.
#[test]
fn a_survey_tells_what_texts_are_asked_for() {
    let template = ChatTemplate::new(
        "<|a|>{% set x = '~' %}{% if c[0] in '/*' or c[0] == x or c[:1] in ['#', '$'] %}{{ c.split('//')[0] | replace('+', '-') }}{% endif %}{{ '%' ~ c if c.startswith('%%') }}",
    )
    .expect("a template");
    assert_eq!(template.sought(), ["//", "+", "%%"]);
    assert_eq!(template.asked(), ["~", "/*", "#", "$", "//", "+", "%%"]);
}

#[test]
fn a_template_can_be_shared() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<ChatTemplate>();
}

#[test]
fn names_may_have_letters_of_any_script() {
    let source = "{% set ключ = 'x' %}{% for é in [1] %}{{ ключ }}{{ é }}{% endfor %}";
    assert_eq!(render(source).unwrap(), "x1");
}

#[test]
fn what_is_not_supported_is_an_error() {
    for source in [
        "{{ 'x'|pprint }}",
        "{{ 'x'|random }}",
        "{{ 'x'|urlize }}",
        "{{ 10**30 * 10**30 }}",
        "{{ 'x'.encode() }}",
        "{{ lipsum() }}",
    ] {
        assert!(
            matches!(render(source), Err(RenderError::Template { .. })),
            "{source}"
        );
    }
    for source in [
        "{% autoescape true %}{% endautoescape %}",
        "{{ 1, 2 }}",
        "{{ +1 }}",
        "{{ x|f()() }}",
        "{{ '\\N{BULLET}' }}",
        "{% do x %}",
    ] {
        syntax(source);
    }
}

#[test]
fn a_variable_that_is_set_to_something_of_the_conversation_is_not_given() {
    for (text, is_set) in [
        (
            "{% if m.x is string %}{% set thought = m.x %}{% endif %}{{ thought }}",
            true,
        ),
        // What is set where it is missing is given elsewhere, and so is what is set to a constant or to what is given.
        (
            "{% if not thought %}{% set thought = m.x %}{% endif %}{{ thought }}",
            false,
        ),
        ("{% set thought = thought or m.x %}{{ thought }}", false),
        (
            "{% if m.x %}{% set thought = 'none' %}{% endif %}{{ thought }}",
            false,
        ),
        (
            "{% set other = effort %}{% if m.x %}{% set thought = other %}{% endif %}{{ thought }}",
            false,
        ),
    ] {
        let text = format!("{{% for m in messages %}}{text}{{% endfor %}}");
        let template = ChatTemplate::new(&text).unwrap();
        assert!(
            template.variables().iter().any(|name| name == "thought"),
            "{text}"
        );
        assert_eq!(template.sets("thought"), is_set, "{text}");
    }
}
