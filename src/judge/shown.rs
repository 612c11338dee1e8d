//! Input that can be seen in a render, by the origins of its characters.

use crate::chat_template::{InputPath, Origin, Run, Traced};

/// Returns the part of a text at `path` in the inputs that can be seen in the render from byte `start` on, and the byte at which it is
/// seen: the stretch of it that is shown as it is, or all of it where anything of it was written otherwise.
pub(super) fn text<'t>(
    traced: &Traced,
    start: usize,
    path: &InputPath,
    text: &'t str,
) -> Option<(usize, &'t str)> {
    let mut first = None;
    let mut span: Option<(usize, usize)> = None;
    let mut is_changed = false;
    for run in traced.runs.iter().filter(|run| run.end > start) {
        let Origin::Input {
            path: of,
            from,
            derived,
            also,
            ..
        } = &run.origin
        else {
            continue;
        };
        if !leads_to(path, of) && !also.iter().any(|of| leads_to(path, of)) {
            continue;
        }
        first.get_or_insert(run.start.max(start));
        match from {
            Some((from, to)) if !derived => {
                span = Some(span.map_or((*from, *to), |(a, b)| (a.min(*from), b.max(*to))));
            }
            _ => is_changed = true,
        }
    }
    let first = first?;
    let seen = span
        .filter(|_| !is_changed)
        .and_then(|(from, to)| text.get(from..to))
        .unwrap_or(text);
    Some((first, seen))
}

/// Returns true if `of` is the place, or one within it.
fn leads_to(place: &InputPath, of: &InputPath) -> bool {
    of.len() >= place.len() && of.is_along(place)
}

/// Returns the number of bytes that two renders begin with alike: the same text, from the same places.
pub(super) fn common(a: &Traced, b: &Traced) -> usize {
    let mut at = 0;
    loop {
        let (Some(left), Some(right)) = (a.at(at), b.at(at)) else {
            return at;
        };
        if !is_same_place(left, right, at) {
            return at;
        }
        let end = left.end.min(right.end);
        let (x, y) = (&a.text.as_bytes()[at..end], &b.text.as_bytes()[at..end]);
        let equal = x.iter().zip(y).take_while(|(x, y)| x == y).count();
        at += equal;
        if equal < x.len() {
            return (0..=at)
                .rfind(|at| a.text.is_char_boundary(*at))
                .unwrap_or(0);
        }
    }
}

/// Returns true if the byte at the offset comes from one place in both.
fn is_same_place(left: &Run, right: &Run, at: usize) -> bool {
    match (&left.origin, &right.origin) {
        (Origin::Source { start: a, .. }, Origin::Source { start: b, .. }) => {
            a + (at - left.start) == b + (at - right.start)
        }
        (Origin::Input { path: a, .. }, Origin::Input { path: b, .. }) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat_template::{ChatTemplate, InputStep, RenderInput};
    use crate::value::json;

    fn traced(template: &str, content: &str) -> Traced {
        let message = json::parse(&format!("{{\"content\": {}}}", json::quote(content))).unwrap();
        let input = RenderInput {
            messages: vec![message],
            ..RenderInput::default()
        };
        let template = ChatTemplate::new(template).unwrap();
        template.render_traced(&input).unwrap()
    }

    fn seen(template: &str, content: &str) -> Option<(usize, String)> {
        let path = InputPath::new([
            InputStep::from("messages"),
            InputStep::Index(0),
            InputStep::from("content"),
        ]);
        let traced = traced(template, content);
        text(&traced, 0, &path, content).map(|(at, seen)| (at, seen.to_owned()))
    }

    #[test]
    fn what_is_cut_off_is_not_seen_and_what_is_changed_is() {
        let all = |at: usize, text: &str| Some((at, text.to_owned()));
        assert_eq!(
            seen("<a>{{ messages[0].content }}", " b c "),
            all(3, " b c ")
        );
        assert_eq!(
            seen("<a>{{ messages[0].content | trim }}", " b c "),
            all(3, "b c")
        );
        assert_eq!(
            seen("{{ messages[0].content.split('|')[-1] }}", "b|c"),
            all(0, "c")
        );
        assert_eq!(
            seen("<a>{{ messages[0].content | upper }}", "b"),
            all(3, "b")
        );
        assert_eq!(
            seen(
                "{{ messages[0].content[:1] }}{{ messages[0].content | upper }}",
                "bc"
            ),
            all(0, "bc"),
            "what is shown twice, once otherwise than it is"
        );
        assert_eq!(
            seen("<a>{{ messages[0].content | length }}", "b"),
            all(3, "b")
        );
        assert_eq!(
            seen("<a>{% if messages[0].content %}yes{% endif %}", "b"),
            None
        );
    }

    #[test]
    fn the_same_characters_from_another_place_are_not_the_same() {
        let template = "<a>{{ messages[0].content }}{% if messages[0].content == 'x' %}<b>{% else %}<c>{% endif %}";
        let [one, other] = ["x", "x"].map(|content| traced(template, content));
        assert_eq!(common(&one, &other), one.text.len());
        let other = traced(template, "xy");
        assert_eq!(
            common(&one, &other),
            4,
            "both go on with a character that opens a marker, each with its own"
        );
    }
}
