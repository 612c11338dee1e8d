//! The conversations that are rendered to see how a chat template writes each message in each place.
//!
//! A conversation is spelled as a word, a letter a message: `s` system, `d` developer, `u` user, `a` an answer, `r` an answer with
//! reasoning, `e` an answer without a text, `c` a call, `q` a call behind reasoning, `k` an answer with two calls, `t` the result of the next call without one.
//! All texts are words that occur once, so that each can be found; where punctuation and space are of interest, they have those too.

use crate::conversation::render::{CALLS, Talk, object};
use crate::value::{Map, Value};

const FIRST: [&str; 24] = [
    "Amber", "Birch", "Copper", "Dapple", "Ember", "Fennel", "Garnet", "Heather", "Indigo",
    "Juniper", "Kestrel", "Linden", "Mallow", "Nettle", "Ochre", "Plover", "Quince", "Russet",
    "Sorrel", "Thistle", "Umber", "Vetch", "Willow", "Yarrow",
];
const SECOND: [&str; 12] = [
    "anchor", "bucket", "candle", "drawer", "engine", "fiddle", "gutter", "hammock", "island",
    "jacket", "kettle", "lantern",
];

/// How the texts of a conversation look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Dress {
    /// Words.
    Plain,
    /// Words with space around them, and characters that some write otherwise.
    Signs,
    /// Results without the names and ids of their calls.
    Bare,
}

/// The orders in which messages stand.
pub(crate) fn orders() -> Vec<String> {
    const TURNS: [&str; 11] = [
        "a", "r", "c", "k", "ct", "cta", "qtr", "ktta", "qtqta", "aa", "rcta",
    ];
    let mut orders: Vec<String> = Vec::new();
    let mut add = |order: String| {
        if !orders.contains(&order) {
            orders.push(order);
        }
    };
    for alone in [
        "u", "su", "s", "uu", "suu", "du", "sdu", "dsu", "ua", "us", "usu", "uud", "uau", "uaua",
        "ue", "ueu", "sue", "uaue", "uaueu", "ucte", "ucteu", "a", "au", "sa", "ssu", "uasu",
        "uadu", "utu", "uctu", "ukttu",
    ] {
        add(alone.to_owned());
    }
    for start in ["", "s"] {
        for turn in TURNS {
            add(format!("{start}u{turn}"));
            add(format!("{start}u{turn}u"));
            add(format!("{start}uau{turn}"));
        }
    }
    for before in TURNS {
        for turn in TURNS {
            add(format!("u{before}u{turn}u"));
        }
    }
    for pair in pairs() {
        for order in [format!("{pair}u"), format!("u{pair}"), format!("u{pair}u")] {
            add(order);
        }
    }
    for start in ["su", "du"] {
        for turn in ["ctau", "rurur", "auau", "kttaucta"] {
            add(format!("{start}{turn}"));
        }
    }
    orders
}

/// Every kind of message behind every other, and results behind calls.
pub(crate) fn pairs() -> impl Iterator<Item = String> {
    const KINDS: [&str; 9] = ["s", "d", "u", "a", "r", "ct", "qt", "ktt", "c"];
    KINDS
        .iter()
        .flat_map(|one| KINDS.iter().map(move |other| format!("{one}{other}")))
}

/// A few orders in which every kind of message occurs, for what has to be tried under many settings.
pub(crate) const FEW: [&str; 12] = [
    "u", "su", "uau", "surur", "ua", "ur", "uc", "uctau", "sukttra", "uct", "uruqta", "duau",
];

/// The words of a text, by number; no two are the same below 288.
pub(crate) fn words(number: usize) -> String {
    let first = FIRST[number % FIRST.len()];
    let second = SECOND[(number / FIRST.len() + number) % SECOND.len()];
    format!("{first} {second}")
}

/// The conversation that is spelled so; `tools` is which tools are offered, see [`offered`].
pub(crate) fn talk(order: &str, tools: usize, dress: Dress, reasoning: &str) -> Talk {
    let mut made = Maker {
        number: 0,
        dress,
        called: Vec::new(),
        calls: 0,
    };
    let messages = order.chars().map(|kind| made.message(kind, reasoning));
    Talk {
        messages: messages.collect(),
        tools: offered(tools),
        kwargs: Map::new(),
        prompt: false,
    }
}

/// Puts a text into the middle of a message's content.
pub(super) fn speak(message: &mut Value, said: &str) {
    if let Value::Object(members) = message
        && let Some(content @ Value::String(_)) = members.get_mut("content")
    {
        let words = content.as_str().unwrap_or_default();
        let (first, second) = words.split_once(' ').unwrap_or((words, ""));
        *content = Value::from(format!("{first}{said}{second}"));
    }
}

/// Tools by how many: one more than there are simple ones stands for tools with several arguments.
fn offered(tools: usize) -> Vec<Value> {
    match tools {
        0..=3 => (0..tools).map(tool).collect(),
        4..=6 => vec![tool(0), tool(tools - 1)],
        _ => vec![tool(tools - 4), tool(1)],
    }
}

struct Maker {
    number: usize,
    dress: Dress,
    /// The names and ids of calls without a result.
    called: Vec<(String, String)>,
    calls: usize,
}

impl Maker {
    fn text(&mut self) -> String {
        let words = words(self.number);
        self.number += 1;
        match self.dress {
            Dress::Signs => {
                format!(" \n{words} \"q\" it's \\ / <b> & \u{e9} {{x}} [y]\nnext\tend \n ")
            }
            Dress::Plain | Dress::Bare => words,
        }
    }

    fn message(&mut self, kind: char, reasoning: &str) -> Value {
        let said = |role: &str, text: String| {
            object([("role", Value::from(role)), ("content", Value::from(text))])
        };
        match kind {
            's' => said("system", self.text()),
            'd' => said("developer", self.text()),
            'u' => said("user", self.text()),
            't' => {
                let text = self.text();
                let mut called = self.called.drain(..self.called.len().min(1));
                let (name, id) = called.next().unwrap_or_else(|| {
                    let name = TOOLS[0].0.to_owned();
                    (name, "id7k00000".to_owned())
                });
                if self.dress == Dress::Bare {
                    return said("tool", text);
                }
                object([
                    ("role", Value::from("tool")),
                    ("name", Value::from(name)),
                    ("tool_call_id", Value::from(id)),
                    ("content", Value::from(text)),
                ])
            }
            kind => {
                let mut message = Map::new();
                message.insert("role", Value::from("assistant"));
                if matches!(kind, 'r' | 'q') {
                    message.insert(reasoning, Value::from(words(self.number + 140)));
                    self.number += 1;
                }
                if kind == 'e' {
                    message.insert("content", Value::from(""));
                }
                if matches!(kind, 'a' | 'r' | 'k') {
                    let text = words(self.number);
                    self.number += 1;
                    message.insert("content", Value::from(text));
                }
                let calls = match kind {
                    'k' => 2,
                    'c' | 'q' => 1,
                    _ => 0,
                };
                if calls > 0 {
                    self.called.clear();
                    let calls: Vec<Value> = (0..calls).map(|_| self.call()).collect();
                    message.insert(CALLS, Value::Array(calls));
                }
                Value::Object(message)
            }
        }
    }

    fn call(&mut self) -> Value {
        let (name, key) = TOOLS[self.calls % TOOLS.len()];
        let id = format!("id7k0000{}", self.calls);
        self.calls += 1;
        let value = words(self.number);
        self.number += 1;
        self.called.push((name.to_owned(), id.clone()));
        let arguments = object([(key, Value::from(value))]);
        let function = object([("name", Value::from(name)), ("arguments", arguments)]);
        let mut call = Map::new();
        call.insert("type", Value::from("function"));
        if self.dress != Dress::Bare {
            call.insert("id", Value::from(id));
        }
        call.insert("function", function);
        Value::Object(call)
    }
}

/// The names of the tools, and of the one argument of each.
pub(crate) const TOOLS: [(&str, &str); 3] = [
    ("count_sparrows", "orchard"),
    ("open_cellar", "ladder"),
    ("paint_gable", "socket"),
];

/// The definition of a tool, by number: of one argument, which is needed, from 3 on of others and some that are not.
pub(crate) fn tool(number: usize) -> Value {
    let (name, key) = TOOLS[number % TOOLS.len()];
    let property = |kind: &str, number: usize| {
        object([
            ("type", Value::from(kind)),
            ("description", Value::from(words(number))),
        ])
    };
    let mut properties = Map::new();
    properties.insert(key, property("string", number + 200));
    let mut required = vec![Value::from(key)];
    if number >= TOOLS.len() {
        for (at, kind) in ["integer", "boolean", "array"].into_iter().enumerate() {
            if at <= number - TOOLS.len() {
                properties.insert(
                    format!("{key}_{kind}"),
                    property(kind, number + 220 + 10 * at),
                );
            }
        }
        required.clear();
    }
    let parameters = object([
        ("type", Value::from("object")),
        ("properties", Value::Object(properties)),
        ("required", Value::Array(required)),
    ]);
    let function = object([
        ("name", Value::from(name)),
        ("description", Value::from(words(number + 210))),
        ("parameters", parameters),
    ]);
    object([("type", Value::from("function")), ("function", function)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_texts_are_the_same() {
        let all: std::collections::HashSet<String> = (0..288).map(words).collect();
        assert_eq!(all.len(), 288);
    }

    #[test]
    fn results_answer_the_calls_before_them() {
        let talk = talk("ukttu", 1, Dress::Plain, "thought");
        let calls = talk.messages[1]
            .get(CALLS)
            .and_then(Value::as_array)
            .expect("calls");
        let ids = calls.iter().map(|call| call.get("id").cloned());
        let results = talk.messages[2..4].iter();
        assert!(ids.eq(results.map(|result| result.get("tool_call_id").cloned())));
    }
}
