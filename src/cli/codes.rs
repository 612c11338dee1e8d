//! The meaning of every code: a page for each, of whichever verb tells it.
//!
//! The pages of the linter's codes come from its rules, whose examples its own tests run. All others are sections of the files in
//! `docs/codes`, whose examples are commands that a test of the command line runs, comparing what they print.

use std::borrow::Cow;

use obverse::lint;

/// The files of sections: each begins with a line `## CODE`, or `## CODE, CODE` where several say nearly the same, and the line of
/// emphasis after it says which verbs tell the code.
const FILES: [&str; 7] = [
    include_str!("../../docs/codes/derive.md"),
    include_str!("../../docs/codes/convert.md"),
    include_str!("../../docs/codes/check.md"),
    include_str!("../../docs/codes/grammar.md"),
    include_str!("../../docs/codes/hub.md"),
    include_str!("../../docs/codes/parse.md"),
    include_str!("../../docs/codes/errors.md"),
];

/// The text that begins the section of a code.
const HEADING: &str = "\n## ";

/// The meaning of a code.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    /// The code.
    pub(crate) code: &'static str,
    /// The paragraph that says what it means.
    pub(crate) summary: Cow<'static, str>,
    /// All of it, in Markdown.
    pub(crate) text: Cow<'static, str>,
    /// The commands that tell it, where the text does not say so.
    tellers: &'static [&'static str],
}

/// The commands that tell what a rule of the linter finds.
const LINTERS: &[&str] = &["lint"];

/// The commands that read a response template, and tell what keeps a document from being one.
const READERS: &[&str] = &[
    "lint", "parse", "convert", "debug", "check", "review", "record", "new", "grammar", "propose",
    "serve",
];

/// The beginning of the part of a page that says why a finding is told.
const WHY: &str = "**Why it matters.**";

/// The beginning of the part that says what to do.
const WHAT_TO_DO: &str = "**What to do.**";

/// The beginning of a comment that has the name of the file below it, for the test that runs the examples.
const FILE: &str = "<!-- file: ";

/// The beginning of a file or a command of an example.
const FENCE: &str = "```";

impl Page {
    /// The first paragraph below the heading: in the files of sections it says in emphasis who tells the code, and how severe that is.
    fn first(&self) -> &str {
        self.text.split("\n\n").nth(1).unwrap_or_default()
    }

    /// The commands that tell the code; a command of `obverse` alone stands for all.
    pub(crate) fn told_by(&self) -> Vec<String> {
        let said = self.first().strip_prefix('*').unwrap_or_default();
        let said = said.split('`').skip(1).step_by(2);
        let mut commands: Vec<String> = Vec::new();
        for command in said.chain(self.tellers.iter().copied()) {
            let full = match command.starts_with("obverse") {
                true => command.to_owned(),
                false => format!("obverse {command}"),
            };
            if !commands.contains(&full) {
                commands.push(full);
            }
        }
        commands
    }

    /// The severity with which the first of these commands tells it. Others may tell it otherwise.
    pub(crate) fn severity(&self) -> &str {
        let first = self.first();
        match first.strip_prefix('*') {
            Some(tellers) => tellers
                .split("; ")
                .next()
                .and_then(|tellers| tellers.trim_end_matches('*').rsplit_once(", "))
                .map_or("", |(_, severity)| severity),
            None => first.split_once(": ").map_or("", |(severity, _)| severity),
        }
    }

    /// The reason why such a finding is told.
    pub(crate) fn why(&self) -> Option<&str> {
        let (_, part) = self.text.split_once(WHY)?;
        Some(part.split(WHAT_TO_DO).next()?.trim())
    }

    /// The advice, which is one paragraph. What follows it is the example.
    pub(crate) fn what_to_do(&self) -> Option<&str> {
        let (_, part) = self.text.split_once(WHAT_TO_DO)?;
        Some(part.split("\n\n").next()?.trim())
    }

    /// An example: its files, the commands, and what is said of them. A file whose name no line says has one before it.
    pub(crate) fn example(&self) -> Option<String> {
        let (before, _) = self.text.split_once(FENCE)?;
        let begin = match self.text.split_once(WHAT_TO_DO) {
            Some((_, part)) => self.text.len() - part.len() + part.find("\n\n")?,
            None => before.len(),
        };
        let mut example = String::new();
        for line in self.text[begin..].trim().lines() {
            let named = line
                .strip_prefix(FILE)
                .and_then(|rest| rest.strip_suffix(" -->"));
            match named {
                None => {
                    example.push_str(line);
                    example.push('\n');
                }
                Some(_) if example.trim_end().ends_with("`:") => {}
                Some(name) => example.push_str(&format!("`{name}`:\n\n")),
            }
        }
        Some(example.trim_end().to_owned())
    }
}

/// All pages, those of one verb together.
pub(crate) fn all() -> Vec<Page> {
    let mut pages: Vec<Page> = FILES.iter().copied().flat_map(sections).collect();
    let rules = lint::rules().iter().map(|rule| Page {
        code: rule.code,
        summary: rule.summary.into(),
        text: rule.explain().into(),
        tellers: LINTERS,
    });
    pages.extend(rules);
    let schemas = lint::schema_rules().iter().map(|rule| Page {
        code: rule.code,
        summary: rule.summary.into(),
        text: rule.explain().into(),
        tellers: LINTERS,
    });
    pages.extend(schemas);
    let documents = lint::document_codes().iter().map(|known| (known, READERS));
    let engines = lint::engine_codes().iter().map(|known| (known, LINTERS));
    pages.extend(documents.chain(engines).map(|(known, tellers)| Page {
        code: known.code,
        summary: known.text.into(),
        text: known.explain().into(),
        tellers,
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

/// The sections of a file. One that is about several codes is the page of each.
fn sections(file: &'static str) -> impl Iterator<Item = Page> {
    let sections = file.split(HEADING).skip(1).filter_map(|section| {
        let (codes, body) = section.split_once('\n')?;
        // The first paragraph says who tells it.
        let summary = body.trim_start().split("\n\n").nth(1)?;
        let summary = summary.trim().replace('\n', " ");
        Some((codes, summary, body.trim_end()))
    });
    sections.flat_map(|(codes, summary, body)| {
        codes.split(", ").map(move |code| Page {
            code,
            summary: summary.clone().into(),
            text: format!("## {code}\n{body}\n").into(),
            tellers: &[],
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_section_is_a_page_with_all_its_parts() {
        for file in FILES {
            let headings = file.lines().filter_map(|line| line.strip_prefix("## "));
            let codes: Vec<&str> = headings.flat_map(|codes| codes.split(", ")).collect();
            let pages: Vec<Page> = sections(file).collect();
            let paged: Vec<&str> = pages.iter().map(|page| page.code).collect();
            assert_eq!(paged, codes);
            for page in pages {
                assert!(page.text.contains("\n\n*`obverse"), "{page:?}");
                assert!(page.summary.ends_with('.'), "{page:?}");
                assert!(
                    page.what_to_do().is_some_and(|told| !told.is_empty()),
                    "{page:?}"
                );
            }
        }
    }

    #[test]
    fn every_page_says_who_tells_it_and_how_severe_it_is() {
        for page in all() {
            let severities = ["error", "warning", "info", "note", "finding"];
            assert!(severities.contains(&page.severity()), "{page:?}");
            let told_by = page.told_by();
            let is_command = |one: &String| one.split(' ').next() == Some("obverse");
            assert!(
                !told_by.is_empty() && told_by.iter().all(is_command),
                "{page:?}"
            );
            let is_prose = |part: &str| {
                part.trim_end_matches(')').ends_with('.')
                    && !["**", "<!--", "```"].iter().any(|sign| part.contains(sign))
            };
            assert!(page.why().is_none_or(is_prose), "{page:?}");
            assert!(page.what_to_do().is_none_or(is_prose), "{page:?}");
            let example = page.example().unwrap_or_default();
            assert!(
                !example.contains("<!--") && !example.contains("**What"),
                "{example}"
            );
        }
    }

    #[test]
    fn an_example_begins_with_its_first_file() {
        let example = |code: &str| page(code).unwrap().example().unwrap();
        // The name of one file is in a comment, that of the other on a line of its own as well.
        assert!(example("state").starts_with("`models.txt`:\n\n```text\norg/model\n```\n\n```"));
        let named = example("unclaimed");
        assert!(
            named.starts_with("`response_template.json`:\n\n```json\n{"),
            "{named}"
        );
        assert_eq!(named.matches("`suite.jsonl`:").count(), 1);
        // What is said of an example is no advice.
        assert!(example("unreachable").starts_with("Nothing listens at port 9 here.\n\n```"));
        assert!(example("dollar").starts_with("```json\n"));
    }

    #[test]
    fn who_tells_a_code_otherwise_is_named_too() {
        let page = page("unclaimed").unwrap();
        assert_eq!(page.severity(), "error");
        assert_eq!(page.told_by(), ["obverse check", "obverse parse"]);
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
