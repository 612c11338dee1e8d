//! A check that the reference finds the same delimiters in a response that arrives a character at a time as in the whole response.
//!
//! Our parser gives one answer for every chunking, the reference does not: it keeps a match in the text at hand even where the text that
//! follows would have given another match. Of `(?:<a\s*)?<` it takes the `<` with which `<a <` begins, as soon as one more character has
//! come, and a response template that is read so is of no use to who streams. So its search is done again here, as
//! `ResponseParser._process` and `_scan` of transformers 5.23 do it:
//!
//! - a match in the text at hand counts as if nothing followed, wherever something else has begun;
//! - it waits only where it ends with that text, unless it is a literal that no other of its list extends;
//! - the first that does not wait is taken if it begins before whatever waits.
//!
//! The work is that of our own search, which says where something has begun; only there the text is searched again. Over six
//! thousand generated response templates it gave the reference's answer in all but four, which had `\Z` beside a look-ahead.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

use crate::pattern::{Captures, Cursor, MatchError, Pattern, Progress, Window};
use crate::response_template::ResponseTemplate;

/// The limit on the bytes that are searched again in one response, each time that something waits in it. Beyond the limit nothing is said.
pub(super) const MAX_SEARCHED: usize = 4_000;

/// The limit for a response that is read at length.
pub(super) const MAX_SEARCHED_AT_LENGTH: usize = 200_000;

/// The length in bytes from which on a held text is searched further than it has arrived. A short text waits for a marker to be whole, for
/// which a search at each character costs less; a long one waits where a pattern looks ahead.
const LEAST_HELD: usize = 24;

/// The text in which the reference, fed one character at a time, finds another delimiter than in the whole; `None` where it finds
/// the same ones, or where that takes more than the limit. `prefix` is what the parser reads of the prompt, which is one piece.
pub(super) fn misread(
    template: &ResponseTemplate,
    prefix: &str,
    response: &str,
    limit: usize,
    looks: &Looks,
) -> Option<String> {
    let text = [prefix, response].concat();
    let characters = response.char_indices().map(|(at, c)| at + c.len_utf8());
    let ends = std::iter::once(0).chain(characters);
    let ends: Vec<usize> = ends.map(|end| prefix.len() + end).collect();
    let arriving = || Arriving::new(template, &text, limit, looks);
    let all = arriving().read(&[text.len()]).ok()??;
    let pieces = arriving().read(&ends).ok()??;
    let same = all.iter().zip(&pieces).take_while(|(a, b)| a == b).count();
    let other = pieces.get(same).or_else(|| all.get(same))?;
    Some(text[other.span.clone()].to_owned())
}

/// The longest text in bytes of which is kept what a delimiter finds in it.
const MAX_LOOK: usize = 96;

/// How many texts are kept at most.
const MAX_LOOKS: usize = 1 << 14;

/// The matches of one response template's delimiters in texts at hand that are held, and are the same in many responses: the beginnings of
/// markers.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// By the delimiter, by how much of the text it can see before the place from which on it is held, and by whether that is all.
    known: RefCell<HashMap<(usize, usize, bool), Known>>,
}

/// Matches, or none, in texts. Their places are counted from the beginning of the text.
type Known = HashMap<String, Option<Captures>, foldhash::fast::RandomState>;

impl Looks {
    /// The match of a pattern, which is the delimiter of that index, in a text where none begins before `hold`.
    fn search(
        &self,
        index: usize,
        pattern: &Pattern,
        text: &str,
        hold: usize,
    ) -> Result<Option<Captures>, MatchError> {
        let begin = text.floor_char_boundary(hold.saturating_sub(pattern.lookbehind()));
        let seen = &text[begin..];
        if seen.len() > MAX_LOOK {
            return pattern.search(text, hold);
        }
        let mut all = self.known.borrow_mut();
        let known = all.entry((index, hold - begin, begin == 0)).or_default();
        if let Some(found) = known.get(seen) {
            let found = found.as_ref();
            return Ok(found.map(|found| moved(found, |place| place + begin)));
        }
        let found = pattern.search(text, hold)?;
        if known.len() < MAX_LOOKS {
            let found = found.as_ref();
            let found = found.map(|found| moved(found, |place| place.saturating_sub(begin)));
            known.insert(seen.to_owned(), found);
        }
        Ok(found)
    }
}

/// The match with its places moved.
fn moved(found: &Captures, to: impl Fn(usize) -> usize) -> Captures {
    let span = |span: &Range<usize>| to(span.start)..to(span.end);
    let groups = found.groups.iter();
    Captures {
        span: span(&found.span),
        groups: groups
            .map(|(name, group)| (name.clone(), group.as_ref().map(span)))
            .collect(),
    }
}

/// A delimiter that was passed: its index in the plan, its place, and the texts of its named groups.
#[derive(PartialEq)]
struct Passed<'t> {
    index: usize,
    span: Range<usize>,
    groups: Vec<Option<&'t str>>,
}

/// A text as far as the reference has read it.
struct Arriving<'t> {
    template: &'t ResponseTemplate,
    looks: &'t Looks,
    text: &'t str,
    position: usize,
    field: Option<usize>,
    /// True if the open region has text, or was opened by a delimiter.
    opened: bool,
    /// Our own search for each delimiter of the plan.
    searches: Vec<Option<(Cursor, Progress)>>,
    /// For each delimiter a place and an end, in bytes of the text. Up to the end no match begins at the place or behind it.
    barren: Vec<(usize, usize)>,
    /// For each delimiter the first match in the whole text that does not begin before a place, once that was searched for.
    ahead: Vec<Option<Ahead>>,
    passed: Vec<Passed<'t>>,
    /// How many bytes may still be searched again.
    left: usize,
}

/// The first match in a text that does not begin before a place.
struct Ahead {
    from: usize,
    /// `None` where there is none.
    span: Option<Range<usize>>,
}

/// The state of a delimiter in the text at hand.
enum Sighted {
    Match(Captures),
    /// Text that begins here may be a delimiter.
    Waits(usize),
    Nothing,
}

impl<'t> Arriving<'t> {
    fn new(template: &'t ResponseTemplate, text: &'t str, limit: usize, looks: &'t Looks) -> Self {
        Self {
            template,
            looks,
            text,
            position: 0,
            field: template.implicit(),
            opened: false,
            searches: template.plan().sought.iter().map(|_| None).collect(),
            barren: template.plan().sought.iter().map(|_| (0, 0)).collect(),
            ahead: template.plan().sought.iter().map(|_| None).collect(),
            passed: Vec::new(),
            left: limit,
        }
    }

    /// Reads the text in pieces that end there, and then as one that has ended; `None` where that is too much work.
    fn read(mut self, ends: &[usize]) -> Result<Option<Vec<Passed<'t>>>, MatchError> {
        for &end in ends {
            if self.begins_nothing(end) {
                self.pass_over(end);
            } else {
                let searched = end - self.position.min(end);
                let Some(left) = self.left.checked_sub(searched) else {
                    return Ok(None);
                };
                self.left = left;
                self.process(end, false)?;
            }
        }
        self.process(self.text.len(), true)?;
        Ok(Some(self.passed))
    }

    /// Returns true if no delimiter waits, and none begins in the text that arrives up to `end`.
    fn begins_nothing(&self, end: usize) -> bool {
        let starts = self.template.plan().starts(self.field);
        let arriving = &self.text.as_bytes()[self.position..end];
        starts.is_some_and(|starts| starts.find(arriving).is_none())
    }

    /// Reads text that is no delimiter.
    fn pass_over(&mut self, end: usize) {
        self.opened |= end > self.position;
        self.position = end.max(self.position);
    }

    fn process(&mut self, end: usize, ended: bool) -> Result<(), MatchError> {
        // Two delimiters that match no text could open and close each other for ever; the limit ends that.
        while self.passed.len() <= 2 * self.text.len() {
            let (next, hold) = self.next(end, ended)?;
            let Some((index, Captures { span, groups })) = next else {
                self.pass_over(hold);
                break;
            };
            let sought = &self.template.plan().sought[index];
            let had_text = self.opened || span.start > self.position;
            self.position = span.end;
            self.field = if sought.opens {
                Some(sought.field)
            } else {
                self.template.implicit()
            };
            self.opened = sought.opens;
            let is_stuck = !sought.opens && !had_text && span.is_empty();
            // An empty match right after the opening closes nothing. The reference stops here and finds it again with the next piece.
            if is_stuck {
                break;
            }
            let text = self.text;
            let group = |(_, place): (_, Option<Range<usize>>)| place.map(|place| &text[place]);
            let groups = groups.into_iter().map(group).collect();
            self.passed.push(Passed {
                index,
                span,
                groups,
            });
        }
        Ok(())
    }

    /// Returns the next delimiter that does not wait, and the place where the first one begins that does.
    fn next(
        &mut self,
        end: usize,
        ended: bool,
    ) -> Result<(Option<(usize, Captures)>, usize), MatchError> {
        let template = self.template;
        let plan = template.plan();
        let mut hold = end;
        let mut best: Option<(usize, Captures)> = None;
        let order = |(index, found): &(usize, Captures)| {
            let sought = &plan.sought[*index];
            let longest = std::cmp::Reverse(found.span.len());
            (found.span.start, longest, !sought.opens, sought.rank)
        };
        for &index in plan.counting(self.field) {
            match self.sight(index, end, ended)? {
                Sighted::Match(found) => {
                    let found = (index, found);
                    if best
                        .as_ref()
                        .is_none_or(|known| order(&found) < order(known))
                    {
                        best = Some(found);
                    }
                }
                Sighted::Waits(start) => hold = hold.min(start),
                Sighted::Nothing => {}
            }
        }
        let best = best.filter(|(_, found)| found.span.start < hold);
        Ok((best, hold))
    }

    fn sight(&mut self, index: usize, end: usize, ended: bool) -> Result<Sighted, MatchError> {
        let sought = &self.template.plan().sought[index];
        let found = if ended {
            sought.pattern.search(&self.text[..end], self.position)?
        } else {
            match self.progress(index, end)? {
                Progress::Found(found) => Some(found),
                Progress::Pending { hold } if hold >= end => return Ok(Sighted::Nothing),
                Progress::Pending { hold } => match self.at_hand(index, hold, end)? {
                    Some(found) => Some(found),
                    None => return Ok(Sighted::Waits(hold)),
                },
            }
        };
        Ok(match found {
            None => Sighted::Nothing,
            // A pattern's match that ends with the text so far waits for more text; a literal's does not.
            Some(found) if !ended && found.span.end == end && sought.patient => {
                Sighted::Waits(found.span.start)
            }
            Some(found) => Sighted::Match(found),
        })
    }

    /// Returns the match of the delimiter in the text at hand, as if nothing followed.
    ///
    /// A text that is held is searched again with every character. A match that is not in a text is in no beginning of it either, so one
    /// search of the whole text tells where the next match begins, up to where nothing is found. Behind that, one search further on answers
    /// for many characters: right before the match ends, or as far again as the text is held. Where such a search finds something, halving
    /// tells the character with which the match first appears.
    fn at_hand(
        &mut self,
        index: usize,
        hold: usize,
        end: usize,
    ) -> Result<Option<Captures>, MatchError> {
        let pattern = &self.template.plan().sought[index].pattern;
        let (text, from) = (self.text, self.position);
        let known = &mut self.barren[index];
        if known.0 <= from && end <= known.1 {
            return Ok(None);
        }
        // No match begins before the place from which on the text is held.
        let search = || self.looks.search(index, pattern, &text[..end], hold);
        if !pattern.grows() {
            return search();
        }
        let ahead = &mut self.ahead[index];
        let is_ahead = |ahead: &Ahead| {
            let next = ahead.span.as_ref();
            ahead.from <= from && next.is_none_or(|span| from <= span.start)
        };
        // A search that takes too many steps says nothing.
        if !ahead.as_ref().is_some_and(is_ahead) {
            let found = pattern.search(text, from).ok();
            *ahead = found.map(|found| Ahead {
                from,
                span: found.map(|found| found.span),
            });
        }
        let ahead = ahead.as_ref();
        if ahead.is_some_and(|ahead| ahead.span.as_ref().is_none_or(|span| end < span.start)) {
            return Ok(None);
        }
        let found = search()?;
        if found.is_some() {
            return Ok(found);
        }
        // Searches that take more steps than the shorter text may say nothing.
        let is_barren = |end: usize| matches!(pattern.search(&text[..end], from), Ok(None));
        let last = ahead.and_then(|ahead| ahead.span.as_ref()?.end.checked_sub(1));
        let last = last.map(|last| text.floor_char_boundary(last));
        let held = text.floor_char_boundary(end + (end - from));
        let further = match last.filter(|last| end < *last) {
            Some(last) => Some(last),
            None => (end - from >= LEAST_HELD).then_some(held),
        };
        if let Some(further) = further {
            let (mut barren, mut fertile) = (end, further);
            if is_barren(further) {
                barren = further;
            }
            loop {
                let middle = text.floor_char_boundary((barren + fertile) / 2);
                if middle <= barren {
                    break;
                }
                if is_barren(middle) {
                    barren = middle;
                } else {
                    fertile = middle;
                }
            }
            *known = (from, barren);
        }
        Ok(found)
    }

    /// Returns the progress of our own search for the delimiter, whatever follows.
    fn progress(&mut self, index: usize, end: usize) -> Result<Progress, MatchError> {
        let pattern = &self.template.plan().sought[index].pattern;
        let slot = &mut self.searches[index];
        let is_stale = |known: &Progress| match known {
            Progress::Found(found) => found.span.start < self.position,
            Progress::Pending { hold } => *hold < self.position,
        };
        let hold = self.position;
        let (cursor, known) =
            slot.get_or_insert_with(|| (Cursor::new(pattern, hold), Progress::Pending { hold }));
        if is_stale(known) {
            cursor.restart(pattern, hold);
            *known = Progress::Pending { hold };
        }
        // What was found stays found, whatever follows.
        if matches!(known, Progress::Found(_)) {
            return Ok(known.clone());
        }
        let window = Window {
            text: &self.text[..end],
            start: 0,
            complete: false,
        };
        *known = cursor.advance(pattern, &window, None)?;
        Ok(known.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn misread_in(fields: &str, prefix: &str, response: &str) -> Option<String> {
        let document = format!(r#"{{"start_anchor": "A:", "fields": {{{fields}}}}}"#);
        let template = ResponseTemplate::from_json(&document).expect("a response template");
        misread(&template, prefix, response, MAX_SEARCHED, &Looks::default())
    }

    /// Delimiters that `docs/differences.md` names, and others like them that are read alike.
    #[test]
    fn what_is_kept_too_early_is_misread() {
        let content = |close: &str| format!(r#""content": {{{close}}}"#);
        for (close, response, misread) in [
            (r#""close": ["abcd", "b"]"#, "abcd!", Some("b")),
            (r#""close": ["abcd", "b"]"#, "ab!", None),
            (r#""close": ["abcd", "abc"]"#, "abcd!", None),
            (
                r#""close_pattern": "<end of turn>|end""#,
                "Hi<end of turn>",
                Some("end"),
            ),
            (
                r#""close_pattern": "<end of turn>|end""#,
                "Hi<end> of turn",
                None,
            ),
            (
                r#""close_pattern": "<(a|b)>.*?</\\1>""#,
                "<a>x<b></b>y</a>",
                Some("<b></b>"),
            ),
            (r#""close_pattern": "<end>|$""#, "a\nb<end>", Some("")),
            (r#""close_pattern": "</s>|\\Z""#, "a</s>", Some("</s>")),
            (r#""close_pattern": "</s>|\\Z""#, "a", None),
            (r#""close_pattern": "\\s*<end>\\s*""#, "a\n <end> \n", None),
            (
                r#""close_pattern": "<end>(?!</s>)""#,
                "a<end>b<end></s>",
                Some("<end>"),
            ),
            (r#""close_pattern": "(?=<end>)""#, "<end>a<end>", None),
        ] {
            let found = misread_in(&content(close), "", response);
            assert_eq!(found.as_deref(), misread, "{close} {response}");
        }
    }

    #[test]
    fn what_opens_a_region_is_misread_too() {
        let fields = |open: &str| {
            format!(
                r#""q": {{"open_pattern": "{open}", "close_pattern": "</q>\\s*"}}, "content": {{"close": "!"}}"#
            )
        };
        let response = "Hi <q  <b>y</q> z! <";
        assert_eq!(misread_in(&fields("<q *"), "", response), None);
        assert_eq!(
            misread_in(&fields("(?:<q *)?<"), "", response).as_deref(),
            Some("<")
        );
        // Within the region only its close is searched for, and after it only the opens.
        assert_eq!(misread_in(&fields("(?:x<)?y|<q *"), "", response), None);
        assert_eq!(misread_in(&fields("<q *|(?:z! )?<"), "", response), None);
    }

    /// A group within a look-ahead that has no bound takes what is there.
    #[test]
    fn what_a_group_takes_is_misread_too() {
        let fields = |ahead: &str| {
            format!(
                r#""q": {{"open_pattern": "<q>(?=.*{ahead}#(?P<id>\\w+)#)", "close": "</q>",
                "transform": {{"id": "{{id}}"}}}}, "content": {{}}"#
            )
        };
        let response = "<q>a#1#</q> <q>b#2#</q>";
        assert_eq!(
            misread_in(&fields(""), "", response).as_deref(),
            Some("<q>")
        );
        assert_eq!(misread_in(&fields("?"), "", response), None);
    }

    /// The prompt is one piece, which the reference reads before the response.
    #[test]
    fn the_prefix_is_read_at_once() {
        let fields = r#""content": {"close": ["abcd", "b"]}"#;
        assert_eq!(misread_in(fields, "abcd", ""), None);
        assert_eq!(misread_in(fields, "ab", "cd"), Some("b".to_owned()));
    }

    /// A look-ahead finds the end of what has arrived, which is gone with the next piece; a long text takes more searches than are made as a rule.
    #[test]
    fn the_end_of_what_has_arrived_is_that_of_the_text() {
        let document = r#"{"start_anchor": "A:", "fields": {"thinking": {"open": "<t>",
            "close_pattern": "</t>|(?=<c>(?:(?!</t>).)*</c>(?:<end>)?\\Z)"}, "content": {}}}"#;
        let template = ResponseTemplate::from_json(document).expect("a response template");
        for (body, limits) in [
            ("{}".to_owned(), [true, true]),
            ("{}".repeat(90), [false, true]),
        ] {
            let response = format!("<t>So <c>{body}</c> it is</t>No.");
            let looks = Looks::default();
            let found = [MAX_SEARCHED, MAX_SEARCHED_AT_LENGTH]
                .map(|limit| misread(&template, "", &response, limit, &looks).is_some());
            assert_eq!(found, limits, "{body}");
        }
    }

    #[test]
    fn what_is_kept_of_a_text_is_kept_with_where_it_is_held() {
        let looks = Looks::default();
        let pattern = Pattern::regex("(?<!b)a").expect("a pattern");
        for (text, hold, place) in [
            ("aba", 0, Some(0)),
            ("aba", 1, None),
            ("aba", 0, Some(0)),
            ("longer aba", 7, Some(7)),
            ("longer aba", 8, None),
            ("other, longer aba", 14, Some(14)),
        ] {
            let found = looks.search(0, &pattern, text, hold);
            assert_eq!(found, pattern.search(text, hold), "{text} from {hold}");
            let start = found.expect("no limit").map(|found| found.span.start);
            assert_eq!(start, place, "{text} from {hold}");
        }
    }

    /// Whatever is known of other ends and of other responses, what is found in the text at hand is what a search of it finds.
    #[test]
    fn the_text_at_hand_is_searched_as_if_nothing_were_known() {
        let opens = [
            r"<q>\\s*(?:</q>)?",
            r"(?:<q>\\s*)?<b>(?P<n>[a-c]+)",
            r"(?=<q>(?:(?!</b>).)*</q><b>)",
            r"<q>(?!</q>)",
            r"(?<=</q>\\s{0,2})(?=<b>a|</b>\\s*\\Z)",
            r"</b>(?:\\s*</q>|<(?:/(?:q)?)?\\Z)?",
        ];
        let pieces = [
            "<q>",
            "</q>",
            "<b>",
            "</b>",
            "<",
            "</",
            "a",
            "bc",
            " ",
            "é",
            "<q>a</q><b>",
        ];
        let mut seed = 7usize;
        let mut below = |limit: usize| {
            seed = seed.wrapping_mul(0x5DEE_CE66D).wrapping_add(11) & ((1 << 48) - 1);
            (seed >> 17) % limit
        };
        for open in opens {
            let transform = match open.contains("?P<n>") {
                true => r#", "transform": {"n": "{n}"}"#,
                false => "",
            };
            let document = format!(
                r#"{{"start_anchor": "A:", "fields": {{"x": {{"open_pattern": "{open}", "close": "!"{transform}}}, "content": {{}}}}}}"#
            );
            let template = ResponseTemplate::from_json(&document).expect("a response template");
            let looks = Looks::default();
            for _ in 0..300 {
                let text: String = (0..below(14))
                    .map(|_| pieces[below(pieces.len())])
                    .collect();
                let mut arriving = Arriving::new(&template, &text, MAX_SEARCHED, &looks);
                let index = arriving.template.plan().counting(arriving.field)[0];
                let pattern = &template.plan().sought[index].pattern;
                for end in (1..=text.len()).filter(|end| text.is_char_boundary(*end)) {
                    let Ok(Progress::Pending { hold }) = arriving.progress(index, end) else {
                        break;
                    };
                    if hold < end {
                        let found = arriving.at_hand(index, hold, end);
                        let meant = pattern.search(&text[..end], arriving.position);
                        assert_eq!(found, meant, "{open} in {text:?} up to {end}");
                    } else {
                        arriving.pass_over(hold);
                    }
                }
            }
        }
    }

    #[test]
    fn delimiters_without_text_end() {
        let fields = r#""x": {"open_pattern": "(?=b)", "close_pattern": "(?=b)"}, "content": {}"#;
        assert_eq!(misread_in(fields, "", "ab"), None);
    }
}
