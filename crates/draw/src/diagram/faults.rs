//! The faults of a cluster over time: behind everything a band while there is any, and below it a bar for each with its
//! name, in rows where they overlap.

use super::scene::{Align, Scene};
use super::text_size::{ADVANCE, elide, width};
use super::theme::Role;
use emath::{Rect, pos2};
use isoscope_model::history::{FaultSpan, visible};

/// Height of a row of bars.
pub(super) const ROW: f32 = 18.0;
/// Maximum number of rows of bars.
pub(super) const ROWS: usize = 7;
/// Between two bars of a row.
const GAP: f32 = 8.0;
/// Before a name in its bar.
const PAD: f32 = 4.0;

/// A fault, from one x to another.
pub(super) struct Lasting {
    pub(super) from: f32,
    pub(super) to: f32,
    name: String,
    /// From when to when, where the axis does not tell.
    times: Option<String>,
}

impl Lasting {
    pub(super) fn new(fault: &FaultSpan, from: f32, to: f32) -> Lasting {
        Lasting {
            from,
            to,
            name: visible(&fault.what),
            times: None,
        }
    }

    /// With the times after the name where they have room.
    pub(super) fn at(self, times: String) -> Lasting {
        Lasting {
            times: Some(times),
            ..self
        }
    }

    /// The name, with the times if they have room in the bar or next to it.
    fn text(&self, (from, to): (f32, f32), area: Rect, font: f32) -> String {
        let long = self
            .times
            .as_ref()
            .map(|times| format!("{}, {times}", self.name));
        let has_room = |long: &String| free_place_of((from, to), width(long, font), area).is_some();
        long.filter(has_room).unwrap_or_else(|| {
            elide(
                &self.name,
                ((area.width() - 2.0 * PAD) / (ADVANCE * font)).max(0.0) as usize,
            )
        })
    }
}

/// Those that are seen between the sides of an area, with from where to where, by their beginnings.
fn seen(faults: &[Lasting], area: Rect) -> Vec<(f32, f32, &Lasting)> {
    let seen = faults
        .iter()
        .filter(|fault| fault.to > area.left() && fault.from < area.right());
    let mut seen: Vec<(f32, f32, &Lasting)> = seen
        .map(|fault| {
            (
                fault.from.max(area.left()),
                fault.to.max(fault.from + 2.0).min(area.right()),
                fault,
            )
        })
        .collect();
    seen.sort_by(|a, b| a.0.total_cmp(&b.0));
    seen
}

/// Draws bands over `area`. O(faults · log faults).
pub(super) fn draw_bands(scene: &mut Scene, faults: &[Lasting], area: Rect) {
    for (from, to) in together(&seen(faults, area)) {
        scene.rect(
            Rect::from_x_y_ranges(from..=to, area.y_range()),
            0.0,
            Role::Fault,
            None,
        );
    }
}

/// Draws bars below `area`, with names of this font size. Returns their height. O(faults · log faults).
pub(super) fn draw_bars(scene: &mut Scene, faults: &[Lasting], area: Rect, font: f32) -> f32 {
    // Where the last bar of each row ends, its name included.
    let mut ends: Vec<f32> = Vec::new();
    let mut n_more = 0;
    for (from, to, fault) in seen(faults, area) {
        let name = fault.text((from, to), area, font);
        let (text, align) = place_of((from, to), width(&name, font), area);
        let Some(row) = ends
            .iter()
            .position(|end| end + GAP <= from.min(text))
            .or((ends.len() < ROWS).then_some(ends.len()))
        else {
            n_more += 1;
            continue;
        };
        ends.resize(ends.len().max(row + 1), f32::NEG_INFINITY);
        ends[row] = to.max(text + width(&name, font));
        let top = area.bottom() + ROW * row as f32;
        let bar = Rect::from_x_y_ranges(from..=to, top + 1.5..=top + ROW - 0.5);
        scene.rect(bar, 3.0, Role::FaultBar, None);
        scene.name(bar, format!("Fault: {name}"), None);
        // Small pictures have larger texts: one before its bar grows away from it.
        let anchor = if align == Align::Right {
            text + width(&name, font)
        } else {
            text
        };
        scene.text(
            (pos2(anchor, top + ROW / 2.0 + 0.5), align),
            font,
            name,
            Role::FaultText,
            None,
        );
    }
    let rows = ROW * ends.len() as f32;
    if n_more == 0 {
        return rows;
    }
    let at = pos2(area.left(), area.bottom() + rows + ROW / 2.0);
    let more = format!("{n_more} more fault{}", if n_more == 1 { "" } else { "s" });
    scene.text((at, Align::Left), font, more, Role::FaultText, None);
    rows + ROW
}

/// Where the name of a fault begins, and which end of it is fixed: in its bar, or else after it, before it, or where the
/// area has room for it.
fn place_of((from, to): (f32, f32), width: f32, area: Rect) -> (f32, Align) {
    let anywhere = (from + PAD).min(area.right() - width).max(area.left());
    free_place_of((from, to), width, area).unwrap_or((anywhere, Align::Left))
}

/// The place where a name of this width has room in its bar, after it or before it.
fn free_place_of((from, to): (f32, f32), width: f32, area: Rect) -> Option<(f32, Align)> {
    let (after, before) = (to + PAD, from - PAD - width);
    if from + width + 2.0 * PAD <= to {
        Some((from + PAD, Align::Left))
    } else if after + width <= area.right() {
        Some((after, Align::Left))
    } else if before >= area.left() {
        Some((before, Align::Right))
    } else {
        None
    }
}

/// The stretches in which there is any, of faults by their beginnings.
fn together(faults: &[(f32, f32, &Lasting)]) -> Vec<(f32, f32)> {
    let mut stretches: Vec<(f32, f32)> = Vec::new();
    for &(from, to, _) in faults {
        match stretches.last_mut().filter(|last| last.1 >= from) {
            Some(last) => last.1 = last.1.max(to),
            None => stretches.push((from, to)),
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagram::scene::Shape;

    fn drawn(faults: &[(&str, f32, f32)]) -> Scene {
        let lasting = |&(what, from, to): &(&str, f32, f32)| {
            Lasting::new(
                &FaultSpan {
                    what: what.to_owned(),
                    start: 0,
                    end: None,
                },
                from,
                to,
            )
        };
        let faults: Vec<Lasting> = faults.iter().map(lasting).collect();
        let area = Rect::from_min_max(pos2(0.0, 0.0), pos2(400.0, 100.0));
        let mut scene = Scene::new(area);
        draw_bands(&mut scene, &faults, area);
        draw_bars(&mut scene, &faults, area, 11.0);
        scene
    }

    #[test]
    fn overlapping_faults_are_in_different_rows_and_one_band() {
        let scene = drawn(&[
            ("cut a", 10.0, 100.0),
            ("cut b", 50.0, 200.0),
            ("cut c", 250.0, 300.0),
        ]);
        let rects = |role: Role| -> Vec<Rect> {
            let of = |mark: &crate::diagram::scene::Mark| match mark.shape {
                Shape::Rect { rect, .. } if mark.role == role => Some(rect),
                _ => None,
            };
            scene.marks.iter().filter_map(of).collect()
        };
        let bands: Vec<(f32, f32)> = rects(Role::Fault)
            .iter()
            .map(|area| (area.left(), area.right()))
            .collect();
        assert_eq!(bands, [(10.0, 200.0), (250.0, 300.0)]);
        let tops: Vec<f32> = rects(Role::FaultBar).iter().map(|bar| bar.top()).collect();
        assert_eq!(tops, [101.5, 101.5 + ROW, 101.5]);
    }

    #[test]
    fn what_has_no_row_is_counted() {
        let scene = drawn(&[("a", 0.0, 300.0); ROWS + 3]);
        let has = |what: &str| {
            scene
                .marks
                .iter()
                .any(|mark| matches!(&mark.shape, Shape::Text { text, .. } if text == what))
        };
        assert!(has("3 more faults"));
    }
}
