//! The memory of steps and places that need not be tried again.

/// For each step the places at which it was carried out, as bits.
#[derive(Debug)]
pub(super) struct Memory {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    bits: Vec<u64>,
    /// The words that have bits: these are taken back.
    first: usize,
    end: usize,
}

impl Memory {
    /// For so many steps.
    pub(super) fn new(steps: usize) -> Self {
        Self {
            rows: vec![Row::default(); steps],
        }
    }

    /// Forgets everything; the work is in proportion to what is forgotten.
    pub(super) fn clear(&mut self) {
        for row in &mut self.rows {
            row.bits[row.first..row.end].fill(0);
            (row.first, row.end) = (0, 0);
        }
    }

    /// The first place from `from` to `to`, both included, at which the step was carried out.
    pub(super) fn first(&self, step: usize, from: usize, to: usize) -> Option<usize> {
        let row = &self.rows[step];
        let last = (to / 64).min(row.bits.len().checked_sub(1)?);
        for word in from / 64..=last {
            let mut bits = row.bits[word];
            if word == from / 64 {
                bits &= u64::MAX << (from % 64);
            }
            if bits != 0 {
                let found = word * 64 + bits.trailing_zeros() as usize;
                return (found <= to).then_some(found);
            }
        }
        None
    }

    /// Adds the places from `from` to `to`, both included.
    pub(super) fn add(&mut self, step: usize, from: usize, to: usize) {
        let row = &mut self.rows[step];
        let (first, last) = (from / 64, to / 64);
        if row.bits.len() <= last {
            row.bits.resize(last + 1, 0);
        }
        if row.end == 0 {
            (row.first, row.end) = (first, last + 1);
        } else {
            (row.first, row.end) = (row.first.min(first), row.end.max(last + 1));
        }
        for word in first..=last {
            let mut bits = u64::MAX;
            if word == first {
                bits &= u64::MAX << (from % 64);
            }
            if word == last {
                bits &= u64::MAX >> (63 - to % 64);
            }
            row.bits[word] |= bits;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn places_are_found_until_they_are_forgotten() {
        let mut memory = Memory::new(2);
        assert_eq!(memory.first(0, 0, 1000), None);
        memory.add(0, 60, 130);
        memory.add(0, 640, 640);
        for (from, to, found) in [
            (0, 1000, Some(60)),
            (61, 1000, Some(61)),
            (131, 1000, Some(640)),
            (0, 59, None),
            (131, 639, None),
            (641, 1000, None),
            (640, 640, Some(640)),
        ] {
            assert_eq!(memory.first(0, from, to), found, "{from}..={to}");
        }
        assert_eq!(memory.first(1, 0, 1000), None);
        memory.clear();
        assert_eq!(memory.first(0, 0, 1000), None);
        memory.add(0, 3, 3);
        assert_eq!(memory.first(0, 0, 1000), Some(3));
    }
}
