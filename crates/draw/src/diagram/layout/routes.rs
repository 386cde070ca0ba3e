//! The heights at which edges cross lanes, and through which gaps between cards.

use super::measure::UNIT;
use super::ports::{Grid, Side, Way};
use crate::diagram::Diagram;
use std::collections::BTreeMap;

/// An edge as a sequence of heights: the source port, a passage in every lane in between, the target port.
#[derive(Clone, Debug)]
pub(super) struct Course {
    /// Indices of the lanes from source to target; twice the same lane for an edge within a lane.
    pub lanes: Vec<usize>,
    /// By lane of the course: the height.
    pub levels: Vec<f32>,
    /// By lane of the course: the gap it passes (0 above the first card); meaningless for first and last.
    pub gaps: Vec<usize>,
    /// Side on which it leaves.
    pub exit: Side,
}

impl Course {
    /// Whether it runs from card to card without a corner.
    pub(super) fn is_level(&self) -> bool {
        self.lanes.len() == 2 && self.lanes[0] != self.lanes[1] && self.levels[0] == self.levels[1]
    }

    /// The gutter of hop `hop`, and whether the piece before comes from the left of it, and whether the piece after
    /// does. Gutter g is left of lane g.
    pub(super) fn hop(&self, hop: usize) -> (usize, bool, bool) {
        let (a, b) = (self.lanes[hop], self.lanes[hop + 1]);
        match (a.cmp(&b), self.exit) {
            (std::cmp::Ordering::Less, _) => (b, true, false),
            (std::cmp::Ordering::Greater, _) => (a, false, true),
            (std::cmp::Ordering::Equal, Side::Right) => (a + 1, true, true),
            (std::cmp::Ordering::Equal, Side::Left) => (a, false, false),
        }
    }
}

/// Heights of the cards of a lane.
pub(super) struct Column<'a> {
    pub cards: &'a [usize],
    pub tops: &'a [f32],
    pub heights: &'a dyn Fn(usize) -> f32,
}

impl Column<'_> {
    /// Top and bottom of gap `k`; infinite above the first and below the last card.
    pub(super) fn gap(&self, k: usize) -> (f32, f32) {
        let above = k.checked_sub(1).map(|k| self.cards[k]);
        let top = above.map_or(f32::NEG_INFINITY, |card| {
            self.tops[card] + (self.heights)(card)
        });
        let bottom = self
            .cards
            .get(k)
            .map_or(f32::INFINITY, |&card| self.tops[card]);
        (top, bottom)
    }
}

/// By arrow: its course with ports' heights, and wished heights at passages, chosen so that the path is short. None for
/// straight ones.
pub(super) fn courses(
    diagram: &Diagram,
    grid: &Grid,
    ways: &[Way],
    tops: &[f32],
    heights: &dyn Fn(usize) -> f32,
    port: impl Fn(usize, usize) -> f32,
) -> Vec<Option<Course>> {
    let course = |(index, arrow): (usize, &crate::diagram::Arrow)| {
        let Way::Around { exit, .. } = ways[index] else {
            return None;
        };
        let (a, b) = (grid.lane_of[arrow.from], grid.lane_of[arrow.to]);
        let lanes: Vec<usize> = match a.cmp(&b) {
            std::cmp::Ordering::Less => (a..=b).collect(),
            std::cmp::Ordering::Equal => vec![a, a],
            std::cmp::Ordering::Greater => (b..=a).rev().collect(),
        };
        let (start, end) = (port(index, 0), port(index, 1));
        let (mut levels, mut gaps) = (vec![start], vec![0]);
        let mut at = start;
        for &lane in &lanes[1..lanes.len() - 1] {
            let column = Column {
                cards: &grid.lanes[lane],
                tops,
                heights,
            };
            let (gap, level) = best_gap(&column, at, end);
            gaps.push(gap);
            levels.push(level);
            at = level;
        }
        levels.push(end);
        gaps.push(0);
        Some(Course {
            lanes,
            levels,
            gaps,
            exit,
        })
    };
    diagram.arrows.iter().enumerate().map(course).collect()
}

/// The gap through which the path from height `from` to height `to` is shortest, and where in it.
fn best_gap(column: &Column<'_>, from: f32, to: f32) -> (usize, f32) {
    let n = column.cards.len();
    // Gaps are sorted by height, so only those around both ends can be nearest.
    let near = |y: f32| {
        column
            .cards
            .partition_point(|&card| column.tops[card] + (column.heights)(card) <= y)
    };
    let (low, high) = (
        near(from.min(to)).saturating_sub(1),
        (near(from.max(to)) + 2).min(n),
    );
    let mut best = (f32::INFINITY, f32::INFINITY, 0, 0.0);
    for gap in low..=high {
        let (top, bottom) = column.gap(gap);
        let level = from.clamp(top + UNIT, (bottom - UNIT).max(top + UNIT));
        let way = (level - from).abs() + (level - to).abs();
        let candidate = (way, (level - from).abs(), gap, level);
        if (candidate.0, candidate.1) < (best.0, best.1) {
            best = candidate;
        }
    }
    (best.2, best.3)
}

/// Space that a gap keeps free below the card above it, and above the card below it, in which nothing passes.
pub(super) fn gap_margins(down: bool) -> (f32, f32) {
    if down { (36.0, 24.0) } else { (UNIT, UNIT) }
}

/// Height that a gap needs for `passages` edges; `down` when a straight edge with a label runs through it.
pub(super) fn gap_height(down: bool, passages: usize) -> f32 {
    let (above, below) = gap_margins(down);
    let least = if down { 5.0 * UNIT } else { 2.0 * UNIT };
    if passages == 0 {
        least
    } else {
        f32::max(least, above + below + (passages + 1) as f32 * UNIT)
    }
}

/// Gives every passage its own height, near the wished one. In each lane passages are a [`UNIT`] apart, between the
/// heights of ports; lanes with odd and even indices use different heights, so that pieces in the gutter between them
/// never overlap.
pub(super) fn assign_passages(
    courses: &mut [Option<Course>],
    columns: &[Column<'_>],
    down: impl Fn(usize) -> bool,
) {
    // By (lane, gap): level, arrow and index in the course.
    type Passages = BTreeMap<(usize, usize), Vec<(f32, usize, usize)>>;
    let mut by_gap = Passages::new();
    for (arrow, course) in courses.iter().enumerate() {
        let Some(course) = course else { continue };
        for i in 1..course.lanes.len() - 1 {
            by_gap
                .entry((course.lanes[i], course.gaps[i]))
                .or_default()
                .push((course.levels[i], arrow, i));
        }
    }
    for ((lane, gap), mut passages) in by_gap {
        passages.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let column = &columns[lane];
        let (top, bottom) = column.gap(gap);
        let straight = gap > 0 && gap < column.cards.len() && down(column.cards[gap - 1]);
        let (above, below) = gap_margins(straight);
        let class = if lane % 2 == 0 { 0.0 } else { UNIT / 2.0 };
        let slot = |y: f32| (y - class) / UNIT;
        let (low, high) = (slot(top + above).ceil(), slot(bottom - below).floor());
        let n = passages.len();
        let mut next = low;
        for (i, (wished, arrow, place)) in passages.into_iter().enumerate() {
            let last = high - (n - 1 - i) as f32;
            let at = slot(wished).round().min(last).max(next);
            next = at + 1.0;
            if let Some(course) = &mut courses[arrow] {
                course.levels[place] = class + at * UNIT;
            }
        }
    }
}

/// Distance of the heights of two ports, one on a right side and one on a left side, in rows that are level.
const NEAR: f32 = UNIT / 2.0;

/// Removes small steps: a piece gets the height of the piece before or after it if no other edge has that height in the
/// gutters on both sides. Passages move within their gaps; a port and the one it would be level with meet in the
/// middle, or the target's moves to the source's.
pub(super) fn level_out(
    courses: &mut [Option<Course>],
    columns: &[Column<'_>],
    down: impl Fn(usize) -> bool,
) {
    let mut used: BTreeMap<usize, Vec<(f32, usize)>> = Default::default();
    for (arrow, course) in courses.iter().enumerate() {
        let Some(course) = course else { continue };
        for hop in 0..course.lanes.len() - 1 {
            let heights = [(course.levels[hop], arrow), (course.levels[hop + 1], arrow)];
            used.entry(course.hop(hop).0).or_default().extend(heights);
        }
    }
    for (arrow, course) in courses.iter_mut().enumerate() {
        let Some(course) = course else { continue };
        let last = course.lanes.len() - 1;
        if course.lanes[0] == course.lanes[last] {
            continue;
        }
        let (start, end) = (course.levels[0], course.levels[last]);
        // Ports of right sides only move down and those of left sides only up, so that labels keep their distances.
        let towards = (start < end) == (course.exit == Side::Right);
        if last == 1 && towards && start != end && (start - end).abs() <= NEAR {
            let (middle, gutter) = ((start + end) / 2.0, course.hop(0).0);
            let taken =
                |&(y, other): &(f32, usize)| other != arrow && (y - middle).abs() < NEAR - 0.5;
            if !used[&gutter].iter().any(taken) {
                course.levels = vec![middle; 2];
                used.entry(gutter).or_default().push((middle, arrow));
                continue;
            }
        }
        // From the target to the source, so that a whole row of passages can follow.
        for i in (1..=last).rev() {
            let after = (i < last).then(|| course.levels[i + 1]);
            for wished in after.into_iter().chain([course.levels[i - 1]]) {
                let step = (wished - course.levels[i]).abs();
                let gutters: Vec<usize> = (i - 1..last.min(i + 1))
                    .map(|hop| course.hop(hop).0)
                    .collect();
                let free = |clearance: f32| {
                    let taken = |&(y, other): &(f32, usize)| {
                        other != arrow && (y - wished).abs() < clearance
                    };
                    !gutters.iter().any(|gutter| used[gutter].iter().any(taken))
                };
                let may = if i == last {
                    step <= NEAR && free(NEAR - 0.5)
                } else {
                    let (column, gap) = (&columns[course.lanes[i]], course.gaps[i]);
                    let (top, bottom) = column.gap(gap);
                    let straight =
                        gap > 0 && gap < column.cards.len() && down(column.cards[gap - 1]);
                    let (above, below) = gap_margins(straight);
                    step <= 4.0 * UNIT
                        && top + above <= wished
                        && wished <= bottom - below
                        && free(UNIT * 0.7)
                };
                if step > 0.0 && may {
                    course.levels[i] = wished;
                    gutters
                        .iter()
                        .for_each(|gutter| used.entry(*gutter).or_default().push((wished, arrow)));
                    break;
                }
            }
        }
    }
}
