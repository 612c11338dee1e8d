//! The delimiters of a response template as a parser looks for them: worked out once, for all its parses.

use super::Field;
use crate::pattern::{ByteSet, Pattern};

/// A delimiter that is looked for.
#[derive(Debug, Clone)]
pub(crate) struct Sought {
    /// The index of its field.
    pub(crate) field: usize,
    /// True if it opens the field's region; otherwise it closes it.
    pub(crate) opens: bool,
    /// Where the field's name stands among the names in code point order, which settles ties.
    pub(crate) rank: usize,
    pub(crate) pattern: Pattern,
    /// True if a match that ends with the text at hand waits for more text. In the reference every match waits there, except that of a
    /// literal which no other literal of its list extends.
    pub(crate) patient: bool,
    /// The bytes that it can begin with; `None` where they are not known.
    pub(crate) starts: Option<ByteSet>,
}

/// All delimiters of a template, and when each of them counts.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) sought: Vec<Sought>,
    /// The delimiters that count outside explicit regions: every open, and the implicit field's close.
    outside: Vec<usize>,
    /// For each field its close, if that is the delimiter that counts in the field's region.
    closes: Vec<Option<usize>>,
    /// The bytes with which the delimiters outside explicit regions can begin.
    outside_starts: Option<ByteSet>,
    /// How many bytes before the place where a delimiter may begin one of them may look at.
    pub(crate) lookbehind: usize,
    implicit: Option<usize>,
}

impl Sought {
    pub(crate) fn new(field: usize, opens: bool, rank: usize, pattern: &Pattern) -> Self {
        Self {
            field,
            opens,
            rank,
            pattern: pattern.clone(),
            patient: pattern.as_literals().is_none_or(extend_each_other),
            starts: pattern.first_bytes(),
        }
    }
}

impl Plan {
    pub(super) fn new(fields: &[Field], implicit: Option<usize>) -> Self {
        let mut by_name: Vec<usize> = (0..fields.len()).collect();
        by_name.sort_by(|&a, &b| fields[a].name.cmp(&fields[b].name));
        let mut sought = Vec::new();
        let mut outside = Vec::new();
        let mut closes = vec![None; fields.len()];
        for (rank, &field) in by_name.iter().enumerate() {
            let mut seek = |opens, pattern: &Pattern| {
                sought.push(Sought::new(field, opens, rank, pattern));
                sought.len() - 1
            };
            if let Some(open) = &fields[field].open {
                outside.push(seek(true, open));
            }
            if let Some(close) = &fields[field].close {
                let index = seek(false, close);
                if implicit == Some(field) {
                    outside.push(index);
                }
                closes[field] = Some(index);
            }
        }
        let outside_starts = outside
            .iter()
            .try_fold(ByteSet::default(), |starts, &index| {
                Some(starts.union(sought[index].starts.as_ref()?))
            });
        let lookbehind = sought.iter().map(|sought| sought.pattern.lookbehind());
        Self {
            lookbehind: lookbehind.max().unwrap_or(0),
            sought,
            outside,
            closes,
            outside_starts,
            implicit,
        }
    }

    /// The delimiters that count while a region of the field is open; without one, those outside explicit regions.
    pub(crate) fn counting(&self, field: Option<usize>) -> &[usize] {
        match field {
            Some(field) if self.implicit != Some(field) => self.closes[field].as_slice(),
            _ => &self.outside,
        }
    }

    /// The bytes with which these delimiters can begin; `None` where they are not known.
    pub(crate) fn starts(&self, field: Option<usize>) -> Option<&ByteSet> {
        const NOTHING: &ByteSet = &ByteSet::EMPTY;
        match field {
            Some(field) if self.implicit != Some(field) => match self.closes[field] {
                Some(close) => self.sought[close].starts.as_ref(),
                None => Some(NOTHING),
            },
            _ => self.outside_starts.as_ref(),
        }
    }
}

/// Returns true if one literal begins another.
fn extend_each_other(literals: &[String]) -> bool {
    literals.iter().any(|long| {
        literals
            .iter()
            .any(|short| long != short && long.starts_with(short.as_str()))
    })
}
