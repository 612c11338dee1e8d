//! Numbers for tests that make up patterns and texts.

/// Numbers that look random and are the same each time, from a seed.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % end
    }

    /// One of these.
    pub(crate) fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }
}
