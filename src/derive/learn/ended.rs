//! Tokens at which an engine stops, as further ends of the content.

use std::sync::Arc;

use super::CONTENT_KEY;
use super::widening::{self, Edit, How};
use crate::derive::compare::pattern::{SPACE, either_of, grouped};
use crate::derive::compare::text;
use crate::pattern::Pattern;
use crate::response_template::{Delimiter, Document, Engine, ResponseTemplate};

/// Returns the response template with the content also closed by the tokens at which an engine stops, as far as `keeps` says that nothing
/// is lost by that; its proof; and the tokens that are new. Where another part is closed by something only before one of `ends`, which end the turn in
/// renders, it is before these tokens as well: a call that ends with `}` before `<end>` does before `<stop>`, too.
pub(in crate::derive) fn ended<P>(
    tokens: &[String],
    ends: &[&str],
    engines: &[Engine],
    document: &Document,
    mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
) -> Option<(Document, P, Vec<String>)> {
    let refused = |document: &Document| Engine::refusals(engines, document);
    let mut now = document.clone();
    let mut added = Vec::new();
    let mut proved = None;
    for token in tokens {
        if is_an_end(&now, token) {
            continue;
        }
        let edit = Edit::close(CONTENT_KEY, token, How::Also);
        let Some(next) = edit.apply(&now).or_else(|| closed_at(&now, token)) else {
            continue;
        };
        let Ok(template) = ResponseTemplate::from_value(&next.to_value()) else {
            continue;
        };
        if refused(&next) <= refused(&now)
            && let Some(proof) = keeps(&Arc::new(template))
        {
            added.push(token.clone());
            now = next;
            proved = Some(proof);
        }
    }
    let escaped = added.iter().map(|token| text::escape(token));
    if let Some(ways) = either_of(escaped.collect()) {
        let beside =
            |now: &_| ended_beside(now, ends, &added).or_else(|| ended_before_the_end(now, &ways));
        let behind = |now: &_| ended_behind_the_next(now, &ways);
        for changed in [&beside as &dyn Fn(&Document) -> _, &behind] {
            if let Some(next) = changed(&now)
                && refused(&next) <= refused(&now)
                && let Ok(template) = ResponseTemplate::from_value(&next.to_value())
                && let Some(proof) = keeps(&Arc::new(template))
            {
                now = next;
                proved = Some(proof);
            }
        }
    }
    Some((now, proved?, added))
}

/// Returns true if the token closes the content by itself, or stands in a delimiter of another field. In a close such as `<end>(?:<stop>)?` the second token closes
/// nothing where the first is missing.
fn is_an_end(document: &Document, token: &str) -> bool {
    let mut others = document.clone();
    let content = others.fields.shift_remove(CONTENT_KEY);
    let close = content.and_then(|content| content.close);
    let close = close.and_then(|close| Pattern::regex(&close.as_pattern()).ok());
    let closes = |close: Pattern| {
        let found = close.search(&format!("a{token}"), 0);
        found.is_ok_and(|found| found.is_some_and(|found| found.span.start == 1))
    };
    close.is_some_and(closes) || widening::is_taken(&others, token)
}

/// Returns the response template with a content that nothing closes yet closed by what begins the next message where the response ends with it, if `keeps` says
/// that nothing is lost by that; and its proof. Each of `begins` is the first marker with the white space before it, and what may follow it.
///
/// A text may have the marker in it, and end with it within a line: `FAQ:` ends with the `Q:` that begins a question on a line of its own.
pub(in crate::derive) fn ended_by_the_next<P>(
    begins: &[[String; 2]],
    engines: &[Engine],
    document: &Document,
    mut keeps: impl FnMut(&Arc<ResponseTemplate>) -> Option<P>,
) -> Option<(Document, P)> {
    let ways = begins.iter().map(|[begin, rest]| {
        let marker = begin.trim_start();
        let space = &begin[..begin.len() - marker.len()];
        let before = match space {
            "" if marker.starts_with(char::is_alphanumeric) => "(?<!\\w)",
            "" => "",
            space if space.contains('\n') => "(?<=\\n\\s{0,4})",
            _ => "(?<=\\s)",
        };
        let rest = match rest.as_str() {
            "" => String::new(),
            rest => format!("(?:{SPACE}{})?", text::escape_loosely(rest)),
        };
        format!("{before}{}{rest}", text::escape(marker))
    });
    let ways = either_of(ways.collect())?;
    let pattern = format!("{}{SPACE}\\Z", grouped(&ways));
    let next = closed_by(document, Delimiter::pattern(pattern))?;
    let beside = ended_before_the_end(&next, &ways);
    let mut all = beside.into_iter().chain([next]);
    all.find_map(|next| {
        if Engine::refusals(engines, &next) > Engine::refusals(engines, document) {
            return None;
        }
        let template = ResponseTemplate::from_value(&next.to_value()).ok()?;
        let proof = keeps(&Arc::new(template))?;
        Some((next, proof))
    })
}

/// The document with one of these patterns before the end of the response in what closes other fields than the content there; `None` where none of them is closed at that
/// end. So a call that ends with `}` where the response does may have an `<observation>` behind it.
fn ended_before_the_end(document: &Document, ways: &str) -> Option<Document> {
    let mut changed = document.clone();
    let mut is_changed = false;
    let others = changed.fields.iter_mut();
    for (_, field) in others.filter(|(name, _)| *name != CONTENT_KEY) {
        if let Some(Delimiter::Pattern(close)) = &mut field.close
            && let Some(at) = close.rfind("|\\Z")
        {
            close.insert_str(at + 1, &format!("(?:{}{SPACE})?", grouped(ways)));
            is_changed = true;
        }
    }
    is_changed.then_some(changed)
}

/// The document with any number of these patterns behind what begins the next message and closes the content at the end of the response; `None` where that does not
/// close it. The shorter ones of several responses that are made at once are filled up so: `Hi<user><pad><pad>`.
fn ended_behind_the_next(document: &Document, ways: &str) -> Option<Document> {
    let mut changed = document.clone();
    let content = changed.fields.get_mut(CONTENT_KEY)?;
    let Some(Delimiter::Pattern(close)) = &mut content.close else {
        return None;
    };
    let end = format!("{SPACE}\\Z");
    let at = close.find(&end)?;
    close.insert_str(at + SPACE.len(), &format!("(?:{}{SPACE})*", grouped(ways)));
    Some(changed)
}

/// The document with content that this token closes, together with the white space behind it; `None` where something closes it already. Text behind the token is
/// content again, as it is behind other ends of a turn.
fn closed_at(document: &Document, token: &str) -> Option<Document> {
    closed_by(
        document,
        Delimiter::pattern(format!("{}{SPACE}", text::escape(token))),
    )
}

/// The document with content that this delimiter closes; `None` where something closes it already, and where it is not read as text.
fn closed_by(document: &Document, close: Delimiter) -> Option<Document> {
    let mut changed = document.clone();
    let content = changed.fields.get_mut(CONTENT_KEY)?;
    if content.close.is_some()
        || content
            .content
            .as_deref()
            .is_some_and(|name| name != "text")
    {
        return None;
    }
    content.close = Some(close);
    content.repeats = true;
    content.join = Some(String::new());
    Some(changed)
}

/// The document with these tokens beside each of `ends` in what closes other fields than the content; `None` where none of them stands there.
fn ended_beside(document: &Document, ends: &[&str], tokens: &[String]) -> Option<Document> {
    let others = tokens.iter().filter(|token| !ends.contains(&token.trim()));
    let tokens: Vec<String> = others.map(|token| text::escape(token)).collect();
    if tokens.is_empty() {
        return None;
    }
    let mut changed = document.clone();
    let mut is_changed = false;
    let others = changed
        .fields
        .iter_mut()
        .filter(|(name, _)| *name != CONTENT_KEY);
    for (_, field) in others {
        let Some(Delimiter::Pattern(close)) = &mut field.close else {
            continue;
        };
        for end in ends.iter().map(|end| text::escape(end)) {
            if !end.is_empty() && close.contains(&end) {
                *close = close.replace(&end, &format!("(?:{end}|{})", tokens.join("|")));
                is_changed = true;
            }
        }
    }
    is_changed.then_some(changed)
}
