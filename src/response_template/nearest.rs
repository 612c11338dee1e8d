//! The known word that an unknown one was probably meant to be.

/// The candidate with the fewest edits from `word`, if these are few enough to be a slip.
pub(crate) fn nearest<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word: Vec<char> = word.to_lowercase().chars().take(LONGEST).collect();
    let allowed = word.len().div_ceil(3);
    let distances = candidates
        .iter()
        .map(|candidate| (distance(&word, candidate), *candidate));
    distances
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, found)| found)
}

/// No known word comes near this length; longer ones are cut so that the comparison stays small.
const LONGEST: usize = 40;

/// How many characters must be put in, taken out, or replaced.
fn distance(word: &[char], candidate: &str) -> usize {
    let mut row: Vec<usize> = (0..=word.len()).collect();
    for (index, c) in candidate.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, w) in word.iter().enumerate() {
            let replaced = diagonal + usize::from(*w != c);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[word.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn finds_slips_and_nothing_else() {
        let keys = ["open", "open_pattern", "close", "repeats", "transform_each"];
        assert_eq!(nearest("opne", &keys), Some("open"));
        assert_eq!(nearest("Close", &keys), Some("close"));
        assert_eq!(nearest("repeat", &keys), Some("repeats"));
        assert_eq!(nearest("transformeach", &keys), Some("transform_each"));
        assert_eq!(nearest("x-regex", &keys), None);
        assert_eq!(nearest("", &keys), None);
    }
}
