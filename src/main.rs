//! The `obverse` binary.

fn main() {}
