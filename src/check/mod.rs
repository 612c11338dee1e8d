//! Recorded responses and what must hold for them: what a maintainer puts into CI.
//!
//! A [`Fixture`] is a response with the message that it must parse to. [`check`] parses it whole, in many chunkings, split
//! between prompt and response, and cut short, and says everything that is not as recorded, as [`Failure`]s.

mod cause;
mod compare;
mod cuts;
mod derivation;
mod explain;
mod fixture;
mod kinds;
mod laws;
mod near;
mod prompt;
pub mod reference;
mod replay;
mod run;
mod scaffold;
mod suite;

pub use compare::{Difference, differences};
pub use cuts::Effort;
pub use derivation::{Disagreement, Rederived, rederive};
pub use explain::{Written, explain};
pub use fixture::{ExpectedError, Fixture, FixtureError, Prompt, WrongPart};
pub use kinds::{Kind, What, kinds};
pub use laws::{Broken, first_broken};
pub use prompt::PromptError;
pub use replay::{Replay, Setting};
pub use run::{Failure, check};
pub use scaffold::{Scaffold, scaffold};
pub use suite::{Change, Found, additions, changes, find, is_suite_path, template_around};
