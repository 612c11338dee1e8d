//! Conversations made up from a seed: several questions in a row, calls and results, reasoning, empty texts, texts that look like
//! headers, other scripts. The same seed makes the same conversations.

use fastrand::Rng;

use crate::conversation::render::{CALLS, Talk, object};
use crate::value::{Map, Value};

/// How far the conversations go beyond plain ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Daring {
    /// Words alone, each once, and questions and answers take turns.
    Plain,
    /// Words alone, in any order of messages.
    Loose,
    /// Empty texts, punctuation, other scripts, texts that look like headers.
    Hostile,
}

/// The material that conversations are made of.
pub(super) struct Making<'a> {
    pub(super) reasoning: &'a str,
    /// Texts that begin and end messages.
    pub(super) constants: &'a [String],
    pub(super) settings: &'a [Map],
}

const ONE: [&str; 30] = [
    "apple", "basket", "cedar", "dolphin", "elbow", "forest", "glacier", "harvest", "icicle",
    "jungle", "kernel", "lemon", "marble", "needle", "orchid", "pepper", "quarry", "ribbon",
    "saddle", "timber", "urchin", "velvet", "walnut", "yonder", "zephyr", "bramble", "clover",
    "dahlia", "heron", "gravel",
];
const TWO: [&str; 20] = [
    "sings", "waits", "turns", "glows", "sleeps", "falls", "rises", "drifts", "hums", "rests",
    "bends", "leans", "spins", "fades", "grows", "rolls", "hides", "melts", "floats", "wakes",
];

impl Making<'_> {
    /// The conversation of a seed.
    pub(super) fn talk(&self, seed: u64, daring: Daring) -> Talk {
        let mut maker = Maker {
            rng: Rng::with_seed(seed),
            daring,
            reasoning: self.reasoning,
            constants: self.constants,
            number: 0,
            ids: 0,
        };
        let tools = if maker.rng.bool() {
            maker.rng.usize(1..4)
        } else {
            0
        };
        let messages = maker.messages(tools > 0);
        let at = maker.rng.usize(0..self.settings.len().max(1) * 2);
        Talk {
            messages,
            tools: (0..tools).map(|at| maker.tool(at)).collect(),
            kwargs: self.settings.get(at).cloned().unwrap_or_default(),
            prompt: maker.rng.bool(),
        }
    }
}

struct Maker<'a> {
    rng: Rng,
    daring: Daring,
    reasoning: &'a str,
    constants: &'a [String],
    number: usize,
    ids: usize,
}

const NAMES: [&str; 4] = ["get_weather", "search_files", "add_event", "send"];
const KEYS: [&str; 4] = ["city", "path", "when", "amount"];

impl Maker<'_> {
    fn words(&mut self) -> String {
        let number = self.number;
        self.number += 1;
        // Every pair of words occurs once.
        let offset = number / ONE.len();
        format!(
            "{} {}",
            ONE[number % ONE.len()],
            TWO[(number + offset) % TWO.len()]
        )
    }

    fn text(&mut self) -> String {
        let words = self.words();
        if self.daring != Daring::Hostile {
            return match self.rng.usize(0..5) {
                0 => {
                    let more = self.words();
                    format!("{words}.\n{more}!")
                }
                _ => words,
            };
        }
        match self.rng.usize(0..10) {
            0 => String::new(),
            1 => format!("  {words}\n"),
            2 => format!("{words} \u{4f60}\u{597d} \u{1f600} \u{e9}"),
            3 => format!("{words} \"q\" it's \\ / <b>&amp;</b> {{\"a\": [1]}} %"),
            4 => format!("{words}\n\n{}", self.words()),
            5 | 6 => {
                let constant = self.constant();
                format!("{words}{constant}{}", self.words())
            }
            7 => self.constant(),
            _ => words,
        }
    }

    fn constant(&mut self) -> String {
        match self.constants.len() {
            0 => "<>".to_owned(),
            count => self.constants[self.rng.usize(0..count)].clone(),
        }
    }

    fn messages(&mut self, with_tools: bool) -> Vec<Value> {
        let most = self.rng.usize(1..11);
        let mut messages = Vec::new();
        if self.rng.bool() {
            let role = if self.rng.usize(0..6) == 0 {
                "developer"
            } else {
                "system"
            };
            messages.push(self.said(role));
        }
        messages.push(self.said("user"));
        while messages.len() < most {
            if self.daring != Daring::Plain && self.rng.usize(0..6) == 0 {
                let role = ["user", "assistant", "system"][self.rng.usize(0..3)];
                let message = match role {
                    "assistant" => self.answer(),
                    role => self.said(role),
                };
                messages.push(message);
                continue;
            }
            let calls = with_tools || self.rng.usize(0..6) == 0;
            while calls && self.rng.bool() && messages.len() < most {
                let count = if self.rng.usize(0..3) == 0 { 2 } else { 1 };
                let called: Vec<(Value, String, String)> =
                    (0..count).map(|_| self.call()).collect();
                messages.push(self.calling(&called));
                for (_, name, id) in called {
                    messages.push(self.result(&name, &id));
                }
            }
            messages.push(self.answer());
            if messages.len() < most {
                messages.push(self.said("user"));
            }
        }
        messages
    }

    fn said(&mut self, role: &str) -> Value {
        let text = self.text();
        object([("role", Value::from(role)), ("content", Value::from(text))])
    }

    fn answer(&mut self) -> Value {
        let mut message = Map::new();
        message.insert("role", Value::from("assistant"));
        if self.rng.usize(0..3) == 0 {
            let thought = self.text();
            message.insert(self.reasoning, Value::from(thought));
        }
        let text = self.text();
        message.insert("content", Value::from(text));
        Value::Object(message)
    }

    fn calling(&mut self, called: &[(Value, String, String)]) -> Value {
        let mut message = Map::new();
        message.insert("role", Value::from("assistant"));
        let thinks = self.rng.usize(0..4) == 0;
        if thinks {
            let thought = self.text();
            message.insert(self.reasoning, Value::from(thought));
        }
        if !thinks && self.rng.usize(0..3) == 0 {
            let text = self.text();
            message.insert("content", Value::from(text));
        }
        let calls = called.iter().map(|(call, ..)| call.clone());
        message.insert(CALLS, Value::Array(calls.collect()));
        Value::Object(message)
    }

    fn call(&mut self) -> (Value, String, String) {
        let name = NAMES[self.rng.usize(0..NAMES.len())].to_owned();
        self.ids += 1;
        let id = format!("c7x{:06}", self.ids);
        let count = self.rng.usize(1..3);
        let first = self.rng.usize(0..KEYS.len());
        let arguments: Map = (0..count)
            .map(|at| {
                let key = KEYS[(first + at) % KEYS.len()].to_owned();
                (key, self.value())
            })
            .collect();
        let function = object([
            ("name", Value::from(name.as_str())),
            ("arguments", Value::Object(arguments)),
        ]);
        let call = object([
            ("type", Value::from("function")),
            ("id", Value::from(id.as_str())),
            ("function", function),
        ]);
        (call, name, id)
    }

    fn value(&mut self) -> Value {
        if self.daring != Daring::Hostile {
            return Value::from(self.words());
        }
        match self.rng.usize(0..8) {
            0 => Value::from(self.rng.i64(-9..100)),
            1 => Value::Bool(self.rng.bool()),
            2 => Value::Array(vec![Value::from(self.words()), Value::from(3)]),
            3 => object([("inner", Value::from(self.words()))]),
            4 => Value::from(format!("{} \u{e9} \"q\"", self.words())),
            _ => Value::from(self.words()),
        }
    }

    fn result(&mut self, name: &str, id: &str) -> Value {
        let text = self.text();
        object([
            ("role", Value::from("tool")),
            ("name", Value::from(name)),
            ("tool_call_id", Value::from(id)),
            ("content", Value::from(text)),
        ])
    }

    fn tool(&mut self, at: usize) -> Value {
        let count = self.rng.usize(1..3);
        let properties: Map = (0..count)
            .map(|index| {
                let kind = ["string", "integer", "boolean"][self.rng.usize(0..3)];
                let schema = object([
                    ("type", Value::from(kind)),
                    ("description", Value::from(self.words())),
                ]);
                (KEYS[(at + index) % KEYS.len()].to_owned(), schema)
            })
            .collect();
        let required: Vec<Value> = properties
            .keys()
            .take(self.rng.usize(0..count + 1))
            .map(|key| Value::from(key.as_str()))
            .collect();
        let parameters = object([
            ("type", Value::from("object")),
            ("properties", Value::Object(properties)),
            ("required", Value::Array(required)),
        ]);
        let function = object([
            ("name", Value::from(NAMES[at % NAMES.len()])),
            (
                "description",
                Value::from(format!("{} \u{e9}.", self.words())),
            ),
            ("parameters", parameters),
        ]);
        object([("type", Value::from("function")), ("function", function)])
    }
}
