//! Definitions of tools that are kept as text: what of the constants around them belongs to them.
//!
//! A chat template that writes definitions in words of its own (`: string,` for a type) ends them with constants that depend on the tool.
//! What all renders have in common behind the definitions, and before them, is what surely is not theirs.

use std::collections::{BTreeMap, BTreeSet};

use super::cut::Between;
use crate::conversation::format::{ConnectionPart, Hole};
use crate::text::{common_prefix, common_suffix};

/// Returns what was seen, with the texts around definitions cut down to what is common to all that are alike but for these.
pub(super) fn widened(
    seen: BTreeMap<Between, BTreeSet<usize>>,
) -> BTreeMap<Between, BTreeSet<usize>> {
    let mut groups: BTreeMap<Between, Vec<(Between, BTreeSet<usize>)>> = BTreeMap::new();
    let mut out: BTreeMap<Between, BTreeSet<usize>> = BTreeMap::new();
    for (between, settings) in seen {
        match around(&between.parts) {
            None => out.entry(between).or_default().extend(settings),
            Some(at) => {
                let mut key = between.clone();
                for neighbour in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
                    if let Some(part @ ConnectionPart::Text(_)) = key.parts.get_mut(neighbour) {
                        *part = ConnectionPart::Text(String::new());
                    }
                }
                groups.entry(key).or_default().push((between, settings));
            }
        }
    }
    for (mut key, members) in groups {
        let Some(at) = around(&key.parts) else {
            continue;
        };
        let text = |between: &Between, at: Option<usize>| {
            let part = at.and_then(|at| between.parts.get(at));
            part.and_then(ConnectionPart::text)
                .unwrap_or_default()
                .to_owned()
        };
        let fold = |at: Option<usize>, common: fn(&str, &str) -> String| {
            let texts = members.iter().map(|(between, _)| text(between, at));
            texts.reduce(|a, b| common(&a, &b)).unwrap_or_default()
        };
        let before = fold(at.checked_sub(1), |a, b| {
            a[..common_prefix(a, b)].to_owned()
        });
        let behind = fold(Some(at + 1), |a, b| {
            a[a.len() - common_suffix(a, b)..].to_owned()
        });
        let is_enough = |text: &str| !text.trim().is_empty();
        if is_enough(&before) && (is_enough(&behind) || key.parts.get(at + 1).is_none()) {
            for (neighbour, text) in [(at.checked_sub(1), before), (Some(at + 1), behind)] {
                if let Some(part @ ConnectionPart::Text(_)) =
                    neighbour.and_then(|at| key.parts.get_mut(at))
                {
                    *part = ConnectionPart::Text(text);
                }
            }
            let all = members.into_iter().flat_map(|(_, settings)| settings);
            out.entry(key).or_default().extend(all);
        } else {
            for (between, settings) in members {
                out.entry(between).or_default().extend(settings);
            }
        }
    }
    out
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
