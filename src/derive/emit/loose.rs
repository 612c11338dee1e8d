//! White space that models vary between the markers of which a longer one is made.

use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::text;
use crate::derive::read::arguments::{Around, Pairs, Style};

/// The marker with white space between its pieces; in a pattern it may be missing.
pub(super) fn spaced(pieces: &Pieces, marker: &str) -> String {
    let edges = pieces.edges(marker);
    let parts = edges.windows(2).map(|ends| &marker[ends[0]..ends[1]]);
    let parts = parts.flat_map(|part| {
        let (first, second) = part.split_at(pieces.apart(part).unwrap_or(part.len()));
        [first, second].into_iter().filter(|part| !part.is_empty())
    });
    let mut spaced = String::new();
    let mut last: Option<&str> = None;
    for part in parts {
        let whole = |part: &str| pieces.is_one(part.trim()) || pieces.is_apart(part.trim());
        // A character that is repeated, as in `~~~`, is one marker, and no white space stands within it.
        let is_run = part.chars().count() == 1 && last == Some(part);
        if last.is_some_and(|last| whole(last) && !last.ends_with(char::is_whitespace))
            && whole(part)
            && !is_run
        {
            spaced.push(' ');
        }
        spaced.push_str(part);
        last = Some(part);
    }
    spaced
}

/// Space that may stand there, unless it is there already.
pub(super) fn push_space(pattern: &mut String) {
    if !pattern.ends_with("\\s*") && !pattern.ends_with("\\s+") {
        pattern.push_str("\\s*");
    }
}

/// White space of which each character may be missing.
pub(super) fn optional_space(space: &str) -> String {
    let all = space.chars();
    all.map(|c| format!("{}?", text::escape(&c.to_string())))
        .collect()
}

/// The argument with white space where models may put some.
pub(super) fn spaced_argument(pieces: &Pieces, argument: &Pairs) -> Pairs {
    let space = |around: &Around| Around {
        between: spaced(pieces, &around.between),
        close: spaced(pieces, &around.close),
    };
    let mut value: Vec<Around> = argument.value.iter().map(space).collect();
    // White space that may stand behind what all values have behind their key may stand there before each of them.
    let parted = value.iter().find_map(|one| {
        let (first, rest) = one.between.split_once(' ')?;
        let is_first = argument
            .value
            .iter()
            .all(|own| own.between.starts_with(first));
        (is_first && !first.is_empty() && !rest.is_empty()).then(|| first.to_owned())
    });
    for (one, first) in value.iter_mut().zip(parted.iter().cycle()) {
        let rest = one.between.strip_prefix(first.as_str());
        if let Some(rest) = rest.filter(|rest| !rest.is_empty() && rest.trim_start() == *rest) {
            one.between = format!("{first} {rest}");
        }
    }
    Pairs {
        value,
        style: match &argument.style {
            Style::Json { around, is_whole } => Style::Json {
                around: space(around),
                is_whole: *is_whole,
            },
            other => other.clone(),
        },
        ..argument.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two constants that always stand together are parted as one constant would be: `</value>` is like `</key>`'s neighbour.
    #[test]
    fn constants_that_make_a_marker_stand_apart_where_one_would_be_cut() {
        let text = "{% for m in messages %}{% for k, v in m.said.items() %}{{ '<key>' }}{{ k }}{{ '</key>' }}{{ '<value>' }}{{ v }}{{ '</value>' }}\
            {% endfor %}{{ '<end>' }}{% endfor %}";
        let source = crate::chat_template::from_text("it", text).unwrap();
        let template = source.select(false).unwrap();
        let messages =
            crate::value::json::parse(r#"[{"said": {"Lantern": "wharf", "quill": "Vesper"}}]"#);
        let input = crate::chat_template::RenderInput {
            messages: messages.unwrap().as_array().unwrap().to_vec(),
            ..Default::default()
        };
        let pieces = Pieces::of([&template.render_traced(&input).unwrap()], []);
        assert!(!pieces.is_one("</key>"), "it always stands before another");
        assert_eq!(spaced(&pieces, "</key><value>"), "</key> <value>");
    }

    #[test]
    fn pieces_of_a_marker_may_stand_apart() {
        let pieces = Pieces::of([], ["</key>", "<value>", "<f="]);
        assert_eq!(spaced(&pieces, "</key><value>"), "</key> <value>");
        assert_eq!(spaced(&pieces, "</key>\n<value>"), "</key>\n<value>");
        assert_eq!(spaced(&pieces, "x<f="), "x<f=");
        assert_eq!(spaced(&pieces, ""), "");
        let pieces = Pieces::of([], ["~", "<value>"]);
        assert_eq!(spaced(&pieces, "~~~<value>"), "~~~ <value>");
    }

    #[test]
    fn white_space_may_stand_before_each_of_several_values() {
        let pieces = Pieces::of([], ["</key>", "<text>", "</text>"]);
        let around = |between: &str, close: &str| Around {
            between: between.to_owned(),
            close: close.to_owned(),
        };
        let argument = Pairs {
            open: "<key>".to_owned(),
            order: crate::derive::read::arguments::Order::KeyFirst,
            value: vec![
                around("</key><text>", "</text>"),
                around("</key><real>", "</real>"),
                around("</key><", "/>"),
            ],
            separator: String::new(),
            name_quotes: None,
            style: Style::Text,
            unread: crate::derive::read::unread::Unread::default(),
        };
        let spaced = spaced_argument(&pieces, &argument).value;
        let between: Vec<&str> = spaced.iter().map(|one| one.between.as_str()).collect();
        assert_eq!(between, ["</key> <text>", "</key> <real>", "</key> <"]);
    }
}
