//! Recorded responses and what must hold for them: what a maintainer puts into CI.
//!
//! A [`Fixture`] is a response with the message that it must parse to. [`check`] parses it whole, in many chunkings, split
//! between prompt and response, and cut short, and says everything that is not as recorded, as [`Failure`]s.

mod cause;
mod change;
mod compare;
mod cuts;
mod derivation;
mod disallowed;
mod explain;
mod fixture;
mod kinds;
mod laws;
mod near;
mod prompt;
#[doc(hidden)]
pub mod reference;
mod rendered;
mod replay;
mod run;
mod scaffold;
mod suite;

pub use compare::{Difference, differences};
pub use cuts::Effort;
pub use disallowed::disallowed;
pub use fixture::{ExpectedError, Fixture, FixtureError, Prompt, WrongPart};
pub use laws::Broken;
pub use prompt::PromptError;
pub use rendered::{Rendered, rendered_otherwise};
pub use replay::{Replay, Setting};
pub use run::{Failure, check};
pub use suite::{FixtureFile, find};

// Only the binary and the debugger use these. They are no part of the library's interface and may change with any release.
#[doc(hidden)]
pub use change::FileChange;
#[doc(hidden)]
pub use derivation::{Disagreement, Rederived, rederive};
#[doc(hidden)]
pub use explain::{DocumentText, explain};
#[doc(hidden)]
pub use kinds::{DisagreementKind, What, kinds};
#[doc(hidden)]
pub use laws::first_broken;
#[doc(hidden)]
pub use scaffold::{Scaffold, scaffold};
#[doc(hidden)]
pub use suite::{additions, changes, is_suite_path, template_around, template_in};
