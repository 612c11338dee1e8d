//! Templates that change lists and dictionaries, rendered by Obverse and by Jinja2's own sandbox.

use obverse::chat_template::{ChatTemplate, Rules};
use serde_json::json;

use super::{Case, compare};
use crate::support::random::Random;

const SCRIPT: &str = "render_plain.py";

fn case(name: &str, messages: serde_json::Value) -> Case {
    let mut case = Case::new(
        name.to_owned(),
        json!({"messages": messages, "add_generation_prompt": false, "kwargs": {}}),
    );
    case.input.rules.keep_nulls = true;
    case.input.rules.list_methods = true;
    case
}

fn cases() -> Vec<Case> {
    vec![
        case(
            "two",
            json!([
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": null, "tool_calls": [{"name": "f"}]},
            ]),
        ),
        case("one", json!([{"role": "user"}])),
    ]
}

/// The templates of `changing.jinja`.
pub fn templates() -> Vec<(String, String)> {
    include_str!("changing.jinja")
        .split("\n=====\n")
        .enumerate()
        .map(|(index, source)| {
            (
                format!("[{index}] {source}"),
                source.trim_end_matches('\n').to_owned(),
            )
        })
        .collect()
}

#[test]
fn templates_that_change_what_they_hold_render_as_in_jinja() {
    let cases = cases();
    compare(SCRIPT, &templates(), &|_| cases.as_slice());
}

/// Statements on four variables, two of which hold the same list.
fn made_up(random: &mut Random) -> String {
    let mut out =
        "{% set a = [1, 2] %}{% set b = a %}{% set c = ['x'] %}{% set d = {'k': 1, 'l': [5]} %}"
            .to_owned();
    for _ in 0..3 + random.below(12) {
        let list = random.pick(&["a", "b", "c", "d.l", "d['l']", "a[:]"]);
        let item = random.pick(&["1", "'x'", "2.5", "none", "a|length", "c[0]", "[7]", "true"]);
        let at = random.pick(&["0", "-1", "1", "3", "-5"]);
        let call = match random.below(16) {
            0..4 => format!("{list}.append({item})"),
            4 => format!("{list}.extend([{item}, {item}])"),
            5 => format!("{list}.extend({list})"),
            6 => format!("{list}.insert({at}, {item})"),
            7 => format!("{list}.pop({at}) if {list}|length > 5"),
            8 => format!("{list}.remove({item}) if {item} in {list}"),
            9 => format!("{list}.reverse()"),
            10 => format!("{list}.clear() if {list}|length > 8"),
            11 => format!("d.update({{'{}': {item}}})", random.pick(&["k", "m", "n"])),
            12 => format!("d.pop('{}', {item})", random.pick(&["k", "m", "n"])),
            13 => format!("d.setdefault('{}', {item})", random.pick(&["k", "m", "n"])),
            14 => format!("{list}.sort() if false else {list}.copy()"),
            _ => format!("{list}.pop()"),
        };
        out += &match random.below(4) {
            0 => format!("{{% set _ = {call} %}}"),
            1 => format!(
                "{{% for x in {list} %}}{{% if loop.index < 4 %}}{{{{ {call} }}}}{{{{ x }}}}{{% endif %}}{{% endfor %}}"
            ),
            _ => format!("{{{{ {call} }}}};"),
        };
    }
    out + "{{ a }}{{ b }}{{ c }}{{ d }}"
}

#[test]
fn made_up_changes_render_as_in_jinja() {
    made_up_changes(500);
}

#[test]
#[ignore = "ten seconds; `.ci/run` runs it"]
fn many_made_up_changes_render_as_in_jinja() {
    made_up_changes(3000);
}

fn made_up_changes(many: u64) {
    let seed = Random::new(20_261_122).next();
    let cases = cases();
    let templates: Vec<(String, String)> = (0..many)
        .map(|index| {
            let source = made_up(&mut Random::part(seed, index));
            (source.clone(), source)
        })
        .collect();
    compare(SCRIPT, &templates, &|_| &cases[1..]);
}

#[test]
fn nothing_comes_to_hold_itself() {
    let case = &cases()[0];
    for source in [
        "{% set a = [] %}{{ a.append(a) }}",
        "{% set a = [] %}{% set b = [a] %}{{ a.append(b) }}",
        "{% set a = [] %}{{ a.append((1, {'x': a})) }}",
        "{% set a = [] %}{{ a.extend([a]) }}",
        "{% set a = [] %}{{ a.insert(0, [[a]]) }}",
        "{% set d = {} %}{{ d.update(x=d) }}",
        "{% set d = {} %}{{ d.setdefault('x', [d]) }}",
        "{% set d = {} %}{% set a = [d.items()] %}{{ d.update(a=a) }}",
        "{% set a = [] %}{{ a.append(a.pop) }}",
        "{% set a = [] %}{{ a.append([a]|reverse) }}",
    ] {
        let template = ChatTemplate::new(source).expect("a template");
        let error = template.render(&case.input).expect_err(source).to_string();
        assert!(error.contains("cannot hold itself"), "{source}: {error}");
    }
}

#[test]
fn nesting_by_changes_has_a_limit() {
    let case = &cases()[0];
    for source in [
        // From the top down, from the bottom up, and both by turns.
        "{% set ns = namespace(a=[]) %}{% set top = ns.a %}{% for x in range(9999) %}{% set n = [] %}{{ ns.a.append(n) }}{% set ns.a = n %}{% endfor %}",
        "{% set ns = namespace(a=[]) %}{% for x in range(9999) %}{% set n = [] %}{{ n.append(ns.a) }}{% set ns.a = n %}{% endfor %}",
        "{% set ns = namespace(a=[], z=[]) %}{% set top = ns.a %}{% for x in range(9999) %}{% set n = {} %}{{ ns.a.append([n]) }}{% set l = [] %}{{ n.update(l=l) }}{% set ns.a = l %}{% endfor %}",
    ] {
        let template = ChatTemplate::new(source).expect("a template");
        let error = template.render(&case.input).expect_err(source).to_string();
        assert!(error.contains("levels of nesting"), "{source}: {error}");
    }
    // A value that holds a scope or a loop may hold itself through it, and is dropped all the same.
    for source in [
        "{% set a = [] %}{% macro m() %}{{ a }}{% endmacro %}{{ a.append(m) }}",
        "{% set a = [1, 2] %}{% for x in a %}{% if loop.first %}{{ a.append(loop) }}{% endif %}{% endfor %}",
        "{% set a = [] %}{% set ns = namespace(a=a) %}{{ a.append(ns) }}",
        "{% set a = [1] %}{% for x in a %}{% if loop.index < 9 %}{{ a.append(loop.index) }}{% endif %}{% endfor %}{{ a }}",
    ] {
        let template = ChatTemplate::new(source).expect("a template");
        template.render(&case.input).expect(source);
    }
    let endless =
        ChatTemplate::new("{% set a = [1] %}{% for x in a %}{{ a.append(x) }}{% endfor %}")
            .expect("a template");
    assert!(endless.render(&case.input).is_err());
}

#[test]
fn without_the_rule_they_are_refused() {
    let mut input = cases().remove(0).input;
    input.rules = Rules::default();
    for source in ["{{ [].append(1) }}", "{{ {}.update(a=1) }}"] {
        let template = ChatTemplate::new(source).expect("a template");
        assert!(template.render(&input).is_err(), "{source}");
    }
}
