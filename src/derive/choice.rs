//! Questions with more than one answer: what was seen can be read in several ways, and all of them are kept.
//!
//! An analysis takes the first way everywhere, which has the best evidence. Whoever runs it again can want another way at
//! some of the questions; what comes of that is settled by verification, not here.

use std::cell::RefCell;

/// One way to read what was seen, and what it leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reading<T> {
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
    pub(super) question: &'static str,
    pub(super) about: About,
    pub(super) options: Vec<Offer>,
    pub(super) taken: usize,
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
    pub(super) question: &'static str,
    pub(super) way: String,
}

/// What is to be answered otherwise, and what was asked.
#[derive(Debug, Default)]
pub(super) struct Choices {
    wanted: RefCell<Vec<Wanted>>,
    asked: RefCell<Vec<Asked>>,
}

impl<T> Reading<T> {
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
        question: &'static str,
        about: About,
        readings: impl IntoIterator<Item = Reading<T>>,
    ) -> Option<T> {
        let mut told: Vec<Reading<T>> = Vec::new();
        for reading in readings {
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
        self.record(question, about, options, taken);
        told.into_iter().nth(taken).map(|told| told.value)
    }

    /// Whether to do something, each way with its name, its meaning and the evidence: to do it is the best way.
    pub(super) fn whether(
        &self,
        question: &'static str,
        about: About,
        [so, otherwise]: [[&str; 3]; 2],
    ) -> bool {
        let reading =
            |[way, means, because]: [&str; 3], value| Reading::new(way, means, because, value);
        let readings = [reading(so, true), reading(otherwise, false)];
        self.choose(question, about, readings).unwrap_or_default()
    }

    fn record(&self, question: &'static str, about: About, options: Vec<Offer>, taken: usize) {
        if options.is_empty() {
            return;
        }
        let mut asked = self.asked.borrow_mut();
        let Some(known) = asked.iter_mut().find(|known| known.question == question) else {
            asked.push(Asked {
                question,
                about,
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
    let literal = super::slot::show(literal.trim());
    crate::value::json::quote(&literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn readings() -> [Reading<usize>; 3] {
        [
            Reading::new("whole", "\"<a><b>\"", "both have it", 1),
            Reading::new("the first", "\"<a>\"", "it may be enough", 2),
            Reading::new("the shortest", "\"<a>\"", "nothing is shorter", 3),
        ]
    }

    #[test]
    fn the_first_way_is_taken_unless_another_is_wanted() {
        let choices = Choices::default();
        assert_eq!(choices.choose("end", About::Turn, readings()), Some(1));
        let wanted = |way: &str| {
            choices.want(vec![Wanted {
                question: "end",
                way: way.to_owned(),
            }]);
            choices.choose("end", About::Turn, readings())
        };
        assert_eq!(wanted("the first"), Some(2));
        assert_eq!(choices.asked()[0].taken, 1);
        assert_eq!(wanted("unheard of"), Some(1));
        let none: Vec<Reading<u8>> = Vec::new();
        assert_eq!(choices.choose("other", About::Turn, none), None);
        assert_eq!(choices.asked().len(), 1);
    }

    #[test]
    fn what_means_the_same_is_one_option() {
        let choices = Choices::default();
        choices.choose("end", About::Turn, readings());
        choices.choose(
            "end",
            About::Turn,
            [Reading::new("another", "\"<c>\"", "", 4)],
        );
        let asked = choices.asked();
        let ways: Vec<&str> = asked[0].options.iter().map(|o| o.way.as_str()).collect();
        assert_eq!(ways, ["whole", "the first", "another"]);
    }
}
