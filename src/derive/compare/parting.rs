//! Two markers that stand together in one constant, told by where each of them stands elsewhere.

use std::collections::BTreeSet;

use super::lines::is_amid_word;
use super::text;
use crate::value::python;

/// The fewest characters that a constant has at which another one is cut, and that each part of the cut has. Characters are counted and not
/// bytes, since those of many scripts take several bytes each.
pub(in crate::derive) const SHORTEST: usize = 3;

/// How many characters within the end of a text may differ from a mark if the end is to count as like it. For example, `</end>` differs
/// from `<end>` by one.
const MAX_UNLIKE: usize = 2;

/// How many constants are searched for two markers that stand together in one.
const MAX_PARTED: usize = 4096;

/// Cuts constants in which two markers stand together. A constant is cut where another of the `markers` begins or ends it, if that is one
/// of the `marks` or the rest is seen elsewhere, at the beginning or end of a third constant. It is also cut before an end that is like one
/// of the marks in `like`, since a closing marker often differs little from the opening one: `x</end>` is cut before `</end>` where `<end>`
/// is a mark.
///
/// A mark does not part a word: `[do` is no part of `[done]`. `touching` are the constants that are seen to end right before a letter or a text, and
/// those that are seen to begin right behind one, by which it is known that a word may end there.
pub(super) fn part(
    known: &mut BTreeSet<String>,
    mut markers: BTreeSet<String>,
    [marks, like]: [&BTreeSet<String>; 2],
    touching: [&BTreeSet<String>; 2],
) {
    let constants = known.clone();
    let mut left: Vec<String> = known.iter().cloned().collect();
    let mut steps = MAX_PARTED;
    while let Some(whole) = left.pop().filter(|_| steps > 0) {
        steps -= 1;
        let mut rests = BTreeSet::new();
        for one in markers
            .iter()
            .filter(|one| length(one) >= SHORTEST && **one != whole)
        {
            let before = whole.strip_prefix(one.as_str());
            let before = before.map(|rest| (rest, one.len()));
            let behind = whole.strip_suffix(one.as_str());
            let behind = behind.map(|rest| (rest, rest.len()));
            for (rest, cut) in before.into_iter().chain(behind) {
                let rest = rest.trim_matches(python::is_space);
                if length(rest) < SHORTEST {
                    continue;
                }
                if marks.contains(one) && may_be_cut(&whole, cut, touching) {
                    rests.insert(rest.to_owned());
                }
                if !is_made_otherwise(&constants, &whole, cut) {
                    rests.extend(seen_elsewhere(known, &constants, &whole, rest));
                }
            }
        }
        let alike = like.iter().filter_map(|mark| ends_like(&whole, mark));
        for start in alike {
            rests.extend([whole[..start].trim_end(), &whole[start..]].map(str::to_owned));
        }
        rests.retain(|rest| !known.contains(rest));
        if !rests.is_empty() {
            // Only what begins or ends with something new may come apart now.
            let may_part = |one: &&String| {
                rests
                    .iter()
                    .any(|rest| one.starts_with(rest.as_str()) || one.ends_with(rest.as_str()))
            };
            left.extend(known.iter().filter(may_part).cloned());
            left.extend(rests.iter().cloned());
            markers.extend(rests.iter().cloned());
            known.extend(rests);
        }
    }
}

/// Returns false if a cut would part a word, and the constants do not show that one ends or begins there.
fn may_be_cut(text: &str, cut: usize, [on, from]: [&BTreeSet<String>; 2]) -> bool {
    !is_amid_word(text, cut) || on.contains(&text[..cut]) || from.contains(&text[cut..])
}

/// Returns true if a text is made of other constants, one after the other, and a cut would split one of these right behind its first
/// characters or right before its last ones: `a<b>c` of `a` and `<b>c` is not cut behind `a<`.
fn is_made_otherwise(constants: &BTreeSet<String>, whole: &str, cut: usize) -> bool {
    let at = |from: usize| {
        let all = constants.iter().filter(move |one| {
            *one != whole && !one.is_empty() && whole[from..].starts_with(one.as_str())
        });
        all.map(move |one| from + one.len())
    };
    // True where the text from that byte on, or the text up to it, is made of constants and of white space between them.
    let mut from = vec![false; whole.len() + 1];
    let mut to = from.clone();
    (from[whole.len()], to[0]) = (true, true);
    for (start, c) in whole.char_indices().rev() {
        let is_blank = python::is_space(c) && from[start + c.len_utf8()];
        from[start] = is_blank || at(start).any(|end| from[end]);
    }
    let mut is_split = false;
    for (start, c) in whole.char_indices().filter(|(start, _)| *start < cut) {
        if !to[start] {
            continue;
        }
        to[start + c.len_utf8()] |= python::is_space(c);
        for end in at(start) {
            to[end] = true;
            let parts = [&whole[start..cut], whole.get(cut..end).unwrap_or_default()];
            is_split |= from[end] && parts.iter().all(|part| length(part) >= SHORTEST);
        }
    }
    from[0] && !(to[cut] && from[cut]) && !is_split
}

/// Returns the parts that a cut between a marker and the rest of a constant makes, if the rest is seen elsewhere: the rest, and what stands
/// beside it there, which then is a marker as well.
fn seen_elsewhere(
    known: &BTreeSet<String>,
    constants: &BTreeSet<String>,
    whole: &str,
    rest: &str,
) -> Vec<String> {
    let others = known.iter().filter(|other| **other != whole);
    let beside = others.filter_map(|other| {
        let (beside, cut) = match other.strip_prefix(rest) {
            Some(beside) => (beside, rest.len()),
            None => other
                .strip_suffix(rest)
                .map(|beside| (beside, beside.len()))?,
        };
        let is_cut = !is_made_otherwise(constants, other, cut);
        is_cut.then(|| beside.trim_matches(python::is_space).to_owned())
    });
    let mut parts: Vec<String> = beside.collect();
    if !parts.is_empty() {
        parts.push(rest.to_owned());
    }
    parts.retain(|part| length(part) >= SHORTEST);
    parts
}

/// Returns the byte at which an end of the text begins that is like the mark but for a few characters within it: 1 for `x</end>` and the
/// mark `<end>`. `None` where no text stands before that end.
fn ends_like(text: &str, mark: &str) -> Option<usize> {
    let tail = text::common_suffix(text, mark);
    if length(&text[text.len() - tail..]) < SHORTEST || tail >= mark.len() {
        return None;
    }
    let (before, within) = (&text[..text.len() - tail], &mark[..mark.len() - tail]);
    let starts = before.char_indices().map(|(at, _)| at).rev();
    starts
        .take(MAX_UNLIKE + 1)
        .filter(|start| *start > 0)
        .find(|start| {
            let head = text::common_prefix(&text[*start..], mark).min(within.len());
            let own = &before[*start..];
            let unlike = length(&within[head..]).max(length(own.get(head..).unwrap_or_default()));
            head > 0 && unlike <= MAX_UNLIKE
        })
}

/// How many characters a text has.
pub(in crate::derive) fn length(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parted(known: &[&str], marks: &[&str]) -> BTreeSet<String> {
        let set = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let before: BTreeSet<String> = set(known);
        let mut after = before.clone();
        let touching = [&set(&["kupa"]), &set(&["fin"])];
        part(&mut after, before.clone(), [&set(marks); 2], touching);
        &after - &before
    }

    #[test]
    fn a_mark_parts_no_word_unless_it_is_seen_beside_a_letter() {
        assert_eq!(parted(&["[do", "[done]"], &["[do"]), BTreeSet::new());
        let found = parted(&["[do", "[do<arg>"], &["[do"]);
        assert_eq!(found, ["<arg>".to_owned()].into());
        let found = parted(&["kupa", "kupalom"], &["kupa"]);
        assert_eq!(found, ["lom".to_owned()].into());
        let found = parted(&["fin", "tarfin"], &["fin"]);
        assert_eq!(found, ["tar".to_owned()].into());
        assert_eq!(parted(&["lom", "tarlom"], &["lom"]), BTreeSet::new());
    }

    #[test]
    fn a_constant_is_cut_where_another_one_is_seen() {
        assert_eq!(parted(&["<bot><say>", "<bot>"], &[]), BTreeSet::new());
        let found = parted(&["<bot><say>", "<bot>", "<user><say>"], &[]);
        assert_eq!(found, ["<say>", "<user>"].map(str::to_owned).into());
    }

    #[test]
    fn a_constant_that_is_made_of_others_is_cut_between_them() {
        let known = [
            "x>]|[",
            "]|[",
            "<f=",
            "</f>",
            "x>",
            "x>]|[<",
            "x>]|[</f>",
            "]|[<f=",
            "<",
        ];
        assert_eq!(parted(&known, &[]), BTreeSet::new(), "`/f>` is none");
        let made = |cut| is_made_otherwise(&known.map(str::to_owned).into(), "x>]|[</f>", cut);
        assert_eq!([made(2), made(5), made(6)], [false, false, true]);
        let constants = ["<bot> to=", "all.", "<bot>"].map(str::to_owned).into();
        assert!(
            !is_made_otherwise(&constants, "<bot> to=all.", 5),
            "`<bot>` is long enough"
        );
    }
}
