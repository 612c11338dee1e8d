//! Tests of filters. The texts that these expect are those that Jinja2 3.1.6 renders, under Python 3.11.

use super::{ChatTemplate, RenderError, RenderInput};

fn render(source: &str) -> Result<String, RenderError> {
    let template = ChatTemplate::new(source).unwrap_or_else(|error| panic!("{source}: {error}"));
    template.render(&RenderInput::default())
}

#[track_caller]
fn assert_renders(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(render(source).as_deref(), Ok(*expected), "{source}");
    }
}

fn message(source: &str) -> String {
    match render(source) {
        Err(RenderError::Template { diagnostic }) => diagnostic.message,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn sizes_are_written_as_in_jinja2() {
    assert_renders(&[
        (
            "{{ 0|filesizeformat }}; {{ 1|filesizeformat }}; {{ true|filesizeformat }}; {{ 1.9|filesizeformat }}; {{ -1500.5|filesizeformat }}; {{ -0.5|filesizeformat }}; {{ '300'|filesizeformat }}; {{ ' 3e3 '|filesizeformat }}",
            "0 Bytes; 1 Byte; 1 Byte; 1 Bytes; -1500 Bytes; 0 Bytes; 300 Bytes; 3.0 kB",
        ),
        (
            "{{ 999|filesizeformat }}; {{ 1000|filesizeformat }}; {{ 1000|filesizeformat(true) }}; {{ 1024|filesizeformat(binary=true) }}; {{ 999999|filesizeformat }}; {{ 1250|filesizeformat }}; {{ 1350|filesizeformat }}",
            "999 Bytes; 1.0 kB; 1000 Bytes; 1.0 KiB; 1000.0 kB; 1.2 kB; 1.4 kB",
        ),
        (
            "{{ (10**9)|filesizeformat }}; {{ 1e24|filesizeformat }}; {{ 1e30|filesizeformat }}; {{ 1e40|filesizeformat(1) }}; {{ 'inf'|float|filesizeformat }}; {{ 'nan'|filesizeformat }}; {{ 2.5e13|filesizeformat(binary=1) }}",
            "1.0 GB; 1000.0 ZB; 1000000.0 YB; 8271806125530277.0 YiB; inf YB; nan YB; 22.7 TiB",
        ),
        ("{{ ('5'|e)|filesizeformat + '<' }}", "5 Bytes<"),
    ]);
}

#[test]
fn groups_are_those_of_jinja2() {
    assert_renders(&[
        (
            "{% set l = [{'a': 'NY', 'n': 1}, {'a': 'ca', 'n': 2}, {'a': 'CA', 'n': 3}, {'n': 4}] %}{% for key, group in l|groupby('a', 'ny') %}{{ key }}={{ group|map(attribute='n')|join(',') }};{% endfor %}",
            "ca=2,3;NY=1,4;",
        ),
        (
            "{% set l = [{'a': 'NY', 'n': 1}, {'a': 'ca', 'n': 2}, {'a': 'CA', 'n': 3}] %}{% for g in l|groupby(attribute='a', case_sensitive=true) %}{{ g.grouper }}={{ g.list|length }}{{ g['list'][0].n }}{{ g[0] }}{{ g|length }};{% endfor %}",
            "CA=13CA2;NY=11NY2;ca=12ca2;",
        ),
        (
            "{{ [{'a': 1, 'n': 1}, {'a': true, 'n': 2}, {'a': 1.0, 'n': 3}, {'a': 0, 'n': 4}]|groupby('a') }}",
            "[(0, [{'a': 0, 'n': 4}]), (1, [{'a': 1, 'n': 1}, {'a': True, 'n': 2}, {'a': 1.0, 'n': 3}])]",
        ),
        (
            "{{ [[2, 'x'], [1, 'y'], [2, 'z']]|groupby(0) }} {{ ['b', 'A', 'a', 'B']|groupby(none) }} {{ 'abA'|groupby(0) }} {{ nope|groupby('a') }} {{ {'xy': 1, 'xz': 2}|groupby('0') }}",
            "[(1, [[1, 'y']]), (2, [[2, 'x'], [2, 'z']])] [('A', ['A', 'a']), ('b', ['b', 'B'])] [('a', ['a', 'A']), ('b', ['b'])] [] [('x', ['xy', 'xz'])]",
        ),
        (
            "{{ [{'a': {'b': 2}}, {'a': {'b': 1}}, {'a': {}}]|groupby('a.b', default=3) }} {{ [{}]|groupby('a.b', default=0) }} {{ [{}]|groupby('a') }}",
            "[(1, [{'a': {'b': 1}}]), (2, [{'a': {'b': 2}}]), (3, [{'a': {}}])] [(0, [{}])] [(Undefined, [{}])]",
        ),
        (
            "{{ ([{'a': 1}]|groupby('a'))|map(attribute='list')|list }} {{ ([{'a': 1}]|groupby('a'))|tojson }} {{ ([{'a': 1}]|groupby('a'))[0] == (1, [{'a': 1}]) }} {{ ([{'a': 1}]|groupby('a'))[0].nope }}",
            "[[{'a': 1}]] [[1, [{\"a\": 1}]]] True ",
        ),
        (
            "{{ (['X', 'x']|map('e')|list)|groupby(none) }}",
            "[(Markup('X'), [Markup('X'), Markup('x')])]",
        ),
    ]);
}

#[test]
fn tags_are_stripped_as_in_jinja2() {
    assert_renders(&[
        (
            "{{ 'a <b>bold</b>  word<br/>\\n and\\t more ' | striptags }}|{{ '<!-- a > b -->x<i>y</i>' | striptags }}|{{ 'a < b and <c' | striptags }}|{{ 'a <!-- b' | striptags }}|{{ '<!-->x-->y' | striptags }}|{{ '  ' | striptags }}|",
            "a bold word and more|xy|a < b and <c|a <!-- b|y||",
        ),
        (
            "{{ '1 &lt; 2 &amp;&amp; x &gt y &notit; &notin; &nosuch; &#65;&#x42;&#x43 &eacute &NotEqualTilde; &#0; &#128; &#1; &#xD800; &#99999999; &# &#x; & &;' | striptags }}",
            "1 < 2 && x > y ¬it; ∉ &nosuch; ABC é ≂\u{338} � €  � � &# &#x; & &;",
        ),
        (
            "{{ '&lt;b&gt;' | striptags }} {{ ('<i>&lt;'|safe)|striptags + '<' }} {{ ('<i>'|e)|striptags }} {{ none|striptags }} {{ nope|striptags }} {{ ['<b>', 1]|striptags }} {{ 1.5|striptags }}",
            "<b> << <i> None  ['', 1] 1.5",
        ),
        (
            "{{ 'a&nbsp;b' | striptags }}|{{ '\u{a0}a\u{3000}<p>\u{2002}b\\x1c' | striptags }}|",
            "a\u{a0}b|a b|",
        ),
    ]);
}

#[test]
fn lines_are_wrapped_as_in_jinja2() {
    assert_renders(&[
        (
            "{{ 'the quick brown fox jumps over the lazy dog'|wordwrap(10) }}",
            "the quick\nbrown fox\njumps over\nthe lazy\ndog",
        ),
        (
            "{{ 'well-known state-of-the-art x-y a--b wait--what -- e-mail 12-34'|wordwrap(9) }}",
            "well-\nknown\nstate-of-\nthe-art\nx-y a--b\nwait--\nwhat --\ne-mail\n12-34",
        ),
        (
            "{{ 'well-known state-of-the-art x-y a--b wait--what -- e-mail 12-34'|wordwrap(9, break_on_hyphens=false) }}",
            "well-know\nn state-o\nf-the-art\nx-y a--b \nwait--wha\nt --\ne-mail\n12-34",
        ),
        (
            "{{ 'incomprehensibilities are-so-veryverylong a'|wordwrap(8) }}|{{ 'incomprehensibilities are-so-veryverylong a'|wordwrap(8, false) }}|{{ 'incomprehensibilities are-so-veryverylong a'|wordwrap(8, true, '/', 1) }}",
            "incompre\nhensibil\nities\nare-so-v\neryveryl\nong a|incomprehensibilities\nare-so-\nveryverylong\na|incompre/hensibil/ities ar/e-so-/veryvery/long a",
        ),
        (
            "{{ 'one two\\n\\nthree  four\\r\\n  five \\n'|wordwrap(5) }}|{{ 'one two\\n\\nthree'|wordwrap(width=4, wrapstring='<br>') }}|{{ 'a\\r\\nb\\x0bc'|wordwrap }}|",
            "one\ntwo\n\nthree\nfour\nfive|one<br>two<br><br>thre<br>e|a\nb\nc|",
        ),
        (
            "{{ ''|wordwrap }}|{{ ''|wordwrap(0) }}|{{ '   '|wordwrap(2) }}|{{ '\\n\\n'|wordwrap(2, wrapstring='-') }}|{{ 'ab cde'|wordwrap(3) }}|{{ 'a b'|wordwrap(3.7) }}|{{ 'abc'|wordwrap(0.5) }}|{{ 'abc'|wordwrap(true) }}|{{ 'a b'|wordwrap(10**30) }}|",
            "|||-|ab\ncde|a b|a\nb\nc|a\nb\nc|a b|",
        ),
        (
            "{{ 'a<b c'|wordwrap(3, true, *(['<br>']|map('safe')|list)) + '<' }}|{{ ('a<b c'|safe)|wordwrap(3) + '<' }}|{{ ('a b'|safe)|wordwrap + '<' }}|{{ 'a b'|wordwrap(1, wrapstring=none) }}|",
            "a&lt;b<br>c&lt;|a<b\nc<|a b<|a\nb|",
        ),
        (
            "{{ 'x ' * 50 }}|{{ ('word ' * 30)|wordwrap }}",
            "x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x x |word word word word word word word word word word word word word word word word\nword word word word word word word word word word word word word word",
        ),
    ]);
}

#[test]
fn attributes_are_written_as_in_jinja2() {
    assert_renders(&[
        (
            "<a{{ {'class': 'x y', 'id': 3, 'no': none, 'un': nope, 'q': '<\"\\'&>', 'e': ''}|xmlattr }}>",
            "<a class=\"x y\" id=\"3\" q=\"&lt;&#34;&#39;&amp;&gt;\" e=\"\">",
        ),
        (
            "{{ {'a': 1, 'b': [1, 'x']}|xmlattr(false) }}|{{ {'a': 1}|xmlattr(autospace=0) }}|{{ {}|xmlattr }}|{{ {'a b': none}|xmlattr }}|{{ {'': true}|xmlattr }}|{{ {'é<\"': 'ü'}|xmlattr }}|",
            "a=\"1\" b=\"[1, &#39;x&#39;]\"|a=\"1\"||| =\"True\"| é&lt;&#34;=\"ü\"|",
        ),
    ]);
}

#[test]
fn words_and_steps_are_those_of_jinja2() {
    assert_renders(&[
        (
            "{{ 'हिन्दी भाषा'|wordcount }} {{ 'a_b c-d ②²'|wordcount }} {{ 'ⓐ é'|wordcount }}",
            "5 4 1",
        ),
        (
            "{{ [{}]|map(attribute='a.b', default=0)|list }} {{ [{}, {'a': {'b': 1}}]|map(attribute='a.b', default='x')|list }} {{ [{}]|map(attribute='a', default=none)|list }} {{ [1]|map(attribute=none)|list }}",
            "[0] ['x', 1] [Undefined] [1]",
        ),
        (
            "{{ 'random' is filter }} {{ 'urlize' is filter }} {{ 'groupby' is filter }} {{ 'nofilter' is filter }}",
            "True True True False",
        ),
    ]);
}

/// Jinja2 refuses each of these.
#[test]
fn what_jinja2_refuses_is_an_error() {
    for source in [
        "{{ 'x'|filesizeformat }}",
        "{{ none|filesizeformat }}",
        "{{ nope|filesizeformat }}",
        "{{ '-inf'|float|filesizeformat }}",
        "{{ [1]|filesizeformat }}",
        "{{ 1|filesizeformat(1, 2) }}",
        "{{ (10**37 * 10**1)|filesizeformat(wrong=1) }}",
        "{{ [{'a': 1}, {'a': 'x'}]|groupby('a') }}",
        "{{ [{'a': 1}, {}]|groupby('a') }}",
        "{{ [{}]|groupby('a.b') }}",
        "{{ 5|groupby('a') }}",
        "{{ [1]|groupby }}",
        "{{ [{'a': none}, {'a': none}]|groupby('a') }}",
        "{{ 'x'|striptags(1) }}",
        "{{ ('&#' ~ '0' * 4301 ~ ';')|striptags }}",
        "{{ 5|wordwrap }}",
        "{{ none|wordwrap }}",
        "{{ nope|wordwrap }}",
        "{{ 'a'|wordwrap(0) }}",
        "{{ 'a'|wordwrap(-1) }}",
        "{{ 'a'|wordwrap('5') }}",
        "{{ 'a'|wordwrap(none) }}",
        "{{ 'abcdef'|wordwrap(2.0) }}",
        "{{ 'a'|wordwrap(wrapstring=1) }}",
        "{{ ''|wordwrap(5, true, nope) }}",
        "{{ 5|xmlattr }}",
        "{{ nope|xmlattr }}",
        "{{ [('a', 1)]|xmlattr }}",
        "{{ {1: 2}|xmlattr }}",
        "{{ {'a b': 1}|xmlattr }}",
        "{{ {'a>': 1}|xmlattr }}",
        "{{ {'a=': ''}|xmlattr }}",
        "{{ {'a/': 1}|xmlattr }}",
    ] {
        assert!(!message(source).is_empty(), "{source}");
    }
}

#[test]
fn filters_that_are_not_evaluated_are_no_unknown_ones() {
    for name in ["pprint", "random", "urlize"] {
        assert_eq!(
            message(&format!("{{{{ 'x'|{name} }}}}")),
            format!("Jinja2 has the filter `{name}`, but this program does not evaluate it")
        );
    }
    assert_eq!(
        message("{{ 'x'|nofilter }}"),
        "there is no filter named `nofilter`"
    );
}

#[test]
fn errors_name_the_filter() {
    for (source, expected) in [
        (
            "{{ 'a'|wordwrap(0) }}",
            "`wordwrap` needs a width above zero",
        ),
        (
            "{{ [1]|xmlattr }}",
            "`xmlattr` needs a dictionary, not a `list`",
        ),
        ("{{ [1]|groupby }}", "`groupby` needs `attribute`"),
        (
            "{{ 'x'|filesizeformat }}",
            "`filesizeformat` needs a number of bytes, not this `str`",
        ),
    ] {
        assert_eq!(message(source), expected);
    }
}
