//! Definitions of tools that are kept as text: what of the constants around them belongs to them.
//!
//! A chat template that writes definitions in words of its own (`: string,` for a type) ends them with constants that depend on the tool.
//! What all renders have in common behind the definitions, and before them, is what surely is not theirs.

use std::collections::{BTreeMap, BTreeSet};

use super::cut::Between;
use crate::conversation::format::{ConnectionPart, Hole};
use crate::text::{common_prefix, common_suffix};

/// Returns what was seen, with the texts around definitions cut down to what is common to all that are alike but for these.
///
/// Each setting is looked at by itself: a setting may write something of its own right before the definitions, and what that has in
/// common with the texts of other settings may be less than the whole of a marker.
pub(super) fn widened(
    seen: BTreeMap<Between, BTreeSet<usize>>,
) -> BTreeMap<Between, BTreeSet<usize>> {
    let mut groups: BTreeMap<(Between, usize), Vec<Between>> = BTreeMap::new();
    let mut out: BTreeMap<Between, BTreeSet<usize>> = BTreeMap::new();
    for (between, settings) in seen {
        let Some(at) = around(&between.parts) else {
            out.entry(between).or_default().extend(settings);
            continue;
        };
        let mut key = between.clone();
        for neighbour in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
            if let Some(part @ ConnectionPart::Text(_)) = key.parts.get_mut(neighbour) {
                *part = ConnectionPart::Text(String::new());
            }
        }
        for setting in settings {
            let members = groups.entry((key.clone(), setting)).or_default();
            members.push(between.clone());
        }
    }
    for ((key, setting), members) in groups {
        for members in clusters(&key, members) {
            match common(&key, &members) {
                Some(between) => {
                    out.entry(between).or_default().insert(setting);
                }
                None => members.into_iter().for_each(|between| {
                    out.entry(between).or_default().insert(setting);
                }),
            }
        }
    }
    out
}

/// Those that have most of what stands behind the definitions in common: a place may have several headers, and what is common to these is
/// none.
fn clusters(key: &Between, members: Vec<Between>) -> Vec<Vec<Between>> {
    let behind = |between: &Between| {
        let part = around(&key.parts).and_then(|at| between.parts.get(at + 1));
        part.and_then(ConnectionPart::text)
            .unwrap_or_default()
            .to_owned()
    };
    let mut found: Vec<(String, Vec<Between>)> = Vec::new();
    for member in members {
        let text = behind(&member);
        let cluster = found.iter_mut().find(|(shared, _)| {
            let common = common_suffix(shared, &text);
            2 * common >= shared.len().min(text.len())
        });
        match cluster {
            Some((shared, cluster)) => {
                let len = common_suffix(shared, &text);
                *shared = shared[shared.len() - len..].to_owned();
                cluster.push(member);
            }
            None => found.push((text, vec![member])),
        }
    }
    found.into_iter().map(|(_, members)| members).collect()
}

/// The step with the texts that all of a group have in common around the definitions; `None` where that is nothing by which these
/// could be found.
fn common(key: &Between, members: &[Between]) -> Option<Between> {
    let at = around(&key.parts)?;
    let text = |between: &Between, at: Option<usize>| {
        let part = at.and_then(|at| between.parts.get(at));
        part.and_then(ConnectionPart::text)
            .unwrap_or_default()
            .to_owned()
    };
    let fold = |at: Option<usize>, common: fn(&str, &str) -> String| {
        let texts = members.iter().map(|between| text(between, at));
        texts.reduce(|a, b| common(&a, &b)).unwrap_or_default()
    };
    let before = fold(at.checked_sub(1), |a, b| {
        a[..common_prefix(a, b)].to_owned()
    });
    let behind = fold(Some(at + 1), |a, b| {
        a[a.len() - common_suffix(a, b)..].to_owned()
    });
    let is_enough = |text: &str| !text.trim().is_empty();
    if !is_enough(&before) || !(is_enough(&behind) || key.parts.get(at + 1).is_none()) {
        return None;
    }
    let mut found = key.clone();
    for (neighbour, text) in [(at.checked_sub(1), before), (Some(at + 1), behind)] {
        if let Some(part @ ConnectionPart::Text(_)) =
            neighbour.and_then(|at| found.parts.get_mut(at))
        {
            *part = ConnectionPart::Text(text);
        }
    }
    Some(found)
}

/// Where the definitions are among the parts.
fn around(parts: &[ConnectionPart]) -> Option<usize> {
    parts.iter().position(|part| {
        matches!(
            part,
            ConnectionPart::Hole {
                any: Hole::Definitions,
                ..
            }
        )
    })
}
