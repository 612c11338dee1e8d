//! `--format` of the verbs that tell people something and programs the same as JSON.

use clap::ValueEnum;

/// A value of `--format`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// For people.
    Human,
    /// JSON, for programs.
    Json,
}

/// The argument.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct ShapeArgs {
    /// The form of the output: human, which is for people, or json on standard output
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = Shape::Human)]
    #[arg(hide_possible_values = true)]
    format: Shape,
}

impl ShapeArgs {
    /// Returns true if it is to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.format == Shape::Json
    }
}
