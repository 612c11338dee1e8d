//! Which variables beside the conversation make a difference, and what they are set to.

use super::talks::{self, Dress, FEW};
use crate::conversation::render::{Renderer, Talk};
use crate::value::{Map, Value};

/// How many settings are looked at beside the default.
const MAX_SETTINGS: usize = 16;

/// The value for a variable that may be printed.
const PRINTED: &str = "Pebble quartz";

/// The settings that render otherwise than any before; the first is the default.
pub(super) fn choose(renderer: &Renderer<'_>, reasoning: &str) -> Vec<Map> {
    let texts = |kwargs: &Map| -> Vec<Option<String>> {
        let all = FEW.iter().flat_map(|order| {
            [(0, true), (0, false), (1, true), (1, false)].map(|(tools, prompt)| {
                let talk = Talk {
                    kwargs: kwargs.clone(),
                    prompt,
                    ..talks::talk(order, tools, Dress::Plain, reasoning)
                };
                renderer.text(&talk).ok()
            })
        });
        all.collect()
    };
    let mut settings = vec![Map::new()];
    let mut seen = vec![texts(&settings[0])];
    for (name, mut values) in renderer.source.kwargs() {
        values.push(Value::from(PRINTED));
        for value in values {
            if settings.len() > MAX_SETTINGS {
                return settings;
            }
            let is_printed = value.as_str() == Some(PRINTED);
            let setting: Map = [(name.clone(), value)].into_iter().collect();
            let rendered = texts(&setting);
            let is_shown =
                |text: &Option<String>| text.as_ref().is_some_and(|text| text.contains(PRINTED));
            let is_new = !seen.contains(&rendered) && rendered.iter().any(Option::is_some);
            if is_new && (!is_printed || rendered.iter().any(is_shown)) {
                settings.push(setting);
                seen.push(rendered);
            }
        }
    }
    settings
}
