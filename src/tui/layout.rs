//! Where the panes are on a screen of any size.

use ratatui::layout::{Margin, Rect};

/// A part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pane {
    Response,
    Events,
    State,
    Message,
    Template,
    Derivation,
    Deltas,
}

impl Pane {
    pub(crate) const ALL: [Self; 7] = [
        Self::Response,
        Self::Events,
        Self::State,
        Self::Message,
        Self::Template,
        Self::Derivation,
        Self::Deltas,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Response => "Response",
            Self::Events => "Events",
            Self::State => "State",
            Self::Message => "Message",
            Self::Template => "Template",
            Self::Derivation => "Derivation",
            Self::Deltas => "Deltas",
        }
    }
}

/// The columns before a text: a letter for the field, and a gap.
pub(crate) const GUTTER: u16 = 2;

/// Below this only one pane is shown at a time.
const NARROW: u16 = 60;
const LOW: u16 = 14;

/// A message takes no row of a screen that is not higher.
const LEAST: u16 = 8;

/// So many rows are enough for four panes, one below the other.
const HIGH: u16 = 36;

/// So many columns are enough for the response and the template.
const READ: u16 = 100;

/// Where everything is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) title: Rect,
    /// The rows of a message that does not fit beside the keys.
    pub(crate) told: Rect,
    pub(crate) status: Rect,
    /// The panes that are shown, each with its heading.
    pub(crate) panes: Vec<(Pane, Rect)>,
    /// The column between left and right.
    pub(crate) divider: Option<Rect>,
}

impl Layout {
    /// The inside of a pane; `None` when it is not shown or has no room.
    pub(crate) fn content(&self, pane: Pane) -> Option<Rect> {
        let (_, rect) = self.panes.iter().find(|(shown, _)| *shown == pane)?;
        let content = Rect {
            y: rect.y + 1,
            height: rect.height.saturating_sub(1),
            ..*rect
        };
        (content.height > 0 && content.width > 0).then_some(content)
    }

    /// The pane at a place of the screen.
    pub(crate) fn pane_at(&self, x: u16, y: u16) -> Option<Pane> {
        let mut panes = self.panes.iter();
        panes
            .find(|(_, rect)| rect.contains((x, y).into()))
            .map(|(pane, _)| *pane)
    }
}

/// The columns of a text in a pane; one more is left for the sign of a line feed.
pub(crate) fn text_width(content: Rect) -> usize {
    usize::from(content.width.saturating_sub(GUTTER + 1)).max(1)
}

/// The rows of the message's tree: below it stands the open region, if there is one.
pub(crate) fn tree_height(content: Rect, region: bool) -> u16 {
    if region {
        content
            .height
            .saturating_sub(if content.height > 6 { 3 } else { 2 })
    } else {
        content.height
    }
}

/// The most rows that may tell what is wrong with the template, below it.
pub(crate) fn told_height(content: Rect) -> u16 {
    let least = if content.height > 4 { 2 } else { 1 };
    (content.height / 4).max(least)
}

/// The rows of the template, above those that tell what is wrong with it.
pub(crate) fn template_height(content: Rect, told: usize) -> u16 {
    let told = u16::try_from(told).unwrap_or(u16::MAX);
    content.height.saturating_sub(told)
}

/// The rows that the derivation's markers have; below them stands the evidence for one.
pub(crate) fn markers_height(content: Rect) -> u16 {
    (content.height / 3).max(1).min(content.height)
}

/// The marker that is shown first, so that the chosen one is shown too.
pub(crate) fn top_of_markers(height: u16, chosen: usize) -> usize {
    (chosen + 1).saturating_sub(usize::from(height))
}

/// The area that may lie over the panes. The last line stays: it says what the keys do.
pub(crate) fn over(area: Rect) -> Rect {
    Rect {
        height: area.height.saturating_sub(1),
        ..area
    }
}

/// A box in the middle, with room for so much.
pub(crate) fn centred(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    Rect {
        x: area.x + (area.width - width) / 2,
        y: area.y + (area.height - height) / 2,
        width,
        height,
    }
}

/// Where a list is that one is to be chosen from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct List {
    /// The box with its border.
    pub(crate) outside: Rect,
    /// The row that is shown first.
    pub(crate) top: usize,
}

/// The list with these rows, of which the chosen one is shown.
pub(crate) fn list_of(area: Rect, rows: &[String], chosen: usize) -> List {
    let widest = rows.iter().map(|row| row.chars().count()).max();
    let width = u16::try_from(widest.unwrap_or(0) + 5).unwrap_or(u16::MAX);
    let height = u16::try_from(rows.len() + 2).unwrap_or(u16::MAX);
    let outside = centred(area, width.max(24), height);
    let inside = usize::from(outside.height.saturating_sub(2));
    List {
        outside,
        top: (chosen + 1).saturating_sub(inside),
    }
}

impl List {
    /// The row at a place of the screen.
    pub(crate) fn row_at(&self, x: u16, y: u16) -> Option<usize> {
        let inside = self.outside.inner(Margin::new(1, 1));
        let is_inside = inside.contains((x, y).into());
        is_inside.then(|| self.top + usize::from(y - inside.y))
    }
}

/// The panes on a screen, and so many rows for a message as far as these leave the panes enough.
pub(crate) fn of(area: Rect, focus: Pane, zoom: bool, derivation: bool, told: usize) -> Layout {
    let title = Rect {
        height: area.height.min(1),
        ..area
    };
    let status = Rect {
        y: area.y + area.height.saturating_sub(1),
        height: u16::from(area.height > 1),
        ..area
    };
    let most = area.height.saturating_sub(LEAST);
    let told_height = u16::try_from(told).unwrap_or(u16::MAX).min(most);
    let told = Rect {
        y: status.y.saturating_sub(told_height),
        height: told_height,
        ..area
    };
    let body = Rect {
        y: area.y + title.height,
        height: area
            .height
            .saturating_sub(title.height + told.height + status.height),
        ..area
    };
    let one = zoom || area.width < NARROW || area.height < LOW;
    if one || body.height == 0 {
        return Layout {
            title,
            told,
            status,
            panes: vec![(focus, body)],
            divider: None,
        };
    }
    // A response is read in lines of some width; what is left over on a wide screen is the other panes'.
    let spare = body.width.saturating_sub(READ).min(body.width / 2);
    let right_width = (body.width * 2 / 5).max(26).max(spare);
    let left = Rect {
        width: body.width - right_width - 1,
        ..body
    };
    let divider = Rect {
        x: left.x + left.width,
        width: 1,
        ..body
    };
    let right = Rect {
        x: divider.x + 1,
        width: right_width,
        ..body
    };
    // The derivation stands in the template's place while one looks at it.
    let lower = if derivation && focus == Pane::Derivation {
        Pane::Derivation
    } else {
        Pane::Template
    };
    let mut panes = stack(left, &[(Pane::Response, 5), (lower, 4)]);
    // The deltas stand beside the events: in the state's place while one looks at them, and always where there is room.
    let beside: &[(Pane, u16)] = if right.height >= HIGH {
        &[
            (Pane::Events, 1),
            (Pane::Deltas, 1),
            (Pane::State, 1),
            (Pane::Message, 1),
        ]
    } else if focus == Pane::Deltas {
        &[(Pane::Events, 1), (Pane::Deltas, 1), (Pane::Message, 1)]
    } else {
        &[(Pane::Events, 1), (Pane::State, 1), (Pane::Message, 1)]
    };
    panes.extend(stack(right, beside));
    Layout {
        title,
        told,
        status,
        panes,
        divider: Some(divider),
    }
}

/// Shares of a height, one below the other.
fn stack(area: Rect, shares: &[(Pane, u16)]) -> Vec<(Pane, Rect)> {
    let total: u16 = shares.iter().map(|(_, share)| share).sum();
    let mut y = area.y;
    let mut given = 0;
    shares
        .iter()
        .map(|(pane, share)| {
            given += share;
            let end = area.y
                + u16::try_from(u32::from(area.height) * u32::from(given) / u32::from(total))
                    .unwrap_or(area.height);
            let rect = Rect {
                y,
                height: end - y,
                ..area
            };
            y = end;
            (*pane, rect)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panes_lie_on_the_screen_and_not_on_each_other() {
        for (width, height) in (1..260)
            .step_by(3)
            .flat_map(|width| (1..45).map(move |height| (width, height)))
        {
            let area = Rect::new(0, 0, width, height);
            for (zoom, focus, told) in [
                (false, Pane::Response, 0),
                (true, Pane::State, 2),
                (false, Pane::Derivation, 1),
                (false, Pane::Deltas, 3),
            ] {
                let layout = of(area, focus, zoom, true, told);
                let mut rects: Vec<Rect> = layout.panes.iter().map(|(_, rect)| *rect).collect();
                rects.extend([layout.title, layout.told, layout.status]);
                rects.extend(layout.divider);
                let cells: u32 = rects.iter().map(|rect| rect.area()).sum();
                assert_eq!(cells, area.area(), "{area} {layout:?}");
                assert!(rects.iter().all(|rect| rect.intersection(area) == *rect));
            }
        }
    }
}
