//! Contents that are lists of parts, of which only texts can be rendered.

use crate::serve::refusal::Refusal;
use crate::value::Value;

/// The text of a content: a string, or the texts of its parts one after the other.
///
/// # Errors
///
/// A part that is no text, such as a picture.
pub(super) fn text(content: &Value) -> Result<String, Refusal> {
    let parts = match content {
        Value::String(text) => return Ok(text.clone()),
        Value::Null => return Ok(String::new()),
        Value::Array(parts) => parts,
        other => {
            let kind = other.json_kind();
            return Err(Refusal::request(format!(
                "a content must be a string or a list of parts, not {kind}"
            )));
        }
    };
    let mut text = String::new();
    for part in parts {
        let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
        let written = part.get("text").or_else(|| part.get("refusal"));
        match (kind, written.and_then(Value::as_str)) {
            ("text" | "input_text" | "output_text" | "refusal", Some(written)) => {
                text.push_str(written);
            }
            _ => {
                let message =
                    format!("a content has a part of type `{kind}`; only text can be sent");
                return Err(Refusal::unsupported("messages", message));
            }
        }
    }
    Ok(text)
}
