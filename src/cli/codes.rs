//! The meaning of every code: a page for each, of whichever verb tells it.
//!
//! The pages of the linter's codes come from its rules, whose examples its own tests run. All others are sections of the files in
//! `docs/codes`, whose examples are commands that a test of the command line runs, comparing what they print.

use std::borrow::Cow;

use obverse::lint;

/// The files of sections: each begins with a line `## CODE`, and the line of emphasis after it says which verbs tell the code.
const FILES: [&str; 5] = [
    include_str!("../../docs/codes/derive.md"),
    include_str!("../../docs/codes/convert.md"),
    include_str!("../../docs/codes/check.md"),
    include_str!("../../docs/codes/grammar.md"),
    include_str!("../../docs/codes/errors.md"),
];

/// The text that begins the section of a code.
const HEADING: &str = "\n## ";

/// The meaning of a code.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// The code.
    pub(crate) code: &'static str,
    /// A sentence or two that say what it means.
    pub(crate) summary: Cow<'static, str>,
    /// All of it, in Markdown.
    pub(crate) text: Cow<'static, str>,
}

/// All pages, those of one verb together.
pub(crate) fn all() -> Vec<Page> {
    let mut pages: Vec<Page> = FILES.iter().copied().flat_map(sections).collect();
    let rules = lint::rules().iter().map(|rule| Page {
        code: rule.code,
        summary: rule.summary.into(),
        text: rule.explain().into(),
    });
    pages.extend(rules);
    let schemas = lint::schema_rules().iter().map(|rule| Page {
        code: rule.code,
        summary: rule.summary.into(),
        text: rule.explain().into(),
    });
    pages.extend(schemas);
    let documents = lint::document_codes().iter().chain(lint::engine_codes());
    pages.extend(documents.map(|known| Page {
        code: known.code,
        summary: known.text.into(),
        text: known.explain().into(),
    }));
    pages
}

/// The page of a code.
pub(crate) fn page(code: &str) -> Option<Page> {
    all().into_iter().find(|page| page.code == code)
}

/// The code that is meant by one that does not exist, if it is near to one.
pub(crate) fn nearest(code: &str) -> Option<&'static str> {
    super::near::nearest(code, all().iter().map(|page| page.code))
}

/// The sections of a file.
fn sections(file: &'static str) -> impl Iterator<Item = Page> {
    file.split(HEADING).skip(1).filter_map(|section| {
        let (code, body) = section.split_once('\n')?;
        // The first paragraph says who tells it.
        let summary = body.trim_start().split("\n\n").nth(1)?;
        let summary = summary.trim().replace('\n', " ");
        Some(Page {
            code,
            summary: summary.into(),
            text: format!("## {code}\n{}\n", body.trim_end()).into(),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_a_page_with_all_its_parts() {
        for file in FILES {
            let headings = file.lines().filter(|line| line.starts_with("## ")).count();
            let pages: Vec<Page> = sections(file).collect();
            assert_eq!(pages.len(), headings);
            for page in pages {
                assert!(page.text.contains("\n\n*`obverse"), "{page:?}");
                assert!(page.summary.ends_with('.'), "{page:?}");
                assert!(page.text.contains("**What to do.**"), "{page:?}");
            }
        }
    }

    #[test]
    fn no_code_has_two_pages() {
        let mut codes: Vec<&str> = all().iter().map(|page| page.code).collect();
        codes.sort_unstable();
        let count = codes.len();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn a_code_that_is_nearly_one_is_found() {
        assert_eq!(nearest("asumed-tokens"), Some("assumed-token"));
        assert_eq!(nearest("dolar"), Some("dollar"));
        assert_eq!(nearest("quite-another-thing"), None);
    }
}
