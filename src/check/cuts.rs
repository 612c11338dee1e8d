//! Where to cut a response: the chunkings and the ends that a check tries.

use fastrand::Rng;

use crate::chunking::Chunking;

/// How much of what could be tried is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effort {
    /// Up to how many chunkings of a response are tried; a short response has fewer, and then all sizes are.
    pub chunkings: usize,
    /// How many bytes may be read again to try the ends of one response: what there is of the message is looked at for each. A
    /// response of which not every end can be tried within them is tried at a sample.
    pub truncation_bytes: usize,
    /// How many bytes may be parsed to try the splits of one response between prompt and response, in the same way.
    pub split_bytes: usize,
    /// The seed of the samples: with the same seed a response gets the same ones.
    pub seed: u64,
}

impl Default for Effort {
    /// Sixteen chunkings; every end of a response of up to 1 KiB; every split of one of up to 180 bytes.
    fn default() -> Self {
        Self {
            chunkings: 16,
            truncation_bytes: 512 << 10,
            split_bytes: 32 << 10,
            seed: 0,
        }
    }
}

impl Effort {
    /// The whole response in one piece, and nothing else.
    pub fn none() -> Self {
        Self {
            chunkings: 0,
            truncation_bytes: 0,
            split_bytes: 0,
            seed: 0,
        }
    }

    /// Sets the seed of the samples.
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Every chunk size of a response up to 1 KiB and as many cuts of a longer one; every end and every split of a response up to 16 KiB.
    pub fn thorough(seed: u64) -> Self {
        Self {
            chunkings: 1 << 10,
            truncation_bytes: 128 << 20,
            split_bytes: 256 << 20,
            seed,
        }
    }

    /// The chunkings to try beside the whole.
    pub fn chunkings(&self, response: &str) -> Vec<Chunking> {
        // From here on a single chunk is the whole response.
        let sizes = response.len().saturating_sub(1);
        if sizes <= self.chunkings {
            return (1..=sizes).map(Chunking::Bytes).collect();
        }
        let mut rng = self.rng(response);
        let small = self.chunkings.div_ceil(2);
        let larger = self.chunkings.div_ceil(4);
        let mut all: Vec<Chunking> = (1..=small).map(Chunking::Bytes).collect();
        all.extend((small..small + larger).map(|_| Chunking::Bytes(rng.usize(small + 1..=sizes))));
        while all.len() < self.chunkings {
            all.push(Chunking::Random(rng.u64(..)));
        }
        all
    }

    /// The ends to try: byte offsets inside the response at which a character ends, in ascending order.
    pub fn ends(&self, response: &str) -> Vec<usize> {
        // A response cut at each byte in turn is half of it on average.
        let affordable = self.truncation_bytes / (response.len() / 2).max(1);
        self.places(response, affordable)
    }

    /// The splits between prompt and response to try: byte offsets as those of [`ends`](Self::ends).
    pub fn splits(&self, response: &str) -> Vec<usize> {
        self.places(response, self.split_bytes / response.len().max(1))
    }

    /// All places between two characters, or a sample of about so many.
    fn places(&self, response: &str, affordable: usize) -> Vec<usize> {
        if response.len() <= affordable {
            return (0..response.len())
                .filter(|at| response.is_char_boundary(*at))
                .collect();
        }
        let mut rng = self.rng(response);
        let mut places: Vec<usize> = (0..affordable.max(1))
            .map(|_| response.floor_char_boundary(rng.usize(..response.len())))
            .collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    fn rng(&self, response: &str) -> Rng {
        // FNV-1a, so that a sample does not depend on the order or the number of fixtures.
        let hash = response.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Rng::with_seed(hash ^ self.seed)
    }
}

/// How a response is cut, in words.
pub(super) fn in_words(chunking: &Chunking) -> String {
    match chunking {
        Chunking::Bytes(1) => "byte by byte".to_owned(),
        Chunking::Bytes(size) => format!("in chunks of {size} bytes"),
        other => format!("in other chunks (`--chunks {other}`)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a\u{20ac}b\u{1f600}c and a longer tail of the text, of more than thirty-two bytes";

    #[test]
    fn every_chunking_cuts_the_response() {
        let tried = Effort {
            chunkings: 40,
            ..Effort::default()
        };
        let all = tried.chunkings(TEXT);
        assert_eq!(all.len(), 40);
        assert!(all.iter().any(|cut| matches!(cut, Chunking::Random(_))));
        for cut in all {
            let ends = cut.ends(TEXT, &[]).unwrap();
            assert!(ends.len() > 1, "{cut}");
        }
    }

    #[test]
    fn a_short_response_is_cut_in_every_size() {
        let all = Effort::default().chunkings("abcd");
        assert_eq!(all, [1, 2, 3].map(Chunking::Bytes));
        assert_eq!(Effort::default().chunkings(""), []);
    }

    #[test]
    fn the_ends_of_a_short_response_are_all_tried_and_of_a_long_one_a_sample() {
        assert_eq!(Effort::default().ends("a\u{20ac}b"), [0, 1, 4]);
        let long = "x".repeat(100_000);
        let ends = Effort::default().ends(&long);
        assert!((5..=10).contains(&ends.len()), "{}", ends.len());
        assert_eq!(ends, Effort::default().ends(&long), "the same each time");
        let other = Effort {
            seed: 1,
            ..Effort::default()
        };
        assert_ne!(ends, other.ends(&long));
        assert_eq!(Effort::default().splits("a\u{20ac}b"), [0, 1, 4]);
        assert_eq!(Effort::default().splits(&long).len(), 1);
    }
}
