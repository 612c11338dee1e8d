//! The parser, by what it is to hold to: the cases that are written down, the differences from the reference, its options,
//! its limits, malformed responses, and when text comes.

mod cases;
mod differences;
mod json_strings;
mod limits;
mod malformed;
mod promptness;
