//! The form in which most of the responses write the parts of a message.
//!
//! The text between two neighbours is cut where it is the same as elsewhere: of the text between two calls, the beginning that is also
//! behind the last call closes a call, and the end that is also before the first one opens it. So `a), b` and `b)]` give `)` for the close
//! of a call, `, ` between two and `]` behind all.

use super::super::recorded::Recorded;
use super::parts::{Body, Calls, Member, Pairs, Parts, Quoting, Text};
use super::seen::{Found, FoundBody, Known, Seen, Shown, seen};
use crate::text;
use crate::value::python;

/// How the parts with these keys are written, if the responses tell it of each of them. What the responses begin with was `opened` by the
/// prompt.
pub(super) fn parts(
    recorded: &[Recorded],
    keys: &[String],
    known: &Known,
    opened: &str,
) -> Option<Parts> {
    let Seen {
        texts,
        calls,
        taught_by,
    } = seen(recorded, keys, known);
    let calls = of_calls(&calls);
    let texts = keys.iter().filter_map(|key| {
        let of_key: Vec<&Text> = texts.iter().filter(|text| text.key == *key).collect();
        let most = most(
            of_key
                .iter()
                .map(|text| (text.before.as_str(), text.behind.as_str())),
        )?;
        let (before, behind) = most;
        let before = match before.trim().is_empty() {
            true => opened,
            false => before,
        };
        let is_marked = !before.trim().is_empty() && !behind.trim().is_empty();
        is_marked.then(|| Text {
            key: key.clone(),
            before: before.to_owned(),
            behind: behind.to_owned(),
        })
    });
    let parts = Parts {
        texts: texts.collect(),
        calls,
        taught_by,
    };
    (!parts.texts.is_empty() || parts.calls.is_some()).then_some(parts)
}

/// The most common of some; of equally common ones the first.
fn most<T: PartialEq + Copy>(all: impl Iterator<Item = T>) -> Option<T> {
    let all: Vec<T> = all.collect();
    let count = |one: &T| all.iter().filter(|other| *other == one).count();
    let best = all.iter().map(count).max()?;
    // A text that fewer than half of them have is not believed.
    all.iter()
        .copied()
        .find(|one| count(one) == best && best * 2 >= all.len())
}

fn of_calls(shown: &[Shown]) -> Option<Calls> {
    let body = body(shown)?;
    let is_pairs = matches!(body, Body::Pairs(_));
    // Of a call without arguments it cannot be told where its arguments would end.
    let has_end = |call: &Found| {
        !is_pairs
            || matches!(&call.body, FoundBody::Pairs { behind_keys, .. } if !behind_keys.is_empty())
    };
    let lead = most(shown.iter().map(|one| one.lead.as_str()))?;
    let ended = shown
        .iter()
        .filter(|one| one.calls.last().is_some_and(&has_end));
    let trail = most(ended.map(|one| one.trail.trim_end_matches(python::is_space)))?;
    let gaps = shown.iter().flat_map(|one| {
        let ended = one.calls.iter().zip(&one.gaps);
        ended
            .filter(|(call, _)| has_end(call))
            .map(|(_, gap)| gap.as_str())
    });
    let (tail, between, head) = match most(gaps) {
        Some(gap) => {
            let tail = common_prefix(gap, trail);
            let rest = &gap[tail.len()..];
            let head = common_suffix(rest, lead);
            (tail, &rest[..rest.len() - head.len()], head)
        }
        None => (trail, "", lead),
    };
    let mut calls = Calls {
        open: lead[..lead.len() - head.len()].to_owned(),
        head: head.to_owned(),
        tail: tail.to_owned(),
        between: between.to_owned(),
        close: trail[tail.len()..].to_owned(),
        body,
    };
    // What stands behind each value stands behind the last one, too.
    if let Body::Pairs(pairs) = &mut calls.body {
        let all = std::mem::take(&mut pairs.between);
        let behind = common_prefix(&all, &calls.tail).to_owned();
        let rest = &all[behind.len()..];
        let before = common_suffix(rest, &pairs.open).to_owned();
        pairs.between = rest[..rest.len() - before.len()].to_owned();
        pairs.open.truncate(pairs.open.len() - before.len());
        calls.tail.drain(..behind.len());
        (pairs.before_key, pairs.behind_value) = (before, behind);
    }
    let marked = [&calls.open, &calls.head, &calls.tail, &calls.close];
    let is_marked = marked.iter().any(|text| !text.trim().is_empty());
    is_marked.then_some(calls)
}

/// How a call is written in most of the responses.
fn body(shown: &[Shown]) -> Option<Body> {
    let calls: Vec<&Found> = shown.iter().flat_map(|one| &one.calls).collect();
    let objects = calls.iter().filter_map(|call| match &call.body {
        FoundBody::Object(members) => Some(members.as_slice()),
        _ => None,
    });
    let objects: Vec<&[(String, Member)]> = objects.collect();
    let named = calls.iter().filter_map(|call| match &call.body {
        // An object of no arguments may be anything.
        FoundBody::Named(between) => Some(between.as_str()),
        _ => None,
    });
    let named: Vec<&str> = named.collect();
    if objects.len() * 2 > calls.len() {
        return Some(Body::Object(most(objects.into_iter())?.to_vec()));
    }
    if named.len() * 2 > calls.len() {
        return Some(Body::Named(most(named.into_iter())?.to_owned()));
    }
    pairs(&calls).map(Body::Pairs)
}

fn pairs(calls: &[&Found]) -> Option<Pairs> {
    let (mut opens, mut behind_keys, mut betweens) = (Vec::new(), Vec::new(), Vec::new());
    let (mut quotings, mut are_python) = (Vec::new(), false);
    for call in calls {
        let FoundBody::Pairs {
            open,
            behind_keys: behind,
            between,
            quotings: quoted,
            is_python,
        } = &call.body
        else {
            continue;
        };
        if behind.is_empty() {
            continue;
        }
        opens.push(open.as_str());
        behind_keys.extend(behind.iter().map(String::as_str));
        betweens.extend(between.iter().map(String::as_str));
        quotings.extend(quoted);
        are_python |= is_python;
    }
    let texts = most(quotings.into_iter()).cloned();
    Some(Pairs {
        open: most(opens.into_iter())?.to_owned(),
        before_key: String::new(),
        behind_key: most(behind_keys.into_iter())?.to_owned(),
        behind_value: String::new(),
        between: most(betweens.into_iter())?.to_owned(),
        // Where texts are JSON, so is the rest; what deviates from that is read as text.
        is_python: are_python && texts.as_ref().is_some_and(|texts| *texts != Quoting::Json),
        texts: texts.unwrap_or(Quoting::Json),
    })
}

/// Returns the text that both begin with.
fn common_prefix<'t>(one: &'t str, other: &str) -> &'t str {
    &one[..text::common_prefix(one, other)]
}

/// Returns the text that both end with.
fn common_suffix<'t>(one: &'t str, other: &str) -> &'t str {
    &one[one.len() - text::common_suffix(one, other)..]
}
