//! What is done with chat templates, and what the playground shows.

use std::str::FromStr as _;

use obverse::chat_template::{self, ChatTemplateSource};
use obverse::chunking::Chunking;
use obverse::derive::{self, inspect};
use obverse::lint;
use obverse::page::{self, Page, Reading};
use obverse::response_template::Engine;
use wasm_bindgen::prelude::*;

use crate::convert::{failed, written};

/// The chat templates of a text: Jinja, or a `tokenizer_config.json`.
fn open(name: &str, text: &str) -> Result<ChatTemplateSource, JsValue> {
    let is_config = text.trim_start().starts_with('{') && obverse::value::json::parse(text).is_ok();
    let loaded = match is_config {
        true => chat_template::from_config(name, text),
        false => chat_template::from_text(name, text),
    };
    let source = loaded.map_err(|error| failed("source", &error.to_string()))?;
    Ok(source.assuming_tokens())
}

fn engines(names: Vec<String>) -> Result<Vec<Engine>, JsValue> {
    let engine =
        |name: &String| Engine::from_str(name).map_err(|error| failed("usage", &error.to_string()));
    names.iter().map(engine).collect()
}

/// The response template as text, and the report.
#[wasm_bindgen]
pub fn derive(
    name: &str,
    text: &str,
    for_: Vec<String>,
    thorough: bool,
) -> Result<js_sys::Array, JsValue> {
    let source = open(name, text)?;
    let options = derive::Options::default()
        .engines(engines(for_)?)
        .thorough(thorough);
    let derived = derive::derive(&source, &options);
    let derived = derived.map_err(|error| failed("derive", &error.to_string()))?;
    let document = JsValue::from_str(&derived.document.to_json());
    Ok(js_sys::Array::of2(&document, &written(&derived.report)?))
}

/// What the chat templates of a text support.
#[wasm_bindgen]
pub fn inspect(name: &str, text: &str) -> Result<JsValue, JsValue> {
    let source = open(name, text)?;
    written(&inspect::inspect(&source, &derive::Options::default()))
}

/// What will go wrong with a response template.
#[wasm_bindgen]
pub fn lint(
    text: &str,
    chat_template: Option<String>,
    for_: Vec<String>,
) -> Result<JsValue, JsValue> {
    let chat = chat_template
        .map(|text| open("chat_template", &text))
        .transpose()?;
    let engines = engines(for_)?;
    let options = lint::Options::default()
        .chat(chat.as_ref())
        .engines(&engines);
    written(&lint::lint(text, &options))
}

/// The page about a text that somebody pastes, as JSON.
#[wasm_bindgen]
pub fn page_open(name: &str, text: &str) -> Result<String, JsValue> {
    let page = Page::open(name, text).map_err(|error| failed("page", &error.to_string()))?;
    json(&page)
}

/// What a page shows of a response template that is being edited, as JSON; `report` is the derivation's, or empty.
#[wasm_bindgen]
pub fn page_template(text: &str, report: &str) -> Result<String, JsValue> {
    let report = serde_json::from_str(report).ok();
    json(&page::template(text, report.as_ref()))
}

/// A recorded parse, as JSON.
#[wasm_bindgen]
pub fn page_replay(
    template: &str,
    response: &str,
    prefix: String,
    tools: String,
    chunks: &str,
) -> Result<String, JsValue> {
    let chunking =
        Chunking::from_str(chunks).map_err(|error| failed("usage", &error.to_string()))?;
    let mut reading = Reading::default();
    reading.prefix = prefix;
    reading.tools = tools;
    reading.chunking = chunking;
    let replay = page::replay(template, response, &reading);
    json(&replay.map_err(|error| failed("page", &error.to_string()))?)
}

fn json(value: &impl serde::Serialize) -> Result<String, JsValue> {
    serde_json::to_string(value).map_err(|error| failed("failed", &error.to_string()))
}
