//! The parser, by what it is to hold to: the cases that are written down, the differences from the reference, its options,
//! its limits, malformed responses, when text comes, and the words of its errors.

mod cases;
mod differences;
mod json_strings;
mod limits;
mod malformed;
mod promptness;
mod wordings;
