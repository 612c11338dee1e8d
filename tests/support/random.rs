//! Cases made up from a seed, the same for the same seed.

/// A small generator (SplitMix64). It says its seed, so that a failing run can be had again.
pub struct Random(u64);

impl Random {
    /// A generator with the seed in `OBVERSE_SEED`, or `default`.
    pub fn new(default: u64) -> Self {
        let seed = std::env::var("OBVERSE_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok())
            .unwrap_or(default);
        eprintln!("OBVERSE_SEED={seed}");
        Self(seed)
    }

    /// A generator for one part of a run, which does not depend on the others.
    pub fn part(seed: u64, part: u64) -> Self {
        Self(Self(seed ^ part.wrapping_mul(0xd6e8_feb8_6659_fd93)).next())
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of them.
    pub fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    /// Up to `most` of them in a row.
    pub fn text(&mut self, pieces: &[&str], most: usize) -> String {
        let count = self.below(most + 1);
        (0..count).map(|_| self.pick(pieces)).collect()
    }
}
