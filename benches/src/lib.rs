//! What the benches time: inputs of every size, cut in every shape, and the parsers that read them.

pub mod inputs;
#[cfg(feature = "peers")]
pub mod parsers;

/// The sizes of the inputs, in bytes.
pub const SIZES: [usize; 4] = [1 << 10, 10 << 10, 100 << 10, 1 << 20];

/// How a response arrives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// In one piece.
    Whole,
    /// In pieces of so many bytes, about a token or less.
    Chunks(usize),
}

/// The shapes that are timed.
pub const SHAPES: [Shape; 3] = [Shape::Whole, Shape::Chunks(4), Shape::Chunks(1)];

impl Shape {
    pub fn name(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::Chunks(1) => "bytes",
            Self::Chunks(_) => "chunks",
        }
    }

    /// The pieces of an ASCII text.
    pub fn cut(self, text: &str) -> Vec<&str> {
        match self {
            Self::Whole => vec![text],
            Self::Chunks(size) => (0..text.len())
                .step_by(size)
                .map(|at| &text[at..text.len().min(at + size)])
                .collect(),
        }
    }
}

/// How a size is written.
pub fn size_name(size: usize) -> String {
    if size >= 1 << 20 {
        format!("{}MB", size >> 20)
    } else {
        format!("{}KB", size >> 10)
    }
}
