//! The responses and the response templates that read them.

/// A kind of response with its response template.
#[derive(Debug, Clone, Copy)]
pub struct Input {
    pub name: &'static str,
    /// The response template, as JSON.
    pub template: &'static str,
    /// What the text before the model's turn is, where it matters.
    pub write: fn(usize) -> String,
    /// The format's name for `dynamo-parsers-v2`'s unified parsers and for `dynamo-parsers`' tool call parsers.
    pub dynamo_v2: Option<&'static str>,
    pub dynamo_tools: Option<&'static str>,
    /// The format's name for `dynamo-parsers`' reasoning parsers.
    pub dynamo_reasoning: Option<&'static str>,
    /// What encloses each JSON text in it, for `serde_json`.
    pub json: Option<(&'static str, &'static str)>,
}

pub const INPUTS: [Input; 9] = [
    Input {
        name: "prose",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "thinking": {"open": "<think>", "close": "</think>"},
                "content": {"close": "<|im_end|>"}
            }
        }"#,
        write: prose,
        dynamo_v2: Some("qwen3"),
        dynamo_tools: None,
        dynamo_reasoning: Some("qwen3"),
        json: None,
    },
    Input {
        name: "regex",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "thinking": {"open_pattern": "<think>\\s*", "close_pattern": "</think>\\s*"},
                "content": {"close_pattern": "<\\|im_end\\|>\\s*"}
            }
        }"#,
        write: prose,
        dynamo_v2: None,
        dynamo_tools: None,
        dynamo_reasoning: None,
        json: None,
    },
    Input {
        name: "look-ahead",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "thinking": {"open_pattern": "<think>(?=[\\s\\S]*?</think>)", "close": "</think>"},
                "content": {"close": "<|im_end|>"}
            }
        }"#,
        write: prose,
        dynamo_v2: None,
        dynamo_tools: None,
        dynamo_reasoning: None,
        json: None,
    },
    Input {
        name: "argument",
        template: JSON_CALLS,
        write: argument,
        dynamo_v2: None,
        dynamo_tools: Some("hermes"),
        dynamo_reasoning: None,
        json: Some(("<tool_call>", "</tool_call>")),
    },
    Input {
        name: "calls",
        template: JSON_CALLS,
        write: calls,
        dynamo_v2: None,
        dynamo_tools: Some("hermes"),
        dynamo_reasoning: None,
        json: Some(("<tool_call>", "</tool_call>")),
    },
    Input {
        name: "regex calls",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "content": {"close_pattern": "<\\|im_end\\|>\\s*"},
                "tool_calls": {
                    "open_pattern": "<tool_call>\\s*",
                    "close_pattern": "\\s*</tool_call>\\s*",
                    "repeats": true,
                    "content": "json",
                    "transform": {"type": "function", "function": "{content}"}
                }
            }
        }"#,
        write: calls,
        dynamo_v2: None,
        dynamo_tools: None,
        dynamo_reasoning: None,
        json: None,
    },
    Input {
        name: "named calls",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "content": {"close": "<|im_end|>"},
                "tool_calls": {
                    "open_pattern": "<\\|tool_call_begin\\|>functions\\.(?P<name>[^:]+):\\d+<\\|tool_call_argument_begin\\|>",
                    "close": "<|tool_call_end|>",
                    "repeats": true,
                    "content": "json",
                    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
                }
            }
        }"#,
        write: named_calls,
        dynamo_v2: Some("kimi_k2"),
        dynamo_tools: Some("kimi_k2"),
        dynamo_reasoning: None,
        json: Some(("<|tool_call_argument_begin|>", "<|tool_call_end|>")),
    },
    Input {
        name: "tagged",
        template: r#"{
            "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
            "fields": {
                "content": {"close_pattern": "<\\|im_end\\|>\\s*"},
                "tool_calls": {
                    "open_pattern": "<tool_call>\\s*<function=(?P<name>[^\\s>]+)>\\s*",
                    "close_pattern": "</function>\\s*</tool_call>\\s*",
                    "repeats": true,
                    "content": "xml-inline",
                    "content_args": {
                        "tag_pattern": "<parameter=(?P<key>[^\\s>]+)>\\n(?P<value>.*?)\\n</parameter>"
                    },
                    "transform": {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
                }
            }
        }"#,
        write: tagged,
        dynamo_v2: Some("qwen3"),
        dynamo_tools: Some("qwen3_coder"),
        dynamo_reasoning: None,
        json: None,
    },
    Input {
        name: "derived",
        template: include_str!("../../derived/minimax_m2.json"),
        write: section,
        dynamo_v2: None,
        dynamo_tools: Some("minimax_m2"),
        dynamo_reasoning: None,
        json: None,
    },
];

const JSON_CALLS: &str = r#"{
    "defaults": {"role": "assistant"},
            "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "content": {"close": "<|im_end|>"},
        "tool_calls": {
            "open": "<tool_call>",
            "close": "</tool_call>",
            "repeats": true,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"}
        }
    }
}"#;

/// Sentences as a model thinks them; one comparison sign in about a thousand bytes.
const SENTENCES: [&str; 8] = [
    "The user asks for a summary, so the first step is to read the report again. ",
    "It says that revenue grew by 12% (from 4.1 to 4.6 million) over the year.\n",
    "Wait, the table in section 3 gives another number; let me check which one holds. ",
    "If the second quarter is restated, both are right and the footnote explains why.\n\n",
    "So I should mention the restatement, but briefly: the user wants three sentences. ",
    "A list may be easier to read than a paragraph here. ",
    "1. Revenue. 2. Costs, which rose more slowly. 3. The outlook, which is cautious.\n",
    "Let me also keep the tone neutral, since the request does not ask for an opinion. ",
];
const COMPARISON: &str = "For x < 0.5 the margin is negative, and \"flat\" otherwise. ";

fn sentences(size: usize) -> String {
    let mut text = String::with_capacity(size + 128);
    let parts = SENTENCES.iter().chain(&SENTENCES).chain([&COMPARISON]);
    for sentence in parts.cycle() {
        if text.len() >= size {
            break;
        }
        text.push_str(sentence);
    }
    text.truncate(size);
    text
}

fn prose(size: usize) -> String {
    let (open, rest) = ("<think>\n", "\n</think>\n\nIt grew by 12%.<|im_end|>\n");
    format!("{open}{}{rest}", sentences(size - open.len() - rest.len()))
}

fn argument(size: usize) -> String {
    let open = "<tool_call>\n{\"name\": \"write_file\", \"arguments\": {\"path\": \"notes.txt\", \"text\": \"";
    let rest = "\"}}\n</tool_call><|im_end|>";
    let mut body = String::new();
    for c in sentences(size - open.len() - rest.len()).chars() {
        match c {
            '\n' => body.push_str("\\n"),
            '"' => body.push_str("\\\""),
            c => body.push(c),
        }
    }
    format!("{open}{body}{rest}")
}

const CITIES: [&str; 4] = ["Paris", "Ulan Bator", "San Jose", "Lagos"];

fn repeat(size: usize, one: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < size {
        text.push_str(&one(number));
        number += 1;
    }
    text
}

fn calls(size: usize) -> String {
    repeat(size, |number| {
        let city = CITIES[number % CITIES.len()];
        format!(
            "<tool_call>\n{{\"name\": \"get_weather\", \"arguments\": {{\"city\": \"{city}\", \"days\": {}, \"metric\": true}}}}\n</tool_call>\n",
            number % 14
        )
    })
}

fn named_calls(size: usize) -> String {
    let calls = repeat(size, |number| {
        let city = CITIES[number % CITIES.len()];
        format!(
            "<|tool_call_begin|>functions.get_weather:{number}<|tool_call_argument_begin|>{{\"city\": \"{city}\", \"days\": {}, \"metric\": true}}<|tool_call_end|>",
            number % 14
        )
    });
    format!("<|tool_calls_section_begin|>{calls}<|tool_calls_section_end|>")
}

/// Each value about 400 bytes, and the first of a call a short one.
fn tagged(size: usize) -> String {
    let value = sentences(400);
    repeat(size, |number| {
        format!(
            "<tool_call>\n<function=write_file>\n<parameter=path>\nnotes-{number}.txt\n</parameter>\n<parameter=text>\n{value}\n</parameter>\n</function>\n</tool_call>\n"
        )
    })
}

/// The same values in a section of calls.
fn section(size: usize) -> String {
    let value = sentences(400);
    let calls = repeat(size, |number| {
        format!(
            "<invoke name=\"write_file\">\n<parameter name=\"path\">notes-{number}.txt</parameter>\n<parameter name=\"text\">{value}</parameter>\n</invoke>\n"
        )
    });
    format!("<minimax:tool_call>\n{calls}</minimax:tool_call>[e~[")
}
