//! The messages that a response template must bring back: texts of words that occur nowhere else, so that each can be found
//! in a render, and texts as models write them, with everything in them that could be taken for something else.
//!
//! They are made here and nowhere else: the analysis that a verdict is given on reads other messages, of other words, so that
//! nothing can be right for its own probes alone.

use super::message::{self, Asked, Assistant, Call};
use crate::value::{Integer, Map, Value};

/// The texts that the user says first, and later.
pub(super) const USER: &str = "Cinder plume";
pub(super) const USER_AGAIN: &str = "Osprey latch";
pub(super) const SYSTEM: &str = "Garnet yoke";
pub(super) const TOOL_RESULT: &str = "Walnut spire";
pub(super) const EARLIER: &str = "Fennel crate";

/// The texts that may stand before a turn.
pub(super) const BEFORE: [&str; 5] = [USER, USER_AGAIN, SYSTEM, TOOL_RESULT, EARLIER];

/// An answer, a reasoning, and a text for a further key.
pub(super) const CONTENT: &str = "Marigold thicket";
pub(super) const REASONING: &str = "Lantern wharf";
pub(super) const FURTHER: &str = "Vesper quill";
/// A text for a further key with characters in it that JSON escapes. It begins otherwise than the first, so that no response template gets by with the
/// letter that both begin with.
const FURTHER_SIGNS: &str = "Mauve \"vesper\" \\ and\na line quill";

/// Prose: letters, digits, spaces, line feeds and the punctuation of sentences.
const PROSE: [&str; 3] = [
    "Marigold first line\nsecond line\n\n- a list\n- of two thicket",
    "Marigold: 1. one; 2. two, (three). Four five! Six thicket.",
    "Marigold \u{fc}n\u{ef}c\u{f6}d\u{e9} \u{4f60}\u{597d} \u{0645}\u{0631} e\u{301} \u{1f600} thicket",
];

/// Text with the words that serve as markers in formats without punctuation, as prose has them, at the ends of lines too.
const COMMON: &str = "Marigold ends here, and the end of it begins another part.\nWe think and thought, said and say it is done; he \
    answers, the answer was final.\nCalls are called, tools and a tool run, ran and acted; functions return results, one result, then stop.\n\
    Users and assistants reason on content, text, names and values, start and finish thicket";

/// Text whose lines begin with such words, and end with longer ones.
const LINES: &str = "Marigold weekend\nend of it, nonstop\nstop there, undone\ndone with that recall\ncall again, unfinal\nfinal as well, hand tool\n\
    tool by tool, rethink\nthink again thicket";

/// How often the sentence of a long text is said: chat templates that ask for the length of a text ask for a few hundred characters.
const LONG: usize = 16;

/// An answer with a reasoning, each of many sentences.
fn long() -> Probe {
    let sentences = |words: [&str; 2]| {
        let [first, last] = words;
        format!("{first} goes on, and says the same once more. ").repeat(LONG) + last
    };
    let answer = Assistant::saying(&sentences(["Marigold", "thicket"]));
    prose(answer.thinking(&sentences(["Lantern", "wharf"])))
}

/// Answers as models write them. Each begins and ends with a word or a number by which it can be found in a render.
const CONTENTS: [&str; 10] = [
    "{\"marigold\": [\"thicket\", 1], \"orchard\": null}",
    "Marigold ! # $ % & * + - . / : ; = ? @ ^ _ ` | ~ thicket",
    "Ok",
    "Marigold \"quoted\" 'single' back\\slash {\"json\": [1, 2]} thicket",
    "Marigold if a < b && c > d: `<p class=\"x\">markup</p>` [link](u) # * thicket",
    "Marigold\n\n```python\nprint({1: [2]})\n```\n\nthicket",
    "Marigold: {\"a\": 1}, or {\"name\": \"Ash\", \"age\": 3}.\nSend: {\"b\": [2]} thicket",
    "Marigold\n\n| a | b |\n|----|----|\n| 1 | 2 |\n\n```js\nawait fetch(url);\n```\n\n@@ -1,2 +1,2 @@\nIt is ***very*** nice; // so\n$HOME\n\n\tname\tvalue thicket",
    "Marigold first\r\nsecond\u{2028}third\u{c}fourth thicket",
    "1234567",
];

const REASONINGS: [&str; 6] = [
    "Hm",
    "Lantern ! # $ % & * + - . / : ; = ? @ ^ _ ` | ~ wharf",
    "Lantern step one.\n\n  Step \"two\": a < b, {x} wharf",
    "Lantern \u{e9}t\u{e9} \u{6771}\u{4eac} wharf",
    "Lantern 'so' [1] `f(x)` \\n wharf",
    "Lantern first\r\nsecond\u{2028}third wharf",
];

/// A message to be tried.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Probe {
    pub(super) message: Assistant,
    /// A text for a further key of the message.
    pub(super) further: Option<&'static str>,
    /// True if its texts are prose, which no format may take for anything else.
    pub(super) plain: bool,
    /// True if it stands for its kind, and is tried in every place.
    pub(super) leads: bool,
    /// True if no verdict is given on it. Its texts speak of words that are nearly markers, and whether those can be told apart depends on the letters and the punctuation
    /// of the markers alone.
    pub(super) is_beside: bool,
    /// The part of its call that the chat template asks for, and writes otherwise than others.
    pub(super) asked: Option<Asked>,
}

/// The texts of the messages that every response template is held to, and of the conversations before them. No chat template writes any of them itself.
pub(super) fn texts() -> Vec<String> {
    let said = BEFORE.iter().chain(&[CONTENT, REASONING, FURTHER]);
    let mut texts: Vec<String> = said.map(|text| (*text).to_owned()).collect();
    texts.extend((0..5).map(call).flat_map(|call| call.texts()));
    texts
}

/// The calls that probes are made of, by number; no two of the five share a value, and no two of the first three a function.
pub(crate) fn call(number: usize) -> Call {
    const NAMES: [&str; 3] = ["count_sparrows", "open_cellar", "paint_gable"];
    const KEYS: [[&str; 2]; 3] = [
        ["orchard", "bucket"],
        ["ladder", "copper"],
        ["willow", "socket"],
    ];
    const VALUES: [[&str; 2]; 5] = [
        ["teal ribbon", "quiet engine"],
        ["bronze kettle", "narrow pier"],
        ["amber hinge", "muddy tiller"],
        ["plum lattice", "onyx gutter"],
        ["cedar funnel", "ivory ledge"],
    ];
    let number = number % VALUES.len();
    let function = number % NAMES.len();
    Call {
        name: NAMES[function].to_owned(),
        arguments: KEYS[function]
            .iter()
            .zip(VALUES[number])
            .map(|(key, value)| ((*key).to_owned(), Value::from(value)))
            .collect(),
        id: format!("jdg7k000{number}"),
    }
}

/// The first call with other arguments.
pub(super) fn calling(arguments: impl IntoIterator<Item = (String, Value)>) -> Assistant {
    let mut call = call(0);
    call.arguments = arguments.into_iter().collect();
    Assistant::calling([call])
}

/// Messages without calls, those that lead their kind first.
pub(super) fn without_calls(thorough: bool) -> Vec<Probe> {
    let mut probes = vec![
        lead(Assistant::saying(CONTENT)),
        lead(Assistant::saying(CONTENT).thinking(REASONING)),
        Probe {
            further: Some(FURTHER),
            ..lead(Assistant::saying(CONTENT).thinking(REASONING))
        },
        Probe {
            further: Some(FURTHER_SIGNS),
            ..other(Assistant::saying(CONTENT).thinking(REASONING))
        },
    ];
    probes.push(long());
    // A message with reasoning and no content: what is left of a model that was stopped right after its reasoning.
    probes.push(prose(Assistant::saying("").thinking(REASONING)));
    let common = || PROSE.iter().chain([&COMMON, &LINES]);
    probes.extend(common().map(|text| prose(Assistant::saying(text))));
    probes.extend(common().map(|text| {
        let thought = text
            .replace("Marigold", "Lantern")
            .replace("thicket", "wharf");
        prose(Assistant::saying(CONTENT).thinking(&thought))
    }));
    probes.extend(CONTENTS.iter().map(|text| other(Assistant::saying(text))));
    probes.extend(
        REASONINGS
            .iter()
            .map(|text| other(Assistant::saying(CONTENT).thinking(text))),
    );
    let pairs = CONTENTS.iter().zip(REASONINGS.iter().cycle());
    let all = CONTENTS
        .iter()
        .flat_map(|content| REASONINGS.iter().map(move |text| (content, text)));
    let pairs: Vec<_> = if thorough {
        all.collect()
    } else {
        pairs.take(4).collect()
    };
    probes.extend(
        pairs
            .into_iter()
            .map(|(content, text)| other(Assistant::saying(content).thinking(text))),
    );
    probes
}

/// Messages with the words of which the chat template's own constants are made, as prose may have them, but for those that say a marker.
pub(super) fn speaking_words<'c>(
    constants: impl Iterator<Item = &'c str>,
    says_marker: impl Fn(&str) -> bool,
) -> Vec<Probe> {
    let mut words: Vec<&str> = Vec::new();
    let all = constants.flat_map(|constant| constant.split(|c: char| !c.is_alphabetic()));
    for word in all.filter(|word| word.chars().count() > 2) {
        if !words.contains(&word) && words.len() < MAX_WORDS && !says_marker(word) {
            words.push(word);
        }
    }
    let words = words.join(" ");
    let said = format!("Marigold {words} thicket");
    let thought = format!("Lantern {words} wharf");
    vec![
        other(Assistant::saying(&said)),
        other(Assistant::saying(CONTENT).thinking(&thought)),
    ]
}

/// Messages without calls with longer words than those of the chat template's markers, within a line and on one of their own.
pub(super) fn with_longer_words(longer: &[String]) -> Vec<Probe> {
    let texts = longer.iter().flat_map(|word| {
        let [said, lined] = [
            format!("Marigold {word} thicket"),
            format!("Marigold\n{word}\nthicket"),
        ];
        let thought = format!("Lantern {word} wharf");
        [
            Assistant::saying(&said),
            Assistant::saying(&lined),
            Assistant::saying(CONTENT).thinking(&thought),
        ]
    });
    texts.map(beside).collect()
}

/// Messages with calls whose only argument has one of these longer words in it.
pub(super) fn with_calls_and_longer_words(longer: &[String]) -> Vec<Probe> {
    let texts = longer.iter().map(|word| {
        let text = format!("teal {word} ribbon");
        calling([("orchard".to_owned(), text.into())])
    });
    texts.map(beside).collect()
}

/// Texts with a character (or a few) in them: nothing else, before the first word, within and behind the last.
fn signed(character: &str, first: &str, last: &str) -> [String; 3] {
    [
        character.to_owned(),
        format!("{character}{first} {last}"),
        format!("{first}{character}{last}{character}"),
    ]
}

/// Messages without calls whose texts have these characters in them.
pub(super) fn with_characters(characters: &[String]) -> Vec<Probe> {
    let mut probes = Vec::new();
    for character in characters {
        for text in signed(character, "Marigold", "thicket") {
            probes.push(other(Assistant::saying(&text)));
        }
        for text in signed(character, "Lantern", "wharf") {
            probes.push(other(Assistant::saying(CONTENT).thinking(&text)));
        }
        // The character may belong to what closes the reasoning as well.
        let said = Assistant::saying(&format!("{character}{CONTENT}"));
        probes.push(other(said.thinking(REASONING)));
    }
    probes
}

/// Messages without calls whose texts begin with one of these characters.
pub(super) fn beginning_with(characters: &[String]) -> Vec<Probe> {
    let all = characters.iter().flat_map(|character| {
        let said = Assistant::saying(&format!("{character}{CONTENT}"));
        let thought = Assistant::saying(CONTENT).thinking(&format!("{character}{REASONING}"));
        [said, thought]
    });
    all.map(other).collect()
}

/// Messages with calls whose texts have these characters in them, and words between such characters; and whose arguments have those that close
/// a call.
pub(super) fn with_calls_and_characters(
    characters: &[String],
    between: &[String],
    closing: &[String],
) -> Vec<Probe> {
    let mut probes = Vec::new();
    for character in closing {
        let texts = signed(character, "teal", "ribbon").into_iter();
        probes.extend(texts.map(|text| other(calling_with(Value::from(text)))));
    }
    for character in characters.iter().chain(between) {
        for text in signed(character, "Marigold", "thicket") {
            probes.push(other(Assistant::calling([call(0)]).with_content(&text)));
        }
        for text in signed(character, "teal", "ribbon") {
            probes.push(other(calling_with(Value::from(text))));
        }
        // Two calls of which the first ends with the character: a template may find the second call by how the first one ends.
        let mut two = Assistant::calling([call(0), call(1)]);
        if let Some((_, value)) = two.calls[0].arguments.iter_mut().last() {
            *value = Value::from(format!("quiet engine{character}"));
        }
        probes.push(other(two));
        // A value may end with a part of what closes it, where no other argument follows.
        let mut last = call(0);
        if let Some((_, value)) = last.arguments.iter_mut().last() {
            *value = Value::from(format!("quiet engine{character}"));
        }
        probes.push(other(Assistant::calling([last])));
    }
    // The characters that separate arguments may also stand in a text within a list, in any order. Quotes are left out: where nothing is
    // escaped, they end the text.
    let is_quote = |character: &str| matches!(character, "\"" | "'");
    let single: Vec<&str> = characters
        .iter()
        .map(String::as_str)
        .filter(|character| character.len() == 1 && !is_quote(character))
        .collect();
    if !single.is_empty() {
        let closed = single
            .iter()
            .map(|character| format!("}}{character}]{character}"));
        let pairs = single
            .iter()
            .flat_map(|a| single.iter().map(move |b| format!("{a}teal{b}")));
        let all: String = pairs.chain(closed).collect();
        let all = format!("{}ribbon{all}", single.concat());
        probes.push(other(calling_with(vec![Value::from(all)].into())));
    }
    probes
}

/// The first call, with another value for its first argument.
fn calling_with(value: Value) -> Assistant {
    let mut call = call(0);
    if let Some(first) = call.arguments.values_mut().next() {
        *first = value;
    }
    Assistant::calling([call])
}

/// How many words of the constants are put into messages.
const MAX_WORDS: usize = 120;

/// Messages with calls, those that lead their kind first.
pub(super) fn with_calls(thorough: bool) -> Vec<Probe> {
    let calls = |count: usize| Assistant::calling((0..count).map(call));
    let mut probes = Vec::new();
    for count in [1, 2] {
        for thought in [None, Some(REASONING)] {
            for content in [None, Some(CONTENT)] {
                let mut message = calls(count);
                message.content = content.map(str::to_owned);
                message.reasoning = thought.map(str::to_owned);
                probes.push(lead(message));
            }
        }
    }
    // A plan beside a reasoning, say, before a call or before an answer with calls.
    let planned = [calls(1), calls(2).with_content(CONTENT)];
    probes.extend(planned.map(|message| Probe {
        further: Some(FURTHER),
        ..lead(message.thinking(REASONING))
    }));
    let named = |name: &str, value: Value| (name.to_owned(), value);
    let one = |value: Value| {
        calling([
            named("orchard", value),
            named("bucket", "quiet engine".into()),
        ])
    };
    probes.extend(plain_values().into_iter().map(|value| lead(one(value))));
    probes.push(lead(calling([])));
    probes.push(lead(calling([named("orchard", "teal ribbon".into())])));
    let odd = |name: &&str| {
        calling([
            named(name, "teal ribbon".into()),
            named("bucket", "quiet engine".into()),
        ])
    };
    probes.extend(ODD_NAMES.iter().map(odd).map(lead));
    for name in ODD_FUNCTIONS {
        let mut named_oddly = call(0);
        named_oddly.name = name.to_owned();
        probes.push(lead(Assistant::calling([named_oddly])));
    }
    let many = MANY_ARGUMENTS.iter();
    let many = many.map(|(name, value)| named(name, (*value).into()));
    probes.push(lead(calling(many)));
    let mut nameless = call(0);
    nameless.id.clear();
    probes.push(lead(Assistant::calling([nameless])));
    // Some servers name a call by its function and its number, others by a word and a number with dashes in it.
    for id in ["functions.count_sparrows:0", "tool-call-1f4d9e_0"] {
        let mut named = call(0);
        named.id = id.to_owned();
        probes.push(other(Assistant::calling([named])));
    }
    // The probes from here on are tried only where the ones above give a reason to.
    probes.extend(ODDER_NAMES.iter().map(odd).map(other));
    probes.extend(odd_values().into_iter().map(|value| other(one(value))));
    // What closes the call, and no other argument, follows a last value.
    for text in ["", SPACED] {
        let first = named("orchard", "teal ribbon".into());
        probes.push(other(calling([first, named("bucket", text.into())])));
    }
    for text in ["", SPACED].into_iter().chain(FILES) {
        probes.push(other(calling([named("orchard", text.into())])));
    }
    let twice = [
        call(0),
        Call {
            id: "jdg7k0009".to_owned(),
            ..call(0)
        },
    ];
    probes.push(other(Assistant::calling(twice)));
    let deep = (0..3).fold(Value::from(1), |value, _| vec![value].into());
    let mut deep = calling([named("orchard", object("inner", deep))]);
    deep.calls.push(call(1));
    probes.push(other(deep));
    probes.push(prose(calls(2).with_content("Marigold thicket.")));
    // Nothing stands between what opens the first of these and what closes it.
    let mut bare = calls(2);
    for call in &mut bare.calls {
        call.arguments = Map::new();
    }
    probes.push(prose(bare));
    let mut listed = calls(2);
    listed.calls[0].arguments = Map::from_iter([named(
        "orchard",
        vec!["larch".into(), "basin".into()].into(),
    )]);
    probes.push(prose(listed));
    probes.push(prose(calls(3)));
    // A chat template may list its calls behind them, as in `all(r1, r2)`. A response template that was read off messages with two calls and
    // three may know such lists of two and three alone.
    probes.push(prose(calls(5)));
    // The calls of the probes are in the order of their names but for this one.
    probes.push(prose(Assistant::calling([call(2), call(0)])));
    probes.extend(PROSE.iter().map(|text| prose(calls(1).with_content(text))));
    probes.push(other(
        calls(3).with_content(CONTENTS[0]).thinking(REASONINGS[0]),
    ));
    for (content, thought) in CONTENTS.iter().zip(REASONINGS.iter().cycle()) {
        probes.push(other(calls(1).with_content(content)));
        if thorough {
            probes.push(other(calls(2).with_content(content).thinking(thought)));
        }
    }
    probes.extend(REASONINGS.iter().map(|text| other(calls(1).thinking(text))));
    if thorough {
        for value in odd_values().into_iter().chain(plain_values()) {
            let mut message = one(value);
            message.calls.push(call(1));
            message.content = Some(CONTENTS[1].to_owned());
            message.reasoning = Some(REASONINGS[0].to_owned());
            probes.push(other(message));
        }
    }
    probes
}

/// Messages that speak of a marker, each with the part in which they do.
pub(super) fn speaking_of(marker: &str) -> [(&'static str, Assistant); 3] {
    let code = format!("Marigold\n\n```\n{marker}\n```\n\nthicket");
    let thought = format!("Lantern {marker} wharf");
    let call = calling_with(Value::from(format!("teal {marker} ribbon")));
    [
        ("content", Assistant::saying(&code)),
        ("reasoning", Assistant::saying(CONTENT).thinking(&thought)),
        ("arguments", call),
    ]
}

/// A text with white space at both of its ends, such as the content of a file.
const SPACED: &str = "    all of\n    a file\n";

/// Texts of files, as they are written with a tool: notes, code, markup, settings. The words that serve as markers in formats without punctuation stand in
/// them within longer words, and the punctuation of others within a line and at the beginning of one.
const FILES: [&str; 4] = [
    "The weekend's sender recalled a tooltip, nonstop.\nA defining finish, undone:\tthe answering and the actionable, inputs and outputs.\n",
    "def f(x):\n    \"\"\"Adds one.\n\n    Returns: x.\n    \"\"\"\n    return x + 1  # done\n",
    "<ul>\n  <li class=\"a\">one &amp; two</li>\n</ul>\n",
    "[teal]\nname=larch\nsize = 12\nkind: basin\n- ribbon: 1\n",
];

/// Names of functions that occur in tools: with a dot and a dash, of one character, of many characters with a capital.
const ODD_FUNCTIONS: [&str; 3] = [
    "count.sparrows-2",
    "c",
    "CountSparrowsInEveryOrchardOfTheValley",
];

/// More arguments than most calls have, with an underscore in a name, and with a long one.
const MANY_ARGUMENTS: [(&str, &str); 6] = [
    ("orchard", "teal ribbon"),
    ("bucket", "quiet engine"),
    ("max_count", "bronze kettle"),
    ("number_of_ladders_in_every_orchard", "narrow pier"),
    ("willow", "amber hinge"),
    ("socket", "muddy tiller"),
];

/// Names of arguments that occur in tools: with a dash, a dot, a space.
const ODD_NAMES: [&str; 3] = ["orchard-gate", "orchard.gate", "orchard gate"];

/// Names that fewer tools have: of a list, within a namespace, of a schema.
const ODDER_NAMES: [&str; 3] = ["orchard[]", "orchard:gate", "@orchard"];

fn lead(message: Assistant) -> Probe {
    Probe {
        message,
        further: None,
        plain: true,
        leads: true,
        is_beside: false,
        asked: None,
    }
}

pub(super) fn prose(message: Assistant) -> Probe {
    Probe {
        leads: false,
        ..lead(message)
    }
}

pub(super) fn other(message: Assistant) -> Probe {
    Probe {
        plain: false,
        leads: false,
        ..lead(message)
    }
}

pub(super) fn beside(message: Assistant) -> Probe {
    Probe {
        is_beside: true,
        ..other(message)
    }
}

fn object(key: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(key.to_owned(), value)]))
}

/// A plain value of each type that JSON knows.
fn plain_values() -> Vec<Value> {
    vec![
        Value::from(42),
        Value::from(2.5),
        Value::Bool(true),
        Value::Bool(false),
        Value::Null,
        Value::Array(vec![Value::from("larch"), Value::from("basin")]),
        Value::Array(vec![Value::from(1), Value::from(2)]),
        object("inner", Value::from("larch basin")),
    ]
}

/// Texts that look like something else, and values within values.
fn odd_values() -> Vec<Value> {
    let texts = [
        "",
        "two\nlines",
        SPACED,
        "say \"hi\" and 'bye' \\ /",
        "a < b && c > d <b>bold</b><br/>",
        "\u{fc}n\u{ef} \u{4f60}\u{597d} \u{1f600}",
        "7",
        "true",
        "null",
        "{\"looks\": \"like json\"}",
        "}}]",
        "a: b, c = d",
        "teal ! # $ % & * + - . / : ; = ? @ ^ _ ` | ~ ribbon",
        "print(f(1), g(x=2))",
        "So:\n```python\nprint({1: [2]})\n```",
        "two\u{2028}lines",
        "orchard: teal",
        "orchard=teal",
    ];
    let nested = |key: &str| object(key, object("inner", Value::from(1)));
    // Members within a value may look like arguments, and what follows an object in a list like what closes the call.
    let inner = message::object([("teal", Value::Null), ("ribbon", Value::Bool(true))]);
    let wide = message::object([
        ("inner", Value::from(1)),
        (
            "deep",
            vec!["larch, basin".into(), inner.clone(), "larch".into()].into(),
        ),
        ("last", inner),
    ]);
    let mut values: Vec<Value> = texts.into_iter().chain(FILES).map(Value::from).collect();
    values.extend([
        Value::from(-7),
        Value::Int(Integer::from(i64::MAX)),
        Value::from(1e-7),
        Value::from(1_234_567.125),
        Value::Array(Vec::new()),
        Value::Array(vec![Value::from(1), Value::from("two"), Value::Null]),
        Value::Object(Map::new()),
        object(
            "inner",
            Value::Array(vec![object("deep", Value::from("yes"))]),
        ),
        Value::Array(vec![nested("one"), nested("two")]),
        wide,
    ]);
    values
}
