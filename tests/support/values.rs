//! Values made up at random, such as messages and arguments hold.

use obverse::value::Value;

use super::comparison::parsed;
use super::random::Random;

/// A value that nests at most `depth` deep.
pub fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 10 }) {
        0..3 => parsed(random.pick(SCALARS)),
        3..6 => Value::from(string(random)),
        6 | 7 => Value::Array(
            (0..random.below(4))
                .map(|_| value(random, depth - 1))
                .collect(),
        ),
        _ => Value::Object(
            (0..random.below(4))
                .map(|_| (string(random), value(random, depth - 1)))
                .collect(),
        ),
    }
}

/// A short text of characters that are written in different ways.
pub fn string(random: &mut Random) -> String {
    random.text(PIECES, 4)
}

#[rustfmt::skip]
const SCALARS: &[&str] = &[
    "null", "true", "false", "0", "-7", "10000000000000000000000", "1.0", "0.1", "1e16", "1e-5", "123456.789", "NaN",
    "-Infinity", "5e-324", "1.7976931348623157e308", "-0.0", "9007199254740993", "1e22", "1e15", "123456789012345680.0",
];

#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b", "name", " ", "'", "\"", "\\", "\n", "\t", "é", "🦀", "\u{1}", "\u{7f}", "\u{a0}", "\u{ad}", "\u{200b}",
    "\u{2028}", "\u{e000}", "\u{378}", "\u{1f}", "{", "}", "<", "&", "1", "true", "\u{10ffff}", "中",
];
