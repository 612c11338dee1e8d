//! Groups in a pattern, with the parts of the pattern before and behind each.

use crate::pattern::Pattern;
use crate::pattern::parts::{self, Part};
use crate::response_template::Delimiter;

/// A group and the parts around it, which delimit it.
#[derive(Debug, Clone)]
pub(super) struct Region {
    /// The group's name, or its number.
    pub(super) name: String,
    /// The parts before the group, up to the group before.
    pub(super) open: Vec<Part>,
    /// The parts behind the group, up to the first text.
    pub(super) close: Vec<Part>,
    /// The parts that the group itself is made of.
    pub(super) body: Vec<Part>,
}

/// The groups of a pattern in their order, those within others left out.
pub(super) fn regions(pattern: &Pattern) -> Vec<Region> {
    let mut signs = Vec::new();
    flatten(&parts::parts(pattern), &mut signs);
    let mut claimed = vec![false; signs.len()];
    let mut found: Vec<Region> = Vec::new();
    for at in 0..signs.len() {
        let Part::Group { name, parts } = &signs[at] else {
            continue;
        };
        let mut open = Vec::new();
        for before in (0..at).rev() {
            if claimed[before] || matches!(signs[before], Part::Group { .. }) {
                break;
            }
            open.insert(0, signs[before].clone());
        }
        let open = trimmed(open);
        let mut close = Vec::new();
        for (behind, sign) in signs.iter().enumerate().skip(at + 1) {
            if matches!(sign, Part::Group { .. }) {
                break;
            }
            close.push(sign.clone());
            if has_text(&open) {
                claimed[behind] = true;
            }
            if is_mark(sign) {
                break;
            }
        }
        if !has_text(&open) && !has_text(&close) {
            // A group without text around it lasts up to the text that ends the whole pattern.
            let last = signs
                .iter()
                .rposition(|sign| matches!(sign, Part::Group { .. }));
            let behind = signs.iter().skip(last.map_or(0, |last| last + 1));
            close = behind
                .filter(|sign| is_mark(sign))
                .take(1)
                .cloned()
                .collect();
        }
        found.push(Region {
            name: name.clone(),
            open,
            close: trimmed(close),
            body: parts.clone(),
        });
    }
    found
}

/// Appends the parts one after the other, with the parts of optional groups and of choices that have groups in their places.
fn flatten(parts: &[Part], signs: &mut Vec<Part>) {
    for part in parts {
        match part {
            Part::Optional { parts } if part.has_group() => flatten(parts, signs),
            Part::Choice(branches) if part.has_group() => {
                for branch in branches
                    .iter()
                    .filter(|branch| branch.iter().any(Part::has_group))
                {
                    flatten(branch, signs);
                }
            }
            other => signs.push(other.clone()),
        }
    }
}

/// Returns the parts without those that take no text, and without white space at both ends.
fn trimmed(mut parts: Vec<Part>) -> Vec<Part> {
    parts.retain(|part| !part.is_condition());
    let is_space = |part: Option<&Part>| matches!(part, Some(Part::Space(_)));
    while is_space(parts.first()) {
        parts.remove(0);
    }
    while is_space(parts.last()) {
        parts.pop();
    }
    parts
}

/// How many alternative texts are told apart at most.
const TEXTS: usize = 16;

/// Returns the texts of which one must stand in the place of the part; none where it is not so simple. White space around them is left out.
/// Optional parts count as present, and the end of the text is no alternative.
pub(super) fn texts(part: &Part) -> Vec<String> {
    match part {
        // White space alone is no delimiter: it stands everywhere.
        Part::Text(text) if text.trim().is_empty() => Vec::new(),
        Part::Text(text) => vec![text.clone()],
        Part::Optional { parts } => spelled(parts),
        Part::Choice(branches) => {
            let mut found = Vec::new();
            for branch in branches
                .iter()
                .filter(|branch| !trimmed((*branch).clone()).is_empty())
            {
                match spelled(branch).as_slice() {
                    [] => return Vec::new(),
                    more => found.extend_from_slice(more),
                }
            }
            found
        }
        _ => Vec::new(),
    }
}

/// The texts that a sequence of parts spells out.
fn spelled(parts: &[Part]) -> Vec<String> {
    let mut found = vec![String::new()];
    let parts = trimmed(parts.to_vec());
    if parts.is_empty() {
        return Vec::new();
    }
    for part in &parts {
        let next = texts(part);
        found = found
            .iter()
            .flat_map(|text| next.iter().map(move |more| format!("{text}{more}")))
            .take(TEXTS)
            .collect();
    }
    found
}

/// Returns true if the part has a text in it, alone or with something else.
fn is_mark(part: &Part) -> bool {
    is_text(part)
        || match part {
            Part::Optional { parts } => parts.iter().any(is_text),
            _ => false,
        }
}

fn is_text(part: &Part) -> bool {
    !texts(part).is_empty()
}

/// Returns true if one of the parts is a text.
pub(super) fn has_text(parts: &[Part]) -> bool {
    parts.iter().any(is_text)
}

/// The parts as a delimiter: literals where they are, a pattern otherwise; `None` without a text, or where they cannot be written.
pub(super) fn delimiter(parts: &[Part], space: bool) -> Option<Delimiter> {
    if !parts.iter().any(is_mark) {
        return None;
    }
    let literals = spelled(parts);
    if !space && !literals.is_empty() {
        return Some(Delimiter::Literals(literals));
    }
    let source = pattern(parts)?;
    Some(Delimiter::Pattern(if space {
        source + r"\s*"
    } else {
        source
    }))
}

/// Returns the parts as the source of a pattern. Optional parts count as present, and the end of the text is no alternative.
pub(super) fn pattern(parts: &[Part]) -> Option<String> {
    let mut out = String::new();
    for part in parts {
        let literals = texts(part);
        match literals.as_slice() {
            [] if is_mark(part) => {
                if let Part::Optional { parts } = part {
                    out.push_str(&parts::source(parts, &|_| None)?);
                }
            }
            [] => out.push_str(&parts::source(std::slice::from_ref(part), &|_| None)?),
            [only] => out.push_str(&parts::escaped(only)),
            several => {
                let written: Vec<String> =
                    several.iter().map(|text| parts::escaped(text)).collect();
                out.push_str(&format!("(?:{})", written.join("|")));
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(source: &str) -> Vec<(String, Option<Delimiter>, Option<Delimiter>)> {
        let pattern = Pattern::re(source).expect("a pattern");
        let regions = regions(&pattern).into_iter();
        regions
            .map(|region| {
                (
                    region.name,
                    delimiter(&region.open, false),
                    delimiter(&region.close, false),
                )
            })
            .collect()
    }

    #[test]
    fn groups_are_found_with_what_is_around_them() {
        let literal = |text: &str| Some(Delimiter::literal(text));
        assert_eq!(
            seen(r"^(?:<think>\s*(?P<t>.*?)\s*</think>)?\s*(?P<c>.*?)(?:<end>|$)"),
            [
                ("t".to_owned(), literal("<think>"), literal("</think>")),
                ("c".to_owned(), None, literal("<end>")),
            ]
        );
        assert_eq!(
            seen(r"<a><b=(\w+)>(.*)"),
            [
                ("1".to_owned(), literal("<a><b="), literal(">")),
                ("2".to_owned(), None, None),
            ]
        );
    }
}
