//! "Did you mean": the one of several names that is nearest to a name that is none of them.

/// How alike two names have to be for one to be a misspelling of the other: 1 is the same name.
const ALIKE: f64 = 0.75;

/// The nearest of `names`; `None` where none is near. Dashes, underscores and the case of letters do not count.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let wanted = plain(wanted);
    names
        .map(|name| {
            (
                strsim::normalized_damerau_levenshtein(&wanted, &plain(name)),
                name,
            )
        })
        .filter(|(alike, _)| *alike >= ALIKE)
        // Of names that are equally near the first counts.
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn slips_are_seen_and_other_names_are_not() {
        let names = ["enable_thinking", "thinking_budget", "date"];
        let nearest = |wanted| nearest(wanted, names.into_iter());
        assert_eq!(nearest("enable_thinkng"), Some("enable_thinking"));
        assert_eq!(nearest("Enable-Thinking"), Some("enable_thinking"));
        assert_eq!(nearest("daet"), Some("date"));
        assert_eq!(nearest("dates"), Some("date"));
        assert_eq!(nearest("reasoning_effort"), None);
    }
}
