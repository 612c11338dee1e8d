//! The names of engines on the command line.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use crate::response_template::Engine;

/// Reads the name of an engine. Shells complete the names, since they are possible values of the argument.
pub(crate) fn parser() -> impl TypedValueParser<Value = Engine> {
    PossibleValuesParser::new(Engine::ALL.map(Engine::name)).try_map(|name| name.parse::<Engine>())
}
