//! When to colour, and the styles that are used.

use std::ffi::OsString;

use anstream::ColorChoice;
use anstyle::{AnsiColor, Effects, Style};
use clap::ValueEnum;

/// A value of `--color`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// When it goes to a terminal and `NO_COLOR` is not set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl Color {
    /// Returns true if what fills the screen has colours; `otherwise` where nobody has said, and it does not go to a terminal.
    #[cfg(feature = "tui")]
    pub(crate) fn is_wanted(self, otherwise: bool) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let is_refused =
                    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                !is_refused && (otherwise || std::io::IsTerminal::is_terminal(&std::io::stdout()))
            }
        }
    }

    /// Makes it the choice of every stream.
    pub(crate) fn apply(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// The choice in arguments that do not parse, for the message that says so.
pub(crate) fn before_parsing(arguments: &[OsString]) -> Color {
    let mut chosen = Color::Auto;
    let mut arguments = arguments.iter().filter_map(|argument| argument.to_str());
    while let Some(argument) = arguments.next() {
        let value = match argument.split_once('=') {
            Some(("--color", value)) => Some(value),
            _ if argument == "--color" => arguments.next(),
            _ => None,
        };
        if let Some(color) = value.and_then(|value| Color::from_str(value, false).ok()) {
            chosen = color;
        }
    }
    chosen
}

/// Good news, and what only the right render has.
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
/// Bad news, and what only the left render has.
pub(crate) const RED: Style = AnsiColor::Red.on_default();
/// News to look at.
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
/// News.
pub(crate) const BLUE: Style = AnsiColor::Blue.on_default();
/// Names of rows.
pub(crate) const BOLD: Style = Style::new().effects(Effects::BOLD);
/// The text around the point.
pub(crate) const DIM: Style = Style::new().effects(Effects::DIMMED);

/// `text` in `style`.
pub(crate) fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_choice_is_found_in_arguments_that_do_not_parse() {
        let find = |arguments: &[&str]| {
            before_parsing(&arguments.iter().map(OsString::from).collect::<Vec<_>>())
        };
        assert_eq!(find(&["obverse", "--nope", "--color=never"]), Color::Never);
        assert_eq!(find(&["obverse", "--color", "always", "x"]), Color::Always);
        assert_eq!(find(&["obverse", "--color"]), Color::Auto);
    }
}
