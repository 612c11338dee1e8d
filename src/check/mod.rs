//! Recorded responses and what must hold for them: what a maintainer puts into CI.
//!
//! A [`Fixture`] is a response with the message that it must parse to. [`check`] parses it whole, in many chunkings, split
//! between prompt and response, and cut short, and says everything that is not as recorded, as [`Failure`]s.

mod compare;
mod cuts;
mod fixture;
mod laws;
mod replay;
mod run;

pub use compare::{Difference, differences};
pub use cuts::{Chunking, Effort};
pub use fixture::{ExpectedError, Fixture, FixtureError, Prompt, WrongPart};
pub use laws::{Broken, first_broken};
pub use replay::{Replay, Setting};
pub use run::{Failure, check};
