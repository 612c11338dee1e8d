//! Templates made up at random: expressions of filters, methods and operators over the inputs, printed, looped over and asked.

use crate::support::random::Random;

const VALUES: [&str; 12] = [
    "messages[0].content",
    "messages[0].role",
    "(messages|last).content",
    "x",
    "y",
    "z",
    "n",
    "'a-b c'",
    "' -\\n'",
    "messages[0].tool_calls",
    "messages",
    "''",
];

/// What is put behind a value.
const STEPS: [&str; 46] = [
    "|upper",
    "|trim",
    "|replace('a', '<x>')",
    "|replace('-', x|string)",
    "|replace('an', 'q')",
    "|string",
    "|length",
    "|tojson",
    "|list",
    "|join('+')",
    "|first",
    "|last",
    "|reverse|list",
    "|title",
    "|capitalize",
    "|indent(2, true)",
    "|truncate(6, true)",
    "|center(9)",
    "|e",
    "|default('none', true)",
    "|default('')",
    "|sort",
    "|unique|list",
    "|int",
    "|wordcount",
    "|urlencode",
    "|string|list|join('.')",
    "[1:4]",
    "[0]",
    "[-1]",
    "[::-1]",
    ".split('a')",
    ".strip('a-')",
    ".split()|join('_')",
    ".startswith('a')",
    ".find('b')",
    ".partition('-')",
    ".zfill(9)",
    ".removeprefix('a')",
    ".splitlines()",
    "|striptags",
    "|wordwrap(3)",
    "|wordwrap(2, wrapstring=x|string)",
    "|filesizeformat",
    "|groupby(0)",
    "|xmlattr",
];

fn value(random: &mut Random, depth: usize) -> String {
    let mut out = match random.below(if depth == 0 { 1 } else { 8 }) {
        0..3 => random.pick(&VALUES).to_owned(),
        3 => format!(
            "({} ~ {})",
            value(random, depth - 1),
            value(random, depth - 1)
        ),
        4 => format!(
            "({} if {} else {})",
            value(random, depth - 1),
            value(random, depth - 1),
            value(random, depth - 1)
        ),
        5 => format!(
            "({} {} {})",
            value(random, depth - 1),
            random.pick(&["and", "or", "==", "!=", "in"]),
            value(random, depth - 1)
        ),
        6 => format!(
            "('{}'|format({}|string))",
            random.pick(&["%s", "<%7s>", "%-5.3s|", "%r"]),
            value(random, depth - 1)
        ),
        _ => format!(
            "[{}, {}]",
            value(random, depth - 1),
            value(random, depth - 1)
        ),
    };
    for _ in 0..random.below(3) {
        out = format!("({out}{})", random.pick(&STEPS));
    }
    out
}

/// A template of a few statements.
pub fn template(random: &mut Random) -> String {
    let mut out = String::new();
    for _ in 0..1 + random.below(3) {
        let one = value(random, 2);
        out += &match random.below(6) {
            0 => format!("{{% if {one} %}}yes{{% else %}}no{{% endif %}}"),
            1 => format!("{{% for i in {one}|string %}}{{{{ i }}}},{{% endfor %}}"),
            2 => format!(
                "{{% set v %}}<{{{{ {one} }}}}>{{% endset %}}{{{{ v{} }}}}",
                random.pick(&STEPS)
            ),
            _ => format!("{{{{ {one} }}}};"),
        };
    }
    out
}
