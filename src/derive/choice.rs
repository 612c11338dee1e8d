//! Questions with more than one answer: what was seen can be read in several ways, and all of them are kept.
//!
//! An analysis takes the first way everywhere, which has the best evidence. Whoever runs it again can want another way at
//! some of the questions; what comes of that is settled by verification, not here.

use std::cell::RefCell;

use crate::derive::compare::slot;

/// One way to read what was seen, and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate<T> {
    pub(super) option: Offer,
    pub(super) value: T,
}

/// A way to read what was seen, in words. Two that mean the same are one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Offer {
    /// Its name among the ways of its question.
    pub(super) way: String,
    /// What it makes of what was seen: a delimiter, a shape.
    pub(super) means: String,
    /// The evidence for it, or what ranks it where it stands.
    pub(super) because: String,
}

/// A question that was asked, with the ways to answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) question: Question,
    pub(super) options: Vec<Offer>,
    pub(super) taken: usize,
}

/// What can be read in several ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Question {
    /// Where the assistant's turn begins.
    Anchor,
    /// Where it begins after a tool's result.
    AnchorAfterTool,
    /// What is written after the last message that belongs to none.
    Trailer,
    /// What of a render is a generation prompt that nobody asked for.
    UnaskedPrompt,
    /// Whether the whole answer is one JSON object.
    AnswerObject,
    /// What ends the turn.
    TurnEnd,
    /// Whether there is reasoning, and of which kind.
    Reasoning,
    /// Under which key messages have it.
    ReasoningKey,
    /// What opens it.
    ReasoningOpen,
    /// What closes it.
    ReasoningClose,
    /// How the delimiter that opens it is written.
    ReasoningOpenDelimiter,
    /// How the delimiter that closes it is written.
    ReasoningCloseDelimiter,
    /// Whether a call ends a reasoning that nothing has closed.
    UnclosedReasoning,
    /// Whether texts beside the reasoning and the content are fields.
    FurtherTexts,
    /// What opens the content.
    ContentOpen,
    /// How the delimiter that closes it is written.
    ContentClose,
    /// What becomes of text before and after calls.
    TextAroundCalls,
    /// How calls are handed to the chat template.
    CallSpelling,
    /// In which form calls are written.
    CallForm,
    /// Whether several calls are read, or one.
    SeveralCalls,
    /// What belongs to each of several calls.
    AroundCall,
    /// Where the calls end and the end of the turn begins.
    EndOfCalls,
    /// Whether the id behind a call is looked for.
    IdBehind,
    /// Where in a call's JSON its name is.
    NamePlace,
    /// Where its arguments are.
    ArgumentsPlace,
    /// Where its id is.
    IdPlace,
    /// What stands around an argument.
    AroundArgument,
    /// What the values of arguments are that stand apart.
    ArgumentValues,
    /// Whether the first of the markers that open a call may be missing.
    CallLead,
    /// Which characters a function's name has.
    FunctionNames,
    /// Where an argument's name ends.
    ArgumentNames,
    /// Whether a call is one only where a list was opened.
    CallsInList,
    /// How the delimiter that opens a call is written.
    CallOpen,
    /// How the delimiter that closes a call is written.
    CallClose,
    /// Where a call ends that only brackets close.
    BareCallEnd,
}

impl Question {
    /// Its name in reports, which is stable.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Anchor => "anchor",
            Self::AnchorAfterTool => "anchor after a tool's result",
            Self::Trailer => "afterword",
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
            Self::CallLead => "first marker of a call",
            Self::FunctionNames => "names of functions",
            Self::ArgumentNames => "names of arguments",
            Self::CallsInList => "calls in a list",
            Self::CallOpen => "call open",
            Self::CallClose => "call close",
            Self::BareCallEnd => "end of a bare call",
        }
    }

    /// The part of a message that it is about.
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
            | Self::FurtherTexts => About::Reasoning,
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
            | Self::CallLead
            | Self::FunctionNames
            | Self::ArgumentNames
            | Self::CallsInList
            | Self::CallOpen
            | Self::CallClose
            | Self::BareCallEnd => About::Calls,
        }
    }
}

/// The part of a message that a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// Where it begins and ends.
    Turn,
    Reasoning,
    Content,
    Calls,
    /// How the message is handed to the chat template. Another spelling is another text, which models need not write: it says
    /// nothing of what cannot be read.
    Spelling,
}

/// A question that is to be answered in another way than the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) question: Question,
    pub(super) way: String,
}

/// What is to be answered otherwise, and what was asked.
#[derive(Debug, Default)]
pub(super) struct Choices {
    wanted: RefCell<Vec<Wanted>>,
    asked: RefCell<Vec<Asked>>,
}

impl<T> Candidate<T> {
    pub(super) fn new(
        way: impl Into<String>,
        means: impl Into<String>,
        because: impl Into<String>,
        value: T,
    ) -> Self {
        let option = Offer {
            way: way.into(),
            means: means.into(),
            because: because.into(),
        };
        Self { option, value }
    }
}

impl Choices {
    /// Begins anew, with these answers.
    pub(super) fn want(&self, wanted: Vec<Wanted>) {
        *self.wanted.borrow_mut() = wanted;
        self.asked.borrow_mut().clear();
    }

    /// What was asked since, in order.
    pub(super) fn asked(&self) -> Vec<Asked> {
        self.asked.borrow().clone()
    }

    /// The reading that is wanted of those offered, the best first; the best where none of them is. `None` if there are none.
    ///
    /// A question may be asked again, of another render: it is one question, and answered in the same way.
    pub(super) fn choose<T>(
        &self,
        question: Question,
        candidates: impl IntoIterator<Item = Candidate<T>>,
    ) -> Option<T> {
        let mut told: Vec<Candidate<T>> = Vec::new();
        for reading in candidates {
            if !told
                .iter()
                .any(|known| known.option.means == reading.option.means)
            {
                told.push(reading);
            }
        }
        let wanted = self.wanted.borrow();
        let taken = wanted
            .iter()
            .find(|wanted| wanted.question == question)
            .and_then(|wanted| told.iter().position(|told| told.option.way == wanted.way))
            .unwrap_or(0);
        let options = told.iter().map(|told| told.option.clone()).collect();
        self.record(question, options, taken);
        told.into_iter().nth(taken).map(|told| told.value)
    }

    /// Whether to do something, each way with its name, its meaning and the evidence: to do it is the best way.
    pub(super) fn whether(&self, question: Question, [so, otherwise]: [[&str; 3]; 2]) -> bool {
        let reading =
            |[way, means, because]: [&str; 3], value| Candidate::new(way, means, because, value);
        let candidates = [reading(so, true), reading(otherwise, false)];
        self.choose(question, candidates).unwrap_or_default()
    }

    fn record(&self, question: Question, options: Vec<Offer>, taken: usize) {
        if options.is_empty() {
            return;
        }
        let mut asked = self.asked.borrow_mut();
        let Some(known) = asked.iter_mut().find(|known| known.question == question) else {
            asked.push(Asked {
                question,
                options,
                taken,
            });
            return;
        };
        for option in options {
            if !known
                .options
                .iter()
                .any(|other| other.way == option.way || other.means == option.means)
            {
                known.options.push(option);
            }
        }
    }
}

/// A marker as one reading's meaning: quoted, with words in its slots, without the white space around it.
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
    fn the_first_way_is_taken_unless_another_is_wanted() {
        let choices = Choices::default();
        assert_eq!(choices.choose(Question::TurnEnd, candidates()), Some(1));
        let wanted = |way: &str| {
            choices.want(vec![Wanted {
                question: Question::TurnEnd,
                way: way.to_owned(),
            }]);
            choices.choose(Question::TurnEnd, candidates())
        };
        assert_eq!(wanted("the first"), Some(2));
        assert_eq!(choices.asked()[0].taken, 1);
        assert_eq!(wanted("unheard of"), Some(1));
        let none: Vec<Candidate<u8>> = Vec::new();
        assert_eq!(choices.choose(Question::Anchor, none), None);
        assert_eq!(choices.asked().len(), 1);
    }

    #[test]
    fn what_means_the_same_is_one_option() {
        let choices = Choices::default();
        choices.choose(Question::TurnEnd, candidates());
        choices.choose(
            Question::TurnEnd,
            [Candidate::new("another", "\"<c>\"", "", 4)],
        );
        let asked = choices.asked();
        let ways: Vec<&str> = asked[0].options.iter().map(|o| o.way.as_str()).collect();
        assert_eq!(ways, ["whole", "the first", "another"]);
    }
}
