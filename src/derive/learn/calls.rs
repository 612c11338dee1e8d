//! Calls that stand in a response, whether a response template reads them or not: the name of a tool, and an object that its
//! parameters allow.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::Duration;

use super::constants::Constants;
use super::recorded::Recorded;
use super::spot::Spot;
use crate::derive::probe::CALLS_KEY;
use crate::pattern::Pattern;
use crate::response_template::ResponseTemplate;
use crate::text::diff::{Change, Diff, words};
use crate::value::{Map, Value, json, python};

use super::split::Split;

/// How far a call's arguments may stand behind its name, in bytes.
const MAX_BETWEEN: usize = 160;

/// How far a name may stand behind a marker, in bytes.
const MAX_GAP: usize = 40;

/// How long texts are compared; what is not compared by then counts as different.
const LONGEST_DIFF: Duration = Duration::from_millis(20);

/// Shorter texts, in bytes, stand within markers by chance.
const SHORTEST: usize = 4;

/// A call that stands in a response.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Spotted {
    /// The bytes at which the name stands; within the body where the name is a member of it.
    pub(super) name: Range<usize>,
    /// The bytes at which the JSON object stands.
    pub(super) body: Range<usize>,
    /// The name of the function that is called.
    pub(super) called: String,
    /// The JSON object; null where the arguments stand apart.
    pub(super) object: Value,
    /// The bytes at which the names of arguments stand, where these stand apart.
    pub(super) keys: Vec<Range<usize>>,
    /// The names of these arguments.
    pub(super) named: Vec<String>,
}

impl Spotted {
    /// Returns true if the name is a member of the object.
    pub(super) fn is_whole(&self) -> bool {
        self.body.contains(&self.name.start)
    }

    /// Returns true if the call is among the calls of a message: one of that name, whose arguments are the object or a member of it.
    pub(super) fn is_in(&self, calls: Option<&Value>) -> bool {
        let calls = calls.and_then(Value::as_array).unwrap_or_default();
        calls.iter().any(|call| {
            let plain = plain_call(call, false);
            let arguments = plain.get("arguments");
            let has_all = |arguments: &Map| {
                !self.named.is_empty()
                    && self
                        .named
                        .iter()
                        .all(|key| arguments.contains_key(key.as_str()))
            };
            let is_object = arguments == Some(&self.object)
                || arguments.and_then(Value::as_object).is_some_and(has_all);
            let members = self.object.as_object();
            let has_it = members
                .is_some_and(|members| members.values().any(|member| Some(member) == arguments));
            plain.get("name").and_then(Value::as_str) == Some(&self.called) && (is_object || has_it)
        })
    }

    /// Returns the byte at which the call begins, without the text around it.
    pub(super) fn start(&self) -> usize {
        self.name.start.min(self.body.start)
    }
}

/// The calls in stretches that are not understood, in their order.
pub(super) fn spotted(
    template: &ResponseTemplate,
    recorded: &Recorded,
    spots: &[Spot],
    message: &Map,
    constants: &Constants<'_>,
) -> Vec<Spotted> {
    let is_in_name = |name: &str| {
        let calls = message.get(CALLS_KEY).and_then(Value::as_array);
        let mut names = calls.unwrap_or_default().iter().filter_map(name_of);
        names.any(|called| called != name && called.contains(name))
    };
    let may_be_said = recorded.expected.is_none() && !recorded.tools.is_empty();
    if spots.is_empty() && !may_be_said {
        return Vec::new();
    }
    let text = recorded.response.as_str();
    let mut found: Vec<Spotted> = Vec::new();
    for name in names(template, recorded) {
        let behind = found.last().map_or(0, |last| last.body.end);
        if name.start < behind {
            continue;
        }
        let Some(body) = body(text, &name, &recorded.tools) else {
            let apart = apart(text, &name, &recorded.tools).filter(|_| may_be_said);
            let is_near = |call: &Spotted| {
                let mut spots = spots.iter();
                is_in_name(&call.called)
                    || spots.any(|spot| {
                        spot.span.end + MAX_GAP >= call.name.start
                            && spot.span.start <= call.body.end + MAX_GAP
                    })
            };
            found.extend(apart.filter(is_near));
            continue;
        };
        let Ok(object) = json::parse(&text[body.clone()]) else {
            continue;
        };
        let called = text[name.clone()].to_owned();
        let call = Spotted {
            name,
            body,
            called,
            object,
            keys: Vec::new(),
            named: Vec::new(),
        };
        let before = text[..call.start()]
            .trim_end_matches(python::is_space)
            .len();
        let rest = text[call.body.end..].trim_start_matches(python::is_space);
        let behind = text.len() - rest.len();
        // A word may stand between a marker and the name.
        let is_before = |spot: &Spot| {
            let gap = text.get(spot.span.end..before);
            gap.is_some_and(|gap| gap.len() <= MAX_GAP && !gap.contains(['.', '\n']))
        };
        let is_near =
            |spot: &Spot| spot.span.start <= behind && (before <= spot.span.end || is_before(spot));
        let is_said = || may_be_said && is_plain(&call, recorded, constants);
        if spots.iter().any(is_near) || is_said() {
            found.push(call);
        }
    }
    found
}

/// The call of a tool whose name is followed by the names of all arguments that it requires, each by itself.
fn apart(text: &str, name: &Range<usize>, tools: &[Value]) -> Option<Spotted> {
    let called = &text[name.clone()];
    let tool = tools.iter().find(|tool| name_of(tool) == Some(called))?;
    let parameters = tool.get("function").unwrap_or(tool).get("parameters")?;
    let required = parameters.get("required").and_then(Value::as_array)?;
    let mut keys: Vec<Range<usize>> = Vec::new();
    for key in required.iter().filter_map(Value::as_str) {
        let near = text[name.end..].match_indices(key);
        let mut spans = near.map(|(at, key)| name.end + at..name.end + at + key.len());
        let last = keys.last().map_or(name.end, |last| last.end);
        let span = spans.find(|span| !is_amid(text, span))?;
        (span.start <= last + MAX_BETWEEN).then_some(())?;
        keys.push(span);
    }
    keys.sort_by_key(|key| key.start);
    let (first, last) = (keys.first()?, keys.last()?);
    // Between the two is what the format writes, and no prose.
    let between = text[name.end..first.start].trim_matches(python::is_space);
    let is_short = !between.is_empty() && between.len() <= MAX_GAP;
    if !is_short || is_prose(between) || between.contains(called) {
        return None;
    }
    Some(Spotted {
        name: name.clone(),
        body: name.end..last.end,
        called: called.to_owned(),
        object: Value::Null,
        named: keys
            .iter()
            .map(|key| text[key.clone()].to_owned())
            .collect(),
        keys,
    })
}

/// Returns true if an object is plainly a call, although it stands in a text: the tool takes it, and no prose follows it.
fn is_plain(call: &Spotted, recorded: &Recorded, constants: &Constants<'_>) -> bool {
    let fits = |object: &Value| {
        let arguments = object.as_object();
        arguments.is_some_and(|arguments| {
            !arguments.is_empty() && fits(&call.called, arguments, &recorded.tools)
        })
    };
    let is_taken = match call.is_whole() {
        true => {
            let members = call.object.as_object().into_iter().flatten();
            members.map(|(_, member)| member).any(fits)
        }
        false => fits(&call.object),
    };
    let behind = &recorded.response[call.body.end..];
    // Another call may follow.
    let next = behind.find('{').unwrap_or(behind.len());
    let mut rest = behind[..next].to_owned();
    for span in constants.find(&rest.clone()).into_iter().rev() {
        rest.replace_range(span, " ");
    }
    let rest = rest.trim_matches(python::is_space);
    let rest = match next < behind.len() {
        // What parts two objects may stand there.
        true => rest.trim_end_matches([',', ';']),
        false => rest,
    };
    is_taken && !is_prose(rest)
}

/// Returns true if a text is more like a sentence than like a marker: it ends like one, or has several words and nothing else.
fn is_prose(text: &str) -> bool {
    text.ends_with(['.', '!', '?', ',', ';']) || has_sentence(text)
}

/// Returns true if several words of letters follow one another in a text.
pub(super) fn has_sentence(text: &str) -> bool {
    let is_plain = |word: &&str| word.chars().all(char::is_alphabetic);
    let words = text.split(python::is_space).filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    words.windows(3).any(|three| three.iter().all(is_plain))
}

/// Returns the bytes at which names of tools stand: of the tools that are given, or, where none are, the texts in the place of a name.
fn names(template: &ResponseTemplate, recorded: &Recorded) -> Vec<Range<usize>> {
    let text = recorded.response.as_str();
    let mut found: Vec<Range<usize>> = Vec::new();
    let given = recorded.tools.iter().chain(expected(recorded));
    for name in given.filter_map(name_of) {
        for (at, _) in text.match_indices(name) {
            let span = at..at + name.len();
            if !is_amid(text, &span) {
                found.push(span);
            }
        }
    }
    if recorded.tools.is_empty() && recorded.expected.is_none() {
        let open = template
            .field(CALLS_KEY)
            .and_then(|field| field.open.as_ref());
        let split = open.and_then(|open| Split::of(open.source()));
        // The text directly before the name, and the name.
        let pattern = split
            .and_then(|split| Pattern::regex(&format!("(?:{}){}", split.before, split.group)).ok());
        let all = pattern.iter().flat_map(|pattern| pattern.find_iter(text));
        found.extend(all.filter_map(|found| found.ok()?.group("name")));
    }
    found.sort_by_key(|span| (span.start, span.end));
    found.dedup();
    found
}

/// Returns true if the stretch of the text is a part of a longer name.
pub(super) fn is_amid(text: &str, span: &Range<usize>) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text[..span.start].ends_with(is_part) || text[span.end..].starts_with(is_part)
}

/// The object that belongs to a name: the next one behind it, or the one in which it is a member.
fn body(text: &str, name: &Range<usize>, tools: &[Value]) -> Option<Range<usize>> {
    let called = &text[name.clone()];
    if let Some(start) = enclosing(text, name) {
        return Some(start);
    }
    let between = text[name.end..].find('{')?;
    if between > MAX_BETWEEN || text[name.end..name.end + between].contains(['.', '\n']) {
        return None;
    }
    let start = name.end + between;
    let (value, len) = json::parse_prefix(&text[start..]).ok()?;
    let arguments = value.as_object()?;
    fits(called, arguments, tools).then_some(start..start + len)
}

/// The object in which the name is the value of a member.
pub(super) fn enclosing(text: &str, name: &Range<usize>) -> Option<Range<usize>> {
    let called = &text[name.clone()];
    let mut end = name.start;
    while let Some(start) = text[..end].rfind('{') {
        if let Ok((value, len)) = json::parse_prefix(&text[start..])
            && start + len >= name.end
        {
            let members = value.as_object()?;
            let is_named = members
                .values()
                .any(|member| member.as_str() == Some(called));
            return is_named.then_some(start..start + len);
        }
        if name.start - start > MAX_BETWEEN {
            return None;
        }
        end = start;
    }
    None
}

/// Counts the calls of functions that are not among the given tools, or with arguments that their tool does not take.
pub(super) fn unfit(calls: Option<&Value>, tools: &[Value]) -> usize {
    if tools.is_empty() {
        return 0;
    }
    let calls = calls.and_then(Value::as_array).unwrap_or_default();
    let is_fit = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let name = function.get("name").and_then(Value::as_str)?;
        let arguments = function.get("arguments")?.as_object()?;
        fits(name, arguments, tools).then_some(())
    };
    calls.iter().filter(|call| is_fit(call).is_none()).count()
}

/// Returns true if there is such a tool and it takes such arguments: all that it requires are there, and none that it does not name. A tool
/// that does not say which arguments it takes, takes any, and so does any name where no tools are given.
fn fits(name: &str, arguments: &Map, tools: &[Value]) -> bool {
    if tools.is_empty() {
        return true;
    }
    let mut tools = tools.iter();
    let Some(tool) = tools.find(|tool| name_of(tool) == Some(name)) else {
        return false;
    };
    let function = tool.get("function").unwrap_or(tool);
    let Some(parameters) = function.get("parameters") else {
        return true;
    };
    let required = parameters.get("required").and_then(Value::as_array);
    let is_there = |key: &Value| key.as_str().is_none_or(|key| arguments.contains_key(key));
    let named = parameters.get("properties").and_then(Value::as_object);
    let is_open = parameters
        .get("additionalProperties")
        .is_some_and(Value::is_truthy);
    required.unwrap_or_default().iter().all(is_there)
        && (is_open
            || named.is_none_or(|named| arguments.keys().all(|key| named.contains_key(key))))
}

/// How many calls a message has.
pub(super) fn count(message: &Value) -> usize {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    calls.map_or(0, <[Value]>::len)
}

/// The name of a tool or of a call.
fn name_of(tool: &Value) -> Option<&str> {
    tool.get("function").unwrap_or(tool).get("name")?.as_str()
}

/// Returns true if a message is the one that it must be. Empty members count as missing, and white space at the ends of texts does not
/// count; ids count where they are expected; arguments that are the text of an object are that object; a reasoning may have any key.
pub(super) fn is_same(message: &Map, expected: &Value) -> bool {
    let Some(expected) = expected.as_object() else {
        return false;
    };
    let has_ids = has_ids(expected);
    plain(message, has_ids) == plain(expected, has_ids)
}

/// How far a message is from the one that it must be; at least one where they are not the same. A call more or less weighs more than any
/// text, and of texts the bytes count in which they differ.
pub(super) fn distance(message: &Map, expected: &Value) -> usize {
    const CALL: usize = 1 << 20;
    const ID: usize = 1 << 16;
    let empty = Map::new();
    let expected = expected.as_object().unwrap_or(&empty);
    let has_ids = has_ids(expected);
    let (message, expected) = (plain(message, has_ids), plain(expected, has_ids));
    let calls = |of: &Map| -> Vec<Value> {
        let calls = of.get(CALLS_KEY).and_then(Value::as_array);
        calls.unwrap_or_default().to_vec()
    };
    let mut missing = calls(&expected);
    let mut apart = Vec::new();
    for call in calls(&message) {
        match missing.iter().position(|other| *other == call) {
            Some(at) => drop(missing.remove(at)),
            None => apart.push(call),
        }
    }
    // A message that is right but for the id is better than a wrong one, and wrong arguments are no worse than no call.
    let mut alike = |same: fn(&Value, &Value) -> bool| {
        let before = apart.len();
        apart.retain(|call| {
            let at = missing.iter().position(|other| same(call, other));
            at.map(|at| missing.remove(at)).is_none()
        });
        before - apart.len()
    };
    let other_ids = alike(|one, other| without_id(one) == without_id(other));
    let other_arguments = alike(|one, other| one.get("name") == other.get("name"));
    let other_calls = missing.len() + apart.len() + other_arguments;
    let keys: BTreeSet<&str> = message
        .keys()
        .chain(expected.keys())
        .map(|key| key.as_str())
        .filter(|key| *key != CALLS_KEY)
        .collect();
    let texts = keys.into_iter().map(|key| {
        let text = |of: &Map| of.get(key).map(json::to_string).unwrap_or_default();
        let (one, other) = (text(&message), text(&expected));
        changed(&one, &other)
    });
    (other_calls * CALL + other_ids * ID + texts.sum::<usize>()).max(1)
}

/// Returns the number of bytes in which two texts differ, compared by words.
pub(super) fn changed(one: &str, other: &str) -> usize {
    let diff = Diff::new(words(one), words(other), Some(LONGEST_DIFF));
    let changed = diff.all().filter(|(change, _)| *change != Change::Kept);
    changed.map(|(_, text)| text.len()).sum()
}

/// The parts of a call but for its id.
fn without_id(call: &Value) -> Map {
    let mut members = call.as_object().cloned().unwrap_or_default();
    members.shift_remove("id");
    members
}

fn has_ids(message: &Map) -> bool {
    let calls = message.get(CALLS_KEY).and_then(Value::as_array);
    calls.is_some_and(|calls| calls.iter().any(|call| call.get("id").is_some()))
}

/// Returns a message without the parts that make no difference. A text that is neither the content nor in the calls gets a common name, if
/// it is the only one.
fn plain(message: &Map, has_ids: bool) -> Map {
    let known = |key: &str| ["role", "content", CALLS_KEY].contains(&key);
    let kept: Vec<_> = message
        .iter()
        .filter(|(key, value)| key.as_str() != "role" && value.is_truthy())
        .collect();
    let others = kept.iter().filter(|(key, _)| !known(key.as_str())).count();
    kept.into_iter()
        .filter_map(|(key, value)| {
            let value = match value {
                Value::Array(calls) if key.as_str() == CALLS_KEY => {
                    let calls = calls.iter().map(|call| plain_call(call, has_ids));
                    Value::Array(calls.collect())
                }
                Value::String(text) => {
                    let text = text.trim_matches(python::is_space);
                    (!text.is_empty()).then(|| Value::from(text))?
                }
                other => other.clone(),
            };
            let is_only = others == 1 && !known(key.as_str());
            Some((if is_only { ONLY } else { key.as_str() }.to_owned(), value))
        })
        .collect()
}

/// The key by which the only text of a message is compared that is neither its content nor in its calls.
const ONLY: &str = "reasoning";

/// The calls that a response must parse to, where that is known.
pub(super) fn expected(recorded: &Recorded) -> &[Value] {
    let message = recorded.expected.as_ref();
    let calls = message.and_then(|message| message.get(CALLS_KEY)?.as_array());
    calls.unwrap_or_default()
}

/// Returns the names of the tools, and the functions and arguments of an expected message's calls. These vary from response to response,
/// and so are in no marker.
pub(super) fn varying(recorded: &Recorded) -> Vec<String> {
    let mut found: Vec<String> = recorded
        .tools
        .iter()
        .filter_map(|tool| name_of(tool).map(str::to_owned))
        .collect();
    let texts = recorded.expected.iter().filter_map(Value::as_object);
    let texts = texts.flatten().filter_map(|(_, value)| value.as_str());
    found.extend(texts.map(|text| text.trim_matches(python::is_space).to_owned()));
    for call in expected(recorded) {
        found.extend(name_of(call).map(str::to_owned));
        let call = plain_call(call, false);
        let arguments = call.get("arguments").and_then(Value::as_object);
        for (key, value) in arguments.into_iter().flatten() {
            found.push(key.to_string());
            found.extend(value.as_str().map(str::to_owned));
        }
    }
    found.retain(|text| text.len() >= SHORTEST);
    found
}

/// A call's name and its arguments as data, and its id if that counts.
pub(super) fn plain_call(call: &Value, has_ids: bool) -> Value {
    let function = call.get("function").unwrap_or(call);
    let mut members = Map::new();
    let arguments = function.get("arguments").cloned().unwrap_or(Value::Null);
    let arguments = match arguments.as_str().map(json::parse) {
        Some(Ok(object @ Value::Object(_))) => object,
        _ => arguments,
    };
    members.insert(
        "name".to_owned(),
        function.get("name").cloned().unwrap_or(Value::Null),
    );
    members.insert("arguments".to_owned(), arguments);
    if let (true, Some(id)) = (has_ids, call.get("id")) {
        members.insert("id".to_owned(), id.clone());
    }
    Value::Object(members)
}
