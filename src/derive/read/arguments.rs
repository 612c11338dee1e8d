//! How arguments are written that are no object, but each with its key and its value apart.

use std::ops::Range;

use super::unread::Unread;
use crate::derive::choice::{self, Candidate, Choices, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::repeated::{self, Repeated};
use crate::derive::compare::{slot, text};
use crate::value::Map;

/// The text around the key and the value of each argument, white space included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Pairs {
    pub(in crate::derive) open: String,
    pub(in crate::derive) order: Order,
    /// The texts around the value: usually one pair, several where they tell the value's type. That of a string comes first.
    pub(in crate::derive) value: Vec<Around>,
    /// The text between two arguments that belongs to neither of them.
    pub(in crate::derive) separator: String,
    /// The quotes in which a name stands that is no word; `None` where it stands as any other name does.
    pub(in crate::derive) name_quotes: Option<(String, String)>,
    /// The way in which the values are written.
    pub(in crate::derive) style: Style,
    /// The values that are written in a form that cannot be read.
    pub(in crate::derive) unread: Unread,
}

/// Which of the two comes first in an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::derive) enum Order {
    /// The key, as in `harbor: 1`.
    KeyFirst,
    /// The value, as in `1 as harbor`.
    ValueFirst,
}

/// The texts around the only argument of a call in a turn.
#[derive(Debug, Clone, Copy)]
pub(in crate::derive) struct Frame<'t> {
    before: &'t str,
    behind: &'t str,
}

/// The way in which values of arguments that stand apart are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) enum Style {
    /// Values stand as their texts, and the tools' schemas tell the types of those that are not texts.
    Text,
    /// Values are JSON, with these texts around each.
    Json {
        around: Around,
        /// True if every value is. Otherwise texts are JSON, and what is none, such as `None`, is typed by the tools' schemas.
        is_whole: bool,
    },
    /// Values are JSON whose strings stand between these texts instead of quotes. Values that are not JSON are texts.
    Quoted(String, String),
}

/// The text around the value of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::derive) struct Around {
    /// The text between key and value, whichever comes first.
    pub(in crate::derive) between: String,
    /// The text after both; [`slot::KEY`] stands in it where the key is written again.
    pub(in crate::derive) close: String,
}

impl Around {
    /// Returns true if this is the other text with more white space around the value. Since that may be missing, it reads the values of both.
    pub(in crate::derive) fn spaces_out(&self, other: &Self) -> bool {
        let says = |around: &Self| [around.between.trim_end(), around.close.trim_start()].concat();
        let length = |around: &Self| around.between.len() + around.close.len();
        says(self) == says(other) && length(self) > length(other)
    }
}

/// Two arguments with strings for values, in the order in which their keys stand in `text`: some templates sort them.
pub(super) fn as_written<'m>(text: &str, arguments: &'m Map) -> Option<[(&'m str, &'m str); 2]> {
    let mut members = arguments
        .iter()
        .map(|(key, value)| Some((text.find(key.as_str())?, (key.as_str(), value.as_str()?))));
    let (one, other) = (members.next()??, members.next()??);
    Some(if one.0 <= other.0 {
        [one.1, other.1]
    } else {
        [other.1, one.1]
    })
}

/// How many characters what ends with a quote has, such as `="`.
const LONGEST_QUOTE: usize = 2;

/// Returns the candidates for the text around each of two arguments of a call with that name, by the texts before the first, between a key and its
/// value, between the two, and after them.
fn around_candidates(
    pieces: &Pieces,
    name: &str,
    [before, between, middle, after]: [&str; 4],
) -> Vec<Candidate<Repeated>> {
    let mut candidates = repeated::candidates(pieces, before, middle, after);
    // The characters right before and right behind a value are a pair of quotes, unless the first is the end of a marker which is no quote.
    let quote = between.trim_end().chars().next_back();
    let last = pieces.last_token(between).trim_end();
    let is_marker = last.chars().count() > LONGEST_QUOTE && pieces.is_one(last);
    let is_around = |quote: &str| middle.starts_with(quote) && after.starts_with(quote);
    let is_quoted = match quote {
        Some(_) if is_marker => is_around(last),
        Some(quote) => !quote.is_alphanumeric() && is_around(&quote.to_string()),
        None => false,
    };
    if is_quoted {
        candidates.reverse();
    }
    // Something has to end the name of the function: in `<f><k>v</k></f>` that is what would else begin the first argument.
    let ends_name = |one: &Repeated| !one.before.trim_end().ends_with(name);
    let is_by_name = candidates.iter().any(ends_name) && !candidates.first().is_some_and(ends_name);
    candidates.sort_by_key(|one| is_by_name && !ends_name(one));
    // A tag that is named by the key has the same behind its name where it closes: `>` in `<k>v</k>`.
    let behind_key = between.trim();
    let closes_alike = |one: &Repeated| {
        let behind = one.each.1.split_once(slot::KEY).map(|(_, behind)| behind);
        behind.is_some_and(|behind| !behind_key.is_empty() && behind.starts_with(behind_key))
    };
    let is_by_tag = !is_by_name && candidates.iter().any(closes_alike);
    candidates.sort_by_key(|one| is_by_tag && !closes_alike(one));
    let candidate = |(rank, one): (usize, Repeated)| {
        let [open, close] = [&one.each.0, &one.each.1].map(|one| choice::marker(one));
        let because = match (rank, is_quoted) {
            (0, _) if is_by_name => "something stands between the name of the function and it",
            (0, _) if is_by_tag => {
                "the same stands behind the key where it opens and where it closes"
            }
            (0, true) => "the same stands right before a value and right behind it",
            (0, false) => "what begins each argument stands before the first, too",
            _ => "what ends an argument begins as what begins one does",
        };
        let name = ["first", "second"].get(rank).copied().unwrap_or("further");
        Candidate::new(name, format!("{open} … {close}"), because, one)
    };
    candidates.into_iter().enumerate().map(candidate).collect()
}

/// Reads what stands around two arguments in `text`, of a call with that name, and where in it the arguments are.
pub(in crate::derive) fn pairs(
    pieces: &Pieces,
    text: &str,
    name: &str,
    arguments: &Map,
    choices: &Choices,
) -> Option<(Pairs, Range<usize>)> {
    let mut literals: Vec<&str> = Vec::new();
    let mut at = 0;
    let mut take = |word: &str| {
        let found = at + text[at..].find(word)?;
        literals.push(&text[at..found]);
        at = found + word.len();
        Some(())
    };
    let [(first, first_value), (second, second_value)] = as_written(text, arguments)?;
    let order = match text.find(first_value)? < text.find(first)? {
        true => Order::ValueFirst,
        false => Order::KeyFirst,
    };
    let words = match order {
        Order::KeyFirst => [first, first_value, second, second_value],
        Order::ValueFirst => [first_value, first, second_value, second],
    };
    for word in words {
        take(word)?;
    }
    let &[before, between, middle, between_again] = literals.as_slice() else {
        return None;
    };
    if between != between_again || between.is_empty() {
        return None;
    }
    // A closing tag that says the key again differs from argument to argument in nothing else.
    let middle = middle.replacen(first, &slot::KEY.to_string(), 1);
    let after = text[at..].replacen(second, &slot::KEY.to_string(), 1);
    let Repeated {
        each: (open, close),
        before,
        separator,
        ..
    } = choices.choose(
        DecisionId::AroundArgument,
        around_candidates(pieces, name, [before, between, &middle, &after]),
    )?;
    // Words beside words are prose.
    if between.trim().is_empty() && open.trim().is_empty() {
        return None;
    }
    let said_again = if close.contains(slot::KEY) {
        second.len() - slot::KEY.len_utf8()
    } else {
        0
    };
    let end = at + close.len() + said_again;
    let (open, between) = match order {
        Order::KeyFirst => (open.as_str(), between),
        Order::ValueFirst => without_quotes(&open, between),
    };
    let around = Around {
        between: between.to_owned(),
        close,
    };
    let pairs = Pairs {
        open: open.to_owned(),
        order,
        value: vec![around],
        separator,
        name_quotes: None,
        style: Style::Text,
        unread: Unread::default(),
    };
    Some((pairs, before.len()..end))
}

impl Pairs {
    /// Returns true if values are written as JSON, but for those that cannot be.
    pub(in crate::derive) fn are_json(&self) -> bool {
        matches!(self.style, Style::Json { .. })
    }

    /// Returns true if an argument ends its line.
    pub(in crate::derive) fn ends_line(&self) -> bool {
        let mut around = self.around().iter();
        around.all(|around| around.close.ends_with('\n'))
    }

    /// Returns the texts that close an argument.
    pub(in crate::derive) fn closes(&self) -> Vec<&str> {
        let around = self.around().iter();
        around.map(|around| around.close.as_str()).collect()
    }

    /// Returns the texts around a value as it is read.
    pub(in crate::derive) fn around(&self) -> &[Around] {
        match &self.style {
            Style::Json { around, .. } => std::slice::from_ref(around),
            _ => &self.value,
        }
    }

    /// Returns the texts around the only argument of a call, whose value is `text`.
    pub(in crate::derive) fn frame<'t>(
        &self,
        turn: &'t str,
        key: &str,
        text: &str,
    ) -> Option<Frame<'t>> {
        let Around { between, close } = self.value.first()?;
        let open = self.open.as_str();
        let close = close.replace(slot::KEY, key);
        let (before, behind) = match self.order {
            Order::KeyFirst => {
                let (before, after) = turn.split_once(&format!("{open}{key}"))?;
                (before, after.split_once(text)?.1.strip_prefix(&close)?)
            }
            Order::ValueFirst => {
                let (before, after) = turn.split_once(text)?;
                let (before, after) = without_quotes(before, after);
                let after = after.strip_prefix(between)?.strip_prefix(key)?;
                (before.strip_suffix(open)?, after.strip_prefix(&close)?)
            }
        };
        Some(Frame { before, behind })
    }

    /// Returns the only argument of a call as it is written, in a turn with these texts around it, without what opens every argument.
    pub(in crate::derive) fn argument<'t>(
        &self,
        turn: &'t str,
        frame: Frame<'_>,
    ) -> Option<&'t str> {
        let argument = turn.strip_prefix(frame.before)?;
        behind_marker(argument.strip_suffix(frame.behind)?, &self.open)
    }

    /// Puts a slot in the place of the one word before the name in which the argument in `turn` differs from the others: `<arg kind="text" name="a">`
    /// beside `<arg kind="json" name="a">`.
    fn put_slot_before_name(&mut self, turn: &str, key: &str, frame: Frame<'_>) {
        if self.argument(turn, frame).is_some() {
            return;
        }
        let argument = turn.strip_prefix(frame.before);
        let open = argument.and_then(|argument| argument.split_once(key));
        let differing = open.and_then(|(open, _)| text::differing_words(&[&self.open, open]));
        if let Some((before, _, behind)) = differing {
            self.open = format!("{before}{}{behind}", slot::WORD);
        }
    }

    /// Learns the text around a value of another type than text. The value is the only argument of a call, and `turn` is the turn with that
    /// call. Where the value comes first, the text around it is always the same.
    pub(in crate::derive) fn learn(
        &mut self,
        turn: &str,
        key: &str,
        value: &str,
        frame: Frame<'_>,
    ) {
        if self.order == Order::ValueFirst {
            return;
        }
        self.put_slot_before_name(turn, key, frame);
        let argument = self.argument(turn, frame);
        let around = argument.and_then(|argument| argument.strip_prefix(key)?.rsplit_once(value));
        let Some((between, close)) = around else {
            return;
        };
        let found = Around {
            between: between.to_owned(),
            close: close.replacen(key, &slot::KEY.to_string(), 1),
        };
        if !between.is_empty() && !self.value.contains(&found) {
            self.value.push(found);
        }
    }

    /// Returns the value of a call's only argument as it is written. `turn` is the turn with that call.
    pub(in crate::derive) fn written<'t>(
        &self,
        turn: &'t str,
        key: &str,
        frame: Frame<'_>,
    ) -> Option<&'t str> {
        let all = self.value.iter();
        let candidates = all.filter_map(|around| self.written_in(around, turn, key, frame));
        candidates.min_by_key(|value| value.len())
    }

    /// Returns the text around values that are texts and around no values of another type, if there is such; these are the quotes.
    pub(in crate::derive) fn quotes(&self) -> Option<(String, String)> {
        let (text, others) = self.value.split_first()?;
        others.iter().find_map(|other| {
            let open = text.between.strip_prefix(other.between.as_str())?;
            let close = text.close.strip_suffix(other.close.as_str())?;
            let is_quoted = !open.is_empty() && !close.is_empty() && !slot::any(close);
            is_quoted.then(|| (open.to_owned(), close.to_owned()))
        })
    }

    /// Moves text from around the call to around its arguments, where a call without arguments lacks that text: then it belongs to the
    /// arguments. `behind_name` is the text behind the name of a call without arguments.
    pub(in crate::derive) fn take_what_none_has(
        &mut self,
        around: &mut (String, String),
        behind_name: &str,
    ) {
        let Some((_, open)) = around.0.rsplit_once(slot::NAME) else {
            return;
        };
        let close = around.1.as_str();
        let starts = open.char_indices().map(|(at, _)| at).rev();
        let ends = || close.char_indices().map(|(at, c)| at + c.len_utf8());
        let cuts = std::iter::once(open.len())
            .chain(starts)
            .flat_map(|from| std::iter::once(0).chain(ends()).map(move |to| (from, to)));
        let fits = |(from, to): &(usize, usize)| {
            let rest = behind_name.strip_prefix(&open[..*from]);
            rest.is_some_and(|rest| rest.starts_with(&close[*to..]) && *to < close.len())
        };
        let least = cuts
            .filter(fits)
            .min_by_key(|(from, to)| open.len() - from + to);
        let Some((from, to)) = least else { return };
        let (before, behind) = (open[from..].to_owned(), close[..to].to_owned());
        let separator = self.separator.strip_prefix(behind.as_str());
        let separator = separator.and_then(|rest| rest.strip_suffix(before.as_str()));
        if let Some(separator) =
            separator.filter(|_| !before.trim().is_empty() || !behind.trim().is_empty())
        {
            self.separator = separator.to_owned();
            self.open.insert_str(0, &before);
            let json = match &mut self.style {
                Style::Json { around, .. } => Some(around),
                _ => None,
            };
            for one in self.value.iter_mut().chain(json) {
                one.close.push_str(&behind);
            }
            around.0.truncate(around.0.len() - before.len());
            around.1.replace_range(..to, "");
        }
    }

    /// Returns the text that stands around every value, of whatever type and whether quoted or not. A word of it may tell the type: there is
    /// then a slot for it. `None` where more of the text tells the type.
    pub(in crate::derive) fn around_any(&self) -> Option<Around> {
        let shortest = self
            .value
            .iter()
            .min_by_key(|one| one.between.len() + one.close.len())?;
        let is_in_all = self.value.iter().all(|one| {
            one.between.starts_with(&shortest.between) && one.close.ends_with(&shortest.close)
        });
        match is_in_all {
            true => Some(shortest.clone()),
            false => self.around_typed(),
        }
    }

    /// Returns the text that stands around every value but for one word before it: `INTEGER` and `TEXT` in `a;INTEGER:1` and `b;TEXT:"c"`.
    fn around_typed(&self) -> Option<Around> {
        let bare = self
            .value
            .iter()
            .map(|one| without_quotes(&one.between, &one.close));
        let (betweens, closes): (Vec<&str>, Vec<&str>) = bare.unzip();
        let (before, _, behind) = text::differing_words(&betweens)?;
        let close = *closes.first()?;
        closes.iter().all(|other| *other == close).then(|| Around {
            between: format!("{before}{}{behind}", slot::WORD),
            close: close.to_owned(),
        })
    }

    /// Returns the value of a call's only argument as it is written, with its quotes.
    pub(in crate::derive) fn written_in<'t>(
        &self,
        around: &Around,
        turn: &'t str,
        key: &str,
        frame: Frame<'_>,
    ) -> Option<&'t str> {
        let (between, close) = (
            around.between.as_str(),
            around.close.replace(slot::KEY, key),
        );
        let argument = self.argument(turn, frame)?.strip_suffix(&close)?;
        match self.order {
            Order::KeyFirst => behind_marker(argument.strip_prefix(key)?, between),
            Order::ValueFirst => argument.strip_suffix(key)?.strip_suffix(between),
        }
    }
}

/// Returns the text behind a marker, in which a slot may stand for a word.
fn behind_marker<'t>(text: &'t str, marker: &str) -> Option<&'t str> {
    let Some((before, behind)) = marker.split_once(slot::WORD) else {
        return text.strip_prefix(marker);
    };
    let rest = text.strip_prefix(before)?;
    rest[slot::filled(slot::WORD, rest)?..].strip_prefix(behind)
}

/// Returns the texts before and behind a value without the quotes of JSON, where both have them: they are a part of the value.
fn without_quotes<'t>(before: &'t str, behind: &'t str) -> (&'t str, &'t str) {
    let bare = |before: &'t str| Some((before.strip_suffix('"')?, behind.strip_prefix('"')?));
    bare(before).unwrap_or((before, behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derive::probe;

    fn known() -> Pieces {
        Pieces::of([], ["<p=", "</p>", "<", "</", ">", "</f>", ", ", ")]", "("])
    }

    fn read(
        written: impl Fn(&str, &str) -> String,
        before: &str,
        after: &str,
    ) -> Option<(Pairs, Range<usize>)> {
        let arguments = probe::call(0).arguments;
        let body: String = arguments
            .iter()
            .filter_map(|(key, value)| Some(written(key, value.as_str()?)))
            .collect();
        pairs(
            &known(),
            &format!("{before}{body}{after}"),
            "f",
            &arguments,
            &Choices::default(),
        )
    }

    #[test]
    fn the_order_of_the_arguments_is_the_text_s() {
        let arguments = probe::call(0).arguments;
        let text = "<timber>violet mast</timber><harbor>opal drift</harbor>";
        assert!(pairs(&known(), text, "f", &arguments, &Choices::default()).is_some());
    }

    #[test]
    fn reads_tags_with_the_key_in_the_opening_one() {
        let (pairs, span) = read(
            |key, value| format!("<p={key}>\n{value}\n</p>\n"),
            ">\n",
            "</f>",
        )
        .unwrap();
        assert_eq!(span.start, 2);
        assert_eq!(pairs.open, "<p=");
        let around = Around {
            between: ">\n".to_owned(),
            close: "\n</p>\n".to_owned(),
        };
        assert_eq!(pairs.value, [around]);
    }

    #[test]
    fn reads_tags_named_by_the_key() {
        let (pairs, span) =
            read(|key, value| format!("<{key}>{value}</{key}>"), ">", "</f>").unwrap();
        assert_eq!(pairs.open, "<");
        assert_eq!(pairs.value[0].close, format!("</{}>", slot::KEY));
        let written = "><harbor>opal drift</harbor><timber>violet mast</timber>";
        assert_eq!(span, 1..written.len());
    }

    #[test]
    fn what_ends_the_name_of_the_function_begins_no_argument() {
        let tag = |key: &str, value: &str| format!("<{key}>{value}</{key}>");
        let (pairs, span) = read(tag, "<f>", "</f>").unwrap();
        assert_eq!(pairs.open, "<");
        assert_eq!(pairs.value[0].close, format!("</{}>", slot::KEY));
        assert_eq!(span.start, "<f>".len());
    }

    #[test]
    fn reads_keywords_and_learns_how_a_number_is_written() {
        let arguments = probe::call(0).arguments;
        let text = "(harbor='opal drift', timber='violet mast')]";
        let (mut pairs, span) =
            pairs(&known(), text, "f", &arguments, &Choices::default()).unwrap();
        assert_eq!((span.start, &text[span.end..]), (1, ")]"));
        assert_eq!((pairs.open.as_str(), pairs.separator.as_str()), ("", ", "));
        let frame = pairs.frame("f(harbor='opal drift')]", "harbor", "opal drift");
        let frame = frame.unwrap();
        assert_eq!((frame.before, frame.behind), ("f(", ")]"));
        pairs.learn("f(harbor=7)]", "harbor", "7", frame);
        let around = pairs
            .value
            .iter()
            .map(|a| (a.between.as_str(), a.close.as_str()));
        assert_eq!(around.collect::<Vec<_>>(), [("='", "'"), ("=", "")]);
        assert_eq!(
            pairs.written("f(harbor=[None])]", "harbor", frame),
            Some("[None]")
        );
        assert_eq!(
            pairs.written("f(harbor='\\'')]", "harbor", frame),
            Some("\\'")
        );
        let any = pairs.around_any().unwrap();
        assert_eq!(
            pairs.written_in(&any, "f(harbor='a')]", "harbor", frame),
            Some("'a'")
        );
    }

    #[test]
    fn reads_values_before_their_keys() {
        let (pairs, span) = read(
            |key, value| format!("\"{value}\" as {key}\n"),
            "f\n",
            "over",
        )
        .unwrap();
        let around = Around {
            between: " as ".to_owned(),
            close: "\n".to_owned(),
        };
        assert_eq!((pairs.order, pairs.open.as_str()), (Order::ValueFirst, ""));
        assert_eq!(pairs.value, [around]);
        assert_eq!(span.start, 2);
        let frame = pairs.frame("f\n\"opal drift\" as harbor\nover", "harbor", "opal drift");
        let frame = frame.unwrap();
        assert_eq!((frame.before, frame.behind), ("f\n", "over"));
        let written = |turn| pairs.written(turn, "harbor", frame);
        assert_eq!(written("f\n[1] as harbor\nover"), Some("[1]"));
        assert_eq!(written("f\n\"a\" as harbor\nover"), Some("\"a\""));
        assert_eq!(written("f\n1 as timber\nover"), None);
    }

    fn tagged(open: &str, values: &[(&str, &str)], separator: &str) -> Pairs {
        let around = |(between, close): &(&str, &str)| Around {
            between: (*between).to_owned(),
            close: (*close).to_owned(),
        };
        Pairs {
            open: open.to_owned(),
            value: values.iter().map(around).collect(),
            separator: separator.to_owned(),
            order: Order::KeyFirst,
            name_quotes: None,
            style: Style::Text,
            unread: Unread::default(),
        }
    }

    /// Quotes are the text that stands around strings and not around other values, unless the argument's key stands in it again.
    #[test]
    fn quotes_stand_around_texts_alone() {
        let quotes = |values: &[(&str, &str)]| tagged("", values, "").quotes();
        let quoted = Some(("'".to_owned(), "'".to_owned()));
        assert_eq!(quotes(&[("='", "'"), ("=", "")]), quoted);
        assert_eq!(quotes(&[("=", ""), ("=", "")]), None);
        let again = format!("</{}>", slot::KEY);
        assert_eq!(quotes(&[("='", &again), ("=", "")]), None);
    }

    /// A marker that a call without arguments lacks belongs to the arguments, but white space does not.
    #[test]
    fn what_a_call_without_arguments_lacks_is_an_argument_s() {
        let moved = |around: (&str, &str), separator: &str, none: &str| {
            let mut pairs = tagged("<", &[("=", ">")], separator);
            let open = format!("{}{}", slot::NAME, around.0);
            let mut around = (open, around.1.to_owned());
            pairs.take_what_none_has(&mut around, none);
            (pairs.open, pairs.value.remove(0).close, around.1)
        };
        let told = |open: &str, close: &str, end: &str| {
            (open.to_owned(), close.to_owned(), end.to_owned())
        };
        assert_eq!(
            moved((" (", ").\n"), ") (", " .\n"),
            told("(<", ">)", ".\n")
        );
        assert_eq!(moved((" ", ").\n"), ")", " .\n"), told("<", ">)", ".\n"));
        assert_eq!(moved((" ", " .\n"), " ", ".\n"), told("<", ">", " .\n"));
    }

    #[test]
    fn json_is_not_tags() {
        assert_eq!(read(|key, value| format!("{key}{value}"), "", ""), None);
    }
}
