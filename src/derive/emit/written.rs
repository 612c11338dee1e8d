//! The facts that writing the region of calls needs, and the patterns for the text that opens a call.

use super::ends::Ends;
use super::marker::{self, Captures, Functions, Ids, Names};
use super::tokens::Tokens;
use crate::derive::choice::{self, Candidate, Choices, DecisionId};
use crate::derive::compare::pieces::Pieces;
use crate::derive::compare::{slot, text};
use crate::derive::read::analysis::Analysis;
use crate::derive::read::calls::ToolCalls;
use crate::derive::read::cut::{Body, Members};
use crate::derive::read::no_arguments::NoArguments;

/// A pattern for the bracket with which a body of JSON ends.
const BRACKET: &str = "[}\\]]";

/// The facts that writing the region of calls needs.
pub(super) struct Written<'a> {
    pub(super) calls: &'a ToolCalls,
    pub(super) ends: &'a Ends<'a>,
    pub(super) pieces: &'a Pieces,
    /// The words and characters that may not be taken for a name.
    names: Names,
    /// The character that follows every call; empty where there is none.
    follows: String,
    /// The form of a call without arguments, where it is another than that of one with arguments.
    no_arguments: Option<&'a NoArguments>,
    /// The first of the markers that open a call, where it may be missing.
    lead: Option<&'a str>,
    /// A condition, as a look-ahead, that no other field opens here. It is needed where the text that opens the section has slots in it.
    pub(super) not_others: String,
    /// True if a turn begins with a new line.
    pub(super) begins_line: bool,
    /// The text that opens the content, where one does.
    pub(super) content_open: Option<&'a str>,
}

/// A condition, as a look-ahead, that the word in the place of a name is none that opens another field.
fn taken(analysis: &Analysis, calls: &ToolCalls) -> String {
    let Some((before, _)) = calls.call.0.split_once(slot::NAME) else {
        return String::new();
    };
    let in_section = format!("{}{before}", calls.section.0);
    let befores = [in_section.trim(), before.trim()];
    let others = analysis.reasoning.iter().map(|reasoning| &reasoning.open);
    others
        .chain(&analysis.content.open)
        .filter_map(|open| {
            let rest = befores.iter().find_map(|before| open.strip_prefix(before));
            Some(rest?.trim_start())
        })
        .filter(|word| !word.is_empty())
        .map(|word| {
            // A word ends where the like of it does not go on, unless it is a marker behind which a text begins at once.
            let is_word = word.ends_with(char::is_alphanumeric);
            let end = if is_word && !analysis.pieces.ends_before_text(word) {
                "\\b"
            } else {
                ""
            };
            format!("(?!{}{end})", slot::pattern(word))
        })
        .collect()
}

/// A condition that the text ahead opens no other field. `0>` may open content, for example, and then it opens no section although
/// `NUMBER>` does.
fn not_others(analysis: &Analysis, calls: &ToolCalls) -> String {
    if !slot::any(&calls.section.0) {
        return String::new();
    }
    let reasoning = analysis.reasoning.iter().map(|reasoning| &reasoning.open);
    let others = reasoning.chain(&analysis.content.open);
    let others = others.filter(|open| !open.trim().is_empty());
    others
        .map(|open| format!("(?!{})", slot::pattern(open.trim())))
        .collect()
}

/// Decides how names of functions are read.
fn functions(calls: &ToolCalls, choices: &Choices) -> Functions {
    let any = Candidate::new(
        "up to what follows them",
        "names with any character but those that follow them",
        "the chat template writes a name as it is",
        Functions::BeforeSign,
    );
    let words = Candidate::new(
        "words",
        "names that are words, with dots, dashes, colons and slashes in them",
        "functions have such names, and other characters before what follows a name are text",
        Functions::Words,
    );
    let rest = calls.call.0.split_once(slot::NAME).map(|(_, rest)| rest);
    let before_marker = rest.and_then(marker::long_end).map(|_| {
        Candidate::new(
            "up to all of what follows them",
            "names that end where all of what follows them stands",
            "the name of a function may have the first character of that in it",
            Functions::BeforeMarker,
        )
    });
    let candidates = [any, words].into_iter().chain(before_marker);
    let functions = choices.choose(DecisionId::FunctionNames, candidates);
    functions.unwrap_or_default()
}

/// Decides whether a call may have no id, where no text that stands in every call ends the id.
fn ids(calls: &ToolCalls, choices: &Choices) -> Ids {
    let mut markers = [calls.call.0.trim_start(), calls.call.1.trim()].into_iter();
    let is_ended_nowhere = markers.any(marker::ends_id_nowhere);
    let left_out = is_ended_nowhere.then(|| {
        Candidate::new(
            "may be left out",
            "white space alone may stand in the place of an id",
            "the chat template writes nothing in the place of an id that a call does not have",
            Ids::LeftOut,
        )
    });
    let there = Candidate::new(
        "is there",
        "a call has an id",
        "the chat template writes an id in every call that has one",
        Ids::There,
    );
    let own = match &calls.body {
        Body::Object(members) => member_for_id(members),
        _ => None,
    };
    let own = own.filter(|ahead| calls.around_id.is_some() || *ahead == Ahead::OfArguments);
    if let Some(ahead) = own {
        let because = match calls.around_id {
            Some(_) => "the chat template writes none for a call that has no id",
            None => "models leave an id out, which a server gives to a call",
        };
        let left_out = Candidate::new(
            "may be missing from the object",
            "a call's object may have no member for an id",
            because,
            Ids::LeftOutOfObject,
        );
        let candidates = match ahead {
            Ahead::Nothing => [there, left_out],
            Ahead::OfArguments | Ahead::OfAll => [left_out, there],
        };
        return choices
            .choose(DecisionId::CallId, candidates)
            .unwrap_or_default();
    }
    let with_around = calls.around_id.as_ref().map(|(before, behind)| {
        let means = format!(
            "an id may be missing, with {} before it",
            choice::marker(before)
        );
        Candidate::new(
            "may be missing with what stands around it",
            means,
            "the chat template writes neither for a call that has no id",
            Ids::LeftOutWith(before.clone(), behind.clone()),
        )
    });
    if left_out.is_none() && with_around.is_none() {
        return Ids::There;
    }
    let candidates = [there].into_iter().chain(left_out).chain(with_around);
    let ids = choices.choose(DecisionId::CallId, candidates);
    ids.unwrap_or_default()
}

/// The part of a call before which its object has the member for the id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ahead {
    /// The arguments.
    OfArguments,
    /// Anything, for the object is the call as a message has it, and needs nothing done to it.
    OfAll,
    /// Nothing that matters. It stands behind the arguments, and is not looked ahead for.
    Nothing,
}

/// Returns where an object that is a call has a member of its own for the id; `None` where it has none.
fn member_for_id(members: &Members) -> Option<Ahead> {
    let [id] = members.id.as_deref()? else {
        return None;
    };
    if members.is_as_it_is() {
        return Some(Ahead::OfAll);
    }
    let place = |key: &String| members.keys.iter().position(|own| own == key);
    let is_before = place(id).zip(members.arguments.first().and_then(place));
    Some(
        match is_before.is_some_and(|(id, arguments)| id < arguments) {
            true => Ahead::OfArguments,
            false => Ahead::Nothing,
        },
    )
}

/// The first of several markers before a call's name, if a call may be recognized without it. Models leave it out, as they leave out the
/// text that opens a section. So they do where it is an envelope around each call, which the last of several markers behind the call closes: `<call>` in
/// `<call><function=f></function></call>`. Where it is the beginning of what opens the call, as "```" is in "```tool", the rest of that stands in texts as well, and no
/// model is known to leave it out.
fn lead<'a>(
    pieces: &Pieces,
    own: (&'a str, &str),
    turn: &[&str],
    choices: &Choices,
) -> Option<&'a str> {
    let (before, _) = own.0.split_once(slot::NAME)?;
    if slot::any(before) {
        return None;
    }
    let lead = match pieces.tokens(before).as_slice() {
        [lead, next, ..] if pieces.is_one(lead) && pieces.is_one(next) => *lead,
        _ => return None,
    };
    let missing = Candidate::new(
        "may be missing",
        "what stands behind it opens a call as well",
        "models leave out the first of several markers",
        Some(lead),
    );
    let there = Candidate::new(
        "is there",
        "a call has all of what opens it",
        "the chat template writes all of it before every call",
        None,
    );
    // What ends the turn, or begins the next one, closes no call.
    let ends: Vec<&str> = turn.iter().flat_map(|end| pieces.tokens(end)).collect();
    let closing = pieces.tokens(own.1).into_iter();
    let closing: Vec<&str> = closing.filter(|token| !ends.contains(token)).collect();
    let is_envelope = closing.len() > 1 && !closing.contains(&lead);
    let candidates = match is_envelope {
        true => [missing, there],
        false => [there, missing],
    };
    choices
        .choose(DecisionId::CallLead, candidates)
        .unwrap_or_default()
}

/// Decides how calls without arguments are read, and returns their form if they have one of their own.
fn no_arguments<'a>(calls: &'a ToolCalls, choices: &Choices) -> Option<&'a NoArguments> {
    let found = calls.no_arguments.as_ref()?;
    let own = [
        "in its own form",
        "a call as the chat template writes one without arguments",
        "what stands before the arguments of a call does not stand in a call without arguments",
    ];
    let usual = [
        "as any other",
        "a call with what stands before arguments",
        "what stands in a call without arguments may stand in a text as well",
    ];
    let is_own = choices.whether(DecisionId::NoArguments, [own, usual]);
    is_own.then_some(found)
}

/// The character that follows a call, whatever comes: another call or the end of the calls. Empty where that may be one or another, and where
/// white space stands between, which ends a name by itself.
fn follows(calls: &ToolCalls) -> String {
    if calls.call.1.ends_with(char::is_whitespace) {
        return String::new();
    }
    let next = calls.next_opening();
    let end = calls.ending();
    let next = calls.parallel.then_some(next);
    let texts = next.iter().chain([&end]);
    let signs = texts.filter_map(|text| text.chars().next());
    let mut signs = signs.filter(|c| !c.is_whitespace() && !slot::is_one(*c));
    match signs.next() {
        Some(first) if signs.all(|sign| sign == first) => first.to_string(),
        _ => String::new(),
    }
}

/// The punctuation characters that are not in a name: those with which the markers of the calls begin, and with which what may follow a name begins, and the quote of JSON.
fn signs(calls: &ToolCalls, no_arguments: Option<&NoArguments>) -> Vec<char> {
    let markers = [calls.section.0.trim(), calls.call.0.trim()];
    let end = end_behind(calls, slot::NAME);
    let without = no_arguments.filter(|form| form.shared.ends_with(slot::NAME));
    let first = markers
        .into_iter()
        .chain(end)
        .chain(without.map(|form| form.end.trim()))
        .filter_map(|marker| marker.chars().next());
    let mut signs: Vec<char> = first
        .filter(|sign| !sign.is_alphanumeric() && !slot::is_one(*sign))
        .collect();
    // A model that writes a call as JSON where the chat template does not has no name there: no function has a quote of JSON in its name.
    signs.dedup();
    if !signs.contains(&'"') {
        signs.push('"');
    }
    signs
}

/// Returns the text that closes a call whose marker ends with this slot, where arguments that stand apart follow it at once: a call without any
/// may end there as well.
fn end_behind(calls: &ToolCalls, slot: char) -> Option<&str> {
    let is_last = calls.call.0.trim().ends_with(slot);
    let is_pairs = matches!(calls.body, Body::Pairs(_));
    (is_last && is_pairs).then(|| calls.call.1.trim())
}

/// The first character of what closes a call, as a part of a character class, where that may follow an id; a word does not end one.
fn end_of_id(calls: &ToolCalls) -> String {
    let end = end_behind(calls, slot::ID).and_then(|end| end.chars().next());
    let end = end.filter(|sign| !sign.is_alphanumeric());
    end.map_or_else(String::new, |sign| slot::stop(&sign.to_string()))
}

impl<'a> Written<'a> {
    pub(super) fn new(
        analysis: &'a Analysis,
        calls: &'a ToolCalls,
        ends: &'a Ends<'a>,
        choices: &Choices,
    ) -> Self {
        let no_arguments = no_arguments(calls, choices);
        let anchors = analysis.anchor.literals.iter();
        let turn: Vec<&str> = std::iter::once(analysis.turn_end.marker())
            .chain(anchors.map(String::as_str))
            .collect();
        Self {
            calls,
            ends,
            pieces: &analysis.pieces,
            names: Names {
                taken: taken(analysis, calls),
                signs: signs(calls, no_arguments),
                end_of_id: end_of_id(calls),
                functions: functions(calls, choices),
                ids: ids(calls, choices),
                within_ids: calls.named_by_id,
            },
            follows: follows(calls),
            no_arguments,
            lead: lead(
                &analysis.pieces,
                (calls.call.0.trim_start(), &calls.call.1),
                &turn,
                choices,
            ),
            not_others: not_others(analysis, calls),
            content_open: analysis.content.open.as_deref(),
            begins_line: {
                let mut literals = analysis.anchor.literals.iter();
                literals.all(|literal| literal.ends_with('\n'))
            },
        }
    }

    /// Returns the text before a call's body, without the white space in front of it.
    pub(super) fn own(&self) -> &str {
        self.calls.call.0.trim_start()
    }

    /// A pattern for what opens each call.
    pub(super) fn open(&self, captures: Captures) -> String {
        let (own, after) = match (self.no_arguments, &self.calls.body) {
            (Some(form), _) => (form.shared.as_str(), form.before_arguments.clone()),
            (None, Body::Pairs(pairs)) => (self.own(), pairs.open.clone()),
            (None, body) => {
                let first = body.first_sign().map(String::from);
                (self.own(), first.unwrap_or_default())
            }
        };
        let opening = |own| {
            let pattern = marker::opening(self.pieces, own, &after, captures, &self.names);
            behind_kind(own, pattern)
        };
        let rest = self.lead.and_then(|lead| own.strip_prefix(lead));
        let pattern = match (self.lead, rest) {
            (Some(lead), Some(rest)) => {
                let lead = slot::pattern(lead);
                format!("(?:{lead}\\s*)?{}", opening(rest.trim_start()))
            }
            _ => opening(own),
        };
        let Some(form) = self.no_arguments else {
            return pattern;
        };
        let before_arguments = text::escape_loosely(form.before_arguments.trim_end());
        format!(
            "{pattern}(?:{before_arguments}\\s*|(?={}))",
            self.end_without_arguments(form)
        )
    }

    /// A pattern for what follows in a call without arguments. Where white space alone does, and stands before the arguments of others as well, it
    /// tells nothing: then it is what follows that, another call or the end of the calls, if both are marked.
    fn end_without_arguments(&self, form: &NoArguments) -> String {
        let calls = self.calls;
        let is_told =
            !form.end.trim().is_empty() || !form.before_arguments.starts_with(char::is_whitespace);
        let next = slot::constant(calls.call.0.trim_start()).trim_end();
        let mut ends = [&calls.section.1, &calls.turn_end].into_iter();
        let end = ends.find(|end| !end.trim().is_empty());
        match end {
            Some(end) if !is_told && !next.is_empty() => {
                let [end, next] = [end.trim(), next].map(slot::pattern);
                format!("\\s*(?:{end}|{next})")
            }
            _ => form.end(),
        }
    }

    /// A pattern for what closes a call without arguments, where nothing else does so. Only directly behind what opens such a call does it
    /// close one, since the same may stand in an argument.
    pub(super) fn close_without_arguments(&self) -> Option<String> {
        let form = self.no_arguments.filter(|form| form.is_close)?;
        let (shared, after) = (&form.shared, &form.before_arguments);
        let open = marker::opening(self.pieces, shared, after, Captures::None, &self.names);
        Some(format!("(?<={open}){}", form.end()))
    }

    /// How ids that may be missing are read.
    pub(super) fn ids(&self) -> &Ids {
        &self.names.ids
    }

    /// A pattern for a marker that stands behind the body of a call.
    pub(super) fn behind(&self, marker: &str, captures: Captures) -> String {
        let ids = self.names.ids.clone();
        marker::behind(self.pieces, marker, &self.follows, captures, ids)
    }

    /// A pattern for what opens a call, together with the first character of its body where that is always the same. It captures nothing,
    /// since no transform sees what the close of a region captures.
    pub(super) fn next(&self) -> String {
        let first = match self.calls.body.first_sign() {
            Some(sign) if !matches!(self.calls.body, Body::Array(_)) => {
                text::escape(&sign.to_string())
            }
            _ => String::new(),
        };
        format!("{}{first}", self.open(Captures::None))
    }

    /// A pattern for what opens the first call: what opens the section where there is one, or else what opens each call.
    pub(super) fn beginning(&self) -> String {
        match self.calls.section.0.trim() {
            "" => self.next(),
            section => slot::pattern(section),
        }
    }

    /// Two patterns for what closes the last call: with what ends the turn behind it; and where the response ends, with what ends the turn or
    /// without. Where nothing closes a call, it is the bracket of its body, if `ends_with_body`. Where nothing ends a turn, one of `nexts` does, which begin the message
    /// behind it. None of them where the body has no bracket, and not the first where nothing begins that message either.
    pub(super) fn last(&self, ends_with_body: bool, nexts: &[&str]) -> [Option<String>; 2] {
        let closes = [self.calls.section.1.trim(), self.calls.call.1.trim()];
        let close = closes.into_iter().find(|close| !close.is_empty());
        let bracket = || (ends_with_body && self.calls.body.is_json()).then(|| BRACKET.to_owned());
        let close = close.map(slot::pattern).or_else(bracket);
        let ends = match self.ends.markers.as_slice() {
            [] => nexts,
            ends => ends,
        };
        let end = super::either_of(ends.iter().map(|end| slot::pattern(end)).collect());
        let may_end = end.as_ref().map(|end| format!("(?:{end}\\s*)?"));
        let may_end = may_end.unwrap_or_default();
        let ended = close.as_ref().zip(end);
        [
            ended.map(|(close, end)| format!("{close}\\s*{end}")),
            close.map(|close| format!("{close}\\s*{may_end}\\Z")),
        ]
    }

    /// A condition, as a look-behind, that an argument or the name of a call without arguments ends here. It is needed where the same text
    /// closes an argument and a call, as in `(do (f (x 1)))`, and empty elsewhere.
    pub(super) fn behind_argument(&self, close: &str) -> String {
        let Body::Pairs(argument) = &self.calls.body else {
            return String::new();
        };
        // What closes an argument with its key looks like what closes a call with its name.
        let closes = argument.closes().into_iter();
        let named: Vec<String> = closes
            .map(|close| close.replace(slot::KEY, &slot::NAME.to_string()))
            .collect();
        let closes: Vec<&str> = named.iter().map(String::as_str).collect();
        let is_alike = |of_argument: &&str| {
            let of_argument = of_argument.trim();
            !of_argument.is_empty()
                && (of_argument.starts_with(close) || close.starts_with(of_argument))
        };
        match closes.iter().all(is_alike) && !closes.is_empty() {
            true => {
                let ends = closes.iter().map(|close| slot::pattern(close.trim()));
                let ends: Vec<String> = ends.chain([self.open(Captures::None)]).collect();
                format!("(?<=(?:{})\\s*)", ends.join("|"))
            }
            false => String::new(),
        }
    }

    /// Returns a look-behind for the end of an argument, or for what opens a call that has none, with the white space that stands before what closes
    /// a call; `None` where white space alone ends an argument.
    pub(super) fn behind_value(&self) -> Option<String> {
        let Body::Pairs(argument) = &self.calls.body else {
            return None;
        };
        let space = text::escape(text::leading(&self.calls.call.1));
        let closes = argument.closes();
        let is_white = |close: &&str| close.trim().is_empty();
        if closes.is_empty() || closes.iter().any(is_white) {
            return None;
        }
        let ends = closes.into_iter().map(text::escape);
        let ends: Vec<String> = ends.chain([self.open(Captures::None)]).collect();
        Some(format!("(?<=(?:{}){space})", ends.join("|")))
    }

    /// A pattern that looks ahead for those parts of the call that stand only behind its body: its name, its id.
    pub(super) fn ahead(&self) -> String {
        let behind = self.calls.call.1.trim();
        let name = !self.calls.call.0.contains(slot::NAME) && behind.contains(slot::NAME);
        if !name && !self.calls.id_behind {
            return String::new();
        }
        let captures = if self.calls.id_behind {
            Captures::All
        } else {
            Captures::Name
        };
        // A text of the arguments may have the same marker in it; and so may a list of them, where the marker is made of the characters of JSON.
        let tokens = match &self.calls.body {
            body if body.is_json() && behind.starts_with([',', ']', '}']) => {
                Some(Tokens::json().any())
            }
            body if body.is_json() => Some(Tokens::json().flat()),
            Body::Pairs(pairs) if pairs.are_json() => Some(Tokens::json().flat()),
            _ => None,
        };
        let between = tokens.map_or_else(|| ".*?".to_owned(), |tokens| format!("(?:{tokens})*?"));
        let ends_in_slot = behind.ends_with(slot::is_one);
        let behind = self.behind(behind, captures);
        // The value in a slot is whole where white space follows it, or what follows every call.
        let end = match (ends_in_slot, self.follows.as_str()) {
            (true, _) if self.calls.call.1.ends_with(char::is_whitespace) => "(?=\\s)".to_owned(),
            (false, _) | (true, "") => String::new(),
            (true, sign) => format!("(?={})", text::escape(sign)),
        };
        // With nothing before it, a call would begin at any text that stands before the first of the calls.
        let begins = match self.calls.call.0.trim().is_empty() && self.calls.body.is_json() {
            true => JSON_BEGINS,
            false => "",
        };
        format!("(?={begins}{between}{behind}{end})")
    }
}

/// A pattern that looks ahead for the arguments of a call, as an object or as the text of one.
const JSON_BEGINS: &str = "(?=\\{\\s*[\"}]|\"\\{)";

/// A pattern for the kind of a call, which the call of a message has as its first member.
const KIND: &str = "(?:\"type\"\\s*:\\s*\"function\"\\s*,\\s*)?";

/// The pattern with the kind of the call before its first member, where what opens the call is the beginning of a JSON object: models write
/// `{"type": "function", "name": "f", ..` where the chat template writes `{"name": "f", ..`, as calls stand in messages. Any other member would do as
/// well for the parser, but a grammar could then allow no JSON in an answer.
fn behind_kind(own: &str, pattern: String) -> String {
    let key = own.trim_start().strip_prefix('{').map(str::trim_start);
    let end = key.and_then(|key| key.strip_prefix('"')?.find('"'));
    let value = key.zip(end).map(|(key, end)| key[end + 2..].trim_start());
    // A name that is the key of its arguments is the only member.
    let is_named = key
        .zip(end)
        .is_some_and(|(key, end)| slot::any(&key[1..=end]));
    let is_kind = key.is_some_and(|key| key.starts_with("\"type\""));
    let is_member = value.is_some_and(|value| value.starts_with(':')) && !is_named && !is_kind;
    match pattern.strip_prefix("\\{\\s*\"").filter(|_| is_member) {
        Some(rest) => format!("\\{{\\s*{KIND}\"{rest}"),
        None => pattern,
    }
}
