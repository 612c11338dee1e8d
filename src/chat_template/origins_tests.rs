//! Tests of the origins that each operation gives. A run is written `text`, with `~` where it is derived, of an input `text<path
//! from..to>`, with `#` of a key and `+path` for what it is derived from beside; runs are parted by `|`.

use super::{ChatTemplate, Origin, RenderInput, Rules, Traced};
use crate::value::json;

const INPUTS: &str = r#"{"s": " aB\nc ", "t": "x-y-z", "n": 42, "f": 1.5, "b": true, "e": "", "d": {"k": "v", "l": [1, "<q>"]},
    "l": ["b", "a", "b"], "w": 5}"#;

fn traced_under(source: &str, rules: Rules) -> Traced {
    let input = RenderInput {
        kwargs: json::parse(INPUTS)
            .expect("JSON")
            .as_object()
            .cloned()
            .expect("an object"),
        rules,
        ..RenderInput::default()
    };
    let template = ChatTemplate::new(source).expect("a template");
    let traced = template.render_traced(&input).expect(source);
    assert_eq!(traced.text, template.render(&input).expect(source));
    traced
}

fn traced(source: &str) -> Traced {
    traced_under(source, Rules::default())
}

fn written(traced: &Traced) -> String {
    let runs = traced.runs.iter().map(|run| {
        let mut out = traced.text[run.start..run.end].to_owned();
        if let Origin::Input {
            path,
            from,
            key,
            also,
            ..
        } = &run.origin
        {
            out += &format!("<{path}");
            if *key {
                out.push('#');
            }
            if let Some((start, end)) = from {
                out += &format!(" {start}..{end}");
            }
            for path in also {
                out += &format!("+{path}");
            }
            out.push('>');
        }
        if run.origin.is_derived() {
            out.push('~');
        }
        out
    });
    runs.collect::<Vec<_>>().join("|")
}

/// Asserts which origins the render of a template has, and which inputs control flow read.
#[track_caller]
fn assert_told(source: &str, expected: &str, decided: &[&str]) {
    let traced = traced(source);
    assert_eq!(written(&traced), expected, "{source}");
    let paths: Vec<String> = traced.decided_by.iter().map(ToString::to_string).collect();
    assert_eq!(paths, decided, "{source}");
}

#[test]
fn texts_that_are_put_together_keep_their_origins() {
    assert_told("ab{{ t }}c", "ab|x-y-z<t 0..5>|c", &[]);
    assert_told("{{ 'p' ~ t ~ n }}", "p|x-y-z<t 0..5>|42<n>", &[]);
    assert_told("{{ 'p' + t }}", "p|x-y-z<t 0..5>", &[]);
    assert_told("{{ t * 2 }}", "x-y-z<t 0..5>|x-y-z<t 0..5>", &[]);
    assert_told(
        "{{ l|join('-') }}",
        "b<l[0] 0..1>|-|a<l[1] 0..1>|-|b<l[2] 0..1>",
        &["l"],
    );
    assert_told(
        "{{ '-'.join(l) }}",
        "b<l[0] 0..1>|-|a<l[1] 0..1>|-|b<l[2] 0..1>",
        &["l"],
    );
    assert_told(
        "{% set x %}a{{ t }}{% endset %}{{ x }}",
        "a|x-y-z<t 0..5>",
        &[],
    );
    assert_told(
        "{% macro m(v) %}[{{ v }}]{% endmacro %}{{ m(t) }}",
        "[|x-y-z<t 0..5>|]",
        &[],
    );
    assert_told(
        "{% macro m() %}[{{ caller(t) }}]{% endmacro %}{% call(v) m() %}<{{ v }}>{% endcall %}",
        "[|<|x-y-z<t 0..5>|>|]",
        &[],
    );
    assert_told(
        "{% filter upper %}a{{ t }}{% endfilter %}",
        "A~|X<t 0..1>~|-<t 1..2>|Y<t 2..3>~|-<t 3..4>|Z<t 4..5>~",
        &[],
    );
    assert_told(
        "{{ '%s=%d|%5.1f|%r'|format(t, n, f, t) }}",
        "x-y-z<t 0..5>|=|42<n>|||  1.5<f>~|||'<t>~|x-y-z<t 0..5>|'<t>~",
        &[],
    );
    assert_told(
        "{{ '%-7s|%3d' % (t, n) }}",
        "x-y-z<t 0..5>|  <t>~||| <n>~|42<n>",
        &[],
    );
    assert_told(
        "{{ '{}|{:>7}|{!r}|{n}'.format(t, t, t, n=n) }}",
        "x-y-z<t 0..5>|||  <t>~|x-y-z<t 0..5>|||'<t>~|x-y-z<t 0..5>|'<t>~|||42<n>",
        &[],
    );
    assert_told(
        "{{ joiner('; ')() }}{% set j = joiner('; ') %}{{ j() }}{{ j() }}",
        "; ",
        &[],
    );
}

#[test]
fn parts_of_a_text_are_bytes_of_it() {
    assert_told(
        "{{ t[1:3] }}{{ t[0] }}{{ t[-1] }}{{ t[::-2] }}",
        "-y<t 1..3>|x<t 0..1>|z<t 4..5>|z<t 4..5>|y<t 2..3>|x<t 0..1>",
        &[],
    );
    assert_told(
        "{{ s|trim }}|{{ s.strip() }}|{{ s.lstrip() }}|{{ s.rstrip(' ') }}",
        "aB\nc<s 1..5>|||aB\nc<s 1..5>|||aB\nc <s 1..6>||| aB\nc<s 0..5>",
        &[],
    );
    assert_told(
        "{{ t.split('-')[1] }}{{ t.rsplit('-', 1)|last }}{{ t.partition('-')|join('/') }}",
        "y<t 2..3>|z<t 4..5>|x<t 0..1>|/|-<t 1..2>|/|y-z<t 2..5>",
        &["t"],
    );
    assert_told(
        "{{ s.splitlines()|first }}{{ t.removeprefix('x-') }}{{ t.removesuffix('?') }}",
        " aB<s 0..3>|y-z<t 2..5>|x-y-z<t 0..5>",
        &["s"],
    );
    assert_told(
        "{% for c in t[:3] %}{{ c }},{% endfor %}",
        "x<t 0..1>|,|-<t 1..2>|,|y<t 2..3>|,",
        &["t"],
    );
    assert_told(
        "{{ t|first }}{{ t|last }}{{ t|list|first }}{{ t|reverse }}",
        "x<t 0..1>|z<t 4..5>|x<t 0..1>|z<t 4..5>|-<t 3..4>|y<t 2..3>|-<t 1..2>|x<t 0..1>",
        &["t"],
    );
    assert_told(
        "{{ t|truncate(4, true, '..', 0) }}",
        "x-<t 0..2>|..<t>~",
        &[],
    );
}

#[test]
fn what_is_changed_is_derived() {
    assert_told(
        "{{ t|upper }}{{ s|lower }}{{ t|capitalize }}{{ t|title }}{{ t.swapcase() }}{{ 'ß'|upper }}",
        "X<t 0..1>~|-<t 1..2>|Y<t 2..3>~|-<t 3..4>|Z<t 4..5>~| a<s 0..2>|b<s 2..3>~|\nc <s 3..6>|X<t 0..1>~|-y-z<t 1..5>|X<t 0..1>~|-<t 1..2>|Y<t 2..3>~|-<t 3..4>|Z<t 4..5>~|X<t 0..1>~|-<t 1..2>|Y<t 2..3>~|-<t 3..4>|Z<t 4..5>~|SS~",
        &[],
    );
    assert_told(
        "{{ t|replace('-', '+') }}{{ t.replace('-', '', 1) }}{{ t.replace('y', n|string) }}{{ 'a-b'|replace('-', t) }}",
        "x<t 0..1>|+<t 1..2>~|y<t 2..3>|+<t 3..4>~|z<t 4..5>|x<t 0..1>|y-z<t 2..5>|x-<t 0..2>|42<n+t>|-z<t 3..5>|a|x-y-z<t 0..5>|b",
        &[],
    );
    assert_told(
        "{{ d.l[1]|e }}{{ d.l[1]|safe }}{{ 'a<'|e ~ t }}{{ ('<'|e) + d.l[1] }}",
        "&lt;<d.l[1] 0..1>~|q<d.l[1] 1..2>|&gt;<d.l[1] 2..3>~|<q><d.l[1] 0..3>|a|&lt;~|x-y-z<t 0..5>|&lt;~|&lt;<d.l[1] 0..1>~|q<d.l[1] 1..2>|&gt;<d.l[1] 2..3>~",
        &[],
    );
    assert_told("{{ s|indent(2) }}", " aB\n<s 0..4>|  <s>~|c <s 4..6>", &[]);
    assert_told(
        r"{{ t.center(9, '*') }}{{ t.ljust(7) }}{{ t|center(8) }}{{ '7'.zfill(3) }}{{ 'a\tb'.expandtabs(4) }}",
        "**<t>~|x-y-z<t 0..5>|**<t>~|x-y-z<t 0..5>|   <t>~|x-y-z<t 0..5>|  <t>~|00~|7|a|   ~|b",
        &[],
    );
    assert_told(
        "{{ d.l[1]|urlencode }}",
        "%3C<d.l[1] 0..1>~|q<d.l[1] 1..2>|%3E<d.l[1] 2..3>~",
        &[],
    );
    assert_told(
        "{{ t|wordwrap(2) }}",
        "x-<t 0..2>|\n<t>~|y-<t 2..4>|\n<t>~|z<t 4..5>",
        &[],
    );
    assert_told(
        "{{ ('<i>' ~ t ~ '</i> &amp; ' ~ l[0])|striptags }}",
        "x-y-z<t 0..5>| |&~| |b<l[0] 0..1>",
        &["l[0]", "t"],
    );
    assert_told(
        "{{ {'a': t, 'b': none}|xmlattr }}",
        " ~|a|=\"~|x-y-z<t 0..5>|\"~",
        &["t"],
    );
}

#[test]
fn groups_are_decided_by_what_their_members_have_in_common() {
    assert_told(
        "{% for g in l|groupby(0) %}{{ g.grouper }}{{ g.list|length }};{% endfor %}",
        "a<l[1] 0..1>|1<l>~|;|b<l[0] 0..1>|2<l>~|;",
        &["l", "l[0]", "l[1]", "l[2]"],
    );
}

#[test]
fn numbers_and_truth_are_of_what_they_were_made_of() {
    assert_told("{{ n|filesizeformat }}", "42 Bytes<n>~", &[]);
    assert_told(
        "{{ n }}{{ f }}{{ b }}{{ none }}{{ nope }}",
        "42<n>|1.5<f>|True<b>~|None~",
        &[],
    );
    assert_told(
        "{{ n + 1 }}{{ n|string }}{{ t|length }}{{ l|length }}{{ n|float }}{{ 1 + 2 }}{{ -n }}{{ '5'|int }}{{ f|round }}",
        "43<n>~|42<n>|5<t>~|3<l>~|42.0<n>~|3~|-42<n>~|5~|2.0<f>~",
        &[],
    );
    assert_told(
        "{{ n == 42 }}{{ t is string }}{{ 'k' in d }}{{ not b }}{{ nope is defined }}{{ t.startswith('x') }}{{ t.find('y') }}",
        "True<n>~|True<t>~|True<d.k>~|False<b>~|False<nope>~|True2<t>~",
        &[],
    );
    assert_told("{{ (n|string)[0] }}", "4<n>~", &[]);
    assert_told(
        "{{ e|default('z', true) }}{{ nope|default('z') }}{{ t|default('') }}{{ e or t }}{{ e or '' }}",
        "z|z|x-y-z<t 0..5>|x-y-z<t 0..5>",
        &["e", "nope"],
    );
    assert_told(
        "{{ range(w)|sum }}{{ l|unique|join }}{{ l|sort|first }}{{ l|max }}",
        "10<w>~|b<l[0] 0..1>|a<l[1] 0..1>|a<l[1] 0..1>|b<l[0] 0..1>",
        &["l", "l[0]", "l[1]", "l[2]", "w"],
    );
}

#[test]
fn whole_values_name_each_part() {
    assert_told(
        "{{ d|tojson }}",
        r#"{<d>~|"<d.k>~|k<d.k# 0..1>|"<d.k>~|: <d>~|"<d.k>~|v<d.k 0..1>|"<d.k>~|, <d>~|"<d.l>~|l<d.l# 0..1>|"<d.l>~|: <d>~|[<d.l>~|1<d.l[0]>|, <d.l>~|"<d.l[1]>~|<q><d.l[1] 0..3>|"<d.l[1]>~|]<d.l>~|}<d>~"#,
        &[],
    );
    assert_told(
        "{{ d }}",
        "{<d>~|'<d.k>~|k<d.k# 0..1>|'<d.k>~|: <d>~|'<d.k>~|v<d.k 0..1>|'<d.k>~|, <d>~|'<d.l>~|l<d.l# 0..1>|'<d.l>~|: <d>~|[<d.l>~|1<d.l[0]>|, <d.l>~|'<d.l[1]>~|<q><d.l[1] 0..3>|'<d.l[1]>~|]<d.l>~|}<d>~",
        &[],
    );
    assert_told(
        "{{ s|tojson }}",
        "\"<s>~| aB<s 0..3>|\\n<s 3..4>~|c <s 4..6>|\"<s>~",
        &[],
    );
    assert_told(
        "{{ s|list|tojson }}",
        "[\"<s>~| <s 0..1>|\", \"<s>~|a<s 1..2>|\", \"<s>~|B<s 2..3>|\", \"<s>~|\\n<s 3..4>~|\", \"<s>~|c<s 4..5>|\", \"<s>~| <s 5..6>|\"]<s>~",
        &[],
    );
    assert_told(
        "{{ {'a': t, n: b}|tojson }}",
        r#"{"~|a|": ~|"<t>~|x-y-z<t 0..5>|"<t>~|, ~|"42"<n>~|: ~|true<b>|}~"#,
        &["n"],
    );
    assert_told(
        "{{ [1, t]|tojson(indent=1) }}",
        "[\n 1,\n ~|\"<t>~|x-y-z<t 0..5>|\"<t>~|\n]~",
        &[],
    );
    assert_told(
        "{{ d.l|tojson }}{{ d|dictsort }}",
        r#"[<d.l>~|1<d.l[0]>|, <d.l>~|"<d.l[1]>~|<q><d.l[1] 0..3>|"<d.l[1]>~|]<d.l>~|[(<d>~|'<d.k>~|k<d.k# 0..1>|'<d.k>~|, <d>~|'<d.k>~|v<d.k 0..1>|'<d.k>~|), (<d>~|'<d.l>~|l<d.l# 0..1>|'<d.l>~|, <d>~|[<d.l>~|1<d.l[0]>|, <d.l>~|'<d.l[1]>~|<q><d.l[1] 0..3>|'<d.l[1]>~|]<d.l>~|)]<d>~"#,
        &["d"],
    );
    assert_told(
        "{% for k, v in d.items() %}{{ k }}={{ v }};{% endfor %}",
        "k<d.k# 0..1>|=|v<d.k 0..1>|;|l<d.l# 0..1>|=|[<d.l>~|1<d.l[0]>|, <d.l>~|'<d.l[1]>~|<q><d.l[1] 0..3>|'<d.l[1]>~|]<d.l>~|;",
        &["d"],
    );
    assert_told(
        "{% for k in d %}{{ k }}{{ d[k] }};{% endfor %}",
        "k<d.k# 0..1>|v<d.k 0..1>|;|l<d.l# 0..1>|[<d.l>~|1<d.l[0]>|, <d.l>~|'<d.l[1]>~|<q><d.l[1] 0..3>|'<d.l[1]>~|]<d.l>~|;",
        &["d"],
    );
    assert_told(
        "{{ l|map('upper')|list }}",
        "[<l>~|'<l[0]>~|B<l[0] 0..1>~|'<l[0]>~|, <l>~|'<l[1]>~|A<l[1] 0..1>~|'<l[1]>~|, <l>~|'<l[2]>~|B<l[2] 0..1>~|'<l[2]>~|]<l>~",
        &[],
    );
    assert_told(
        "{{ dict(d, z=t)|tojson }}",
        r#"{<d>~|"<d.k>~|k<d.k# 0..1>|"<d.k>~|: <d>~|"<d.k>~|v<d.k 0..1>|"<d.k>~|, <d>~|"<d.l>~|l<d.l# 0..1>|"<d.l>~|: <d>~|[<d.l>~|1<d.l[0]>|, <d.l>~|"<d.l[1]>~|<q><d.l[1] 0..3>|"<d.l[1]>~|]<d.l>~|, <d>~|"z"~|: <d>~|"<t>~|x-y-z<t 0..5>|"<t>~|}<d>~"#,
        &["d.z"],
    );
    assert_told(
        "{{ strftime_now('%Y') is string }}",
        "True<strftime_now>~",
        &[],
    );
}

#[test]
fn control_flow_tells_what_it_read() {
    let cases: [(&str, &[&str]); 16] = [
        ("{% if n > 1 %}a{% endif %}", &["n"]),
        ("{% if nope is defined %}a{% endif %}", &["nope"]),
        ("{% for x in l %}a{% endfor %}", &["l"]),
        (
            "{% for x in l if x == 'b' %}{{ x }}{% endfor %}",
            &["l", "l[0]", "l[1]", "l[2]"],
        ),
        ("{{ 'a' if b else 'c' }}", &["b"]),
        ("{{ t if b }}", &["b"]),
        ("{{ t if t else '' }}", &[]),
        ("{{ b and n }}", &[]),
        ("{{ b and n > 1 }}", &[]),
        ("{{ d[t] is defined }}", &["t"]),
        ("{{ l[n - 42] }}", &["n"]),
        ("{{ l[0] }}{{ d.k }}", &[]),
        ("{{ l[-1] }}", &["l"]),
        (
            "{{ l|select('equalto', 'b')|list|length }}",
            &["l[0]", "l[1]", "l[2]"],
        ),
        ("{{ t[:n] }}", &["n"]),
        ("{% set y = t|length %}{% if y > 3 %}a{% endif %}", &["t"]),
    ];
    for (source, decided) in cases {
        let traced = traced(source);
        let paths: Vec<String> = traced.decided_by.iter().map(ToString::to_string).collect();
        assert_eq!(paths, decided, "{source}");
    }
}

#[test]
fn places_are_those_of_the_source_as_it_was_given() {
    let source = "é\r\n{{ 'a\\nb' }}{{ \"x\" }}{% if true %}\r\n  c\r\n{% endif %}";
    let traced = traced(source);
    let places: Vec<(&str, &str)> = traced
        .runs
        .iter()
        .map(|run| {
            let Origin::Source { start, end, .. } = run.origin else {
                panic!("{run:?}");
            };
            (&traced.text[run.start..run.end], &source[start..end])
        })
        .collect();
    assert_eq!(
        places,
        [
            ("é\n", "é\r\n"),
            ("a\nb", "a\\nb"),
            ("x", "x"),
            ("  c\n", "  c\r\n"),
        ]
    );
}

#[test]
fn a_message_is_named_by_the_keys_that_the_caller_gave() {
    let messages = r#"[{"role": "assistant", "content": null, "reasoning": "hm"}, {"role": "user", "thinking": "so"}]"#;
    let input = RenderInput {
        messages: json::parse(messages)
            .expect("JSON")
            .as_array()
            .expect("a list")
            .to_vec(),
        ..RenderInput::default()
    };
    let told = |source: &str| {
        let template = ChatTemplate::new(source).expect("a template");
        let traced = template.render_traced(&input).expect("a render");
        (written(&traced), traced)
    };
    let (text, _) =
        told("{% for m in messages %}{{ m.reasoning_content }}{{ m.thinking }};{% endfor %}");
    assert_eq!(
        text,
        "hm<messages[0].reasoning 0..2>|hm<messages[0].reasoning 0..2>|;|so<messages[1].thinking 0..2>|so<messages[1].thinking 0..2>|;"
    );
    // That there is none was decided by all the names under which it could have come.
    let (_, traced) = told("{% if messages[1].content is defined %}a{% endif %}");
    assert_eq!(
        traced.decided_by.last().map(ToString::to_string).as_deref(),
        Some("messages[1].reasoning_content")
    );
    assert!(
        traced
            .decided_by
            .iter()
            .any(|path| path.to_string() == "messages[1].content")
    );
}

#[test]
fn changed_lists_keep_the_origins_of_their_items() {
    let rules = Rules {
        list_methods: true,
        ..Rules::default()
    };
    let told = |source: &str| written(&traced_under(source, rules));
    assert_eq!(
        told("{% set a = [] %}{% set _ = a.append(t) %}{% set _ = a.insert(0, n) %}{{ a|join }}"),
        "42<n>|x-y-z<t 0..5>"
    );
    assert_eq!(
        told("{{ l.pop() }}{{ l.pop(0) }}{{ l|length }}"),
        "b<l[2] 0..1>|b<l[0] 0..1>|1<l>~"
    );
    assert_eq!(
        told("{% set o = {} %}{% set _ = o.update(k=t) %}{{ o.k }}{{ o.setdefault('z', f) }}"),
        "x-y-z<t 0..5>|1.5<f>"
    );
}

#[test]
fn a_value_is_no_larger_for_its_origins() {
    assert_eq!(super::run::value_size(), 32);
}
