//! The report of a derivation: what was found, what was proved, what was not.

use serde::{Serialize, Serializer};

use crate::derive::compare::slot;
use crate::derive::deviate::DeviationVerdict;
use crate::derive::evidence::decision::Decision;
use crate::derive::evidence::finding::Finding;
use crate::derive::evidence::sample::Evidence;
use crate::derive::inspect::Supports;
use crate::derive::learn::Responses;
use crate::derive::probe::ArgumentsForm;
use crate::derive::read::analysis::Analysis;
use crate::derive::read::arguments::Around;
use crate::derive::read::content::Content;
use crate::derive::read::cut::Body;
use crate::derive::read::thought::{History, Opener};
use crate::diagnostic::Severity;
use crate::judge::{KindVerdict, Rounds};

/// What a derivation found and proved. Serialized, it is the JSON report, whose keys are stable.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    /// Where the chat template came from.
    pub source: String,
    /// Whether it is proved: all that can be seen of every message came back, and every kind is seen.
    pub verified: bool,
    /// What that means.
    pub verdict: Verdict,
    /// How many were tried.
    pub rounds: Rounds,
    /// What became of the messages of each kind.
    pub kinds: Vec<KindVerdict>,
    /// The literals that begin the model's turn; as in the response template, a single one is written as a string.
    #[serde(serialize_with = "one_or_many")]
    #[cfg_attr(test, schemars(with = "crate::schemas::OneOrMany"))]
    pub start_anchor: Vec<String>,
    /// How the model writes reasoning.
    pub reasoning: ReasoningReport,
    /// How it writes content.
    pub content: ContentReport,
    /// How it writes tool calls.
    pub tools: ToolsReport,
    /// What the chat template can take.
    pub supports: Supports,
    /// What else is to be known.
    pub findings: Vec<Finding>,
    /// The questions that could be answered in several ways, and how each was settled.
    pub decisions: Vec<Decision>,
    /// From what each marker was read.
    pub evidence: Vec<Evidence>,
    /// What became of what models write otherwise than the chat template renders, as far as something could be changed so.
    #[cfg_attr(test, schemars(default))]
    pub deviations: Vec<DeviationVerdict>,
    /// What came of recorded responses, where there were any.
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

/// What a derivation amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every kind of message that the chat template reads is rendered, and all that can be seen of every message came back.
    Proved,
    /// The same, but something that the chat template asks for, or that the response template reads, is shown by no render:
    /// the findings say what.
    ProvedInPart,
    /// All but those came back that no response template can bring back, as the findings `inexpressible` show, or that none
    /// can that the engines take, as the findings `refused-by-engine` show; the response template is the closest one.
    Inexpressible,
    /// Something did not come back that should have, or nothing could be tried.
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
        } else if errors.all(Finding::is_inexpressible) {
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
pub enum ReasoningMode {
    /// There is none.
    None,
    /// Between markers.
    TagBased,
}

/// How the model writes reasoning.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReasoningReport {
    /// The mode.
    pub mode: ReasoningMode,
    /// What opens it.
    pub open: String,
    /// What closes it.
    pub close: String,
    /// The message key that the chat template reads back; absent where it reads none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Who writes the opening marker: `model` or `prompt`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened_by: Option<Opener>,
    /// Whether the chat template renders it: `kept` or `dropped`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub history: Option<History>,
}

/// The modes of content, by the names of llama.cpp's autoparser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContentMode {
    /// Whatever nothing else claims.
    Plain,
    /// Always between markers.
    AlwaysWrapped,
    /// Between markers when there is reasoning.
    WrappedWithReasoning,
}

/// How the model writes content.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContentReport {
    /// The mode.
    pub mode: ContentMode,
    /// What opens it.
    pub open: String,
    /// What closes it, which is what ends the turn.
    pub close: String,
}

/// The modes of tool calls, by the names of llama.cpp's autoparser.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ToolsMode {
    /// None are rendered.
    #[default]
    None,
    /// JSON that holds name and arguments.
    JsonNative,
    /// The name in a tag, the arguments as JSON.
    TagWithJson,
    /// The name in a tag, each argument in tags.
    TagWithTagged,
}

/// How the model writes tool calls.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolsReport {
    /// The mode.
    pub mode: ToolsMode,
    /// What opens and closes all calls together.
    pub section_open: String,
    /// See `section_open`.
    pub section_close: String,
    /// What opens and closes each call.
    pub open: String,
    /// See `open`.
    pub close: String,
    /// How each argument is written that stands in tags of its own: what opens it, what stands between key and value,
    /// what closes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub argument: Option<[String; 3]>,
    /// Where in the JSON the name is: keys joined by dots.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Where in the JSON the arguments are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// Where in the JSON the call's id is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whether all calls are one JSON array.
    pub array: bool,
    /// Whether the chat template wants a call's arguments as the text of a JSON object.
    pub arguments_as_text: bool,
}

impl ReasoningReport {
    pub(in crate::derive) fn of(analysis: &Analysis) -> Self {
        let Some(reasoning) = &analysis.reasoning else {
            return Self {
                mode: ReasoningMode::None,
                open: String::new(),
                close: String::new(),
                key: None,
                opened_by: None,
                history: None,
            };
        };
        Self {
            mode: ReasoningMode::TagBased,
            open: reasoning.open.clone(),
            close: reasoning.close.clone(),
            key: analysis.dialect.reasoning_key(),
            opened_by: Some(reasoning.opened_by),
            history: Some(reasoning.history),
        }
    }
}

impl ContentReport {
    pub(in crate::derive) fn of(analysis: &Analysis) -> Self {
        Self {
            mode: match &analysis.content {
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
            open: analysis.content.open.clone().unwrap_or_default(),
            close: analysis.turn_end.marker().trim().to_owned(),
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
            Body::Json | Body::Dialect(_) | Body::Pairs(_) => None,
        };
        let path = |keys: &Vec<String>| keys.join(".");
        Self {
            mode: match calls.body {
                Body::Json | Body::Dialect(_) => ToolsMode::TagWithJson,
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
