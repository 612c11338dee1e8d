//! The state of a parser, to be looked at: the open region, the delimiters it looks for, what it holds and why.
//!
//! All places are byte offsets into the text that is parsed: what the prefix leaves after its anchor, then the response. The
//! first [`Snapshot::prefix_bytes`] of it are the prefix's.

use std::ops::Range;

use super::limits::Limits;
use crate::pattern::{Matcher, Pattern};
use crate::value::Map;

/// The state of a parser between two calls.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Snapshot<'p> {
    /// Its status: whether it reads on.
    pub status: Status,
    /// How much of the text is the prefix's.
    pub prefix_bytes: usize,
    /// How much of the text has arrived. What arrives after the parser stopped reading does not count.
    pub fed: usize,
    /// Up to where the text is accounted for: given to regions, or read as delimiters.
    pub position: usize,
    /// The text from there on, held because a delimiter may be under way in it.
    pub held: &'p str,
    /// The open region; none before the first text of the implicit field, and where text is discarded.
    pub region: Option<OpenRegion<'p>>,
    /// The delimiters that count now.
    pub watched: Vec<Watched<'p>>,
    /// How much the parse has taken of what [`limits`](Self::limits) allows.
    pub usage: Usage,
    /// How much it may take.
    pub limits: Limits,
}

/// Says whether a parser reads on, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Status {
    /// The parser reads on.
    Reading,
    /// A close without text met a region without text; as the reference, it reads no further.
    Stalled,
    /// A limit was reached.
    Ended,
    /// The response is over.
    Finalized,
}

/// A region that is being read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct OpenRegion<'p> {
    /// The field: an index into [`crate::response_template::ResponseTemplate::fields`].
    pub field: usize,
    /// Its name.
    pub name: &'p str,
    /// The text of each named group of its opening delimiter.
    pub captures: &'p Map,
    /// Its text as far as it is known to be the region's.
    pub span: Range<usize>,
}

/// A delimiter that is looked for.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Watched<'p> {
    /// The field that it opens or closes: an index into [`crate::response_template::ResponseTemplate::fields`].
    pub field: usize,
    /// Its name.
    pub name: &'p str,
    /// Which of the field's two delimiters it is.
    pub side: Edge,
    /// The delimiter.
    pub pattern: &'p Pattern,
    /// How much of it has been seen.
    pub waiting: Waiting,
}

/// Which of a field's two delimiters. An open counts before a close that begins at the same place and is as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Edge {
    /// The one that opens its region.
    Open,
    /// The one that closes it.
    Close,
}

/// How much has been seen of a delimiter that has not been passed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Waiting {
    /// Nothing: it does not begin in the text that has arrived.
    Nothing,
    /// It may have begun at `from`: everything since then could be part of it.
    UnderWay {
        /// The first byte.
        from: usize,
    },
    /// It has matched, and is not read yet.
    Matched {
        /// The bytes that it matched.
        span: Range<usize>,
        /// True if it waits because the text that follows may make it longer. Otherwise it waits because another one may begin before it.
        may_grow: bool,
    },
}

/// How much a parse has taken; [`Limits`] says what each number counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// The bytes of the open region.
    pub region_bytes: usize,
    /// The bytes kept between two calls.
    pub held_bytes: usize,
    /// The regions so far.
    pub regions: usize,
}

/// A delimiter that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passed {
    /// The field that it opened or closed: an index into [`crate::response_template::ResponseTemplate::fields`].
    pub field: usize,
    /// Which of the field's two delimiters.
    pub side: Edge,
    /// Where it stands.
    pub span: Range<usize>,
}

impl Status {
    /// The status' stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Stalled => "stalled",
            Self::Ended => "ended",
            Self::Finalized => "finalized",
        }
    }
}

impl Edge {
    /// The side's stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Close => "close",
        }
    }
}

impl Watched<'_> {
    /// Why it is not read yet, in a sentence; `None` where nothing of it is there.
    pub fn reason(&self) -> Option<&'static str> {
        Some(match (&self.waiting, self.pattern.engine()) {
            (Waiting::Nothing, _) => return None,
            (Waiting::UnderWay { .. }, Matcher::Literal) => {
                "the last bytes are the beginning of it"
            }
            (Waiting::UnderWay { .. }, Matcher::Automaton) => {
                "the last bytes may be the beginning of it"
            }
            (Waiting::UnderWay { .. }, Matcher::Backtracking) => {
                "whether it matches depends on what follows"
            }
            (Waiting::Matched { may_grow: true, .. }, _) => "what follows may make it longer",
            (Waiting::Matched { .. }, _) => "another one may have begun before it",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parser::{Options, ResponseParser};
    use crate::response_template::ResponseTemplate;

    fn parser(fields: &str, prefix: &str) -> ResponseParser {
        let source = format!(r#"{{"start_anchor": "A:", "fields": {fields}}}"#);
        let template = ResponseTemplate::from_json(&source).expect("a template");
        let options = Options {
            keep_delimiters: true,
            ..Options::default()
        };
        ResponseParser::with_options(template, prefix, &[], options).expect("a prefix")
    }

    fn waiting(parser: &ResponseParser) -> Vec<(String, Waiting)> {
        let snapshot = parser.snapshot();
        let name = |watched: &Watched<'_>| format!("{} {}", watched.side.name(), watched.name);
        snapshot
            .watched
            .iter()
            .map(|watched| (name(watched), watched.waiting.clone()))
            .collect()
    }

    const FIELDS: &str = r#"{
        "thinking": {"open_pattern": "<think(?P<how>[^>]*)>", "close": "</think>",
                     "transform": {"how": "{how}", "text": "{content}"}},
        "content": {"close": "<end>"}
    }"#;

    #[test]
    fn what_is_held_and_for_whom_is_seen() {
        let mut parser = parser(FIELDS, "Q: ? A:so ");
        assert_eq!(parser.snapshot().prefix_bytes, 3);
        parser.feed("Hello<").expect("no error");
        let snapshot = parser.snapshot();
        assert_eq!(
            (snapshot.position, snapshot.fed, snapshot.held),
            (8, 9, "<")
        );
        assert_eq!(
            (snapshot.status, snapshot.usage.held_bytes),
            (Status::Reading, 1)
        );
        assert_eq!(snapshot.region.expect("a region").span, 0..8);
        let under_way = Waiting::UnderWay { from: 8 };
        assert_eq!(
            waiting(&parser),
            [
                ("close content".to_owned(), under_way.clone()),
                ("open thinking".to_owned(), under_way)
            ]
        );
        parser.feed("think hard").expect("no error");
        let reasons = |parser: &ResponseParser| -> Vec<_> {
            let snapshot = parser.snapshot();
            snapshot.watched.iter().map(Watched::reason).collect()
        };
        assert_eq!(
            reasons(&parser),
            [None, Some("the last bytes may be the beginning of it")]
        );
        parser.feed(">Hm").expect("no error");
        let snapshot = parser.snapshot();
        let region = snapshot.region.expect("a region");
        assert_eq!((region.name, region.span), ("thinking", 20..22));
        let usage = Usage {
            region_bytes: 2,
            held_bytes: 0,
            regions: 1,
        };
        assert_eq!(snapshot.usage, usage);
        assert_eq!(region.captures["how"].as_str(), Some(" hard"));
        assert_eq!(
            waiting(&parser),
            [("close thinking".to_owned(), Waiting::Nothing)]
        );
    }

    #[test]
    fn what_was_passed_over_is_not_under_way() {
        let mut parser = parser(FIELDS, "");
        for chunk in ["a<", "b", "ccc", "ddd"] {
            parser.feed(chunk).expect("no error");
        }
        assert!(
            waiting(&parser)
                .iter()
                .all(|(_, waiting)| *waiting == Waiting::Nothing)
        );
        let snapshot = parser.snapshot();
        assert_eq!((snapshot.position, snapshot.fed, snapshot.held), (9, 9, ""));
        assert_eq!(snapshot.usage.region_bytes, 9);
    }

    #[test]
    fn a_match_that_may_grow_waits() {
        let mut parser = parser(r#"{"content": {"close_pattern": "<end>\\s*"}}"#, "");
        parser.feed("Hi<end>\n").expect("no error");
        let matched_or_under_way = &waiting(&parser)[0].1;
        assert_ne!(*matched_or_under_way, Waiting::Nothing);
        assert_eq!(parser.snapshot().held, "<end>\n");
        parser.finalize().expect("a message");
        assert_eq!(parser.snapshot().status, Status::Finalized);
        let passed = Passed {
            field: 0,
            side: Edge::Close,
            span: 2..8,
        };
        assert_eq!(parser.take_delimiters(), [passed]);
        assert_eq!(parser.take_delimiters(), []);
    }

    #[test]
    fn what_has_matched_is_seen_until_it_is_read() {
        let mut parser = parser(
            r#"{"content": {"close_pattern": "<[ef]>"}, "n": {"open": "a<e>b", "close": "<n>", "content": "int"}}"#,
            "",
        );
        let seen = |parser: &ResponseParser| -> Vec<_> {
            let reasons = parser
                .snapshot()
                .watched
                .iter()
                .map(Watched::reason)
                .collect();
            let waiting = waiting(parser).into_iter().map(|(_, waiting)| waiting);
            waiting.zip::<Vec<_>>(reasons).collect()
        };
        let nothing = (Waiting::Nothing, None);
        let matched = |span, may_grow, reason| (Waiting::Matched { span, may_grow }, Some(reason));
        parser.feed("x<f>").expect("no error");
        let longer = matched(1..4, true, "what follows may make it longer");
        assert_eq!(seen(&parser), [longer, nothing.clone()]);
        parser.feed("-a<e>").expect("no error");
        let begun = Waiting::UnderWay { from: 5 };
        assert_eq!(seen(&parser)[1].0, begun);
        let longer = matched(6..9, true, "what follows may make it longer");
        assert_eq!(seen(&parser)[0], longer);
        // The error comes before the delimiters are looked for again.
        parser.feed("bno number<n>").expect_err("no number");
        assert_eq!(seen(&parser), [nothing.clone(), nothing]);
    }

    #[test]
    fn states_and_sides_have_names() {
        let states = [
            Status::Reading,
            Status::Stalled,
            Status::Ended,
            Status::Finalized,
        ];
        assert_eq!(
            states.map(Status::name),
            ["reading", "stalled", "ended", "finalized"]
        );
        assert_eq!([Edge::Open, Edge::Close].map(Edge::name), ["open", "close"]);
    }

    #[test]
    fn delimiters_are_kept_in_their_order() {
        let mut parser = parser(FIELDS, "");
        parser.feed("<think>a</think>b<end>\n").expect("no error");
        let passed: Vec<_> = parser
            .take_delimiters()
            .into_iter()
            .map(|passed| (passed.field, passed.side, passed.span))
            .collect();
        assert_eq!(
            passed,
            [
                (0, Edge::Open, 0..7),
                (0, Edge::Close, 8..16),
                (1, Edge::Close, 17..22)
            ]
        );
    }

    #[test]
    fn a_limit_and_a_stall_are_seen() {
        let mut stalling = parser(r#"{"content": {"close_pattern": "(?=<)"}}"#, "");
        stalling.feed("<a> b").expect("no error");
        stalling.feed("what is never read").expect("no error");
        let snapshot = stalling.snapshot();
        assert_eq!((snapshot.status, snapshot.fed), (Status::Stalled, 0));
        let mut idle = parser(
            r#"{"content": {"close_pattern": "x"}, "a": {"open_pattern": "(?=y)", "close_pattern": "(?=y)"}}"#,
            "",
        );
        assert!(idle.feed("ayz").is_err());
        assert!(idle.feed("what is never read").is_err());
        let snapshot = idle.snapshot();
        assert_eq!((snapshot.status, snapshot.fed), (Status::Ended, 1));
    }
}
