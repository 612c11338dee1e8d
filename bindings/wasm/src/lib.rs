//! Obverse for JavaScript: arguments in, results out. What is nicer said in JavaScript is in the package around it.

mod convert;
mod parser;
#[cfg(feature = "workbench")]
mod workbench;
