//! The limits of a parse.

/// The limits of a parse. A response that reaches one ends in an error of the kind [`super::ErrorKind::Limit`] that names
/// it; the parser reads no further then, and [`super::ResponseParser::message`] has what was parsed before.
///
/// The defaults are far beyond what a model writes; the reference has no limits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The text of one region, or of one stretch that no field takes, in bytes. The default is 256 MiB.
    pub region_bytes: usize,
    /// The text that is kept between two calls because a delimiter may be under way in it or may look back at it, in
    /// bytes. The default is 64 MiB.
    pub held_bytes: usize,
    /// How many regions with a value there are. The default is 1,000,000.
    pub regions: usize,
}

impl Limits {
    /// Sets [`Limits::region_bytes`].
    pub fn region_bytes(self, region_bytes: usize) -> Self {
        Self {
            region_bytes,
            ..self
        }
    }

    /// Sets [`Limits::held_bytes`].
    pub fn held_bytes(self, held_bytes: usize) -> Self {
        Self { held_bytes, ..self }
    }

    /// Sets [`Limits::regions`].
    pub fn regions(self, regions: usize) -> Self {
        Self { regions, ..self }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            region_bytes: 256 << 20,
            held_bytes: 64 << 20,
            regions: 1_000_000,
        }
    }
}
