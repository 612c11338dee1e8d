//! The time and the renders that a derivation takes, by stage.

use std::ops::AddAssign;
use std::time::Duration;

use web_time::Instant;

use super::renderer::Renderer;
use crate::judge::Judge;

/// The time and the renders that a derivation took, stage by stage. Nothing of it goes into a report, which is the same at every run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cost {
    /// The stage of rendering all messages that there are, before anything is derived.
    pub setup: Stage,
    /// The stage of finding the format.
    pub analysis: Stage,
    /// The stage of proving the response template.
    pub verification: Stage,
    /// The stage of changing it where renders do not show everything, with the proofs that this takes.
    pub amendments: Stage,
    /// The stage of trying how much it bears of what models write otherwise than they are rendered.
    pub deviations: Stage,
    /// The stage of finding out which features the chat template supports.
    pub supports: Stage,
    /// The stage of finding the places in the chat template that write the markers.
    pub places: Stage,
}

/// The time and the renders that one stage took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stage {
    /// How many conversations were rendered.
    pub renders: usize,
    /// The time that rendering them took.
    pub rendering: Duration,
    /// The time that the stage took, rendering included.
    pub total: Duration,
}

impl Cost {
    /// All stages together.
    pub fn sum(&self) -> Stage {
        let mut sum = Stage::default();
        for stage in self.stages() {
            sum += *stage;
        }
        sum
    }

    fn stages(&self) -> [&Stage; 7] {
        [
            &self.setup,
            &self.analysis,
            &self.verification,
            &self.amendments,
            &self.deviations,
            &self.supports,
            &self.places,
        ]
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.setup += other.setup;
        self.analysis += other.analysis;
        self.verification += other.verification;
        self.amendments += other.amendments;
        self.deviations += other.deviations;
        self.supports += other.supports;
        self.places += other.places;
    }
}

impl AddAssign for Stage {
    fn add_assign(&mut self, other: Self) {
        self.renders += other.renders;
        self.rendering += other.rendering;
        self.total += other.total;
    }
}

/// A renderer that counts its renders.
pub(in crate::derive) trait Renders {
    /// Returns how many renders were made so far, and how long they took.
    fn rendered(&self) -> (usize, Duration);
}

impl Renders for Renderer<'_> {
    fn rendered(&self) -> (usize, Duration) {
        self.rendered()
    }
}

impl Renders for Judge<'_> {
    fn rendered(&self) -> (usize, Duration) {
        self.rendered()
    }
}

/// The stage that began then, and in which the renderer made all its renders.
pub(in crate::derive) fn since(started: Instant, renderer: &impl Renders) -> Stage {
    let (renders, rendering) = renderer.rendered();
    Stage {
        renders,
        rendering,
        total: started.elapsed(),
    }
}

/// Does the work of a stage, and measures it.
pub(in crate::derive) fn measured<T>(
    renderer: &impl Renders,
    work: impl FnOnce() -> T,
) -> (T, Stage) {
    let (renders, rendering) = renderer.rendered();
    let started = Instant::now();
    let done = work();
    let total = started.elapsed();
    let (renders_after, rendering_after) = renderer.rendered();
    let stage = Stage {
        renders: renders_after - renders,
        rendering: rendering_after - rendering,
        total,
    };
    (done, stage)
}
