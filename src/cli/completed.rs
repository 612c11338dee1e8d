//! Arguments whose values shells complete, though others may be given.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command};

/// Reads an argument. Shells complete the names, and what is no name is refused by `read`, whose words are better than those of clap
/// for so many names: it lists all of them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Completed {
    /// The names.
    pub(crate) names: fn() -> Vec<&'static str>,
    /// Says what is wrong with a value.
    pub(crate) read: fn(&str) -> Result<String, String>,
}

impl TypedValueParser for Completed {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let read = self.read;
        StringValueParser::new()
            .try_map(move |text| read(&text))
            .parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let names = (self.names)().into_iter();
        Some(Box::new(names.map(PossibleValue::new)))
    }
}
