//! Messages that show nothing of their own: an answer without a text, a message of a role that a chat template only marks.
//!
//! No character of a render comes from such a message. So the conversation is rendered without it: what that render lacks stands for the
//! message, if the rest is the same. For example, an empty answer of `<user>Hi</><bot></><user>Well?</>` leaves `<user>Hi</><user>Well?</>`, so that
//! `<bot></>` stands for it. That costs one more render.

use super::pieces::{Piece, Spot, What};
use crate::conversation::format::{Encoding, Holds};
use crate::conversation::render::{Renderer, Talk};
use crate::text::common_prefix;
use crate::value::Value;

/// The pieces of a render with a place for the one message of it that shows nothing; `None` if there is none, or more than one, or if
/// nothing stands for it.
pub(super) fn with_silent(
    text: &str,
    pieces: &[Piece],
    talk: &Talk,
    renderer: &Renderer<'_>,
) -> Option<Vec<Piece>> {
    let is_shown = |at: &usize| {
        pieces.iter().any(|piece| match &piece.what {
            What::InputText { message, .. } => *message == Some(*at),
            _ => false,
        })
    };
    let mut hidden = (0..talk.messages.len()).filter(|at| !is_shown(at));
    let at = hidden.next().filter(|_| hidden.next().is_none())?;
    if talk.messages.len() < 2 {
        return None;
    }
    let mut without = talk.clone();
    without.messages.remove(at);
    let without = renderer.text(&without).ok()?;
    let len = text
        .len()
        .checked_sub(without.len())
        .filter(|len| *len > 0)?;
    let mut start = common_prefix(text, &without);
    if text.get(start + len..)? != without.get(start..)? {
        return None;
    }
    // What was left out may begin earlier, where the text before it is as the end of it.
    let bytes = text.as_bytes();
    let least = pieces
        .iter()
        .map(|piece| piece.range.end)
        .filter(|end| *end <= start)
        .max()
        .unwrap_or(0);
    while start > least && bytes[start - 1] == bytes[start + len - 1] {
        start -= 1;
    }
    let end = start + len;
    let is_free = |piece: &Piece| piece.range.end <= start || piece.range.start >= end;
    if !text.is_char_boundary(end) || !pieces.iter().all(is_free) {
        return None;
    }
    let role = talk.messages[at].get("role").and_then(Value::as_str)?;
    let silent = Piece {
        range: end..end,
        what: What::InputText {
            spot: Spot {
                holds: Holds::Nothing,
                role: Some(role.to_owned()),
                key: None,
            },
            message: Some(at),
            written: [Encoding::AsIs].into(),
        },
    };
    let mut all = pieces.to_vec();
    let place = all.partition_point(|piece| piece.range.start < end);
    all.insert(place, silent);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::from_text;
    use crate::conversation::find::pieces;

    /// The place of the message that shows nothing, and its role.
    fn silent(chat_template: &str, messages: &str) -> Option<(usize, String)> {
        let source = from_text("test", chat_template).expect("a chat template");
        let renderer = Renderer::new(&source, None);
        let talk = Talk::of_json(messages);
        let traced = renderer.traced(&talk).expect("a render");
        let seen = pieces::pieces(&traced, &talk, &renderer);
        let all = with_silent(&traced.text, &seen, &talk, &renderer)?;
        assert_eq!(all.len(), seen.len() + 1);
        let found = all.into_iter().find_map(|piece| match piece.what {
            What::InputText { spot, .. } if spot.holds == Holds::Nothing => {
                Some((piece.range.start, spot.role.expect("a role")))
            }
            _ => None,
        });
        Some(found.expect("the place"))
    }

    const TURNS: &str = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}";

    #[test]
    fn what_a_render_lacks_without_a_message_stands_for_it() {
        let messages = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""},
            {"role": "user", "content": "Well?"}]"#;
        // The place is where its content would stand: what was left out may begin with the end of the message before.
        let text = "<user>Hi</><assistant>";
        assert_eq!(
            silent(TURNS, messages),
            Some((text.len(), "assistant".to_owned()))
        );
    }

    #[test]
    fn of_several_that_show_nothing_none_is_placed() {
        let messages = r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""},
            {"role": "user", "content": ""}]"#;
        assert_eq!(silent(TURNS, messages), None);
    }

    #[test]
    fn what_changes_the_rest_as_well_is_not_placed() {
        let counted = "{{ messages|length }}{% for m in messages %}<{{ m.role }}>{{ m.content }}</>{% endfor %}";
        let messages =
            r#"[{"role": "user", "content": "Hi"}, {"role": "assistant", "content": ""}]"#;
        assert_eq!(silent(counted, messages), None);
    }
}
