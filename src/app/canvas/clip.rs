//! The visible parts of long lines: dashes are made for those only.

use egui::{Pos2, Rect};

/// A part of a line inside an area.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VisibleStretch {
    /// How far along the line it begins.
    pub(super) begin: f32,
    /// Its points.
    pub(super) points: Vec<Pos2>,
}

/// The parts of a line within `area`, in order. O(points).
pub(super) fn visible_parts(points: &[Pos2], area: Rect) -> Vec<VisibleStretch> {
    let mut runs: Vec<VisibleStretch> = Vec::new();
    let mut along = 0.0;
    let mut goes_on = false;
    for pair in points.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let length = from.distance(to);
        let Some((enter, leave)) = within(from, to, area) else {
            goes_on = false;
            along += length;
            continue;
        };
        match runs.last_mut() {
            Some(run) if goes_on && enter == 0.0 => run.points.push(from.lerp(to, leave)),
            _ => runs.push(VisibleStretch {
                begin: along + enter * length,
                points: vec![from.lerp(to, enter), from.lerp(to, leave)],
            }),
        }
        goes_on = leave == 1.0;
        along += length;
    }
    runs
}

/// The range, within 0 to 1, of the way from one point to another that is inside an area (Liang and Barsky).
fn within(from: Pos2, to: Pos2, area: Rect) -> Option<(f32, f32)> {
    let way = to - from;
    let (mut enter, mut leave) = (0.0f32, 1.0f32);
    let sides = [
        (-way.x, from.x - area.left()),
        (way.x, area.right() - from.x),
        (-way.y, from.y - area.top()),
        (way.y, area.bottom() - from.y),
    ];
    for (speed, room) in sides {
        if speed == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if speed < 0.0 {
            enter = enter.max(room / speed);
        } else {
            leave = leave.min(room / speed);
        }
    }
    (enter <= leave).then_some((enter, leave))
}

#[cfg(test)]
mod tests {
    use super::*;
    use egui::pos2;

    const AREA: Rect = Rect {
        min: pos2(0.0, 0.0),
        max: pos2(10.0, 10.0),
    };

    #[test]
    fn what_is_inside_stays_whole() {
        let line = [pos2(1.0, 1.0), pos2(5.0, 1.0), pos2(5.0, 9.0)];
        assert_eq!(
            visible_parts(&line, AREA),
            [VisibleStretch {
                begin: 0.0,
                points: line.to_vec()
            }]
        );
    }

    #[test]
    fn what_leaves_and_comes_back_has_two_parts_that_know_how_far_along_they_are() {
        let line = [
            pos2(-5.0, 2.0),
            pos2(15.0, 2.0),
            pos2(15.0, 8.0),
            pos2(4.0, 8.0),
            pos2(4.0, 5.0),
        ];
        let runs = visible_parts(&line, AREA);
        let first = VisibleStretch {
            begin: 5.0,
            points: vec![pos2(0.0, 2.0), pos2(10.0, 2.0)],
        };
        let second = VisibleStretch {
            begin: 31.0,
            points: vec![pos2(10.0, 8.0), pos2(4.0, 8.0), pos2(4.0, 5.0)],
        };
        assert_eq!(runs, [first, second]);
    }

    #[test]
    fn what_is_outside_is_nowhere() {
        assert!(visible_parts(&[pos2(-5.0, -1.0), pos2(20.0, -1.0)], AREA).is_empty());
        assert!(visible_parts(&[pos2(-5.0, 8.0), pos2(3.0, 20.0)], AREA).is_empty());
        assert!(visible_parts(&[pos2(5.0, 5.0)], AREA).is_empty());
    }
}
