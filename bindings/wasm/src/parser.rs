//! Parsing: whole responses, and as they arrive.

use std::sync::Arc;

use js_sys::Array;
use obverse::parser::{self, Event, OnError, Options, ParseError, ResponseParser};
use obverse::response_template::{Invalid, ResponseTemplate, config};
use obverse::value::{Value, json};
use wasm_bindgen::prelude::*;

use crate::convert::{self, failed};

/// A response template, compiled once for many responses.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Template(Arc<ResponseTemplate>);

#[wasm_bindgen]
impl Template {
    /// Compiles the text of a response template, or of a `tokenizer_config.json` that holds one.
    #[wasm_bindgen(constructor)]
    pub fn new(text: &str) -> Result<Template, JsValue> {
        let loaded = config::load_any(text).map_err(|invalid| refused(&invalid))?;
        Ok(Self(Arc::new(loaded.template)))
    }

    /// The message of a whole response.
    pub fn parse(&self, response: &str, prefix: &str, tools: &str) -> Result<JsValue, JsValue> {
        let tools = list(tools)?;
        let parsed = parser::parse_response(response, Arc::clone(&self.0), prefix, &tools);
        match parsed {
            Ok(message) => Ok(convert::object(&message)),
            Err(error) => Err(lost(&error)),
        }
    }

    /// A parser for a response that is still to arrive.
    pub fn parser(&self, prefix: &str, tools: &str, keeps_errors: bool) -> Result<Parser, JsValue> {
        let on_error = match keeps_errors {
            true => OnError::Keep,
            false => OnError::Return,
        };
        let options = Options::default().on_error(on_error);
        let template = Arc::clone(&self.0);
        let parser = ResponseParser::with_options(template, prefix, &list(tools)?, options);
        Ok(Parser(parser.map_err(|error| lost(&error))?))
    }
}

/// A parser that reads a response as it arrives.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Parser(ResponseParser);

#[wasm_bindgen]
impl Parser {
    /// The events of the prefix.
    pub fn initial_events(&self) -> Array {
        self.0.initial_events().iter().map(event).collect()
    }

    /// Reads a chunk, and adds the events to a list, which has those before an error, too.
    pub fn feed(&mut self, chunk: &str, events: &Array) -> Result<(), JsValue> {
        let mut add = |one: Event<'_>| {
            events.push(&event(&one));
        };
        self.0
            .feed_with(chunk, &mut add)
            .map_err(|error| lost(&error))
    }

    /// Ends the response, and adds the events to a list.
    pub fn finalize(&mut self, events: &Array) -> Result<(), JsValue> {
        let mut add = |one: Event<'_>| {
            events.push(&event(&one));
        };
        self.0.finalize_with(&mut add).map_err(|error| lost(&error))
    }

    /// The message parsed so far.
    pub fn message(&self) -> JsValue {
        convert::object(self.0.message())
    }

    /// The text that no field took.
    pub fn unclaimed(&self) -> Array {
        let all = self.0.unclaimed().iter();
        all.map(|lost| convert::object(&lost.to_map())).collect()
    }
}

/// An event as the reference's dict has it.
fn event(event: &Event<'_>) -> JsValue {
    convert::object(&event.to_map())
}

/// The list in a text of JSON; an empty text is an empty list.
fn list(text: &str) -> Result<Vec<Value>, JsValue> {
    match json::parse(if text.is_empty() { "[]" } else { text }) {
        Ok(Value::Array(items)) => Ok(items),
        _ => Err(failed("usage", "`tools` must be a list")),
    }
}

/// The error for a response that does not parse.
fn lost(error: &ParseError) -> JsValue {
    convert::error(&error.to_string(), &error.to_map())
}

/// The error for a document that is no response template.
fn refused(invalid: &Invalid) -> JsValue {
    let error = failed("template", &invalid.to_string());
    if let Ok(findings) = convert::written(&invalid.diagnostics()) {
        // An error takes members like any object.
        let _ = js_sys::Reflect::set(&error, &JsValue::from_str("findings"), &findings);
    }
    error
}
