//! What a derivation took, and where the time went.

use std::ops::AddAssign;
use std::time::{Duration, Instant};

use super::lab::Lab;

/// What a derivation took, stage by stage. Nothing of it goes into a report, which is the same at every run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cost {
    /// Finding the format.
    pub analysis: Stage,
    /// Proving it.
    pub verification: Stage,
    /// Telling what the chat template supports.
    pub supports: Stage,
}

/// What one stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Stage {
    /// How many conversations were rendered.
    pub renders: usize,
    /// What rendering them took.
    pub rendering: Duration,
    /// What the stage took, rendering included.
    pub total: Duration,
}

impl Cost {
    /// All stages together.
    pub fn sum(&self) -> Stage {
        let mut sum = Stage::default();
        for stage in [self.analysis, self.verification, self.supports] {
            sum += stage;
        }
        sum
    }
}

impl AddAssign for Stage {
    fn add_assign(&mut self, other: Self) {
        self.renders += other.renders;
        self.rendering += other.rendering;
        self.total += other.total;
    }
}

/// Does the work of a stage, and measures it.
pub(super) fn measured<T>(lab: &Lab<'_>, work: impl FnOnce() -> T) -> (T, Stage) {
    let (renders, rendering) = lab.rendered();
    let started = Instant::now();
    let done = work();
    let total = started.elapsed();
    let (renders_after, rendering_after) = lab.rendered();
    let stage = Stage {
        renders: renders_after - renders,
        rendering: rendering_after - rendering,
        total,
    };
    (done, stage)
}
