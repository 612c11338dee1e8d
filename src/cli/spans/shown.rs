//! A conversation in colours, for people.

use anstyle::{AnsiColor, Style};
use obverse::conversation::spans::{Part, Spans, Stretch};

use crate::cli::color::{BLUE, BOLD, DIM, GREEN, YELLOW, paint};
use crate::cli::escape;

/// The end of a turn that the model writes.
const END: Style = AnsiColor::Magenta.on_default();

/// Returns the legend of the colours.
pub(super) fn legend() -> String {
    format!(
        "generated: {}, {}, {}, {}; of others: text, {}\n",
        paint(GREEN, "content"),
        paint(YELLOW, "reasoning"),
        paint(BLUE, "calls"),
        paint(END, "what stands around"),
        paint(DIM, "what stands around"),
    )
}

/// The text, each stretch in its colour.
pub(super) fn coloured(found: &Spans) -> String {
    let mut out = String::new();
    for stretch in found.stretches() {
        let text = escape::block(&found.text[stretch.start..stretch.end]);
        out += &paint(style(&stretch), &text);
    }
    out
}

fn style(stretch: &Stretch) -> Style {
    match (stretch.is_generated, stretch.part) {
        (true, Some(Part::Content)) => GREEN.effects(BOLD.get_effects()),
        (true, Some(Part::Reasoning)) => YELLOW,
        (true, Some(Part::Call)) => BLUE,
        (true, _) => END,
        (false, Some(Part::Content | Part::Reasoning | Part::Call)) => Style::new(),
        (false, _) => DIM,
    }
}
