//! The questions and answers of a render about origins. Without tracing each of these does nothing.

use std::ops::Range;

use super::Render;
use super::arguments::Arguments;
use super::object::{Py, View};
use super::text_rules::Ends;
use super::trace::{Taint, Text, Trace, Written};
use crate::chat_template::syntax::tree::{CompareOp, Span};

/// The kind of the value that might have been chosen instead of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Other {
    /// It could not be printed, or it carries the inputs that decided the choice.
    Telling,
    /// It does not carry these inputs.
    Silent,
}

impl Render<'_> {
    /// Notes which expression is evaluated. Text that comes from no input is put down to that expression.
    #[inline]
    pub(super) fn is_here(&self, span: Span) {
        if let Some(trace) = &self.trace {
            trace.set_here(span);
        }
    }

    /// Begins a text.
    #[inline]
    pub(super) fn written(&self) -> Written {
        Written::new(self.trace.as_ref())
    }

    /// The inputs of which a value was made, without those of its items.
    #[inline]
    pub(super) fn taint(&self, value: &Py) -> Taint {
        self.trace
            .as_ref()
            .map_or(Taint::NONE, |trace| trace.taint(value))
    }

    /// The inputs of which a value and all of its items were made.
    #[inline]
    pub(super) fn whole_taint(&self, value: &Py) -> Taint {
        self.trace
            .as_ref()
            .map_or(Taint::NONE, |trace| trace.whole_taint(value))
    }

    /// Returns the inputs from which a string was made.
    #[inline]
    pub(super) fn text_taint(&self, text: &Text) -> Taint {
        self.trace.as_ref().map_or(Taint::NONE, |trace| {
            trace.inputs_of_all(text.pieces()).derived()
        })
    }

    /// Returns the inputs from which the arguments were made, and all that these hold.
    #[inline]
    pub(super) fn arguments_taint(&self, args: &Arguments) -> Taint {
        let mut all = Taint::NONE;
        if self.trace.is_some() {
            for value in args
                .positional
                .iter()
                .chain(args.named.iter().map(|named| &named.1))
            {
                all = self.join(all, self.whole_taint(value));
            }
        }
        all
    }

    /// The inputs of something that is made of both.
    #[inline]
    pub(super) fn join(&self, a: Taint, b: Taint) -> Taint {
        match &self.trace {
            Some(trace) => trace.join(a, b),
            None => Taint::NONE,
        }
    }

    /// Notes that control flow read something made of these inputs.
    #[inline]
    pub(super) fn decided_by(&self, taint: Taint) {
        if let Some(trace) = &self.trace {
            trace.decide(taint);
        }
    }

    /// Notes that the truth of a value decides what happens, and returns it.
    #[inline]
    pub(super) fn decide(&self, value: &Py) -> bool {
        self.decide_shape(value);
        value.is_true()
    }

    /// Notes that what happens depends on how many items a value has or, for a scalar, on what it is.
    #[inline]
    pub(super) fn decide_shape(&self, value: &Py) {
        if let Some(trace) = &self.trace {
            match value {
                Py::Str(text) | Py::Markup(text) => {
                    for piece in text.pieces() {
                        trace.decide(trace.inputs_of(piece));
                    }
                }
                other => trace.decide(trace.taint(other)),
            }
        }
    }

    /// Returns the inputs because of which a lookup by a string found nothing in a value.
    pub(super) fn not_found(&self, value: &Py, key: &str) -> Taint {
        match (&self.trace, value) {
            (Some(trace), Py::Dict(dict)) => trace.not_found(dict.shape(), key),
            (Some(trace), other) => trace.taint(other),
            (None, _) => Taint::NONE,
        }
    }

    /// Returns the inputs because of which a value is where it was found in a dictionary.
    pub(super) fn member_taint(&self, dict: &Py, key: &Py, found: &Py) -> Taint {
        match (&self.trace, dict, key) {
            (Some(trace), Py::Dict(dict), Py::Str(key)) if dict.shape().is_itself() => {
                trace.not_found(dict.shape(), key)
            }
            (Some(trace), dict, _) => trace.join(trace.taint(dict), trace.taint(found)),
            (None, ..) => Taint::NONE,
        }
    }

    /// Returns the inputs on which a comparison depends.
    #[inline]
    pub(super) fn compared_taint(&self, op: CompareOp, left: &Py, right: &Py) -> Taint {
        match &self.trace {
            Some(trace) => compared(trace, op, left, right),
            None => Taint::NONE,
        }
    }

    /// Returns the inputs on which a test depends.
    #[inline]
    pub(super) fn tested_taint(&self, name: &str, subject: &Py, args: &Arguments) -> Taint {
        if self.trace.is_none() {
            return Taint::NONE;
        }
        match (name, args.positional.first()) {
            ("in", Some(other)) => self.compared_taint(CompareOp::In, subject, other),
            (_, Some(other)) => self.join(
                self.compared_taint(CompareOp::Eq, subject, other),
                self.arguments_taint(args),
            ),
            (_, None) => self
                .join(self.taint(subject), self.arguments_taint(args))
                .derived(),
        }
    }

    /// Notes that the place of what is put under a key depends on the dictionary of that shape having the key already.
    pub(super) fn decide_place(&self, shape: Taint, key: &str) {
        if let Some(trace) = &self.trace {
            trace.decide(trace.not_found(shape, key));
        }
    }

    /// Notes that what happens depends on all that a value is and holds.
    #[inline]
    pub(super) fn decide_whole(&self, value: &Py) {
        if self.trace.is_some() {
            self.decided_by(self.whole_taint(value));
        }
    }

    /// Notes that those of these arguments that are given decide what happens.
    pub(super) fn decide_options(&self, options: &[&Option<Py>]) {
        options
            .iter()
            .filter_map(|option| option.as_ref())
            .for_each(|option| self.decide_whole(option));
    }

    /// Returns the inputs from which an item at an end of a value is told. It depends on how many items there are, which is noted, unless
    /// it is the first item of an input.
    pub(super) fn end_shape(&self, value: &Py, is_first: bool) -> Taint {
        let shape = self.taint(value);
        match value {
            Py::Str(text) => self.cut_by(text, Taint::NONE),
            Py::List(list) if is_first && list.shape().is_itself() => {}
            _ => self.decided_by(shape),
        }
        shape
    }

    /// Returns the inputs from which a part of a text was made.
    pub(super) fn taint_in(&self, text: &Text, range: &Range<usize>) -> Taint {
        let mut all = Taint::NONE;
        if let Some(trace) = &self.trace {
            text.each_in(range, |piece| {
                all = trace.join(all, trace.inputs_of(&piece))
            });
        }
        all
    }

    /// An empty string that is there because of inputs.
    pub(super) fn nothing(&self, taint: Taint) -> Py {
        let mut written = self.written();
        written.push_nothing(taint);
        Py::Str(written.finish())
    }

    /// Returns a value that was computed from inputs, with these beside the inputs that it is known to be made of already.
    pub(super) fn made_of(&self, value: Py, taint: Taint) -> Py {
        let Some(trace) = &self.trace else {
            return value;
        };
        match value {
            Py::Str(text) if text.is_unknown() || (text.is_empty() && text.pieces().is_empty()) => {
                let mut written = self.written();
                written.push_of(&text, taint);
                if text.is_empty() {
                    written.push_nothing(taint);
                }
                Py::Str(written.finish())
            }
            value if value.is_scalar() => {
                let own = trace.taint(&value);
                value.with_taint(trace.join(own, taint).derived())
            }
            value => value,
        }
    }

    /// Returns a value that was chosen because of inputs. A scalar carries these inputs itself, and a text that comes from just these
    /// inputs names them as well. Of every other value, and where the other one does not carry them, it is noted that the inputs decided.
    pub(super) fn chosen_by(&self, value: Py, taint: Taint, other: Other) -> Py {
        let Some(trace) = self.trace.as_ref().filter(|_| !taint.is_none()) else {
            return value;
        };
        let own = trace.taint(&value);
        if matches!(&value, Py::Str(text) if text.is_empty()) {
            if other == Other::Silent {
                trace.decide(taint);
            }
            return self.nothing(trace.join(own, taint));
        }
        let tells = match &value {
            Py::Str(text) => own.node() == taint.node() && trace.is_of_one(text.pieces()),
            value => value.is_scalar(),
        };
        if !tells || other == Other::Silent {
            trace.decide(taint);
        }
        if !value.is_scalar() || own.node() == taint.node() {
            return value;
        }
        value.with_taint(trace.join(own, taint).derived())
    }

    /// Notes that inputs decide where a part of a text starts and ends. That does not matter where all of the text comes from that one
    /// input.
    pub(super) fn cut_by(&self, text: &Text, taint: Taint) {
        if let Some(trace) = &self.trace {
            let own = trace.inputs_of_all(text.pieces()).derived();
            let of_one = trace.is_of_one(text.pieces());
            if !of_one {
                trace.decide(own);
            }
            if !of_one || own != taint.derived() {
                trace.decide(taint);
            }
        }
    }

    /// A part of a text that was found by looking at the text.
    pub(super) fn found_part(&self, text: &Text, part: &str) -> Text {
        match text.range_of(part) {
            Some(range) => text.part(range),
            None => self.nothing_of(text),
        }
    }

    /// An empty string with the inputs of a text, because of which it is empty.
    pub(super) fn nothing_of(&self, text: &Text) -> Text {
        let mut written = self.written();
        written.push_nothing(self.text_taint(text));
        written.finish()
    }

    /// Notes the inputs that were looked at when a text was stripped, or cut down to a range: from either end up to the first character
    /// that stays.
    pub(super) fn trimmed(&self, text: &Text, kept: &Range<usize>, ends: Ends) {
        let Some(trace) = &self.trace else { return };
        let own = trace.inputs_of_all(text.pieces()).derived();
        if own.is_none() {
            return;
        }
        if trace.is_of_one(text.pieces()) {
            return;
        }
        let next = text[kept.start..].chars().next().map_or(0, char::len_utf8);
        let last = text[..kept.end]
            .chars()
            .next_back()
            .map_or(0, char::len_utf8);
        let (start, end) = (0..kept.start + next, kept.end - last..text.len());
        let looked_at = match ends {
            Ends::Start => [start, 0..0],
            Ends::End => [0..0, end],
            Ends::Both => [start, end],
        };
        for range in looked_at.into_iter().filter(|range| !range.is_empty()) {
            text.each_in(&range, |piece| trace.decide(trace.inputs_of(&piece)));
        }
    }
}

fn compared(trace: &Trace, op: CompareOp, left: &Py, right: &Py) -> Taint {
    let parts = |value: &Py| !value.is_scalar() && value.as_str().is_none();
    let right_taint = match (op, right) {
        (CompareOp::In | CompareOp::NotIn, Py::Dict(dict) | Py::View(View::Keys, dict)) => {
            match left.as_str() {
                Some(key) => match dict.get_str(key) {
                    // The place where a member of an input is, or would be, stands for the question whether it is there.
                    Some(_) if !dict.shape().is_itself() => dict.shape(),
                    _ => trace.not_found(dict.shape(), key),
                },
                None => dict.shape(),
            }
        }
        (CompareOp::In | CompareOp::NotIn, right) => trace.whole_taint(right),
        (_, right) if parts(left) && parts(right) => trace.whole_taint(right),
        (_, right) => trace.taint(right),
    };
    let left_taint = if parts(left) && parts(right) {
        trace.whole_taint(left)
    } else {
        trace.taint(left)
    };
    trace.join(left_taint, right_taint)
}
