//! Renders of readings beside the text: how far the two agree, and where they differ.

use std::ops::Range;

use super::draft::Draft;
use crate::conversation::render::{Renderer, Talk};
use crate::text::common_prefix;

/// How many beginnings of a conversation are rendered to find the message that a chat template refuses.
const MAX_CUTS: usize = 6;

/// A render beside the text that it is to be.
pub(super) struct Compared {
    /// The render; `None` where the chat template refuses the messages.
    pub(super) rendered: Option<String>,
    /// The bytes of the text that they have in common, from the beginning.
    pub(super) shared: usize,
    /// Where the render has come by then: elsewhere, if the text has other definitions of tools.
    pub(super) rendered_to: usize,
    /// True if the render is the text.
    pub(super) is_same: bool,
}

impl Compared {
    /// Returns true if there is space on one side of the difference; of a render that was refused nothing is known.
    pub(super) fn at_space(&self, text: &str) -> bool {
        let Some(rendered) = &self.rendered else {
            return true;
        };
        let is_space = |text: &str, at: usize| {
            let next = text.get(at..).and_then(|rest| rest.chars().next());
            next.is_none_or(char::is_whitespace)
        };
        is_space(text, self.shared) || is_space(rendered, self.rendered_to)
    }
}

/// Renders a conversation and holds it to the text.
pub(super) fn compare(renderer: &Renderer<'_>, talk: &Talk, draft: &Draft, text: &str) -> Compared {
    let rendered = renderer.text(talk).ok();
    let (shared, rendered_to, is_same) = match (&rendered, draft.kept()) {
        (None, _) => (accepted(renderer, talk, text), 0, false),
        (Some(one), None) => {
            let shared = common_prefix(one, text);
            (shared, shared, one == text)
        }
        (Some(one), Some((hole, behind))) => around(one, text, hole, behind),
    };
    Compared {
        rendered,
        shared,
        rendered_to,
        is_same,
    }
}

/// How much of a text is shared by the render of the messages before the one that a chat template refuses.
fn accepted(renderer: &Renderer<'_>, talk: &Talk, text: &str) -> usize {
    let cuts = (1..talk.messages.len()).rev().take(MAX_CUTS);
    let rendered = cuts.into_iter().find_map(|count| {
        let beginning = Talk {
            messages: talk.messages[..count].to_vec(),
            prompt: false,
            ..talk.clone()
        };
        renderer.text(&beginning).ok()
    });
    rendered.map_or(0, |rendered| common_prefix(&rendered, text))
}

/// How much of a text a render shares that has other definitions of tools, where in the render that is, and whether it shares all but
/// these.
fn around(rendered: &str, text: &str, hole: &Range<usize>, behind: &str) -> (usize, usize, bool) {
    let shared = common_prefix(rendered, text);
    if shared < hole.start {
        return (shared, shared, false);
    }
    let rest = rendered.get(hole.start..).unwrap_or_default();
    let Some(at) = (if behind.is_empty() {
        Some(rest.len())
    } else {
        rest.find(behind)
    }) else {
        return (hole.start, hole.start, false);
    };
    let (rest, wanted) = (&rest[at..], &text[hole.end..]);
    let shared = common_prefix(rest, wanted);
    (hole.end + shared, hole.start + at + shared, rest == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::from_text;

    fn compared(chat_template: &str, messages: &str, text: &str) -> Compared {
        let source = from_text("test", chat_template).expect("a chat template");
        let renderer = Renderer::new(&source, None);
        let talk = Talk::of_json(messages);
        compare(&renderer, &talk, &Draft::default(), text)
    }

    #[test]
    fn a_render_is_compared_from_the_beginning() {
        let turns = "{% for m in messages %}<{{ m.content }}>{% endfor %}";
        let messages = r#"[{"content": "a"}, {"content": "b"}]"#;
        assert!(compared(turns, messages, "<a><b>").is_same);
        let other = compared(turns, messages, "<a><c>");
        assert_eq!((other.shared, other.is_same), (4, false));
        assert!(!other.at_space("<a><c>"));
        let spaced = compared(turns, messages, "<a> <b>");
        assert!(spaced.at_space("<a> <b>"));
    }

    #[test]
    fn what_stands_before_a_refused_message_is_shared() {
        let strict = "{% for m in messages %}{% if m.content == 'no' %}{{ raise_exception('no') }}{% endif %}<{{ m.content }}>{% endfor %}";
        let messages = r#"[{"content": "a"}, {"content": "no"}, {"content": "b"}]"#;
        let found = compared(strict, messages, "<a><c>");
        assert_eq!((found.rendered.as_deref(), found.shared), (None, 3));
    }

    #[test]
    fn other_definitions_of_tools_make_no_difference() {
        let text = "Tools: f(x) End. Hi";
        let hole = 7..11;
        // The render has other tools, and is longer by them.
        assert_eq!(
            around("Tools: ring_bell() End. Hi", text, &hole, " End."),
            (text.len(), 26, true)
        );
        // Behind the definitions, or before them, it differs.
        assert_eq!(
            around("Tools: g() End. Ho", text, &hole, " End."),
            (text.len() - 1, 17, false)
        );
        assert_eq!(around("Tool: g()", text, &hole, " End."), (4, 4, false));
        // Where the constant behind them is missing nothing behind them is compared.
        assert_eq!(around("Tools: g()", text, &hole, " End."), (7, 7, false));
    }
}
