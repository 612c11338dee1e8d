//! The pane of the parser's state: the open region, what it looks for and why it waits, what it holds, its limits.

use ratatui::layout::Rect;
use unicode_width::UnicodeWidthStr as _;

use super::canvas::Canvas;
use crate::parser::{Edge, Limits, Status};
use crate::pattern::Pattern;
use crate::replay::{Moment, Watch, spelled};
use crate::tui::layout::Pane;
use crate::tui::state::detail::SHOWN;
use crate::tui::state::{Allowed, Answer, State};
use crate::tui::text::{columns, line};
use crate::tui::theme::Role;
use crate::value::json;

type Line = Vec<(String, Role)>;

pub(super) fn draw(state: &State, area: Rect, canvas: &mut Canvas<'_>) {
    let room = usize::from(area.width.saturating_sub(1)).max(1);
    let lines: Vec<Line> = lines(state, room)
        .into_iter()
        .flat_map(|line| match line.last() {
            Some((_, Role::Warning)) => hanging(&line, room),
            _ => vec![line],
        })
        .collect();
    let height = usize::from(area.height);
    let top = state
        .scroll(Pane::State)
        .top
        .min(lines.len().saturating_sub(height));
    for (row, line) in lines.iter().skip(top).take(height).enumerate() {
        let y = area.y + u16::try_from(row).unwrap_or(u16::MAX);
        let mut x = area.x + 1;
        for (text, role) in line {
            x = canvas.put(area, x, y, text, *role);
        }
    }
    if lines.len() > top + height && area.width > 3 {
        canvas.put(area, area.right() - 1, area.bottom() - 1, "↓", Role::Dim);
    }
}

/// The rows of a line that must be read to its end. Those below the first hang further in.
fn hanging(line: &Line, room: usize) -> Vec<Line> {
    const INDENT: &str = "    ";
    let mut rows: Vec<Line> = vec![Vec::new()];
    let mut used = 0;
    for (text, role) in line {
        for word in text.split_inclusive(' ') {
            let word = crate::tui::text::line(word, usize::MAX);
            let width = word.trim_end().width();
            if used + width > room && used > INDENT.len() {
                rows.push(vec![(INDENT.to_owned(), *role)]);
                used = INDENT.len();
            }
            used += word.width();
            if let Some(row) = rows.last_mut() {
                row.push((word, *role));
            }
        }
    }
    rows
}

fn lines(state: &State, room: usize) -> Vec<Line> {
    let now = state.now();
    let mut lines = vec![region(&now)];
    let held = now.held();
    if !held.is_empty() {
        lines.push(vec![
            (format!("holds {} B ", held.len()), Role::Plain),
            (line(&now.timeline.text()[held], SHOWN), Role::Held),
        ]);
    }
    if let Some(answer) = state.allowed.as_ref().and_then(Allowed::answer) {
        allowed(&answer, &mut lines);
    }
    if now.status() == Status::Reading {
        watched(&now, room, &mut lines);
    }
    if let Some(region) = now.open() {
        for (name, value) in &region.captures {
            lines.push(vec![
                ("captured ".to_owned(), Role::Dim),
                (format!("{name} = {}", json::to_string(value)), Role::Plain),
            ]);
        }
    }
    let (limits, usual) = (now.timeline.limits(), Limits::default());
    let region = now.open_text().map_or(0, str::len);
    for (what, used, most, usual) in [
        ("regions", now.closed(), limits.regions, usual.regions),
        (
            "region bytes",
            region,
            limits.region_bytes,
            usual.region_bytes,
        ),
        (
            "held bytes",
            now.held().len(),
            limits.held_bytes,
            usual.held_bytes,
        ),
    ] {
        // A limit that nobody set matters when it comes near.
        if most == usual && used < most / 2 {
            continue;
        }
        lines.push(vec![(format!("{what}: {used} of {most}"), Role::Dim)]);
    }
    lines
}

/// How many of the things are shown that may come next.
const NEXT: usize = 6;

/// The answer of the grammar, and a row for each thing that may come next.
fn allowed(answer: &Answer, lines: &mut Vec<Line>) {
    let next = match answer {
        Answer::None(why) => {
            let text = format!("no grammar: {}", line(why, SHOWN));
            lines.push(vec![(text, Role::Warning)]);
            return;
        }
        Answer::Next(next) => {
            lines.push(vec![("the grammar allows next".to_owned(), Role::Title)]);
            next
        }
        Answer::Disallowed(at, next) => {
            let text = format!("the grammar does not allow byte {at}, where might stand");
            lines.push(vec![(text, Role::Error)]);
            next
        }
    };
    for one in next.iter().take(NEXT) {
        lines.push(vec![(
            format!("  {}", line(&one.to_string(), SHOWN)),
            Role::Plain,
        )]);
    }
    if next.len() > NEXT {
        let text = format!("  and {} more", next.len() - NEXT);
        lines.push(vec![(text, Role::Dim)]);
    }
}

fn region(now: &Moment<'_>) -> Line {
    let timeline = now.timeline;
    let place = |at: usize| at.saturating_sub(timeline.prefix());
    match (now.status(), now.open()) {
        (Status::Finalized, _) => vec![("the response is over".to_owned(), Role::Plain)],
        (Status::Ended, _) => vec![("a limit ended the parse".to_owned(), Role::Error)],
        (Status::Stalled, _) => vec![(
            "reads no further: an empty close met an empty region".to_owned(),
            Role::Error,
        )],
        (Status::Reading, Some(region)) => {
            let length = now.open_text().map_or(0, str::len);
            vec![
                ("in ".to_owned(), Role::Plain),
                (
                    timeline.field_name(region.field).to_owned(),
                    Role::Field(region.field),
                ),
                (
                    format!(" since byte {}, {length} B", place(region.text.start)),
                    Role::Plain,
                ),
            ]
        }
        (Status::Reading, None) => match timeline.template().implicit() {
            Some(field) => vec![
                ("before any text of ".to_owned(), Role::Plain),
                (timeline.field_name(field).to_owned(), Role::Field(field)),
            ],
            None => vec![(
                "between regions: no field takes text".to_owned(),
                Role::Plain,
            )],
        },
    }
}

/// The delimiters, those that are under way first.
fn watched(now: &Moment<'_>, room: usize, lines: &mut Vec<Line>) {
    let under_way = now.watches();
    let of = |field: usize, side: Edge| {
        under_way
            .iter()
            .find(|watch| watch.field == field && watch.side == side)
    };
    let mut all = now.watched();
    all.sort_by_key(|(field, side, _)| of(*field, *side).is_none());
    for (field, side, pattern) in all {
        let watch = of(field, side);
        let sign = if watch.is_some() { "● " } else { "○ " };
        let mut row = vec![
            (sign.to_owned(), Role::Plain),
            (
                format!("{} {} ", side.name(), now.timeline.field_name(field)),
                Role::Field(field),
            ),
        ];
        row.push((
            spelled(pattern),
            if watch.is_some() {
                Role::Plain
            } else {
                Role::Dim
            },
        ));
        // How it is matched is of less interest than the delimiter, and half of a name is of none.
        let engine = format!(" {}", pattern.engine().name());
        let taken: usize = row.iter().map(|(text, _)| columns(text)).sum();
        if taken + columns(&engine) <= room {
            row.push((engine, Role::Dim));
        }
        lines.push(row);
        if let Some(watch) = watch {
            lines.push(vec![(
                format!("  {}", progress(now, watch, pattern)),
                Role::Warning,
            )]);
        }
    }
}

/// How far it has matched, and why it waits.
fn progress(now: &Moment<'_>, watch: &Watch, pattern: &Pattern) -> String {
    let length = watch.span.len();
    let total = match pattern.as_literals() {
        Some([literal]) => format!("{length} of {} B", literal.len()),
        _ => format!("{length} B"),
    };
    let place = watch.span.start.saturating_sub(now.timeline.prefix());
    let what = if watch.matched { "matched" } else { "perhaps" };
    format!("{what} {total} from byte {place}: {}", watch.reason)
}
