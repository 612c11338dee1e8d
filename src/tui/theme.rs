//! How things look. Each look has a modifier or a sign of its own, so that colour alone says nothing; the colours are the
//! sixteen that a terminal's own theme makes fit for its background.

use ratatui::style::{Color, Modifier, Style};

/// How the screen is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// True if there are colours.
    pub color: bool,
}

/// The role of a text on the screen, from which its style follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Plain,
    /// Text of the field of that number.
    Field(usize),
    Delimiter(usize),
    /// Text that no field takes.
    Discarded,
    /// A marker that stands in the text of a field.
    Leaked,
    Unfed,
    Held,
    Cursor,
    Found,
    Chosen,
    Title,
    Heading,
    FocusedHeading,
    Rule,
    Dim,
    Changed,
    Good,
    Warning,
    Error,
    Added,
    Removed,
    /// A character that is spelled out: added to what else it is.
    Spelled,
}

const FIELDS: [Color; 5] = [
    Color::Green,
    Color::Blue,
    Color::Magenta,
    Color::Cyan,
    Color::Yellow,
];

impl Theme {
    pub(super) fn style(self, role: Role) -> Style {
        let plain = Style::new();
        let field = |number: usize| FIELDS[number % FIELDS.len()];
        let (color, modifier) = match role {
            Role::Plain => (None, Modifier::empty()),
            Role::Field(number) => (Some(field(number)), Modifier::empty()),
            Role::Delimiter(number) => (Some(field(number)), Modifier::BOLD | Modifier::UNDERLINED),
            Role::Discarded => (Some(Color::Red), Modifier::CROSSED_OUT),
            Role::Leaked => (Some(Color::Red), Modifier::ITALIC),
            Role::Unfed | Role::Dim | Role::Rule => (None, Modifier::DIM),
            Role::Held => (Some(Color::Yellow), Modifier::UNDERLINED),
            Role::Cursor | Role::Chosen => (None, Modifier::REVERSED),
            Role::Found => (Some(Color::Yellow), Modifier::REVERSED),
            Role::Title => (None, Modifier::BOLD),
            Role::Heading => (None, Modifier::DIM),
            Role::FocusedHeading => (Some(Color::Cyan), Modifier::BOLD),
            Role::Changed => (Some(Color::Yellow), Modifier::BOLD),
            Role::Good | Role::Added => (Some(Color::Green), Modifier::empty()),
            Role::Warning => (Some(Color::Yellow), Modifier::BOLD),
            Role::Error => (Some(Color::Red), Modifier::BOLD),
            Role::Removed => (Some(Color::Red), Modifier::empty()),
            Role::Spelled => (None, Modifier::ITALIC),
        };
        let style = plain.add_modifier(modifier);
        match color.filter(|_| self.color) {
            Some(color) => style.fg(color),
            None => style,
        }
    }
}
