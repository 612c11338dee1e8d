//! Decisions: where the renders can be understood in several ways, all candidates are kept.
//!
//! An analysis takes the first candidate everywhere, which has the best evidence. Whoever runs it again can want another candidate for some
//! of the decisions; verification settles which one is right, not this module.

use std::cell::RefCell;

use crate::derive::compare::slot;

/// A candidate: one way to understand the renders, in words, and the value that the analysis goes on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate<T> {
    pub(super) description: Description,
    pub(super) value: T,
}

/// A candidate in words. Two that mean the same are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Description {
    /// The candidate's name among those of its decision.
    pub(super) name: String,
    /// The delimiter or shape that the candidate makes of what was seen.
    pub(super) means: String,
    /// The evidence for the candidate, or the reason for its rank among the others.
    pub(super) because: String,
}

/// A decision that came up, with its candidates and the index of the one that was taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MadeDecision {
    pub(super) decision: DecisionId,
    pub(super) candidates: Vec<Description>,
    pub(super) taken: usize,
}

/// A decision: something in the renders that can be understood in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum DecisionId {
    /// Where the assistant's turn begins.
    Anchor,
    /// Where the assistant's turn begins after a tool's result.
    AnchorAfterTool,
    /// The text after the last message that belongs to no message, which is the trailer.
    Trailer,
    /// The part of a render that is a generation prompt although nobody asked for one.
    UnaskedPrompt,
    /// How an answer is read: as one JSON object as a whole, or not.
    AnswerObject,
    /// The text that ends the assistant's turn.
    TurnEnd,
    /// How reasoning is read: not at all, or as one of the kinds of reasoning.
    Reasoning,
    /// The key under which messages have the reasoning.
    ReasoningKey,
    /// The text that opens the reasoning.
    ReasoningOpen,
    /// The text that closes the reasoning.
    ReasoningClose,
    /// How the delimiter that opens the reasoning is written.
    ReasoningOpenDelimiter,
    /// How the delimiter that closes the reasoning is written.
    ReasoningCloseDelimiter,
    /// How a reasoning is read that nothing has closed before a call: the call ends it, or does not.
    UnclosedReasoning,
    /// How texts beside the reasoning and the content are read: as fields of their own, or not.
    FurtherTexts,
    /// How a part is opened with whose opening text another part begins as well: whatever follows, or where that part does not begin.
    BegunAlike,
    /// The text that opens the content.
    ContentOpen,
    /// How the delimiter that closes the content is written.
    ContentClose,
    /// How text before and after calls is read: joined, or the last of it alone.
    TextAroundCalls,
    /// How calls are handed to the chat template.
    CallSpelling,
    /// The form in which calls are written.
    CallForm,
    /// How many calls of a message are read: all of them, or one.
    SeveralCalls,
    /// Which part of the text between two calls belongs to each of them.
    AroundCall,
    /// Where the calls end and the end of the turn begins.
    EndOfCalls,
    /// Where the id of a call is looked for: behind its body as well, or not.
    IdBehind,
    /// Where in a call's JSON its name is.
    NamePlace,
    /// Where in a call's JSON its arguments are.
    ArgumentsPlace,
    /// Where in a call's JSON its id is.
    IdPlace,
    /// Which text stands around each argument.
    AroundArgument,
    /// How values of arguments that stand apart from each other are read, such as JSON or plain text.
    ArgumentValues,
    /// How values that are no texts end: at the first text that closes them, or as lists and objects of JSON.
    OtherValues,
    /// How the white space before what closes a value is read: as what may be missing, or as it is written.
    ArgumentClose,
    /// How the text between two arguments is read: with any white space, or as it is written.
    BetweenArguments,
    /// How the first of the markers that open a call is read: as required, or as one that may be missing.
    CallLead,
    /// How the place of a call's id is read: as one that has an id, or as one that may be empty.
    CallId,
    /// How a call without arguments is read: in a form of its own, or as any other.
    NoArguments,
    /// Which characters a function's name has.
    FunctionNames,
    /// Where an argument's name ends.
    ArgumentNames,
    /// How a call between the markers of a list is read: as a call only where the list was opened, or anywhere.
    CallsInList,
    /// How the delimiter that opens a call is written.
    CallOpen,
    /// How the delimiter that closes a call is written.
    CallClose,
    /// Where a call ends that only brackets close.
    BareCallEnd,
}

impl DecisionId {
    /// Returns the decision's name in reports, which is stable.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::AnchorAfterTool => "anchor after a tool's result",
            Self::Trailer => "trailer",
            Self::UnaskedPrompt => "unasked prompt",
            Self::AnswerObject => "answer object",
            Self::TurnEnd => "turn end",
            Self::Reasoning => "reasoning",
            Self::ReasoningKey => "reasoning key",
            Self::ReasoningOpen => "reasoning open",
            Self::ReasoningClose => "reasoning close",
            Self::ReasoningOpenDelimiter => "reasoning open delimiter",
            Self::ReasoningCloseDelimiter => "reasoning close delimiter",
            Self::UnclosedReasoning => "unclosed reasoning",
            Self::FurtherTexts => "further texts",
            Self::BegunAlike => "parts that begin alike",
            Self::ContentOpen => "content open",
            Self::ContentClose => "content close",
            Self::TextAroundCalls => "text around calls",
            Self::CallSpelling => "call spelling",
            Self::CallForm => "call form",
            Self::SeveralCalls => "several calls",
            Self::AroundCall => "around a call",
            Self::EndOfCalls => "end of the calls",
            Self::IdBehind => "id behind a call",
            Self::NamePlace => "place of the name",
            Self::ArgumentsPlace => "place of the arguments",
            Self::IdPlace => "place of the id",
            Self::AroundArgument => "around an argument",
            Self::ArgumentValues => "argument values",
            Self::OtherValues => "values that are no texts",
            Self::ArgumentClose => "argument close",
            Self::BetweenArguments => "between arguments",
            Self::CallLead => "first marker of a call",
            Self::CallId => "id of a call",
            Self::NoArguments => "call without arguments",
            Self::FunctionNames => "names of functions",
            Self::ArgumentNames => "names of arguments",
            Self::CallsInList => "calls in a list",
            Self::CallOpen => "call open",
            Self::CallClose => "call close",
            Self::BareCallEnd => "end of a bare call",
        }
    }

    /// Returns the part of a message that the decision is about.
    pub(super) fn about(self) -> About {
        match self {
            Self::Anchor
            | Self::AnchorAfterTool
            | Self::Trailer
            | Self::UnaskedPrompt
            | Self::AnswerObject
            | Self::TurnEnd => About::Turn,
            Self::Reasoning
            | Self::ReasoningKey
            | Self::ReasoningOpen
            | Self::ReasoningClose
            | Self::ReasoningOpenDelimiter
            | Self::ReasoningCloseDelimiter
            | Self::UnclosedReasoning
            | Self::FurtherTexts
            | Self::BegunAlike => About::Reasoning,
            Self::ContentOpen | Self::ContentClose | Self::TextAroundCalls => About::Content,
            Self::CallSpelling => About::Spelling,
            Self::CallForm
            | Self::SeveralCalls
            | Self::AroundCall
            | Self::EndOfCalls
            | Self::IdBehind
            | Self::NamePlace
            | Self::ArgumentsPlace
            | Self::IdPlace
            | Self::AroundArgument
            | Self::ArgumentValues
            | Self::OtherValues
            | Self::ArgumentClose
            | Self::BetweenArguments
            | Self::CallLead
            | Self::CallId
            | Self::NoArguments
            | Self::FunctionNames
            | Self::ArgumentNames
            | Self::CallsInList
            | Self::CallOpen
            | Self::CallClose
            | Self::BareCallEnd => About::Calls,
        }
    }
}

/// The part of a message that a decision is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// The turn as a whole: where it begins and ends.
    Turn,
    Reasoning,
    Content,
    Calls,
    /// How the message is handed to the chat template. Another spelling is another text, which models need not write, so it tells nothing
    /// about a text that cannot be read.
    Spelling,
}

/// A candidate that is to be taken instead of the first one of its decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Preference {
    pub(super) decision: DecisionId,
    /// The candidate's name.
    pub(super) name: String,
}

/// The candidates that are to be taken, and the decisions that came up.
#[derive(Debug, Default)]
pub(super) struct Choices {
    wanted: RefCell<Vec<Preference>>,
    asked: RefCell<Vec<MadeDecision>>,
}

impl<T> Candidate<T> {
    pub(super) fn new(
        name: impl Into<String>,
        means: impl Into<String>,
        because: impl Into<String>,
        value: T,
    ) -> Self {
        let description = Description {
            name: name.into(),
            means: means.into(),
            because: because.into(),
        };
        Self { description, value }
    }
}

impl Choices {
    /// Begins anew, with these candidates to be taken.
    pub(super) fn want(&self, wanted: Vec<Preference>) {
        *self.wanted.borrow_mut() = wanted;
        self.asked.borrow_mut().clear();
    }

    /// Returns the decisions that came up since the last reset, in order.
    pub(super) fn asked(&self) -> Vec<MadeDecision> {
        self.asked.borrow().clone()
    }

    /// Returns the value of the candidate that is wanted; where none of them is wanted, that of the first, which is the best. `None` if
    /// there are no candidates.
    ///
    /// A decision may come up again, for another render: it is one decision, and is made in the same way.
    pub(super) fn choose<T>(
        &self,
        decision: DecisionId,
        candidates: impl IntoIterator<Item = Candidate<T>>,
    ) -> Option<T> {
        let mut told: Vec<Candidate<T>> = Vec::new();
        for candidate in candidates {
            if !told
                .iter()
                .any(|known| known.description.means == candidate.description.means)
            {
                told.push(candidate);
            }
        }
        let wanted = self.wanted.borrow();
        let taken = wanted
            .iter()
            .find(|wanted| wanted.decision == decision)
            .and_then(|wanted| {
                told.iter()
                    .position(|told| told.description.name == wanted.name)
            })
            .unwrap_or(0);
        let candidates = told.iter().map(|told| told.description.clone()).collect();
        self.record(decision, candidates, taken);
        told.into_iter().nth(taken).map(|told| told.value)
    }

    /// Decides between doing something and leaving it, and returns true for the first of these, which ranks higher. Each of the two
    /// candidates has its name, its meaning and its evidence.
    pub(super) fn whether(&self, decision: DecisionId, [so, otherwise]: [[&str; 3]; 2]) -> bool {
        let candidate =
            |[name, means, because]: [&str; 3], value| Candidate::new(name, means, because, value);
        let candidates = [candidate(so, true), candidate(otherwise, false)];
        self.choose(decision, candidates).unwrap_or_default()
    }

    fn record(&self, decision: DecisionId, candidates: Vec<Description>, taken: usize) {
        if candidates.is_empty() {
            return;
        }
        let mut asked = self.asked.borrow_mut();
        let Some(known) = asked.iter_mut().find(|known| known.decision == decision) else {
            asked.push(MadeDecision {
                decision,
                candidates,
                taken,
            });
            return;
        };
        for description in candidates {
            if !known
                .candidates
                .iter()
                .any(|other| other.name == description.name || other.means == description.means)
            {
                known.candidates.push(description);
            }
        }
    }
}

/// Describes a marker as the meaning of a candidate: quoted, with words in its slots, without the white space around it.
pub(super) fn marker(literal: &str) -> String {
    let literal = slot::show(literal.trim());
    crate::value::json::quote(&literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates() -> [Candidate<usize>; 3] {
        [
            Candidate::new("whole", "\"<a><b>\"", "both have it", 1),
            Candidate::new("the first", "\"<a>\"", "it may be enough", 2),
            Candidate::new("the shortest", "\"<a>\"", "nothing is shorter", 3),
        ]
    }

    #[test]
    fn the_first_candidate_is_taken_unless_another_is_wanted() {
        let choices = Choices::default();
        assert_eq!(choices.choose(DecisionId::TurnEnd, candidates()), Some(1));
        let wanted = |name: &str| {
            choices.want(vec![Preference {
                decision: DecisionId::TurnEnd,
                name: name.to_owned(),
            }]);
            choices.choose(DecisionId::TurnEnd, candidates())
        };
        assert_eq!(wanted("the first"), Some(2));
        assert_eq!(choices.asked()[0].taken, 1);
        assert_eq!(wanted("unheard of"), Some(1));
        let none: Vec<Candidate<u8>> = Vec::new();
        assert_eq!(choices.choose(DecisionId::Anchor, none), None);
        assert_eq!(choices.asked().len(), 1);
    }

    #[test]
    fn what_means_the_same_is_one_option() {
        let choices = Choices::default();
        choices.choose(DecisionId::TurnEnd, candidates());
        choices.choose(
            DecisionId::TurnEnd,
            [Candidate::new("another", "\"<c>\"", "", 4)],
        );
        let asked = choices.asked();
        let names: Vec<&str> = asked[0]
            .candidates
            .iter()
            .map(|o| o.name.as_str())
            .collect();
        assert_eq!(names, ["whole", "the first", "another"]);
    }
}
