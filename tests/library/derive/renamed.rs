//! Chat templates whose markers are renamed: the response template is the renamed one. `tests/metamorphic` tries it at length.

use crate::support::deriving::derive_text;
use obverse::value::json;

/// A turn with a reasoning, channels of text, and calls whose name the arguments or the end of the call follow at once.
const SOURCE: &str = "{%- if tools -%}<tools>{{ tools | tojson }}<end>{%- endif -%}\
    {%- for m in messages -%}{%- if m.role == 'assistant' -%}<bot>\
    {%- if m.thinking -%}<mull>{{ m.thinking }}<done>{%- endif -%}{{ m.content or '' }}\
    {%- for c in m.tool_calls or [] -%}<run>{{ c.function.name }}\
    {%- for k, v in c.function.arguments.items() -%}<key>{{ k }}<val>{{ v if v is string else v | tojson }}<over>{%- endfor -%}<ran>{%- endfor -%}\
    {%- else -%}<{{ m.role }}>{{ m.content }}{%- endif -%}<end>{%- endfor -%}\
    {%- if add_generation_prompt -%}<bot>{%- endif -%}";

const MARKERS: [&str; 8] = [
    "<bot>", "<mull>", "<done>", "<run>", "<key>", "<val>", "<over>", "<ran>",
];

/// The response template of the source with each marker written otherwise, and with the old markers put back.
fn derived(renamed: [&str; 8]) -> (bool, String) {
    let pairs = || MARKERS.iter().zip(renamed);
    let source = pairs().fold(SOURCE.to_owned(), |source, (old, new)| {
        source.replace(old, new)
    });
    let derivation = derive_text(&source).unwrap();
    let text = json::to_string(&derivation.document.to_value());
    let text = pairs().fold(text, |text, (old, new)| text.replace(new, old));
    // The sets say with which character what follows a name begins, and whether `<` is one of them.
    let text = text.replace("K\\\"]", "]").replace("<\\\"]", "]");
    let text = text.replace("K]", "]").replace("<]", "]");
    (derivation.report.verified, text)
}

#[test]
fn markers_of_letters_give_the_renamed_response_template() {
    let (is_verified, expected) = derived(MARKERS);
    assert!(is_verified);
    let renamed = [
        "Kbababa", "Kfefogi", "Klimenu", "Knopute", "Krutido", "Kvadama", "Kdegori", "Kginevu",
    ];
    let (is_verified, found) = derived(renamed);
    assert!(is_verified);
    assert_eq!(found, expected);
}
