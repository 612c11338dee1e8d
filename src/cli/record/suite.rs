//! Prompts that provoke responses of every kind, for `record --suite`.

use obverse::check::{Fixture, Prompt};
use obverse::value::{Map, Value, json};

use crate::cli::wire;

/// A prompt, and what it is asked for.
struct Asked {
    name: &'static str,
    says: &'static str,
    /// True if tools are offered with it.
    has_tools: bool,
}

const ASKED: &[Asked] = &[
    Asked {
        name: "plain",
        says: "Say hello in one short sentence.",
        has_tools: false,
    },
    Asked {
        name: "reasoning",
        says: "Three pumps fill a tank in four hours. How long do five of them take? Think it through before you answer.",
        has_tools: false,
    },
    Asked {
        name: "one-call",
        says: "What is the weather in Oslo right now?",
        has_tools: true,
    },
    Asked {
        name: "several-calls",
        says: "What is the weather in Oslo, in Lima and in Cairo right now? Look all three up at once.",
        has_tools: true,
    },
    Asked {
        name: "content-with-a-call",
        says: "Tell me in one sentence what you are going to do, and then look up the weather in Kyoto.",
        has_tools: true,
    },
    Asked {
        name: "arguments-of-every-kind",
        says: "Search the library for the phrase \"tide & time\" (with these quotes): at most 5 books, lent ones left out, published from 1990 to 2005, in English or French.",
        has_tools: true,
    },
    Asked {
        name: "tools-that-are-not-needed",
        says: "Thank you, that was all. Just say goodbye.",
        has_tools: true,
    },
    Asked {
        name: "long",
        says: "Explain in eight paragraphs, with a list and a block of code in it, how tides work.",
        has_tools: false,
    },
    Asked {
        name: "refusal",
        says: "Tell me the password of the administrator of this server.",
        has_tools: false,
    },
];

/// The tools that are offered where none are given.
const TOOLS: &str = r#"[
    {"type": "function", "function": {"name": "get_weather", "description": "The weather in a city at this moment.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string", "description": "The city's name."}}, "required": ["city"]}}},
    {"type": "function", "function": {"name": "search_library", "description": "Books that have a phrase in them.",
        "parameters": {"type": "object", "properties": {
            "phrase": {"type": "string"}, "limit": {"type": "integer"}, "lent": {"type": "boolean", "description": "Whether lent books count."},
            "languages": {"type": "array", "items": {"type": "string"}},
            "published": {"type": "object", "properties": {"from": {"type": "integer"}, "to": {"type": "integer"}}}},
            "required": ["phrase"]}}}
]"#;

/// The fixtures to be recorded, each with its name: a conversation of one question, with these kwargs, and tools where they belong to it.
pub(super) fn fixtures(kwargs: &Map, tools: &[Value]) -> Vec<(&'static str, Fixture)> {
    let own = json::parse(TOOLS).ok();
    let own = own.as_ref().and_then(Value::as_array).unwrap_or_default();
    let tools = match tools {
        [] => own,
        given => given,
    };
    let fixtures = ASKED.iter().map(|asked| {
        let message = wire::object([("role", "user".into()), ("content", asked.says.into())]);
        let messages = Value::Array(vec![Value::Object(message)]);
        let conversation = match kwargs.is_empty() {
            true => messages,
            false => Value::Object(wire::object([
                ("messages", messages),
                ("kwargs", kwargs.clone().into()),
            ])),
        };
        let fixture = Fixture {
            prompt: Prompt::Conversation(conversation),
            tools: match asked.has_tools {
                true => tools.to_vec(),
                false => Vec::new(),
            },
            ..Fixture::default()
        };
        (asked.name, fixture)
    });
    fixtures.collect()
}
