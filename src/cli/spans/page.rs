//! Conversations as a page: one file, no script.
//!
//! Texts are hostile: what HTML would act upon is written as character references, and what a terminal would, is spelled out, so
//! that the page can be looked at as text too.

use std::fmt::Write as _;

use obverse::conversation::spans::{Part, Spans};
use obverse::value::{Map, Value, json};

use crate::cli::escape;
use crate::text::html;

/// The end of a page.
pub(super) const FOOT: &str = "</body>\n</html>\n";

const STYLE: &str = "\
:root { color-scheme: light dark; }
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 110ch; padding: 0 1em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; border: 1px solid #8886; border-radius: 4px; padding: 1em; }
span { opacity: .55; }
span.said { opacity: 1; }
span.generated { opacity: 1; background: #8883; border-bottom: 2px solid #888; }
span.generated.content { background: #2a23; border-color: #2a2; }
span.generated.reasoning { background: #c903; border-color: #c90; }
span.generated.call { background: #26d3; border-color: #26d; }
p.error { color: #c22; }
";

/// The beginning of a page about this source.
pub(super) fn head(source: &str) -> String {
    let source = text(source);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>Spans: {source}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{source}</h1>\n\
         <p>Underlined is what the model writes: \
         <span class=\"generated content\">content</span>, <span class=\"generated reasoning\">reasoning</span>, \
         <span class=\"generated call\">calls</span>, <span class=\"generated\">what stands around</span>. \
         Point at a text to see whose it is.</p>\n"
    )
}

/// A conversation.
pub(super) fn conversation(id: Option<&Value>, found: &Spans) -> String {
    let mut out = heading(id);
    out += "<pre>";
    // A line feed right behind the tag is dropped.
    out.push('\n');
    for stretch in found.stretches() {
        let mut classes = Vec::new();
        if stretch.is_generated {
            classes.push("generated");
        }
        match stretch.part {
            Some(part @ (Part::Content | Part::Reasoning | Part::Call)) => {
                classes.extend(["said", part.name()]);
            }
            Some(part) => classes.push(part.name()),
            None => {}
        }
        let title = match stretch.message {
            None => "of no message".to_owned(),
            Some(message) => {
                let whose = found.spans.iter().find(|span| span.message == message);
                let role = whose.map_or("", |span| span.role.as_str());
                let part = stretch.part.map_or("", Part::name);
                let generated = if stretch.is_generated {
                    ", generated"
                } else {
                    ""
                };
                format!("message {message}, {role} {part}{generated}")
            }
        };
        let _ = write!(
            out,
            "<span class=\"{}\" title=\"{}\">{}</span>",
            classes.join(" "),
            text(&title),
            text(&found.text[stretch.start..stretch.end])
        );
    }
    out += "</pre>\n";
    out
}

/// A conversation of which nothing can be told.
pub(super) fn error(id: Option<&Value>, error: &Map) -> String {
    let message = error.get("message").and_then(Value::as_str);
    format!(
        "{}<p class=\"error\">{}</p>\n",
        heading(id),
        text(message.unwrap_or_default())
    )
}

fn heading(id: Option<&Value>) -> String {
    id.map_or_else(String::new, |id| {
        let id = id
            .as_str()
            .map_or_else(|| json::to_string(id), str::to_owned);
        format!("<h2>{}</h2>\n", text(&id))
    })
}

/// A text from outside.
fn text(text: &str) -> String {
    html(&escape::block(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            text("<script a='\"'>&\u{1b}\n"),
            "&lt;script a=&#39;&quot;&#39;&gt;&amp;\\u{1b}\n"
        );
        let id = Value::from("</h2><script>");
        assert!(!heading(Some(&id)).contains("<script"));
        assert!(!head("<script>").contains("<script"));
    }
}
