//! Loading a document: no panic; places lie in the text; what is stored in a `tokenizer_config.json` is found again, and
//! nothing else of the file changes.

use obverse::response_template::{Invalid, ResponseTemplate, config};
use obverse::value::{Value, json};

/// Checks one text as a document and as a configuration.
pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let loaded = ResponseTemplate::from_json(text);
    if let Err(invalid) = &loaded {
        places_lie_in(text, invalid);
    }
    if let Ok(value) = json::parse(text) {
        let again = ResponseTemplate::from_value(&value);
        assert_eq!(loaded.is_ok(), again.is_ok(), "text and value");
        let written = json::to_string(&value);
        let again = ResponseTemplate::from_json(&written);
        assert_eq!(loaded.is_ok(), again.is_ok(), "text and what is written");
    }
    let any = config::load_any(text);
    let template = match &any {
        Ok(found) => found.document.clone(),
        Err(invalid) => {
            places_lie_in(text, invalid);
            Value::Null
        }
    };
    if let Err(invalid) = config::read(text) {
        places_lie_in(text, &invalid);
    }
    let Ok(stored) = config::write(text, &template) else {
        return;
    };
    let body = |text: &str| {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
    };
    let (Value::Object(mut before), Value::Object(mut after)) = (body(text), body(&stored)) else {
        panic!("only an object can be written to");
    };
    assert_eq!(after.get(config::KEY), Some(&template), "{stored}");
    before.shift_remove(config::KEY);
    after.shift_remove(config::KEY);
    assert!(
        before.keys().eq(after.keys()),
        "the order of keys: {stored}"
    );
    assert_eq!(before, after, "the rest of the file: {stored}");
    if any.is_ok() {
        let found = config::load_any(&stored).expect("it was accepted before");
        assert_eq!(found.document, template);
    }
    let twice = config::write(&stored, &template).expect("an object");
    assert_eq!(body(&twice), body(&stored), "written twice");
}

fn places_lie_in(text: &str, invalid: &Invalid) {
    assert!(!invalid.diagnostics().is_empty());
    let labelled = |found: &obverse::diagnostic::Diagnostic| {
        let labels = found.labels.iter().map(|label| label.span.clone());
        labels.chain(found.place.span.clone()).collect::<Vec<_>>()
    };
    for span in invalid.diagnostics().iter().flat_map(labelled) {
        assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
    }
    let _ = invalid.to_string();
}
