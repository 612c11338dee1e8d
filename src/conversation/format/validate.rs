//! Reading a conversation format from JSON: that its members are those of the document, and that they fit together.

use serde::{Deserialize, Deserializer};

use super::{ConversationFormat, Holds, InvalidFormat, VERSION};
use crate::diagnostic::Diagnostic;
use crate::response_template::ResponseTemplate;
use crate::value::{Map, Value, json};

/// A list of objects.
pub(super) fn objects<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Map>, D::Error> {
    let values = Vec::<Value>::deserialize(deserializer)?;
    let maps = values.into_iter().map(|value| match value {
        Value::Object(map) => Ok(map),
        other => Err(serde::de::Error::custom(format!(
            "a setting is an object, not {}",
            other.json_kind()
        ))),
    });
    maps.collect()
}

/// The document, validated.
pub(super) fn read(value: &Value) -> Result<ConversationFormat, InvalidFormat> {
    let format: ConversationFormat =
        serde_json::from_str(&json::to_string(value)).map_err(|error| {
            // The place in the text that was written for it says nothing to whoever wrote the document.
            let told = error.to_string();
            let told = told.split(" at line ").next().unwrap_or(&told);
            InvalidFormat(vec![Diagnostic::error("conversation-format", told)])
        })?;
    let mut found = Vec::new();
    let mut wrong = |path: String, message: String| {
        found.push(Diagnostic::error("conversation-format", message).with_path(path));
    };
    if format.version != VERSION {
        let message = format!("version {} is not known, only {VERSION}", format.version);
        wrong("version".to_owned(), message);
    }
    if let Some(template) = &format.response_template
        && let Err(invalid) = ResponseTemplate::from_value(template)
    {
        wrong("response_template".to_owned(), invalid.to_string());
    }
    for (at, place) in format.places.iter().enumerate() {
        let path = format!("places[{at}]");
        let of_message = matches!(place.holds, Holds::Text | Holds::Turn | Holds::Nothing);
        if of_message != place.role.is_some() {
            let needs = if of_message { "needs" } else { "has no" };
            wrong(path.clone(), format!("this kind of place {needs} a role"));
        }
        if (place.holds == Holds::Text) != place.key.is_some() {
            let message = "a text, and nothing else, has a key".to_owned();
            wrong(path, message);
        }
    }
    for (at, step) in format.steps.iter().enumerate() {
        for (name, place) in [("after", step.after), ("before", step.before)] {
            if place.is_some_and(|place| place >= format.places.len()) {
                wrong(
                    format!("steps[{at}].{name}"),
                    format!("there are {} places", format.places.len()),
                );
            }
        }
        if let Some(setting) = step
            .settings
            .iter()
            .find(|at| **at >= format.settings.len())
        {
            wrong(
                format!("steps[{at}].settings"),
                format!("there is no setting {setting}"),
            );
        }
        if step.prompt && step.before.is_some() {
            wrong(
                format!("steps[{at}].prompt"),
                "only the last step asks the model to go on".to_owned(),
            );
        }
        let endless = |at: usize| {
            let holds = format.places.get(at).map(|place| place.holds);
            matches!(holds, Some(Holds::Text | Holds::Turn))
        };
        if step.after.is_some_and(endless) && step.before.is_some() && !has_text(step) {
            wrong(
                format!("steps[{at}]"),
                "without a constant text nobody knows where the place before ends".to_owned(),
            );
        }
    }
    if let Some(layout) = &format.definitions {
        let found = layout.wrong().into_iter();
        found.for_each(|(path, message)| wrong(path, message));
    }
    if format.steps.iter().all(|step| step.after.is_some()) {
        wrong("steps".to_owned(), "no step begins a render".to_owned());
    }
    if found.is_empty() {
        Ok(format)
    } else {
        Err(InvalidFormat(found))
    }
}

fn has_text(step: &super::Connection) -> bool {
    step.parts().any(|part| part.text().is_some())
}
