//! Dates, read back by the formats in which a chat template writes them.

use crate::chat_template::{Clock, MONTHS, WEEKDAYS};

/// The moment that a text shows, if one of the formats writes it so.
pub(super) fn parse(text: &str, formats: &[String]) -> Option<Clock> {
    formats.iter().find_map(|format| parse_as(text, format))
}

#[derive(Debug, Default)]
struct DateParts {
    year: Option<u32>,
    month: Option<u32>,
    day: Option<u32>,
    hour: u32,
    minute: u32,
    second: u32,
    afternoon: Option<bool>,
}

fn parse_as(text: &str, format: &str) -> Option<Clock> {
    let mut seen = DateParts::default();
    let rest = follow(text, format, &mut seen)?;
    if !rest.is_empty() {
        return None;
    }
    let year = i32::try_from(seen.year?).ok()?;
    let hour = match seen.afternoon {
        Some(is_afternoon) => seen.hour % 12 + if is_afternoon { 12 } else { 0 },
        None => seen.hour,
    };
    let day = Clock::date(year, seen.month.unwrap_or(1), seen.day.unwrap_or(1))?;
    day.at(hour, seen.minute, seen.second)
}

/// Returns the rest of the text behind what the format writes.
fn follow<'t>(mut text: &'t str, format: &str, seen: &mut DateParts) -> Option<&'t str> {
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        if c != '%' {
            text = text.strip_prefix(c)?;
            continue;
        }
        let mut code = chars.next()?;
        if code == '-' {
            code = chars.next()?;
        }
        let mut number = |most: usize| -> Option<u32> {
            let trimmed = text.trim_start_matches(' ');
            let digits = trimmed
                .bytes()
                .take(most)
                .take_while(u8::is_ascii_digit)
                .count();
            let found = trimmed[..digits].parse().ok()?;
            text = &trimmed[digits..];
            Some(found)
        };
        match code {
            'Y' => seen.year = Some(number(4)?),
            'y' => seen.year = Some(2000 + number(2)?),
            'm' => seen.month = Some(number(2)?),
            'd' | 'e' => seen.day = Some(number(2)?),
            'H' | 'I' => seen.hour = number(2)?,
            'M' => seen.minute = number(2)?,
            'S' => seen.second = number(2)?,
            'B' | 'b' | 'h' => {
                let (at, len) = named(text, &MONTHS, code != 'B')?;
                seen.month = u32::try_from(at + 1).ok();
                text = &text[len..];
            }
            'A' | 'a' => text = &text[named(text, &WEEKDAYS, code == 'a')?.1..],
            'p' => {
                seen.afternoon = Some(text.starts_with("PM"));
                text = text
                    .strip_prefix("PM")
                    .or_else(|| text.strip_prefix("AM"))?;
            }
            'F' => text = follow(text, "%Y-%m-%d", seen)?,
            'T' => text = follow(text, "%H:%M:%S", seen)?,
            '%' => text = text.strip_prefix('%')?,
            _ => return None,
        }
    }
    Some(text)
}

/// Which of the names the text begins with, and how long it is written.
fn named(text: &str, names: &[&str], short: bool) -> Option<(usize, usize)> {
    names.iter().enumerate().find_map(|(at, name)| {
        let written = if short { &name[..3] } else { name };
        text.starts_with(written).then_some((at, written.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_come_back() {
        for (text, format, expected) in [
            ("28 Jul 2026", "%d %b %Y", "2026-07-28"),
            ("July 4, 2026", "%B %-d, %Y", "2026-07-04"),
            ("2026-07-28", "%F", "2026-07-28"),
            (
                "Tuesday, July 28, 2026, at 03:05 PM",
                "%A, %B %d, %Y, at %I:%M %p",
                "2026-07-28",
            ),
        ] {
            let found = parse(text, &[format.to_owned()]).map(|clock| clock.to_string());
            assert_eq!(found.as_deref(), Some(expected), "{text}");
        }
        assert_eq!(parse("28 Juli 2026", &["%d %b %Y".to_owned()]), None);
        assert_eq!(parse("28 Jul 2026.", &["%d %b %Y".to_owned()]), None);
    }
}
