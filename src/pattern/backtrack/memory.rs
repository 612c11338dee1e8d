//! A memory of what a search has tried in vain, so that nothing is tried twice.

/// The positions at which an instruction was carried out and came to nothing, as bits.
#[derive(Debug, Clone, Default)]
pub(super) struct Memory {
    /// The position of the first bit, a multiple of 64.
    first: usize,
    bits: Vec<u64>,
}

impl Memory {
    /// Adds a position; false when it was there.
    pub(super) fn insert(&mut self, at: usize) -> bool {
        if self.bits.is_empty() || at < self.first {
            // Text before the search is seen only by looking back, and seldom.
            self.clear();
            self.first = at / 64 * 64;
        }
        let (word, bit) = ((at - self.first) / 64, 1 << (at % 64));
        if self.bits.len() <= word {
            self.bits.resize(word + 1, 0);
        }
        let new = self.bits[word] & bit == 0;
        self.bits[word] |= bit;
        new
    }

    pub(super) fn clear(&mut self) {
        self.bits.clear();
    }

    /// Gives up what no later try comes to, when that is at least half of it.
    pub(super) fn forget_before(&mut self, at: usize) {
        let words = at.saturating_sub(self.first) / 64;
        if words >= self.bits.len() {
            self.bits.clear();
        } else if words > self.bits.len() / 2 {
            self.bits.drain(..words);
            self.first += 64 * words;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Memory;

    #[test]
    fn it_knows_what_was_added_until_that_is_forgotten() {
        let mut memory = Memory::default();
        assert!(memory.insert(100) && memory.insert(1000) && memory.insert(101));
        assert!(!memory.insert(100) && !memory.insert(1000));
        memory.forget_before(900);
        assert!(!memory.insert(1000));
        assert!(memory.insert(999));
        memory.forget_before(5000);
        assert!(memory.bits.is_empty());
        assert!(memory.insert(5000) && !memory.insert(5000));
        memory.clear();
        assert!(memory.insert(5000));
    }

    #[test]
    fn it_begins_anew_before_its_first_position() {
        let mut memory = Memory::default();
        assert!(memory.insert(640) && memory.insert(10));
        assert!(!memory.insert(10));
    }
}
