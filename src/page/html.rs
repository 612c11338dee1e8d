//! A page in one file: the styles and scripts of the playground around what is to be shown.
//!
//! What is shown is hostile. It stands in the file as JSON in which no character is left that HTML acts upon, and the scripts put it on the page
//! as text alone. Only the scripts that are in the file run, and they reach nothing: the policy at its head says so.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::Page;

const STYLE: &str = include_str!("../../site/style.css");

/// The modules, each behind those that it imports.
const MODULES: &[&str] = &[
    include_str!("../../site/view/dom.js"),
    include_str!("../../site/view/model.js"),
    include_str!("../../site/view/evidence.js"),
    include_str!("../../site/view/findings.js"),
    include_str!("../../site/view/stepper.js"),
    include_str!("../../site/view/file.js"),
];

/// The page as one file.
pub(super) fn write(page: &Page) -> String {
    // Strings, numbers and lists: nothing in it can fail to serialize.
    let data = serde_json::to_string(page).unwrap_or_else(|_| "null".to_owned());
    let data = inert(&data);
    // Nobody who writes a part of the text knows the hash of the whole.
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let nonce = format!("{:016x}", hasher.finish());
    let script: String =
        MODULES
            .iter()
            .flat_map(|module| module.lines())
            .fold(String::new(), |mut script, line| {
                if !line.starts_with("import ") {
                    script += line.strip_prefix("export ").unwrap_or(line);
                    script.push('\n');
                }
                script
            });
    let title = text(&page.title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'; \
         script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <title>{title} – Obverse</title>\n<style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n\
         <main id=\"file\"><noscript>This page needs scripts; they are in it, and load nothing.</noscript></main>\n\
         <script type=\"application/json\" id=\"page\">{data}</script>\n\
         <script type=\"module\" nonce=\"{nonce}\">\n{script}</script>\n</body>\n</html>\n"
    )
}

/// JSON that means the same, in which nothing is left that could end the element around it, or a line of a script.
fn inert(json: &str) -> String {
    let mut out = String::with_capacity(json.len() + json.len() / 16);
    for c in json.chars() {
        match c {
            '<' => out += "\\u003c",
            '>' => out += "\\u003e",
            '&' => out += "\\u0026",
            '\u{2028}' => out += "\\u2028",
            '\u{2029}' => out += "\\u2029",
            // A terminal would act upon these, if somebody looked at the file there.
            '\u{7f}'..='\u{9f}' => out += &format!("\\u{:04x}", c as u32),
            c => out.push(c),
        }
    }
    out
}

/// A text from outside in HTML, without what a terminal would act upon.
fn text(text: &str) -> String {
    let is_inert = |c: &char| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}');
    let shown = text.chars();
    let shown = shown.map(|c| {
        Some(c)
            .filter(is_inert)
            .unwrap_or(char::REPLACEMENT_CHARACTER)
    });
    crate::text::html(&shown.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PageSample;
    use crate::parser::Options;

    const TEMPLATE: &str = r#"{"start_anchor": "A:", "fields": {"content": {}}}"#;

    #[test]
    fn nothing_that_is_shown_ends_its_element() {
        let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{1b}[2J\u{9b}";
        let sample = PageSample::new(hostile, hostile);
        let mut page = Page::of_template(hostile, TEMPLATE, None, vec![sample]);
        page.record(Options::default(), &|_, response| vec![response.len()]);
        let html = page.to_html();
        assert_eq!(html.matches("</script>").count(), 2);
        assert_eq!(html.matches("<script").count(), 2);
        assert!(!html.contains("<!--"));
        assert!(!html.contains(['\u{2028}', '\u{1b}', '\u{9b}']));
        let json = html.split("id=\"page\">").nth(1).expect("the data");
        let json = json.split("</script>").next().expect("its end");
        let value: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert_eq!(value["samples"][0]["replay"]["text"], hostile);
    }

    #[test]
    fn the_scripts_are_joined() {
        let html = Page::of_template("x", TEMPLATE, None, Vec::new()).to_html();
        assert!(!html.contains("\nimport ") && !html.contains("\nexport "));
        assert!(!html.contains("innerHTML"));
    }
}
