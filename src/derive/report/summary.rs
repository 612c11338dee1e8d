//! The report of a derivation: what was found, what was proved, what was not.

use std::fmt;

use serde::{Serialize, Serializer};

use crate::derive::compare::slot;
use crate::derive::deviate::{DeviationVerdict, UnclaimedCounts};
use crate::derive::evidence::decision::Decision;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::Evidence;
use crate::derive::inspect::{Lifetime, Supports};
use crate::derive::learn::Responses;
use crate::derive::probe::ArgumentsForm;
use crate::derive::read::analysis::Analysis;
use crate::derive::read::arguments::Around;
use crate::derive::read::content::Content;
use crate::derive::read::cut::Body;
use crate::derive::read::thought::Opener;
use crate::diagnostic::Severity;
use crate::judge::{KindVerdict, Rounds};
use crate::response_template::{Delimiter, FieldDocument};

/// The account of what a derivation found and proved. Serialized, it is the JSON report, whose keys are stable.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The path of the source that the chat template came from.
    pub source: String,
    /// True if the response template is proved: all that can be seen of every message came back, and every kind is seen.
    pub verified: bool,
    /// The verdict: proved, proved in part, inexpressible or not proved.
    pub verdict: Verdict,
    /// How many messages were tried, by outcome.
    pub rounds: Rounds,
    /// The verdicts by kind of message.
    pub kinds: Vec<KindVerdict>,
    /// The literals that begin the model's turn; as in the response template, a single one is written as a string.
    #[serde(serialize_with = "one_or_many")]
    #[cfg_attr(test, schemars(with = "crate::schemas::OneOrMany"))]
    pub start_anchor: Vec<String>,
    /// How the model writes reasoning.
    pub reasoning: ReasoningReport,
    /// How the model writes content.
    pub content: ContentReport,
    /// How the model writes tool calls.
    pub tools: ToolsReport,
    /// The features that the chat template can take.
    pub supports: Supports,
    /// The findings: what else is to be known.
    pub findings: Vec<Finding>,
    /// The decisions between several candidates.
    pub decisions: Vec<Decision>,
    /// The evidence that each marker was read from.
    pub evidence: Vec<Evidence>,
    /// The outcomes of deviations, in which models write otherwise than the chat template renders; those alone that apply to some response.
    #[cfg_attr(test, schemars(default))]
    pub deviations: Vec<DeviationVerdict>,
    /// The counts of responses of which some text went to no field.
    #[cfg_attr(test, schemars(default))]
    pub unclaimed: UnclaimedCounts,
    /// The report on recorded responses, where there were any.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(default))]
    pub responses: Option<Responses>,
}

impl Report {
    /// The report as JSON, indented by two, with a line feed at the end.
    pub fn to_json(&self) -> String {
        // The only maps in a report are keyed by strings, so that nothing in it can fail to serialize.
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// The verdict on a derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every kind of message that the chat template reads is rendered, and all that can be seen of every message came back.
    Proved,
    /// All that can be seen came back as for `proved`, but something that the chat template asks for, or that the response template reads,
    /// is shown by no render: the findings say what.
    ProvedInPart,
    /// All messages came back but those that no response template can bring back, as the findings `inexpressible` show, or that none can
    /// that the engines take, as the findings `refused-by-engine` show; the response template is the closest one.
    Inexpressible,
    /// A message did not come back that should have, or nothing could be tried.
    NotProved,
}

impl Verdict {
    pub(in crate::derive) fn of(rounds: Rounds, findings: &[Finding], is_in_part: bool) -> Self {
        let mut errors = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Error)
            .peekable();
        if rounds.failed > 0 || rounds.passed == 0 {
            Self::NotProved
        } else if errors.peek().is_none() {
            if is_in_part {
                Self::ProvedInPart
            } else {
                Self::Proved
            }
        } else if errors.all(|error| {
            // No call was lost that a parser could have read, whether they are understood or not.
            error.is_inexpressible() || error.is_of_calls() && rounds.inexpressible > 0
        }) {
            Self::Inexpressible
        } else {
            Self::NotProved
        }
    }
}

fn one_or_many<S: Serializer>(literals: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    match literals {
        [one] => serializer.serialize_str(one),
        many => many.serialize(serializer),
    }
}

/// The modes of reasoning, by the names of llama.cpp's autoparser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningMode {
    /// There is no reasoning.
    None,
    /// Reasoning stands between markers.
    TagBased,
}

/// The messages in which the chat template renders a reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum History {
    /// It renders a reasoning in no message, so that an inversion cannot show it.
    Dropped,
    /// It renders a reasoning without what opens it, which only the prompt has.
    Unopened,
    /// It renders it, for as long as this.
    #[serde(untagged)]
    Rendered(Lifetime),
}

impl fmt::Display for History {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dropped => f.write_str("dropped from the history"),
            Self::Unopened => f.write_str("kept in the history without what opens it"),
            Self::Rendered(lifetime) => lifetime.fmt(f),
        }
    }
}

/// How the model writes reasoning.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReasoningReport {
    /// The mode.
    pub mode: ReasoningMode,
    /// The text that opens it.
    pub open: String,
    /// The text that closes it.
    pub close: String,
    /// The message key that the chat template reads back; absent where it reads none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The writer of the opening marker: `model` or `prompt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<Opener>,
    /// Where the prompt writes it, in words such as `under think=true`; absent where it does so by default, or never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_where: Option<String>,
    /// The messages in which the chat template renders a reasoning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
}

/// The modes of content, by the names of llama.cpp's autoparser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContentMode {
    /// Content is whatever nothing else claims.
    #[default]
    Plain,
    /// Content always stands between markers.
    AlwaysWrapped,
    /// Content stands between markers when there is reasoning.
    WrappedWithReasoning,
}

/// How the model writes content.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ContentReport {
    /// The mode.
    pub mode: ContentMode,
    /// The text that opens it.
    pub open: String,
    /// The text that closes it, which is the text that ends the turn.
    pub close: String,
}

/// The modes of tool calls, by the names of llama.cpp's autoparser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolsMode {
    /// No calls are rendered.
    #[default]
    None,
    /// A call is JSON that holds name and arguments.
    JsonNative,
    /// The name stands in a tag, the arguments as JSON.
    TagWithJson,
    /// The name stands in a tag, each argument in tags.
    TagWithTagged,
}

/// How the model writes tool calls.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ToolsReport {
    /// The mode.
    pub mode: ToolsMode,
    /// The text that opens all calls together.
    pub section_open: String,
    /// The text that closes all calls together.
    pub section_close: String,
    /// The text that opens each call.
    pub open: String,
    /// The text that closes each call.
    pub close: String,
    /// The texts around each argument that stands in tags of its own: the one that opens it, the one between key and value, and the one
    /// that closes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<[String; 3]>,
    /// The path to the name in the JSON of a call: keys joined by dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The path to the arguments in the JSON of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The path to the id in the JSON of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// True if all calls are one JSON array.
    pub array: bool,
    /// True if the chat template wants a call's arguments as the text of a JSON object.
    pub arguments_as_text: bool,
}

impl ReasoningReport {
    /// A report on the reasoning, which the chat template takes from `key` and renders for as long as `lifetime`. `field` reads it in the response
    /// template.
    pub(in crate::derive) fn of(
        analysis: &Analysis,
        key: Option<String>,
        field: Option<&FieldDocument>,
        lifetime: Lifetime,
    ) -> Self {
        let shown = |delimiter: &Option<Delimiter>| match delimiter {
            None => String::new(),
            Some(Delimiter::Literals(texts)) => texts.first().cloned().unwrap_or_default(),
            Some(Delimiter::Pattern(source)) => source.clone(),
        };
        match (&analysis.reasoning, field) {
            (Some(reasoning), _) => Self {
                mode: ReasoningMode::TagBased,
                open: slot::show(&reasoning.open),
                close: slot::show(&reasoning.close),
                key,
                opened_by: Some(reasoning.opened_by),
                opened_where: reasoning.opened_where.clone(),
                history: Some(match reasoning.is_rendered {
                    true => History::Rendered(lifetime),
                    false if reasoning.unopened.is_some() => History::Unopened,
                    false => History::Dropped,
                }),
            },
            // No two delimiters were read, and an amendment brings it back.
            (None, Some(field)) if key.is_some() => Self {
                mode: ReasoningMode::TagBased,
                open: shown(&field.open),
                close: shown(&field.close),
                key,
                opened_by: Some(Opener::Model),
                opened_where: None,
                history: Some(History::Rendered(lifetime)),
            },
            _ => Self {
                mode: ReasoningMode::None,
                open: String::new(),
                close: String::new(),
                key: None,
                opened_by: None,
                opened_where: None,
                history: None,
            },
        }
    }
}

impl ContentReport {
    pub(in crate::derive) fn of(analysis: &Analysis) -> Self {
        let content = &analysis.content;
        let beside = content
            .beside
            .iter()
            .map(|one| &one.text)
            .filter(|_| content.only_with_reasoning);
        let open = content.open.iter().chain(beside).next();
        Self {
            mode: match content {
                Content {
                    only_with_reasoning: true,
                    ..
                } => ContentMode::WrappedWithReasoning,
                Content { open: Some(_), .. } => ContentMode::AlwaysWrapped,
                Content {
                    end_beside_reasoning: Some(_),
                    ..
                } => ContentMode::WrappedWithReasoning,
                _ => ContentMode::Plain,
            },
            open: slot::show(open.map(String::as_str).unwrap_or_default()),
            close: slot::show(analysis.turn_end.marker().trim()),
        }
    }
}

impl ToolsReport {
    pub(in crate::derive) fn of(analysis: &Analysis) -> Self {
        let Some(calls) = &analysis.calls else {
            return Self::default();
        };
        let members = match &calls.body {
            Body::Array(members) | Body::Object(members) => Some(members),
            Body::Json | Body::Text | Body::Dialect(_) | Body::Pairs(_) => None,
        };
        let path = |keys: &Vec<String>| keys.join(".");
        Self {
            mode: match calls.body {
                Body::Json | Body::Text | Body::Dialect(_) => ToolsMode::TagWithJson,
                Body::Pairs(_) => ToolsMode::TagWithTagged,
                Body::Array(_) | Body::Object(_) => ToolsMode::JsonNative,
            },
            section_open: slot::show(calls.section.0.trim()),
            section_close: slot::show(calls.section.1.trim()),
            open: slot::show(calls.call.0.trim()),
            close: slot::show(calls.call.1.trim()),
            argument: match &calls.body {
                Body::Pairs(argument) => {
                    let around = |side: fn(&Around) -> &str| {
                        let mut literals: Vec<&str> = argument.value.iter().map(side).collect();
                        literals.dedup();
                        literals.join(" ")
                    };
                    let tag = [
                        argument.open.clone(),
                        around(|value| &value.between),
                        around(|value| &value.close),
                    ];
                    Some(tag.map(|literal| slot::show(literal.trim())))
                }
                _ => None,
            },
            name: members.map(|members| path(&members.name)),
            arguments: members.map(|members| path(&members.arguments)),
            id: members.and_then(|members| members.id.as_ref().map(path)),
            array: matches!(calls.body, Body::Array(_)),
            arguments_as_text: analysis.dialect.arguments == ArgumentsForm::JsonText,
        }
    }
}
