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

/// `--format` of the verbs that print JSON and nothing else, so that who asks every verb for JSON need not know which these are.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct JsonArgs {
    /// The form of the output: json, in which it always is
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = OnlyJson::Json)]
    #[arg(hide_possible_values = true)]
    format: OnlyJson,
}

/// The only value of `--format` there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum OnlyJson {
    /// JSON: one document, or an object on each line where there are several.
    Json,
}
