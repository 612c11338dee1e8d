//! The derivation of a response template, to be looked at beside it.

use crate::derive::{Evidence, Report, Writer};
use crate::value::{Map, Value, json};

/// A derivation, as far as it is shown.
#[derive(Debug, Clone)]
pub struct Derivation {
    /// Where the chat template came from.
    pub source: String,
    /// True if messages came back from their renders.
    pub verified: bool,
    /// The markers, each with the renders that it was read from.
    pub markers: Vec<Marker>,
}

/// A marker with its evidence: two renders that differ.
#[derive(Debug, Clone)]
pub struct Marker {
    /// The question that it answers.
    pub decision: String,
    /// The marker that was read off.
    pub text: String,
    /// How it was read off, in a sentence.
    pub reading: String,
    /// Which variant the one render is of, and its text.
    pub left: (String, String),
    /// The variant and the text of the other render.
    pub right: (String, String),
    /// The places in the chat template that write it, in order, as far as they are known.
    pub places: Vec<Writer>,
}

impl Derivation {
    /// The name of its chat template, without the folders.
    pub(crate) fn name(&self) -> &str {
        let parts = self.source.rsplit(['/', '\\']);
        let mut named = parts.filter(|part| !part.is_empty());
        named.next().unwrap_or("a chat template")
    }

    /// The derivation that a report tells of.
    pub fn of_report(report: &Report) -> Self {
        Self {
            source: report.source.clone(),
            verified: report.verified,
            markers: report.evidence.iter().map(Marker::of_evidence).collect(),
        }
    }

    /// The derivation that a report written as JSON tells of; `None` when it is no report.
    pub fn of_json(text: &str) -> Option<Self> {
        Self::of_value(&json::parse(text).ok()?)
    }

    pub(crate) fn of_value(value: &Value) -> Option<Self> {
        let evidence = value.get("evidence")?.as_array()?.iter();
        Some(Self {
            source: value.get("source")?.as_str()?.to_owned(),
            verified: value.get("verified")?.is_truthy(),
            markers: evidence.map(Marker::of_value).collect::<Option<_>>()?,
        })
    }
}

impl Derivation {
    /// The report, as far as it is shown.
    pub(crate) fn to_value(&self) -> Value {
        let markers = self.markers.iter().map(Marker::to_value);
        Value::Object(object([
            ("source", Value::from(self.source.as_str())),
            ("verified", Value::from(self.verified)),
            ("evidence", Value::Array(markers.collect())),
        ]))
    }
}

/// An object with these members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> Map {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

impl Marker {
    fn to_value(&self) -> Value {
        let render = |(variant, text): &(String, String)| {
            Value::Object(object([
                ("variant", Value::from(variant.as_str())),
                ("text", Value::from(text.as_str())),
            ]))
        };
        let mut marker = object([
            ("question", Value::from(self.decision.as_str())),
            ("marker", Value::from(self.text.as_str())),
            ("reading", Value::from(self.reading.as_str())),
            ("left", render(&self.left)),
            ("right", render(&self.right)),
        ]);
        if !self.places.is_empty() {
            let places = self.places.iter().map(Writer::to_value);
            marker.insert("places".to_owned(), Value::Array(places.collect()));
        }
        Value::Object(marker)
    }

    /// Where in a chat template of that name the marker is written, and what is written there; `None` where that is not known.
    pub(crate) fn written(&self, source: &str) -> Option<String> {
        let told = self.places.iter().map(|place| {
            let text = json::quote(place.text());
            format!("{}  {text}", place.describe(source))
        });
        let told: Vec<String> = told.collect();
        (!told.is_empty()).then(|| told.join(", "))
    }

    fn of_evidence(evidence: &Evidence) -> Self {
        let (left, right) = (&evidence.left, &evidence.right);
        Self {
            decision: evidence.decision.to_owned(),
            text: evidence.marker.clone(),
            reading: evidence.reading.clone(),
            left: (left.variant.clone(), left.text.clone()),
            right: (right.variant.clone(), right.text.clone()),
            places: evidence.places.clone(),
        }
    }

    fn of_value(value: &Value) -> Option<Self> {
        let text = |value: &Value, key: &str| Some(value.get(key)?.as_str()?.to_owned());
        let sample = |key: &str| {
            let sample = value.get(key)?;
            Some((text(sample, "variant")?, text(sample, "text")?))
        };
        // Reports of earlier versions tell no places.
        let places = value.get("places").and_then(Value::as_array);
        let places = places.into_iter().flatten().map(Writer::of_value);
        Some(Self {
            decision: text(value, "question")?,
            text: text(value, "marker")?,
            reading: text(value, "reading")?,
            left: sample("left")?,
            right: sample("right")?,
            places: places.collect::<Option<_>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_read() {
        let report = r#"{"source": "x.jinja", "verified": true, "evidence": [{"question": "anchor", "marker": "<a>",
            "reading": "what both have", "left": {"variant": "one", "text": "a"}, "right": {"variant": "two", "text": "b"}, "places": [
            {"template": "rag", "line": 3, "column": 7, "start": 20, "end": 22, "text": "<a"},
            {"input": ["messages", 1, "role"], "text": ">", "derived": true}]}]}"#;
        let derivation = Derivation::of_json(report).expect("a report");
        assert!(derivation.verified);
        assert_eq!(
            derivation.markers[0].right,
            ("two".to_owned(), "b".to_owned())
        );
        assert_eq!(
            derivation.markers[0].written("x.jinja").as_deref(),
            Some(
                r#"written at x.jinja (chat template `rag`):3:7  "<a", computed from the input messages[1].role  ">""#
            )
        );
        assert!(Derivation::of_json("{}").is_none());
        let written = derivation.to_value();
        assert_eq!(Some(written), json::parse(report).ok(), "nothing is lost");
    }
}
